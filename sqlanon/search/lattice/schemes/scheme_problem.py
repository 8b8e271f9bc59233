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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sqlanon.loss.cells import GROUP_LOSSES, GroupedCells, GroupLoss
from sqlanon.search.arrays import Flags, Numbers, numbered, packed, united
from sqlanon.search.lattice.schemes.domain import Domain, Partition, leaf_count
from sqlanon.search.privacy import Demands, Sparse

MAX_WHOLE_PRICE = 2**52
"""Whole prices of all records stay below it, so that sums of them are exact as floats, too."""


Recoding = tuple[Partition, ...]
"""Per column its recoding."""


@dataclass(frozen=True, slots=True)
class CellPrices:
    """The price of a cell under a loss of groups.

    Args:
        loss: The loss.
        parts: Per column the price of a cell that says nothing.
    """

    loss: GroupLoss
    parts: tuple[int, ...]

    @classmethod
    def of(cls, name: str, *, shares: Sequence[Fraction], records: int) -> CellPrices:
        """The prices of weighted columns; the shares are those of the weights, and sum to 1."""
        whole = MAX_WHOLE_PRICE // max(records, 1)
        return cls(GROUP_LOSSES[name], tuple(math.floor(share * whole) for share in shares))

    @property
    def whole(self) -> int:
        """The price of a suppressed record."""
        return sum(self.parts)

    def of_cells(
        self, column: int, domain: Domain, *, unit: Numbers, records: Numbers, leaves: Numbers
    ) -> Numbers:
        """The prices of cells, rounded down, from arrays of any shapes that suit each other.

        Args:
            column: Number of the column.
            domain: The column.
            unit: Records of the cell's unit [records].
            records: Records of its block [records].
            leaves: Leaves that the block stands for.
        """
        every = int(domain.records.sum())
        lost, of = self.loss.share(GroupedCells(leaves, len(domain.order), unit, records, every))
        prices: Numbers = self.parts[column] * lost // of
        return prices


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
        """`prices[block, unit]`: the price of a cell of each unit of a block, 0 for other units.

        Args:
            column: Number of the column.
            members: `members[block, unit]`: whether the block has the unit.
            leaves: Leaves that each block stands for.
        """
        if self.prices is None:
            return np.zeros(members.shape, np.int64)
        domain = self.domains[column]
        records = (members @ domain.records)[:, np.newaxis]
        prices = self.prices.of_cells(
            column, domain, unit=domain.records, records=records, leaves=leaves[:, np.newaxis]
        )
        return np.where(members, prices, 0)

    def cell_prices(self, column: int, partition: Partition) -> Numbers:
        """The price of a cell per unit of a recoded column; 0 where the loss is one of classes."""
        if self.prices is None:
            return np.zeros(len(partition), np.int64)
        domain, block = self.domains[column], np.array(partition)
        leaves = np.array(list(map(leaf_count, domain.block_spans(partition))))
        records = np.bincount(block, domain.records).astype(np.int64)
        return self.prices.of_cells(
            column, domain, unit=domain.records, records=records[block], leaves=leaves[block]
        )

    def evaluate(self, recoding: Sequence[Partition]) -> Evaluated:
        """What a recoding costs, in the order of the columns."""
        labels = [np.array(blocks)[self.units[:, c]] for c, blocks in enumerate(recoding)]
        widths = [max(blocks) + 1 for blocks in recoding]
        prices = np.zeros(len(self.sizes), np.int64)
        for column, partition in enumerate(recoding):
            prices += self.cell_prices(column, partition)[self.units[:, column]]
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
        class_costs = sizes * sizes if self.prices is None else priced
        least = sizes * np.maximum(sizes, self.k) if self.prices is None else priced
        lost = int(sizes[~kept].sum())
        cost = int(class_costs[kept].sum()) + lost * self.whole
        return Evaluated(cost, lost, int(least.sum()), classes)

    def publishable(self, group: Numbers, sizes: Numbers) -> Flags:
        """Which classes satisfy every model, by the class of each combination and its records."""
        kept: Flags = sizes >= self.k
        for demand in self.demands.every if self.demands else ():
            assert self.demands is not None
            asked = np.flatnonzero(kept)
            place = np.full(len(sizes), -1)
            place[asked] = np.arange(len(asked))
            value, number = self.demands.values[:, demand.attribute], place[group]
            there = (value >= 0) & (number >= 0)
            counts = Sparse.sorted(number[there], value[there], self.sizes[there])
            kept[asked] = counts.holds(demand, groups=len(asked))
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
    key, most = labels[0], math.prod(widths)
    if most <= 2**62:
        for label, width in zip(labels[1:], widths[1:], strict=True):
            key = key * width + label
    else:
        key = united(packed(np.stack(labels, axis=1), widths))
        most = int(key.max(initial=0)) + 1
    return numbered(key, most)


@dataclass(frozen=True, slots=True)
class FlexibilityStep:
    """The best recoding found under less flexible schemes.

    Args:
        schemes: The scheme of each column.
        value: What it costs.
        proven: Whether none of these schemes costs less.
    """

    schemes: tuple[str, ...]
    value: int
    proven: bool


@dataclass(frozen=True, slots=True)
class SchemeOutcome:
    """The best recoding of a search, and the bound that it proved.

    Args:
        partitions: The best recoding found, per column; None where none satisfies the policy.
        value: What it costs; that of the coarsest recoding where none satisfies.
        suppressed: Records that it suppresses [records].
        bound: What every recoding costs at least; `value` where it is proven.
        checked: Recodings that were evaluated.
        steps: What less flexible schemes come to, the least flexible first.
    """

    partitions: Recoding | None
    value: int
    suppressed: int
    bound: int
    checked: int
    steps: tuple[FlexibilityStep, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether no recoding costs less."""
        return self.bound >= self.value
