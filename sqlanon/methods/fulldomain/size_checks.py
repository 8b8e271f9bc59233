"""Size checks: the class sizes of nodes, several a query, and what publishing them would lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlanon.loss.objectives import ClassCounts, Objective
from sqlanon.methods.fulldomain.frequency_sets import (
    Batch,
    FrequencySets,
    Prepared,
    Rows,
)
from sqlanon.query.classes import frequency
from sqlanon.query.classes.frequency import Masks
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check
from sqlanon.sqltext import Sql

if TYPE_CHECKING:
    from sqlanon.methods.fulldomain.utility import GainCounter

TYPICAL_CLASS = 8  # size of a class that is not small, in multiples of k


@dataclass(slots=True)
class SizeChecks:
    """Checks of nodes for k alone, and the counts that checks for other models need, too.

    Args:
        sets: The frequency sets to count from.
        k: Smallest class size allowed [records].
        objective: The loss, whose two parts each check works out.
        gains: What classes gain, where the loss asks for it.
    """

    sets: FrequencySets
    k: int
    objective: Objective
    gains: GainCounter | None = None
    _prepared: Prepared = field(default_factory=dict)

    def ask(self, nodes: Sequence[Node]) -> list[Check]:
        """Checks of nodes, in the order given."""
        self.sets.prepare(nodes)
        counts = self.count(nodes)
        return [self.check(node, counts[node]) for node in nodes]

    def count(self, nodes: Sequence[Node]) -> dict[Node, ClassCounts]:
        """The classes of nodes by size."""
        counts: dict[Node, ClassCounts] = {}
        for batch in self.sets.batches(nodes):
            counts |= self.with_gains(batch, self._counts(batch))
        return counts

    def check(self, node: Node, counts: ClassCounts) -> Check:
        """The check of a node that follows from its counts."""
        self.sets.learn(node, counts.classes)
        objective = self.objective
        return Check(
            node,
            counts.small_records,
            objective.up(node, counts),
            objective.down(counts.certain),
            objective.value(node, counts),
            gain=None if counts.gains is None else counts.gains.most,
        )

    def with_gains(
        self, batch: Batch, counts: Mapping[Node, ClassCounts]
    ) -> Mapping[Node, ClassCounts]:
        """Counts of some of the nodes with what the classes gain, where the loss asks for it."""
        if self.gains is None or not counts:
            return counts
        gained = zip(batch.nodes, self.gains.count(self.sets, batch), strict=True)
        return {
            node: replace(counts[node], gains=gains) for node, gains in gained if node in counts
        }

    def small(self, node: Node, row: Sequence[int]) -> ClassCounts:
        """Counts from the number of small classes, their records and their varying costs.

        How many other classes there are is guessed, not counted.
        """
        small, records, cost = row
        others = (sum(self.sets.encoded.counts[0]) - records) // (TYPICAL_CLASS * self.k)
        counts = ClassCounts(small + others, small, records, small_cost=cost)
        return self.with_uniform_costs(node, counts)

    def with_uniform_costs(self, node: Node, counts: ClassCounts) -> ClassCounts:
        """The counts with the costs of the columns where all cells cost the same."""
        if self.sets.pricing is None:
            return counts
        uniform, certain = self.sets.pricing.uniform(node), counts.required
        if certain is not None:
            certain = replace(certain, cost=certain.cost + uniform * certain.records)
        cost = counts.small_cost + uniform * counts.small_records
        return replace(counts, small_cost=cost, required=certain)

    def _counts(self, batch: Batch) -> dict[Node, ClassCounts]:
        rows = self._rows(batch)
        if batch.source.prices is None:
            counts = {
                number: ClassCounts(classes, small, records, *(squares or (0, 0)))
                for number, classes, small, records, *squares in rows
            }
            return {node: counts[number] for number, node in enumerate(batch.nodes)}
        small = {number: (classes, records, cost) for number, classes, records, _, cost in rows}
        return {
            node: self.small(node, small.get(number, (0, 0, 0)))
            for number, node in enumerate(batch.nodes)
        }

    def _rows(self, batch: Batch) -> Rows:
        """The counts of nodes."""
        source, words = batch.source, self.sets.encoded.layout.words

        def query(masks: Sequence[Masks] | None) -> Sql:
            if source.prices is None:
                return frequency.class_counts(
                    source.table, words, k=self.k, squares=self.objective.squares, masks=masks
                )
            return frequency.small_costs(
                source.table, words, k=self.k, prices=source.prices, masks=masks
            )

        return self.sets.rows(batch, self._prepared, query)
