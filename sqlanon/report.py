"""Reports: what a check found, what a plan expects and what was published."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlanon.wording import counted

SCHEMA_VERSION = 1
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
            "value": _rounded(self.value),
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
            "entropy_l": _rounded(self.entropy_l),
            "recursive_c": {str(l): _rounded(c) for l, c in self.recursive_c.items()},  # noqa: E741
            "t": {name: _rounded(value) for name, value in self.t.items()},
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


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check of a table as it stands found.

    Args:
        statistics: Its equivalence classes.
        models: The policy's models and whether they hold.
        threshold: Risk above which a record counts as at risk, in (0, 1].
        quasi_identifiers: The columns that make the classes.
        notes: What a reader should know besides.
        seconds: How long the check took.
        sensitive: What the classes tell of each sensitive column.
        joint: Fewest pairs of values in a class, for each two sensitive columns.
        entity: The column whose persons were counted; None where records were.
    """

    statistics: ClassStatistics
    models: tuple[ModelResult, ...]
    threshold: float
    quasi_identifiers: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    sensitive: Mapping[str, SensitiveFigures] = field(default_factory=dict)
    joint: Mapping[tuple[str, str], int] = field(default_factory=dict)
    entity: str | None = None

    @property
    def holds(self) -> bool:
        """Whether every model holds; true where there is none."""
        return all(result.holds for result in self.models)

    def to_dict(self) -> dict[str, Any]:
        """The document of `check --json`."""
        return {
            "schema_version": SCHEMA_VERSION,
            **self.statistics.to_dict(self.threshold),
            "quasi_identifiers": list(self.quasi_identifiers),
            "entity": self.entity,
            "sensitive": {name: found.to_dict() for name, found in self.sensitive.items()},
            "joint": {", ".join(names): count for names, count in self.joint.items()},
            "models": [result.to_dict() for result in self.models],
            "holds": self.holds,
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def to_text(self) -> str:
        """A page for a reader."""
        figures = self.statistics.to_dict(self.threshold)
        sizes, risk = figures["class_size"], figures["risk"]
        unit = "records" if self.entity is None else "persons"
        lines = [
            f"{counted(figures['records'], 'record')} in "
            f"{counted(figures['classes'], 'class', 'classes')} "
            f"by {', '.join(self.quasi_identifiers)}",
            *_counted(self.entity),
            f"  class size      smallest {sizes['min']:,}, median {sizes['median']:,.1f}, "
            f"mean {sizes['mean']:,.1f}, largest {sizes['max']:,}",
            f"  unique {unit:<9}{figures['unique_records']:,}"
            f" ({share(figures['unique_records'], self.statistics.members)})",
            f"  risk            highest {risk['prosecutor_max']:.3%}, "
            f"mean {risk['prosecutor_mean']:.3%}; {risk['records_at_risk']:,} {unit} above "
            f"{self.threshold:.1%}",
        ]
        for column, found in self.sensitive.items():
            lines += found.to_lines(column)
        for (one, other), count in self.joint.items():
            lines.append(f"sensitive {one!r} and {other!r} together: distinct l {count:,}")
        for result in self.models:
            lines.append(f"{result.verdict()}: the table has {result.found()}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


@dataclass(frozen=True, slots=True)
class Report:
    """What was published, or what a plan expects to publish.

    Args:
        method: Name of the search.
        loss_name: The loss that it minimized.
        loss: Every measure that applies, by its name.
        lower_bound: Proven lower bound on `loss[loss_name]` over what the method may choose from.
        levels: Level per quasi-identifier.
        heights: Highest level per quasi-identifier.
        records: Records of the original.
        suppressed_records: Records in classes that violate a model.
        suppressed_cells: Cells that say nothing any more, those of suppressed records included.
        statistics: The published table's equivalence classes.
        models: The policy's models and whether they hold.
        minimal_nodes: All minimal nodes, on request.
        search: What the search did: `nodes` of the lattice, `candidates` within the level bounds,
            `checked`, `combinations` of values, sets `rolled_up`, `proven`.
        output: Where the table was published; None for a plan.
        notes: What a reader should know besides.
        seconds: How long each part took.
        entity: The column whose persons are counted by classes and models; None for records.
    """

    method: str
    loss_name: str
    loss: Mapping[str, float]
    lower_bound: float | None
    levels: Mapping[str, int]
    heights: Mapping[str, int]
    records: int
    suppressed_records: int
    suppressed_cells: int
    statistics: ClassStatistics
    models: tuple[ModelResult, ...]
    minimal_nodes: tuple[Mapping[str, int], ...] | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    entity: str | None = None

    def timed(self, seconds: Mapping[str, float]) -> Report:
        """The same report with how long each part took."""
        return replace(self, seconds=dict(seconds))

    @property
    def holds(self) -> bool:
        """Whether every model of the policy holds."""
        return all(result.holds for result in self.models)

    def to_dict(self) -> dict[str, Any]:
        """The document of `plan --json` and `anonymize --json`."""
        statistics = self.statistics.to_dict()
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "method": self.method,
            "loss": {
                "name": self.loss_name,
                "value": _finite(self.loss[key(self.loss_name)]),
                **{name: _finite(value) for name, value in self.loss.items()},
            },
            "lower_bound": None if self.lower_bound is None else _finite(self.lower_bound),
            "records": self.records,
            "suppressed_records": self.suppressed_records,
            "suppressed_cells": self.suppressed_cells,
            "published_records": statistics["records"],
            "classes": statistics["classes"],
            "k": statistics["k"],
            "class_size": statistics["class_size"],
            "unique_records": statistics["unique_records"],
            "risk": statistics["risk"],
            "entity": self.entity,
            "levels": dict(self.levels),
            "output": self.output,
            "models": [result.to_dict() for result in self.models],
            "holds": self.holds,
            "search": dict(self.search),
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
        }
        if self.minimal_nodes is not None:
            document["minimal_nodes"] = [dict(node) for node in self.minimal_nodes]
        return document

    @classmethod
    def from_dict(
        cls,
        document: Mapping[str, Any],
        heights: Mapping[str, int],
        histogram: Iterable[Sequence[int]],
    ) -> Report:
        """Reads back what `to_dict` wrote.

        Args:
            document: The document.
            heights: Highest level per quasi-identifier.
            histogram: Rows of class size and number of classes.
        """
        measures = {
            name: float("inf") if value is None else value
            for name, value in document["loss"].items()
            if name not in ("name", "value")
        }
        nodes = document.get("minimal_nodes")
        return cls(
            method=document["method"],
            loss_name=document["loss"]["name"],
            loss=measures,
            lower_bound=document["lower_bound"],
            levels=document["levels"],
            heights=heights,
            records=document["records"],
            suppressed_records=document["suppressed_records"],
            suppressed_cells=document["suppressed_cells"],
            statistics=ClassStatistics.of(histogram).with_records(document["published_records"]),
            models=tuple(ModelResult.from_dict(result) for result in document["models"]),
            minimal_nodes=None if nodes is None else tuple(nodes),
            search=document["search"],
            output=document["output"],
            notes=tuple(document["notes"]),
            seconds=document["seconds"],
            entity=document.get("entity"),
        )

    def _bound_text(self) -> str:
        if self.search.get("proven"):
            return " (no full-domain recoding loses less)"
        if self.lower_bound is None:
            return ""
        return f" (every full-domain recoding loses at least {figure(self.lower_bound)})"

    def to_text(self) -> str:
        """A page for a reader."""
        name = self.loss_name
        proof = "proven best" if self.search.get("proven") else "best found"
        verb = "publish" if self.output is None else "published"
        sizes = self.statistics.to_dict()["class_size"]
        lines = [
            f"{self.method}: {proof} of {self.search.get('candidates', 0):,} recodings, "
            f"{self.search.get('checked', 0):,} checked",
            f"  {'loss':<16}{name} {figure(self.loss[key(name)])}{self._bound_text()}",
            f"  {verb:<16}{self.statistics.records:,} of {self.records:,} records in "
            f"{counted(self.statistics.classes, 'class', 'classes')}",
            f"  {'suppressed':<16}{counted(self.suppressed_records, 'record')} "
            f"({share(self.suppressed_records, self.records)})",
            *_counted(self.entity),
            f"  {'class size':<16}smallest {sizes['min']:,}, median {sizes['median']:,.1f}, "
            f"mean {sizes['mean']:,.1f}, largest {sizes['max']:,}",
        ]
        width = max((len(column) for column in self.levels), default=0)
        lines.append("  levels (0 is the original value)")
        for column, level in self.levels.items():
            bar = "#" * level + "." * (self.heights[column] - level)
            lines.append(f"    {column:<{width}}  {level} of {self.heights[column]}  {bar}")
        if self.minimal_nodes is not None:
            lines.append(f"  minimal nodes   {len(self.minimal_nodes):,}")
            lines += [
                "    " + ", ".join(f"{c} {level}" for c, level in node.items())
                for node in self.minimal_nodes
            ]
        for result in self.models:
            lines.append(f"{result.verdict()}: {result.found()}")
        if self.output is not None:
            lines.append(f"output: {self.output}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _counted(entity: str | None) -> list[str]:
    """For a reader: what classes and models count, where it is not records."""
    return [] if entity is None else [f"  {'counted':<16}persons by {entity!r}"]


def figure(value: float) -> str:
    """A measure for a reader: totals in full, others to six digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 and value.is_integer() else f"{value:.6g}"


def _rounded(value: float) -> float | None:
    """A figure for JSON: counts as they are, others to twelve digits, and no infinity."""
    if isinstance(value, int):
        return value
    # What logarithms leave of a zero is noise.
    return _finite(0.0 if abs(value) < 1e-12 else float(f"{value:.12g}"))


def _finite(value: float) -> float | None:
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
