"""Plans: stored and read back, refused when stale, executed by hand, and free of values."""

import json
import re
from dataclasses import replace

import duckdb
import numpy
import pyarrow
import pyarrow.parquet
import pytest
import sqlglot
from databases import empty_database, rows, tables_of
from edits import edit

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Plan, Policy, QuasiIdentifier
from sqlanon.errors import PolicyError, SourceError, StalePlanError
from sqlanon.publishing import planner
from sqlanon.recoding import Clusters, FullDomain, Run

COUNTRIES = Hierarchy.from_rows(
    [("at", "europe", "*"), ("de", "europe", "*"), ("jp", "asia", "*"), ("kr", "asia", "*")]
)
POLICY = Policy(
    {
        "age": Hierarchy.intervals(5, 10),
        "born": Hierarchy.dates("month", "year"),
        "country": COUNTRIES,
        "sex": Hierarchy.suppression(),
    },
    sensitive=["diagnosis"],
    identifiers=["name"],
    models=[KAnonymity(3)],
    suppression_limit=0.1,
)


@pytest.fixture
def connection(connection):
    connection.execute("""
        CREATE TABLE people AS
        SELECT 'person ' || i AS name, 20 + (i * 7) % 23 AS age,
               DATE '1990-01-01' + (40 * (i % 17))::INTEGER AS born,
               ['at', 'de', 'jp', 'kr', NULL][1 + i % 5] AS country,
               i % 3 = 0 AS sex, 'd' || (i % 4) AS diagnosis
        FROM range(100) AS r(i) ORDER BY hash(i)
    """)
    return connection


@pytest.fixture
def plan(connection):
    return sqlanon.plan(connection, POLICY, table="people")


def test_a_statement_that_sorts_names_the_settings_that_it_needs(connection, plan):
    ranked = sqlanon.plan(connection, POLICY, table="people", method="mondrian")
    for sorts in (plan, ranked):
        assert sorts.sql().startswith("-- Needs: default_order and default_null_order")
        assert "ORDER BY" in sorts.sql()


@pytest.mark.slow
def test_plan_leaves_nothing_in_the_database(connection, plan):
    assert tables_of(connection) == ["people"]


