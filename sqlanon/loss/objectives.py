"""Objectives: losses as the full-domain search minimizes them, from counts of classes.

A search works on whole numbers, so that neither threads nor the order of rows can change a result.
The loss of a node is made of two parts, see `search.lattice.bounds`: `up`, which never shrinks when
going up the lattice, and `down`, which never grows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from sqlanon.recoding import Node


@dataclass(frozen=True, slots=True)
class SuppressedCells:
    """Records that are suppressed, and what else a loss asks of them.

    Args:
        records: How many.
        squares: Their number times the size of their class, summed [records squared].
        cost: What their cells would lose if they were published as they are [units].
    """

    records: int
    squares: int = 0
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Gains:
    """Purity gains of the classes of a node, for a loss that weighs its cost against a gain.

    Args:
        every: All of them together [units of gain].
        most: The most that any classes of it, or of a node above, can [units of gain].
        here: The most that its own published classes can [units of gain].
        published: What these do; None where that is not counted yet.
    """

    every: int
    most: int
    here: int
    published: int | None = None


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Counts of the equivalence classes of a node.

    Args:
        classes: Number of classes.
        small_classes: Classes that violate a model.
        small_records: Records in them [records].
        squares: Sum of the squared sizes of all classes [records squared].
        small_squares: The same over the violating classes.
        small_cost: What the cells of the violating classes would lose if they were published as
            they are [units].
        required: What every node below suppresses at least; None where that is all of the
            violating classes.
        gains: What they gain; None where the loss asks for no gain.
    """

    classes: int
    small_classes: int
    small_records: int
    squares: int = 0
    small_squares: int = 0
    small_cost: int = 0
    required: SuppressedCells | None = None
    gains: Gains | None = None

    @property
    def kept_classes(self) -> int:
        """Classes that satisfy every model."""
        return self.classes - self.small_classes

    @property
    def suppressed(self) -> SuppressedCells:
        """The violating classes."""
        return SuppressedCells(self.small_records, self.small_squares, self.small_cost)

    @property
    def certain(self) -> SuppressedCells:
        """The least that this node and every node below suppress."""
        return self.suppressed if self.required is None else self.required


class Objective(Protocol):
    """A loss as the full-domain search minimizes it, in whole numbers.

    Its two parts are added (`additive`), or the larger of them counts. `squares` says whether it
    needs squared class sizes.
    """

    additive: ClassVar[bool]
    squares: ClassVar[bool]

    @property
    def floor(self) -> tuple[tuple[int, ...], ...]:
        """Per column and level a lower bound on `up` that needs no check, combined like `up`."""

    def up(self, node: Node, counts: ClassCounts) -> int:
        """The part that never shrinks on the way up."""

    def down(self, suppressed: SuppressedCells) -> int:
        """The part that never grows on the way up, of records that are suppressed."""

    def value(self, node: Node, counts: ClassCounts) -> int:
        """The loss of a node whose classes were counted."""

    def expected_down(self, up: Any, share: Any) -> Any:
        """The likely `down` of nodes that suppress a share of the records; arrays pass through."""

    def needed_down(self, up: int, best: float) -> float:
        """The `down` that rules a node out, with a margin for the forecast."""

    def loss(self, value: int) -> float:
        """The measure in its own terms."""


FORECAST_MARGIN = 0.2  # by how much a forecast must exceed what it is to show


