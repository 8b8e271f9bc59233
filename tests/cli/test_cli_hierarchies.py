"""The hierarchy commands, and the glue between hierarchies and databases."""

import stat
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.microdata.stored_hierarchies import (
    drop_hierarchy,
    hierarchy_table,
    list_hierarchies,
    load_hierarchy,
    open_database,
    resolved_hierarchy,
)
from sqlanon.reports.document import Provenance

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[2] / "fixtures"
BROKEN = ["duplicate_leaf", "empty", "not_nested", "ragged", "two_tops"]
HOSTILE = 'x\'"; DROP TABLE "t"; -- Ünï'


@pytest.fixture
def engine(database):
    with open_database(database, read_only=False) as engine:
        yield engine


@pytest.mark.parametrize(
    ("spec", "example"),
    [
        ("suppress", "value → *"),
        ("intervals:5,10", "42 → 40-44 → 40-49 → *"),
        ("intervals:0.5;low=10", "7.000 → <10.0 → *"),
        ("prefix:2,1;mask=#", "123 → 12# → 1## → *"),
        ("dates:month,year", "2024-02-29 → 2024-02 → 2024 → *"),
    ],
)
def test_a_rule_is_shown_with_made_up_values(run, spec, example):
    outcome = run("hierarchy", "show", spec)
    assert (outcome.code, outcome.err) == (0, "")
    assert "made up" in outcome.out
    assert example in outcome.out


def test_an_expression_is_shown_without_examples(run):
    outcome = run("hierarchy", "show", "sql:upper(value)")
    assert outcome.code == 0
    assert "examples" not in outcome.out


def test_a_file_is_shown_with_nodes_and_paths_of_its_own(run):
    document = run("hierarchy", "show", FIXTURES / "job_null.csv", "--json").document
    assert document["nodes"] == [6, 3, 1]
    assert document["examples"][-1] == [None, "not stated", "*"]
    text = run("hierarchy", "show", FIXTURES / "job_null.csv").out
    assert "NULL → not stated → *" in text


def test_a_label_of_two_nodes_is_a_note(run):
    outcome = run("hierarchy", "show", FIXTURES / "broken" / "shared_label.csv")
    assert outcome.code == 0
    assert "note: " in outcome.out


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line(refused, patients, name):
    file = FIXTURES / "broken" / f"{name}.csv"
    refused("hierarchy", "show", file)
    refused("hierarchy", "check", patients, "--hierarchy", f"job={file}")
    refused("plan", patients, "--qi", "job", "--hierarchy", f"job={file}", "--k", 2)


def test_a_rule_bound_to_a_column_shows_counts_and_no_value(run, patients):
    words = ["hierarchy", "show", "prefix:2", patients, "--column", "zip"]
    document = run(*words, "--json").document
    assert document["nodes"] == [9, 4, 1]
    assert document["examples"] == []
    assert "010" not in run(*words).out


@pytest.mark.parametrize(
    "words", [["--column", "x"], ["nofile.csv"], ["nofile.csv", "--column", "x"]]
)
def test_show_needs_column_and_source_together(refused, words):
    refused("hierarchy", "show", "suppress", *words)


def test_check_counts_nodes_of_each_column(run, patients):
    outcome = run(
        "hierarchy", "check", patients, "--json",
        "--hierarchy", f"zip={FIXTURES / 'zip.csv'}",
        "--hierarchy", "age=intervals:10",
    )  # fmt: skip
    assert outcome.code == 0
    assert set(outcome.document["columns"]) == {"zip", "age"}
    assert outcome.document["columns"]["age"]["nodes"] == [20, 7, 1]
    assert outcome.document["columns"]["zip"]["examples"] == []


def test_check_says_once_what_it_was_made_of(run, patients):
    words = ["--hierarchy", "age=intervals:10", "--hierarchy", "sex=suppress"]
    document = run("hierarchy", "check", patients, *words, "--json").document
    head = Provenance().head().keys()
    assert head <= document.keys()
    assert not [name for name, each in document["columns"].items() if head & each.keys()]


