"""Cell costs in the database, as tables to join with violating classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.hierarchy.layout import Layout
from sqlanon.hierarchy.tree import Tree
from sqlanon.loss.cells import CellCosts
from sqlanon.query.classes import frequency
from sqlanon.query.classes.frequency import Prices
from sqlanon.query.encoding.encode import word
from sqlanon.recoding import Node


@dataclass(slots=True)
class Pricing:
    """The costs of cells in the database, loaded when they are first needed.

    Args:
        engine: Where they are.
        layout: Which bits hold which level of which column.
        trees: The hierarchies.
        costs: What cells cost.
        low: Lowest level that is asked for, per quasi-identifier.
        high: The highest.
    """

    engine: Engine
    layout: Layout
    trees: Sequence[Tree]
    costs: CellCosts
    low: Node
    high: Node
    tables: Prices = field(init=False)

    def __post_init__(self) -> None:
        levels = {
            number: tuple(
                level for level in range(low, high + 1) if not self.costs.is_uniform(number, level)
            )
            for number, (low, high) in enumerate(zip(self.low, self.high, strict=True))
        }
        levels = {number: varying for number, varying in levels.items() if varying}
        tables = {number: self._table(number, varying) for number, varying in levels.items()}
        self.tables = Prices(levels, tables=tables)

    def uniform(self, node: Node) -> int:
        """The cost of a record's cells in the columns where all values cost the same [units]."""
        return sum(
            levels[level][0]
            for number, (levels, level) in enumerate(zip(self.costs.costs, node, strict=True))
            if level not in self.tables.levels.get(number, ())
        )

    def _table(self, number: int, levels: Sequence[int]) -> exp.Table:
        tree = self.trees[number]
        words = [word(w) for w in range(self.layout.words)]
        columns: dict[str, list[int]] = {name: [] for name in (frequency.LEVEL, *words)}
        columns[frequency.COST] = []
        for level in levels:
            codes = self.layout.node_codes(number, tree, level=level)
            costs = self.costs.costs[number][level]
            columns[frequency.LEVEL] += [level] * len(codes)
            columns[frequency.COST] += [costs[node] for node in codes.values()]
            for place, name in enumerate(words):
                columns[name] += [code[place] for code in codes]
        return self.engine.load_rows("prices", columns)