@pytest.mark.slow
def test_plan_works_on_a_database_opened_for_reading_only(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute("CREATE TABLE people AS SELECT 'a' AS x FROM range(9)")
    before = path.read_bytes()
    policy = Policy(["x"], models=[KAnonymity(3)])
    with duckdb.connect(str(path), read_only=True) as opened:
        assert sqlanon.plan(opened, policy, table="people").report.holds
    assert sqlanon.plan(path, policy, table="people").report.holds
    assert path.read_bytes() == before


@pytest.mark.slow
def test_plan_expects_what_apply_publishes(connection, plan):
    report = sqlanon.apply(connection, plan, into="out")
    expected = plan.report
    assert report.statistics == expected.statistics
    assert report.loss == pytest.approx(expected.loss)
    assert (report.levels, report.models) == (expected.levels, expected.models)


@pytest.mark.slow
def test_a_plan_counts_suppressed_records_that_are_kept_as_the_class_that_they_are(connection):
    """Three a, and b and c as a class of two."""
    connection.execute("CREATE TABLE few AS SELECT unnest(['a', 'a', 'a', 'b', 'c']) AS x")
    policy = Policy(["x"], models=[KAnonymity(2)], suppression_limit=0.5, suppressed="keep")
    plan = sqlanon.plan(connection, policy, table="few")
    report = sqlanon.apply(connection, plan, into="out")
    assert plan.report.suppressed_records == 2
    assert plan.report.statistics.histogram == report.statistics.histogram == {3: 1, 2: 1}


@pytest.mark.slow
def test_plan_and_apply_publish_the_rows_of_anonymize(connection, plan):
    sqlanon.apply(connection, plan, into="out")
    sqlanon.anonymize(connection, POLICY, table="people", into="direct")
    assert rows(connection, "out") == rows(connection, "direct")


@pytest.mark.slow
def test_saved_plan_is_read_back_equal(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert loaded.to_dict() == plan.to_dict()
    assert loaded.sql() == plan.sql()


def test_saved_plan_needs_the_hierarchy_file_no_more(connection, tmp_path):
    file = tmp_path / "sex.csv"
    file.write_text("true;*\nfalse;*\n")
    policy = Policy({"sex": Hierarchy.from_file(file)}, others="keep", models=[KAnonymity(40)])
    sqlanon.plan(connection, policy, table="people").save(tmp_path / "plan.json")
    file.unlink()
    sqlanon.apply(connection, Plan.load(tmp_path / "plan.json"), into="out")
    assert rows(connection, "(SELECT DISTINCT sex FROM out)") == [("*",)]


@pytest.mark.parametrize("suppressed", ["drop", "keep"])
def test_saved_plan_keeps_every_part_of_the_policy(connection, tmp_path, suppressed):
    policy = Policy(
        {"age": QuasiIdentifier(Hierarchy.intervals(10), weight=2.5, min_level=1, max_level=2)},
        keep=["country"],
        drop=["name"],
        others="drop",
        models=[KAnonymity(2)],
        suppression_limit=0.25,
        suppressed=suppressed,
        suppressed_label="hidden" if suppressed == "keep" else "*",
    )
    plan = sqlanon.plan(connection, policy, table="people")
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json").policy.to_dict() == policy.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("node", [(), (0, 0, 0), (0, 0, 0, 2), (-1, 0, 0, 0)])
def test_a_recoding_that_does_not_fit_the_hierarchies_is_an_error(plan, node):
    with pytest.raises(PolicyError, match="not a recoding"):
        replace(plan, recoding=FullDomain(node))


@pytest.mark.slow
def test_a_recoding_of_other_records_is_an_error(plan):
    clusters = Clusters(((0, 0, 0, 0),), (Run(0, 99, 0),))
    with pytest.raises(PolicyError, match="every record of its table once"):
        replace(plan, recoding=clusters)


@pytest.mark.parametrize(("others", "notes"), [(None, 1), ("drop", 0)])
def test_plan_says_how_many_columns_have_no_role(connection, others, notes):
    policy = Policy(["sex"], models=[KAnonymity(3)], others=others)
    report = sqlanon.plan(connection, policy, table="people").report
    assert (
        sum("5 columns have no role, which anonymize demands" in n for n in report.notes) == notes
    )


def test_plan_with_columns_without_a_role_is_neither_saved_nor_printed(connection, tmp_path):
    plan = sqlanon.plan(connection, Policy(["sex"], models=[KAnonymity(3)]), table="people")
    for write in (lambda: plan.save(tmp_path / "plan.json"), plan.sql):
        with pytest.raises(PolicyError, match="5 columns have no role"):
            write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("schema_version", 999),
        # Two records are suppressed, and each round but the first suppresses some.
        *(("rounds", rounds) for rounds in (0, -1, 3, 10**9, 1.0, "1", None, True)),
        *(("recoding", {"kind": "node", "levels": levels})
          for levels in ([0] * 4, [9] * 4, [1], "1111", None)),
        *(("recoding", recoding)
          for recoding in ([1, 1, 1, 1], None, {"kind": "map"}, {"levels": [1, 1, 1, 1]})),
        *(("columns", {"age": kind}) for kind in (None, 1, [], "'")),
    ],
)  # fmt: skip
def test_a_plan_with_a_part_that_cannot_be_is_none(plan, tmp_path, part, value):
    plan = replace(plan, report=replace(plan.report, suppressed_records=2), rounds=2)
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json").rounds == 2

    def change(document):
        own = document[part]
        document[part] = {**own, **value} if part == "columns" else value

    edit(tmp_path / "plan.json", change)
    with pytest.raises(SourceError, match="not a plan"):
        Plan.load(tmp_path / "plan.json")


