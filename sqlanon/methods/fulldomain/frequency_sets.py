"""Batch: nodes that one query counts from one frequency set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.hierarchy.layout import Layout
from sqlanon.query.classes.frequency import Prices
from sqlanon.recoding import Node

MOST = 2_000_000  # rows that a query groups at most, unless a single node needs more
LARGE = 30_000  # rows; a larger set is grouped for each node by itself
SIDE_BY_SIDE = 20_000_000  # rows that such groupings of one query scan at most


@dataclass(frozen=True, slots=True)
class FrequencySet:
    """Class sizes of a node, held in the database.

    Args:
        node: The node.
        table: Its classes, in the shape of the encoded table, with what their cells cost where
            `prices` says so.
        rows: Number of classes.
        prices: Where the costs of cells are, if they matter.
        details: What models beyond k need of the same classes, with the ROW that the table has;
            None where there are none.
        detailed: Rows of the details.
    """

    node: Node
    table: exp.Table
    rows: int
    prices: Prices | None = None
    details: exp.Table | None = None
    detailed: int = 0

    @property
    def scanned(self) -> int:
        """Rows that are grouped for a node, at most."""
        return max(self.rows, self.detailed)

    @property
    def has_row(self) -> bool:
        """Whether a class has a ROW by which its costs are found."""
        return self.prices is not None and self.prices.held is not None


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

    def split(self) -> list[Batch]:
        """The same in batches that the memory holds: a query groups the set once for each node."""
        rows = self.source.scanned
        size = max(1, (SIDE_BY_SIDE if rows > LARGE else MOST) // max(rows, 1))
        starts = range(0, len(self.nodes), size)
        return [replace(self, nodes=self.nodes[start : start + size]) for start in starts]

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
