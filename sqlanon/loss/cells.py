"""Cell losses: the loss of a cell at each node of its hierarchy, and the names of all measures.

*Cell losses* charge every cell for the node it is generalized to and add up over cells, weighted by
column. They are fractions, so that neither threads nor the order of rows can change a sum, and a
search counts them in whole units (`CellCosts`). Some charge a cell for any group of values, node or
not (`GROUP_LOSSES`). What else is measured, of classes and of values, is in `measures`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from typing import Any

from sqlanon.hierarchy.declaration import Tree

MAX_TOTAL = 2**62  # totals stay below it, so that they fit a BIGINT with room for a sum of two
PARTS_PER_BIT = 2**40  # parts of a bit that an entropy is rounded to, which is irrational

Counts = Sequence[int]
"""Records of the original per leaf of a tree; without them each leaf counts once."""


def tree_cost(tree: Tree, level: int, _: Counts = ()) -> list[Fraction]:
    """The tree measure of a cell: level / height of the hierarchy.

    The levels are those of the hierarchy's file, also where a branch repeats a node.

    Source: Aggarwal et al. 2005, "Approximation algorithms for k-anonymity"; Kenig 2009, section
    3.1.
    """
    return [Fraction(level, tree.height)] * len(tree.sizes(level))


def lm_cost(tree: Tree, level: int, _: Counts = ()) -> list[Fraction]:
    """Loss Metric of a cell per node of a level: (leaves of the node - 1) / (leaves - 1).

    0 for an original value, 1 for the top; 0 where the domain has a single value, which a record
    loses only by being suppressed.

    A rule's leaves are the values present; a file's leaves are its rows. NULL is one of them where
    the column holds one or the file names it.

    Source: Iyengar 2002, "Transforming data to satisfy privacy constraints"; Kenig 2009, section
    3.1, equation (3.1).
    """
    domain = len(tree.leaves)
    return _shared(tree.sizes(level), lambda size: Fraction(*lm_share(GroupedCells(size, domain))))


def precision_cost(tree: Tree, level: int, _: Counts = ()) -> list[Fraction]:
    """One minus Sweeney's precision of a cell, which comes to the tree measure.

    Source: Sweeney 2002, "Achieving k-anonymity privacy protection using generalization and
    suppression", definition of Prec.
    """
    return tree_cost(tree, level)


def suppressed_cost(tree: Tree, level: int, _: Counts = ()) -> list[Fraction]:
    """1 for a cell generalized to the root of its hierarchy, 0 for any other.

    Source: Meyerson and Williams 2004, "On the complexity of optimal k-anonymity"; Park and Shim
    2007, section 3.2, definition 3.6.
    """
    domain = len(tree.leaves)
    return _shared(tree.sizes(level), lambda size: Fraction(int(level > 0 and size == domain)))


def entropy_cost(tree: Tree, level: int, counts: Counts = ()) -> list[Fraction]:
    """Entropy of a cell per node B of a level [bits]: H(X|B) = -sum over v in B of p_v log2 p_v.

    p_v is the share of value v among the original's records with a value in B. Going up, it can
    shrink: see `monotone_entropy_cost`. A suppressed cell loses H(X), like one at the top. Rounded
    to one of `PARTS_PER_BIT` parts of a bit.

    Source: Gionis and Tassa 2009, "k-anonymization with minimal loss of information"; Kenig 2009,
    section 3.2, definition 3.2.2.
    """
    return _shared(_entropies(tree, level, counts=counts), _bits)


def monotone_entropy_cost(tree: Tree, level: int, counts: Counts = ()) -> list[Fraction]:
    """Entropy of a cell once nodes are left out until it is monotone [bits].

    Left out is every node with more entropy than some node above it: generalizing to that one
    instead says less and costs less. Top down, what is left is monotone, for a node stays where its
    entropy is at most that of every node above it. A cell at a node left out is one at the lowest
    node above that stays, which has the least entropy of all nodes above: so the cost is the least
    entropy from the node up to the top, and that cannot shrink on the way up.

    Source: Kenig 2009, section 3.3, who takes the idea of a subset of nodes from Gionis and Tassa
    and does not say which; the one here is of the least loss. It is not the measure that Gionis and
    Tassa 2009 themselves call monotone entropy, Pr(B) H(X | B) for a cell at B.
    """
    least = _entropies(tree, tree.height, counts=counts)
    for place in reversed(range(level, tree.height)):
        entropies = _entropies(tree, place, counts=counts)
        least = list(map(min, entropies, map(least.__getitem__, tree.parents(place))))
    return _shared(least, _bits)


def _entropies(tree: Tree, level: int, *, counts: Counts) -> list[int]:
    """Entropy of each node of a level [parts of a bit]: log2 N - (sum of N_v log2 N_v) / N.

    Nodes that hold no record have none.
    """
    number = tree.nodes[level][-1] + 1
    if not level:
        return [0] * number
    records, terms = [0] * number, [0.0] * number
    for node, count in zip(tree.nodes[level], counts or repeat(1), strict=False):
        if count:
            records[node] += count
            terms[node] += count * math.log2(count)
    return [
        round((math.log2(count) - term / count) * PARTS_PER_BIT) if count else 0
        for count, term in zip(records, terms, strict=True)
    ]


def _shared(numbers: Sequence[int], cost: Callable[[int], Fraction]) -> list[Fraction]:
    """The cost of each number; equal ones share one object."""
    costs = {number: cost(number) for number in set(numbers)}
    return list(map(costs.__getitem__, numbers))


def _bits(part: int) -> Fraction:
    return Fraction(part, PARTS_PER_BIT)


def distinct(costs: Sequence[Fraction]) -> dict[int, Fraction]:
    """The costs by identity: there are few, and comparing fractions takes long."""
    return {id(cost): cost for cost in costs}


@dataclass(frozen=True, slots=True)
class GroupedCells:
    """Cells of a column that are published as groups of values: numbers, or arrays that suit.

    Args:
        leaves: Leaves of the group.
        domain: Leaves of the hierarchy.
        of_value: Records that hold the cell's own value [records].
        within: Records that hold a value of the group [records].
        records: All records [records].
    """

    leaves: Any
    domain: int
    of_value: Any = 0
    within: Any = 0
    records: Any = 0


Share = tuple[Any, Any]
"""A loss as numerator and denominator, in whole numbers."""


def lm_share(cells: GroupedCells) -> Share:
    """Loss Metric of cells in groups; see `lm_cost`."""
    return cells.leaves - 1, max(cells.domain - 1, 1)


def suppressed_share(cells: GroupedCells) -> Share:
    """1 for a cell whose group has all leaves of a hierarchy that has several, 0 for any other."""
    return ((cells.leaves == cells.domain) & (cells.leaves > 1)) * 1, 1


def hdm_share(cells: GroupedCells) -> Share:
    """Hierarchical discernibility of cells in groups; see `measures.hdm`."""
    rest = cells.records - cells.of_value
    return cells.within - cells.of_value, rest + (rest == 0)  # all hold one value: 0 of 1


def _one(tree: Tree, counts: Counts) -> Fraction:
    return Fraction(1)


def _whole_entropy(tree: Tree, counts: Counts) -> Fraction:
    return entropy_cost(tree, tree.height, counts)[0]


@dataclass(frozen=True, slots=True)
class CellLoss:
    """A loss that adds up over cells.

    Args:
        cost: The loss of a cell per node of a level, from the tree, the level and the records per
            leaf.
        suppressed: The loss of a cell of a suppressed record, from the tree and the records.
        meaning: What it says, in a reader's words.
        total: Whether it is the sum over all cells instead of their average.
    """

    cost: Callable[[Tree, int, Counts], list[Fraction]]
    meaning: str
    suppressed: Callable[[Tree, Counts], Fraction] = _one
    total: bool = False

    @property
    def is_share(self) -> bool:
        """Whether it is 0 where every cell is kept and 1 where every record is suppressed."""
        return self.suppressed is _one and not self.total


CELL_LOSSES: Mapping[str, CellLoss] = {
    "lm": CellLoss(
        lm_cost,
        "share of the values that a cell may stand for, averaged; 0: nothing lost, 1: all",
    ),
    "tree": CellLoss(
        tree_cost, "level divided by the height of the hierarchy, averaged over cells"
    ),
    "precision": CellLoss(precision_cost, "the same as tree: one minus Sweeney's precision"),
    "suppressed-cells": CellLoss(suppressed_cost, "cells that are fully suppressed", total=True),
    "monotone-entropy": CellLoss(
        monotone_entropy_cost,
        "bits lost per cell, counted so that a coarser label never loses less",
        _whole_entropy,
    ),
}
"""Cell losses that never shrink on the way up, so that they can steer a search."""
DEFAULT_LOSS = "lm"
"""What is minimized where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class GroupLoss:
    """A loss that adds up over cells, for cells in any groups of values.

    Args:
        share: The loss of cells.
        by_value: Whether it may differ between the values of one group.
        total: Whether it is the sum over all cells instead of their average.
    """

    share: Callable[[GroupedCells], Share]
    by_value: bool = False
    total: bool = False


