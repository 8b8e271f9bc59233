"""Blocks: what merging values of one column costs, given the recodings of all others.

With the other columns recoded, their classes are fixed, and a loss adds up over the blocks of the
one that is left. So its best recoding is a best partition into blocks: along an order by dynamic
programming over its borders, of siblings without an order over sets of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Block, Domain
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
    def of(
        cls, problem: SchemeProblem, column: int, *, blocks: Sequence[Block], leaves: Sequence[int]
    ) -> BlockFamily:
        """Blocks of a column with the leaves that each stands for."""
        members = np.zeros((len(blocks), problem.domains[column].units), bool)
        for row, block in enumerate(blocks):
            members[row, list(block)] = True
        return cls.having(problem, column, members=members, leaves=np.array(leaves))

    @classmethod
    def having(
        cls, problem: SchemeProblem, column: int, *, members: Flags, leaves: Numbers
    ) -> BlockFamily:
        """Blocks of a column by `members[block, unit]`, with the leaves that each stands for."""
        priced = problem.block_prices(column, members, leaves=leaves).astype(float)
        return cls(problem, members.astype(float), None if problem.prices is None else priced)

    @property
    def blocks(self) -> list[Block]:
        """The blocks."""
        return [tuple(np.flatnonzero(row).tolist()) for row in self.members]

    def only(self, numbers: Numbers) -> BlockFamily:
        """Some of the blocks, by their numbers."""
        return BlockFamily(
            self.problem,
            self.members[numbers],
            None if self.priced is None else self.priced[numbers],
        )

    def costs(self, slices: Slices) -> Costs:
        """What each block costs in each recoding of the other columns."""
        step = max(1, CELLS // max(slices.sizes.shape[1], 1))
        parts = [
            self._costs(slices, slice(start, start + step))
            for start in range(0, len(self.members), step)
        ]
        cost, lost = zip(*((part.cost, part.lost) for part in parts), strict=True)
        return Costs(np.concatenate(cost), np.concatenate(lost))

    def _costs(self, slices: Slices, rows: slice) -> Costs:
        members, problem = self.members[rows], self.problem
        sizes = members @ slices.sizes
        kept = sizes >= problem.k
        demands = problem.demands.every if problem.demands else ()
        for demand, values in zip(demands, slices.values, strict=True):
            held = members @ values.reshape(len(values), -1)
            whole = held.astype(np.int64).reshape(-1, values.shape[2])
            kept &= demand.holds(whole).reshape(sizes.shape)
        if self.priced is None or slices.prices is None:
            own = sizes * sizes
        else:
            own = members @ slices.prices + self.priced[rows] @ slices.sizes
        lost = np.where(kept, 0.0, sizes)
        cost = np.where(kept, own, sizes * problem.whole)
        return Costs(summed(cost, slices.starts), summed(lost, slices.starts))


def summed(figures: Reals, starts: Numbers) -> Reals:
    """Figures of classes added up by recoding."""
    if len(starts) == 1:
        whole: Reals = figures.sum(axis=1, keepdims=True)
        return whole
    found: Reals = np.add.reduceat(figures, starts, axis=1)
    return found


def intervals(domain: Domain) -> list[Block]:
    """The blocks of a scheme whose units follow each other; all, where the scheme is ordered.

    Every partition of the units into such blocks is a recoding of the scheme. `bhs`, where this is
    not so, is left out.
    """
    found: list[Block] = [(unit,) for unit in range(domain.units)]
    for branch in (branch for root in domain.roots for branch in root.inner()):
        children = branch.children
        whole = 0, len(children) - 1
        pairs = [whole] if domain.scheme == "ghs" else combinations(range(len(children)), 2)
        found += [tuple(range(children[first].first, children[last].last)) for first, last in pairs]
    return found
