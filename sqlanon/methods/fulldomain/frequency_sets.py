"""Frequency sets: which of them a search holds, and which nodes are counted from which.

Roll-ups are weighed by what grouping takes: a row finds its class seven times as fast while classes
fit the cache, so a coarser set of a million rows pays for nodes with many classes and not for nodes
with few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError
from sqlanon.hierarchy.layout import Layout
from sqlanon.hierarchy.tree import Tree
from sqlanon.loss.cells import CellCosts
from sqlanon.microdata.encoding import Encoded
from sqlanon.query.classes import frequency
from sqlanon.query.classes.frequency import Masks, Prices
from sqlanon.query.encode import PEOPLE, SIZE, word_names
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Forecast, at_node
from sqlanon.sqltext import Sql


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
    prices: Prices = field(init=False)

    def __post_init__(self) -> None:
        varying = [
            (number, level)
            for number, (low, high) in enumerate(zip(self.low, self.high, strict=True))
            for level in range(low, high + 1)
            if not self.costs.is_uniform(number, level)
        ]
        places = {priced: place for place, priced in enumerate(varying)}
        self.prices = Prices(places, self._table(places) if places else None)

    def uniform(self, node: Node) -> int:
        """The cost of a record's cells in the columns where all values cost the same [units]."""
        return sum(
            levels[level][0]
            for number, (levels, level) in enumerate(zip(self.costs.costs, node, strict=True))
            if (number, level) not in self.prices.places
        )

    def _table(self, places: Mapping[tuple[int, int], int]) -> exp.Table:
        words = word_names(self.layout.words)
        columns: dict[str, list[int]] = {
            name: [] for name in (frequency.PLACE, *words, frequency.COST)
        }
        for (number, level), place in places.items():
            codes = self.layout.node_codes(number, self.trees[number], level=level)
            costs = self.costs.costs[number][level]
            columns[frequency.PLACE] += [place] * len(codes)
            columns[frequency.COST] += [costs[node] for node in codes.values()]
            for w, name in enumerate(words):
                columns[name] += [code[w] for code in codes]
        return self.engine.load_rows("prices", columns)


Rows = list[tuple[int, ...]]
Prepared = dict[str, Sql]
"""Queries that one asker has written, by the table of their frequency set."""

LARGE_SET_ROWS = 30_000  # in a larger set, groupings by literal masks take a third of the time
JOINED_AT_ONCE = 2_000_000  # rows of nodes times set that a query groups, unless one node has more
SIDE_BY_SIDE = 20_000_000  # rows that the groupings of a large set scan at most in one query
ROLLED_UP = 20_000  # rows; a smaller set is scanned faster than a coarser one is written

# Costs in rows scanned in the same time.
PLANNING = 100_000  # of a query
CACHE_MISS = 6  # of finding a row's class in memory
CACHED = 100_000  # classes; with more, rows seldom find theirs in the cache
NEW_CLASS = 12  # of making a class


@dataclass(frozen=True, slots=True)
class FrequencySet:
    """Class sizes of a node, held in the database.

    Args:
        node: The node.
        table: Its classes, in the shape of the encoded table.
        rows: Number of classes.
        prices: Where the costs of cells are, if they matter.
        details: What models beyond k need of the same classes; None where there are none.
        detailed: Rows of the details.
        presence: The same classes, and those of the population alone, with the records of both;
            None where no model asks for these.
        present: Rows of it.
    """

    node: Node
    table: exp.Table
    rows: int
    prices: Prices | None = None
    details: exp.Table | None = None
    detailed: int = 0
    presence: exp.Table | None = None
    present: int = 0

    @property
    def scanned(self) -> int:
        """Rows that are grouped for a node, at most."""
        return max(self.rows, self.detailed, self.present)


