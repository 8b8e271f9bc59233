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
from sqlanon.search.lattice.schemes.domain import Domain, Partition
from sqlanon.search.packing import packed, united
from sqlanon.search.privacy import Demands

LARGEST = 2**52
"""Whole prices of all records stay below it, so that sums of them are exact as floats, too."""


@dataclass(frozen=True, slots=True)
class CellPrices:
    """The price of a cell under a cell loss.

    Args:
        name: The loss: `lm`, `hdm` or `suppressed-cells`.
        parts: Per column the price of a cell that says nothing.
        leaves: Per column the leaves of its hierarchy.
    """

    name: str
    parts: tuple[int, ...]
    leaves: tuple[int, ...]

    @classmethod
    def of(
        cls, name: str, domains: Sequence[Domain], *, shares: Sequence[Fraction], records: int
    ) -> CellPrices:
        """The prices of weighted columns; the shares are those of the weights, and sum to 1."""
        whole = LARGEST // max(records, 1)
        parts = tuple(math.floor(share * whole) for share in shares)
        return cls(name, parts, tuple(len(domain.order) for domain in domains))

    @property
    def whole(self) -> int:
        """The price of a suppressed record."""
        return sum(self.parts)

    def block(self, column: int, held: Numbers, *, leaves: int, records: int) -> Numbers:
        """The price of a cell per unit of a block, rounded down.

        Args:
            column: Number of the column.
            held: Records per unit of the block [records].
            leaves: Leaves that the block stands for.
            records: Records of the table [records].
        """
        return _PRICES[self.name](_Cell(self, column, held, leaves, records))


@dataclass(frozen=True, slots=True)
class _Cell:
    """The cells of a block: arguments of `CellPrices.block`."""

    prices: CellPrices
    column: int
    held: Numbers
    leaves: int
    records: int

    @property
    def part(self) -> int:
        """The price of a cell that says nothing."""
        return self.prices.parts[self.column]


def _lm(cell: _Cell) -> Numbers:
    """(leaves of the block - 1) / (leaves - 1)."""
    domain = cell.prices.leaves[cell.column]
    price = cell.part * (cell.leaves - 1) // (domain - 1) if domain > 1 else 0
    return np.full(len(cell.held), price)


def _hdm(cell: _Cell) -> Numbers:
    """(N_e - N_v) / (N - N_v), and 0 where all records hold one value."""
    block = int(cell.held.sum())
    return cell.part * (block - cell.held) // np.maximum(cell.records - cell.held, 1)


def _suppressed(cell: _Cell) -> Numbers:
    """1 where a block of several values has all records."""
    says_nothing = len(cell.held) > 1 and int(cell.held.sum()) == cell.records
    return np.full(len(cell.held), cell.part if says_nothing else 0)


_PRICES: Mapping[str, Callable[[_Cell], Numbers]] = {
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
    """

    domains: tuple[Domain, ...]
    units: Numbers
    sizes: Numbers
    k: int
    allowance: int
    prices: CellPrices | None = None
    demands: Demands | None = None

    @property
    def records(self) -> int:
        """Records of the table [records]."""
        return int(self.sizes.sum())

    @property
    def whole(self) -> int:
        """The cost of a suppressed record."""
        return self.records if self.prices is None else self.prices.whole

    @property
    def finest(self) -> tuple[Partition, ...]:
        """The least general recoding."""
        return tuple(domain.finest for domain in self.domains)

    @property
    def coarsest(self) -> tuple[Partition, ...]:
        """The most general recoding."""
        return tuple(domain.coarsest for domain in self.domains)

    def block_prices(self, column: int, block: Sequence[int], *, leaves: int) -> Numbers:
        """The price of a cell per unit of a block; 0 where the loss is one of classes."""
        if self.prices is None:
            return np.zeros(len(block), np.int64)
        held = self.domains[column].records[list(block)]
        return self.prices.block(column, held, leaves=leaves, records=self.records)

    def cell_prices(self, column: int, partition: Partition) -> Numbers:
        """The price of a cell per unit of a column under a recoding of it."""
        found = np.zeros(len(partition), np.int64)
        if self.prices is not None:
            labels, spans = np.array(partition), self.domains[column].block_spans(partition)
            for number, own in enumerate(spans):
                block, leaves = np.flatnonzero(labels == number), sum(e - s for s, e in own)
                found[block] = self.block_prices(column, block.tolist(), leaves=leaves)
        return found

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
            own = self.demands.values[:, demand.attribute]
            there, width = own >= 0, len(demand.table)
            keys = group[there] * width + own[there]
            held = np.bincount(keys, self.sizes[there], len(sizes) * width)
            kept = kept & demand.holds(held.astype(np.int64).reshape(-1, width))
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
