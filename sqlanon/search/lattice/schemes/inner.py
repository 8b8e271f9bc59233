"""Inner column: the best recoding of one column along its units, given those of all others.

Blocks whose units follow each other are all that `ops`, `gops`, `ghs` and `bhs` allow, and some of
those of `sps` and `gsps`, whose others `siblings` looks at. The best partition into such blocks
comes by dynamic programming over its borders, for many recodings of the other columns at a time.

Where some records may be suppressed, but not all, the cheapest partition may suppress too many. A
price on top for each of them, less the price of as many as may be, gives a lower bound (Lagrange);
`within` carries along every partition that no other beats in both cost and suppressed records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.lattice.schemes.blocks import Costs
from sqlanon.search.lattice.schemes.domain import Block, Partition, partition_of
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.runs import RunFamily, Runs


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
    found: list[Part] = []
    for part in sorted(parts, key=lambda each: (each.cost, each.lost)):
        if not found or part.lost < found[-1].lost:
            found.append(part)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """A column whose best recoding along its units is worked out.

    Args:
        problem: The table.
        column: Its number.
        family: Its blocks whose units follow each other.
        ending: Per unit the numbers of the blocks that end with it.
        levels: For `bhs` the numbers of the blocks of each level; else empty.
    """

    problem: SchemeProblem
    column: int
    family: RunFamily
    ending: tuple[Numbers, ...]
    levels: tuple[Numbers, ...]

    @classmethod
    def of(cls, problem: SchemeProblem, column: int) -> Inner:
        """A column of a table, by its number."""
        domain = problem.domains[column]
        runs = Runs.of(domain)
        family = RunFamily(problem, column, runs)
        levels = tuple(np.arange(*borders) for borders in pairwise(runs.levels))
        return cls(problem, column, family, runs.ending(domain.units), levels)

    def least(self, costs: Costs, price: float = 0.0) -> Reals:
        """What the best recoding costs at least, per recoding of the other columns.

        Where none or all of the records may be suppressed, it is what it costs.

        Args:
            costs: Those of the family.
            price: What a suppressed record costs on top, less that of as many as may be.
        """
        cost = self._priced(costs, price)
        if self.levels:
            found: Reals = np.min([cost[own].sum(axis=0) for own in self.levels], axis=0)
        else:
            found = self._heads(cost)[-1]
        return found - price * self.problem.allowance

    def cheapest(self, costs: Costs, recoding: int, *, price: float = 0.0) -> Recoded:
        """The recoding that `least` finds for one recoding of the other columns."""
        cost = self._priced(costs, price)[:, [recoding]]
        if self.levels:
            numbers = min(self.levels, key=lambda own: float(cost[own].sum()))
            return self._part(costs, recoding, numbers=numbers.tolist()).recoded()
        heads, unit, chosen = self._heads(cost)[:, 0], len(self.ending), []
        while unit:
            numbers = self.ending[unit - 1]
            best = int((heads[self._starts(unit - 1)] + cost[numbers, 0]).argmin())
            chosen.append(int(numbers[best]))
            unit = int(self.family.runs.first[chosen[-1]])
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
            parts = [self._part(costs, recoding, numbers=own.tolist()) for own in self.levels]
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

    def _priced(self, costs: Costs, price: float) -> Reals:
        if self.problem.allowance:
            return costs.cost + price * costs.lost
        return np.where(costs.lost > 0, np.inf, costs.cost)

    def _starts(self, unit: int) -> Numbers:
        """Per block that ends with a unit the first of its units."""
        found: Numbers = self.family.runs.first[self.ending[unit]]
        return found

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
            starts, own = self._starts(unit), cost[self.ending[unit]]  # starts are distinct
            tails[starts] = np.minimum(tails[starts], own + tails[unit + 1])
        return tails

    def _part(self, costs: Costs, recoding: int, *, numbers: Sequence[int]) -> Part:
        own = list(numbers)
        return Part(
            float(costs.cost[own, recoding].sum()),
            float(costs.lost[own, recoding].sum()),
            tuple(map(self.family.runs.block, own)),
        )