@pytest.mark.slow
def test_plans_of_two_tables_do_not_tell_what_the_one_has_more(connection):
    """Figures that add up over records would: their difference is that of one record."""
    digests = []
    for count in (2, 3, 4):
        connection.execute(f"CREATE OR REPLACE TABLE few AS SELECT 'a' AS x FROM range({count})")
        found = sqlanon.plan(connection, Policy(["x"], models=[KAnonymity(2)]), table="few")
        digests.append(int(found.fingerprint[1], 16))
    assert digests[1] - digests[0] != digests[2] - digests[1]
    assert digests[0] != digests[2]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_plan_of_a_file_is_applied_to_it_under_another_name(connection, tmp_path, ending):
    file, moved = tmp_path / f"people.{ending}", tmp_path / f"moved.{ending}"
    connection.execute(f"COPY people TO '{file}'")
    plan = sqlanon.plan(file, POLICY)
    file.rename(moved)
    assert sqlanon.apply(moved, plan, output=tmp_path / "out.csv").holds
    connection.execute(f"COPY (SELECT * FROM people LIMIT 60) TO '{moved}'")
    with pytest.raises(StalePlanError):
        sqlanon.apply(moved, plan, output=tmp_path / "other.csv")


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[]", "null", '{"kind": "sqlanon plan"}', "not json", b"\xff\xfe"],
)
def test_file_that_is_no_plan_is_an_error(tmp_path, content):
    path = tmp_path / "plan.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SourceError, match="not a plan"):
        Plan.load(path)


def test_plan_file_that_is_missing_or_cannot_be_written_is_an_error(plan, tmp_path):
    with pytest.raises(SourceError, match=r"missing\.json"):
        Plan.load(tmp_path / "missing.json")
    with pytest.raises(SourceError, match=r"plan\.json"):
        plan.save(tmp_path / "no folder" / "plan.json")


CHANGES = {
    "record added": "INSERT INTO people SELECT * FROM people LIMIT 1",
    "record there twice in place of another": "DELETE FROM people WHERE name = 'person 2'; "
    "INSERT INTO people SELECT * FROM people WHERE name = 'person 1'",
    "quasi-identifier changed": "UPDATE people SET age = age + 1 WHERE name = 'person 1'",
    "cell became NULL": "UPDATE people SET sex = NULL WHERE name = 'person 1'",
    "sensitive cell changed": "UPDATE people SET diagnosis = '' WHERE name = 'person 1'",
    "two cells swapped": "UPDATE people SET diagnosis = CASE name WHEN 'person 1' THEN 'd2' "
    "ELSE 'd1' END WHERE name IN ('person 1', 'person 2')",
    "two columns swapped": "UPDATE people SET name = diagnosis, diagnosis = name "
    "WHERE name = 'person 1'",
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_stale_plan_is_refused_and_nothing_written(connection, plan, tmp_path, change):
    plan.save(tmp_path / "plan.json")
    connection.execute(change)
    for one in (plan, Plan.load(tmp_path / "plan.json")):
        with pytest.raises(StalePlanError, match="make a new plan"):
            sqlanon.apply(connection, one, into="out")
    assert tables_of(connection) == ["people"]


@pytest.mark.slow
def test_plan_is_not_stale_when_only_the_row_order_changed(connection, plan):
    connection.execute("CREATE OR REPLACE TABLE people AS SELECT * FROM people ORDER BY name DESC")
    assert sqlanon.apply(connection, plan, into="out").holds


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", ["drop", "keep"])
def test_sql_executed_by_hand_gives_the_rows_of_apply(connection, suppressed):
    policy = replace(POLICY, suppressed=suppressed, models=[KAnonymity(2)], suppression_limit=0.3)
    plan = sqlanon.plan(connection, policy, table="people")
    assert plan.report.suppressed_records >= 2
    sqlanon.apply(connection, plan, into="out")
    connection.execute(plan.sql(into="by hand"))
    assert rows(connection, '"by hand"') == rows(connection, "out")


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["spark", "postgres", "databricks"])
def test_sql_in_another_dialect_is_readable_by_it(plan, dialect):
    [statement] = sqlglot.parse(plan.sql(dialect=dialect), read=dialect)
    assert isinstance(statement, sqlglot.exp.Create)
    assert statement.find(sqlglot.exp.Command) is None
    assert {call.name for call in statement.find_all(sqlglot.exp.Anonymous)} <= {"ISFINITE"}


# Forms that a value of the table could take in a statement or a plan.
MARKERS = re.compile(r"mark|(?<![\d.])77\d\d\d(?!\d)|2031-", re.IGNORECASE)


