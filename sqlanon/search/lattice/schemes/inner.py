"""Inner column: the best recoding of one column along its units, given those of all others.

Blocks whose units follow each other are all that `ops`, `gops`, `ghs` and `bhs` allow, and some of
those of `sps` and `gsps`, whose others `siblings` looks at. The best partition into such blocks
comes by dynamic programming over its borders, for many recodings of the other columns at a time.

The classes of such blocks are differences of sums over all units before a border, so that neither
memory nor time grows with the units of a block. The sums are whole numbers that floats hold
exactly. The prices of a block's own cells are the same for all of its units, but for losses that
differ by value, where they are worked out for a window of the units at a time.

Where some records may be suppressed, but not all, the cheapest partition may suppress too many. A
price on top for each of them, less the price of as many as may be, gives a lower bound (Lagrange);
`within` carries along every partition that no other beats in both cost and suppressed records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.policy.schemes import ORDERED
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Block, Branch, Domain, Partition, partition_of
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.slices import CELLS, Costs, Slices

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
        first, last, leaves = (np.concatenate(own) for own in zip(*parts, strict=True))
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
    own = np.array([branch.own for root in domain.roots for branch in _single(root)])
    numbers = np.arange(domain.units)
    return numbers, numbers + 1, own[:, 1] - own[:, 0]


def _single(branch: Branch) -> Iterator[Branch]:
    """The subtrees of a branch that have no children, in their order."""
    if not branch.children:
        yield branch
    for child in branch.children:
        yield from _single(child)


def _merged(branch: Branch, scheme: str) -> _Parts:
    """The blocks of two or more child subtrees of a branch."""
    if scheme == "ghs":
        start, end = branch.own
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
    found: list[Part] = []
    for part in sorted(parts, key=lambda each: (each.cost, each.lost)):
        if not found or part.lost < found[-1].lost:
            found.append(part)
    return found


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
        few = len(self.runs) * domain.units <= CELLS
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
        found = prices.of_cells(
            self.column,
            domain,
            held=domain.records[units],
            records=before[last] - before[first],
            leaves=leaves,
        )
        if prices.loss.by_value:
            numbers = np.arange(domain.units)[units]
            found = np.where((first <= numbers) & (numbers < last), found, 0)
        return found.astype(float)

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
        step = max(1, CELLS // max(classes * widest, units))
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
                priced += self._own_prices(slices.sizes, sizes, rows=rows)
            parts.append(Costs.of(self.problem, Slices(sizes, priced, values, slices.starts)))
        return Costs.joined(parts)

    def _own_prices(self, by_unit: Reals, sizes: Reals, *, rows: slice) -> Reals:
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
        step = max(1, min(WINDOWED, CELLS // len(by_unit)))
        for first in range(start, end, step):
            part = slice(first, min(first + step, end))
            units = slice(int(self.runs.first[part].min()), int(self.runs.last[part].max()))
            parts.append(self._prices(part, units) @ by_unit[units])
        return np.concatenate(parts)

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
        found: Numbers = self.runs.first[self.ending[unit]]
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
            tuple(map(self.runs.block, own)),
        )


def _before(figures: Reals) -> Reals:
    """The sums of the figures of all units before each border."""
    sums = np.zeros((len(figures) + 1, *figures.shape[1:]))
    np.cumsum(figures, axis=0, out=sums[1:])
    return sums
