"""Objects of a database that use a table: what breaks once columns of it are gone or changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engine.base import Engine, render
from sqlanon.engine.duckdb.catalog import entries, equals, qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.leftovers import CONSTANTS
from sqlanon.sqlglot_version import drop

# What an object is called, and where its name and its text stand.
_OBJECTS = (
    ("view", "duckdb_views", "view_name", "sql"),
    ("macro", "duckdb_functions", "function_name", "macro_definition"),
    ("trigger", "duckdb_triggers", "trigger_name", "sql"),
)
# What picks columns or tables without naming them in the text.
_BY_TEXT = frozenset({"query", "query_table"})


@dataclass(frozen=True, slots=True)
class Dependent:
    """An object that uses a table, directly or through a view.

    Args:
        kind: "view", "macro" or "trigger".
        name: Its name.
        words: The names that its text is made of, in lower case.
    """

    kind: str
    name: str
    words: frozenset[str]

    def used(self, columns: Collection[str]) -> list[str]:
        """Those of some columns that its text names."""
        return [column for column in columns if column.lower() in self.words]

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


def dependents(engine: Engine, table: exp.Table) -> list[Dependent]:
    """The views, macros and triggers of a table's database that use it, by name.

    Names are told from the words of their texts: one that names a table and a column of another
    one that is called alike is taken for a user of both.
    """
    waiting = sorted(_objects(engine, table), key=lambda one: (one.kind, one.name))
    known, found = {table.name.lower()}, list[Dependent]()
    while True:
        using = [one for one in waiting if one.words & known]
        if not using:
            return sorted(found, key=lambda one: (one.kind, one.name))
        found += using
        waiting = [one for one in waiting if one not in using]
        known |= {one.name.lower() for one in using}


def broken_views(
    engine: Engine, table: exp.Table, *, columns: Mapping[str, exp.DataType]
) -> list[str] | None:
    """The views of a table's database that work now and would not if it had other columns.

    DuckDB is asked, on a connection of its own: the table is dropped and made anew, empty, in a
    transaction that is rolled back. So a view counts that uses a column without naming it.

    Args:
        engine: Where the table is.
        table: The table.
        columns: What it would have.

    Returns:
        Their names; None where it cannot be told, since an open transaction has made or changed
        the table or a view.
    """
    if not isinstance(engine, DuckDB):
        return None
    listed = entries("duckdb_views", ("schema_name", "view_name"), database=table.catalog).where(
        exp.Not(this=exp.column("internal"))
    )
    views = sorted(engine.rows(listed))
    places = [qualified(table.catalog, schema, name) for schema, name in views]
    if not places:
        return []
    definitions = [
        exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=kind.copy())
        for name, kind in columns.items()
    ]
    remade = exp.Schema(this=table.copy(), expressions=definitions)
    made = drop(table.copy()), exp.Create(this=remade, kind="TABLE")
    with closing(engine.connection.cursor()) as other:

        def works(*statements: exp.Expr) -> bool:
            # One that fails ends a transaction: each view gets its own.
            other.begin()
            try:
                for statement in statements:
                    other.execute(render(statement, engine.dialect))
                return True
            except duckdb.Error:
                return False
            finally:
                other.rollback()

        seen = other.execute(render(listed, engine.dialect)).fetchall()
        if sorted(seen) != views or not works(*made):
            return None
        failing = [one for one in places if not works(*made, _probe(one))]
        # DuckDB keeps the columns that a view had when it was last read: all are read again.
        working = [one for one in places if works(_probe(one))]
    return [one.name for one in failing if one in working]


def picking(engine: Engine, table: exp.Table) -> list[Dependent]:
    """The macros of a table's database that may use columns of it without naming them."""
    using = [one for one in dependents(engine, table) if "columns" in one.words]
    by_text = [one for one in _objects(engine, table) if one.words & _BY_TEXT]
    macros = {one.name: one for one in (*using, *by_text) if one.kind == "macro"}
    return [macros[name] for name in sorted(macros)]


def referring(engine: Engine, table: exp.Table) -> list[str]:
    """The other tables that refer to a table by a foreign key."""
    query = entries(
        "duckdb_constraints", ("table_name", "referenced_table"), database=table.catalog
    )
    rows = engine.rows(query.where(equals("schema_name", table.db)))
    own = table.name.lower()
    return sorted(
        {name for name, other in rows if other and other.lower() == own and name.lower() != own}
    )


def _probe(view: exp.Table) -> exp.Select:
    return exp.select("*").from_(view.copy()).limit(0)


def _objects(engine: Engine, table: exp.Table) -> Iterator[Dependent]:
    for kind, function, name, text in _OBJECTS:
        for own, code in engine.rows(
            entries(function, (name, text), database=table.catalog, without=table)
        ):
            if code is not None:
                # Its own name is no use of a table that is called alike.
                yield Dependent(kind, own, _words(code) - {own.lower()})


def _words(text: str) -> frozenset[str]:
    # Tokens, not a tree: the parser logs a part of what it does not know.
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except SqlglotError:
        return frozenset()
    return frozenset(token.text.lower() for token in tokens if token.token_type not in CONSTANTS)
