"""Values without a row in a hierarchy: refused, named to their owner alone, or caught by one."""

import json

import pytest
from databases import insert
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Plan, Policy
from sqlanon.errors import HierarchyError
from sqlanon.microdata.inspect import bind_hierarchies, make_hierarchy, write_paths
from sqlanon.microdata.stored_hierarchies import load_hierarchy, resolved_hierarchy

pytestmark = pytest.mark.slow

JOBS = "nurse;care;*\nclerk;desk;*\n;none;*\n"
HELD = ["nurse"] * 4 + ["clerk"] * 3 + ["pilot", "diver", "diver"] + [None] * 2


@pytest.fixture
def connection(connection):
    connection.execute("CREATE TABLE people (job VARCHAR, age INTEGER)")
    insert(connection, "people", [(job, 1) for job in HELD])
    return connection


@pytest.fixture
def write(tmp_path):
    def written(text, name="jobs.csv"):
        file = tmp_path / name
        file.write_text(text, newline="")
        return file

    return written


def policy_of(file, level=1):
    quasi = {"job": sqlanon.QuasiIdentifier(Hierarchy.from_file(file), 1, level, level)}
    return Policy(quasi, models=[KAnonymity(2)], others="drop")


def published(connection, policy, **settings):
    sqlanon.anonymize(connection, policy, table="people", into="made", overwrite=True, **settings)
    return sorted(row[0] or "" for row in connection.execute("SELECT job FROM made").fetchall())


def test_values_without_a_row_are_named_to_whom_asks_for_them(connection, write):
    bound = {"job": Hierarchy.from_file(write(JOBS))}
    with pytest.raises(HierarchyError) as caught:
        bind_hierarchies(connection, "people", hierarchies=bound, show_values=9)
    assert "they are 'diver' (2 records) and 'pilot' (1 record)" in str(caught.value)
    with pytest.raises(HierarchyError) as caught:
        bind_hierarchies(connection, "people", hierarchies=bound, show_values=1)
    assert "they are 'diver' (2 records) and 1 more" in str(caught.value)


@pytest.mark.parametrize("method", ["incognito", "set-cover"])
def test_one_row_stands_for_all_other_values(connection, write, method):
    file = write(JOBS + "*;other;*\n")
    if method == "incognito":
        labels = published(connection, policy_of(file))
        assert labels == sorted(["care"] * 4 + ["desk"] * 3 + ["other"] * 3 + ["none"] * 2)
    policy = Policy({"job": Hierarchy.from_file(file)}, models=[KAnonymity(3)], others="drop")
    report = sqlanon.anonymize(
        connection, policy, table="people", method=method, into="made", overwrite=True
    )
    assert report.holds


def test_values_at_level_0_stay_as_they_are(connection, write):
    file = write("nurse;care;*\n*;other;*\n")
    quasi = {"job": Hierarchy.from_file(file)}
    policy = Policy(quasi, models=[KAnonymity(1)], others="drop")
    assert published(connection, policy) == sorted(job or "" for job in HELD)


def test_neither_a_plan_nor_its_statement_names_other_values(connection, write, tmp_path):
    policy = policy_of(write(JOBS + "*;other;*\n"))
    plan = sqlanon.plan(connection, policy, table="people")
    plan.save(tmp_path / "plan.json")
    told = (tmp_path / "plan.json").read_text() + plan.sql() + plan.to_text()
    assert "pilot" not in told
    assert "diver" not in told
    sqlanon.apply(connection, Plan.load(tmp_path / "plan.json"), into="made")
    rows = connection.execute("SELECT count(*) FROM made WHERE job = 'other'").fetchone()
    assert rows == (3,)


def test_a_warning_of_labels_names_no_other_value(connection, write):
    connection.execute("INSERT INTO people VALUES ('care', 1), ('care', 1)")
    plan = sqlanon.plan(connection, policy_of(write(JOBS + "*;other;*\n")), table="people")
    [note] = [note for note in plan.report.notes if "for different nodes" in note]
    assert "'care'" not in note


def test_numbers_without_a_row_are_found_whatever_their_spelling(connection, write):
    connection.execute("CREATE TABLE numbers AS SELECT unnest([1, 1, 2, 2, 7, 8]) AS job")
    file = write("01;low;*\n2;low;*\n*;high;*\n")
    sqlanon.anonymize(connection, policy_of(file), table="numbers", into="made")
    found = connection.execute("SELECT job, count(*) FROM made GROUP BY 1 ORDER BY 1").fetchall()
    assert found == [("high", 2), ("low", 4)]


