"""Opening a source, and a second table beside it: says which engine does."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import duckdb
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.catalog import is_frame
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.frames import ArrowStreamed, HeldFrame, LazilyCollected, owned
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.source import (
    OpenedSource,
    is_database,
    open_source,
    opened_beside,
    unwrapped,
)
from sqlanon.engine.duckdb.text_files import TextReading, every_column
from sqlanon.engine.duckdb.text_layout import ROW_NAMES
from sqlanon.errors import EngineError

Connection = duckdb.DuckDBPyConnection | DuckDB
"""What a caller may have open."""
__all__ = [
    "ROW_NAMES",
    "ArrowStreamed",
    "Connection",
    "HeldFrame",
    "LazilyCollected",
    "OpenedSource",
    "Resources",
    "TextReading",
    "is_database",
    "is_frame",
    "open_source",
    "owned",
    "second_table",
    "unwrapped",
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
    if isinstance(other, HeldFrame):
        is_callers = engine.limits is None
        return nullcontext(other.loaded(engine, every_column, is_callers=is_callers))
    return opened_beside(engine, other, table=table, how=how)
