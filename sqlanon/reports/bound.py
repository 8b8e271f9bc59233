"""Bound report: a lower bound on the loss of any k-anonymization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlanon.reports.document import Provenance, page
from sqlanon.wording import counted, figure


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
        provenance: What it was made of and when.
    """

    loss: str
    lower_bound: float
    k: int
    records: int
    candidates: int
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `bound --json`."""
        return {
            **self.provenance.head(),
            "loss": self.loss,
            "lower_bound": self.lower_bound,
            "k": self.k,
            "records": self.records,
            "candidates": self.candidates,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def to_text(self) -> str:
        """A page for a reader."""
        whole = counted(self.records, "record")
        line = (
            f"no {self.k}-anonymization of the {whole} without suppression loses less than "
            f"{self.loss} {figure(self.lower_bound)} "
            f"({counted(self.candidates, 'closed frequent generalized itemset')})"
        )
        return page([line], self.notes)
