"""Slices: what merging values of one column costs, given the recodings of all others.

With the other columns recoded, their classes are fixed, and a loss adds up over the blocks of the
one that is left. So its best recoding is a best partition into blocks: along an order by dynamic
programming over its borders, of siblings without an order over sets of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.problem import SchemeProblem, classes_of

CELLS = 4_000_000
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
        found: Reals = summed(np.where(sizes < problem.k, sizes, 0.0), self.starts).sum(axis=0)
        return found

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
            tuple(each[:, there] for each in self.values),
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
    step = max(1, CELLS // max(slices.sizes.shape[1], 1))
    own_prices = problem.block_prices(column, members, leaves=leaves)
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
            priced = units @ slices.prices + own_prices[rows].astype(float) @ slices.sizes
        parts.append(Costs.of(problem, Slices(sizes, priced, values, slices.starts)))
    return Costs.joined(parts)


def summed(figures: Reals, starts: Numbers) -> Reals:
    """Figures of classes added up by recoding."""
    if len(starts) == 1:
        whole: Reals = figures.sum(axis=1, keepdims=True)
        return whole
    found: Reals = np.add.reduceat(figures, starts, axis=1)
    return found


ROOM = 2**30
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
            prices = np.stack([problem.cell_prices(column, own) for own in partitions])
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
    room: int = ROOM

    @classmethod
    def of(cls, problem: SchemeProblem, room: int = ROOM) -> PartlyRecoded:
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
        group = classes_of(labels, [int(own.max()) + 1 for own in labels])
        return _sums(group, self.sizes)

    def recoded(self, recodings: Recodings, number: int, *, left: Sequence[int]) -> PartlyRecoded:
        """The rows with one column more recoded, those alike as one.

        Args:
            recodings: Recodings of the column.
            number: Which of them.
            left: The columns that are recoded later.
        """
        own = self.units[:, recodings.column]
        labels = [self.group, recodings.labels[number][own]]
        group = classes_of(labels, [int(each.max()) + 1 for each in labels])
        keys = [group, *(self.units[:, c] for c in left), *(self.values + 1).T]
        alike = classes_of(keys, [int(each.max()) + 1 for each in keys])
        first = np.zeros(int(alike.max()) + 1, np.int64)
        first[alike] = np.arange(len(alike))
        prices = self.prices
        if recodings.prices is not None:
            prices = prices + self.sizes * recodings.prices[number][own]
        return PartlyRecoded(
            self.problem,
            group[first],
            self.units[first],
            _sums(alike, self.sizes),
            _sums(alike, prices),
            self.values[first],
            self.room,
        )

    def fixing(self, fixed: Mapping[int, Partition], *, left: Sequence[int]) -> PartlyRecoded:
        """The rows with some columns recoded, those alike as one.

        Args:
            fixed: Their recodings.
            left: The columns that are recoded later, which are all others.
        """
        rows, ahead = self, list(fixed)
        for place, column in enumerate(ahead):
            own = Recodings.of(self.problem, column, partitions=[fixed[column]])
            rows = rows.recoded(own, 0, left=[*left, *ahead[place + 1 :]])
        return rows

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
        number, own = len(recodings), self.units[:, recodings.column]
        labels = [
            np.repeat(np.arange(number), len(own)),
            np.tile(self.group, number),
            recodings.labels[:, own].ravel(),
        ]
        group = classes_of(labels, [int(each.max()) + 1 for each in labels])
        prices = None
        if recodings.prices is not None:
            prices = (self.prices + self.sizes * recodings.prices[:, own]).ravel()
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
            held = _sums(keys, sizes[there], numbers=units * classes * width)
            values.append(held.reshape(units, classes, width))
        shape = units, classes
        return Slices(
            _sums(key, sizes, numbers=units * classes).reshape(shape),
            None if prices is None else _sums(key, prices, numbers=units * classes).reshape(shape),
            tuple(values),
            starts,
        )


def slices_of(
    problem: SchemeProblem, recoding: Sequence[Partition], *, column: int, room: int = ROOM
) -> Slices:
    """The classes of all columns but one, by the units of that, where the others are recoded.

    Raises:
        OutOfRoomError: There are too many classes.
    """
    rows = PartlyRecoded.of(problem, room)
    labels, prices = [rows.group], rows.prices
    for other, partition in enumerate(recoding):
        if other != column:
            own = problem.units[:, other]
            labels.append(np.array(partition)[own])
            prices = prices + rows.sizes * problem.cell_prices(other, partition)[own]
    group = classes_of(labels, [int(each.max()) + 1 for each in labels])
    return replace(rows, group=group, prices=prices).slices(column)


def _sums(number: Numbers, figures: Reals, *, numbers: int = 0) -> Reals:
    """The sum of the figures of each number; of all up to a number, where one is given."""
    return np.bincount(number, figures, numbers).astype(np.float64, copy=False)
