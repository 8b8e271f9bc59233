"""A fresh file for a database, so that no byte of a replaced table remains in the old one.

DuckDB never clears the pages of what it drops. So the published table is written into a copy of
everything else, and one rename decides. The schema is copied without the original's definition
reaching the disk, then the rows table by table. Through a connection of the caller it is a swap in
his transaction instead, and a note.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Unpack

from sqlglot import exp

from sqlanon.engine.base import Engine, Limits, Row
from sqlanon.engine.duckdb.catalog import entries, qualified
from sqlanon.engine.duckdb.database_objects import (
    drop_type,
    generated_columns,
    leftovers,
    table_types,
)
from sqlanon.engine.duckdb.resources import Resources, refuse_unwritable
from sqlanon.engine.duckdb.syntax import attach, detach
from sqlanon.engine.duckdb.watched_files import watched_database
from sqlanon.engine.locked_folders import HIDDEN, locked_folder, swept, sync, take_place
from sqlanon.errors import EngineError, SourceError, SqlanonError
from sqlanon.sqltext import expression, listed, names
from sqlanon.sqltext import name as quoted

_OLD = "sqlanon_old"

# Rows that are equal in both files: (table function, its columns besides the database's name).
# Rows without the last of them do not count.
_CATALOG: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("duckdb_schemas", ("schema_name",)),
    ("duckdb_tables", ("schema_name", "table_name", "index_count", "comment", "sql")),
    ("duckdb_columns", ("schema_name", "table_name", "column_name", "comment")),
    ("duckdb_indexes", ("schema_name", "table_name", "index_name", "is_unique", "comment", "sql")),
    ("duckdb_triggers", ("schema_name", "table_name", "trigger_name", "comment", "sql")),
    ("duckdb_views", ("schema_name", "view_name", "comment", "sql")),
    ("duckdb_sequences", ("schema_name", "sequence_name", "last_value", "comment", "sql")),
    ("duckdb_types", ("schema_name", "type_name", "labels", "comment", "logical_type")),
    ("duckdb_functions", ("schema_name", "function_name", "parameters", "comment",
                          "macro_definition")),
)  # fmt: skip


def rewrite(path: Path, **limits: Unpack[Limits]) -> tuple[int, int, tuple[str, ...]]:
    """Copies a database into a fresh file and puts that in the old one's place.

    Arguments and errors are those of `sqlanon.rewrite`.

    Returns:
        The size of the file and of its log before, the size of the file now [bytes]; notes of what
        it keeps that may quote values, and of what was found where it was copied.
    """
    target = path.resolve()
    if not target.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    refuse_unwritable(target)
    before = sum(file.stat().st_size for file in (target, _log(target)) if file.exists())
    with Resources(**limits).connect() as engine, _explained(target):
        # Attached for writing: nobody else may change the old file while it is being copied.
        engine.run(attach(target, _OLD))
        engine.run(expression("USE {{ old }}", old=quoted(_OLD)))
        with _successor(engine, target, old=_OLD):
            notes = (*swept([target.parent]), *leftovers(engine, _OLD))
    return before, target.stat().st_size, (*engine.opened.notes, *notes)


@contextmanager
def _successor(
    engine: Engine, path: Path, *, old: str, without: exp.Table | None = None
) -> Iterator[str]:
    """A fresh database that takes the place of a file on leaving.

    On entering it has every schema, type, macro, view, sequence, index and table of the old one,
    the tables empty, and lacks the table left out; its name is what is yielded. On leaving it gets
    their rows, is compared with the old one, and takes its name, rights and owner in one step.
    Whatever goes wrong before that step leaves the old file as it was, and nothing beside it.

    Args:
        engine: Holds the old file open for writing, so that nobody else may change it; outside a
            transaction.
        path: The file, links resolved.
        old: The name under which it is attached. It is the current database: the defaults of a
            table may call macros, which DuckDB looks for there.
        without: A table of it to leave out, to which no other refers.
    """
    refuse_second_name(path)
    watched_file = watched_database(path, read_only=False)
    _merge_log(engine, path, old=old)
    new = f"{old}_fresh"
    # On the same disk, and for its owner alone.
    with locked_folder(path.parent, HIDDEN) as folder:
        fresh = folder / path.name
        with _attached(engine, fresh, name=new, **_storage(engine, old)):
            _copy_schema(engine, old, new=new, without=without)
            yield new
            _copy_rows(engine, old, new=new, without=without)
        # Another file of that name is not what was copied, and must not be lost for it.
        watched_file.refuse_changed()
        _take_place(fresh, path)


@contextmanager
def fresh_file(engine: Engine, path: Path, *, table: exp.Table) -> Iterator[exp.Table]:
    """The place of a table in a fresh database that, on leaving, takes the place of a file.

    All else of the database is copied, and errors are raised as by `rewrite`.
    """
    with _explained(path), _successor(engine, path, old=table.catalog, without=table) as fresh:
        yield qualified(fresh, table.db, table.name)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of a rewrite, told with the file's name and that nothing has happened to it."""
    reason: object
    try:
        yield
        return
    except (EngineError, SourceError) as error:
        raised, reason = type(error), error
    except OSError as error:
        raised, reason = EngineError, error.strerror
    raise raised(f"database {str(path)!r} could not be rewritten: {reason}; it is as it was")


