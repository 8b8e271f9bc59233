"""Information-loss measures: how much a recoding takes away.

Three kinds. *Cell losses* (`lm`, `precision`, `suppressed-cells`) charge every cell for the node
it is generalized to and add up over cells. *Discernibility* and *average class size* look at
class sizes alone. A search works on whole numbers, so that neither threads nor the order of rows
can change a result: cell losses are counted in units, one `unit` being the whole loss of one
record (`CellCosts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from sqlanon.errors import PolicyError
from sqlanon.hierarchy import Tree
from sqlanon.recoding import Node

LARGEST = 2**62  # totals stay below it, so that they fit a BIGINT with room for a sum of two


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """What one query counts of the equivalence classes of a node.

    Args:
        classes: Number of classes.
        small_classes: Classes that violate a model.
        small_records: Records in them [records].
        squares: Sum of the squared sizes of all classes [records squared].
        small_squares: The same over the violating classes.
        small_cost: What the cells of the violating classes would lose if they were published as
            they are [units].
    """

    classes: int
    small_classes: int
    small_records: int
    squares: int = 0
    small_squares: int = 0
    small_cost: int = 0

    @property
    def kept_classes(self) -> int:
        """Classes that satisfy every model."""
        return self.classes - self.small_classes


def lm_cost(tree: Tree, level: int) -> list[Fraction]:
    """Loss Metric of a cell per node of a level: (leaves of the node - 1) / (leaves - 1).

    0 for an original value, 1 for the top; 0 where the domain has a single value, which a record
    loses only by being suppressed.

    A rule's leaves are the values present; a file's leaves are its rows. NULL is one of them where
    the column holds one or the file names it.

    Source: Iyengar 2002, "Transforming data to satisfy privacy constraints"; Kenig 2009, section
    3.1, equation (3.1).
    """
    domain = len(tree.leaves)
    if domain == 1:
        return [Fraction(0)]
    return _by_size(tree, level, lambda size: Fraction(size - 1, domain - 1))


def precision_cost(tree: Tree, level: int) -> list[Fraction]:
    """One minus Sweeney's precision of a cell: level / height of the hierarchy.

    Source: Sweeney 2002, "Achieving k-anonymity privacy protection using generalization and
    suppression", definition of Prec.
    """
    return [Fraction(level, tree.height)] * len(tree.sizes(level))


def suppressed_cost(tree: Tree, level: int) -> list[Fraction]:
    """1 for a cell generalized to the root of its hierarchy, 0 for any other.

    Source: Meyerson and Williams 2004, "On the complexity of optimal k-anonymity"; Park and Shim
    2007, section 3.2, definition 3.6.
    """
    domain = len(tree.leaves)
    return _by_size(tree, level, lambda size: Fraction(int(level > 0 and size == domain)))


def _by_size(tree: Tree, level: int, cost: Callable[[int], Fraction]) -> list[Fraction]:
    """A cost per node that depends on its size alone; nodes of one size share one number."""
    sizes = tree.sizes(level)
    costs = {size: cost(size) for size in set(sizes)}
    return list(map(costs.__getitem__, sizes))


def distinct(costs: Sequence[Fraction]) -> dict[int, Fraction]:
    """The costs by identity: there are few, and comparing fractions takes long."""
    return {id(cost): cost for cost in costs}


CELL_LOSSES: Mapping[str, Callable[[Tree, int], list[Fraction]]] = {
    "lm": lm_cost,
    "precision": precision_cost,
    "suppressed-cells": suppressed_cost,
}
CLASS_LOSSES = ("discernibility", "average-class-size")
LOSSES = (*CELL_LOSSES, *CLASS_LOSSES)


def checked_loss(name: str) -> str:
    """The name of a loss that can steer the full-domain search.

    Raises:
        PolicyError: The name is none of them.
    """
    if name not in LOSSES:
        raise PolicyError(f"loss {name!r} is not known; choose one of {', '.join(LOSSES)}")
    return name


@dataclass(frozen=True, slots=True)
class CellCosts:
    """A cell loss in whole numbers: what a cell costs per column, level and node.

    A record whose cells are all suppressed costs one `unit`, and column i's share of it is its
    weight over the sum of the weights. Where a common denominator of all costs fits, the figures
    are exact; else they are rounded down to one of about 2^62 / records parts of a unit, so that no
    record costs more than one.

    Args:
        unit: Cost of one suppressed record [units].
        costs: `costs[column][level][node]` [units].
    """

    unit: int
    costs: tuple[tuple[tuple[int, ...], ...], ...]

    @classmethod
    def of(
        cls, name: str, trees: Sequence[Tree], weights: Sequence[float], records: int
    ) -> CellCosts:
        """Counts a cell loss in units for a table of so many records."""
        exact = [Fraction(str(weight)) for weight in weights]
        whole = sum(exact, Fraction(0))
        shares = [weight / whole for weight in exact]
        table = [
            [CELL_LOSSES[name](tree, level) for level in range(tree.height + 1)] for tree in trees
        ]
        unit = _common_unit(table, shares, (LARGEST - 1) // max(records, 1))
        columns = []
        for share, column in zip(shares, table, strict=True):
            levels = []
            for level in column:
                units = {i: math.floor(c * share * unit) for i, c in distinct(level).items()}
                levels.append(tuple(units[id(cost)] for cost in level))
            columns.append(tuple(levels))
        return cls(unit, tuple(columns))

    def is_uniform(self, column: int, level: int) -> bool:
        """Whether all cells of a column cost the same at a level."""
        return min(self.costs[column][level]) == max(self.costs[column][level])


def _common_unit(
    table: Sequence[Sequence[Sequence[Fraction]]], shares: Sequence[Fraction], largest: int
) -> int:
    """The least number of parts that makes all costs whole, or the largest power of two."""
    unit = math.lcm(*(share.denominator for share in shares))
    for share, column in zip(shares, table, strict=True):
        for level in column:
            for cost in distinct(level).values():
                unit = math.lcm(unit, (share * cost).denominator)
                if unit > largest:
                    return 1 << (largest.bit_length() - 1)
    return unit if unit <= largest else 1 << (largest.bit_length() - 1)


class Objective(Protocol):
    """A loss as the full-domain search minimizes it, in whole numbers.

    The loss of a node is made of two parts, see `search.knowledge`: `up`, which never shrinks
    when going up the lattice, and `down`, which never grows. They are added (`additive`), or the
    larger of them counts.
    """

    additive: ClassVar[bool]

    @property
    def floor(self) -> tuple[tuple[int, ...], ...]:
        """Per column and level a lower bound on `up` that needs no check."""

    def up(self, node: Node, counts: ClassCounts) -> int:
        """The part that never shrinks on the way up."""

    def down(self, counts: ClassCounts) -> int:
        """The part that never grows on the way up."""

    def value(self, node: Node, counts: ClassCounts) -> int:
        """The loss of a node whose classes were counted."""

    def lowest_up(self, node: Node) -> int:
        """A lower bound on `up` that needs no check."""

    def expected_down(self, up: Any, share: Any) -> Any:
        """The likely `down` of nodes that suppress a share of the records; arrays pass through."""

    def needed_down(self, up: int, best: int) -> float:
        """The `down` that rules a node out, with a margin for the forecast."""

    def loss(self, value: int) -> float:
        """The measure in its own terms."""


MARGIN = 0.2  # by how much a forecast must exceed what it is to show


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

    def up(self, node: Node, counts: ClassCounts) -> int:
        """What all cells lose by generalization alone."""
        return self.lowest_up(node)

    def down(self, counts: ClassCounts) -> int:
        """What suppression adds."""
        return counts.small_records * self.unit - counts.small_cost

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Generalized cells of published records, and a unit per suppressed one."""
        return self.lowest_up(node) + self.down(counts)

    def lowest_up(self, node: Node) -> int:
        """The same as `up`: it needs no check."""
        return sum(levels[level] for levels, level in zip(self.floor, node, strict=True))

    def expected_down(self, up: Any, share: Any) -> Any:
        """Suppressed records are taken to be generalized like the others."""
        return share * (self.unit * self.records - up)

    def needed_down(self, up: int, best: int) -> float:
        """What is missing to the best value."""
        return (best - up) * (1 + MARGIN)

    def loss(self, value: int) -> float:
        """Average over cells, times `scale`."""
        return self.scale * value / (self.unit * self.records)