GROUP_LOSSES: Mapping[str, GroupLoss] = {
    "lm": GroupLoss(lm_share),
    "hdm": GroupLoss(hdm_share, by_value=True),
    "suppressed-cells": GroupLoss(suppressed_share, total=True),
}
"""Losses of groups that never shrink as groups are merged, so that they can steer a search."""

CELL_MEASURES: Mapping[str, CellLoss] = {
    **CELL_LOSSES,
    "entropy": CellLoss(entropy_cost, "bits lost per cell", _whole_entropy),
}
"""Measures that add up over cells and follow from their nodes alone."""

CLASS_LOSSES = ("discernibility", "average-class-size")
LOSSES = (*CELL_LOSSES, *CLASS_LOSSES)
LEVEL_MEASURES = ("tree", "precision", "utility")
"""Measures that go by levels, which groups of values that are no nodes do not have."""
VALUE_MEASURES = ("purity", "purity-gain", "utility")
"""Measures that need a sensitive attribute."""


def shares(weights: Sequence[float]) -> list[Fraction]:
    """Each column's share of a record: its weight, taken as written, over the sum of all."""
    exact = [Fraction(str(weight)) for weight in weights]
    whole = sum(exact)
    return [weight / whole for weight in exact]


@dataclass(frozen=True, slots=True)
class CellCosts:
    """A cell loss in whole numbers: what a cell costs per column, level and node.

    A suppressed record costs one `unit`, and its column i the part of it that goes with its weight
    over the sum of the weights. Where a common denominator of all costs fits, the figures are
    exact; else they are rounded down to one of about 2^62 / records parts, so that no record costs
    more than one unit, and costs that never shrink on the way up still do not.

    Args:
        unit: Cost of one suppressed record [units].
        costs: `costs[column][level][node]` [units].
        scale: The measure where every record is suppressed.
    """

    unit: int
    costs: tuple[tuple[tuple[int, ...], ...], ...]
    scale: float = 1.0

    @classmethod
    def of(
        cls,
        name: str,
        trees: Sequence[Tree],
        *,
        weights: Sequence[float],
        records: int,
        counts: Sequence[Counts] = (),
    ) -> CellCosts:
        """One of `CELL_LOSSES` in units, of weighted columns and a table of so many records.

        Per column, `counts` has the records of each leaf; only entropies look at them.
        """
        loss, column_counts = CELL_LOSSES[name], counts or [()] * len(trees)
        table = [
            [loss.cost(tree, level, leaves) for level in range(tree.height + 1)]
            for tree, leaves in zip(trees, column_counts, strict=True)
        ]
        parts = [
            share * loss.suppressed(tree, leaves)
            for share, tree, leaves in zip(shares(weights), trees, column_counts, strict=True)
        ]
        whole = sum(parts, Fraction(0))
        largest = (MAX_TOTAL - 1) // (max(records, 1) * max(math.ceil(whole), 1))
        unit = _common_unit(table, shares(weights), suppressed=parts, largest=largest)
        columns = []
        for share, column in zip(shares(weights), table, strict=True):
            levels = []
            for level in column:
                units = {i: math.floor(c * share * unit) for i, c in distinct(level).items()}
                levels.append(tuple(units[id(cost)] for cost in level))
            columns.append(tuple(levels))
        record = math.floor(whole * unit)
        scale = record / unit * (len(trees) * records if loss.total else 1)
        # Where nothing can be lost, suppressed records still count.
        return cls(record or 1, tuple(columns), scale)

    def loss(self, total: int, records: int) -> float:
        """The measure, of the cost of all cells [units] of a table of so many records."""
        return self.scale * total / (self.unit * records)

    def is_uniform(self, column: int, level: int) -> bool:
        """Whether all cells of a column cost the same at a level."""
        return min(self.costs[column][level]) == max(self.costs[column][level])


def _common_unit(
    table: Sequence[Sequence[Sequence[Fraction]]],
    shares: Sequence[Fraction],
    *,
    suppressed: Sequence[Fraction],
    largest: int,
) -> int:
    """The least number of parts that makes all costs whole, or the largest power of two."""
    unit = math.lcm(*(share.denominator for share in suppressed))
    for share, column in zip(shares, table, strict=True):
        for level in column:
            for cost in distinct(level).values():
                unit = math.lcm(unit, (share * cost).denominator)
                if unit > largest:
                    return 1 << (largest.bit_length() - 1)
    return unit if unit <= largest else 1 << (largest.bit_length() - 1)
