"""Parts of a table, and texts of a database that may quote values, besides the cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from sqlanon.engine.base import Engine, Row
from sqlanon.engine.duckdb.catalog import entries, equals, first_names
from sqlanon.engine.duckdb.generated_columns import generated_columns
from sqlanon.wording import counted, listed

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

    def told(function: str, name: str, text: str, suspect: Callable[[Any], bool]) -> set[str]:
        rows = engine.rows(entries(function, (name, text), database=database, without=besides))
        return {name for name, text in rows if text is not None and suspect(text)}

    found = (
        ("view", "", "with constants", told("duckdb_views", "view_name", "sql", _has_constant)),
        ("macro", "", "with constants",
         told("duckdb_functions", "function_name", "macro_definition", _has_constant)),
        ("ENUM type", "", "with labels that may be values",
         told("duckdb_types", "type_name", "labels", bool)),
        ("index", "indexes", "over constants",
         told("duckdb_indexes", "index_name", "sql", _has_constant)),
        ("trigger", "", "with constants",
         told("duckdb_triggers", "trigger_name", "sql", _has_constant)),
        ("table", "", "with column defaults or generated columns that hold constants",
         told("duckdb_columns", "table_name", "column_default", _has_constant)),
        ("table", "", "with checks",
         told("duckdb_constraints", "table_name", "expression", bool)),
        ("object", "", "with comments",
         set().union(*(told(function, name, "comment", bool) for function, name in _COMMENTED))),
    )  # fmt: skip
    return [
        f"{counted(len(own), one, more=more)} {how}: {first_names(sorted(own))}"
        for one, more, how, own in found
        if own
    ]


def own_parts(engine: Engine, table: exp.Table) -> list[str]:
    """Constraints, defaults, generated columns, indexes, triggers and comments of a table.

    A phrase for each kind that there is, with names of columns and objects, and no text.
    """
    own = equals("schema_name", table.db), equals("table_name", table.name)

    def rows(function: str, *parts: str) -> list[Row]:
        return engine.rows(entries(function, parts, database=table.catalog).where(*own))

    columns = rows("duckdb_columns", "column_name", "column_default", "comment")
    generated = generated_columns(engine, table.catalog)
    made = {name for name, *_ in columns if (table.db, table.name, name) in generated}
    constraints = sorted(
        f"{kind} on {listed([repr(name) for name in names])}"
        for kind, names in rows("duckdb_constraints", "constraint_type", "constraint_column_names")
    )
    comments = [text for (text,) in rows("duckdb_tables", "comment")]
    comments += [text for *_, text in columns]
    found = (
        ("constraint", "", constraints),
        ("column default", "",
         [repr(name) for name, text, _ in columns if text is not None and name not in made]),
        ("generated column", "", [repr(name) for name, *_ in columns if name in made]),
        ("index", "indexes", sorted(repr(n) for (n,) in rows("duckdb_indexes", "index_name"))),
        ("trigger", "", sorted(repr(n) for (n,) in rows("duckdb_triggers", "trigger_name"))),
    )  # fmt: skip
    phrases = [
        _not_carried(len(names), one, more=more, names=names) for one, more, names in found if names
    ]
    count = sum(text is not None for text in comments)
    return [*phrases, *([_not_carried(count, "comment", more="", names=())] if count else [])]


def _not_carried(count: int, one: str, *, more: str, names: Sequence[str]) -> str:
    verb = "is" if count == 1 else "are"
    told = f": {', '.join(names)}" if names else ""
    return f"{counted(count, one, more=more)} of the original {verb} not carried over{told}"


def _has_constant(text: str) -> bool:
    # Tokens, not a tree: the parser logs a part of what it does not know.
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except SqlglotError:
        return True
    return any(token.token_type in CONSTANTS for token in tokens)
