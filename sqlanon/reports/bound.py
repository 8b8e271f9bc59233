"""Bound report: a lower bound on the loss of any k-anonymization."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sqlanon.reports.document import SCHEMA_VERSION, page
from sqlanon.wording import figure


@dataclass(frozen=True, slots=True)
class BoundReport:
    """A lower bound on the loss of any k-anonymization, local or not.

    Args:
        loss: Name of the loss.
        lower_bound: What is lost at least, in the loss's own terms.
        k: Smallest class size allowed [records].
        records: Records of the table.
        candidates: Closed frequent generalized itemsets that a class can be published as.
        seconds: How long it took.
        notes: What a reader should know besides.
    """

    loss: str
    lower_bound: float
    k: int
    records: int
    candidates: int
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document of `bound --json`."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    def to_text(self) -> str:
        """A line for a reader, and notes."""
        line = (
            f"no {self.k}-anonymization of the {self.records:,} records without suppression loses "
            f"less than {self.loss} {figure(self.lower_bound)} "
            f"({self.candidates:,} closed frequent generalized itemsets)"
        )
        return page([line], self.notes)
