"""Scheme problem: the distinct combinations of a table, and what a recoding of them loses.

Losses are whole numbers, so that no order of sums can change them: discernibility counts pairs of
records, a cell loss counts parts of a record's whole price. What is known of a recoding bounds all
that are coarser, since classes only grow and cells only get dearer on the way up, and a class that
is published stays published:

- a class of s records costs at least s * max(s, k) by discernibility, whether it is published with
  others or suppressed, which costs s * n;
- its cells cost at least what they cost now, a suppressed record's the whole price.

The second is tighter than the source's, which bounds a record that is suppressed now by 0.

Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization", section 5, for
discernibility, there for the way down; Li and Li 2007, "Towards optimal k-anonymization", section
4.3.1, for cell losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.lattice.schemes.domain import Domain, Partition, leaf_count
from sqlanon.search.packing import packed, united
from sqlanon.search.privacy import Demands, Sparse

LARGEST = 2**52
"""Whole prices of all records stay below it, so that sums of them are exact as floats, too."""


@dataclass(frozen=True, slots=True)
class CellPrices:
    """The price of a cell under a cell loss.

    Args:
        name: The loss: `lm`, `hdm` or `suppressed-cells`.
        parts: Per column the price of a cell that says nothing.
    """

    name: str
    parts: tuple[int, ...]

    @classmethod
    def of(cls, name: str, *, shares: Sequence[Fraction], records: int) -> CellPrices:
        """The prices of weighted columns; the shares are those of the weights, and sum to 1."""
        whole = LARGEST // max(records, 1)
        return cls(name, tuple(math.floor(share * whole) for share in shares))

    @property
    def whole(self) -> int:
        """The price of a suppressed record."""
        return sum(self.parts)

    @property
    def by_unit(self) -> bool:
        """Whether the cells of one block may differ in price."""
        return self.name == "hdm"

    def of_blocks(self, column: int, domain: Domain, *, members: Flags, leaves: Numbers) -> Numbers:
        """`prices[block, unit]`: the price of a cell per unit of each block, rounded down.

        Args:
            column: Number of the column.
            domain: The column.
            members: `members[block, unit]`: whether the block has the unit.
            leaves: Leaves that each block stands for.
        """
        records = (members @ domain.records)[:, np.newaxis]
        cells = Cells(domain.records, records, leaves[:, np.newaxis])
        found: Numbers = np.where(members, self.of_cells(column, domain, cells), 0)
        return found

    def of_cells(self, column: int, domain: Domain, cells: Cells) -> Numbers:
        """The prices of cells, rounded down: `by_unit`, or else in the shape of the blocks.

        Args:
            column: Number of the column.
            domain: The column.
            cells: Its cells.
        """
        return _PRICES[self.name](self.parts[column], domain, cells)


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells by unit and block, in arrays of any shapes that suit each other.

    Args:
        held: Records of the unit [records].
        records: Records of the block [records].
        leaves: Leaves that the block stands for.
    """

    held: Numbers
    records: Numbers
    leaves: Numbers


def _lm(part: int, column: Domain, cells: Cells) -> Numbers:
    """(leaves of the block - 1) / (leaves - 1); 0 where the domain has a single value."""
    found: Numbers = part * (cells.leaves - 1) // max(len(column.order) - 1, 1)
    return found


def _hdm(part: int, column: Domain, cells: Cells) -> Numbers:
    """(N_e - N_v) / (N - N_v); 0 where all records hold one value."""
    rest = np.maximum(column.records.sum() - cells.held, 1)
    found: Numbers = part * (cells.records - cells.held) // rest
    return found


def _suppressed(part: int, column: Domain, cells: Cells) -> Numbers:
    """1 where a block stands for all leaves of a hierarchy that has several."""
    whole = (cells.leaves == len(column.order)) & (cells.leaves > 1)
    found: Numbers = part * whole.astype(np.int64)
    return found


_PRICES: Mapping[str, Callable[[int, Domain, Cells], Numbers]] = {
    "lm": _lm,
    "hdm": _hdm,
    "suppressed-cells": _suppressed,
}
LOSSES = ("discernibility", *_PRICES)
"""Losses that never shrink on the way up, of classes that are published."""


