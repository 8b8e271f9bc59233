"""Replacing a table in place whose columns other objects of the database use."""

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier
from sqlanon.errors import SourceError
from sqlanon.publishing import planner

POLICY = Policy(
    {"age": Hierarchy.intervals(10), "sex": Hierarchy.suppression()},
    identifiers=["Name"],
    keep=["region"],
    models=[KAnonymity(4)],
)
PEOPLE = """
    CREATE TABLE people AS
    SELECT 'MARK' || range AS Name, range % 5 AS age, 'f' AS sex, 'r' AS region FROM range(20)
"""


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(PEOPLE)
    return path


def execute(path, *statements):
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE VIEW named AS SELECT upper(name) AS n FROM people", "view 'named' uses 'Name'"),
        ("CREATE VIEW rest AS SELECT * EXCLUDE (name) FROM people", "view 'rest' uses 'Name'"),
        ("CREATE MACRO longest() AS (SELECT max(name) FROM people)", "macro 'longest' uses 'Name'"),
        (
            "CREATE VIEW whole AS SELECT * FROM people; "
            "CREATE VIEW outer_one AS SELECT name FROM whole",
            "view 'outer_one' uses 'Name'",
        ),
    ],
)
def test_a_dropped_column_that_an_object_uses_is_refused_before_the_search(
    database, monkeypatch, statement, told
):
    execute(database, statement)
    before = database.read_bytes()
    monkeypatch.setattr(planner, "Plan", None)
    with pytest.raises(SourceError, match=told) as refused:
        sqlanon.anonymize(database, "people", POLICY, in_place=True)
    assert "--into" in str(refused.value)
    assert "MARK" not in str(refused.value)
    assert database.read_bytes() == before


def test_a_column_that_is_generalized_and_used_is_a_note(database):
    execute(
        database,
        "CREATE VIEW older AS SELECT age + 1 AS next, region FROM people",
        "CREATE VIEW regions AS SELECT region, sex FROM people",
        "CREATE VIEW others AS SELECT 1 AS age",
    )
    age = QuasiIdentifier(Hierarchy.intervals(10), min_level=1)
    policy = Policy({"age": age}, drop=["Name"], keep=["region", "sex"], models=[KAnonymity(4)])
    report = sqlanon.anonymize(database, "people", policy, in_place=True)
    told = [note for note in report.notes if "labels" in note]
    assert told == ["view 'older' uses 'age', which now holds labels"]


def test_objects_that_use_other_columns_or_tables_are_in_nobodys_way(database):
    execute(
        database,
        "CREATE TABLE others AS SELECT 1 AS name",
        "CREATE VIEW named AS SELECT name FROM others",
        "CREATE VIEW counted AS SELECT count(*) AS n FROM people WHERE region = 'name'",
    )
    sqlanon.anonymize(database, "people", POLICY, in_place=True)
    with duckdb.connect(str(database)) as connection:
        assert connection.sql("FROM counted").fetchall() == [(0,)]


def test_a_table_that_others_refer_to_is_refused_before_the_search(tmp_path, monkeypatch):
    path = tmp_path / "parents.duckdb"
    execute(
        path,
        "CREATE TABLE parent (id INTEGER PRIMARY KEY, sex VARCHAR)",
        "INSERT INTO parent SELECT range, 'F' FROM range(9)",
        "CREATE TABLE child (id INTEGER REFERENCES parent (id))",
    )
    monkeypatch.setattr(planner, "Plan", None)
    policy = Policy(["sex"], keep=["id"], models=[KAnonymity(3)])
    with pytest.raises(SourceError, match="by a foreign key: 'child'"):
        sqlanon.anonymize(path, "parent", policy, in_place=True)


def test_generated_columns_checks_and_indexes_that_go_are_named(tmp_path):
    path = tmp_path / "own.duckdb"
    execute(
        path,
        "CREATE TABLE own (a INTEGER CHECK (a > -1), b INTEGER GENERATED ALWAYS AS (a * 2))",
        "INSERT INTO own (a) SELECT 1 FROM range(9)",
        "CREATE INDEX by_a ON own (a)",
    )
    policy = Policy(["a"], keep=["b"], models=[KAnonymity(3)])
    report = sqlanon.anonymize(path, "own", policy, in_place=True)
    assert [note for note in report.notes if "not carried over" in note] == [
        "1 constraint of the original is not carried over: CHECK on 'a'",
        "1 generated column of the original is not carried over: 'b'",
        "1 index of the original is not carried over: 'by_a'",
    ]
