"""What versions of DuckDB and sqlglot differ in, and the oldest ones that are tested."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from databases import empty_database
from sqlglot import exp

import sqlanon
from sqlanon import KAnonymity, Policy
from sqlanon.engine.duckdb import catalog, syntax
from sqlanon.engine.duckdb.capabilities import arrow_reader
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.database_objects import generated_columns, generated_in
from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import SourceError
from sqlanon.sqlglot_version import classes, drop, type_id

ROOT = Path(__file__).parents[3]
HOSTILE = """
CREATE TABLE "t (, ""GENERATED ALWAYS AS" (
    x INTEGER DEFAULT 3, "y "" (,z" INTEGER GENERATED ALWAYS AS (x + 1),
    z VARCHAR DEFAULT 'GENERATED ALWAYS AS', w INTEGER GENERATED ALWAYS AS ("y "" (,z" * 2) VIRTUAL,
    "GENERATED" STRUCT("generated" INTEGER, "always" INTEGER, "as" INTEGER),
    e ENUM('GENERATED', 'ALWAYS', 'AS'), d DECIMAL(10, 2) GENERATED ALWAYS AS (1.5),
    v INTEGER CHECK (v > 1), PRIMARY KEY (x)
)
"""


def test_generated_columns_are_told_by_the_text_of_a_table_as_by_the_catalog():
    connection = empty_database()
    connection.execute(HOSTILE)
    query = "SELECT database_name, schema_name, table_name, sql FROM duckdb_tables()"
    [(database, *place, text)] = connection.execute(
        f"{query} WHERE database_name = current_database()"
    ).fetchall()
    assert list(generated_in(text)) == ['y " (,z', "w", "d"]
    assert generated_columns(DuckDB(connection), database) == {
        (*place, name) for name in generated_in(text)
    }


def test_a_database_that_knows_no_triggers_has_none(monkeypatch):
    monkeypatch.setattr(catalog, "HAS_TRIGGERS", False)
    own = catalog.equals("schema_name", "main"), catalog.equals("table_name", "t")
    query = catalog.entries("duckdb_triggers", ("trigger_name", "sql"), where=own)
    assert DuckDB(empty_database()).rows(query) == []


def test_batches_are_read_as_they_are_asked_for():
    connection = empty_database()
    rows = arrow_reader(connection.sql("SELECT range AS n FROM range(300000)"))
    sizes = [batch.num_rows for batch in rows]
    assert sum(sizes) == 300_000
    assert len(sizes) > 1


@pytest.mark.parametrize("kind", ["BIT", "STRUCT(a BIT[])"])
def test_a_type_that_no_table_holds_is_refused_before_the_search(monkeypatch, kind):
    monkeypatch.setattr(DuckDB, "can", replace(DuckDB.can, unstored=frozenset({"BIT"})))
    monkeypatch.setattr("sqlanon.publishing.planner._chosen", None)
    connection = empty_database()
    connection.execute(f"CREATE TABLE t AS SELECT 1 AS age, NULL::{kind} AS seen FROM range(9)")
    with pytest.raises(SourceError, match="column 'seen' holds values of type BIT, which no table"):
        sqlanon.plan(connection, Policy(["age"], models=[KAnonymity(2)]), table="t")
    policy = Policy(["age"], drop=["seen"], models=[KAnonymity(2)])
    with pytest.raises(TypeError, match="not callable"):
        sqlanon.plan(connection, policy, table="t")


def test_types_have_the_same_name_whether_sqlglot_knows_them_or_not():
    named = {
        "BIGNUM": "BIGNUM",
        "TUPLE(a INT)": "TUPLE",
        "HUGEINT": "INT128",
        "INTEGER[3]": "ARRAY",
    }
    assert {text: type_id(type_of(text)) for text in named} == named


@pytest.mark.parametrize("text", syntax._PLAIN)
def test_a_plain_type_is_what_sqlglot_reads(text):
    assert syntax.type_of(text) == exp.DataType.build(text, dialect="duckdb")


def test_a_class_that_sqlglot_does_not_have_is_left_out():
    assert classes("Rand", "NoSuchFunction") == (exp.Rand,)


def test_drop_names_its_table():
    assert drop(exp.to_table("s.t")).sql("duckdb") == "DROP TABLE s.t"


def test_the_oldest_versions_that_are_tested_are_those_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    allowed = {}
    for text in (*project["dependencies"], *extras["exact"], *extras["report"]):
        name, _, bound = text.partition(">=")
        allowed[name] = [int(part) for part in bound.split(",")[0].split(".")]
    lines = (ROOT / ".ci" / "oldest.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, least in allowed.items():
        parts = [int(part) for part in tested[name].split(".")]
        assert parts[: len(least)] == least, name
        assert not any(parts[len(least) :]), name
