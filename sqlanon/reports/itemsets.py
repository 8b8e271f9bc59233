"""Itemsets report: how many itemsets a table has."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sqlanon.reports.document import SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class MiningReport:
    """Number of frequent or closed generalized itemsets of a table.

    Args:
        kind: `closed` or `frequent`.
        k: Fewest records of an itemset.
        records: Records of the table.
        itemsets: Number of itemsets.
        memberships: Number of pairs of an itemset and a record of its support.
        output: The table they were written to, if any.
        seconds: How long it took.
    """

    kind: str
    k: int
    records: int
    itemsets: int
    memberships: int
    output: str | None = None
    seconds: float = field(default=0.0, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `mine --json`."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    def to_text(self) -> str:
        """A page for a reader."""
        kind = "closed frequent" if self.kind == "closed" else "frequent"
        lines = [
            f"{self.itemsets:,} {kind} generalized itemsets of at least {self.k:,} of "
            f"{self.records:,} records; {self.memberships:,} memberships"
        ]
        if self.output is not None:
            lines.append(f"written to table {self.output}")
        return "\n".join(lines)