def test_a_source_without_a_name_is_refused_as_such(refused, tmp_path):
    words = ["--column", "age", "--hierarchy", "suppress", "--output", tmp_path / "age.csv"]
    assert "the name of the source is empty" in refused("hierarchy", "make", "", *words)


def test_check_tells_all_faults_at_once(refused, patients):
    line = refused(
        "hierarchy", "check", patients,
        "--hierarchy", f"job={FIXTURES / 'broken' / 'uncovered.csv'}",
        "--hierarchy", f"sex={FIXTURES / 'broken' / 'two_tops.csv'}",
        "--hierarchy", "name=intervals:5",
    )  # fmt: skip
    for part in ("'job' misses 2 values", "'sex' has 2 top nodes", "'name'"):
        assert part in line
    assert "carpenter" not in line


def test_check_reads_the_hierarchies_of_a_policy(run, database, policy_file):
    words = ["hierarchy", "check", database, "--policy", policy_file]
    assert set(run(*words, "--json").document["columns"]) == {"age", "sex"}
    document = run(*words, "--hierarchy", "age=prefix:1", "--json").document
    assert document["columns"]["age"]["kind"] == "prefix"


def test_check_needs_hierarchies_of_columns(refused, patients):
    assert "--hierarchy" in refused("hierarchy", "check", patients)
    assert "no column" in refused("hierarchy", "check", patients, "--hierarchy", "x=suppress")


def test_make_writes_a_file_that_does_what_the_rule_does(run, refused, patients, tmp_path):
    file = tmp_path / "age.csv"
    words = ["hierarchy", "make", patients, "--column", "age", "--output", file]
    outcome = run(*words, "--hierarchy", "intervals:5,10,20", "--json")
    assert outcome.document["leaves"] == 20
    assert "keep it as safe" in outcome.err
    assert file.read_text().splitlines()[0] == "leaf;level1;level2;level3;level4"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    same = [
        run("plan", patients, "--qi", "age", "--hierarchy", f"age={spec}", "--k", 3, "--json")
        for spec in (file, "intervals:5,10,20")
    ]
    assert same[0].document["levels"] == same[1].document["levels"]
    assert "--overwrite" in refused(*words, "--hierarchy", "suppress")
    assert run(*words, "--hierarchy", "suppress", "--overwrite", "-q").err == ""


def test_missing_values_are_named_to_whom_asks_for_them(refused, database, tmp_path):
    file = tmp_path / "sex.csv"
    file.write_text("f;*\n")
    words = ["hierarchy", "check", database, "people", "--hierarchy", f"sex={file}"]
    assert "list them with" in refused(*words)
    assert "they are 'm' (5 records)" in refused(*words, "--show-values")


def test_a_row_for_all_other_values_is_shown(run, tmp_path):
    file = tmp_path / "sex.csv"
    file.write_text("f;*\n*;*\n")
    assert "all other values → *" in run("hierarchy", "show", file).out
    assert run("hierarchy", "show", file, "--json").document["others"] == ["*"]


def test_stored_hierarchies_are_listed_used_and_dropped(run, refused, database):
    assert run("hierarchy", "list", database).out == "no hierarchy is stored\n"
    assert run("hierarchy", "load", database, HOSTILE, "intervals:5").code == 0
    assert run("hierarchy", "load", database, "jobs", FIXTURES / "job_null.csv").code == 0
    document = run("hierarchy", "list", database, "--json").document
    assert [entry["name"] for entry in document["hierarchies"]] == ["jobs", HOSTILE]
    assert document["hierarchies"][0]["leaves"] == 6
    assert "jobs: rows, height 2, 6 leaves" in run("hierarchy", "list", database).out
    assert run("hierarchy", "show", "table:jobs", database, "--json").document["nodes"] == [6, 3, 1]
    hierarchy = ["--hierarchy", f"age=table:{HOSTILE}"]
    assert run("plan", database, "people", "--qi", "age", *hierarchy, "--k", 5).code == 0
    assert run("hierarchy", "drop", database, HOSTILE).code == 0
    assert "no hierarchy is stored" in refused("hierarchy", "drop", database, HOSTILE)


