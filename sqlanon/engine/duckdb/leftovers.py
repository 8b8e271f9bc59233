"""Parts of a table, and texts of a database that may quote values, besides the cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.catalog import entries, equals, first_names
from sqlanon.errors import SourceError

_CONSTANTS = frozenset(kind for kind in TokenType if kind.name.endswith(("STRING", "NUMBER")))
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
    [(path,)] = engine.rows(entries("duckdb_databases", ("path",), table.catalog))
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
        rows = engine.rows(entries(function, (name, text), database, without=besides))
        return {name for name, text in rows if text is not None and suspect(text)}

    found = (
        ("view(s) with constants", told("duckdb_views", "view_name", "sql", _has_constant)),
        ("macro(s) with constants",
         told("duckdb_functions", "function_name", "macro_definition", _has_constant)),
        ("ENUM type(s), whose labels may be values",
         told("duckdb_types", "type_name", "labels", bool)),
        ("index(es) over constants", told("duckdb_indexes", "index_name", "sql", _has_constant)),
        ("trigger(s) with constants",
         told("duckdb_triggers", "trigger_name", "sql", _has_constant)),
        ("table(s) with column defaults or generated columns that hold constants",
         told("duckdb_columns", "table_name", "column_default", _has_constant)),
        ("table(s) with checks", told("duckdb_constraints", "table_name", "expression", bool)),
        ("object(s) with comments",
         set().union(*(told(function, name, "comment", bool) for function, name in _COMMENTED))),
    )  # fmt: skip
    return [f"{len(own)} {kind}: {first_names(sorted(own))}" for kind, own in found if own]


def own_parts(engine: Engine, table: exp.Table) -> dict[str, int]:
    """Numbers of constraints, defaults, indexes, triggers and comments of a table."""
    own = equals("schema_name", table.db), equals("table_name", table.name)

    def count(function: str, part: str) -> int:
        parts = engine.rows(entries(function, (part,), table.catalog).where(*own))
        return sum(value is not None for (value,) in parts)

    return {
        "constraints": count("duckdb_constraints", "table_name"),
        "column defaults": count("duckdb_columns", "column_default"),
        "indexes": count("duckdb_indexes", "table_name"),
        "triggers": count("duckdb_triggers", "table_name"),
        "comments": count("duckdb_tables", "comment") + count("duckdb_columns", "comment"),
    }


def refuse_referenced(engine: Engine, table: exp.Table) -> None:
    """Raises a `SourceError` where a foreign key of another table refers to a table."""
    columns = ("schema_name", "table_name", "referenced_table")
    # References name a table of the same schema, in whatever case.
    referring = {
        name
        for schema, name, target in engine.rows(
            entries("duckdb_constraints", columns, table.catalog)
        )
        if target is not None and schema == table.db and target.lower() == table.name.lower()
        if name.lower() != table.name.lower()
    }
    if referring:
        raise SourceError(
            f"a foreign key of {first_names(sorted(referring))} refers to {table.name!r}, which "
            "therefore cannot be replaced; write into another table, or drop the foreign key first"
        )


def _has_constant(text: str) -> bool:
    # Tokens, not a tree: the parser logs a part of what it does not know.
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except SqlglotError:
        return True
    return any(token.token_type in _CONSTANTS for token in tokens)
