"""Figures of a release report: both tables, columns and sensitive values.

No value is among them that the released table does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from sqlanon.classes import ClassStatistics
from sqlanon.reports.bound import is_reached, is_useless
from sqlanon.reports.check import ModelResult, SensitiveFigures, Trajectories
from sqlanon.reports.document import bound_figure, finite, rounded
from sqlanon.reports.plan import Report
from sqlanon.reports.risk import Persons, WeightedRisk
from sqlanon.reports.use import ReleaseUse
from sqlanon.wording import at_least, figure, percent, without_noise


@dataclass(frozen=True, slots=True)
class TableSide:
    """One of the two tables: the original, or the released one.

    Args:
        statistics: Its equivalence classes; they count persons where `persons` is given.
        models: The policy's models and whether they hold there.
        sensitive: What its classes tell of each sensitive column.
        persons: Persons by their smallest class; None where records are counted.
        trajectories: Persons by all their records; None where nothing joins these.
        weights: Individual risk by survey weights; None where they are not known.
    """

    statistics: ClassStatistics
    models: tuple[ModelResult, ...] = ()
    sensitive: Mapping[str, SensitiveFigures] = field(default_factory=dict)
    persons: Persons | None = None
    trajectories: Trajectories | None = None
    weights: WeightedRisk | None = None

    @property
    def one(self) -> str:
        """What is counted, one of it."""
        return "record" if self.persons is None else "person"

    @property
    def unit(self) -> str:
        """What is counted, several of it."""
        return f"{self.one}s"

    @property
    def by_unit(self) -> Persons | ClassStatistics:
        """Persons where they are counted, else records."""
        return self.persons or self.statistics

    def in_classes(self, low: int, high: int | None) -> int:
        """Records in classes of some sizes, or persons whose smallest class has one of them."""
        if self.persons is None:
            sizes = self.statistics.histogram
            members = {size: size * classes for size, classes in sizes.items()}
        else:
            members = dict(self.persons.histogram)
        top = inf if high is None else high
        return sum(number for size, number in members.items() if low <= size <= top)

    def to_dict(self, threshold: float) -> dict[str, Any]:
        """The keys `original` and `released` of the JSON document."""
        figures = self.statistics.to_dict(threshold)
        figures["unique_records"] = self.by_unit.unique
        figures["risk"] |= {
            "prosecutor_mean": self.by_unit.mean_risk,
            "records_at_risk": self.by_unit.at_risk(threshold),
            "marketer": self.statistics.mean_risk,
        }
        return {
            **figures,
            "persons": None if self.persons is None else self.persons.members,
            "sensitive": {name: summary.to_dict() for name, summary in self.sensitive.items()},
            "trajectories": None
            if self.trajectories is None
            else self.trajectories.to_dict(threshold),
            "weights": None if self.weights is None else self.weights.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """A published label of a quasi-identifier, with all published labels below it.

    Args:
        label: The label; None for NULL. Empty for several groups that are shown as one.
        after: Released records with it, or with a label below it [records].
        before: Original records whose value it stands for; None where nearly as many, so that the
            difference would tell of single records [records].
        groups: How many labels are shown as one; 1 for a label by itself.
        is_top: Whether it stands for every value, so that it says nothing.
    """

    label: str | None
    after: int
    before: int | None
    groups: int = 1
    is_top: bool = False

    @property
    def about(self) -> int:
        """Original records, those of the release where the difference is not shown [records]."""
        return self.after if self.before is None else self.before

    def to_dict(self) -> dict[str, Any]:
        """An entry of `distribution` in the JSON document."""
        return {
            "label": self.label,
            "labels": self.groups,
            "says_nothing": self.is_top,
            "released": self.after,
            "original": self.before,
        }


@dataclass(frozen=True, slots=True)
class LevelUse:
    """Records that a column publishes at one level of its hierarchy.

    Args:
        level: The level; 0 is the original value.
        name: What it is called.
        records: Records of the release [records].
    """

    level: int
    name: str
    records: int


@dataclass(frozen=True, slots=True)
class ReleasedColumn:
    """A quasi-identifier before and after.

    Args:
        name: The column.
        hierarchy: What its hierarchy is, in words.
        height: Highest level of the hierarchy.
        levels: Levels that are used; empty where values were put into groups of their own.
        groups: Its published labels, in the order of the hierarchy.
        labels: Number of distinct labels that are published.
        unpublished: Original records whose value no label but that of all values stands for; None
            where fewer than may be told.
        loss: Each measure of cells, of this column alone.
        hidden: Differences below this many records are not shown.
    """

    name: str
    hierarchy: str
    height: int
    levels: tuple[LevelUse, ...]
    groups: tuple[LabelGroup, ...]
    labels: int
    unpublished: int | None
    loss: Mapping[str, float]
    hidden: int

    @property
    def silent(self) -> int:
        """Released cells that are fully suppressed; records left out have none."""
        return sum(group.after for group in self.groups if group.is_top)

    @property
    def is_silent(self) -> bool:
        """Whether all of its released cells are fully suppressed."""
        return bool(self.groups) and all(group.is_top for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        """An entry of `columns` in the JSON document."""
        return {
            "hierarchy": self.hierarchy,
            "height": self.height,
            "levels": {
                str(use.level): {"name": use.name, "records": use.records} for use in self.levels
            },
            "labels": self.labels,
            "distribution": [group.to_dict() for group in self.groups],
            "unpublished": self.unpublished,
            "hidden_below": self.hidden,
            "loss": {name: finite(value) for name, value in self.loss.items()},
        }


@dataclass(frozen=True, slots=True)
class ShareRow:
    """A sensitive value, or several, in the released table and in its furthest class.

    Args:
        label: The value, or the range of values; None for NULL.
        records: Released records with it [records].
        furthest: Those in the furthest class [records].
        values: How many values are shown as one; 1 for a value by itself.
    """

    label: str | None
    records: int
    furthest: int
    values: int = 1


@dataclass(frozen=True, slots=True)
class ValueShares:
    """A sensitive column of the released table, and the class that tells most of it.

    Args:
        name: The column.
        values: Distinct values that are released.
        records: Records that count [records].
        rows: Its values.
        distance: Share of the furthest class's records that would have to hold another value to
            look like the table, in [0, 1]; where rows are ranges, how far its values would have to
            move for that, on average, as a share of all different values.
        class_size: Records of that class that count [records].
        class_labels: The class's quasi-identifiers, as released.
        is_ranged: Whether each row is a range of values, not one value, and distances go by order.
        unique: Records whose value no other record has [records].
    """

    name: str
    values: int
    records: int
    rows: tuple[ShareRow, ...]
    distance: float
    class_size: int
    class_labels: Mapping[str, str | None]
    is_ranged: bool = False
    unique: int = 0

    @property
    def measure(self) -> str:
        """The distance by which the class is the furthest, as t-closeness calls it."""
        return "ordered" if self.is_ranged else "equal"

    def apart_text(self) -> str:
        """How far the furthest class is from the table, as a part of a sentence.

        >>> ValueShares("pay", 2, 40, (), 0.25, 4, {}).apart_text()
        '25% of its records would have to hold another value (equal distance)'
        """
        share = percent(self.distance)
        if self.is_ranged:
            return (
                f"its values would have to move past {share} of all different values on average "
                "(ordered distance)"
            )
        return f"{share} of its records would have to hold another value (equal distance)"

    def to_dict(self) -> dict[str, Any]:
        """An entry of `sensitive` in the JSON document."""
        return {
            "values": self.values,
            "records": self.records,
            "unique_records": self.unique,
            "distribution": [
                {
                    "value": row.label,
                    "values": row.values,
                    "records": row.records,
                    "held": row.furthest,
                }
                for row in self.rows
            ],
            "furthest_class": {
                "measure": self.measure,
                "distance": rounded(self.distance),
                "records": self.class_size,
                "labels": dict(self.class_labels),
            },
        }


@dataclass(frozen=True, slots=True)
class LossFigures:
    """What a release loses.

    Args:
        name: The measure that the release was made by, or `lm`.
        measures: Every measure that applies, by its JSON name.
        lower_bound: What every recoding that keeps to `bound_of` loses at least; None where nothing
            is proven.
        bound_of: What the bound is proven of, in words.
        missing: Why nothing was measured; empty where it was.
        use: Errors of its tables, means and quantiles; None where labels cannot be read.
        is_cut: Whether a time limit ended the search for the bound.
    """

    name: str = "lm"
    measures: Mapping[str, float] = field(default_factory=dict)
    lower_bound: float | None = None
    bound_of: str = ""
    missing: str = ""
    use: ReleaseUse | None = None
    is_cut: bool = False

    @property
    def value(self) -> float | None:
        """The loss by `name`; None where it was not measured."""
        return self.measures.get(self.name.replace("-", "_"))

    @property
    def ratio(self) -> float | None:
        """How many times the bound is lost; None without a bound above 0."""
        if self.value is None or not self.lower_bound or not without_noise(self.lower_bound):
            return None
        return self.value / self.lower_bound

    def least_text(self) -> str:
        """What is proven of other recodings, beside this one's loss; empty where nothing is."""
        if self.value is None or self.lower_bound is None:
            return ""
        if is_useless(self.value, self.lower_bound):
            return "No useful lower bound on the loss was found; `sqlanon bound` may prove more."
        every = f"{self.bound_of[0].upper()}{self.bound_of[1:]} loses less than"
        if is_reached(self.value, self.lower_bound):
            least = plain(self.value)
            return f"{every} {least}; this release loses exactly that, the least possible."
        times = "" if self.ratio is None else plain(self.ratio, digits=3)
        more = f", which is {times} times as much" if times else ""
        least = figure_below(self.lower_bound)
        return f"{every} {least}; this release loses {plain(self.value)}{more}."

    def with_bound_of(self, report: Report) -> LossFigures:
        """The figures with the bound that a plan proved."""
        return replace(
            self,
            lower_bound=report.lower_bound,
            bound_of=f"no {report.search.kind}",
            is_cut=report.is_cut,
        )

    def to_dict(self) -> dict[str, Any]:
        """The key `loss` of the JSON document."""
        return {
            "name": self.name,
            "value": finite(self.value),
            "lower_bound": bound_figure(self.lower_bound),
            "bound_of": self.bound_of or None,
            "not_measured": self.missing or None,
            **{name: finite(value) for name, value in self.measures.items()},
        }


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """How a release was made, as its plan tells.

    Args:
        name: Name of the method.
        guarantee: What is proven of its recodings.
        search: Facts of the search, each a heading and a text.
        statements: The statements that publish it, values left out that are not released.
        withheld: Why no statement is shown; empty where one is.
        plan_sha256: Digest of the plan; None without one.
    """

    name: str
    guarantee: str
    search: Sequence[tuple[str, str]] = ()
    statements: Sequence[str] = ()
    withheld: str = ""
    plan_sha256: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `method` of the JSON document."""
        return {
            "name": self.name,
            "guarantee": self.guarantee,
            "search": dict(self.search),
            "statements": list(self.statements),
        }


def plain(value: float, *, digits: int = 6) -> str:
    """A measure for a reader: as `figure`, but never as a power of ten.

    >>> plain(0.0000147737), plain(27918.9, digits=3), plain(0.25), plain(12345.0)
    ('0.0000147737', '27,900', '0.25', '12,345')
    """
    from decimal import Decimal  # slow to import, and few reports need it

    text = figure(value) if digits == 6 else f"{value:.{digits}g}"
    return f"{Decimal(text):,f}" if "e" in text else text


def figure_below(bound: float) -> str:
    """A lower bound for a reader: rounded down, and never as a power of ten.

    >>> figure_below(0.0000147737789), figure_below(12.0)
    ('0.0000147737', '12')
    """
    return plain(float(at_least(bound).replace(",", "")))
