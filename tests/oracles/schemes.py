"""Generalization schemes from their definitions, over all set partitions of a few values.

Nothing of `sqlanon` is used here: values are rows of a hierarchy, and d(x, y) is the height of the
lowest node that has both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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

    @property
    def units(self):
        """The path of each unit: a node of the lowest level that has records, and all above it."""
        low, _ = self.levels
        held = (row for row, count in zip(self.rows, self.counts, strict=True) if count)
        return list(dict.fromkeys(tuple(row[low:]) for row in held))

    def distance(self, x, y):
        """The height of the lowest common ancestor of two units; infinite above the highest."""
        low, high = self.levels
        pairs = zip(self.units[x], self.units[y], range(low, high + 1), strict=False)
        return next((height for a, b, height in pairs if a == b), math.inf)

    def node(self, x, height):
        """The units below the ancestor of a unit at a height."""
        return {y for y in range(len(self.units)) if self.distance(x, y) <= height}

    def allows(self, scheme, partition):
        """Whether a scheme allows a partition of the units."""
        units = range(len(partition))
        blocks = [{y for y in units if partition[y] == partition[x]} for x in units]
        if scheme == "bhs":
            return any(
                all(blocks[x] == self.node(x, height) for x in units)
                for height in range(self.levels[0], self.levels[1] + 1)
            )
        return all(self._is_block(scheme, block) for block in blocks)

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

    def recodings(self, scheme):
        """All partitions that a scheme allows."""
        return [p for p in set_partitions(len(self.units)) if self.allows(scheme, p)]
