"""Equivalence classes of tables as they stand, and what tells a table apart."""

import pytest
from databases import insert
from snapshots import PEOPLE, Snapshot, text
from sqlglot import exp

from sqlanon.query.classes import table_classes
from sqlanon.query.encode import fingerprint
from sqlanon.query.syntax import table

SNAPSHOTS = [
    Snapshot(
        "size_histogram", table_classes.size_histogram(PEOPLE, ["sex", "age"]), [(1, 2), (3, 1)]
    ),
]


@pytest.mark.parametrize("name", ["class_size", "classes", "plain"])
def test_classes_are_counted_whatever_a_column_is_called(connection, name):
    connection.execute(
        f'CREATE OR REPLACE TEMP TABLE named AS SELECT * FROM (VALUES (1), (1), (NULL)) v("{name}")'
    )
    query = table_classes.size_histogram(table("named"), [name])
    assert sorted(connection.execute(text(query)).fetchall()) == [(1, 1), (2, 1)]


def fingerprint_of(connection, rows):
    """The fingerprint of a table of two columns with those rows."""
    connection.execute("CREATE OR REPLACE TEMP TABLE printed (a INTEGER, b VARCHAR)")
    insert(connection, "printed", rows)
    kinds = {"a": exp.DataType.build("INT"), "b": exp.DataType.build("TEXT")}
    return connection.execute(text(fingerprint(table("printed"), kinds))).fetchone()


PRINTED = [(1, "x"), (2, None), (3, "y")]


def test_fingerprint_does_not_depend_on_the_order_of_records(connection):
    assert fingerprint_of(connection, PRINTED) == fingerprint_of(connection, PRINTED[::-1])


@pytest.mark.parametrize(
    "changed",
    [
        PRINTED[:2],
        [*PRINTED, PRINTED[0]],
        [(1, "x"), (1, "x"), (3, "y")],
        [(1, "x"), (2, ""), (3, "y")],
        [(1, None), (2, "x"), (3, "y")],
        [(1, "y"), (2, None), (3, "x")],
    ],
)
def test_fingerprint_changes_with_the_content(connection, changed):
    assert fingerprint_of(connection, changed) != fingerprint_of(connection, PRINTED)


def test_fingerprint_tells_two_pairs_of_doubled_records_apart(connection):
    """The exclusive or of both is 0."""
    one, other = [(1, "x"), (1, "x")], [(2, "y"), (2, "y")]
    assert fingerprint_of(connection, one) != fingerprint_of(connection, other)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("INTEGER[]", "[]", "[NULL]"),
        ("INTEGER[]", "[]", "NULL"),
        ("STRUCT(a INTEGER)", "{'a': NULL}", "NULL"),
        ("INTERVAL", "INTERVAL 1 MONTH", "INTERVAL 30 DAY"),
        ("INTERVAL", "INTERVAL 1 DAY", "INTERVAL 24 HOUR"),
        ("DOUBLE", "0.0", "'-0.0'"),
        ("FLOAT", "0.0", "'-0.0'"),
    ],
)
def test_fingerprint_tells_values_apart_that_hash_takes_for_one(connection, kind, one, other):
    """Found where a table that had changed so was published by an old plan."""
    kinds = {"v": exp.DataType.build(kind, dialect="duckdb")}
    found = {
        connection.execute(
            text(fingerprint(exp.maybe_parse(f"(SELECT CAST({value} AS {kind}) AS v)"), kinds))
        ).fetchone()
        for value in (one, other)
    }
    assert len(found) == 2