def test_a_stored_hierarchy_is_replaced_only_when_asked(run, refused, database):
    words = ["hierarchy", "load", database, "age"]
    assert run(*words, "intervals:5").code == 0
    assert "--overwrite" in refused(*words, "intervals:7")
    assert run(*words, "intervals:7", "--overwrite").code == 0


def test_the_catalog_leaves_a_single_table_single(run, database):
    assert run("hierarchy", "load", database, "age", "intervals:5").code == 0
    assert run("check", database, "--qi", "age").code == 0


def test_a_broken_hierarchy_is_not_stored(run, refused, database):
    refused("hierarchy", "load", database, "bad", FIXTURES / "broken" / "not_nested.csv")
    assert run("hierarchy", "list", database, "--json").document["hierarchies"] == []


def test_a_database_that_is_none_is_one_line(refused, patients, tmp_path):
    refused("hierarchy", "list", patients)
    refused("hierarchy", "list", tmp_path / "missing.duckdb")
    assert not (tmp_path / "missing.duckdb").exists()


def test_a_hierarchy_comes_back_from_the_database(engine):
    for hierarchy in (
        Hierarchy.from_file(FIXTURES / "job_null.csv"),
        Hierarchy.intervals("0.5", 1, low=0),
    ):
        load_hierarchy(engine, "h", hierarchy=hierarchy, overwrite=True)
        assert resolved_hierarchy(engine, Hierarchy.table("h")) == hierarchy
    drop_hierarchy(engine, "h")
    assert list_hierarchies(engine) == []
    with pytest.raises(HierarchyError, match="no hierarchy is stored as 'h'"):
        resolved_hierarchy(engine, Hierarchy.table("h"))


def test_a_plain_table_is_a_hierarchy(database):
    with duckdb.connect(str(database)) as connection:
        connection.execute("""
            CREATE TABLE sexes AS
            SELECT * FROM (VALUES ('m', '*', 2), ('f', '*', 1)) AS t(leaf, "Level1", "Position")
        """)
        plan = sqlanon.plan(
            connection,
            sqlanon.Policy(
                {"sex": Hierarchy.table("sexes")}, models=[sqlanon.KAnonymity(6)], others="drop"
            ),
            table="people",
        )
    assert plan.policy.attributes["sex"].hierarchy.rows == (("f", "*"), ("m", "*"))
    with open_database(database, read_only=True) as engine:
        found = hierarchy_table(engine, engine.tables.resolve("sexes"))
        assert found.rows == (("f", "*"), ("m", "*"))
        with pytest.raises(HierarchyError, match="hierarchy table 'people' lacks"):
            resolved_hierarchy(engine, Hierarchy.table("people"))
        with pytest.raises(HierarchyError, match="no table is called so"):
            resolved_hierarchy(engine, Hierarchy.table("missing"))


def test_a_stored_hierarchy_goes_before_a_table_of_its_name(engine):
    load_hierarchy(engine, "people", hierarchy=Hierarchy.intervals(5))
    assert resolved_hierarchy(engine, Hierarchy.table("people")) == Hierarchy.intervals(5)


def test_a_reference_is_stored_as_what_it_stands_for(engine):
    load_hierarchy(engine, "a", hierarchy=Hierarchy.intervals(5))
    load_hierarchy(engine, "b", hierarchy=Hierarchy.table("a"))
    drop_hierarchy(engine, "a")
    assert resolved_hierarchy(engine, Hierarchy.table("b")) == Hierarchy.intervals(5)
