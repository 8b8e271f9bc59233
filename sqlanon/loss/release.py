"""Release: counts of a published table, whoever published it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.classes import ClassStatistics
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.tree import Place


@dataclass(frozen=True, slots=True)
class Column:
    """A quasi-identifier as it is published.

    Args:
        tree: Its hierarchy.
        weight: How much its cells count.
        counts: Records of the original per leaf [records].
        records: Published records per node [records].
        classes: Published classes per node.
        origins: Published records per leaf and the node that it became; None where the release
            does not tell.
        is_grouped: Whether the tree is made of groups of values instead of the hierarchy's nodes,
            so that its levels say nothing.
    """

    tree: Tree
    weight: float
    counts: Sequence[int]
    records: Mapping[Place, int]
    classes: Mapping[Place, int]
    origins: Sequence[tuple[int, Place, float]] | None = None
    is_grouped: bool = False

    @property
    def domain(self) -> int:
        """Number of leaves."""
        return len(self.tree.leaves)

    @property
    def levels(self) -> set[int]:
        """Levels that are published."""
        return {level for level, _ in self.records}


@dataclass(frozen=True, slots=True)
class Spread:
    """Value counts of an attribute within the published classes.

    Args:
        classes: Rows of class size, number of classes of that size, and the sum over these of
            their squared value counts.
        records: Records of the original that count.
        squares: Sum of the squared value counts of the original.
    """

    classes: Sequence[tuple[int, int, int]]
    records: int
    squares: int

    @property
    def baseline(self) -> Fraction:
        """Purity of the original as one class."""
        return Fraction(self.squares, self.records**2) if self.records else Fraction(0)

    @property
    def purity(self) -> Fraction:
        """Purity of the classes, each counting by its records."""
        if not self.records:
            return Fraction(0)
        common = math.lcm(*(size for size, _, _ in self.classes if size))
        parts = sum(squares * (common // size) for size, _, squares in self.classes if size)
        lost = self.records - sum(size * number for size, number, _ in self.classes)
        return (Fraction(parts, common) + lost * self.baseline) / self.records


@dataclass(frozen=True, slots=True)
class Release:
    """Counts of a release, from which its measures follow.

    Args:
        records: Records of the original.
        k: Smallest class size that the policy allows [records].
        statistics: The published classes, that of suppressed records left out.
        columns: The quasi-identifiers.
        ambiguities: Per number of combinations that a published record can stand for, such records.
        sensitive: The sensitive attributes.
        majority: Published records that hold the most frequent value of the class attribute within
            their class; None without one.
    """

    records: int
    k: int
    statistics: ClassStatistics
    columns: Sequence[Column]
    ambiguities: Mapping[float, int]
    sensitive: Sequence[Spread] = ()
    majority: int | None = None

    @property
    def suppressed(self) -> int:
        """Records that are not published."""
        return self.records - self.statistics.records

    @property
    def weights(self) -> list[float]:
        """Weights of the columns."""
        return [column.weight for column in self.columns]


@dataclass(frozen=True, slots=True)
class Tallied:
    """Counts of a recoding of single records.

    Args:
        release: What is published, sensitive attributes left out.
        statistics: All of its classes by size, that of suppressed records with them.
        suppressed: The label of suppressed records; None where no class counts as suppressed.
        silent: Records of published classes that count as suppressed, which no limit bounds.
    """

    release: Release
    statistics: ClassStatistics
    suppressed: str | None
    silent: int = 0
