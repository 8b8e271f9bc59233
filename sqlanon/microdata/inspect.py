"""Inspection of hierarchies: their levels and examples, and how they fit a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.arguments import path_of
from sqlanon.engine.base import Engine, Opening
from sqlanon.engine.files import refuse_folder, write_private
from sqlanon.engine.open import Resources
from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy, Tree, grown
from sqlanon.hierarchy.files import line_of
from sqlanon.hierarchy.rules import Dates, Intervals, Prefix, Suppression
from sqlanon.hierarchy.rules import Path as Labels
from sqlanon.microdata.binding import bind
from sqlanon.microdata.encoding import encode_subject
from sqlanon.microdata.opening import reading, with_provenance
from sqlanon.policy.policy import Policy
from sqlanon.query import encode
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.reports.document import Provenance, page
from sqlanon.wording import shown

MAX_EXAMPLES = 5
Bindings = Mapping[str, Hierarchy] | Callable[[Sequence[str]], Mapping[str, Hierarchy]]


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
        notes: What a reader should know of the table that it was bound to.
        provenance: What it was made of and when.
    """

    hierarchy: Hierarchy
    column: str | None = None
    nodes: tuple[int, ...] | None = None
    examples: tuple[Labels, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `hierarchy show --json`."""
        return {**self.provenance.head(), **self.entry()}

    def entry(self) -> dict[str, Any]:
        """The document without its head, as `hierarchy check --json` has one of each column."""
        return {
            "hierarchy": self.hierarchy.describe(),
            "kind": self.hierarchy.kind,
            "column": self.column,
            "height": self.hierarchy.height,
            "nodes": None if self.nodes is None else list(self.nodes),
            "examples": [list(path) for path in self.examples],
            "others": None if self.hierarchy.others is None else list(self.hierarchy.others),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def to_text(self) -> str:
        """A page for a reader."""
        of = "" if self.column is None else f" of column {self.column!r}"
        lines = [f"{self.hierarchy.describe()}{of}"]
        if self.nodes is None:
            lines.append(f"  levels above the values of a column: {self.hierarchy.height}")
        for level, count in enumerate(self.nodes or ()):
            one = "value" if level == 0 else "top"
            what = one if count == 1 else "values" if level == 0 else "nodes"
            lines.append(f"  level {level:<3} {count:>9,} {what}")
        if self.examples:
            made_up = self.hierarchy.rows is None
            lines.append("examples, made up:" if made_up else "examples:")
            lines += ["  " + " → ".join(map(shown, path)) for path in self.examples]
        if self.hierarchy.others is not None:
            lines.append("  all other values → " + " → ".join(self.hierarchy.others))
        return page(lines, (*self.notes, *self.warnings))


def show_hierarchy(hierarchy: Hierarchy) -> HierarchyReport:
    """Levels, examples and warnings of a hierarchy by itself.

    Raises:
        HierarchyError: Its rows are no tree; all faults at once.
    """
    if hierarchy.kind == "table":
        raise HierarchyError(f"{hierarchy.describe()} is in a database; name it as SOURCE")
    if hierarchy.rows is None:
        return HierarchyReport(hierarchy, examples=tuple(_made_up(hierarchy)))
    tree = grown(hierarchy)
    return _described(hierarchy, tree, column=None)


def bind_hierarchies(
    connection: object,
    table: object,
    *,
    hierarchies: Bindings,
    show_values: int = 0,
    **opening: Unpack[Opening],
) -> list[HierarchyReport]:
    """Holds hierarchies against the columns of a table.

    Args:
        connection: As for `sqlanon.check`.
        table: As for `sqlanon.check`.
        hierarchies: One per column, or a function that makes them from the table's columns.
        show_values: How many of the values that a hierarchy misses an error may name.
        opening: As for `sqlanon.check`.

    Raises:
        HierarchyError: Faults of any hierarchy and values that it misses, all at once.
        PolicyError: Columns that the table does not have.
        SourceError: The table cannot be read, is empty, or a column is of a nested type.
    """

    def policy(columns: Sequence[str]) -> Policy:
        made = Policy(dict(hierarchies(columns) if callable(hierarchies) else hierarchies))
        made.check_columns(columns)
        return made

    with reading(connection, table, policy, **opening) as (source, wanted):
        reports: list[HierarchyReport] = []
        faults: list[str] = []
        for column, entry in wanted.attributes.items():
            try:
                hierarchy, tree = _fitted(
                    source.engine,
                    source.table,
                    column=column,
                    hierarchy=entry.hierarchy,
                    show_values=show_values,
                )
                reports.append(_described(hierarchy, tree, column=column))
            except HierarchyError as error:
                faults += error.faults
        if faults:
            raise HierarchyError(faults)
        return [with_provenance(source, report) for report in reports]


def make_hierarchy(
    connection: object,
    table: object,
    *,
    column: str,
    hierarchy: Hierarchy,
    **opening: Unpack[Opening],
) -> tuple[tuple[Labels, ...], list[str]]:
    """The paths that a hierarchy gives the values present in a column, and notes of the source.

    Args and errors are those of `bind_hierarchies`.
    """

    def policy(columns: Sequence[str]) -> Policy:
        made = Policy({column: hierarchy})
        made.check_columns(columns)
        return made

    with reading(connection, table, policy, **opening) as (source, _):
        _, tree = _fitted(source.engine, source.table, column=column, hierarchy=hierarchy)
        return tuple(zip(*tree.labels, strict=True)), source.engine.opened.notes


def refuse_hierarchy_file(file: Path, *, overwrite: bool = False) -> None:
    """Raises a `SourceError` where a hierarchy file cannot be written, or not without leave."""
    path_of(file, "the hierarchy file")
    if file.is_dir():
        raise SourceError(f"{str(file)!r} is a folder; name a file")
    if file.exists() and not overwrite:
        raise SourceError(f"{str(file)!r} exists already; replace it with overwrite (--overwrite)")
    refuse_folder(file.resolve())


def write_paths(paths: Sequence[Labels], file: Path, *, overwrite: bool = False) -> list[str]:
    """Writes paths as a hierarchy file `leaf;level1;…` that only its owner can read.

    Returns:
        Notes on what a killed run had left beside it.

    Raises:
        SourceError: The file exists already, or cannot be written.
    """
    refuse_hierarchy_file(file, overwrite=overwrite)
    header = ("leaf", *(f"level{level}" for level in range(1, len(paths[0]))))
    lines = [";".join(header), *map(line_of, paths)]
    try:
        return write_private(file, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise SourceError(f"hierarchy file {str(file)!r}: {error.strerror}") from None


def _fitted(
    engine: Engine, table: exp.Table, *, column: str, hierarchy: Hierarchy, show_values: int = 0
) -> tuple[Hierarchy, Tree]:
    """A hierarchy, read from the database if need be, and its tree over a column's values."""
    policy = Policy({column: hierarchy})
    subject = bind(engine, table, policy=policy)
    with engine.workspace():
        encode_subject(engine, subject, policy, show_values=show_values)
    return subject.attributes[column].hierarchy, subject.trees[0]


def _described(hierarchy: Hierarchy, tree: Tree, *, column: str | None) -> HierarchyReport:
    rows = hierarchy.rows
    return HierarchyReport(
        hierarchy,
        column,
        tuple(len(tree.sizes(level)) for level in range(tree.height + 1)),
        tuple(_spread(rows)) if rows is not None else (),
        tuple(tree.warnings(show_labels=hierarchy.is_listed)),
    )


def _spread(rows: Sequence[Labels]) -> list[Labels]:
    """`MAX_EXAMPLES` rows at most, from all parts of the whole."""
    count = min(MAX_EXAMPLES, len(rows))
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
    labels = level_labels(hierarchy, encode.labelled_value(), column_type=literals[0][0].to)
    leaf = exp.cast(encode.labelled_value(), exp.DataType.Type.VARCHAR)
    with Resources(threads=1).connect() as engine:
        return engine.rows(exp.select(leaf, *labels).from_(rows))
