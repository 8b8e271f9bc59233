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


HIDDEN = [
    "CREATE VIEW hidden(a, b, c, d) AS SELECT * FROM people",
    "CREATE VIEW hidden AS SELECT * FROM people UNION ALL SELECT 'a', 1, 'b', 'c'",
    "CREATE TABLE pets (name VARCHAR, pet VARCHAR); "
    "CREATE VIEW hidden AS SELECT pet FROM pets JOIN people USING (nAmE)",
    "CREATE TABLE pets (name VARCHAR, pet VARCHAR); "
    "CREATE VIEW hidden AS SELECT pet FROM pets NATURAL JOIN people",
    "CREATE VIEW hidden AS SELECT COLUMNS('Na.*') FROM people",
    "CREATE VIEW hidden AS SELECT struct_extract(people, 'Name') AS n FROM people",
    "CREATE VIEW hidden AS FROM query('SELECT Name FROM people')",
]
"""Views that use a dropped column without its name."""


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
        *((statement, "view 'hidden' uses|would fail.*'hidden'") for statement in HIDDEN),
    ],
)
def test_a_dropped_column_that_an_object_uses_is_refused_before_the_search(
    database, monkeypatch, statement, told
):
    execute(database, statement)
    before = database.read_bytes()
    monkeypatch.setattr(planner, "Plan", None)
    with pytest.raises(SourceError, match=told) as refused:
        sqlanon.anonymize(database, POLICY, table="people", in_place=True)
    assert "--into" in str(refused.value)
    assert "MARK" not in str(refused.value)
    assert database.read_bytes() == before


@pytest.mark.slow
def test_a_column_that_is_generalized_and_used_is_a_note(database):
    execute(
        database,
        "CREATE VIEW older AS SELECT age AS next, region FROM people",
        "CREATE VIEW regions AS SELECT region, sex FROM people",
        "CREATE VIEW others AS SELECT 1 AS age",
    )
    age = QuasiIdentifier(Hierarchy.intervals(10), min_level=1)
    policy = Policy({"age": age}, drop=["Name"], keep=["region", "sex"], models=[KAnonymity(4)])
    report = sqlanon.anonymize(database, policy, table="people", in_place=True)
    told = [note for note in report.notes if "labels" in note]
    assert told == ["view 'older' uses 'age', which now holds labels"]


@pytest.mark.slow
def test_objects_that_use_other_columns_or_tables_are_in_nobodys_way(database):
    execute(
        database,
        "CREATE TABLE others AS SELECT 1 AS name",
        "CREATE VIEW named AS SELECT name FROM others",
        "CREATE VIEW counted AS SELECT count(*) AS n FROM people WHERE region = 'name'",
    )
    sqlanon.anonymize(database, POLICY, table="people", in_place=True)
    with duckdb.connect(str(database)) as connection:
        assert connection.sql("FROM counted").fetchall() == [(0,)]


LABELLED = Policy(
    {"age": QuasiIdentifier(Hierarchy.intervals(10), min_level=1)},
    drop=["Name"],
    keep=["region", "sex"],
    models=[KAnonymity(4)],
)


@pytest.mark.slow
@pytest.mark.parametrize("is_open", [False, True])
def test_a_view_that_would_break_leaves_the_table_of_an_open_connection(is_open):
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        connection.execute("CREATE VIEW total AS SELECT sum(COLUMNS('ag.*')) FROM people")
        if is_open:
            connection.begin()
        with pytest.raises(SourceError, match=r"would fail.*'total'"):
            sqlanon.anonymize(connection, LABELLED, table="people", in_place=True)
        if is_open:
            connection.commit()
        assert connection.sql("FROM total").fetchall() == [(40,)]
        assert connection.sql("SELECT min(Name) FROM people").fetchall() == [("MARK0",)]


@pytest.mark.slow
def test_views_that_fail_already_or_go_on_working_are_in_nobodys_way(database):
    execute(
        database,
        "CREATE VIEW whole AS SELECT * FROM people",
        "CREATE TABLE gone (a INTEGER)",
        "CREATE VIEW dead AS SELECT a FROM gone",
        "DROP TABLE gone",
    )
    sqlanon.anonymize(database, POLICY, table="people", in_place=True)
    with duckdb.connect(str(database)) as connection:
        assert connection.sql("FROM whole").columns == ["age", "sex", "region"]


@pytest.mark.slow
@pytest.mark.parametrize("committed", [0, 1])
def test_what_is_made_in_the_open_transaction_says_that_views_were_not_tried(committed):
    statements = [PEOPLE, "CREATE VIEW whole AS SELECT * FROM people"]
    with duckdb.connect() as connection:
        for statement in statements[:committed]:
            connection.execute(statement)
        connection.begin()
        for statement in statements[committed:]:
            connection.execute(statement)
        report = sqlanon.anonymize(connection, POLICY, table="people", in_place=True)
        connection.commit()
    assert [note for note in report.notes if "could not be tried" in note]


@pytest.mark.slow
def test_a_macro_that_picks_columns_by_a_text_is_a_note(database):
    execute(
        database,
        "CREATE MACRO picked() AS TABLE SELECT COLUMNS('N.*') FROM people",
        "CREATE MACRO asked() AS TABLE FROM query('SELECT Name FROM people')",
        "CREATE MACRO plain(x) AS x + 1",
    )
    report = sqlanon.anonymize(database, POLICY, table="people", in_place=True)
    assert [note for note in report.notes if "by a text" in note] == [
        f"macro {name!r} picks columns or tables by a text, and may use what is not published"
        for name in ("asked", "picked")
    ]
