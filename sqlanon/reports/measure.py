"""Measure report: the information loss of a release against its original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlanon.classes import ClassStatistics
from sqlanon.reports.document import Provenance, finite, page
from sqlanon.reports.shown import SelfShown, ShownTable
from sqlanon.wording import counted, figure, in_columns, percent


@dataclass(frozen=True, slots=True, repr=False)
class MeasureReport(SelfShown):
    """Information loss of a release against its original.

    Args:
        loss: Every measure that applies, or those asked for, by JSON name.
        records: Records of the original.
        suppressed_records: Those that are not in the release, or only without quasi-identifiers.
        statistics: The release's equivalence classes, suppressed records left out.
        notes: What a reader should know besides.
        seconds: How long it took.
        provenance: What it was made of and when.
    """

    loss: Mapping[str, float]
    records: int
    suppressed_records: int
    statistics: ClassStatistics
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `measure --json`: every measure by its name, beside what was counted."""
        return {
            **self.provenance.head(),
            "records": self.records,
            "suppressed_records": self.suppressed_records,
            "published_records": self.statistics.records,
            "classes": self.statistics.classes,
            "k": self.statistics.smallest,
            **{name: finite(value) for name, value in self.loss.items()},
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """What is left of the original."""
        of = counted(self.records, "record")
        return f"{self.statistics.records:,} of {of} published; {len(self.loss)} measures"

    def shown_tables(self) -> list[ShownTable]:
        """Every measure by its name."""
        rows = [[name.replace("_", "-"), figure(value)] for name, value in self.loss.items()]
        return [ShownTable(rows, ["measure", "loss"])]

    def to_text(self) -> str:
        """A page for a reader."""
        lost = percent(self.suppressed_records, self.records)
        lines = [
            f"{self.statistics.records:,} of {counted(self.records, 'record')} published in "
            f"{counted(self.statistics.classes, 'class', more='classes')}, "
            f"the smallest of {self.statistics.smallest:,}; "
            f"{self.suppressed_records:,} suppressed ({lost})"
        ]
        rows = [(name.replace("_", "-"), figure(value)) for name, value in self.loss.items()]
        lines += in_columns(rows, "<>") if rows else []
        return page(lines, self.notes)