@pytest.mark.parametrize("levels", [0, 1])
@pytest.mark.parametrize("suppressed", ["drop", "keep"])
def test_no_value_of_the_table_stands_in_sql_or_in_the_saved_plan(
    connection, tmp_path, levels, suppressed
):
    connection.execute("""
        CREATE TABLE subjects AS
        SELECT 'MARK-name-' || i AS name, 77000 + i AS salary, 'MARK' || (i % 3) AS code,
               DATE '2031-01-01' + (i % 2)::INTEGER AS due, 'MARKED' || (i % 5) AS group_name,
               ('MARK' || (i % 2))::ENUM ('MARK0', 'MARK1', 'MARKUNUSED') AS kind
        FROM range(60) AS r(i)
    """)
    policy = Policy(
        {
            "salary": QuasiIdentifier(Hierarchy.intervals(30, 60), min_level=1),
            "code": QuasiIdentifier(Hierarchy.prefix(4), min_level=levels, max_level=levels),
            "due": QuasiIdentifier(Hierarchy.dates("month"), min_level=1),
            "kind": QuasiIdentifier(Hierarchy.suppression(), min_level=levels),
        },
        keep=["group_name"],
        identifiers=["name"],
        models=[KAnonymity(5)],
        suppression_limit=0.5,
        suppressed=suppressed,
    )
    plan = sqlanon.plan(connection, policy, table="subjects")
    plan.save(tmp_path / "plan.json")
    assert not MARKERS.search(plan.sql())
    assert not MARKERS.search(plan.to_text())
    document = json.loads((tmp_path / "plan.json").read_text())
    assert not MARKERS.search(re.sub("[0-9a-f]{64}", "", json.dumps({**document, "table": ""})))


def positions(connection, seed, records):
    """Fills `people` with random records; the last column tells where each one stood."""
    random = numpy.random.default_rng(seed)
    tokens = [f"{token:016x}" for token in random.integers(0, 2**63, records)]
    ages = random.integers(20, 80, records).tolist()
    connection.execute(
        "CREATE OR REPLACE TABLE people AS SELECT unnest(?::INTEGER[]) AS age, unnest(?) AS token",
        [ages, tokens],
    )
    return {token: position for position, token in enumerate(tokens)}


