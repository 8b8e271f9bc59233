"""Counting: asks the database for the class sizes of nodes, from the nearest frequency set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.loss.objectives import ClassCounts, Objective, SuppressedCells
from sqlanon.methods.fulldomain.cell_costs import Pricing
from sqlanon.methods.fulldomain.frequency_sets import LARGE, Batch, FrequencySet
from sqlanon.microdata.encoding import Encoded
from sqlanon.query.classes import frequency
from sqlanon.query.syntax import rows_of
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check, Forecast

if TYPE_CHECKING:
    from sqlanon.methods.fulldomain.gains import GainCounter
    from sqlanon.methods.fulldomain.suppression_bounds import Settled, ViolationCounts
    from sqlanon.methods.fulldomain.violations import Violations

Rows = list[tuple[int, ...]]

WORTHWHILE = 20_000  # rows; a smaller set is scanned faster than a coarser one is written
QUERY = 100_000  # rows that are scanned in the time that a query is planned
PRICED = 50_000  # rows; in a larger set, joining the costs to its small classes is cheaper
TYPICAL = 8  # size of a class that is not small, in multiples of k
CACHED = 100_000  # classes; where there are more, rows seldom find theirs in the cache
SCATTERED = 6  # rows that are scanned in the time in which one finds its class in memory
GROUPED = 12  # rows that are scanned in the time in which a class is made


@dataclass(slots=True)
class Counter:
    """Counts the classes of nodes, several per query, rolling sets up where that pays.

    Args:
        engine: Where the sets live.
        encoded: The codes.
        k: Smallest class size allowed [records].
        objective: The loss, whose two parts each check works out.
        pricing: Costs of cells, where suppression matters to the loss.
        sizes: Whether the loss looks at the number of all classes, or their sizes.
        squares: Whether it needs squared class sizes.
        lowest: The lowest node that will be asked for.
        entropies: Per column and level the entropy of the generalized column [bits]; they
            foretell how many rows a roll-up will have.
        violations: What fails the models beyond k; None where there are none.
        gains: What classes gain, where the loss asks for it.
    """

    engine: Engine
    encoded: Encoded
    k: int
    objective: Objective
    pricing: Pricing | None
    sizes: bool
    squares: bool
    lowest: Node
    entropies: Sequence[Sequence[float]]
    violations: Violations | None = None
    gains: GainCounter | None = None
    sets: list[FrequencySet] = field(default_factory=list)
    counted: int = 0
    rolled_up: int = 0
    _prepared: dict[str, Callable[[Sequence[object]], Rows]] = field(default_factory=dict)
    _known: dict[Node, ClassCounts] = field(default_factory=dict)
    _settled: dict[Node, tuple[Batch, Settled]] = field(default_factory=dict)
    _density: Forecast = field(init=False)

    def __post_init__(self) -> None:
        self._density = Forecast(sum(map(max, self.entropies)))
        self.sets.append(self._base())

    def ask(self, nodes: Sequence[Node]) -> list[Check]:
        """Counts the classes of nodes, in the order given."""
        if not nodes:
            return []
        self._roll_up(nodes)
        self.counted += len(nodes)
        if self._asks_once:
            return self._examined(nodes)
        counts: dict[Node, ClassCounts] = {}
        for batch in self._batches(nodes):
            counts |= self._gaining(batch, self._counts(batch))
        checks = [self._check(node, counts[node]) for node in nodes]
        return checks if self.violations is None else self._narrowed(checks, counts)

    @property
    def _asks_once(self) -> bool:
        """Whether k is asked with the other models, which saves a query where sets are small.

        It does not tell how many classes there are, which some losses look at.
        """
        small = self.sets[0].scanned <= LARGE
        return self.violations is not None and not self.sizes and small

    def _batches(self, nodes: Sequence[Node]) -> list[Batch]:
        """The nodes by the set that they are counted from: few sets, since a query has its price.

        A group of nodes leaves the set that all can be counted from where a smaller one saves more
        scanned rows than a query costs.
        """
        if not nodes:
            return []
        common = self._nearest(reduce(_meet, nodes))
        groups: dict[int, list[Node]] = {}
        for node in nodes:
            groups.setdefault(self.sets.index(self._nearest(node)), []).append(node)
        together: list[Node] = []
        batches = []
        for place, group in groups.items():
            source = self.sets[place]
            if len(group) * (common.scanned - source.scanned) > QUERY:
                batches += self._split(source, group)
            else:
                together += group
        return batches + self._split(common, together)

    def _split(self, source: FrequencySet, nodes: Sequence[Node]) -> list[Batch]:
        return Batch(source, nodes, self.encoded.layout).split()

    def _counts(self, batch: Batch) -> dict[Node, ClassCounts]:
        rows = self._rows(batch)
        if batch.source.prices is None:
            found = {
                number: ClassCounts(classes, small, records, *(squares or (0, 0)))
                for number, classes, small, records, *squares in rows
            }
            return {node: found[number] for number, node in enumerate(batch.nodes)}
        found = {
            number: self._priced(batch.nodes[number], (small, records, cost))
            for number, small, records, _, cost in rows
        }
        return {
            node: found.get(number) or self._priced(node, (0, 0, 0))
            for number, node in enumerate(batch.nodes)
        }

    def _gaining(
        self, batch: Batch, counts: Mapping[Node, ClassCounts]
    ) -> Mapping[Node, ClassCounts]:
        """The counts with what the classes gain, where the loss asks for it."""
        if self.gains is None:
            return counts
        gained = zip(batch.nodes, self.gains.count(batch), strict=True)
        return {node: replace(counts[node], gains=gains) for node, gains in gained}

    def _rows(self, batch: Batch) -> Rows:
        """The counts of nodes, from a query that is written once for each set that is not large."""
        source, parameters = batch.source, batch.parameters
        if source.rows > LARGE:
            query = self._query(source, batch.masks)
            return self.engine.rows(query, () if source.prices is None else parameters)
        if source.table.name not in self._prepared:
            self._prepared[source.table.name] = self.engine.prepare(self._query(source))
        return self._prepared[source.table.name](parameters)

    def _query(
        self, source: FrequencySet, masks: Sequence[Sequence[int]] | None = None
    ) -> exp.Select:
        """The query that counts nodes from a set: any, or those of the masks."""
        words = self.encoded.layout.words
        if source.prices is None:
            return frequency.class_counts(
                source.table, words, self.k, squares=self.squares, masks=masks
            )
        return frequency.small_costs(source.table, words, self.k, source.prices, masks)

    def settle(self, check: Check) -> Check:
        """The check of a node that was within the allowance, with what it suppresses in the end."""
        if self.violations is None or check.settled:
            return check
        node, scope = check.node, self.violations.scope
        batch, settled = self.settlement(node)
        counts = self._violating(node, settled.found)
        if self.gains is not None and counts.gains is not None:
            gains = self.gains.settled(counts.gains, batch, settled.suppressed)
            counts = replace(counts, gains=gains)
        checked = self._check(node, counts)
        if scope.keeping and not self.violations.is_published(settled, batch):
            checked = replace(checked, suppressed=scope.records + 1)
        # What suppression brought about later proves nothing about other nodes.
        return replace(
            checked, up=check.up, down=check.down, required=check.required, most=check.most
        )

    def settlement(self, node: Node) -> tuple[Batch, Settled]:
        """What a node suppresses in the end, with the set of its own classes, looked at once."""
        assert self.violations is not None
        if node not in self._settled:
            source = self._nearest(node)
            if source.node != node:
                source = self._rolled(source, node)
            batch = Batch(source, [node], self.encoded.layout)
            self._settled[node] = batch, self.violations.settle(batch)
        return self._settled[node]

    def _narrowed(self, checks: Sequence[Check], counts: Mapping[Node, ClassCounts]) -> list[Check]:
        """The checks by the violations of all models, where k alone does not rule a node out."""
        assert self.violations is not None
        scope = self.violations.scope
        within = [check.node for check in checks if check.suppressed <= scope.allowance]
        self._known |= {node: counts[node] for node in within}
        examined = {check.node: check for check in self._examined(within)}
        # The counts of the others are of k alone: other models may take more.
        return [examined.get(check.node) or replace(check, most=scope.records) for check in checks]

    def _examined(self, nodes: Sequence[Node]) -> list[Check]:
        """The checks of nodes by the violations of all models."""
        assert self.violations is not None
        checks: dict[Node, Check] = {}
        for batch in self._batches(nodes):
            found = dict(zip(batch.nodes, self.violations.count(batch), strict=True))
            unknown = {
                node: self._priced(node, (each.classes, each.records, each.cost))
                for node, each in found.items()
                if node not in self._known
            }
            self._known |= self._gaining(batch, unknown) if unknown else {}
            checks |= {node: self._judged(node, each) for node, each in found.items()}
        return [checks[node] for node in nodes]

    def _judged(self, node: Node, found: ViolationCounts) -> Check:
        """The check of a node with the violations of all models."""
        assert self.violations is not None
        scope, required = self.violations.scope, found.required
        most = None if scope.superset_monotone else scope.records
        if scope.union_closed:
            # Classes that all satisfy the models make unions that do: above, and so below.
            required = max(required, min(found.records, 1))
            most = most if found.records else 0
        settled = not found.records or not (scope.unsettled or self.gains is not None)
        check = self._check(node, self._violating(node, found))
        return replace(check, required=required, most=most, settled=settled)

    def _violating(self, node: Node, found: ViolationCounts) -> ClassCounts:
        """The counts of a node with the violations of all models."""
        certain = SuppressedCells(found.required, found.required_squares, found.required_cost)
        each = ClassCounts(
            self._known[node].classes,
            found.classes,
            found.records,
            self._known[node].squares,
            found.squares,
            found.cost,
            required=certain,
            gains=self._known[node].gains,
        )
        return each if self.pricing is None else self._with_uniform(node, each)

    def _with_uniform(self, node: Node, counts: ClassCounts) -> ClassCounts:
        """The same with the columns where all cells cost the same."""
        assert self.pricing is not None
        uniform, certain = self.pricing.uniform(node), counts.required
        if certain is not None:
            certain = replace(certain, cost=certain.cost + uniform * certain.records)
        cost = counts.small_cost + uniform * counts.small_records
        return replace(counts, small_cost=cost, required=certain)

    def _base(self) -> FrequencySet:
        """The encoded table, rolled up to the lowest node."""
        leaves, details = tuple(0 for _ in self.lowest), self.encoded.details
        base = FrequencySet(leaves, self.encoded.table, self.encoded.rows)
        if details is not None:
            base = replace(base, details=details.table, detailed=details.rows)
        return self._rolled(base, self.lowest) if any(self.lowest) else self._with_prices(base)

    def _priced(self, node: Node, row: Sequence[int]) -> ClassCounts:
        """Small classes with what they cost; how many others there are is guessed, not counted."""
        small, records, cost = row
        others = (sum(self.encoded.counts[0]) - records) // (TYPICAL * self.k)
        counts = ClassCounts(small + others, small, records, small_cost=cost)
        return counts if self.pricing is None else self._with_uniform(node, counts)

    def _with_prices(self, source: FrequencySet) -> FrequencySet:
        """The same set, holding what cells cost where that is worth its room."""
        if self.pricing is None:
            return source
        prices = self.pricing.tables
        if source.rows > PRICED or not prices.levels:
            return replace(source, prices=prices)
        prices = self.pricing.held(source.table, source.node)
        assert prices.held is not None
        details = source.details
        if details is not None:
            query = frequency.with_rows(details, prices.held, self.encoded.layout.words)
            details, _ = self._stored("details", query)
        return replace(source, table=prices.held, prices=prices, details=details)

    def _nearest(self, node: Node) -> FrequencySet:
        """The smallest set that a node can be counted from."""
        return min(
            (s for s in self.sets if all(a <= b for a, b in zip(s.node, node, strict=True))),
            key=lambda s: s.scanned,
        )

    def _roll_up(self, nodes: Sequence[Node]) -> None:
        """Writes frequency sets from which several of the nodes can be counted with less work."""
        if all(source.scanned <= WORTHWHILE for source in self.sets):
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
                self.sets.append(self._rolled(self._nearest(meet), meet))

    def _pays(self, node: Node, members: Sequence[Node]) -> bool:
        """Whether writing a node's set and counting others from it is less work than without."""
        source = self._nearest(node)
        if source.scanned <= WORTHWHILE or source.node == node:
            return False
        rows = self._expected_rows(node)
        saved = sum(
            _work(source.scanned, groups) - _work(rows, groups)
            for groups in map(self._expected_rows, members)
        )
        return saved > _work(source.scanned, rows)

    def _expected_rows(self, node: Node) -> float:
        """How many rows a node's set is likely to have, or its details where they are more.

        The details of a class have as many rows as values would occur in it if each record held
        any of them as likely as any other.
        """
        classes = float(self._density.at(np.asarray(self._entropy(node)))) * self.encoded.rows
        details = self.encoded.details
        if details is None:
            return classes
        values = math.prod(max(each.values, 1) for each in details.attributes)
        if details.entity:
            return float(details.rows)  # every person has rows of its own
        if values == 1:
            return classes
        records = sum(self.encoded.counts[0])
        held = values * -math.expm1(records / max(classes, 1) * math.log1p(-1 / values))
        return min(classes * held, details.rows)

    def _rolled(self, source: FrequencySet, node: Node) -> FrequencySet:
        """A node's set from a finer one; what its cells cost is found by the ROW of that."""
        masks, row = self.encoded.layout.node_masks(node), source.has_row
        result = replace(source, node=node)
        if source.details is not None:
            assert self.encoded.details is not None
            carried = self.encoded.details.carried
            query = frequency.roll_up(source.details, masks, carried, row=row)
            details, detailed = self._stored("details", query)
            result = replace(result, details=details, detailed=detailed)
        finer = source.table if result.details is None else result.details
        table, rows = self._stored("frequency", frequency.roll_up(finer, masks, row=row))
        self.rolled_up += 1
        self._density.learn(self._entropy(node), rows / self.encoded.rows)
        result = replace(result, table=table, rows=rows)
        return result if row else self._with_prices(result)

    def _stored(self, name: str, query: exp.Select) -> tuple[exp.Table, int]:
        """A temporary table of a query, and how many rows it has."""
        table = self.engine.materialize(name, query)
        return table, self.engine.rows(rows_of(table))[0][0]

    def _entropy(self, node: Node) -> float:
        return sum(levels[level] for levels, level in zip(self.entropies, node, strict=True))

    def _check(self, node: Node, counts: ClassCounts) -> Check:
        self._density.learn(self._entropy(node), min(counts.classes / self.encoded.rows, 1.0))
        objective = self.objective
        return Check(
            node,
            counts.small_records,
            objective.up(node, counts),
            objective.down(counts.certain),
            objective.value(node, counts),
            gain=None if counts.gains is None else counts.gains.most,
        )


def _work(rows: float, classes: float) -> float:
    """What grouping rows into classes takes, in rows that are scanned meanwhile."""
    return rows * (1 + SCATTERED * classes / (classes + CACHED)) + GROUPED * classes


def _meet(one: Node, other: Node) -> Node:
    """The highest node below two."""
    return tuple(map(min, one, other))
