"""Re-identification risk in figures: whose record is found by what others know of a person.

Released classes are numbered j; class j holds f_j of the table's n records and F_j of the
population's N people. With an entity, f_j and F_j count persons, and a person who is in several
classes counts in each of them. Of a sample, records stand for as many people as they weigh.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.classes import ClassStatistics
from sqlanon.reports.check import Trajectories
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, page, size_line
from sqlanon.reports.estimates import PopulationEstimate
from sqlanon.reports.kept import MAX_LISTED, KeptColumns
from sqlanon.reports.special_uniques import SpecialUniques
from sqlanon.wording import counted, in_columns, many, part_of, percent

SETS_PER_SIZE = 3  # sets that a page shows of each size


@dataclass(frozen=True, slots=True)
class PopulationMatch:
    """The classes whose match in the population has one size.

    Args:
        size: F, the size of the population's classes [records or persons].
        classes: Population classes of that size.
        released: Released classes that match one of them.
        records: Records, or persons, in these released classes.
        unique: How many of these released classes hold a single one.
    """

    size: int
    classes: int
    released: int
    records: int
    unique: int


@dataclass(frozen=True, slots=True)
class PopulationRisk:
    """Risks for who searches a population that holds everybody of the table, and others.

    Args:
        matches: Classes by the size of their match.
        threshold: Risk above which a record counts as at risk, in (0, 1].
    """

    matches: tuple[PopulationMatch, ...]
    threshold: float

    @property
    def records(self) -> int:
        """n, records or persons of the table."""
        return sum(match.records for match in self.matches)

    @property
    def size(self) -> int:
        """N, people of the population."""
        return sum(match.size * match.classes for match in self.matches)

    @property
    def journalist_max(self) -> float:
        """1 / min F_j over released classes: the risk of the record that is easiest to find.

        The attacker does not know whether the person sought is in the table.

        Source: El Emam and Dankar 2008, "Protecting privacy using k-anonymity".
        """
        return 1 / min(match.size for match in self.matches if match.released)

    @property
    def journalist_mean(self) -> float:
        """(1/n) sum f_j / F_j: the mean over records of 1 / F_j.

        This is also the marketer risk: the share of all records that are expected to be matched
        rightly when each is matched with one of the people of its population class at random.
        With F_j = f_j, where the table itself is searched, it is classes over records.

        Source: Dankar and El Emam 2010, "A method for evaluating marketer re-identification risk".
        """
        # A sum that is rounded once does not depend on the order of classes.
        return math.fsum(m.records / m.size for m in self.matches if m.released) / self.records

    @property
    def at_risk(self) -> int:
        """Records with 1 / F_j above the threshold."""
        return sum(m.records for m in self.matches if m.released and 1 / m.size > self.threshold)

    @property
    def sample_uniques(self) -> int:
        """Released classes of one record."""
        return sum(match.unique for match in self.matches)

    @property
    def population_uniques(self) -> int:
        """Population classes of one person."""
        return sum(match.classes for match in self.matches if match.size == 1)

    @property
    def true_uniques(self) -> int:
        """Sample uniques that are unique in the population, too: whoever finds one is right.

        Source: Skinner and Elliot 2002, "A measure of disclosure risk for microdata".
        """
        return sum(match.unique for match in self.matches if match.size == 1)

    def to_dict(self) -> dict[str, Any]:
        """The key `population` of the JSON document."""
        uniques = self.sample_uniques
        return {
            "size": self.size,
            "classes": sum(match.classes for match in self.matches),
            "sampling_fraction": self.records / self.size,
            "journalist_max": self.journalist_max,
            "journalist_mean": self.journalist_mean,
            "records_at_risk": self.at_risk,
            "marketer": self.journalist_mean,
            "population_uniques": self.population_uniques,
            "sample_uniques": uniques,
            "sample_uniques_unique_in_population": self.true_uniques,
            "share_of_sample_uniques": self.true_uniques / uniques if uniques else 0.0,
        }

    def to_lines(self, unit: str) -> list[str]:
        """Lines for a reader."""
        n, uniques = self.records, self.sample_uniques
        lines = [
            f"  journalist      highest {percent(self.journalist_max)}, mean "
            f"{percent(self.journalist_mean)}; {unit} above {percent(self.threshold)}: "
            f"{part_of(self.at_risk, n)}",
            f"  marketer        {percent(self.journalist_mean)} of the {unit} can be matched "
            f"correctly with the {self.size:,} people of the population",
        ]
        if uniques:
            true = part_of(self.true_uniques, uniques)
            be = "is" if self.true_uniques == 1 else "are"
            lines.append(
                f"  true uniques    {true} of {uniques:,} {be} unique in the population, too"
            )
        return lines


@dataclass(frozen=True, slots=True)
class SubsetFigures:
    """Uniques and classes by a set of columns.

    Args:
        columns: The columns.
        classes: Combinations of their values.
        unique: Records, or persons, that are alone with one [records or persons].
        total: All records, or persons.
        pairs: Pairs of records, or persons, with the same combination; None where a person may
            have several combinations.
    """

    columns: tuple[str, ...]
    classes: int
    unique: int
    total: int
    pairs: int | None

    @property
    def uniqueness(self) -> float:
        """Share of the records, or persons, that are unique, in [0, 1].

        It never shrinks when a column is added: who is alone in a class stays alone in each part
        of it.

        Source: Sweeney 2000, "Simple demographics often identify people uniquely".
        """
        return self.unique / self.total

    @property
    def distinction(self) -> float | None:
        """Distinct ratio, in (0, 1]: classes over records.

        It is the largest share of the records that the columns are a key of.

        Source: Motwani and Xu 2007, "Efficient algorithms for masking and finding
        quasi-identifiers".
        """
        return None if self.pairs is None else self.classes / self.total

    @property
    def separation(self) -> float | None:
        """Separation ratio, in [0, 1]: share of the pairs of records that differ in a column.

        1 - sum f_j (f_j - 1) / (n (n - 1)); None where there is no pair.

        Source: Motwani and Xu 2007, as above.
        """
        all_pairs = self.total * (self.total - 1) // 2
        return None if self.pairs is None or not all_pairs else (all_pairs - self.pairs) / all_pairs

    @property
    def is_key(self) -> bool:
        """Whether every record, or person, is unique."""
        return self.unique == self.total

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `subsets` in the JSON document."""
        return {
            "columns": list(self.columns),
            "classes": self.classes,
            "unique": self.unique,
            "uniqueness": self.uniqueness,
            "distinction": self.distinction,
            "separation": self.separation,
            "key": self.is_key,
        }


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """Uniques by one column, alone and beside the others.

    Args:
        name: The column.
        values: Distinct values, NULL among them.
        unique: Records, or persons, that are alone with their value.
        lost: By how many fewer are unique under all columns once this one is left out.
        total: All records, or persons.
    """

    name: str
    values: int
    unique: int
    lost: int
    total: int

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `columns` in the JSON document."""
        return {
            "values": self.values,
            "unique": self.unique,
            "uniqueness": self.unique / self.total,
            "lost_without": self.lost,
            "lost_share": self.lost / self.total,
        }


@dataclass(frozen=True, slots=True)
class SubsetRisk:
    """Columns, and smallest sets of columns, that tell people apart.

    Args:
        identifying: Share of unique records, or persons, that makes a set identifying, in (0, 1].
        largest: Most columns of a set that was looked at.
        whole: All columns together.
        columns: Every column.
        minimal: Sets that identify while no smaller set within them does, smallest first.
        strongest: Of each size the sets with most uniques, without those that hold a smaller
            identifying set, unless every subset was asked for.
        looked_at: Sets of at most `largest` columns.
        implied: How many of these hold a smaller identifying set, which makes them identifying.
        every: All sets of at most `largest` columns, where asked for.
        budget: Most sets that `largest` was chosen for.
        search: `counted` sets, and frequency sets `rolled_up` to count them from.
    """

    identifying: float
    largest: int
    whole: SubsetFigures
    columns: tuple[ColumnFigures, ...]
    minimal: tuple[SubsetFigures, ...]
    strongest: tuple[SubsetFigures, ...]
    looked_at: int
    implied: int
    every: tuple[SubsetFigures, ...] | None = None
    budget: int = 0
    search: Mapping[str, int] = field(default_factory=dict)

    @property
    def possible(self) -> int:
        """Sets of at least one column."""
        return int(2 ** len(self.columns)) - 1

    @property
    def left_out(self) -> int:
        """Sets that have more columns than were looked at."""
        return self.possible - self.looked_at

    def to_dict(self) -> dict[str, Any]:
        """The keys `columns` and `subsets` of the JSON document."""
        strongest: dict[str, list[dict[str, Any]]] = {}
        for one in self.strongest:
            strongest.setdefault(str(len(one.columns)), []).append(one.to_dict())
        subsets: dict[str, Any] = {
            "identifying": self.identifying,
            "max_columns": self.largest,
            "max_sets": self.budget,
            "possible": self.possible,
            "looked_at": self.looked_at,
            "left_out": self.left_out,
            "implied": self.implied,
            "whole": self.whole.to_dict(),
            "minimal_identifying": [one.to_dict() for one in self.minimal],
            "most_identifying": strongest,
            "search": dict(self.search),
        }
        if self.every is not None:
            subsets["every"] = [one.to_dict() for one in self.every]
        return {"columns": {one.name: one.to_dict() for one in self.columns}, "subsets": subsets}

    def to_lines(self, unit: str) -> list[str]:
        """Lines for a reader, of "records" or "persons"."""
        return [*self._column_lines(unit), *self._minimal_lines(unit), *self._strongest_lines(unit)]

    def _column_lines(self, unit: str) -> list[str]:
        rows = [("", "values", "by it alone", "only with it")]
        for one in sorted(self.columns, key=lambda one: (-one.lost, -one.unique)):
            alone, lost = (part_of(count, one.total) for count in (one.unique, one.lost))
            rows.append((one.name, f"{one.values:,}", alone, lost))
        return [f"unique {unit} by column", *in_columns(rows, "<>>>")]

    def _minimal_lines(self, unit: str) -> list[str]:
        sets = f"{self.looked_at:,} of" if self.left_out else "all"
        limit = "1 column" if self.largest == 1 else f"{self.largest} columns"
        heading = (
            f"smallest sets of columns that make at least {percent(self.identifying)} of the "
            f"{unit} unique (of up to {limit}; {sets} {many(self.possible)} sets looked at)"
        )
        if not self.minimal:
            return [heading, f"  none{self._why_none(unit)}"]
        lines = _set_lines(self.minimal[:MAX_LISTED], unit)
        if len(self.minimal) > MAX_LISTED:
            lines.append(f"  and {len(self.minimal) - MAX_LISTED:,} more, which --json lists")
        return [heading, *lines]

    def _why_none(self, unit: str) -> str:
        if self.whole.uniqueness >= self.identifying:
            return " of this size"
        together = percent(self.whole.uniqueness)
        return f", nor any larger one: all columns together make {together} of the {unit} unique"

    def _strongest_lines(self, unit: str) -> list[str]:
        shown: list[SubsetFigures] = []
        for one in self.strongest:
            if sum(len(other.columns) == len(one.columns) for other in shown) < SETS_PER_SIZE:
                shown.append(one)
        if not shown:
            return []
        left_out = (
            "" if self.every is not None else ", except sets that contain a smaller identifying set"
        )
        heading = f"sets of each size with the most unique {unit}{left_out}"
        return [heading, *_set_lines(shown, unit)]


def _set_lines(sets: Sequence[SubsetFigures], unit: str) -> list[str]:
    rows = []
    for one in sets:
        key = f"  (a key: all {unit})" if one.is_key else ""
        rows.append((f"{one.unique:,}", percent(one.uniqueness), ", ".join(one.columns) + key))
    return in_columns(rows, ">><")


@dataclass(frozen=True, slots=True)
class Persons:
    """Persons of a table, by the size of their smallest class.

    A person who has records in several classes is as easy to find as in the smallest of them.

    Args:
        entity: The column that says whose record it is.
        records: Records of the table.
        histogram: `{size of a person's smallest class: persons}` [persons]; records that say
            nobody's are one person's.
    """

    entity: str
    records: int
    histogram: Mapping[int, int]

    @property
    def members(self) -> int:
        """Distinct persons."""
        return sum(self.histogram.values())

    @property
    def unique(self) -> int:
        """Persons who are alone in a class."""
        return self.histogram.get(1, 0)

    @property
    def mean_risk(self) -> float:
        """The mean over persons of 1 / the size of their smallest class."""
        return math.fsum(count / size for size, count in self.histogram.items()) / self.members

    def at_risk(self, threshold: float) -> int:
        """Persons whose risk is above a threshold."""
        return sum(count for size, count in self.histogram.items() if 1 / size > threshold)


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


@dataclass(frozen=True, slots=True, repr=False)
class RiskReport(SelfShown):
    """Re-identification risk of a table as it stands.

    Args:
        statistics: The equivalence classes; they count persons where `persons` is given.
        threshold: Risk above which a record counts as at risk, in (0, 1].
        quasi_identifiers: The columns that make the classes.
        subsets: Which columns tell people apart; None where not asked for.
        population: Risks against a population; None where none was given.
        estimate: What is estimated of a population by its size alone; None where none was given.
        uniques: Special uniques; None where sets of columns were not asked for or too many to count
            for so many records, and where persons are counted.
        persons: What counting persons found; None where records are counted.
        trajectories: Persons by all their records; None where nothing joins these.
        kept_columns: Whom columns single out that make no class; None without any.
        not_counted: The columns that make no class, by what they are.
        notes: What a reader should know besides.
        seconds: How long it took.
        weights: Individual risk by the weights of records; None without any.
        provenance: What it was made of and when.
    """

    statistics: ClassStatistics
    threshold: float
    quasi_identifiers: tuple[str, ...]
    subsets: SubsetRisk | None
    population: PopulationRisk | None
    persons: Persons | None
    notes: tuple[str, ...]
    seconds: float
    trajectories: Trajectories | None = None
    kept_columns: KeptColumns | None = None
    not_counted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    estimate: PopulationEstimate | None = None
    uniques: SpecialUniques | None = None
    weights: WeightedRisk | None = None
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def unit(self) -> str:
        """The unit that is counted: records or persons."""
        return "records" if self.persons is None else "persons"

    @property
    def by_unit(self) -> Persons | ClassStatistics:
        """Persons where they are counted, else records."""
        return self.persons or self.statistics

    def to_dict(self) -> dict[str, Any]:
        """The document of `risk --json`.

        `risk` is that of `check`, where a person counts once in every class. `risk.marketer` takes
        the table itself for the register that is searched, which bounds marketer risk against any
        population that holds it: F_j is at least f_j.
        """
        figures, by_unit = self.statistics.to_dict(self.threshold), self.by_unit
        risk = figures["risk"]
        risk["share_at_risk"] = risk["records_at_risk"] / self.statistics.members
        risk["marketer"] = risk["prosecutor_mean"]
        persons = None
        if self.persons is not None:
            persons = {
                "entity": self.persons.entity,
                "count": by_unit.members,
                "unique": by_unit.unique,
                "risk_mean": by_unit.mean_risk,
                "at_risk": by_unit.at_risk(self.threshold),
            }
        return {
            **self.provenance.head(),
            **figures,
            "records": by_unit.records,
            "unique_share": by_unit.unique / by_unit.members,
            "persons": persons,
            "trajectories": None
            if self.trajectories is None
            else self.trajectories.to_dict(self.threshold),
            "quasi_identifiers": list(self.quasi_identifiers),
            "population": None if self.population is None else self.population.to_dict(),
            "population_estimate": None if self.estimate is None else self.estimate.to_dict(),
            "weights": None if self.weights is None else self.weights.to_dict(),
            **({} if self.subsets is None else self.subsets.to_dict()),
            "suda": None if self.uniques is None else self.uniques.to_dict(),
            "kept_columns": None if self.kept_columns is None else self.kept_columns.to_dict(),
            "not_counted": {role: list(names) for role, names in self.not_counted.items()},
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """Classes, and the highest risk."""
        highest = percent(self.statistics.highest_risk)
        return f"{self.statistics.headline()}; highest risk {highest}"

    def shown_tables(self) -> list[ShownTable]:
        """Risks by attacker."""
        by_unit, population = self.by_unit, self.population
        rows = [
            [f"unique {self.unit}", part_of(by_unit.unique, by_unit.members)],
            ["prosecutor, highest", percent(self.statistics.highest_risk)],
            ["prosecutor, mean", percent(by_unit.mean_risk)],
            [
                f"{self.unit} with a risk above {percent(self.threshold)}",
                part_of(by_unit.at_risk(self.threshold), by_unit.members),
            ],
        ]
        if population is None:
            rows.append(["marketer, at most", percent(self.statistics.mean_risk)])
        else:
            rows.append(["journalist, highest", percent(population.journalist_max)])
            rows.append(["marketer", percent(population.journalist_mean)])
        if self.estimate is not None:
            rows.append(["journalist, estimated", percent(1 / self.estimate.k_map)])
        if self.weights is not None:
            rows += map(list, self.weights.rows(self.threshold))
        return [ShownTable(rows)]

    def to_text(self) -> str:
        """A page for a reader."""
        lines = self._class_lines()
        if self.population is not None:
            lines += self.population.to_lines(self.unit)
        if self.estimate is not None:
            lines += self.estimate.to_lines(self.unit)
        if self.weights is not None:
            rows = in_columns(self.weights.rows(self.threshold), "<<")
            basis = "as weights tell" if self.weights.weight else "each record as one of it"
            lines += [f"in the population, {basis}", *rows]
        if self.subsets is not None:
            lines += self.subsets.to_lines(self.unit)
        if self.uniques is not None:
            lines += self.uniques.to_lines()
        if self.kept_columns is not None:
            lines += self.kept_columns.to_lines()
        for role, names in self.not_counted.items():
            if names and role != "kept":
                lines.append(
                    f"not counted: {counted(len(names), f'{role} column')}: "
                    f"{', '.join(names[:MAX_LISTED])}{', ...' if names[MAX_LISTED:] else ''}"
                )
        return page(lines, self.notes)

    def _unique_text(self) -> str:
        alone = part_of(self.by_unit.unique, self.by_unit.members)
        if self.trajectories is None:
            return alone
        return f"{self.trajectories.unique_text}; {alone} by a single one"

    def _class_lines(self) -> list[str]:
        statistics, by_unit, unit = self.statistics, self.by_unit, self.unit
        whose = "" if self.persons is None else f" of {counted(by_unit.members, 'person')}"
        lines = [
            f"{counted(by_unit.records, 'record')}{whose} in "
            f"{counted(statistics.classes, 'class', more='classes')} "
            f"by {', '.join(self.quasi_identifiers)}",
            size_line(statistics),
            f"  unique {unit}  {self._unique_text()}",
            f"  prosecutor      highest {percent(statistics.highest_risk)}, mean "
            f"{percent(by_unit.mean_risk)}; {unit} above {percent(self.threshold)}: "
            f"{part_of(by_unit.at_risk(self.threshold), by_unit.members)}",
        ]
        if self.trajectories is not None:
            lines += self.trajectories.to_lines(self.threshold)
        if self.population is None:
            marketer = percent(statistics.mean_risk)
            by = "" if self.trajectories is None else " by single records"
            lines.append(
                f"  marketer        at most {marketer} of the {unit} can be matched correctly{by}"
            )
        return lines
