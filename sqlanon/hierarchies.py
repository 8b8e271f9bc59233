"""Hierarchies and databases: stored ones, plain tables, and how one fits a column."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.engine.source import Limits, Resources, is_database, open_source
from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy import Hierarchy, Tree
from sqlanon.policy import Policy
from sqlanon.query import catalog, encode
from sqlanon.query.labels import level_labels
from sqlanon.report import SCHEMA_VERSION
from sqlanon.rules import Dates, Intervals, Prefix, Suppression
from sqlanon.rules import Path as Labels

EXAMPLES = 5
Bindings = Mapping[str, Hierarchy] | Callable[[Sequence[str]], Mapping[str, Hierarchy]]


def resolved_hierarchy(engine: Engine, hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy itself where only its name in the database is given.

    Args:
        engine: The database.
        hierarchy: Of the kind 'table': one stored under that name, else a plain table of that
            name with the columns leaf, level1, …; any other is returned as it is.

    Raises:
        HierarchyError: There is neither, or what is there is no hierarchy.
    """
    if hierarchy.kind != "table":
        return hierarchy
    stored = _find(engine, hierarchy.name)
    if stored is not None:
        return stored
    try:
        table = engine.resolve(hierarchy.name)
    except SourceError:
        raise HierarchyError(
            [
                f"no hierarchy is stored as '{hierarchy.name}' and no table is called so; "
                "store one with `sqlanon hierarchy load`"
            ]
        ) from None
    return hierarchy_table(engine, table)


def hierarchy_table(engine: Engine, table: exp.Table) -> Hierarchy:
    """The hierarchy that a plain table of leaf, level1, … holds.

    Raises:
        HierarchyError: The table has other columns, or no row.
    """
    columns = list(engine.columns(table))
    levels = catalog.level_columns(table.name, columns)
    position = next((name for name in columns if name.lower() == "position"), None)
    rows = engine.rows(catalog.table_paths(table, levels, position=position))
    return Hierarchy.from_rows(rows, name=table.name)


def stored_hierarchy(engine: Engine, name: str) -> Hierarchy:
    """The hierarchy that is stored under a name.

    Raises:
        HierarchyError: There is none.
    """
    found = _find(engine, name)
    if found is None:
        raise _not_stored(name)
    return found


def load_hierarchy(
    engine: Engine, name: str, hierarchy: Hierarchy, *, overwrite: bool = False
) -> Hierarchy:
    """Stores a hierarchy in the database under a name, in one transaction.

    Args:
        engine: The database.
        name: Any text; `Hierarchy.table(name)` stands for the hierarchy from then on.
        hierarchy: Explicit rows, which must be a tree, or a rule.
        overwrite: Whether one that has the name may be replaced.

    Returns:
        What is stored: where the argument was a name itself, the hierarchy that it stands for.

    Raises:
        HierarchyError: The rows are no tree, or the name is empty.
        SourceError: The name is taken.
    """
    from sqlanon import resources  # reads package data, which no other use of this module needs

    if not name:
        raise HierarchyError(["a stored hierarchy needs a name"])
    hierarchy = resolved_hierarchy(engine, hierarchy)
    if hierarchy.rows is not None:
        Tree.grow(name, hierarchy.rows)
    with engine.transaction(), engine.workspace():
        if not overwrite and _find(engine, name) is not None:
            raise SourceError(f"hierarchy {name!r} is there already; replace it with --overwrite")
        for statement in resources.statements("hierarchies", engine.dialect):
            engine.run(statement)
        staging = None
        if hierarchy.rows is not None:
            staging = engine.temporary("hierarchy")
            engine.load(staging, *catalog.staged(hierarchy.rows))
        for statement in catalog.store_hierarchy(name, hierarchy, staging):
            engine.run(statement)
    return hierarchy


def drop_hierarchy(engine: Engine, name: str) -> None:
    """Removes a stored hierarchy.

    Raises:
        HierarchyError: There is none of that name.
    """
    with engine.transaction():
        if _find(engine, name) is None:
            raise _not_stored(name)
        for statement in catalog.delete_hierarchy(name):
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
        for name, kind, _, height, leaves in engine.rows(catalog.stored_hierarchies())
    ]


