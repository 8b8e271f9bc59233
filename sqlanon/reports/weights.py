"""Individual risk in figures: records of a sample, found among the people they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlanon.wording import part_of, percent


@dataclass(frozen=True, slots=True)
class RecordRisk:
    """Risk of the records of a sample, by themselves or by their households.

    Args:
        parts: Classes, or households.
        records: n, records of the sample.
        expected: The sum over records of the risk of their part; of classes, re-identifications
            that are expected if somebody looks for each record in the population [records].
        highest: The highest risk.
        at_risk: Records whose risk is above the threshold [records].
    """

    parts: int
    records: int
    expected: float
    highest: float
    at_risk: int

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `weights` in the JSON documents."""
        return {
            "expected": self.expected,
            "share": self.expected / self.records,
            "risk_max": self.highest,
            "records_at_risk": self.at_risk,
        }

    def rows(self, which: str, threshold: float) -> Iterator[tuple[str, str]]:
        """What each figure of a kind of risk is called, and the figure."""
        share = percent(self.expected / self.records)
        yield f"{which} risk, highest", percent(self.highest)
        yield f"{which} risk, expected to be found", f"{self.expected:,.4g} ({share})"
        yield f"{which} risk above {percent(threshold)}", part_of(self.at_risk, self.records)


@dataclass(frozen=True, slots=True)
class WeightedRisk:
    """Individual risk of the records of a sample.

    Class j has f_j records, and stands for F_j people, the sum of their weights. A record's risk is
    r_j = E[1 / F | f_j], as `query.assess.weights.individual_risk` has it; that of a household, any
    of whose members may be found, 1 - product of 1 - r over its records.

    Args:
        weight: The column of weights; None where each record stands for itself alone.
        people: The sum of the weights [people].
        individual: Risk of each record.
        households: Risk by household; None where no column tells them.
    """

    weight: str | None
    people: float
    individual: RecordRisk
    households: RecordRisk | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `weights` of the JSON documents."""
        risk = self.households
        return {
            "column": self.weight,
            "people": self.people,
            **self.individual.to_dict(),
            "households": None if risk is None else {"count": risk.parts, **risk.to_dict()},
        }

    def rows(self, threshold: float) -> list[tuple[str, str]]:
        """What each figure is called, and the figure."""
        whose = "" if self.weight is None else f" by {self.weight!r}"
        rows = [(f"people{whose}", f"{self.people:,.0f}")]
        rows += self.individual.rows("individual", threshold)
        if self.households is not None:
            rows.append(("households", f"{self.households.parts:,}"))
            rows += self.households.rows("household", threshold)
        return rows
