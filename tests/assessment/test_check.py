"""Check: which k a table has as it stands; published tables pass, and hold nothing else."""

import duckdb
import pytest
from databases import insert, tables_of

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import PolicyError


def fill(connection, rows, types=("VARCHAR", "VARCHAR"), table="t"):
    names = [f"x{number}" for number in range(len(types))]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    connection.execute(f"CREATE OR REPLACE TABLE {table} ({columns})")
    insert(connection, table, rows)
    return names


def check(connection, rows, k=2, types=("VARCHAR", "VARCHAR")):
    names = fill(connection, rows, types)
    return sqlanon.check(connection, Policy(names, models=[KAnonymity(k)]), table="t")


CLASSES = [("a", "x")] * 3 + [("b", "x")] * 2 + [("b", "y")]


def test_check_counts_classes_sizes_and_risks(connection):
    figures = check(connection, CLASSES, k=3).to_dict()
    assert (figures["records"], figures["classes"], figures["k"]) == (6, 3, 1)
    assert figures["class_size"] == {"min": 1, "mean": 2.0, "median": 2.0, "max": 3}
    # One over the size of the class: 1/3 three times, 1/2 twice, 1 once; the mean is 3 of 6.
    assert (figures["risk"]["prosecutor_max"], figures["risk"]["prosecutor_mean"]) == (1.0, 0.5)
    assert (figures["risk"]["threshold"], figures["risk"]["records_at_risk"]) == (0.2, 6)


@pytest.mark.parametrize(("k", "holds"), [(1, True), (2, True), (3, False)])
def test_check_says_whether_k_holds(connection, k, holds):
    report = check(connection, [("a", "x")] * 2 + [("b", "y")] * 4, k=k)
    assert report.holds is holds
    assert [(m.model, m.threshold, m.value) for m in report.models] == [("k-anonymity", k, 2)]


def test_check_ignores_other_columns_and_hierarchies(connection):
    fill(connection, CLASSES)
    policy = Policy({"x0": Hierarchy.from_rows([("elsewhere", "*")])}, models=[KAnonymity(3)])
    assert sqlanon.check(connection, policy, table="t").holds


def test_check_writes_nothing(connection):
    fill(connection, CLASSES)
    before = connection.execute("SELECT * FROM duckdb_tables()").fetchall()
    sqlanon.check(connection, Policy(["x0"], models=[KAnonymity(2)]), table="t")
    assert connection.execute("SELECT * FROM duckdb_tables()").fetchall() == before


def test_check_works_within_the_callers_transaction(connection):
    connection.execute("BEGIN")
    assert check(connection, CLASSES).statistics.records == 6
    connection.rollback()
    assert tables_of(connection) == []


def test_check_works_on_a_database_opened_for_reading_only(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as opened:
        fill(opened, CLASSES)
    with duckdb.connect(str(path), read_only=True) as opened:
        assert sqlanon.check(opened, Policy(["x0"]), table="t").statistics.records == 6
    assert sqlanon.check(path, Policy(["x0"])).statistics.records == 6


def test_check_takes_nan_for_one_value(connection):
    rows = [(float("nan"),), (float("nan"),), (1.0,), (1.0,)]
    assert check(connection, rows, types=("DOUBLE",)).statistics.classes == 2


def test_check_is_text_for_a_reader(connection):
    text = check(connection, CLASSES).to_text()
    assert "6 records in 3 classes by x0, x1" in text
    assert "k-anonymity 2 does NOT hold: the table has 1" in text


def test_check_of_a_missing_quasi_identifier_is_an_error(connection):
    fill(connection, CLASSES)
    with pytest.raises(PolicyError, match="'x9'"):
        sqlanon.check(connection, Policy(["x9"]), table="t")


def test_check_before_publishing_still_names_a_missing_sensitive_column(connection):
    fill(connection, CLASSES)
    with pytest.raises(PolicyError, match="'x9'"):
        sqlanon.check(connection, Policy(["x0"], sensitive=["x9"]), table="t")


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", ["drop", "keep"])
@pytest.mark.parametrize("others", ["keep", "drop"])
def test_published_table_passes_check_with_the_very_policy(connection, suppressed, others):
    fill(connection, [(str(i % 5 % 4), str(i), "extra") for i in range(50)], ("VARCHAR",) * 3)
    policy = Policy(
        {"x0": Hierarchy.suppression()},
        identifiers=["x1"],
        others=others,
        models=[KAnonymity(10)],
        suppression_limit=0.7,
        suppressed=suppressed,
    )
    sqlanon.anonymize(connection, policy, table="t", into="out")
    assert sqlanon.check(connection, policy, table="out").holds