@contextmanager
def open_database(
    path: str | Path, *, read_only: bool, **limits: Unpack[Limits]
) -> Iterator[Engine]:
    """Opens a database file for its hierarchies, whatever tables it holds.

    Args:
        path: The file.
        read_only: Whether it is opened for reading only.
        limits: `threads`, `memory_limit`, `temp_directory`.

    Raises:
        SourceError: The file is missing or no database.
    """
    if not Path(path).is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    if not is_database(Path(path)):
        raise SourceError(f"{str(path)!r} is no DuckDB database, which alone stores hierarchies")
    with Resources(**limits).connect(Path(path), read_only=read_only) as engine:
        yield engine


@dataclass(frozen=True, slots=True)
class HierarchyReport:
    """A hierarchy, on its own or bound to a column.

    Args:
        hierarchy: The hierarchy.
        column: The column that it was bound to.
        nodes: Number of nodes of each level from the leaves up; None where only a column's
            values could tell.
        examples: Paths from leaf to top: of the user's own rows, or of made-up values, never of
            values of a table.
        warnings: What is odd about it and does no harm at one level per column.
    """

    hierarchy: Hierarchy
    column: str | None = None
    nodes: tuple[int, ...] | None = None
    examples: tuple[Labels, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document of `hierarchy show --json`, and of each column of `hierarchy check`."""
        return {
            "schema_version": SCHEMA_VERSION,
            "hierarchy": self.hierarchy.describe(),
            "kind": self.hierarchy.kind,
            "column": self.column,
            "height": self.hierarchy.height,
            "nodes": None if self.nodes is None else list(self.nodes),
            "examples": [list(path) for path in self.examples],
            "warnings": list(self.warnings),
        }

    def to_text(self) -> str:
        """A page for a reader."""
        of = "" if self.column is None else f" of column {self.column!r}"
        lines = [f"{self.hierarchy.describe()}{of}"]
        if self.nodes is None:
            lines.append(f"  levels above the values of a column: {self.hierarchy.height}")
        for level, count in enumerate(self.nodes or ()):
            what = "values" if level == 0 else "top" if count == 1 else "nodes"
            lines.append(f"  level {level:<3} {count:>9,} {what}")
        if self.examples:
            made_up = self.hierarchy.rows is None
            lines.append("examples, made up:" if made_up else "examples:")
            lines += ["  " + " → ".join(map(_shown, path)) for path in self.examples]
        return "\n".join([*lines, *(f"note: {warning}" for warning in self.warnings)])


def show_hierarchy(hierarchy: Hierarchy) -> HierarchyReport:
    """What a hierarchy looks like by itself.

    Raises:
        HierarchyError: Its rows are no tree; all faults at once.
    """
    if hierarchy.kind == "table":
        raise HierarchyError([f"{hierarchy.describe()} is in a database; name it as SOURCE"])
    if hierarchy.rows is None:
        return HierarchyReport(hierarchy, examples=tuple(_made_up(hierarchy)))
    tree = Tree.grow(hierarchy.name, hierarchy.rows)
    return _described(hierarchy, tree, None)


def bind_hierarchies(
    connection: object, table: object, hierarchies: Bindings, **limits: Unpack[Limits]
) -> list[HierarchyReport]:
    """Holds hierarchies against the columns of a table.

    Args:
        connection: As for `sqlanon.check`.
        table: As for `sqlanon.check`.
        hierarchies: One per column, or a function that makes them from the table's columns.
        limits: `threads`, `memory_limit`, `temp_directory`.

    Raises:
        HierarchyError: Faults of any hierarchy and values that it misses, all at once.
        PolicyError: Columns that the table does not have.
        SourceError: The table cannot be read, is empty, or a column is of a nested type.
    """
    with open_source(connection, table, read_only=True, **limits) as source:
        columns = list(source.engine.columns(source.table))
        wanted = hierarchies(columns) if callable(hierarchies) else hierarchies
        Policy(dict(wanted)).check_columns(columns)
        reports: list[HierarchyReport] = []
        faults: list[str] = []
        for column, hierarchy in wanted.items():
            try:
                found, tree = _fitted(source.engine, source.table, column, hierarchy)
                reports.append(_described(found, tree, column))
            except HierarchyError as error:
                faults += error.faults
        if faults:
            raise HierarchyError(faults)
        return reports


def make_hierarchy(
    connection: object, table: object, column: str, hierarchy: Hierarchy, **limits: Unpack[Limits]
) -> tuple[Labels, ...]:
    """The paths that a hierarchy gives the values present in a column.

    Args:
        connection: As for `sqlanon.check`.
        table: As for `sqlanon.check`.
        column: The column.
        hierarchy: Usually a rule.
        limits: `threads`, `memory_limit`, `temp_directory`.

    Raises:
        SqlanonError: As for `bind_hierarchies`.
    """
    with open_source(connection, table, read_only=True, **limits) as source:
        Policy({column: hierarchy}).check_columns(list(source.engine.columns(source.table)))
        _, tree = _fitted(source.engine, source.table, column, hierarchy)
    return tuple(zip(*tree.labels, strict=True))


def write_paths(paths: Sequence[Labels], file: Path, *, overwrite: bool = False) -> None:
    """Writes paths as a hierarchy file `leaf;level1;…` that only its owner can read.

    Raises:
        HierarchyError: A file could not tell the empty text from NULL.
        SourceError: The file is there already, or cannot be written.
    """
    if file.exists() and not overwrite:
        raise SourceError(f"{str(file)!r} is there already; replace it with --overwrite")
    empty = sum("" in path for path in paths)
    if empty:
        raise HierarchyError(
            [f"{empty} paths hold the empty text, which in a hierarchy file is NULL"]
        )
    header = ("leaf", *(f"level{level}" for level in range(1, len(paths[0]))))
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, delimiter=";", lineterminator="\n").writerows([header, *paths])
            Path(draft).replace(file)
        except BaseException:
            # Whatever stopped it, Ctrl-C included: no draft stays beside the file.
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SourceError(f"hierarchy file {str(file)!r}: {error.strerror}") from None


def _fitted(
    engine: Engine, table: exp.Table, column: str, hierarchy: Hierarchy
) -> tuple[Hierarchy, Tree]:
    """A hierarchy, read from the database if need be, and its tree over a column's values."""
    # These modules find stored hierarchies through this one.
    from sqlanon.binding import bind
    from sqlanon.encoding import encode_subject

    policy = Policy({column: hierarchy})
    subject = bind(engine, table, policy)
    with engine.workspace():
        encode_subject(engine, subject, policy)
    return subject.attributes[column].hierarchy, subject.trees[0]


def _described(hierarchy: Hierarchy, tree: Tree, column: str | None) -> HierarchyReport:
    rows = hierarchy.rows
    return HierarchyReport(
        hierarchy,
        column,
        tuple(len(tree.sizes(level)) for level in range(tree.height + 1)),
        tuple(_spread(rows)) if rows is not None else (),
        tuple(tree.warnings(show_labels=rows is not None)),
    )


def _spread(rows: Sequence[Labels]) -> list[Labels]:
    """A few rows from all parts of the whole."""
    count = min(EXAMPLES, len(rows))
    return [rows[number * (len(rows) - 1) // max(count - 1, 1)] for number in range(count)]


def _made_up(hierarchy: Hierarchy) -> list[Labels]:
    """Paths of values that stand in no table."""
    match hierarchy.rule:
        case Suppression():
            kind, values = "VARCHAR", ["value"]
        case Intervals() as rule:
            kind = "DECIMAL(18, 3)" if rule.scale else "BIGINT"
            values = ["7", "42", "1234"]
        case Prefix() as rule:
            text = "".join(str(place % 10) for place in range(1, max(rule.lengths) + 2))
            kind, values = "VARCHAR", [text]
        case Dates():
            kind, values = "DATE", ["1999-12-31", "2024-02-29"]
        case _:
            return []
    literals = [(exp.cast(exp.Literal.string(value), kind),) for value in values]
    rows = exp.values(literals, alias="made_up", columns=[encode.VALUE])
    labels = level_labels(hierarchy, encode.value(), kind)
    leaf = exp.cast(encode.value(), exp.DataType.Type.VARCHAR)
    with Resources(threads=1).connect() as engine:
        return engine.rows(exp.select(leaf, *labels).from_(rows))


def _find(engine: Engine, name: str) -> Hierarchy | None:
    if not _has_catalog(engine):
        return None
    for kind, specification in engine.rows(catalog.stored_hierarchy(name)):
        paths = [path for (path,) in engine.rows(catalog.stored_paths(name))]
        return catalog.restored(kind, specification, paths)
    return None


def _has_catalog(engine: Engine) -> bool:
    return len(engine.rows(catalog.catalog_tables())) == 2


def _not_stored(name: str) -> HierarchyError:
    return HierarchyError([f"no hierarchy is stored as '{name}'"])


def _shown(label: str | None) -> str:
    return "NULL" if label is None else label
