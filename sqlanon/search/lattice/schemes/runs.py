"""Runs: blocks of a column whose units follow each other, and what they cost.

Their classes are differences of sums over all units before a border, so that neither memory nor
time grows with the units of a block. The sums are whole numbers that floats hold exactly. The
prices of a block's own cells are the same for all of its units, but for `hdm`, where they are
worked out for a window of the units at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.policy.schemes import ORDERED
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.lattice.schemes.blocks import CELLS, Costs, Slices
from sqlanon.search.lattice.schemes.domain import Block, Branch, Domain
from sqlanon.search.lattice.schemes.problem import Cells, SchemeProblem

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


@dataclass(frozen=True, slots=True, eq=False)
class RunFamily:
    """Blocks of a column whose units follow each other, with what their cells cost in it.

    Args:
        problem: The table.
        column: Number of the column.
        runs: The blocks.
        priced: The prices of the blocks' cells by unit, or the one of each block. They are worked
            out when they are needed, by windows of the units, where they have too many figures.
    """

    problem: SchemeProblem
    column: int
    runs: Runs
    priced: Reals | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        prices, units = self.problem.prices, self.problem.domains[self.column].units
        if prices and (not prices.by_unit or len(self.runs) * units <= CELLS):
            priced = self._prices(slice(0, len(self.runs)), slice(0, units))
            object.__setattr__(self, "priced", priced)

    def _prices(self, rows: slice, units: slice) -> Reals:
        """The prices of some blocks' cells, by unit of a window, or the one of each block."""
        prices, domain = self.problem.prices, self.problem.domains[self.column]
        assert prices is not None
        first, last, leaves = (
            own[rows, np.newaxis] for own in (self.runs.first, self.runs.last, self.runs.leaves)
        )
        before = np.append(0, np.cumsum(domain.records))
        cells = Cells(domain.records[units], before[last] - before[first], leaves)
        found = prices.of_cells(self.column, domain, cells)
        if prices.by_unit:
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
        widest = max([1, *(own.shape[2] for own in slices.values)])
        step = max(1, CELLS // max(classes * widest, units))
        parts = []
        for start in range(0, len(self.runs), step):
            deadline.check()
            parts.append(self._costs(slices, sums, rows=slice(start, start + step)))
        return Costs.joined(parts)

    def _costs(self, slices: Slices, sums: Slices, *, rows: slice) -> Costs:
        first, last = self.runs.first[rows], self.runs.last[rows]
        sizes = sums.sizes[last] - sums.sizes[first]
        values = tuple(own[last] - own[first] for own in sums.values)
        if sums.prices is None:
            priced = sizes * sizes
        else:
            priced = sums.prices[last] - sums.prices[first]
            priced += self._own(slices.sizes, sizes, rows=rows)
        return Costs.of(self.problem, Slices(sizes, priced, values, slices.starts))

    def _own(self, by_unit: Reals, sizes: Reals, *, rows: slice) -> Reals:
        """What the cells of this column cost, by block and class.

        Args:
            by_unit: `by_unit[unit, class]` [records].
            sizes: `sizes[block, class]` of the blocks [records].
            rows: Which blocks they are.
        """
        assert self.problem.prices is not None
        if self.priced is not None:
            own = self.priced[rows]
            found: Reals = own @ by_unit if self.problem.prices.by_unit else own * sizes
            return found
        parts, (start, end, _) = [], rows.indices(len(self.runs))
        step = max(1, min(WINDOWED, CELLS // len(by_unit)))
        for first in range(start, end, step):
            part = slice(first, min(first + step, end))
            units = slice(int(self.runs.first[part].min()), int(self.runs.last[part].max()))
            parts.append(self._prices(part, units) @ by_unit[units])
        return np.concatenate(parts)


def _before(figures: Reals) -> Reals:
    """The sums of the figures of all units before each border."""
    sums = np.zeros((len(figures) + 1, *figures.shape[1:]))
    np.cumsum(figures, axis=0, out=sums[1:])
    return sums
