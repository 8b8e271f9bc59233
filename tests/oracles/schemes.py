"""Generalization schemes from their definitions, over all set partitions of a few values.

Nothing of `sqlanon` is used here: values are rows of a hierarchy, and d(x, y) is the height of the
lowest node that has both.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from oracles.measures import cell_loss

FIGURE_1 = [
    ("State-gov", "Government", "*"),
    ("Local-gov", "Government", "*"),
    ("Federal-gov", "Government", "*"),
    ("Private", "Private sector", "*"),
    ("Inc", "Self-employed", "*"),
    ("Not-inc", "Self-employed", "*"),
    ("Without-pay", "Unemployed", "*"),
    ("Never-worked", "Unemployed", "*"),
]


def set_partitions(units):
    """All partitions of so many units, as the number of each unit's block by first units."""
    found = [()]
    for _ in range(units):
        found = [(*own, b) for own in found for b in range(max(own, default=-1) + 2)]
    return found


@dataclass(frozen=True)
class Values:
    """What a column's units are.

    Args:
        rows: Paths of the hierarchy, in the order of the column.
        counts: Records per row.
        levels: The lowest and the highest level allowed.
    """

    rows: list
    counts: list
    levels: tuple

    @cached_property
    def units(self):
        """The path of each unit: a node of the lowest level that has records, and all above it."""
        low, _ = self.levels
        held = (row for row, count in zip(self.rows, self.counts, strict=True) if count)
        return list(dict.fromkeys(tuple(row[low:]) for row in held))

    def distance(self, x, y):
        """The height of the lowest common ancestor of two units; infinite above the highest."""
        return self._distances[x][y]

    @cached_property
    def _distances(self):
        low, high = self.levels

        def height(one, other):
            pairs = zip(one, other, range(low, high + 1), strict=False)
            return next((height for a, b, height in pairs if a == b), math.inf)

        return [[height(one, other) for other in self.units] for one in self.units]

    def node(self, x, height):
        """The units below the ancestor of a unit at a height."""
        return {y for y in range(len(self.units)) if self.distance(x, y) <= height}

    def allows(self, scheme, partition):
        """Whether a scheme allows a partition of the units."""
        units = range(len(partition))
        if scheme == "bhs":
            blocks = [{y for y in units if partition[y] == partition[x]} for x in units]
            return any(
                all(blocks[x] == self.node(x, height) for x in units)
                for height in range(self.levels[0], self.levels[1] + 1)
            )
        blocks = defaultdict(list)
        for unit, number in enumerate(partition):
            blocks[number].append(unit)
        return all(self._allows_block(scheme, tuple(block)) for block in blocks.values())

    def _allows_block(self, scheme, block):
        """What `_is_block` says, asked once of a block that many partitions have."""
        if (scheme, block) not in self._known:
            self._known[scheme, block] = self._is_block(scheme, set(block))
        return self._known[scheme, block]

    @cached_property
    def _known(self):
        return {}

    def _is_block(self, scheme, block):
        """Whether a scheme other than `bhs` allows a block."""
        pairs = [(x, y) for x in block for y in block if x < y]
        if any(self.distance(x, y) == math.inf for x, y in pairs):
            return False
        if scheme == "ghs":
            heights = range(self.levels[0], self.levels[1] + 1)
            return any(block == self.node(min(block), height) for height in heights)
        return all(self._needs(scheme, x, y) <= block for x, y in pairs)

    def _needs(self, scheme, x, y):
        """The units that must be in a block that has two, the first below the second."""
        units, apart = range(len(self.units)), self.distance(x, y)
        if scheme == "sps":
            return set()
        if scheme == "ops":
            return set(range(x, y + 1))
        x_own = {z for z in units if self.distance(x, z) < apart}
        y_own = {z for z in units if self.distance(y, z) < apart}
        if scheme == "gsps":
            return x_own | y_own
        return set(range(min(x_own), max(y_own) + 1))

    def rows_at(self, units, height):
        """The rows, by number, below the nodes of a height that have some units."""
        low, _ = self.levels
        nodes = {self.units[unit][height - low] for unit in units}
        return {place for place, row in enumerate(self.rows) if row[height] in nodes}

    def stands_for(self, scheme, block, partition):
        """The rows that a block of a partition stands for, held or not."""
        low, high = self.levels
        heights = range(low, high + 1)
        if scheme == "bhs":
            blocks = [{y for y in range(len(partition)) if partition[y] == b} for b in partition]
            same = (
                h for h in heights if all(own == self.node(x, h) for x, own in enumerate(blocks))
            )
            return self.rows_at(block, next(same))
        if scheme == "ghs":
            height = next(h for h in heights if self.node(block[0], h) == set(block))
            return self.rows_at(block, height)
        if len(block) == 1 or scheme == "sps":
            return self.rows_at(block, low)
        height = low
        if scheme in ("gsps", "gops"):
            height = max(self.distance(x, y) for x in block for y in block if x != y) - 1
        found = self.rows_at(block, height)
        return found if scheme == "gsps" else set(range(min(found), max(found) + 1))

    def recodings(self, scheme):
        """All partitions that a scheme allows."""
        return [p for p in set_partitions(len(self.units)) if self.allows(scheme, p)]