def test_a_row_for_all_others_is_stored_too(connection, write):
    hierarchy = Hierarchy.from_file(write(JOBS + "*;other;*\n"))
    assert Hierarchy.from_dict(json.loads(json.dumps(hierarchy.to_dict()))) == hierarchy
    with sqlanon.engine.open.open_source(connection, "people", read_only=False) as source:
        load_hierarchy(source.engine, "jobs", hierarchy=hierarchy)
        stored = resolved_hierarchy(source.engine, Hierarchy.table("jobs"))
    assert (stored.rows, stored.others) == (hierarchy.rows, ("other", "*"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;x;*\na;x;*\n", "hierarchy 'jobs.csv' of column 'job' has 1 duplicate leaf at level 0; "
         "give each value one row; see lines 1, 2"),
        ("leaf;level1;level2\na;x;*\n\nb;;*\n", "1 empty label at level 1; only the row of NULL, "
         "whose leaf is empty, may have them; see line 4"),
        ("a;x;p;*\nb;x;q;*\nc;y;q;*\n", "does not nest: 1 node of level 1 with leaves under "
         "several nodes of level 2; see lines 1, 2"),
        ("a;x;*\n*;o;*\n*;p;*\n", "'jobs.csv' has 2 rows for all other values; see lines 2, 3"),
        ("*;other;*\n", "'jobs.csv' has only the row for all other values; give a value a row"),
        ("a;x;*\n*;o;?\n", "the row for all other values has another top than the others"),
        ("a;x;*\n*;;*\n", "the row for all other values has labels that are empty or no text"),
        ("a;x;p;*\nb;y;q;*\n*;x;q;*\n", "does not nest: 1 node of level 1"),
    ],
)  # fmt: skip
def test_faults_name_the_file_and_its_lines(text, expected, connection, write):
    with pytest.raises(HierarchyError) as caught:
        sqlanon.plan(connection, policy_of(write(text)), table="people")
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("text", "distance", "fault"),
    [
        ("a;x;*\na;x;*\n", "hierarchical", r"'jobs.csv' of column 'job' .* see lines 1, 2"),
        (JOBS + "*;other;*\n", "hierarchical", "give each a row of its own"),
        (None, "ordered", "hierarchy make SOURCE TABLE --column job"),
    ],
)
def test_faults_of_a_sensitive_column_name_the_way_out(connection, write, text, distance, fault):
    given = {"order": ["nurse", "clerk"]}
    if text is not None:
        given = {"hierarchy": Hierarchy.from_file(write(text))}
    models = [KAnonymity(2), sqlanon.TCloseness(0.5, distance)]
    policy = Policy(["age"], sensitive={"job": sqlanon.Sensitive(**given)}, models=models)
    with pytest.raises(HierarchyError, match=fault):
        sqlanon.plan(connection, policy, table="people")


def test_an_empty_text_can_be_a_leaf(connection, write):
    connection.execute("INSERT INTO people VALUES ('', 1), ('', 1), ('*', 1), ('*', 1)")
    file = write(JOBS + '"";blank;*\n"*";star;*\n*;other;*\n')
    labels = published(connection, policy_of(file))
    assert labels.count("blank") == 2
    assert labels.count("star") == 2
    assert labels.count("other") == 3


LABELS = st.one_of(st.none(), st.text(alphabet='a*;," \n', max_size=4))


@settings(max_examples=100)
@given(st.lists(LABELS, min_size=1, max_size=5, unique=True))
def test_a_file_that_was_written_is_read_back(leaves):
    import tempfile
    from pathlib import Path

    paths = [(leaf, *(["x"] if leaf is not None else [None]), "*") for leaf in leaves]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.csv"
        write_paths(paths, file)
        found = Hierarchy.from_file(file)
    assert found.rows == tuple(paths)
    assert found.others is None


def test_a_made_hierarchy_keeps_the_empty_text_apart_from_null(connection, tmp_path):
    connection.execute("INSERT INTO people VALUES ('', 1)")
    paths, _ = make_hierarchy(connection, "people", column="job", hierarchy=Hierarchy.suppression())
    write_paths(paths, tmp_path / "made.csv")
    leaves = {row[0] for row in Hierarchy.from_file(tmp_path / "made.csv").rows}
    assert {"", None} <= leaves