NO_PLACE = -1
"""In the table of prices, of a node without a column whose values differ in cost."""


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
        """Batches that the memory holds: a query groups the set once for each node."""
        rows = self.source.scanned
        size = max(1, (SIDE_BY_SIDE if rows > LARGE_SET_ROWS else JOINED_AT_ONCE) // max(rows, 1))
        starts = range(0, len(self.nodes), size)
        return [replace(self, nodes=self.nodes[start : start + size]) for start in starts]

    @property
    def masks(self) -> list[tuple[int, ...]]:
        """Per node the bits that tell its classes apart."""
        return [self.layout.node_masks(node) for node in self.nodes]

    @property
    def node_lists(self) -> list[list[int]]:
        """The values of `frequency.node_columns`, a list over the nodes for each."""
        return [list(range(len(self.nodes))), *map(list, zip(*self.masks, strict=True))]

    @property
    def price_lists(self) -> list[list[int]]:
        """The values of `frequency.priced_columns`, if costs matter; each node has a row."""
        prices = self.source.prices
        if prices is None or prices.table is None:
            return []
        rows: list[tuple[int, ...]] = []
        for number, node in enumerate(self.nodes):
            columns = [
                (prices.places[column, level], *self.layout.column_masks(column, level))
                for column, level in enumerate(node)
                if (column, level) in prices.places
            ]
            first, *rest = columns or [(NO_PLACE, *(0 for _ in range(self.layout.words)))]
            rows += [(number, 1, *first), *((number, 0, *column) for column in rest)]
        return list(map(list, zip(*rows, strict=True)))


@dataclass(slots=True)
class FrequencySets:
    """The frequency sets of a search, rolled up where that pays.

    Args:
        engine: The engine that holds them.
        encoded: The encoded table.
        lowest: The lowest node that will be asked for.
        entropies: Per column and level the entropy of the generalized column [bits]; they
            foretell how many rows a roll-up will have.
        pricing: Costs of cells, where suppression matters to the loss.
    """

    engine: Engine
    encoded: Encoded
    lowest: Node
    entropies: Sequence[Sequence[float]]
    pricing: Pricing | None
    kept: list[FrequencySet] = field(default_factory=list)
    asked: int = 0
    rolled_up: int = 0
    _density: Forecast = field(init=False)

    def __post_init__(self) -> None:
        self._density = Forecast(sum(map(max, self.entropies)))
        leaves, details = tuple(0 for _ in self.lowest), self.encoded.details
        prices = None if self.pricing is None else self.pricing.prices
        base = FrequencySet(
            leaves,
            self.encoded.table,
            self.encoded.rows,
            prices,
            presence=self.encoded.presence,
            present=self.encoded.present,
        )
        if details is not None:
            base = replace(base, details=details.table, detailed=details.rows)
        self.kept.append(self._rolled(base, self.lowest) if any(self.lowest) else base)

    def learn(self, node: Node, classes: int) -> None:
        """Takes in how many classes a node has, to foretell those of others."""
        density = min(classes / self.encoded.rows, 1.0)
        self._density.learn(at_node(node, self.entropies), density)

    def rows(
        self, batch: Batch, prepared: Prepared, query: Callable[[Sequence[Masks] | None], Sql]
    ) -> Rows:
        """What a query says of the nodes of a batch, whose first column is their number.

        It is written once for each set that is not large.

        Args:
            batch: The nodes.
            prepared: What the asker has written so far: the sets outlive it, and its k and models.
            query: The query of nodes by their masks, or by the parameters of a batch.
        """
        source = batch.source
        if source.scanned > LARGE_SET_ROWS:
            return self.engine.rows(query(batch.masks), batch.price_lists)
        key = source.table.name
        if key not in prepared:
            prepared[key] = query(None)
        return self.engine.rows(prepared[key], [*batch.node_lists, *batch.price_lists])

    def batch_of_node(self, node: Node) -> Batch:
        """A node by the set of its own classes, which is written where it is not held."""
        source = self._nearest(node)
        source = source if source.node == node else self._rolled(source, node)
        return Batch(source, [node], self.encoded.layout)

    def prepare(self, nodes: Sequence[Node]) -> None:
        """Rolls up sets from which several of the nodes to be counted take less work."""
        self.asked += len(nodes)
        if all(source.scanned <= ROLLED_UP for source in self.kept):
            return
        meets: list[tuple[Node, list[Node]]] = []
        for node in nodes:
            for place, (meet, members) in enumerate(meets):
                both = _meet(meet, node)
                if self._pays(both, [*members, node]):
                    meets[place] = (both, [*members, node])
                    break
            else:
                meets.append((node, [node]))
        for meet, members in meets:
            if self._pays(meet, members):
                self.kept.append(self._rolled(self._nearest(meet), meet))

    def batches(self, nodes: Sequence[Node]) -> list[Batch]:
        """The nodes by the set to count them from: few sets, since a query has its price.

        A group of nodes leaves the set that all can be counted from where a smaller one saves more
        scanned rows than a query costs.
        """
        if not nodes:
            return []
        common = self._nearest(reduce(_meet, nodes))
        groups: dict[int, list[Node]] = {}
        for node in nodes:
            groups.setdefault(self.kept.index(self._nearest(node)), []).append(node)
        together: list[Node] = []
        batches = []
        for place, group in groups.items():
            source = self.kept[place]
            if len(group) * (common.scanned - source.scanned) > PLANNING:
                batches += Batch(source, group, self.encoded.layout).split()
            else:
                together += group
        return batches + Batch(common, together, self.encoded.layout).split()

    def _nearest(self, node: Node) -> FrequencySet:
        """The smallest set that a node can be counted from.

        Raises:
            TimeLimitError: None is, since there was only time to encode coarser nodes.
        """
        fitting = [s for s in self.kept if all(a <= b for a, b in zip(s.node, node, strict=True))]
        if not fitting:
            raise TimeLimitError
        return min(fitting, key=lambda s: s.scanned)

    def reaches(self, node: Node) -> bool:
        """Whether a node can be counted from a set that is held."""
        return any(all(a <= b for a, b in zip(s.node, node, strict=True)) for s in self.kept)

    def _pays(self, node: Node, members: Sequence[Node]) -> bool:
        """Whether writing a node's set and counting others from it is less work than without."""
        source = self._nearest(node)
        if source.scanned <= ROLLED_UP or source.node == node:
            return False
        rows = self._expected_rows(node)
        saved = sum(
            _work(source.scanned, groups) - _work(rows, groups)
            for groups in map(self._expected_rows, members)
        )
        return saved > _work(source.scanned, rows)

    def _expected_rows(self, node: Node) -> float:
        """The expected rows of a node's set, or of its details where they are more.

        The details of a class have as many rows as values would occur in it if each record held
        any of them as likely as any other.
        """
        classes = (
            float(self._density.at(np.asarray(at_node(node, self.entropies)))) * self.encoded.rows
        )
        details = self.encoded.details
        if details is None:
            return classes
        values = math.prod(max(attribute.values, 1) for attribute in details.attributes)
        if details.entity:
            return float(details.rows)  # every person has rows of its own
        if values == 1:
            return classes
        records = sum(self.encoded.counts[0])
        expected = values * -math.expm1(records / max(classes, 1) * math.log1p(-1 / values))
        return min(classes * expected, details.rows)

    def _rolled(self, source: FrequencySet, node: Node) -> FrequencySet:
        """A node's set from a finer one."""
        masks = self.encoded.layout.node_masks(node)
        result = replace(source, node=node)
        if source.details is not None:
            assert self.encoded.details is not None
            carried = self.encoded.details.carried
            query = frequency.roll_up(source.details, masks, carried=carried)
            details, detailed = self.engine.materialize_counted("details", query)
            result = replace(result, details=details, detailed=detailed)
        if source.presence is not None:
            query = frequency.roll_up(source.presence, masks, sums=(SIZE, PEOPLE))
            presence, present = self.engine.materialize_counted("presence", query)
            result = replace(result, presence=presence, present=present)
        finer = source.table if result.details is None else result.details
        table, rows = self.engine.materialize_counted("frequency", frequency.roll_up(finer, masks))
        self.rolled_up += 1
        self.learn(node, rows)
        return replace(result, table=table, rows=rows)


def _work(rows: float, classes: float) -> float:
    """The time of grouping rows into classes [row scans]."""
    return rows * (1 + CACHE_MISS * classes / (classes + CACHED)) + NEW_CLASS * classes


def _meet(one: Node, other: Node) -> Node:
    """The greatest lower bound of two nodes."""
    return tuple(map(min, one, other))
