"""Spaces: what all recodings between a fine one and a coarse one cost and suppress at least.

Let F be as fine as all recodings of a space or finer, and C as coarse or coarser. Then of any R in
it, the following hold whatever the loss and the limit:

- A record in a class of C that fails a model is suppressed in R, where the model holds of a class
  whenever it holds of some of its records: the record's class in R is a part of that in C. k is
  such a model. It costs the whole price.
- Any other record is in a class of R that has its class in F, of s records. By discernibility it
  costs at least max(s, k) where that class is published, and the number of all records where it is
  not; under a cell loss at least the price of its cells in F, since blocks only grow and every cell
  loss grows with them, and the whole price where it is not published.
- A class of C that fails another model, which holds of the union of two classes that have it, has
  a part in R that fails it, so one record at least is suppressed.

Up from a recoding F is that recoding, and C merges all that may be merged below it in the tree.
The source bounds a record by its cells where its class is published in F and by 0 where not. Down
from a recoding C is that recoding and F splits all that may be split, as Bayardo and Agrawal have
it for discernibility.

Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization", section 5; Li and
Li 2007, "Towards optimal k-anonymization", section 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.problem import SchemeProblem, classes_of
from sqlanon.search.privacy import Demands

_KEPT = 2**26
"""What labels of combinations and prices of units that are kept may take, each [bytes]."""


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of some recoded columns.

    Args:
        group: The class of each combination, from 0 without gaps.
        prices: What the cells of a record of each combination cost in these columns.
    """

    group: Numbers
    prices: Numbers

    @property
    def number(self) -> int:
        """How many classes there are."""
        return int(self.group.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """What the classes of a fine recoding cost at least in all coarser ones.

    Args:
        group: The class of each combination.
        least: That cost, per class, if none of its records is known to be suppressed.
        lost: The cost of suppressing it.
        sizes: Its records [records].
    """

    group: Numbers
    least: Numbers
    lost: Numbers
    sizes: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Doom:
    """What a coarse recoding shows to be suppressed in all finer ones.

    Args:
        rows: Whether all records of a combination are.
        more: Further records, at least [records].
    """

    rows: Flags
    more: int


@dataclass(frozen=True, slots=True, order=True)
class Least:
    """What all recodings of a space cost and suppress at least."""

    cost: int
    suppressed: int

    def and_also(self, other: Least) -> Least:
        """What a space costs and suppresses at least where both hold of it."""
        return Least(max(self.cost, other.cost), max(self.suppressed, other.suppressed))


class Ruler:
    """Measures recodings of a table, and spaces of them."""

    def __init__(self, problem: SchemeProblem) -> None:
        self.problem = problem
        self._by_records = _lasting(problem)
        units = max(domain.units for domain in problem.domains)
        self._cell_prices = _remembered(problem.cell_prices, units)
        self._labels = _remembered(self._labelled, len(problem.sizes))

    def _labelled(self, column: int, partition: Partition) -> Numbers:
        """The block of each combination in one column."""
        found: Numbers = np.array(partition)[self.problem.units[:, column]]
        return found

    def others(self, recoding: Sequence[Partition], column: int) -> Classes:
        """The classes of all columns but one."""
        problem = self.problem
        left = [c for c in range(len(recoding)) if c != column]
        prices = np.zeros(len(problem.sizes), np.int64)
        if problem.prices is not None:
            for c in left:
                prices += self._cell_prices(c, recoding[c])[problem.units[:, c]]
        if not left:
            return Classes(np.zeros(len(problem.sizes), np.int64), prices)
        return Classes(self.group(recoding, left), prices)

    def group(self, recoding: Sequence[Partition], columns: Sequence[int]) -> Numbers:
        """The class of each combination by one or more of the columns."""
        labels = [self._labels(c, recoding[c]) for c in columns]
        return classes_of(labels, [max(recoding[c]) + 1 for c in columns])

    def with_column(self, others: Classes, column: int, *, partition: Partition) -> Classes:
        """The classes of all columns, from those of the others."""
        labels = [others.group, self._labels(column, partition)]
        group = classes_of(labels, [others.number, max(partition) + 1])
        prices = others.prices
        if self.problem.prices is not None:
            own = self.problem.units[:, column]
            prices = prices + self._cell_prices(column, partition)[own]
        return Classes(group, prices)

    def classes(self, recoding: Sequence[Partition]) -> Classes:
        """The classes of all columns."""
        return self.with_column(self.others(recoding, 0), 0, partition=recoding[0])

    def floor(self, fine: Classes) -> Floor:
        """What the classes of a fine recoding cost at least in all coarser ones."""
        problem, group = self.problem, fine.group
        sizes = np.bincount(group, problem.sizes).astype(np.int64)
        if problem.prices is None:
            least = sizes * np.maximum(sizes, problem.k)
        else:
            least = np.bincount(group, problem.sizes * fine.prices).astype(np.int64)
        return Floor(group, least, sizes * problem.whole, sizes)

    def doom(self, group: Numbers) -> Doom:
        """What the classes of a coarse recoding show to be suppressed in all finer ones."""
        sizes = np.bincount(group, self.problem.sizes).astype(np.int64)
        lasting = self._by_records.publishable(group, sizes)
        hurt = 0
        if self._by_records is not self.problem:
            hurt = int((lasting & ~self.problem.publishable(group, sizes)).sum())
        return Doom(~lasting[group], hurt)

    def least(self, floor: Floor, doom: Doom) -> Least:
        """What all recodings between a fine one and a coarse one cost and suppress."""
        if not doom.rows.any():
            return Least(int(floor.least.sum()), doom.more)
        gone = np.zeros(len(floor.sizes), bool)
        gone[floor.group[doom.rows]] = True
        cost = np.where(gone, floor.lost, floor.least).sum()
        return Least(int(cost), int(floor.sizes[gone].sum()) + doom.more)


def _remembered(
    function: Callable[[int, Partition], Numbers], numbers: int
) -> Callable[[int, Partition], Numbers]:
    """A function that keeps its last results, of so many numbers each."""
    kept: Callable[[int, Partition], Numbers] = lru_cache(_KEPT // (8 * numbers))(function)
    return kept


def _lasting(problem: SchemeProblem) -> SchemeProblem:
    """The problem with those models alone that hold of a class if they hold of a part of it."""
    if problem.demands is None:
        return problem
    every = tuple(own for own in problem.demands.every if own.model.superset_monotone)
    if len(every) == len(problem.demands.every):
        return problem
    return replace(problem, demands=Demands(problem.demands.values, every))
