"""A second table beside the one that is open: to compare what may lie in two files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlglot import exp

from sqlanon.arguments import is_file
from sqlanon.engine.duckdb.catalog import entries
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.data_files import read_file
from sqlanon.engine.duckdb.source import is_database
from sqlanon.engine.duckdb.syntax import attach, detach
from sqlanon.engine.duckdb.text_files import TextReading
from sqlanon.errors import EngineError, MissingTableError, SourceError

_ATTACHED = "_sqlanon_beside"


@contextmanager
def opened_beside(
    engine: DuckDB, other: object, *, table: str | None = None, how: TextReading | None = None
) -> Iterator[exp.Table]:
    """A table of the engine or of another file: see `engine.open.second_table`.

    A text that is both a table and a path means the table. A database is attached.
    """
    path = _path(engine, other)
    if path is None:
        if table is not None:
            raise SourceError(f"{str(other)!r} is a table, which holds no table {table!r}")
        yield _resolved(engine, other)
        return
    # To open a database's file a second time, and close it, would give up the database's lock.
    if _open_already(engine, path) is not None or is_database(path):
        with _attached(engine, path) as name:
            yield _table(engine, name, table=table)
        return
    if table is not None:
        raise SourceError(f"{path.name!r} holds one table; leave the name {table!r} out")
    with _file(engine, path, how=how) as held:
        yield held


def _path(engine: DuckDB, other: object) -> Path | None:
    """The file that is meant, if one is."""
    if isinstance(other, str):
        if engine.catalog().find(other) is not None or not is_file(other):
            return None
    elif not isinstance(other, Path):
        return None
    path = Path(other)
    if not is_file(path):
        raise SourceError(f"there is no file {str(path)!r}")
    return path.resolve()


def _resolved(engine: DuckDB, other: object) -> exp.Table:
    try:
        return engine.resolve(other)
    except MissingTableError as error:
        message = f"{error}, and no file of that name"
    raise MissingTableError(message)


@contextmanager
def _file(engine: DuckDB, path: Path, *, how: TextReading | None) -> Iterator[exp.Table]:
    with engine.workspace():
        held = engine.temporary("beside")
        try:
            read_file(engine, path, table=held, how=how)
            yield held
            engine.refuse_changed()
        finally:
            # In a failed transaction nothing can be dropped; its end drops what it created.
            with suppress(EngineError):
                if not engine.is_base_table(held):
                    engine.drop(held, kind="VIEW")


@contextmanager
def _attached(engine: DuckDB, path: Path) -> Iterator[str]:
    """The name of a database, attached for reading unless it is open already."""
    name = _open_already(engine, path)
    if name is not None:
        yield name
        return
    if engine.in_callers_transaction:
        # It could not be detached before the transaction ends.
        raise SourceError(
            f"{path.name!r} cannot be opened within your transaction; attach it before, and name "
            "its table"
        )
    engine.run(attach(path, _ATTACHED, READ_ONLY=exp.true()))
    try:
        yield _ATTACHED
    finally:
        with suppress(EngineError):
            engine.run(detach(_ATTACHED))


def _open_already(engine: DuckDB, path: Path) -> str | None:
    """The name under which the engine has a database file open."""
    for name, held in engine.rows(entries("duckdb_databases", ("database_name", "path"))):
        if held is not None and Path(held).exists() and path.samefile(held):
            return str(name)
    return None


def _table(engine: DuckDB, database: str, *, table: str | None) -> exp.Table:
    catalog = engine.catalog()
    if table is None:
        return catalog.only_table(database)
    for name in ('"{}"'.format(table.replace('"', '""')), table):
        found = catalog.find(f'"{database}".{name}')
        if found is not None:
            return found
    raise catalog.missing(table)
