"""Equivalence classes of a table, by size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.wording import counted

RISK_THRESHOLD = 0.2
"""Risk above which a record counts as at risk, where no other is given."""
IDENTIFYING_SHARE = 0.05
"""Share of unique records from which on columns count as identifying, where no other is given."""


@dataclass(frozen=True, slots=True)
class ClassStatistics:
    """Equivalence classes of a table, by size.

    Args:
        histogram: `{class size: number of classes of that size}` [records, classes]; persons in
            place of records where the table has an entity.
        rows: Its records, where persons count.
    """

    histogram: Mapping[int, int]
    rows: int | None = None

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> ClassStatistics:
        """From rows of class size and number of classes."""
        return cls(dict(sorted((size, count) for size, count in rows)))

    def with_records(self, records: int) -> ClassStatistics:
        """Its classes, counted in persons who have so many records."""
        return self if records == self.members else ClassStatistics(self.histogram, records)

    def headline(self) -> str:
        """What there is, in a few words."""
        return (
            f"{counted(self.records, 'record')} in "
            f"{counted(self.classes, 'class', more='classes')}, smallest {self.smallest:,}"
        )

    @property
    def records(self) -> int:
        """Records in all classes."""
        return self.members if self.rows is None else self.rows

    @property
    def members(self) -> int:
        """Sum of the class sizes: records, or persons once for each class."""
        return sum(size * count for size, count in self.histogram.items())

    @property
    def classes(self) -> int:
        """Number of classes."""
        return sum(self.histogram.values())

    @property
    def smallest(self) -> int:
        """Size of the smallest class: the k that holds; 0 for an empty table."""
        return min(self.histogram, default=0)

    @property
    def largest(self) -> int:
        """Size of the largest class; 0 for an empty table."""
        return max(self.histogram, default=0)

    @property
    def unique(self) -> int:
        """Classes of one record, or person."""
        return self.histogram.get(1, 0)

    @property
    def highest_risk(self) -> float:
        """The highest prosecutor risk: one over the size of the smallest class."""
        return 1 / self.smallest if self.histogram else 0.0

    @property
    def mean_risk(self) -> float:
        """The mean prosecutor risk of a record: classes over records.

        Source: El Emam and Dankar 2008, "Protecting privacy using k-anonymity".
        """
        return self.classes / self.members if self.histogram else 0.0

    def at_risk(self, threshold: float) -> int:
        """Records, or persons, whose prosecutor risk is above a threshold."""
        return sum(size * n for size, n in self.histogram.items() if 1 / size > threshold)

    @property
    def mean(self) -> float:
        """Mean class size; 0 for an empty table."""
        return self.members / self.classes if self.histogram else 0.0

    @property
    def median(self) -> float:
        """The middle class size; the mean of the middle two where their number is even."""
        if not self.histogram:
            return 0.0
        return (self._nth((self.classes - 1) // 2) + self._nth(self.classes // 2)) / 2

    def _nth(self, position: int) -> int:
        for size, count in self.histogram.items():
            position -= count
            if position < 0:
                return size
        return 0

    def to_dict(self, threshold: float = RISK_THRESHOLD) -> dict[str, Any]:
        """Sizes and re-identification risks, by the keys of `check --json`.

        Args:
            threshold: Risk above which a record counts as at risk, in (0, 1].
        """
        return {
            "records": self.records,
            "classes": self.classes,
            "k": self.smallest,
            "class_size": {
                "min": self.smallest,
                "mean": self.mean,
                "median": self.median,
                "max": self.largest,
            },
            "unique_records": self.unique,
            "risk": {
                "prosecutor_max": self.highest_risk,
                "prosecutor_mean": self.mean_risk,
                "records_at_risk": self.at_risk(threshold),
                "threshold": threshold,
            },
        }
