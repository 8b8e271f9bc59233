"""Check report: a table's classes and sensitive columns, and whether models hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlanon.classes import RISK_THRESHOLD, ClassStatistics
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import figure_of
from sqlanon.policy.sizes import KAnonymity, SizeModel
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, rounded, size_line
from sqlanon.reports.findings import Finding, finding_page
from sqlanon.reports.kept import KeptColumns
from sqlanon.wording import (
    FAILS,
    FAILS_MARK,
    HOLDS,
    HOLDS_MARK,
    counted,
    figure,
    part_of,
    percent,
    shell_word,
)

OF_TRAJECTORIES = " of trajectories"
"""What follows the name of a model that is asked of persons by all their records."""


@dataclass(frozen=True, slots=True)
class ModelResult:
    """Whether a table satisfies one privacy model.

    Args:
        model: Its name.
        threshold: What the policy demands: k, l, c, t, alpha and so on.
        value: What the table has of it: of recursive diversity the c above which it holds.
        holds: Whether that is enough.
        column: The sensitive column that it is about; None for a model of classes.
    """

    model: str
    threshold: float
    value: float
    holds: bool
    column: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `models` in the JSON documents."""
        return {**asdict(self), "value": rounded(self.value)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ModelResult:
        """Reads back what `to_dict` wrote; raises a `TypeError` where the value is no number."""
        value = math.inf if document["value"] is None else document["value"]
        if not isinstance(value, int | float):
            raise TypeError
        return cls(**{**document, "value": value})

    def verdict(self) -> str:
        """For a reader: the model, and whether it holds."""
        what = self.model
        if self.column is None:
            what = f"{what} {figure_of(self.model).asked}{self.threshold:,}"
        whose = "" if self.column is None else f" of {self.column!r}"
        return f"{what}{whose} {HOLDS if self.holds else FAILS}"

    def figure_text(self) -> str:
        """For a reader: what the table has."""
        said = figure_of(self.model)
        if math.isinf(self.value):
            return said.unbounded
        number = f"{self.value:,}" if isinstance(self.value, int) else figure(self.value)
        return said.text.format(number)


def verdicts(models: Sequence[ModelResult]) -> str:
    """Whether all models hold, in a few words.

    >>> verdicts([])
    'no model asked for'
    """
    failed = [result.model for result in models if not result.holds]
    if failed:
        return f"{FAILS}: {', '.join(dict.fromkeys(failed))}"
    return f"every model {HOLDS}" if models else "no model asked for"


def model_table(models: Sequence[ModelResult]) -> list[ShownTable]:
    """A row for each privacy model; nothing where there is none."""
    rows = [
        [
            result.model if result.column is None else f"{result.model} of {result.column}",
            f"{result.threshold:,}",
            result.figure_text(),
            f"{HOLDS_MARK} {HOLDS}" if result.holds else f"{FAILS_MARK} {FAILS}",
        ]
        for result in models
    ]
    return [ShownTable(rows, ["model", "asked for", "found", ""])] if rows else []


@dataclass(frozen=True, slots=True)
class SensitiveFigures:
    """Diversity and closeness of a sensitive attribute: the worst class decides.

    Args:
        values: Distinct values in the table.
        distinct_l: The l of distinct diversity that holds: fewest values in a class.
        entropy_l: That of entropy diversity: e to the least entropy of a class, 0 where a class
            has no value at all.
        recursive_c: By l the c above which recursive (c, l)-diversity holds, the greatest
            r_1 / (r_l + ... + r_m) of a class; infinite where a class has fewer than l values.
        t: By distance the greatest one of a class from the whole table.
        homogeneous_records: Records, or persons where these are counted, in classes with no more
            than one value, which therefore give the value of everybody in them away.
        shares: By key of a policy file the threshold that holds of a model which bounds the shares
            of values; infinite where none does.
    """

    values: int
    distinct_l: int
    entropy_l: float
    recursive_c: Mapping[int, float]
    t: Mapping[str, float]
    homogeneous_records: int
    shares: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `sensitive` in `check --json`."""
        return {
            "values": self.values,
            "distinct_l": self.distinct_l,
            "entropy_l": rounded(self.entropy_l),
            "recursive_c": {str(l): rounded(c) for l, c in self.recursive_c.items()},  # noqa: E741
            "t": {name: rounded(value) for name, value in self.t.items()},
            "homogeneous_records": self.homogeneous_records,
            **{key: rounded(value) for key, value in self.shares.items()},
        }

    def to_lines(self, column: str) -> list[str]:
        """For a reader."""
        ratios = ", ".join(
            f"recursive (c, {l}) "
            + ("fails for every c" if math.isinf(c) else f"for c above {figure(c)}")
            for l, c in self.recursive_c.items()  # noqa: E741
        )
        distances = ", ".join(f"{name} {figure(value)}" for name, value in self.t.items())
        shares = ", ".join(
            f"{key.replace('_', '-')} {figure(value)}" for key, value in self.shares.items()
        )
        return [
            f"sensitive {column!r}: {counted(self.values, 'value')}",
            f"  l-diversity     distinct {self.distinct_l:,}, entropy {figure(self.entropy_l)}, "
            f"{ratios}",
            f"  t-closeness     {distances}",
            f"  shares          {shares}",
        ]


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Persons of a table whose records can be joined, by how many have the same.

    A trajectory is the bag of combinations of quasi-identifiers that a person's records have.

    Args:
        entity: The column of the table that says whose record it is.
        sharing: Trajectories by the number of persons who share each.
    """

    entity: str
    sharing: ClassStatistics

    def to_dict(self, threshold: float = RISK_THRESHOLD) -> dict[str, Any]:
        """The key `trajectories` of the JSON documents."""
        return {
            "entity": self.entity,
            "persons": self.sharing.members,
            "trajectories": self.sharing.classes,
            "k": self.sharing.smallest,
            "unique_persons": self.sharing.unique,
            "risk_max": self.sharing.highest_risk,
            "risk_mean": self.sharing.mean_risk,
            "persons_at_risk": self.sharing.at_risk(threshold),
        }

    @property
    def unique_text(self) -> str:
        """For a reader: persons who are alone with their records."""
        alone = part_of(self.sharing.unique, self.sharing.members)
        return f"{alone} by all their records together"

    def to_lines(self, threshold: float) -> list[str]:
        """For a reader."""
        sharing = self.sharing
        return [
            f"  trajectories    {counted(sharing.classes, 'set')} of records of "
            f"{counted(sharing.members, 'person')}, since {self.entity!r} joins them: each "
            f"shared by at least {sharing.smallest:,}",
            f"                  risk highest {percent(sharing.highest_risk)}, mean "
            f"{percent(sharing.mean_risk)}; {counted(sharing.at_risk(threshold), 'person')} above "
            f"{percent(threshold)}",
        ]

    def notes(self) -> list[str]:
        """What a reader should know besides."""
        return [
            f"{self.entity!r} is in the table and joins the records of a person, so persons are "
            "counted by all their records together, too (trajectories); every other figure is "
            f"about single records, which is all that can be known once {self.entity!r} is dropped "
            f"(--drop {shell_word(self.entity)} when the table is published)"
        ]


@dataclass(frozen=True, slots=True, repr=False)
class CheckReport(SelfShown):
    """Equivalence classes, sensitive columns and models of a table as it stands.

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
        trajectories: Persons by all their records; None where nothing joins these.
        kept_columns: Whom columns single out that no model counts; None without any.
        findings: What `lint` finds about a table that is about to be published.
        provenance: What it was made of and when.
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
    trajectories: Trajectories | None = None
    kept_columns: KeptColumns | None = None
    findings: tuple[Finding, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def holds(self) -> bool:
        """Whether every model holds; true where there is none."""
        return all(result.holds for result in self.models)

    def to_dict(self) -> dict[str, Any]:
        """The document of `check --json`."""
        return {
            **self.provenance.head(),
            **self.statistics.to_dict(self.threshold),
            "quasi_identifiers": list(self.quasi_identifiers),
            "entity": self.entity,
            "trajectories": None
            if self.trajectories is None
            else self.trajectories.to_dict(self.threshold),
            "kept_columns": None if self.kept_columns is None else self.kept_columns.to_dict(),
            "sensitive": {name: figures.to_dict() for name, figures in self.sensitive.items()},
            "joint": {", ".join(names): count for names, count in self.joint.items()},
            "models": [result.to_dict() for result in self.models],
            "holds": self.holds,
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """Records, classes, and whether the models hold."""
        return f"{self.statistics.headline()}; {verdicts(self.models)}"

    def shown_tables(self) -> list[ShownTable]:
        """Models, risk, and what classes tell of sensitive columns."""
        statistics = self.statistics
        unit = "records" if self.entity is None else "persons"
        risk = [
            ["smallest class", f"{statistics.smallest:,}"],
            [f"unique {unit}", self._unique_text()],
            ["highest risk", percent(statistics.highest_risk)],
            ["mean risk", percent(statistics.mean_risk)],
            [
                f"{unit} with a risk above {percent(self.threshold)}",
                part_of(statistics.at_risk(self.threshold), statistics.members),
            ],
        ]
        sensitive = [
            [name, f"{one.values:,}", f"{one.distinct_l:,}", figure(one.entropy_l)]
            for name, one in self.sensitive.items()
        ]
        heads = ["sensitive column", "values", "distinct l", "entropy l"]
        diversity = [ShownTable(sensitive, heads)] if sensitive else []
        return [*model_table(self.models), ShownTable(risk), *diversity]

    def to_text(self) -> str:
        """A page for a reader."""
        statistics = self.statistics
        unit = "records" if self.entity is None else "persons"
        lines = [
            f"{counted(statistics.records, 'record')} in "
            f"{counted(statistics.classes, 'class', more='classes')} "
            f"by {', '.join(self.quasi_identifiers)}",
            *counted_by(self.entity),
            size_line(statistics),
            f"  unique {unit:<9}{self._unique_text()}",
            f"  risk            highest {percent(statistics.highest_risk)}, "
            f"mean {percent(statistics.mean_risk)}; {statistics.at_risk(self.threshold):,} {unit} "
            f"above {percent(self.threshold)}",
        ]
        if self.trajectories is not None:
            lines += self.trajectories.to_lines(self.threshold)
        for column, figures in self.sensitive.items():
            lines += figures.to_lines(column)
        for (one, other), count in self.joint.items():
            lines.append(f"sensitive {one!r} and {other!r} together: distinct l {count:,}")
        for result in self.models:
            lines.append(f"{result.verdict()}: the table has {result.figure_text()}")
        return finding_page(lines, self.notes, self.findings)

    def _unique_text(self) -> str:
        statistics = self.statistics
        if self.trajectories is None:
            return part_of(statistics.unique, statistics.members)
        alone = counted(statistics.unique, "class", more="classes")
        return f"{self.trajectories.unique_text}; {alone} of one person"


def counted_by(entity: str | None) -> list[str]:
    """For a reader: what classes and models count, where it is not records."""
    return [] if entity is None else [f"  {'counted':<16}persons by {entity!r}"]


def model_results(policy: Policy, statistics: ClassStatistics) -> tuple[ModelResult, ...]:
    """Whether the sizes of a table's classes satisfy the models of a policy that look at these."""
    results = []
    for model in policy.models:
        name, sizes = model.describe(), statistics.histogram
        if isinstance(model, KAnonymity):
            smallest = statistics.smallest
            results.append(ModelResult(name, model.k, smallest, smallest >= model.k))
        elif isinstance(model, SizeModel):
            holds = model.holds(sizes)
            results.append(ModelResult(name, model.threshold, model.figure(sizes), holds))
    return tuple(results)
