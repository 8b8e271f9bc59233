"""Opening a source, and a second table beside it: says which engine does."""

from __future__ import annotations

from contextlib import AbstractContextManager

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.second_table import opened_beside
from sqlanon.engine.duckdb.source import OpenedSource, Resources, is_database, open_source
from sqlanon.engine.duckdb.text_files import TextReading
from sqlanon.errors import EngineError

__all__ = [
    "OpenedSource",
    "Resources",
    "TextReading",
    "is_database",
    "open_source",
    "second_table",
]


def second_table(
    engine: Engine, other: object, *, table: str | None = None, how: TextReading | None = None
) -> AbstractContextManager[exp.Table]:
    """A table of the engine or of another file, readable there for as long as it lasts.

    Args:
        engine: Where it shall be readable.
        other: A table or a frame, or a path to a database or to a file of data.
        table: The table of a database; None where it holds only one.
        how: How a file of data is read; None for all columns, by their values.

    Raises:
        EngineError: The engine reads no table of another file.
        SourceError: There is no such table or file, or it cannot be read.
    """
    if not isinstance(engine, DuckDB):
        raise EngineError(f"{engine.dialect} reads no second table; load it beside the first")
    return opened_beside(engine, other, table=table, how=how)
