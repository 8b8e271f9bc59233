"""Snapshots: a query as built, and what DuckDB answers to it.

A module lists `SNAPSHOTS` over its own `TABLES`, or over those from here; `test_snapshots` asks all
of them.
"""

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engine.base import render
from sqlanon.query.syntax import table
from sqlanon.sqltext import Statement

TABLES = """
CREATE TABLE people (age INTEGER, sex VARCHAR, zip VARCHAR, job VARCHAR);
INSERT INTO people VALUES
    (31, 'f', '10115', 'nurse'),
    (31, 'f', '10117', 'nurse'),
    (31, 'f', '10117', 'clerk'),
    (45, 'm', '20095', 'nurse'),
    (45, NULL, '20095', 'boss');

CREATE TABLE leaves (attribute BIGINT, leaf VARCHAR, word_0 BIGINT, word_1 BIGINT);
INSERT INTO leaves VALUES
    (0, 'nurse', 0, 0), (0, 'clerk', 1, 0), (0, 'boss', 2, 0),
    (1, 'f', 0, 0), (1, 'm', 4, 0), (1, NULL, 8, 1),
    (2, 'nurse', 0, 0);

CREATE TABLE spelled (attribute BIGINT, leaf VARCHAR, word_0 BIGINT);
INSERT INTO spelled VALUES (0, '31', 0), (0, '031', 1), (0, '45.2', 2), (0, 'old', 3), (0, NULL, 4);

CREATE TABLE typed (leaf VARCHAR);
INSERT INTO typed VALUES
    ('true'), ('f'), ('7'), ('-7'), ('07.50'), ('1e2'), ('300'), ('70000'), ('3000000000'),
    ('1.25'), ('2024-02-29'), ('2024-02-30'), ('2024-02-29 12:00:00.5'), ('x'), (''), (NULL);

CREATE TABLE huge (leaf VARCHAR);
INSERT INTO huge VALUES ('70000000000000000000000000000000000'), ('7');

CREATE TABLE paths (label VARCHAR, top VARCHAR);
INSERT INTO paths VALUES ('a', 'x'), ('b', NULL), (NULL, 'x');

CREATE TABLE days (leaf VARCHAR, label VARCHAR);
INSERT INTO days VALUES ('2024-02-29', 'leap'), ('2023-02-29', 'none'), (NULL, 'unknown');

CREATE TABLE ranks (value VARCHAR, rank BIGINT);
INSERT INTO ranks VALUES ('clerk', 0), ('nurse', 1);

CREATE TABLE codes (word_0 BIGINT, word_1 BIGINT, size BIGINT);
INSERT INTO codes VALUES (1, 0, 1), (5, 1, 2), (6, 1, 1), (2, 0, 4);

CREATE TABLE prices (place BIGINT, word_0 BIGINT, word_1 BIGINT, cost BIGINT);
INSERT INTO prices VALUES (0, 1, 0, 10), (0, 2, 0, 20), (1, 0, 0, 30);

CREATE TABLE minimal (subset BIGINT, members BIGINT, word_0 BIGINT, word_1 BIGINT);
INSERT INTO minimal VALUES (1, 1, 6, 1);

CREATE TABLE combined (key_0 VARCHAR, key_1 VARCHAR, size BIGINT);
INSERT INTO combined VALUES ('a', 'x', 3), ('a', 'y', 1), (NULL, 'x', 2);

CREATE TABLE rowed (row BIGINT, word_0 BIGINT, size BIGINT);
INSERT INTO rowed VALUES (1, 1, 1), (2, 5, 2), (3, 2, 4);

CREATE TABLE personal (row BIGINT, word_0 BIGINT, entity BIGINT);
INSERT INTO personal VALUES (0, 1, 7), (1, 1, 7), (2, 2, 8), (3, 5, 9), (4, 2, NULL);

CREATE TABLE valued (word_0 BIGINT, value_0 BIGINT, size BIGINT);
INSERT INTO valued VALUES (1, 0, 3), (5, 0, 1), (5, 1, 1), (2, 0, 4);

CREATE TABLE details
    (word_0 BIGINT, word_1 BIGINT, value_0 BIGINT, value_1 BIGINT, entity VARCHAR, size BIGINT);
INSERT INTO details VALUES
    (1, 0, 0, 2, 'ann', 1), (1, 0, 0, 2, 'bob', 2), (1, 0, 1, 0, 'ann', 1),
    (5, 1, 0, 1, 'cid', 3), (5, 1, NULL, 1, NULL, 1), (5, 1, NULL, 2, NULL, 1);

CREATE TABLE gone (word_0 BIGINT, word_1 BIGINT, required BIGINT);
INSERT INTO gone VALUES (5, 1, 2);

CREATE TABLE also_gone (word_0 BIGINT, word_1 BIGINT, required BIGINT);
INSERT INTO also_gone VALUES (5, 1, 4), (1, 0, 0);

CREATE TABLE figures (word_0 BIGINT, distinct_values BIGINT, largest BIGINT, counted BIGINT);
INSERT INTO figures VALUES (1, 2, 3, 4), (5, 1, 4, 4), (6, 3, 5, 7);

CREATE TABLE reference (
    value VARCHAR, rank BIGINT, records BIGINT, reached BIGINT, below BIGINT,
    node_1 VARCHAR, node_1_records BIGINT
);
INSERT INTO reference VALUES ('a', 0, 4, 4, 0, 'x', 6), ('b', 1, 2, 6, 4, 'x', 6);
"""
PEOPLE, LEAVES, CODES = table("people"), table("leaves"), table("codes")
DETAILS, GONE = table("details"), table("gone")
TEXT, INTEGER, DATE = (exp.DataType.build(name) for name in ("VARCHAR", "INTEGER", "DATE"))


@dataclass(frozen=True)
class Snapshot:
    """A query as built, its rows where their order matters or as a set, and SQL of a few.

    What is published shows its text; what a query answers holds for all.

    An inner one is part of others, so that its sums need not be cast yet. What only the embedded
    DuckDB is ever asked says why.
    """

    name: str
    query: Statement
    rows: list[tuple[object, ...]]
    parameters: tuple[object, ...] = ()
    ordered: bool = False
    inner: bool = False
    sql: str | None = None
    near: str | None = None

    def __repr__(self):
        return self.name


def text(query, dialect="duckdb"):
    """The text of a query as an engine gets it; what the dialect lacks is an error."""
    return render(query, dialect)