@dataclass(frozen=True, slots=True)
class CellObjective:
    """A cell loss; a suppressed record costs one unit.

    `up` is the cost of publishing every record as generalized: known before any check. `down` is
    what suppression adds to it: records in small classes stay in small classes on the way down,
    and the less they are generalized the more their suppression adds.

    Args:
        unit: Cost of one suppressed record.
        records: Records of the table.
        floor: Per column and level the cost of all its cells [units].
        scale: What the average is multiplied with to be the measure.
    """

    unit: int
    records: int
    floor: tuple[tuple[int, ...], ...]
    scale: float = 1.0
    additive: ClassVar[bool] = True
    squares: ClassVar[bool] = False

    def up(self, node: Node, counts: ClassCounts) -> int:
        """The loss of all cells by generalization alone."""
        return sum(levels[level] for levels, level in zip(self.floor, node, strict=True))

    def down(self, suppressed: SuppressedCells) -> int:
        """The loss that suppression adds."""
        return suppressed.records * self.unit - suppressed.cost

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Generalized cells of published records, and a unit per suppressed one."""
        return self.up(node, counts) + self.down(counts.suppressed)

    def expected_down(self, up: Any, share: Any) -> Any:
        """Suppressed records are taken to be generalized like the others."""
        return share * (self.unit * self.records - up)

    def needed_down(self, up: int, best: float) -> float:
        """The `down` that would exceed the incumbent, with a margin."""
        return (best - up) * (1 + FORECAST_MARGIN)

    def loss(self, value: int) -> float:
        """Average over cells, times `scale`."""
        return self.scale * value / (self.unit * self.records)


@dataclass(frozen=True, slots=True)
class DiscernibilityObjective:
    """Discernibility: a record costs the size of its class, a suppressed one the whole table.

    `up` is the sum of the squares of all class sizes. `down` is what suppression adds: the rest
    of the table per suppressed record.

    Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization"; Li and Li
    2007, section 4.1.

    Args:
        records: Records of the table.
        floor: The records in the first column and nothing in the others: no node has a smaller
            sum of squares.
    """

    records: int
    floor: tuple[tuple[int, ...], ...]
    additive: ClassVar[bool] = True
    squares: ClassVar[bool] = True

    def up(self, node: Node, counts: ClassCounts) -> int:
        """Sum of the squared sizes of all classes."""
        return counts.squares

    def down(self, suppressed: SuppressedCells) -> int:
        """The loss that suppression adds to the squares of the classes."""
        return suppressed.records * self.records - suppressed.squares

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Squares of the published classes, and the whole table per suppressed record."""
        return counts.squares + self.down(counts.suppressed)

    def expected_down(self, up: Any, share: Any) -> Any:
        """Small classes have negligible squares."""
        return share * (self.records * self.records - up)

    def needed_down(self, up: int, best: float) -> float:
        """The `down` that would exceed the incumbent, with a margin."""
        return (best - up) * (1 + FORECAST_MARGIN)

    def loss(self, value: int) -> float:
        """The total itself."""
        return float(value)


@dataclass(frozen=True, slots=True)
class ClassSizeObjective:
    """Average class size: records of the table per published class, over k.

    The search maximizes the number of published classes, so all figures are negative. A class
    published above a node is a union of its classes and holds a published one, or at least k
    records of small ones (`up`); a node publishes at most one class per k records that it does
    not suppress (`down`).

    Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", C_AVG;
    a suppressed record counts in the numerator and belongs to no class.

    Args:
        records: Records of the table.
        k: Smallest class size allowed [records].
        floor: One class per k records, negated, for every column and level.
    """

    records: int
    k: int
    floor: tuple[tuple[int, ...], ...]
    additive: ClassVar[bool] = False
    squares: ClassVar[bool] = False

    def up(self, node: Node, counts: ClassCounts) -> int:
        """Published classes and what the small ones can make at most, negated."""
        return -(counts.kept_classes + counts.small_records // self.k)

    def down(self, suppressed: SuppressedCells) -> int:
        """Classes that the published records can make at most, negated."""
        return -((self.records - suppressed.records) // self.k)

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Published classes, negated."""
        return -counts.kept_classes

    def expected_down(self, up: Any, share: Any) -> Any:
        """One class per k published records."""
        return (share - 1.0) * (self.records / self.k)

    def needed_down(self, up: int, best: float) -> float:
        """More than the incumbent."""
        return best + FORECAST_MARGIN * abs(best)

    def loss(self, value: int) -> float:
        """Records per published class over k; infinite where nothing is published."""
        return self.records / (-value * self.k) if value else math.inf
