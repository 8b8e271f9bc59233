"""Batch: nodes that one query counts from one frequency set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.codes import Layout
from sqlanon.query.frequency import Prices
from sqlanon.recoding import Node


@dataclass(frozen=True, slots=True)
class FrequencySet:
    """Class sizes of a node, held in the database.

    Args:
        node: The node.
        table: Its classes, in the shape of the encoded table, with what their cells cost where
            `prices` says so.
        rows: Number of classes.
        prices: Where the costs of cells are, if they matter.
    """

    node: Node
    table: exp.Table
    rows: int
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Nodes that are counted from one frequency set.

    Args:
        source: The set.
        nodes: The nodes, all at or above that of the set.
        layout: Which bits hold which level of which column.
    """

    source: FrequencySet
    nodes: Sequence[Node]
    layout: Layout

    @property
    def masks(self) -> list[tuple[int, ...]]:
        """Per node the bits that tell its classes apart."""
        return [self.layout.node_masks(node) for node in self.nodes]

    @property
    def parameters(self) -> list[list[int]]:
        """The values of `frequency.node_columns`, a list over the nodes for each."""
        columns = [list(range(len(self.nodes))), *map(list, zip(*self.masks, strict=True))]
        prices = self.source.prices
        for number in prices.levels if prices is not None else ():
            levels = [node[number] for node in self.nodes]
            columns.append(levels)
            if prices is not None and prices.held is None:
                bits = [self.layout.column_masks(number, level) for level in levels]
                columns += map(list, zip(*bits, strict=True))
        return columns