@dataclass(frozen=True, slots=True)
class DiscernibilityObjective:
    """Discernibility: a record costs the size of its class, a suppressed one the whole table.

    `up` is the sum of the squares of all class sizes. `down` is what suppression adds: the rest
    of the table per suppressed record.

    Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization"; Li and Li
    2008, section 4.1.

    Args:
        records: Records of the table.
        floor: The records in the first column and nothing in the others: no node has a smaller
            sum of squares.
    """

    records: int
    floor: tuple[tuple[int, ...], ...]
    additive: ClassVar[bool] = True

    def up(self, node: Node, counts: ClassCounts) -> int:
        """Sum of the squared sizes of all classes."""
        return counts.squares

    def down(self, counts: ClassCounts) -> int:
        """What suppressing the small classes adds to their squares."""
        return counts.small_records * self.records - counts.small_squares

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Squares of the published classes, and the whole table per suppressed record."""
        return counts.squares + self.down(counts)

    def lowest_up(self, node: Node) -> int:
        """No class is empty: at least one pair per record."""
        return self.records

    def expected_down(self, up: Any, share: Any) -> Any:
        """Small classes have negligible squares."""
        return share * (self.records * self.records - up)

    def needed_down(self, up: int, best: int) -> float:
        """What is missing to the best value."""
        return (best - up) * (1 + MARGIN)

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

    def up(self, node: Node, counts: ClassCounts) -> int:
        """Published classes and what the small ones can make at most, negated."""
        return -(counts.kept_classes + counts.small_records // self.k)

    def down(self, counts: ClassCounts) -> int:
        """Classes that the published records can make at most, negated."""
        return -((self.records - counts.small_records) // self.k)

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Published classes, negated."""
        return -counts.kept_classes

    def lowest_up(self, node: Node) -> int:
        """One class per k records."""
        return -(self.records // self.k)

    def expected_down(self, up: Any, share: Any) -> Any:
        """One class per k published records."""
        return (share - 1.0) * (self.records / self.k)

    def needed_down(self, up: int, best: int) -> float:
        """More than the best value."""
        return best + MARGIN * abs(best)

    def loss(self, value: int) -> float:
        """Records per published class over k; infinite where nothing is published."""
        return self.records / (-value * self.k) if value else math.inf
