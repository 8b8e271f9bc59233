"""Marks in every part of a database that may hold values, and what is left of them in its bytes."""

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import SourceError

pytestmark = pytest.mark.slow

POLICY = Policy(
    {"age": Hierarchy.intervals(10), "code": Hierarchy.expressions("left(value, 1)")},
    sensitive=["mood"],
    identifiers=["name"],
    drop=["rare", "made", "also"],
    models=[KAnonymity(4)],
)
MARKERS = 200_000
# All that belongs to the table; a mark in each part.
OWN = """
    CREATE TYPE feeling AS ENUM ('MARK rare', 'well');
    CREATE SEQUENCE numbers START 7;
    CREATE TABLE people (
        name VARCHAR DEFAULT 'MARK default' CHECK (name <> 'MARK check'),
        age INTEGER DEFAULT nextval('numbers'),
        code VARCHAR,
        mood VARCHAR,
        rare feeling,
        made VARCHAR GENERATED ALWAYS AS (name || 'MARK generated'),
        also VARCHAR UNIQUE
    );
    INSERT INTO people (name, age, code, mood, rare, also)
    SELECT 'MARK person ' || i, i % 80, (i % 5) || 'MARK code ' || i, 'mood ' || i % 3, 'well',
        'MARK key ' || i
    FROM range({markers}) AS r(i);
    UPDATE people SET rare = 'MARK rare' WHERE name = 'MARK person 1';
    COMMENT ON TABLE people IS 'MARK comment';
    COMMENT ON COLUMN people.name IS 'MARK column';
    CREATE INDEX by_name ON people (name);
    CREATE VIEW ages AS SELECT count(DISTINCT age) AS ages FROM people;
"""
# What stands beside it and holds a mark: it stays, and is named.
BESIDE = {
    "view": "CREATE VIEW beside AS SELECT count(*) AS people FROM people WHERE mood = 'MARK view'",
    "macro": "CREATE MACRO beside(x) AS x || 'MARK macro'",
    "ENUM type": "CREATE TYPE beside AS ENUM ('MARK label')",
    "object with comments": "CREATE TABLE beside (i INTEGER); COMMENT ON TABLE beside IS 'MARK'",
    "column defaults": "CREATE TABLE beside (i VARCHAR DEFAULT 'MARK default')",
    "table with checks": "CREATE TABLE beside (i VARCHAR CHECK (i <> 'MARK check'))",
    "index over": "CREATE TABLE beside (i VARCHAR); "
                  "CREATE INDEX beside ON beside ((i || 'MARK index'))",
}  # fmt: skip


def made(folder, *more, markers=200):
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET force_compression = 'uncompressed'")
        connection.execute(OWN.format(markers=markers))
        for statement in more:
            connection.execute(statement)
    return path


def marks(folder):
    """How often the mark stands in the bytes of all files of a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.read_bytes().count(b"MARK") for path in files)


@pytest.mark.parametrize("is_file", [True, False])
def test_no_mark_of_a_table_is_left_in_place_but_by_a_swap(tmp_path, is_file):
    path = made(tmp_path, markers=MARKERS)
    assert marks(tmp_path) >= MARKERS
    options = {"table": "people", "in_place": True}
    if is_file:
        (tmp_path / "spill").mkdir()
        spill = {"temp_directory": tmp_path / "spill", "memory_limit": "300MB"}
        sqlanon.anonymize(path, POLICY, **options, **spill)
        assert marks(tmp_path) == 0
        assert sorted(each.name for each in tmp_path.rglob("*")) == ["people.duckdb", "spill"]
    else:
        with duckdb.connect(str(path)) as connection:
            sqlanon.anonymize(connection, POLICY, **options)
        assert marks(tmp_path) >= MARKERS, "positive control"


def test_a_swap_takes_the_enum_types_of_the_table_along(tmp_path):
    with duckdb.connect(str(made(tmp_path))) as connection:
        sqlanon.anonymize(connection, POLICY, table="people", in_place=True)
        enums = connection.execute("SELECT type_name FROM duckdb_types() WHERE len(labels) > 0")
        assert enums.fetchall() == []


def test_every_part_of_the_table_that_holds_a_mark_goes_and_is_told(tmp_path):
    path = made(tmp_path)
    report = sqlanon.anonymize(path, POLICY, table="people", in_place=True)
    assert marks(tmp_path) == 0
    told = [note for note in report.notes if "carried over" in note]
    assert [note.split(" of the original")[0] for note in told] == [
        "2 constraints", "2 column defaults", "1 generated column", "1 index", "1 ENUM type",
        "2 comments",
    ]  # fmt: skip
    assert "MARK" not in " ".join(report.notes)


@pytest.mark.parametrize("kind", BESIDE)
def test_what_stands_beside_and_holds_a_mark_is_named(tmp_path, kind):
    path = made(tmp_path, BESIDE[kind])
    report = sqlanon.anonymize(path, POLICY, table="people", in_place=True)
    assert marks(tmp_path) > 0
    [note] = [note for note in report.notes if "may quote values" in note]
    assert kind in note
    assert "'beside'" in note
    assert "MARK" not in note


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE VIEW beside AS SELECT name FROM people WHERE name = 'MARK 1'", "view 'beside'"),
        ("CREATE TABLE beside (also VARCHAR REFERENCES people (also))", "foreign key"),
    ],
)
def test_what_a_swap_would_break_is_refused_and_named(tmp_path, statement, told):
    path = made(tmp_path, statement)
    before = path.read_bytes()
    with pytest.raises(SourceError, match=told) as refused:
        sqlanon.anonymize(path, POLICY, table="people", in_place=True)
    assert "'beside'" in str(refused.value)
    assert "MARK" not in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "user",
    [
        "CREATE TABLE beside (rare feeling)",
        "CREATE TABLE beside (rare STRUCT(a feeling[]))",
        "CREATE VIEW beside AS SELECT 'well'::feeling AS rare",
        "CREATE MACRO beside(x) AS x::feeling",
        "CREATE TABLE beside (x VARCHAR DEFAULT ('well'::feeling::VARCHAR))",
    ],
)
def test_a_type_that_something_else_uses_stays(tmp_path, user):
    path = made(tmp_path, user)
    report = sqlanon.anonymize(path, POLICY, table="people", in_place=True)
    assert not [note for note in report.notes if "ENUM type of the original" in note]
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT 'well'::feeling::VARCHAR").fetchone() == ("well",)
        connection.execute("FROM beside" if "MACRO" not in user else "SELECT beside('well')")
