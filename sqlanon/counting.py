"""Counting: asks the database for the class sizes of nodes, from the nearest frequency set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlglot import exp

from sqlanon.encoding import Encoded
from sqlanon.engine.base import Engine
from sqlanon.hierarchy import Tree
from sqlanon.loss import CellCosts, ClassCounts, Objective
from sqlanon.query import frequency
from sqlanon.query.encode import extent, word
from sqlanon.query.frequency import Price
from sqlanon.query.names import create_temporary
from sqlanon.recoding import Node
from sqlanon.search.knowledge import Check, Forecast

Rows = list[tuple[int, ...]]

WORTHWHILE = 20_000  # rows; a smaller set is scanned faster than a coarser one is written
TYPICAL = 8  # size of a class that is not small, in multiples of k
WRITING = 3  # how many rows are scanned in the time that one is written


@dataclass(frozen=True, slots=True)
class FrequencySet:
    """Class sizes of a node, held in the database.

    Args:
        node: The node.
        table: Its classes, in the shape of the encoded table.
        rows: Number of classes.
    """

    node: Node
    table: exp.Table
    rows: int


@dataclass(slots=True)
class Counter:
    """Counts the classes of nodes, several per query, rolling sets up where that pays.

    Args:
        engine: Where the sets live.
        encoded: The codes.
        trees: The hierarchies.
        k: Smallest class size allowed [records].
        objective: The loss, whose two parts each check works out.
        costs: Costs of cells, where suppression matters to the loss.
        squares: Whether the loss needs squared class sizes.
        lowest: The lowest node that will be asked for.
        entropies: Per column and level the entropy of the generalized column [bits]; they
            foretell how many rows a roll-up will have.
    """

    engine: Engine
    encoded: Encoded
    trees: Sequence[Tree]
    k: int
    objective: Objective
    costs: CellCosts | None
    squares: bool
    lowest: Node
    entropies: Sequence[Sequence[float]]
    sets: list[FrequencySet] = field(default_factory=list)
    counted: int = 0
    rolled_up: int = 0
    _prices: dict[tuple[int, int], Price] = field(default_factory=dict)
    _prepared: dict[tuple[str, ...], Callable[[Sequence[object]], Rows]] = field(
        default_factory=dict
    )
    _uniform: list[list[bool]] = field(default_factory=list)
    _density: Forecast = field(init=False)

    def __post_init__(self) -> None:
        if self.costs is not None:
            self._uniform = [
                [self.costs.is_uniform(number, level) for level in range(len(levels))]
                for number, levels in enumerate(self.costs.costs)
            ]
        self._density = Forecast(sum(map(max, self.entropies)))
        self.sets.append(self._base())

    def ask(self, nodes: Sequence[Node]) -> list[Check]:
        """Counts the classes of nodes, in the order given."""
        if not nodes:
            return []
        self._roll_up(nodes)
        sources = [self._nearest(node).table for node in nodes]
        masks = [self.encoded.layout.node_masks(node) for node in nodes]
        self.counted += len(nodes)
        if self.costs is None:
            rows = sorted(self._class_counts(sources)([mask for node in masks for mask in node]))
            counts = [ClassCounts(*row[1:]) for row in rows]
        else:
            prices = [self._node_prices(node) for node in nodes]
            query = frequency.small_costs(sources, masks, self.k, prices)
            rows = sorted(self.engine.rows(query))
            counts = [self._costed(n, row[1:]) for n, row in zip(nodes, rows, strict=True)]
        return [self._check(node, count) for node, count in zip(nodes, counts, strict=True)]

    def _class_counts(self, sources: Sequence[exp.Table]) -> Callable[[Sequence[object]], Rows]:
        """The query of so many nodes' class sizes, written once per choice of sources."""
        names = tuple(source.name for source in sources)
        if names not in self._prepared:
            words = self.encoded.layout.words
            query = frequency.class_counts(sources, words, self.k, squares=self.squares)
            self._prepared[names] = self.engine.prepare(query)
        return self._prepared[names]

    def _base(self) -> FrequencySet:
        """The encoded table, rolled up to the lowest node."""
        leaves = tuple(0 for _ in self.lowest)
        base = FrequencySet(leaves, self.encoded.table, self.encoded.rows)
        return self._rolled(base, self.lowest) if any(self.lowest) else base

    def _costed(self, node: Node, row: Sequence[int]) -> ClassCounts:
        """Small classes with what they cost; how many others there are is guessed, not counted."""
        assert self.costs is not None
        small, records, cost = row
        uniform = sum(
            levels[level][0]
            for number, (levels, level) in enumerate(zip(self.costs.costs, node, strict=True))
            if self._uniform[number][level]
        )
        others = (sum(self.encoded.counts[0]) - records) // (TYPICAL * self.k)
        return ClassCounts(small + others, small, records, small_cost=cost + uniform * records)

    def _node_prices(self, node: Node) -> list[Price]:
        assert self.costs is not None
        return [
            self._price(number, level)
            for number, level in enumerate(node)
            if not self._uniform[number][level]
        ]

    def _price(self, number: int, level: int) -> Price:
        """What a column's cells cost at a level, loaded when it is first needed."""
        assert self.costs is not None
        if (number, level) not in self._prices:
            layout, tree = self.encoded.layout, self.trees[number]
            masks = layout.column_masks(number, level)
            words = layout.leaf_codes(number, tree)
            codes = {
                tuple(w & m for w, m in zip(code, masks, strict=True)): node
                for code, node in zip(zip(*words, strict=True), tree.nodes[level], strict=True)
            }
            columns: dict[str, Sequence[object]] = {
                word(w): [code[w] for code in codes] for w in range(layout.words)
            }
            costs = self.costs.costs[number][level]
            columns[frequency.COST] = [costs[node] for node in codes.values()]
            table = self.engine.temporary("prices")
            self.engine.load(table, columns, dict.fromkeys(columns, "BIGINT"))
            self._prices[number, level] = Price(table, masks)
        return self._prices[number, level]

    def _nearest(self, node: Node) -> FrequencySet:
        """The smallest set that a node can be counted from."""
        return min(
            (s for s in self.sets if all(a <= b for a, b in zip(s.node, node, strict=True))),
            key=lambda s: s.rows,
        )

    def _roll_up(self, nodes: Sequence[Node]) -> None:
        """Writes frequency sets from which several of the nodes can be counted with less work."""
        meets: list[tuple[Node, int]] = []
        for node in nodes:
            for place, (meet, members) in enumerate(meets):
                both = _meet(meet, node)
                if self._pays(both, members + 1):
                    meets[place] = (both, members + 1)
                    break
            else:
                meets.append((node, 1))
        for meet, members in meets:
            if self._pays(meet, members):
                self.sets.append(self._rolled(self._nearest(meet), meet))

    def _pays(self, node: Node, members: int) -> bool:
        """Whether writing a node's set and counting so many nodes from it saves scanned rows."""
        source = self._nearest(node)
        if source.rows <= WORTHWHILE or source.node == node:
            return False
        rows = float(self._density.at(np.asarray(self._entropy(node)))) * self.encoded.rows
        return members * (source.rows - rows) > source.rows + WRITING * rows

    def _rolled(self, source: FrequencySet, node: Node) -> FrequencySet:
        table = self.engine.temporary("frequency")
        masks = self.encoded.layout.node_masks(node)
        query = frequency.roll_up(source.table, masks)
        self.engine.run(create_temporary(table, query))
        self.rolled_up += 1
        rows = self.engine.rows(extent(table))[0][0]
        self._density.learn(self._entropy(node), rows / self.encoded.rows)
        return FrequencySet(node, table, rows)

    def _entropy(self, node: Node) -> float:
        return sum(levels[level] for levels, level in zip(self.entropies, node, strict=True))

    def _check(self, node: Node, counts: ClassCounts) -> Check:
        self._density.learn(self._entropy(node), min(counts.classes / self.encoded.rows, 1.0))
        objective = self.objective
        return Check(
            node,
            counts.small_records,
            objective.up(node, counts),
            objective.down(counts),
            objective.value(node, counts),
        )


def _meet(one: Node, other: Node) -> Node:
    """The highest node below two."""
    return tuple(map(min, one, other))
