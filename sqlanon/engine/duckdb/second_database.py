"""A second database while one is open: both together keep to the limits of the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.syntax import set_option
from sqlanon.errors import EngineError

_SPILLED = exp.select(exp.func("SUM", exp.column("temporary_storage_bytes"))).from_(
    exp.Table(this=exp.Anonymous(this="duckdb_memory"))
)


@contextmanager
def second_database(
    engine: Engine, database: Path | None = None, *, read_only: bool = False
) -> Iterator[DuckDB]:
    """A database of our own beside an open one, which gives it half of its limits meanwhile.

    A connection of the caller keeps what it has, and the second database gets as many threads and
    as much memory.

    Args:
        engine: The one that is open.
        database: As for `Resources.connect`.
        read_only: As for `Resources.connect`.
    """
    with (
        _shared(engine) as resources,
        resources.connect(database, read_only=read_only) as second,
    ):
        # They are told once, by the first.
        engine.notes.extend(note for note in second.notes if note not in engine.notes)
        yield second


@contextmanager
def _shared(engine: Engine) -> Iterator[Resources]:
    """The half of an engine's limits that it goes without while this lasts."""
    if not isinstance(engine, DuckDB):
        yield Resources()
        return
    if engine.limits is None:
        threads, memory = (engine.setting(name) for name in ("threads", "memory_limit"))
        yield Resources(int(threads), memory)
        return
    whole = Resources(**engine.limits)
    half, kept = _threads_and_memory(whole)
    _set(engine, kept)
    try:
        if whole.temporary is not None:
            # What is spilled already stays where it is.
            spilled = int(engine.rows(_SPILLED)[0][0] or 0)
            free = max(whole.temporary - spilled, 2)
            half = replace(half, temp_limit=f"{free // 2}B")
            _set(engine, {"max_temp_directory_size": f"{spilled + free - free // 2}B"})
        yield half
    finally:
        # In a failed transaction nothing can be set, nor does anything run any more.
        with suppress(EngineError):
            _set(engine, whole.settings)


def _threads_and_memory(whole: Resources) -> tuple[Resources, dict[str, str | int]]:
    """What a second database gets, and the settings that the first one keeps."""
    half, kept = whole, dict[str, str | int]()
    if whole.threads is not None:
        half = replace(half, threads=max(whole.threads // 2, 1))
        kept["threads"] = whole.threads - whole.threads // 2
    if whole.memory is not None:
        half = replace(half, memory_limit=f"{max(whole.memory // 2, 1)}B")
        kept["memory_limit"] = f"{whole.memory - whole.memory // 2}B"
    return half, kept


def _set(engine: DuckDB, settings: Mapping[str, str | int]) -> None:
    for name, value in settings.items():
        engine.run(set_option(name, value))
