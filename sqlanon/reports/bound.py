"""Bound report: a lower bound on the loss of any k-anonymization, and a loss beside its bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlanon.reports.document import Provenance, SelfShown, ShownTable, bound_figure, page
from sqlanon.wording import at_least, counted, without_noise

USELESS = 100
"""Times a lower bound above which a loss is so far from it that it says next to nothing."""


@dataclass(frozen=True, slots=True, repr=False)
class BoundReport(SelfShown):
    """A lower bound on the loss of any k-anonymization, local or not.

    Args:
        loss: Name of the loss.
        lower_bound: What is lost at least, in the loss's own terms.
        k: Smallest class size allowed [records].
        records: Records of the table.
        candidates: Closed frequent generalized itemsets that a class can be published as.
        seconds: How long it took, with what other searches had found already.
        allowance: Records that may be suppressed, each of which loses all its cells.
        entity: The column whose persons a policy counts; None for records.
        levels: Lowest and highest level allowed of the columns that may not take every level.
        notes: What a reader should know besides.
        effort: The last effort to raise it that was completed, `quick` or `full`; None where the
            time limit ended the first.
        single_records: What is lost at least as far as each record proves it by itself, in the
            cheapest itemset that holds it.
        ended: The part of the search that a time limit ended; empty for none.
        provenance: What it was made of and when.
    """

    loss: str
    lower_bound: float
    k: int
    records: int
    candidates: int
    seconds: float = field(default=0.0, compare=False)
    allowance: int = 0
    entity: str | None = None
    levels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    effort: str | None = None
    single_records: float = 0.0
    ended: str = ""
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def is_cut(self) -> bool:
        """Whether a time limit ended a part of the search, so that a higher bound may hold."""
        return bool(self.ended)

    def to_dict(self) -> dict[str, Any]:
        """The document of `bound --json`."""
        return {
            **self.provenance.head(),
            "loss": self.loss,
            "lower_bound": bound_figure(self.lower_bound),
            "effort": self.effort,
            "single_record_bound": bound_figure(self.single_records),
            "k": self.k,
            "records": self.records,
            "candidates": self.candidates,
            "seconds": self.seconds,
            "allowance": self.allowance,
            "entity": self.entity,
            "levels": dict(self.levels),
            "cut_short": self.is_cut,
            "notes": list(self.notes),
        }

    def headline(self) -> str:
        """What is lost at least."""
        records = counted(self.records, "record")
        return f"{self.loss} at least {at_least(self.lower_bound)} at k = {self.k:,}, {records}"

    def shown_tables(self) -> list[ShownTable]:
        """What proves it."""
        rows = [
            ["lower bound", at_least(self.lower_bound)],
            ["by single records", at_least(self.single_records)],
            ["closed frequent itemsets", f"{self.candidates:,}"],
            ["records that may be suppressed", f"{self.allowance:,}"],
        ]
        return [ShownTable(rows)]

    def to_text(self) -> str:
        """A line for a reader, and notes."""
        suppressed = "that suppresses no record"
        if self.allowance:
            suppressed = f"with up to {counted(self.allowance, 'record')} suppressed"
        within = " within the levels allowed" if self.levels else ""
        line = (
            f"every {self.k}-anonymization of the {counted(self.records, 'record')}{within} "
            f"{suppressed} loses at least {self.loss} {at_least(self.lower_bound)} "
            f"(proven by {counted(self.candidates, 'closed frequent generalized itemset')})"
        )
        alone = f"the cheapest itemset of each record alone proves {at_least(self.single_records)}"
        effort = "" if self.effort is None else f"; effort: {self.effort}"
        return page([line, f"  {alone}{effort}"], self.notes)


def ended_notes(ended: str, by: str = "the time limit") -> Iterator[str]:
    """What a reader should know of a part of the search that a time limit ended."""
    if ended:
        yield f"{by} ended {ended}: a higher bound may hold"


def is_reached(loss: float, bound: float) -> bool:
    """Whether a loss is its lower bound, but for rounding."""
    return loss <= bound * (1 + 1e-9)


def is_useless(loss: float, bound: float) -> bool:
    """Whether a lower bound is so far below a loss that it says next to nothing.

    >>> is_useless(0.5, 0.25), is_useless(0.5, 1e-6), is_useless(0.0, 0.0)
    (False, True, False)
    """
    return loss > USELESS * without_noise(bound)


def bound_clause(every: str, loss: float, bound: float) -> str:
    """What is known of every other recoding, of which `bound` is a lower bound.

    >>> bound_clause("recoding", 0.5, 0.25)
    'no recoding loses less than 0.25; this is 2 times as much'
    >>> bound_clause("recoding", 0.5, 0.5), bound_clause("recoding", 0.5, 1e-6)
    ('no recoding loses less', 'no useful lower bound was found')
    """
    if is_reached(loss, bound):
        return f"no {every} loses less"
    if is_useless(loss, bound):
        return "no useful lower bound was found"
    return f"no {every} loses less than {at_least(bound)}; this is {loss / bound:.3g} times as much"