def refuse_second_name(path: Path) -> None:
    """Raises a `SourceError` for a file whose content would stay readable under another name."""
    links = path.stat().st_nlink
    if links > 1:
        raise SourceError(
            f"the file has {links} names (hard links), and under the others all of it would stay; "
            "remove those, or copy the file and use the copy"
        )


def _log(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _merge_log(engine: Engine, path: Path, *, old: str) -> None:
    """Brings the write-ahead log into the old file: beside the new one it would be read into it."""
    if not _log(path).exists():
        return
    engine.run(expression("CHECKPOINT {{ old }}", old=quoted(old)))
    if _log(path).exists():
        raise EngineError("its write-ahead log cannot be merged")


@contextmanager
def _attached(engine: Engine, path: Path, *, name: str, **options: str | int) -> Iterator[None]:
    engine.run(attach(path, name, **options))
    try:
        yield
    except BaseException:
        # What stopped the work counts; that the file is still in use then would only hide it.
        with suppress(SqlanonError):
            engine.run(detach(name))
        raise
    engine.run(detach(name))


def _storage(engine: Engine, old: str) -> dict[str, str | int]:
    """The old file's storage version and block size, so that who could read it still can."""
    [(tags,)] = engine.rows(entries("duckdb_databases", ("tags",), database=old))
    [(block_size,)] = engine.rows(entries("pragma_database_size", ("block_size",), database=old))
    options: dict[str, str | int] = {"BLOCK_SIZE": block_size}
    if version := tags.get("storage_version"):
        options["STORAGE_VERSION"] = version.rstrip("+")
    return options


def _copy_schema(engine: Engine, old: str, *, new: str, without: exp.Table | None) -> None:
    """Copies everything but rows; the definition of what is left out never reaches the disk."""
    with engine.transaction():
        text = "COPY FROM DATABASE {{ old }} TO {{ new }} (SCHEMA)"
        engine.run(expression(text, old=quoted(old), new=quoted(new)))
        gone = [] if without is None else table_types(engine, without)
        if without is not None:
            engine.tables.drop(qualified(new, without.db, without.name))
        for one in gone:
            engine.run(drop_type(new, one))
    names = {(one.db, one.name) for one in gone}
    for function, columns in _CATALOG:
        before, after = (
            Counter(
                repr(row)
                for row in engine.rows(entries(function, columns, database=name, without=without))
                if row[-1] is not None and not (function == "duckdb_types" and row[:2] in names)
            )
            for name in (old, new)
        )
        differing = max((before - after).total(), (after - before).total())
        if differing:
            kind = function.removeprefix("duckdb_")
            raise EngineError(f"DuckDB does not copy {differing} of its {kind} as they are")


def _copy_rows(engine: Engine, old: str, *, new: str, without: exp.Table | None) -> None:
    """Copies the rows of every table but one, and compares their numbers."""
    for (schema, table), columns in _tables(engine, old, without=without).items():
        source, target = (qualified(name, schema, table) for name in (old, new))
        text = "INSERT INTO {{ target }} ({{ columns }}) SELECT {{ columns }} FROM {{ source }}"
        engine.run(expression(text, target=target, columns=listed(names(columns)), source=source))
        before, after = (
            engine.rows(expression("SELECT COUNT(*) FROM {{ place }}", place=place))
            for place in (source, target)
        )
        if before != after:
            raise EngineError(f"the copy of table {table!r} has another number of rows")


def _tables(
    engine: Engine, database: str, *, without: exp.Table | None
) -> dict[tuple[str, str], list[str]]:
    """The stored columns of every table, by schema and name, a table after those it refers to."""

    def parts_of(function: str, *columns: str) -> list[Row]:
        parts = ("schema_name", "table_name", *columns)
        return engine.rows(entries(function, parts, database=database, without=without))

    # References name a table of the same schema, in whatever case.
    names = {(schema, table.lower()): table for schema, table in parts_of("duckdb_tables")}
    order: TopologicalSorter[tuple[str, str]] = TopologicalSorter(dict.fromkeys(sorted(names), ()))
    for schema, table, parent in parts_of("duckdb_constraints", "referenced_table"):
        if parent is not None and parent.lower() != table.lower():
            order.add((schema, table.lower()), (schema, parent.lower()))
    columns: dict[tuple[str, str], list[str]] = {
        (schema, names[schema, table]): [] for schema, table in order.static_order()
    }
    generated = generated_columns(engine, database)
    for schema, table, name in parts_of("duckdb_columns", "column_name"):
        # Views have columns too.
        if (schema, table) in columns and (schema, table, name) not in generated:
            columns[schema, table].append(name)
    return columns


def _take_place(fresh: Path, target: Path) -> None:
    """Gives a finished file the name, rights and owner of the one that it replaces."""
    status = target.stat()
    owner = (status.st_uid, status.st_gid)
    if hasattr(os, "chown") and (fresh.stat().st_uid, fresh.stat().st_gid) != owner:
        os.chown(fresh, status.st_uid, status.st_gid)
    sync(fresh)
    take_place(fresh, target, status.st_mode & 0o777)
