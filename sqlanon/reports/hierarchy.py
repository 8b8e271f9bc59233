"""Hierarchy report: a hierarchy, on its own or bound to a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import Path as Labels
from sqlanon.reports.document import Provenance, page
from sqlanon.wording import shown


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
