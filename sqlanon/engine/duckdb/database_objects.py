"""Objects of a database beside a table's cells: what may quote its values, and what uses it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import duckdb
import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from sqlanon.engine.base import Engine, Row
from sqlanon.engine.duckdb.capabilities import TELLS_GENERATED
from sqlanon.engine.duckdb.catalog import entries, equals, first_names, qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.syntax import drop
from sqlanon.sqltext import Sql, expression, projected, value
from sqlanon.wording import counted, listed

_GENERATED = ["GENERATED", "ALWAYS", "AS"]
_QUOTED = {TokenType.STRING, TokenType.IDENTIFIER}


def generated_columns(engine: Engine, database: str) -> set[tuple[str, str, str]]:
    """Schema, table and name of every generated column of a database."""
    place = "schema_name", "table_name"
    if TELLS_GENERATED:
        generated = entries(
            "duckdb_columns",
            (*place, "column_name"),
            database=database,
            where=[expression("is_generated")],
        )
        return set(engine.rows(generated))
    return {
        (schema, table, name)
        for schema, table, text in engine.rows(
            entries("duckdb_tables", (*place, "sql"), database=database)
        )
        for name in generated_in(text)
    }


def generated_in(definition: str) -> Iterator[str]:
    """The generated columns of a table by its CREATE TABLE, as DuckDB writes it.

    >>> list(generated_in('CREATE TABLE t(x INTEGER, "y z" INTEGER GENERATED ALWAYS AS((x + 1)));'))
    ['y z']
    """
    for name, *others in _parts(definition):
        words = [token.text.upper() for token in others if token.token_type not in _QUOTED]
        if any(words[at : at + 3] == _GENERATED for at in range(len(words))):
            yield name.text


def _parts(definition: str) -> list[list[sqlglot.Token]]:
    """The tokens of each column and constraint, without those in deeper parentheses.

    These are parts of a type, a default or an expression.
    """
    depth, parts = 0, list[list[sqlglot.Token]]([[]])
    for token in sqlglot.tokenize(definition, read="duckdb"):
        depth -= token.token_type == TokenType.R_PAREN
        if depth == 1 and token.token_type == TokenType.COMMA:
            parts.append([])
        elif depth == 1:
            parts[-1].append(token)
        depth += token.token_type == TokenType.L_PAREN
    # DuckDB 1.4 writes an empty part where a table refers to itself.
    return [part for part in parts if part]


CONSTANTS = frozenset(kind for kind in TokenType if kind.name.endswith(("STRING", "NUMBER")))
"""Kinds of tokens that quote a value."""
# The functions that tell comments, and what they call the object.
_COMMENTED = (
    ("duckdb_tables", "table_name"),
    ("duckdb_columns", "table_name"),
    ("duckdb_views", "view_name"),
    ("duckdb_indexes", "index_name"),
    ("duckdb_triggers", "trigger_name"),
    ("duckdb_sequences", "sequence_name"),
    ("duckdb_types", "type_name"),
    ("duckdb_functions", "function_name"),
)


def file_of(engine: Engine, table: exp.Table) -> str | None:
    """The database file that holds a table; None for a table in memory."""
    [(path,)] = engine.rows(entries("duckdb_databases", ("path",), database=table.catalog))
    return None if path is None else str(path)


def leftovers(engine: Engine, database: str, *, besides: exp.Table | None = None) -> list[str]:
    """Views, macros, comments and other parts that may quote values, one sentence a kind.

    A rewrite keeps all of it. Only names and counts are told, never a text.

    Args:
        engine: Where the database is attached.
        database: Its name.
        besides: A table of it that does not count.
    """

    def suspects(function: str, name: str, text: str, suspect: Callable[[Any], bool]) -> set[str]:
        rows = engine.rows(entries(function, (name, text), database=database, without=besides))
        return {name for name, text in rows if text is not None and suspect(text)}

    types = suspects("duckdb_types", "type_name", "labels", bool)
    if besides is not None:
        types -= {one.name for one in table_types(engine, besides)}
    kinds = (
        ("view", "", "with constants", suspects("duckdb_views", "view_name", "sql", _has_constant)),
        ("macro", "", "with constants",
         suspects("duckdb_functions", "function_name", "macro_definition", _has_constant)),
        ("ENUM type", "", "with labels that may be values", types),
        ("index", "indexes", "over constants",
         suspects("duckdb_indexes", "index_name", "sql", _has_constant)),
        ("trigger", "", "with constants",
         suspects("duckdb_triggers", "trigger_name", "sql", _has_constant)),
        ("table", "", "with column defaults or generated columns that hold constants",
         suspects("duckdb_columns", "table_name", "column_default", _has_constant)),
        ("table", "", "with checks",
         suspects("duckdb_constraints", "table_name", "expression", bool)),
        ("object", "", "with comments",
         set().union(*(suspects(views, name, "comment", bool) for views, name in _COMMENTED))),
    )  # fmt: skip
    return [
        f"{counted(len(names), one, more=more)} {how}: {first_names(sorted(names))}"
        for one, more, how, names in kinds
        if names
    ]


def table_types(engine: Engine, table: exp.Table) -> list[exp.Table]:
    """The ENUM types that columns of a table have, and nothing else of its database names.

    Their labels are its values. DuckDB does not tell which type a column was made with, and gives
    each column labels of its own: whatever has the same ones counts as of that type.
    """

    def of_others(function: str, text: str) -> list[str]:
        rows = engine.rows(entries(function, (text,), database=table.catalog, without=table))
        return [expression for (expression,) in rows if expression is not None]

    types = ("schema_name", "type_name", "labels")
    listed_types = engine.rows(entries("duckdb_types", types, database=table.catalog))
    enums = [(schema, name, labels) for schema, name, labels in listed_types if labels]
    if not enums:
        return []
    every = ("schema_name", "table_name", "data_type")
    kinds = engine.rows(entries("duckdb_columns", every, database=table.catalog))
    column_types = [kind for *place, kind in kinds if place == [table.db, table.name]]
    others = [kind for *place, kind in kinds if place != [table.db, table.name]]
    texts = [*of_others("duckdb_columns", "column_default"),
             *of_others("duckdb_constraints", "expression")]  # fmt: skip
    named = set().union(*map(_words, texts), *(one.words for one in _objects(engine, table)))

    def written(labels: Sequence[str]) -> str:
        return f"ENUM({', '.join(value(label).text for label in labels)})"

    return [
        qualified(table.catalog, schema, name)
        for schema, name, labels in enums
        if any(written(labels) in kind for kind in column_types)
        and not any(written(labels) in kind for kind in others)
        and name.lower() not in named
    ]


def drop_type(database: str, kind: exp.Table) -> Sql:
    """The statement that drops a type of that name in a database."""
    return drop(qualified(database, kind.db, kind.name), kind="TYPE")


def table_parts(engine: Engine, table: exp.Table) -> list[str]:
    """Constraints, defaults, generated columns, indexes, triggers, types, comments of a table.

    A phrase for each kind that there is, with names of columns and objects, and no text.
    """
    conditions = equals("schema_name", table.db), equals("table_name", table.name)

    def rows(function: str, *parts: str) -> list[Row]:
        return engine.rows(entries(function, parts, database=table.catalog, where=conditions))

    columns = rows("duckdb_columns", "column_name", "column_default", "comment")
    generated = generated_columns(engine, table.catalog)
    made = {name for name, *_ in columns if (table.db, table.name, name) in generated}
    constraints = sorted(
        f"{kind} on {listed([repr(name) for name in names])}"
        for kind, names in rows("duckdb_constraints", "constraint_type", "constraint_column_names")
    )
    comments = [text for (text,) in rows("duckdb_tables", "comment")]
    comments += [text for *_, text in columns]
    kinds = (
        ("constraint", "", constraints),
        ("column default", "",
         [repr(name) for name, text, _ in columns if text is not None and name not in made]),
        ("generated column", "", [repr(name) for name, *_ in columns if name in made]),
        ("index", "indexes", sorted(repr(n) for (n,) in rows("duckdb_indexes", "index_name"))),
        ("trigger", "", sorted(repr(n) for (n,) in rows("duckdb_triggers", "trigger_name"))),
        ("ENUM type", "", sorted(repr(one.name) for one in table_types(engine, table))),
    )  # fmt: skip
    phrases = [
        _not_carried(len(names), one, more=more, names=names) for one, more, names in kinds if names
    ]
    count = sum(text is not None for text in comments)
    return [*phrases, *([_not_carried(count, "comment", more="", names=())] if count else [])]


def _not_carried(count: int, one: str, *, more: str, names: Sequence[str]) -> str:
    verb = "is" if count == 1 else "are"
    suffix = f": {', '.join(names)}" if names else ""
    return f"{counted(count, one, more=more)} of the original {verb} not carried over{suffix}"


def _has_constant(text: str) -> bool:
    # Tokens, not a tree: the parser logs a part of what it does not know.
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except SqlglotError:
        return True
    return any(token.token_type in CONSTANTS for token in tokens)


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
    known, result = {table.name.lower()}, list[Dependent]()
    while True:
        using = [one for one in waiting if one.words & known]
        if not using:
            return sorted(result, key=lambda one: (one.kind, one.name))
        result += using
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
    listed = entries(
        "duckdb_views",
        ("schema_name", "view_name"),
        database=table.catalog,
        where=[expression("NOT internal")],
    )
    views = sorted(engine.rows(listed))
    places = [qualified(table.catalog, schema, name) for schema, name in views]
    if not places:
        return []
    empty = {
        name: expression("CAST(NULL AS {{ kind }})", kind=kind) for name, kind in columns.items()
    }
    remade = expression(
        "CREATE TABLE {{ table }} AS SELECT {{ empty }} LIMIT 0",
        table=table,
        empty=projected(empty),
    )
    made = drop(table), remade
    with closing(engine.connection.cursor()) as other:

        def works(*statements: Sql) -> bool:
            # One that fails ends a transaction: each view gets its own.
            other.begin()
            try:
                for statement in statements:
                    other.execute(statement.text)
                return True
            except duckdb.Error:
                return False
            finally:
                other.rollback()

        seen = other.execute(listed.text).fetchall()
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
    rows = engine.rows(
        entries(
            "duckdb_constraints",
            ("table_name", "referenced_table"),
            database=table.catalog,
            where=[equals("schema_name", table.db)],
        )
    )
    target = table.name.lower()
    return sorted(
        {
            name
            for name, other in rows
            if other and other.lower() == target and name.lower() != target
        }
    )


def _probe(view: exp.Table) -> Sql:
    return expression("SELECT * FROM {{ view }} LIMIT 0", view=view)


def _objects(engine: Engine, table: exp.Table) -> Iterator[Dependent]:
    for kind, function, name, text in _OBJECTS:
        for object_name, code in engine.rows(
            entries(function, (name, text), database=table.catalog, without=table)
        ):
            if code is not None:
                # Its own name is no use of a table that is called alike.
                yield Dependent(kind, object_name, _words(code) - {object_name.lower()})


def _words(text: str) -> frozenset[str]:
    # Tokens, not a tree: the parser logs a part of what it does not know.
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except SqlglotError:
        return frozenset()
    return frozenset(token.text.lower() for token in tokens if token.token_type not in CONSTANTS)
