"""Itemsets report: how many itemsets a table has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlanon.reports.document import Provenance, page
from sqlanon.reports.shown import SelfShown, ShownTable
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True, repr=False)
class MiningReport(SelfShown):
    """Number of frequent or closed generalized itemsets of a table.

    Args:
        kind: `closed` or `frequent`.
        k: Fewest records of an itemset.
        records: Records of the table.
        itemsets: Number of itemsets.
        memberships: Number of pairs of an itemset and a record of its support.
        output: The table they were written to, if any.
        seconds: How long it took.
        notes: What a reader should know besides.
        provenance: What it was made of and when.
    """

    kind: str
    k: int
    records: int
    itemsets: int
    memberships: int
    output: str | None = None
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `mine --json`."""
        return {
            **self.provenance.head(),
            "kind": self.kind,
            "k": self.k,
            "records": self.records,
            "itemsets": self.itemsets,
            "memberships": self.memberships,
            "output": self.output,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def headline(self) -> str:
        """How many there are."""
        return f"{counted(self.itemsets, f'{self.kind} itemset')} of {self.k:,} records or more"

    def shown_tables(self) -> list[ShownTable]:
        """What was counted."""
        rows = [
            ["records", f"{self.records:,}"],
            ["itemsets", f"{self.itemsets:,}"],
            ["pairs of an itemset and a record", f"{self.memberships:,}"],
            ["written to", self.output or "no table"],
        ]
        return [ShownTable(rows)]

    def to_text(self) -> str:
        """A page for a reader."""
        kind = "closed frequent" if self.kind == "closed" else "frequent"
        lines = [
            f"{counted(self.itemsets, f'{kind} generalized itemset')} of at least {self.k:,} of "
            f"{counted(self.records, 'record')}; {counted(self.memberships, 'pair')} "
            "of an itemset and a record that has it"
        ]
        if self.output is not None:
            lines.append(f"written to table {self.output}")
        return page(lines, self.notes)