@dataclass(frozen=True, slots=True, eq=False)
class SchemeProblem:
    """The distinct combinations of a table and what a recoding must satisfy.

    Args:
        domains: The columns.
        units: `units[combination, column]`.
        sizes: Records of each combination [records].
        k: Smallest class that is published [records].
        allowance: Most records that may be suppressed [records].
        prices: The cell loss; None for discernibility.
        demands: Models beyond k, closed under unions; None without any.
        simpler: The same table under less flexible schemes, the least flexible first.
    """

    domains: tuple[Domain, ...]
    units: Numbers
    sizes: Numbers
    k: int
    allowance: int
    prices: CellPrices | None = None
    demands: Demands | None = None
    simpler: tuple[SchemeProblem, ...] = ()

    @property
    def records(self) -> int:
        """Records of the table [records]."""
        return int(self.sizes.sum())

    @property
    def whole(self) -> int:
        """The cost of a suppressed record."""
        return self.records if self.prices is None else self.prices.whole

    @property
    def is_monotone(self) -> bool:
        """Whether a class that is published stays so, whatever other classes it is merged with."""
        every = self.demands.every if self.demands else ()
        return not self.allowance or all(demand.model.superset_monotone for demand in every)

    @property
    def finest(self) -> tuple[Partition, ...]:
        """The least general recoding."""
        return tuple(domain.finest for domain in self.domains)

    @property
    def coarsest(self) -> tuple[Partition, ...]:
        """The most general recoding."""
        return tuple(domain.coarsest for domain in self.domains)

    def block_prices(self, column: int, members: Flags, *, leaves: Numbers) -> Numbers:
        """`prices[block, unit]`: the price of a cell per unit of each block of a column.

        Args:
            column: Number of the column.
            members: `members[block, unit]`: whether the block has the unit.
            leaves: Leaves that each block stands for.
        """
        if self.prices is None:
            return np.zeros(members.shape, np.int64)
        return self.prices.of_blocks(column, self.domains[column], members=members, leaves=leaves)

    def cell_prices(self, column: int, partition: Partition) -> Numbers:
        """The price of a cell per unit of a recoded column; 0 where the loss is one of classes."""
        if self.prices is None:
            return np.zeros(len(partition), np.int64)
        domain, block = self.domains[column], np.array(partition)
        leaves = np.array(list(map(leaf_count, domain.block_spans(partition))))
        records = np.bincount(block, domain.records).astype(np.int64)
        cells = Cells(domain.records, records[block], leaves[block])
        return self.prices.of_cells(column, domain, cells)

    def evaluate(self, recoding: Sequence[Partition]) -> Evaluated:
        """What a recoding costs, in the order of the columns."""
        labels = [np.array(own)[self.units[:, c]] for c, own in enumerate(recoding)]
        widths = [max(own) + 1 for own in recoding]
        prices = np.zeros(len(self.sizes), np.int64)
        for column, own in enumerate(recoding):
            prices += self.cell_prices(column, own)[self.units[:, column]]
        return self.judge(classes_of(labels, widths), self.sizes * prices)

    def judge(self, group: Numbers, prices: Numbers) -> Evaluated:
        """What classes cost.

        Args:
            group: The class of each combination, from 0 without gaps.
            prices: What the cells of each combination cost if they are published.
        """
        classes = int(group.max(initial=-1)) + 1
        sizes = np.bincount(group, self.sizes, classes).astype(np.int64)
        priced = np.bincount(group, prices, classes).astype(np.int64)
        kept = self.publishable(group, sizes)
        own = sizes * sizes if self.prices is None else priced
        least = sizes * np.maximum(sizes, self.k) if self.prices is None else priced
        lost = int(sizes[~kept].sum())
        cost = int(own[kept].sum()) + lost * self.whole
        return Evaluated(cost, lost, int(least.sum()), classes)

    def publishable(self, group: Numbers, sizes: Numbers) -> Flags:
        """Which classes satisfy every model, by the class of each combination and its records."""
        kept: Flags = sizes >= self.k
        for demand in self.demands.every if self.demands else ():
            assert self.demands is not None
            asked = np.flatnonzero(kept)
            place = np.full(len(sizes), -1)
            place[asked] = np.arange(len(asked))
            own, number = self.demands.values[:, demand.attribute], place[group]
            there = (own >= 0) & (number >= 0)
            held = Sparse.sorted(number[there], own[there], self.sizes[there])
            kept[asked] = held.holds(demand, groups=len(asked))
        return kept


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a recoding costs.

    Args:
        cost: Its loss, suppressed records included.
        suppressed: Records in classes that are not published [records].
        least: What every recoding at least as coarse costs at least.
        classes: Its classes, with those that are not published.
    """

    cost: int
    suppressed: int
    least: int
    classes: int


def classes_of(labels: Sequence[Numbers], widths: Sequence[int]) -> Numbers:
    """The class of each row, from 0 without gaps, by its label in every column.

    Args:
        labels: Per column the label of each row, in [0, width).
        widths: Per column.
    """
    if not labels:
        raise ValueError("there is no column")
    key, most = labels[0], widths[0]
    if math.prod(widths) <= 2**62:
        for own, width in zip(labels[1:], widths[1:], strict=True):
            key = key * width + own
            most *= width
    else:
        key = united(packed(np.stack(labels, axis=1), widths))
        most = int(key.max(initial=0)) + 1
    if most <= 16 * len(key) + 1024:
        there = np.zeros(most, bool)  # a table is filled faster than keys are sorted
        there[key] = True
        found: Numbers = (np.cumsum(there) - 1)[key]
        return found
    return np.unique(key, return_inverse=True)[1]
