"""Inner column: the best recoding of one column along its units, given those of all others.

Blocks whose units follow each other are all that `ops`, `gops`, `ghs` and `bhs` allow, and some of
those of `sps` and `gsps`, whose others `siblings` looks at. The best partition into such blocks
comes by dynamic programming over its borders, for many recodings of the other columns at a time.

The classes of such blocks are differences of sums over all units before a border, so that neither
memory nor time grows with the units of a block. The sums are whole numbers that floats hold
exactly. The prices of a block's own cells are the same for all of its units, but for losses that
differ by value, where they are worked out for a window of the units at a time.

Where some records may be suppressed, but not all, the cheapest partition may suppress too many;
`within` carries along every partition that no other beats in both cost and suppressed records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.policy.schemes import ORDERED
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Block, Branch, Domain, Partition, partition_of
from sqlanon.search.lattice.schemes.scheme_problem import SchemeProblem, classes_of

FIGURES_AT_ONCE = 4_000_000
"""Figures of blocks and classes that are held at a time."""


@dataclass(frozen=True, slots=True)
class Slices:
    """The classes of all other columns, by the units of one; of several recodings side by side.

    Args:
        sizes: `sizes[unit, class]` [records].
        prices: What their cells in the other columns cost, likewise; None for a loss of classes.
        values: Per model beyond k `values[unit, class, value]` [records].
        starts: The first class of each recoding.
    """

    sizes: Reals
    prices: Reals | None
    values: tuple[Reals, ...]
    starts: Numbers

    def least(self, problem: SchemeProblem) -> Reals:
        """What each recoding of the other columns costs at least, by unit and recoding."""
        figures = self.prices
        if figures is None:
            figures = self.sizes * np.maximum(self.sizes, problem.k)
        return summed(figures, self.starts)

    def fewest_lost(self, problem: SchemeProblem, coarsest: Partition) -> Reals:
        """Records that each recoding suppresses at least, whatever becomes of the units [records].

        They are those of classes below k where the units are as general as may be.

        Args:
            problem: The table.
            coarsest: The most general recoding of the units.
        """
        blocks = np.arange(max(coarsest) + 1)[:, np.newaxis] == np.array(coarsest)
        sizes = blocks.astype(float) @ self.sizes
        lost: Reals = summed(np.where(sizes < problem.k, sizes, 0.0), self.starts).sum(axis=0)
        return lost

    def only(self, recodings: Numbers) -> Slices:
        """The classes of some of the recodings, by their numbers, ascending."""
        ends = np.append(self.starts[1:], self.sizes.shape[1])
        lengths = (ends - self.starts)[recodings]
        there = np.concatenate(
            [np.arange(self.starts[r], ends[r]) for r in recodings.tolist()]
            or [np.empty(0, np.int64)]
        )
        return Slices(
            self.sizes[:, there],
            None if self.prices is None else self.prices[:, there],
            tuple(counts[:, there] for counts in self.values),
            np.cumsum(lengths) - lengths,
        )


@dataclass(frozen=True, slots=True)
class Costs:
    """What blocks cost: `cost[block, recoding]`, and the records that they suppress likewise."""

    cost: Reals
    lost: Reals

    @classmethod
    def of(cls, problem: SchemeProblem, classes: Slices) -> Costs:
        """What blocks cost whose classes these are, by block in place of a unit.

        Args:
            problem: The table.
            classes: Theirs; their prices are what all of their cells cost if they are published.
        """
        sizes, priced = classes.sizes, classes.prices
        assert priced is not None
        kept = sizes >= problem.k
        demands = problem.demands.every if problem.demands else ()
        for demand, values in zip(demands, classes.values, strict=True):
            whole = values.astype(np.int64).reshape(-1, values.shape[2])
            kept &= demand.holds(whole).reshape(sizes.shape)
        lost = np.where(kept, 0.0, sizes)
        cost = np.where(kept, priced, sizes * problem.whole)
        return cls(summed(cost, classes.starts), summed(lost, classes.starts))

    @classmethod
    def joined(cls, parts: Sequence[Costs]) -> Costs:
        """The costs of some blocks and of those that follow them."""
        cost, lost = zip(*((part.cost, part.lost) for part in parts), strict=True)
        return cls(np.concatenate(cost), np.concatenate(lost))


def block_costs(
    problem: SchemeProblem, column: int, slices: Slices, *, members: Flags, leaves: Numbers
) -> Costs:
    """What blocks of a column cost in each recoding of the other columns.

    Args:
        problem: The table.
        column: Number of the column.
        slices: The classes of the other columns.
        members: `members[block, unit]`: whether the block has the unit.
        leaves: Leaves that each block stands for.
    """
    step = max(1, FIGURES_AT_ONCE // max(slices.sizes.shape[1], 1))
    block_price = problem.block_prices(column, members, leaves=leaves)
    parts = []
    for start in range(0, len(members), step):
        rows = slice(start, start + step)
        units = members[rows].astype(float)
        sizes = units @ slices.sizes
        values = tuple(
            (units @ counts.reshape(len(counts), -1)).reshape(*sizes.shape, -1)
            for counts in slices.values
        )
        if slices.prices is None:
            priced = sizes * sizes
        else:
            priced = units @ slices.prices + block_price[rows].astype(float) @ slices.sizes
        parts.append(Costs.of(problem, Slices(sizes, priced, values, slices.starts)))
    return Costs.joined(parts)


def summed(figures: Reals, starts: Numbers) -> Reals:
    """Figures of classes added up by recoding."""
    if len(starts) == 1:
        whole: Reals = figures.sum(axis=1, keepdims=True)
        return whole
    sums: Reals = np.add.reduceat(figures, starts, axis=1)
    return sums


MAX_CLASS_BYTES = 2**30
"""Memory for the classes of all columns but one, where no limit is given [bytes]."""


class OutOfRoomError(Exception):
    """The classes of all columns but one are too many to be held by the units of that one."""


@dataclass(frozen=True, slots=True)
class Recodings:
    """Recodings of a column side by side.

    Args:
        column: Number of the column.
        labels: `labels[recoding, unit]`: the block of each unit.
        prices: `prices[recoding, unit]`: the price of a cell; None for a loss of classes.
    """

    column: int
    labels: Numbers
    prices: Numbers | None

    @classmethod
    def of(
        cls, problem: SchemeProblem, column: int, *, partitions: Sequence[Partition]
    ) -> Recodings:
        """Recodings of a column of a problem."""
        prices = None
        if problem.prices is not None:
            prices = np.stack([problem.cell_prices(column, partition) for partition in partitions])
        return cls(column, np.array(partitions, np.int64), prices)

    def __len__(self) -> int:
        return len(self.labels)

    def only(self, numbers: slice) -> Recodings:
        """Some of them."""
        prices = None if self.prices is None else self.prices[numbers]
        return Recodings(self.column, self.labels[numbers], prices)

    def partition(self, number: int) -> Partition:
        """One of them."""
        return tuple(self.labels[number].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class PartlyRecoded:
    """Distinct combinations of the groups of recoded columns and the units of all others.

    Args:
        problem: The table.
        group: Per row the class of the recoded columns, from 0 without gaps.
        units: `units[row, column]`; those of recoded columns do not count.
        sizes: Records of each row [records].
        prices: What the cells of recoded columns cost, per row.
        values: `values[row, attribute]`: the sensitive value, -1 where it does not count.
        room: Memory for the classes of all columns but one [bytes].
    """

    problem: SchemeProblem
    group: Numbers
    units: Numbers
    sizes: Reals
    prices: Reals
    values: Numbers
    room: int = MAX_CLASS_BYTES

    @classmethod
    def of(cls, problem: SchemeProblem, room: int = MAX_CLASS_BYTES) -> PartlyRecoded:
        """A table without a recoded column."""
        count = len(problem.sizes)
        values = problem.demands.values if problem.demands else np.empty((count, 0), np.int64)
        nothing = np.zeros(count, np.int64)
        sizes = problem.sizes.astype(float)
        return cls(problem, nothing, problem.units, sizes, np.zeros(count), values, room)

    def least(self, left: Sequence[int]) -> float:
        """What every recoding of the columns left makes the whole cost at least."""
        if self.problem.prices is not None:
            return float(self.prices.sum())
        sizes = self._sizes([self.group, *(self.units[:, column] for column in left)])
        return float((sizes * np.maximum(sizes, self.problem.k)).sum())

    def _sizes(self, labels: Sequence[Numbers]) -> Reals:
        """Records per class by some labels of each row [records]."""
        group = classes_of(labels, [int(label.max()) + 1 for label in labels])
        return _sums(group, self.sizes)

    def recoded(self, recodings: Recodings, number: int, *, left: Sequence[int]) -> PartlyRecoded:
        """The rows with one column more recoded, those alike as one.

        Args:
            recodings: Recodings of the column.
            number: Which of them.
            left: The columns that are recoded later.
        """
        units = self.units[:, recodings.column]
        labels = [self.group, recodings.labels[number][units]]
        group = classes_of(labels, [int(label.max()) + 1 for label in labels])
        keys = [group, *(self.units[:, c] for c in left), *(self.values + 1).T]
        alike = classes_of(keys, [int(key.max()) + 1 for key in keys])
        first = np.zeros(int(alike.max()) + 1, np.int64)
        first[alike] = np.arange(len(alike))
        prices = self.prices
        if recodings.prices is not None:
            prices = prices + self.sizes * recodings.prices[number][units]
        return PartlyRecoded(
            self.problem,
            group[first],
            self.units[first],
            _sums(alike, self.sizes),
            _sums(alike, prices),
            self.values[first],
            self.room,
        )

    def fewest_lost(self, left: Sequence[int]) -> float:
        """Records that are suppressed whatever becomes of the columns left, at least [records].

        They are those of classes below k where these columns are as general as may be.
        """
        domains = self.problem.domains
        labels = [self.group, *(np.array(domains[c].coarsest)[self.units[:, c]] for c in left)]
        sizes = self._sizes(labels)
        return float(sizes[sizes < self.problem.k].sum())

    def sliced(self, inner: int, recodings: Recodings) -> Slices:
        """The classes of all columns but one, by the units of that, for recodings of the last.

        Args:
            inner: The column that is not recoded.
            recodings: Recodings of the only other column that is not recoded yet.

        Raises:
            OutOfRoomError: There are too many classes.
        """
        number, units = len(recodings), self.units[:, recodings.column]
        labels = [
            np.repeat(np.arange(number), len(units)),
            np.tile(self.group, number),
            recodings.labels[:, units].ravel(),
        ]
        group = classes_of(labels, [int(label.max()) + 1 for label in labels])
        prices = None
        if recodings.prices is not None:
            prices = (self.prices + self.sizes * recodings.prices[:, units]).ravel()
        starts = group.reshape(number, -1).min(axis=1)
        return self._slices(inner, group, prices=prices, starts=starts)

    def slices(self, inner: int) -> Slices:
        """The classes of all columns but one, by the units of that, where all are recoded.

        Raises:
            OutOfRoomError: There are too many classes.
        """
        prices = None if self.problem.prices is None else self.prices
        return self._slices(inner, self.group, prices=prices, starts=np.zeros(1, np.int64))

    def _slices(
        self, inner: int, group: Numbers, *, prices: Reals | None, starts: Numbers
    ) -> Slices:
        problem, classes, times = self.problem, int(group.max()) + 1, len(group) // len(self.sizes)
        units = problem.domains[inner].units
        demands = problem.demands.every if problem.demands else ()
        figures = 2 + sum(len(demand.table) for demand in demands)
        if 8 * units * classes * figures > self.room:
            raise OutOfRoomError
        key = np.tile(self.units[:, inner], times) * classes + group
        sizes = np.tile(self.sizes, times)
        values = []
        for demand in demands:
            width, value = len(demand.table), np.tile(self.values[:, demand.attribute], times)
            there = value >= 0
            keys = key[there] * width + value[there]
            counts = _sums(keys, sizes[there], numbers=units * classes * width)
            values.append(counts.reshape(units, classes, width))
        shape = units, classes
        return Slices(
            _sums(key, sizes, numbers=units * classes).reshape(shape),
            None if prices is None else _sums(key, prices, numbers=units * classes).reshape(shape),
            tuple(values),
            starts,
        )


def slices_of(
    problem: SchemeProblem,
    recoding: Sequence[Partition],
    *,
    column: int,
    room: int = MAX_CLASS_BYTES,
) -> Slices:
    """The classes of all columns but one, by the units of that, where the others are recoded.

    Raises:
        OutOfRoomError: There are too many classes.
    """
    rows = PartlyRecoded.of(problem, room)
    labels, prices = [rows.group], rows.prices
    for other, partition in enumerate(recoding):
        if other != column:
            units = problem.units[:, other]
            labels.append(np.array(partition)[units])
            prices = prices + rows.sizes * problem.cell_prices(other, partition)[units]
    group = classes_of(labels, [int(label.max()) + 1 for label in labels])
    return replace(rows, group=group, prices=prices).slices(column)


def _sums(number: Numbers, figures: Reals, *, numbers: int = 0) -> Reals:
    """The sum of the figures of each number; of all up to a number, where one is given."""
    return np.bincount(number, figures, numbers).astype(np.float64, copy=False)


WINDOWED = 256
"""Blocks that follow each other, whose cells are priced in one window of the units."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Blocks of units that follow each other.

    Args:
        first: The first unit of each.
        last: One more than the last unit of each.
        leaves: The leaves that each stands for.
        levels: For `bhs` the first block of each level, and one more than the last; else empty.
    """

    first: Numbers
    last: Numbers
    leaves: Numbers
    levels: tuple[int, ...] = ()

    @classmethod
    def of(cls, domain: Domain) -> Runs:
        """Those of a column's scheme; all of its blocks, where the scheme is ordered.

        Every partition of the units into such blocks is a recoding of the scheme; of `bhs`, whose
        levels follow each other, each level is.
        """
        levels: tuple[int, ...] = ()
        if domain.scheme == "bhs":
            parts = [_level(level.partition, level.spans) for level in domain.levels]
            levels = (0, *np.cumsum([len(first) for first, _, _ in parts]).tolist())
        else:
            inner = [branch for root in domain.roots for branch in root.inner()]
            parts = [_units(domain), *(_merged(branch, domain.scheme) for branch in inner)]
        first, last, leaves = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return cls(first, last, leaves, levels)

    def __len__(self) -> int:
        return len(self.first)

    def block(self, number: int) -> Block:
        """The units of one of them."""
        return tuple(range(int(self.first[number]), int(self.last[number])))

    def ending(self, units: int) -> tuple[Numbers, ...]:
        """Per unit the numbers of the blocks that end with it, ascending."""
        order = np.argsort(self.last, kind="stable")
        borders = np.searchsorted(self.last[order], np.arange(2, units + 1))
        return tuple(np.split(order, borders))


_Parts = tuple[Numbers, Numbers, Numbers]
"""First units, one more than the last ones, and leaves of some blocks."""


def _level(partition: Sequence[int], spans: Sequence[tuple[int, int]]) -> _Parts:
    """The blocks of a level."""
    borders = np.flatnonzero(np.diff(partition)) + 1
    leaves = np.diff(np.array(spans)).ravel()
    return np.append(0, borders), np.append(borders, len(partition)), leaves


def _units(domain: Domain) -> _Parts:
    """The units of a column, each a block."""
    spans = np.array([branch.lowest_span for root in domain.roots for branch in _single(root)])
    numbers = np.arange(domain.units)
    return numbers, numbers + 1, spans[:, 1] - spans[:, 0]


def _single(branch: Branch) -> Iterator[Branch]:
    """The subtrees of a branch that have no children, in their order."""
    if not branch.children:
        yield branch
    for child in branch.children:
        yield from _single(child)


def _merged(branch: Branch, scheme: str) -> _Parts:
    """The blocks of two or more child subtrees of a branch."""
    if scheme == "ghs":
        start, end = branch.lowest_span
        return np.array([branch.first]), np.array([branch.last]), np.array([end - start])
    figures = [(child.first, child.last, *child.span) for child in branch.children]
    first, last, start, end = np.array(figures).T
    one, other = np.triu_indices(len(figures), 1)
    if scheme in ORDERED:
        return first[one], last[other], end[other] - start[one]
    before = np.append(0, np.cumsum(end - start))  # leaves between subtrees stay by themselves
    return first[one], last[other], before[other + 1] - before[one]


@dataclass(frozen=True, slots=True)
class Recoded:
    """A recoding of the inner column, with what the whole recoding costs and suppresses."""

    cost: float
    lost: float
    partition: Partition


@dataclass(frozen=True, slots=True)
class Part:
    """Blocks of some units, with what they cost and suppress."""

    cost: float
    lost: float
    blocks: tuple[Block, ...] = ()

    def plus(self, other: Part) -> Part:
        """Both together."""
        blocks = (*self.blocks, *other.blocks)
        return Part(self.cost + other.cost, self.lost + other.lost, blocks)

    def recoded(self) -> Recoded:
        """The recoding of all units."""
        return Recoded(self.cost, self.lost, partition_of(self.blocks))


def unbeaten(parts: Iterable[Part]) -> list[Part]:
    """The parts that no other beats in both cost and suppressed records, the cheapest first."""
    kept: list[Part] = []
    for part in sorted(parts, key=lambda candidate: (candidate.cost, candidate.lost)):
        if not kept or part.lost < kept[-1].lost:
            kept.append(part)
    return kept


class Inner:
    """A column whose best recoding along its units is worked out.

    Args:
        problem: The table.
        column: Its number.

    Attributes:
        runs: Its blocks whose units follow each other.
        ending: Per unit the numbers of the blocks that end with it.
        levels: For `bhs` the numbers of the blocks of each level; else empty.
    """

    def __init__(self, problem: SchemeProblem, column: int) -> None:
        self.problem, self.column = problem, column
        domain, prices = problem.domains[column], problem.prices
        self.runs = Runs.of(domain)
        self.ending = self.runs.ending(domain.units)
        self.levels = tuple(np.arange(*borders) for borders in pairwise(self.runs.levels))
        # Prices of the blocks' cells, by unit or one a block; where they have too many figures they
        # are worked out by windows of the units, when they are needed.
        self._cells: Reals | None = None
        few = len(self.runs) * domain.units <= FIGURES_AT_ONCE
        if prices and (few or not prices.loss.by_value):
            self._cells = self._prices(slice(0, len(self.runs)), slice(0, domain.units))

    def _prices(self, rows: slice, units: slice) -> Reals:
        """The prices of some blocks' cells, by unit of a window, or the one of each block."""
        prices, domain = self.problem.prices, self.problem.domains[self.column]
        assert prices is not None
        first, last, leaves = (
            figures[rows, np.newaxis]
            for figures in (self.runs.first, self.runs.last, self.runs.leaves)
        )
        before = np.append(0, np.cumsum(domain.records))
        cell_prices = prices.of_cells(
            self.column,
            domain,
            unit=domain.records[units],
            records=before[last] - before[first],
            leaves=leaves,
        )
        if prices.loss.by_value:
            numbers = np.arange(domain.units)[units]
            cell_prices = np.where((first <= numbers) & (numbers < last), cell_prices, 0)
        return cell_prices.astype(float)

    def costs(self, slices: Slices, deadline: Deadline = NEVER) -> Costs:
        """What each block costs in each recoding of the other columns.

        Raises:
            TimeLimitError: The time is over.
        """
        sums = Slices(
            _before(slices.sizes),
            None if slices.prices is None else _before(slices.prices),
            tuple(map(_before, slices.values)),
            slices.starts,
        )
        units, classes = slices.sizes.shape
        widest = max([1, *(values.shape[2] for values in slices.values)])
        step = max(1, FIGURES_AT_ONCE // max(classes * widest, units))
        parts = []
        for start in range(0, len(self.runs), step):
            deadline.check()
            rows = slice(start, start + step)
            first, last = self.runs.first[rows], self.runs.last[rows]
            sizes = sums.sizes[last] - sums.sizes[first]
            values = tuple(counts[last] - counts[first] for counts in sums.values)
            if sums.prices is None:
                priced = sizes * sizes
            else:
                priced = sums.prices[last] - sums.prices[first]
                priced += self._cell_prices(slices.sizes, sizes, rows=rows)
            parts.append(Costs.of(self.problem, Slices(sizes, priced, values, slices.starts)))
        return Costs.joined(parts)

    def _cell_prices(self, by_unit: Reals, sizes: Reals, *, rows: slice) -> Reals:
        """What the cells of this column cost, by block and class.

        Args:
            by_unit: `by_unit[unit, class]` [records].
            sizes: `sizes[block, class]` of the blocks [records].
            rows: Which blocks they are.
        """
        assert self.problem.prices is not None
        if self._cells is not None:
            priced, by_value = self._cells[rows], self.problem.prices.loss.by_value
            return np.asarray(priced @ by_unit if by_value else priced * sizes)
        parts, (start, end, _) = [], rows.indices(len(self.runs))
        step = max(1, min(WINDOWED, FIGURES_AT_ONCE // len(by_unit)))
        for first in range(start, end, step):
            part = slice(first, min(first + step, end))
            units = slice(int(self.runs.first[part].min()), int(self.runs.last[part].max()))
            parts.append(self._prices(part, units) @ by_unit[units])
        return np.concatenate(parts)

    def least(self, costs: Costs) -> Reals:
        """What the best recoding costs at least, per recoding of the other columns.

        Where none or all of the records may be suppressed, it is what it costs.
        """
        cost = self._allowed(costs)
        bounds: Reals = self._heads(cost)[-1]
        if self.levels:
            bounds = np.min([cost[level].sum(axis=0) for level in self.levels], axis=0)
        return bounds

    def cheapest(self, costs: Costs, recoding: int) -> Recoded:
        """The recoding that `least` finds for one recoding of the other columns."""
        cost = self._allowed(costs)[:, [recoding]]
        if self.levels:
            numbers = min(self.levels, key=lambda level: float(cost[level].sum()))
            return self._part(costs, recoding, numbers=numbers.tolist()).recoded()
        heads, unit, chosen = self._heads(cost)[:, 0], len(self.ending), []
        while unit:
            numbers = self.ending[unit - 1]
            best = int((heads[self._starts(unit - 1)] + cost[numbers, 0]).argmin())
            chosen.append(int(numbers[best]))
            unit = int(self.runs.first[chosen[-1]])
        return self._part(costs, recoding, numbers=chosen).recoded()

    def within(
        self, costs: Costs, recoding: int, *, below: float, deadline: Deadline = NEVER
    ) -> Recoded | None:
        """The best recoding that costs less than a bound and suppresses no more than may be.

        It is that for one recoding of the other columns; None where there is none.

        Raises:
            TimeLimitError: The time is over.
        """
        most, units = self.problem.allowance, len(self.ending)
        if self.levels:
            parts = [self._part(costs, recoding, numbers=level.tolist()) for level in self.levels]
        else:
            tails = self._tails(costs.cost[:, recoding])
            heads: list[list[Part]] = [[Part(0.0, 0.0)], *([] for _ in range(units))]
            for unit, numbers in enumerate(self.ending):
                deadline.check()
                added = [self._part(costs, recoding, numbers=[n]) for n in numbers.tolist()]
                grown = (head.plus(part) for part in added for head in heads[part.blocks[0][0]])
                heads[unit + 1] = unbeaten(
                    part
                    for part in grown
                    if part.lost <= most and part.cost + tails[unit + 1] < below
                )
            parts = heads[-1]
        fitting = [part for part in parts if part.lost <= most and part.cost < below]
        return min(fitting, key=lambda p: (p.cost, p.lost)).recoded() if fitting else None

    def _allowed(self, costs: Costs) -> Reals:
        """What blocks cost, infinite where they suppress records and none may be."""
        if self.problem.allowance:
            return costs.cost
        return np.where(costs.lost > 0, np.inf, costs.cost)

    def _starts(self, unit: int) -> Numbers:
        """Per block that ends with a unit the first of its units."""
        starts: Numbers = self.runs.first[self.ending[unit]]
        return starts

    def _heads(self, cost: Reals) -> Reals:
        """`heads[border, recoding]`: what the units before a border cost at least."""
        heads = np.zeros((len(self.ending) + 1, cost.shape[1]))
        for unit, numbers in enumerate(self.ending):
            heads[unit + 1] = (heads[self._starts(unit)] + cost[numbers]).min(axis=0)
        return heads

    def _tails(self, cost: Reals) -> Reals:
        """What the units from each border on cost at least, in one recoding of the others."""
        tails = np.full(len(self.ending) + 1, np.inf)
        tails[-1] = 0.0
        for unit in reversed(range(len(self.ending))):
            starts, block_cost = self._starts(unit), cost[self.ending[unit]]  # starts are distinct
            tails[starts] = np.minimum(tails[starts], block_cost + tails[unit + 1])
        return tails

    def _part(self, costs: Costs, recoding: int, *, numbers: Sequence[int]) -> Part:
        blocks = list(numbers)
        return Part(
            float(costs.cost[blocks, recoding].sum()),
            float(costs.lost[blocks, recoding].sum()),
            tuple(map(self.runs.block, blocks)),
        )


def _before(figures: Reals) -> Reals:
    """The sums of the figures of all units before each border."""
    sums = np.zeros((len(figures) + 1, *figures.shape[1:]))
    np.cumsum(figures, axis=0, out=sums[1:])
    return sums
