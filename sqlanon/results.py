"""Results: figures of a table's classes and sensitive attributes, and whether models hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.wording import counted

RISK_THRESHOLD = 0.2


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
        """The same classes, of persons who have so many records."""
        return self if records == self.members else ClassStatistics(self.histogram, records)

    @property
    def records(self) -> int:
        """Records in all classes."""
        return self.members if self.rows is None else self.rows

    @property
    def members(self) -> int:
        """What classes count, over all classes: records, or persons once for each class."""
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

        A record's prosecutor risk is one over the size of its class, so its mean over records
        is classes over records.

        Source: El Emam and Dankar 2008, "Protecting privacy using k-anonymity".

        Args:
            threshold: Risk above which a record counts as at risk, in (0, 1].
        """
        at_risk = sum(s * c for s, c in self.histogram.items() if 1 / s > threshold)
        return {
            "records": self.records,
            "classes": self.classes,
            "k": self.smallest,
            "class_size": {
                "min": self.smallest,
                "mean": self.mean,
                "median": self.median,
                "max": max(self.histogram, default=0),
            },
            "unique_records": self.histogram.get(1, 0),
            "risk": {
                "prosecutor_max": 1 / self.smallest if self.histogram else 0.0,
                "prosecutor_mean": self.classes / self.members if self.histogram else 0.0,
                "records_at_risk": at_risk,
                "threshold": threshold,
            },
        }


@dataclass(frozen=True, slots=True)
class ModelResult:
    """Whether a table satisfies one privacy model.

    Args:
        model: Its name.
        threshold: What the policy demands: k, l, c or t.
        value: What the table has of it: of recursive diversity the c above which it holds.
        holds: Whether that is enough.
        column: The sensitive column that it is about; None for k-anonymity.
    """

    model: str
    threshold: float
    value: float
    holds: bool
    column: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `models` in the JSON documents."""
        return {
            "model": self.model,
            "threshold": self.threshold,
            "value": rounded(self.value),
            "holds": self.holds,
            "column": self.column,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ModelResult:
        """Reads back what `to_dict` wrote."""
        value = document["value"]
        return cls(**{**document, "value": math.inf if value is None else value})

    def verdict(self) -> str:
        """For a reader: the model, and whether it holds."""
        what = f"{self.model} {self.threshold:,}" if self.column is None else self.model
        whose = "" if self.column is None else f" of {self.column!r}"
        return f"{what}{whose} {'holds' if self.holds else 'does NOT hold'}"

    def found(self) -> str:
        """For a reader: what the table has."""
        if math.isinf(self.value):
            return "classes of fewer values, which no c allows"
        if self.model.startswith("recursive"):
            ratio = figure(self.value)
            return f"a ratio r_1 / (r_l + ... + r_m) of up to {ratio}, which c must exceed"
        return f"{self.value:,}" if isinstance(self.value, int) else figure(self.value)


@dataclass(frozen=True, slots=True)
class SensitiveFigures:
    """What the classes of a table tell of a sensitive attribute: the worst class decides.

    Args:
        values: Distinct values in the table.
        distinct_l: The l of distinct diversity that holds: fewest values in a class.
        entropy_l: That of entropy diversity: e to the least entropy of a class, 0 where a class
            has no value at all.
        recursive_c: By l the c above which recursive (c, l)-diversity holds, the greatest
            r_1 / (r_l + ... + r_m) of a class; infinite where a class has fewer than l values.
        t: By distance the greatest one of a class from the whole table.
        homogeneous_records: Records in classes with no more than one value, which therefore give
            the value of everybody in them away.
    """

    values: int
    distinct_l: int
    entropy_l: float
    recursive_c: Mapping[int, float]
    t: Mapping[str, float]
    homogeneous_records: int

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `sensitive` in `check --json`."""
        return {
            "values": self.values,
            "distinct_l": self.distinct_l,
            "entropy_l": rounded(self.entropy_l),
            "recursive_c": {str(l): rounded(c) for l, c in self.recursive_c.items()},  # noqa: E741
            "t": {name: rounded(value) for name, value in self.t.items()},
            "homogeneous_records": self.homogeneous_records,
        }

    def to_lines(self, column: str) -> list[str]:
        """For a reader."""
        ratios = ", ".join(
            f"recursive (c, {l}) {'for no c' if math.isinf(c) else f'for c above {figure(c)}'}"
            for l, c in self.recursive_c.items()  # noqa: E741
        )
        distances = ", ".join(f"{name} {figure(value)}" for name, value in self.t.items())
        return [
            f"sensitive {column!r}: {counted(self.values, 'value')}",
            f"  l-diversity     distinct {self.distinct_l:,}, entropy {figure(self.entropy_l)}, "
            f"{ratios}",
            f"  t-closeness     {distances}",
        ]


def figure(value: float) -> str:
    """A measure for a reader: totals in full, others to six digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 and value.is_integer() else f"{value:.6g}"


def rounded(value: float) -> float | None:
    """A figure for JSON: counts as they are, others to twelve digits, and no infinity."""
    if isinstance(value, int):
        return value
    # What logarithms leave of a zero is noise.
    return finite(0.0 if abs(value) < 1e-12 else float(f"{value:.12g}"))


def finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None


def key(loss_name: str) -> str:
    """A loss's name as a JSON key."""
    return loss_name.replace("-", "_")


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent."""
    if not part or not whole:
        return "0%"
    return f"{part / whole:.2%}" if part / whole >= 0.0001 else "<0.01%"
