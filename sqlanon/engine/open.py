"""Opening a source, and a second table beside it: says which engine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import duckdb
from sqlglot import exp

from sqlanon.engine.base import Elsewhere, Engine, Opening, Use
from sqlanon.engine.duckdb import source as in_process
from sqlanon.engine.duckdb.catalog import is_frame
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.frames import ArrowStreamed, FrameTable, LazilyCollected, owned
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.source import OpenedSource, is_database, opened_beside, unwrapped
from sqlanon.engine.duckdb.text_files import TextReading, every_column
from sqlanon.engine.duckdb.text_layout import ROW_NAMES
from sqlanon.engine.postgres.opening import is_postgres, open_postgres
from sqlanon.engine.spark.source import is_spark, open_spark
from sqlanon.errors import MissingTableError, SourceError
from sqlanon.wording import listed

if TYPE_CHECKING:
    from sqlanon.engine.routed import Routed

Connection = duckdb.DuckDBPyConnection | DuckDB
"""What a caller may have open in this process."""
_ELSEWHERE = ((is_spark, open_spark), (is_postgres, open_postgres))
"""Engines besides DuckDB: what recognises a source of theirs, and what opens a table of it."""
__all__ = [
    "ROW_NAMES",
    "ArrowStreamed",
    "Connection",
    "FrameTable",
    "LazilyCollected",
    "OpenedSource",
    "Resources",
    "TextReading",
    "brought",
    "embedded",
    "is_database",
    "is_elsewhere",
    "is_frame",
    "names_table",
    "open_source",
    "owned",
    "second_table",
    "unwrapped",
]


def is_elsewhere(source: object) -> bool:
    """Whether a source is a connection to a database elsewhere."""
    return any(recognises(source, None) for recognises, _ in _ELSEWHERE)


def names_table(source: object, engine: str | None) -> bool:
    """Whether a source is itself the name or path of a table of an engine."""
    return engine is not None and not is_elsewhere(source)


def open_source(
    source: object,
    table: object = None,
    *,
    read_only: bool = False,
    use: Callable[[Sequence[str]], Use] = every_column,
    **opening: Unpack[Opening],
) -> AbstractContextManager[OpenedSource]:
    """A source with one of its tables: see `duckdb.source.open_source`, or a database elsewhere.

    Raises:
        SourceError: There is no such source or table, or what is said is of another kind of source.
    """
    for recognises, opened in _ELSEWHERE:
        if recognises(source, opening.get("engine")):
            return opened(source, table, use=use, **opening)
    kind = opening.get("engine")
    if kind is not None:
        raise SourceError(f"engine {kind!r} is not known; it is spark or postgres")
    said = {name: opening.pop(name, None) for name in Elsewhere.__annotations__}  # type: ignore[misc]
    given = [name for name, value in said.items() if value is not None]
    if given:
        raise SourceError(
            f"{listed(given)} {'is' if len(given) == 1 else 'are'} of a database elsewhere; "
            "leave that out, or name its engine (--engine spark)"
        )
    return in_process.open_source(source, table, read_only=read_only, use=use, **opening)


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
    here = embedded(engine)
    if engine is not here and not isinstance(other, FrameTable | Path):
        # A name that is no table of there may still be a file's of here.
        with suppress(MissingTableError):
            return nullcontext(engine.tables.resolve(other))
    if isinstance(other, FrameTable):
        is_callers = here.limits is None
        return nullcontext(other.loaded(here, every_column, is_callers=is_callers))
    return opened_beside(here, other, table=table, how=how)


def brought(engine: Engine, table: exp.Table) -> exp.Table:
    """A temporary of an engine as a table of its `embedded` one, however many rows it has."""
    return table if isinstance(engine, DuckDB) else _routed(engine).brought(table)


def embedded(engine: Engine) -> DuckDB:
    """The database in this process that an engine is, or has beside it."""
    return engine if isinstance(engine, DuckDB) else _routed(engine).near


def _routed(engine: Engine) -> Routed:
    from sqlanon.engine.routed import Routed  # most tables are in this process

    assert isinstance(engine, Routed)
    return engine
