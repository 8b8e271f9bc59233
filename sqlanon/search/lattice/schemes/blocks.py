"""Blocks: what merging values of one column costs, given the recodings of all others.

With the other columns recoded, their classes are fixed, and a loss adds up over the blocks of the
one that is left. So its best recoding is a best partition into blocks: along an order by dynamic
programming over its borders, of siblings without an order over sets of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.problem import SchemeProblem

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


@dataclass(frozen=True, slots=True, eq=False)
class BlockFamily:
    """Blocks of a column, with what their cells cost in it.

    Args:
        problem: The table.
        members: `members[block, unit]`: 1 for the units of a block.
        priced: The price of their cells, likewise; None for a loss of classes.
    """

    problem: SchemeProblem
    members: Reals
    priced: Reals | None

    @classmethod
    def having(
        cls, problem: SchemeProblem, column: int, *, members: Flags, leaves: Numbers
    ) -> BlockFamily:
        """Blocks of a column by `members[block, unit]`, with the leaves that each stands for."""
        priced = problem.block_prices(column, members, leaves=leaves).astype(float)
        return cls(problem, members.astype(float), None if problem.prices is None else priced)

    def costs(self, slices: Slices) -> Costs:
        """What each block costs in each recoding of the other columns."""
        step = max(1, CELLS // max(slices.sizes.shape[1], 1))
        parts = [
            self._costs(slices, slice(start, start + step))
            for start in range(0, len(self.members), step)
        ]
        return Costs.joined(parts)

    def _costs(self, slices: Slices, rows: slice) -> Costs:
        members, problem = self.members[rows], self.problem
        sizes = members @ slices.sizes
        values = [
            (members @ own.reshape(len(own), -1)).reshape(*sizes.shape, -1) for own in slices.values
        ]
        if self.priced is None or slices.prices is None:
            priced = sizes * sizes
        else:
            priced = members @ slices.prices + self.priced[rows] @ slices.sizes
        return Costs.of(problem, Slices(sizes, priced, tuple(values), slices.starts))


def summed(figures: Reals, starts: Numbers) -> Reals:
    """Figures of classes added up by recoding."""
    if len(starts) == 1:
        whole: Reals = figures.sum(axis=1, keepdims=True)
        return whole
    found: Reals = np.add.reduceat(figures, starts, axis=1)
    return found