@dataclass(frozen=True)
class Table:
    """Records over the units of some columns.

    Args:
        columns: The columns.
        schemes: Per column its scheme.
        records: Per record its units, and the value of a sensitive attribute.
        k: Smallest class.
        allowance: Most records that may be suppressed.
        diverse: Distinct sensitive values that a class has at least.
        share: The largest part of a class that may have one sensitive value.
    """

    columns: list
    schemes: list
    records: list
    k: int
    allowance: int
    diverse: int
    share: float

    def recodings(self):
        """All recodings of all columns."""
        pairs = zip(self.columns, self.schemes, strict=True)
        return itertools.product(*(column.recodings(scheme) for column, scheme in pairs))

    def published(self, recoding):
        """The records of classes that satisfy every model, by class."""
        classes = defaultdict(list)
        for *units, value in self.records:
            label = tuple(own[unit] for own, unit in zip(recoding, units, strict=True))
            classes[label].append((units, value))
        return {
            label: held
            for label, held in classes.items()
            if self._satisfies([value for _, value in held])
        }

    def _satisfies(self, values):
        """Whether a class may be published, by its sensitive values."""
        largest = max(map(values.count, values))
        return (
            len(values) >= self.k
            and len(set(values)) >= self.diverse
            and largest <= Fraction(str(self.share)) * len(values)
        )

    def suppressed(self, recoding):
        """The records that are not published."""
        return len(self.records) - sum(map(len, self.published(recoding).values()))

    def loss(self, name, recoding):
        """What a recoding loses."""
        n, classes = len(self.records), self.published(recoding).values()
        lost = self.suppressed(recoding)
        if name == "discernibility":
            return sum(len(held) ** 2 for held in classes) + lost * n
        cells = (
            self._cell(name, recoding, column, unit)
            for held in classes
            for units, _ in held
            for column, unit in enumerate(units)
        )
        return lost + Fraction(sum(cells), len(self.columns))

    def _cell(self, name, recoding, column, unit):
        """What a cell loses; a group counts its values by records for `hdm`, else by rows."""
        values, own = self.columns[column], recoding[column]
        block = [y for y in range(len(own)) if own[y] == own[unit]]
        if name == "hdm":
            held = [record[column] for record in self.records]
            return cell_loss(name, values.rows, block, 0, value=unit, held=held)
        rows = values.stands_for(self.schemes[column], block, own)
        return cell_loss(name, values.rows, rows, len(rows) > 1)

    def least(self, name):
        """The least loss within the allowance; None where there is no such recoding."""
        within = [own for own in self.recodings() if self.suppressed(own) <= self.allowance]
        return min((self.loss(name, own) for own in within), default=None)
