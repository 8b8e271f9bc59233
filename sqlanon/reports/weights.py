"""Individual risk in figures: records of a sample, found among the people they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlanon.wording import part_of, percent


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """Risk of records by their households, any of whose members may be found.

    Args:
        households: How many there are.
        expected: The sum over records of the risk of their household [records].
        highest: The highest risk of one.
        at_risk: Records of households whose risk is above the threshold [records].
    """

    households: int
    expected: float
    highest: float
    at_risk: int


@dataclass(frozen=True, slots=True)
class WeightedRisk:
    """Individual risk of the records of a sample.

    Class j has f_j records, and stands for F_j people, the sum of their weights. A record's risk is
    r_j = E[1 / F | f_j], as `query.assess.weights.individual_risk` has it; that of a household
    1 - product of 1 - r over its records.

    Args:
        weight: The column of weights; None where each record stands for itself alone.
        records: n, records of the sample.
        people: The sum of the weights [people].
        expected: The sum of the risks of all records: re-identifications that are expected if
            somebody looks for each record in the population [records].
        highest: The highest risk.
        at_risk: Records whose risk is above the threshold [records].
        households: Risk by household; None where no column tells them.
    """

    weight: str | None
    records: int
    people: float
    expected: float
    highest: float
    at_risk: int
    households: HouseholdRisk | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `weights` of the JSON documents."""
        own = self.households
        return {
            "column": self.weight,
            "people": self.people,
            "expected": self.expected,
            "share": self.expected / self.records,
            "risk_max": self.highest,
            "records_at_risk": self.at_risk,
            "households": None
            if own is None
            else {
                "count": own.households,
                "expected": own.expected,
                "share": own.expected / self.records,
                "risk_max": own.highest,
                "records_at_risk": own.at_risk,
            },
        }

    def rows(self, threshold: float) -> list[tuple[str, str]]:
        """What each figure is called, and the figure."""
        whose = "" if self.weight is None else f" by {self.weight!r}"
        rows = [
            (f"people{whose}", f"{self.people:,.0f}"),
            ("individual risk, highest", percent(self.highest)),
            ("individual risk, expected to be found", self._expected(self.expected)),
            (f"individual risk above {percent(threshold)}", part_of(self.at_risk, self.records)),
        ]
        own = self.households
        if own is not None:
            rows += [
                ("households", f"{own.households:,}"),
                ("household risk, highest", percent(own.highest)),
                ("household risk, expected to be found", self._expected(own.expected)),
                (f"household risk above {percent(threshold)}", part_of(own.at_risk, self.records)),
            ]
        return rows

    def _expected(self, records: float) -> str:
        return f"{records:,.4g} ({percent(records / self.records)})"
