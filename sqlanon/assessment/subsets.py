"""Risk by subset of columns: one pass over their lattice, counted in the database.

A set of columns is a whole number whose bit i stands for column i. Frequency sets are rolled up
from larger sets of columns to smaller ones, depth first: a set is split by its column of most
values, the part without that column is rolled up and looked at first, so that every set is
counted after the sets within it. Two facts prune: whoever is alone in a class is alone in every
part of it, so what holds an identifying set identifies, and what lies within a set without uniques
has none.

Source: Agarwal et al. 1996, "On the computation of multidimensional aggregates" (smallest parent);
Huhtala et al. 1999, "TANE" (pruning of keys).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import combinations, groupby
from operator import and_, or_

from sqlglot import exp

from sqlanon.assessment.codes import Subset, SubsetCodes, members
from sqlanon.classes import IDENTIFYING_SHARE, RISK_THRESHOLD
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.progress import tell
from sqlanon.query import encode
from sqlanon.query.assess import risk
from sqlanon.query.classes import frequency
from sqlanon.reports.risk import ColumnFigures, SubsetFigures, SubsetRisk
from sqlanon.wording import many

DEFAULT_SETS = 2_000  # sets that the default number of columns keeps within
MAX_SETS = 200_000  # sets; more are refused
MAX_LISTED = 10  # sets listed of each size

SMALL_SOURCE_ROWS = 60_000  # rows up to which asking once for many sets is faster
MAX_GROUPS = 1_000_000  # groups of one aggregation, as far as one set allows
SHRUNK = 0.8  # rows of a roll-up over rows of its source, at most, for it to pay
WRITING = 3  # how many rows are counted in the time that one is rolled up
STATEMENTS = 130_000  # how many rows are counted in the time that a roll-up's statements start


@dataclass(frozen=True, slots=True)
class RiskOptions:
    """Thresholds of a table's risk, and the sets of columns to look at.

    Args:
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        max_columns: Most columns of a set that is looked at; 0 for none, None for as many as keep
            the sets within `max_sets`.
        max_sets: Most sets that are looked at; the largest sizes are left out first, single columns
            never. None for `DEFAULT_SETS`, or all of at most `max_columns` where given.
        every_subset: Whether every set of at most so many columns is counted and listed.
        population_size: People that the table is a sample of [people]; None where not known.
        sampling_fraction: Share of them in the table, in (0, 1], in place of their number.

    Raises:
        PolicyError: A figure out of range.
    """

    threshold: float = RISK_THRESHOLD
    identifying: float = IDENTIFYING_SHARE
    max_columns: int | None = None
    max_sets: int | None = None
    every_subset: bool = False
    population_size: int | None = None
    sampling_fraction: float | None = None

    def __post_init__(self) -> None:
        faults = [
            f"{name} {value!r} is not a share above 0 and at most 1"
            for name, value in (
                ("risk threshold", self.threshold),
                ("identifying share", self.identifying),
                ("sampling fraction", self.sampling_fraction),
            )
            if value is not None and not 0 < value <= 1
        ]
        if self.population_size is not None and self.sampling_fraction is not None:
            faults.append("the size of the population follows from the sampling fraction; give one")
        most, sets = self.max_columns, self.max_sets
        if most is not None and most < 0:
            faults.append(f"max_columns {most!r} is not a whole number of at least 0")
        elif most == 0 and self.every_subset:
            faults.append("no set has 0 columns; leave every_subset out, or raise max_columns")
        if sets is not None and not 1 <= sets <= MAX_SETS:
            faults.append(f"max_sets {sets!r} is not a whole number from 1 to {MAX_SETS:,}")
        if faults:
            raise PolicyError("; ".join(faults))

    @property
    def budget(self) -> int:
        """Most sets that are looked at, however many columns there are."""
        if self.max_sets is not None:
            return self.max_sets
        return DEFAULT_SETS if self.max_columns is None else MAX_SETS

    def largest(self, columns: int) -> int:
        """Most columns of a set, for so many quasi-identifiers.

        Raises:
            PolicyError: There are too many such sets.
        """
        if self.max_columns is None:
            return largest_within(columns, self.max_sets or DEFAULT_SETS)
        largest = min(self.max_columns, columns)
        if self.max_sets is not None:
            return min(largest, largest_within(columns, self.max_sets))
        sets = number_of_subsets(columns, largest)
        if sets > MAX_SETS:
            raise PolicyError(
                f"{columns} columns have {many(sets)} sets of at most {largest}, more than "
                f"{MAX_SETS:,}; lower max_columns (--max-columns), or let max_sets (--max-sets) "
                "choose it"
            )
        return largest


def subset_risk(
    engine: Engine, coded: SubsetCodes, *, options: RiskOptions, largest: int
) -> SubsetRisk:
    """Uniques of every set of at most so many columns, and the smallest sets that identify."""
    counter = SubsetCounter(
        engine, coded, options, needed_uniques(options.identifying, coded.total)
    )
    wanted = list(subsets_up_to(len(coded.names), largest))
    counter.run(wanted)
    return counter.report(wanted, largest)


def needed_uniques(identifying: float, total: int) -> int:
    """How many uniques a share of all is, at least; a share is the decimal number as written."""
    return max(math.ceil(Fraction(str(identifying)) * total), 1)


def largest_within(columns: int, sets: int = DEFAULT_SETS) -> int:
    """The most columns of a set for which all sets stay within so many, at least one.

    >>> [largest_within(columns) for columns in (4, 10, 12, 15, 30, 300)]
    [4, 10, 5, 4, 2, 1]
    >>> largest_within(300, 50_000)
    2
    """
    largest, counted = 1, columns
    while largest < columns:
        counted += math.comb(columns, largest + 1)
        if counted > sets:
            break
        largest += 1
    return largest


def number_of_subsets(columns: int, largest: int) -> int:
    """How many sets have at least one column and no more than so many."""
    return sum(math.comb(columns, size) for size in range(1, largest + 1))


def subsets_up_to(columns: int, largest: int) -> Iterator[Subset]:
    """All sets of at most so many columns: small ones first, then in the order of columns."""
    for size in range(1, largest + 1):
        for chosen in combinations(range(columns), size):
            yield sum(1 << number for number in chosen)


def minimal(subsets: Iterable[Subset]) -> list[Subset]:
    """The sets that hold no other, in the order of `subsets_up_to`.

    >>> minimal([0b111, 0b011, 0b100])
    [4, 3]
    """
    result: list[Subset] = []
    for subset in sorted(subsets, key=lambda one: (one.bit_count(), members(one))):
        if not any(other & subset == other for other in result):
            result.append(subset)
    return result


@dataclass(frozen=True, slots=True)
class Counts:
    """Classes of a set of columns, who is alone in one, and the squared class sizes."""

    classes: int
    unique: int
    squares: int


@dataclass(frozen=True, slots=True)
class SubsetCounts:
    """Classes of a set of columns, a table of so many rows in the shape of the coded table."""

    subset: Subset
    table: exp.Table
    rows: int


@dataclass(slots=True)
class SubsetCounter:
    """Counts the classes of sets of columns, several per query.

    Args:
        coded: The frequency set of all columns.
        options: Whether nothing is pruned.
        needed: Uniques that make a set identifying.
        counts: Classes and uniques of the sets counted.
        known: Sets that identify, and hold no smaller one.
        rolled_up: Number of frequency sets written.
    """

    engine: Engine
    coded: SubsetCodes
    options: RiskOptions
    needed: int
    counts: dict[Subset, Counts] = field(default_factory=dict)
    known: list[Subset] = field(default_factory=list)
    rolled_up: int = 0
    _sought: int = 0

    def run(self, wanted: Sequence[Subset]) -> None:
        """Counts all columns, with and without each, single columns and the wanted sets.

        What is not counted then lies within a set without uniques, or holds an identifying set.
        """
        whole = self.coded.whole
        base = SubsetCounts(whole, self.coded.table, self.coded.rows)
        singles = [1 << number for number in range(len(self.coded.names))]
        others = [whole & ~single for single in singles if whole != single]
        self._sought = len({*wanted, *singles, *others, whole})
        self._count([whole], base)
        if self._is_barren(whole):
            return
        self._count([one for one in dict.fromkeys([*singles, *others]) if one != whole], base)
        self._learn(singles)
        barren = [one for one in others if self._is_barren(one)]
        still = [one for one in wanted if not any(one & wide == one for wide in barren)]
        self._walk([one for one in still if one not in self.counts], base)

    def _walk(self, wanted: Sequence[Subset], source: SubsetCounts, *, seen: int = 0) -> None:
        """Counts subsets of a frequency set's columns, each after the sets within it.

        Args:
            wanted: The subsets.
            source: The frequency set.
            seen: How many of the known identifying sets none of the subsets holds.
        """
        tried = source.subset
        with self.engine.workspace():
            while wanted := self._open(wanted, seen):
                seen = len(self.known)
                joined = reduce(or_, wanted)
                worthwhile = _is_worthwhile(len(wanted), source.rows)
                if worthwhile and joined != tried and not self._is_wide(joined, source.rows):
                    source, tried = self._narrowed(source, joined), joined
                    if self._is_barren(joined):
                        return
                column = self._divider(joined, wanted)
                if column is None or not worthwhile:
                    self._count_open(wanted, source, seen=seen)
                    return
                self._walk([one for one in wanted if not one & column], source, seen=seen)
                wanted = [one for one in wanted if one & column]

    def _count_open(self, wanted: Sequence[Subset], source: SubsetCounts, *, seen: int) -> None:
        """Counts sets; of a large source none that holds another one which turns out to identify.

        From a small source, asking once for all is faster than asking again for fewer.
        """
        alike = groupby(wanted, key=int.bit_count if source.rows > SMALL_SOURCE_ROWS else bool)
        for _, sets in alike:
            still = self._open(list(sets), seen)
            self._count(still, source)
            self._learn(still)

    def _open(self, wanted: Sequence[Subset], seen: int) -> Sequence[Subset]:
        """The sets that hold no identifying set, as far as that is known."""
        news = self.known[seen:]
        if self.options.every_subset or not news:
            return wanted
        return [one for one in wanted if not any(known & one == known for known in news)]

    def _is_barren(self, subset: Subset) -> bool:
        """Whether the counts of all sets within a set may be left out: nobody is unique."""
        return not self.options.every_subset and not self.counts[subset].unique

    def _divider(self, joined: Subset, wanted: Sequence[Subset]) -> Subset | None:
        """The column of most values that some of the sets have and others have not."""
        common = reduce(and_, wanted)
        columns = members(joined & ~common)
        if not columns:
            return None
        return 1 << max(columns, key=lambda number: (self.coded.values[number], -number))

    def _is_wide(self, subset: Subset, rows: int) -> bool:
        """Whether a set of columns surely has most of so many classes: those of a set within it."""
        return any(
            counts.classes > SHRUNK * rows and one & subset == one
            for one, counts in self.counts.items()
        )

    def _narrowed(self, source: SubsetCounts, subset: Subset) -> SubsetCounts:
        """The frequency set of fewer columns, or the source where it is not much smaller."""
        masks = self.coded.masks(subset)
        kept = masks if self.coded.person is None else (*masks, -1)
        table = self.engine.materialize("frequency", frequency.roll_up(source.table, kept))
        self.rolled_up += 1
        if subset not in self.counts:
            self._sought += 1
        self._count([subset], SubsetCounts(subset, table, source.rows))
        rows = self.counts[subset].classes
        if self.coded.person is not None:
            rows = self.engine.rows(encode.extent(table))[0][0]
        return SubsetCounts(subset, table, rows) if rows <= SHRUNK * source.rows else source

    def _count(self, wanted: Sequence[Subset], source: SubsetCounts) -> None:
        """Counts sets from a frequency set."""
        for batch in frequency.in_parts(wanted, source.rows, most=MAX_GROUPS):
            masks = list(map(self.coded.masks, batch))
            query = risk.subset_counts(source.table, masks, person=self.coded.person)
            for position, *figures in self.engine.rows(query):
                self.counts[batch[position]] = Counts(*figures)
            done = "1 set" if len(self.counts) == 1 else f"{len(self.counts):,} sets"
            line = f"sets of columns: {done} counted of at most {self._sought:,}"
            tell(line, len(self.counts) / max(self._sought, 1))

    def _learn(self, counted: Sequence[Subset]) -> None:
        """Notes which sets identify; sets within others come first."""
        for subset in counted:
            if self.counts[subset].unique >= self.needed and self._open([subset], 0):
                self.known.append(subset)

    def report(self, wanted: Sequence[Subset], largest: int) -> SubsetRisk:
        """What was counted of the wanted sets, in whatever order."""
        options, coded = self.options, self.coded
        counted = [one for one in wanted if one in self.counts]
        smallest = minimal(one for one in counted if self._unique(one) >= self.needed)
        implied = {one for one in wanted if any(s != one and s & one == s for s in smallest)}
        ranked = counted if options.every_subset else [one for one in counted if one not in implied]
        return SubsetRisk(
            identifying=options.identifying,
            largest=largest,
            whole=self._figures(coded.whole),
            columns=tuple(self._column(number) for number in range(len(coded.names))),
            minimal=tuple(map(self._figures, smallest)),
            strongest=tuple(map(self._figures, self._strongest(ranked, largest))),
            looked_at=len(wanted),
            budget=options.budget,
            implied=len(implied),
            every=tuple(map(self._figures, wanted)) if options.every_subset else None,
            search={"counted": len(self.counts), "rolled_up": self.rolled_up},
        )

    def _strongest(self, ranked: Sequence[Subset], largest: int) -> list[Subset]:
        """Of every size the sets with most uniques."""
        chosen: list[Subset] = []
        for size in range(1, largest + 1):
            sets = [one for one in ranked if one.bit_count() == size and self._unique(one)]
            sets.sort(key=lambda one: (-self._unique(one), -self.counts[one].classes, members(one)))
            chosen += sets[:MAX_LISTED]
        return chosen

    def _unique(self, subset: Subset) -> int:
        # Of these sets, those that were not counted lie within one without uniques.
        counts = self.counts.get(subset)
        return 0 if counts is None else counts.unique

    def _figures(self, subset: Subset) -> SubsetFigures:
        coded, counts = self.coded, self.counts[subset]
        names = tuple(coded.names[number] for number in members(subset))
        pairs = (counts.squares - coded.total) // 2 if coded.person is None else None
        return SubsetFigures(names, counts.classes, counts.unique, coded.total, pairs)

    def _column(self, number: int) -> ColumnFigures:
        coded, subset = self.coded, 1 << number
        rest = coded.whole & ~subset
        # Without any column all are in one class.
        without = self._unique(rest) if rest else int(coded.total == 1)
        lost = self._unique(coded.whole) - without
        name, values = coded.names[number], coded.values[number]
        return ColumnFigures(name, values, self._unique(subset), lost, coded.total)


def _is_worthwhile(sets: int, rows: int) -> bool:
    """Whether a roll-up to half the rows saves more than it costs."""
    return sets * rows > 2 * (STATEMENTS + WRITING * rows)
