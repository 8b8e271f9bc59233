"""Stored hierarchies: those that a database keeps by name, and plain tables of paths."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from sqlglot import exp

from sqlanon.arguments import path_of
from sqlanon.engine.base import Engine, Limits
from sqlanon.engine.open import Resources, is_database
from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy, grown
from sqlanon.query.hierarchy import store
from sqlanon.sqltext import DIALECT


def resolved_hierarchy(engine: Engine, hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy itself where only its name in the database is given.

    One of the kind 'table' is that stored under its name, else a plain table of that name with
    the columns leaf, level1, …; any other is returned as it is.

    Raises:
        HierarchyError: There is neither, or what is there is no hierarchy.
    """
    if hierarchy.kind != "table":
        return hierarchy
    stored = _find(engine, hierarchy.name)
    if stored is not None:
        return stored
    try:
        table = engine.tables.resolve(hierarchy.name)
    except SourceError:
        raise HierarchyError(
            f"no hierarchy is stored as '{hierarchy.name}' and no table is called so; "
            "store one with `sqlanon hierarchy load`"
        ) from None
    return hierarchy_table(engine, table)


def hierarchy_table(engine: Engine, table: exp.Table) -> Hierarchy:
    """The hierarchy that a plain table of leaf, level1, … holds.

    Raises:
        HierarchyError: The table has other columns, or no row.
    """
    columns = list(engine.columns(table))
    levels = store.level_columns(table.name, columns)
    position = next((name for name in columns if name.lower() == "position"), None)
    rows = engine.rows(store.table_paths(table, levels, position=position))
    return Hierarchy.from_rows(rows, name=table.name)


def load_hierarchy(
    engine: Engine, name: str, *, hierarchy: Hierarchy, overwrite: bool = False
) -> Hierarchy:
    """Stores a hierarchy in the database under a name, in one transaction.

    `Hierarchy.table(name)` stands for it from then on. One that has the name already is replaced
    with `overwrite` alone.

    Returns:
        What is stored: where the argument was a name itself, the hierarchy that it stands for.

    Raises:
        HierarchyError: The rows are no tree, or the name is empty.
        SourceError: The name is taken.
    """
    from sqlanon import resources  # reads package data, which no other use of this module needs

    if not name:
        raise HierarchyError("a stored hierarchy needs a name")
    hierarchy = resolved_hierarchy(engine, hierarchy)
    if hierarchy.rows is not None:
        grown(hierarchy, name=name)
    with engine.transaction(), engine.workspace():
        if not overwrite and _find(engine, name) is not None:
            raise SourceError(
                f"hierarchy {name!r} exists already; replace it with overwrite (--overwrite)"
            )
        for created in resources.statements("hierarchies", engine.dialect):
            engine.run(created)
        staging = None
        if hierarchy.rows is not None:
            staging = engine.load_rows("hierarchy", *store.staged(hierarchy.rows))
        for statement in store.store_hierarchy(name, hierarchy, staging=staging):
            engine.run(statement)
    return hierarchy


def drop_hierarchy(engine: Engine, name: str) -> None:
    """Removes a stored hierarchy.

    Raises:
        HierarchyError: There is none of that name.
    """
    with engine.transaction():
        if _find(engine, name) is None:
            raise HierarchyError(f"no hierarchy is stored as {name!r}")
        for statement in store.delete_hierarchy(name):
            engine.run(statement)


@dataclass(frozen=True, slots=True)
class StoredHierarchy:
    """A row of the catalog of hierarchies.

    Args:
        name: The name that it is stored under.
        kind: Kind of its rule.
        height: Number of levels above the leaves.
        leaves: Number of leaves; None for a rule, whose leaves are the values of a column.
    """

    name: str
    kind: str
    height: int
    leaves: int | None


def list_hierarchies(engine: Engine) -> list[StoredHierarchy]:
    """Every stored hierarchy, in the order of their names."""
    if not _has_catalog(engine):
        return []
    return [
        StoredHierarchy(name, kind, height, leaves)
        for name, kind, _, height, leaves in engine.rows(store.stored_hierarchies())
    ]


@contextmanager
def open_database(
    path: str | Path, *, read_only: bool, **limits: Unpack[Limits]
) -> Iterator[Engine]:
    """Opens a database file for its hierarchies, whatever tables it holds.

    Raises:
        SourceError: The file is missing or no database.
    """
    path = path_of(path, "the database")
    if not path.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    if not is_database(path):
        raise SourceError(f"{str(path)!r} is not a DuckDB database, which alone stores hierarchies")
    with Resources(**limits).connect(path, read_only=read_only) as engine:
        yield engine


def _find(engine: Engine, name: str) -> Hierarchy | None:
    if not _has_catalog(engine):
        return None
    for kind, specification in engine.rows(store.stored_hierarchy(name)):
        paths = [path for (path,) in engine.rows(store.stored_paths(name))]
        return store.restored(kind, specification, paths=paths)
    return None


def _has_catalog(engine: Engine) -> bool:
    return engine.dialect == DIALECT and len(engine.rows(store.catalog_tables())) == 2


RESERVED_PREFIX = "_sqlanon_"
"""What tables begin with that are sqlanon's own."""


def table_names(source: str) -> list[str]:
    """The tables and views of a database, in the order of their names.

    Raises:
        SqlanonError: The source is no database, or cannot be opened.
    """
    name = exp.column("table_name")
    query = exp.select(name).from_(exp.table_("tables", db="information_schema")).order_by(name)
    with open_database(source, read_only=True) as engine:
        names = [str(table) for (table,) in engine.rows(query)]
    return [table for table in dict.fromkeys(names) if not table.startswith(RESERVED_PREFIX)]
