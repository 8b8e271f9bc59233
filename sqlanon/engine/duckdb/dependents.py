"""Objects of a database that use a table: what breaks once columns of it are gone or changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.catalog import entries, equals
from sqlanon.engine.duckdb.leftovers import CONSTANTS

# What an object is called, and where its name and its text stand.
_OBJECTS = (
    ("view", "duckdb_views", "view_name", "sql"),
    ("macro", "duckdb_functions", "function_name", "macro_definition"),
    ("trigger", "duckdb_triggers", "trigger_name", "sql"),
)


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