def rank_correlation(order):
    ranks = numpy.asarray(order, dtype=float)
    return float(numpy.corrcoef(ranks, numpy.arange(len(ranks)))[0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("ending", [None, ".parquet"])
def test_order_of_the_output_does_not_correlate_with_the_input(connection, tmp_path, ending):
    policy = Policy({"age": Hierarchy.intervals(20, 40)}, keep=["token"], models=[KAnonymity(5)])
    scores = []
    for seed in range(8):
        place = positions(connection, seed, records=150)
        if ending is None:
            target, output = {"into": "shown", "overwrite": True}, "shown"
        else:
            file = tmp_path / f"{seed}{ending}"
            target, output = {"output": file}, f"'{file}'"
        sqlanon.anonymize(connection, policy, table="people", **target)
        assert rank_correlation([place[t] for _, t in rows(connection, "people")]) == pytest.approx(
            1
        )
        order = [place[token] for _, token in rows(connection, output)]
        scores.append(rank_correlation(order) * (len(order) - 1) ** 0.5)
    # Eight independent squares of standard normals: their sum exceeds 31.8 once in 10,000 times.
    assert sum(score**2 for score in scores) < 31.8
    assert abs(sum(scores)) / 8**0.5 < 3.9


@pytest.mark.slow
def test_order_within_each_row_group_of_parquet_does_not_correlate_with_the_input(
    connection, tmp_path
):
    policy = Policy({"age": Hierarchy.intervals(20, 40)}, keep=["token"], models=[KAnonymity(5)])
    place = positions(connection, 1, records=300_000)
    path = tmp_path / "out.parquet"
    sqlanon.anonymize(connection, policy, table="people", output=path)
    file = pyarrow.parquet.ParquetFile(path)
    assert file.num_row_groups >= 3
    found = []
    for number in range(file.num_row_groups):
        group = file.read_row_group(number)
        found += zip(*(group.column(name).to_pylist() for name in ("age", "token")), strict=True)
        # A normal of variance 1 exceeds 4.4 once in 90,000 times.
        order = [place[token] for token in group.column("token").to_pylist()]
        assert abs(rank_correlation(order)) * (len(order) - 1) ** 0.5 < 4.4
    # The groups follow one another in the order of all that is published, too.
    assert found == sorted(found, key=lambda row: (str(row[0]), row[1]))


@pytest.mark.slow
def test_output_is_the_same_for_any_row_order_and_number_of_threads(connection):
    results = set()
    for seed, threads in enumerate((1, 2, 8)):
        connection.execute(f"SET threads = {threads}")
        connection.execute(
            "CREATE OR REPLACE TABLE shuffled AS "
            f"SELECT * FROM people ORDER BY hash(name || {seed})"
        )
        report = sqlanon.anonymize(connection, POLICY, table="shuffled", into="out", overwrite=True)
        results.add((tuple(report.levels.items()), tuple(rows(connection, "out"))))
    assert len(results) == 1


@pytest.fixture
def large(connection):
    """A plan for as many records as are sorted by places."""
    connection.execute(f"""
        CREATE TABLE crowd AS SELECT (i * 7) % 40 AS age, 'job ' || hash(i) % 30 AS job,
            'zip ' || hash(i, 1) % 9000 AS zip, 'd' || nullif(hash(i, 2) % 5, 0) AS diagnosis,
            i AS note
        FROM range({planner.MIN_RECORDS_BY_PLACES}) AS r(i)
    """)
    policy = Policy(
        {
            "age": QuasiIdentifier(Hierarchy.intervals(10, 20), min_level=1),
            "job": QuasiIdentifier(Hierarchy.suppression(), max_level=0),
            "zip": QuasiIdentifier(Hierarchy.prefix(5), min_level=1, max_level=1),
        },
        sensitive=["diagnosis"],
        keep=["note"],
        models=[KAnonymity(2)],
        suppression_limit=0.1,
    )
    return sqlanon.plan(connection, policy, table="crowd")


@pytest.mark.slow
def test_large_table_is_sorted_by_places_of_few_labels(large):
    assert large.few == ("age", "zip", "job", "diagnosis")
    assert "DENSE_RANK" in large.sql()


@pytest.mark.slow
def test_large_table_is_published_by_places_as_by_labels(connection, large):
    connection.execute(large.sql())
    connection.execute(replace(large, few=()).sql(into="by label"))
    assert rows(connection, "anonymized") == rows(connection, '"by label"')


@pytest.mark.slow
def test_sql_in_another_dialect_is_sorted_by_labels(large):
    assert large.sql(dialect="spark") == replace(large, few=()).sql(dialect="spark")


@pytest.mark.slow
def test_large_table_with_a_long_column_is_sorted_by_labels(connection, large):
    connection.execute("ALTER TABLE crowd ALTER note TYPE VARCHAR")
    assert sqlanon.plan(connection, large.policy, table="crowd").few == ()


@pytest.mark.slow
@pytest.mark.parametrize("collated", ["NOCASE", "NOACCENT"])
def test_text_with_a_collation_is_published_as_it_is_spelled(connection, large, collated):
    connection.execute(f"ALTER TABLE crowd ALTER diagnosis TYPE VARCHAR COLLATE {collated}")
    connection.execute("UPDATE crowd SET diagnosis = 'D1' WHERE diagnosis = 'd1' AND age < 20")
    plan = sqlanon.plan(connection, large.policy, table="crowd")
    assert plan.few == ()


@pytest.mark.slow
def test_a_plan_of_a_file_fits_a_table_that_holds_what_it_drops(tmp_path):
    """Of the file, what is dropped is not loaded, so neither its types nor its values are known."""
    file = tmp_path / "people.csv"
    file.write_text("id,name,age\n" + "".join(f"{n},person {n},{n % 2}\n" for n in range(8)))
    policy = Policy(["age"], identifiers=["name"], drop=["id"], models=[KAnonymity(2)])
    plan = sqlanon.plan(file, policy)
    with empty_database() as opened:
        opened.execute("CREATE TABLE people AS SELECT * FROM read_csv(?)", [str(file)])
        assert sqlanon.apply(opened, plan, into="out", table="people").records == 8
        opened.execute("UPDATE people SET name = 'nobody'")
        assert sqlanon.apply(opened, plan, into="again", table="people").records == 8
        opened.execute("UPDATE people SET age = 0 WHERE id = 1")
        with pytest.raises(StalePlanError, match="other values"):
            sqlanon.apply(opened, plan, into="stale", table="people")
