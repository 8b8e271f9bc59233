"""Grouped: violations counted from the details of a node, by class and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.batch import Batch
from sqlanon.details import SensitiveCodes
from sqlanon.engine.base import Engine
from sqlanon.privacy import TCloseness
from sqlanon.query import frequency, sensitive, violations
from sqlanon.query.encode import union_all
from sqlanon.query.names import create_temporary, nested
from sqlanon.violations import NOTHING, Found, Scope, Settled

MOST = 2_000_000  # rows that a query groups at most, unless a single node needs more


@dataclass(slots=True)
class GroupedViolations:
    """Counts violations by grouping the details of a node by class and value.

    Args:
        engine: Where the details live.
        scope: What the violations depend on.
    """

    engine: Engine
    scope: Scope

    def count(self, batch: Batch) -> list[Found]:
        """The violations of several nodes, in the order given, by the whole table's reference."""
        # Each node groups all details, whatever set its sizes are counted from.
        together = max(1, MOST // max(self.scope.details.rows, 1))
        found: list[Found] = []
        for start in range(0, len(batch.nodes), together):
            part = replace(batch, nodes=batch.nodes[start : start + together])
            violating = [self._violating(part.source.table, masks) for masks in part.masks]
            counted = self._counted(part, violating)
            found += [counted.get(number, NOTHING) for number in range(len(part.nodes))]
        return found

    def settle(self, batch: Batch) -> Settled:
        """What a node suppresses in the end; a temporary table holds it."""
        [masks] = batch.masks
        rows = self._stored("details", self._rows(masks))
        suppressed = self._stored("suppressed", self._violating(batch.source.table, masks))
        rounds = 1
        found = self._counted(batch, [suppressed]).get(0, NOTHING)
        while self.scope.moving and 0 < found.records <= self.scope.allowance:
            more = self._newly(rows, suppressed)
            both = violations.merged([_all(suppressed), more], self.scope.keys)
            grown = self._stored("suppressed", both)
            again = self._counted(batch, [grown]).get(0, NOTHING)
            if again.classes == found.classes:
                break
            suppressed, found, rounds = grown, again, rounds + 1
        return Settled(found, rounds, suppressed)

    def suppressed(self, settled: Settled, batch: Batch) -> exp.Table:
        """The words of the suppressed classes, in a temporary table."""
        table: exp.Table = settled.found_by
        return table

    def is_published(self, settled: Settled, batch: Batch) -> bool:
        """Whether the suppressed records may be published as one class without their cells."""
        if not settled.found.records:
            return True
        keys = self.scope.keys
        rows = self._stored("details", self._rows(batch.masks[0]))
        inside = violations.within(rows, settled.found_by, keys)
        one = violations.class_rows(
            self._stored("together", inside), (0,) * len(keys), self.scope.details.carried
        )
        parts = self._parts(nested(one, "rows"))
        return not (parts and self.engine.rows(violations.merged(parts, keys)))

    def _counted(
        self, batch: Batch, violating: Sequence[exp.Select | exp.Table]
    ) -> dict[int, Found]:
        """What the violating classes of each node add up to, by its number."""
        source, words = batch.source, self.scope.words
        row = source.prices is not None and source.prices.held is not None
        parts = [
            violations.sized(source.table, masks, each, number, row=row)
            for number, (masks, each) in enumerate(zip(batch.masks, violating, strict=True))
        ]
        query = frequency.added_up(union_all(parts), words, source.prices)
        rows = self.engine.rows(frequency.with_nodes(query, words, source.prices), batch.parameters)
        return {number: Found(*row) for number, *row in rows}

    def _stored(self, name: str, query: exp.Select) -> exp.Table:
        table = self.engine.temporary(name)
        self.engine.run(create_temporary(table, query))
        return table

    def _rows(self, masks: Sequence[int]) -> exp.Select:
        return violations.class_rows(self.scope.details.table, masks, self.scope.details.carried)

    def _violating(self, source: exp.Table, masks: Sequence[int]) -> exp.Select:
        """The violations of a node by the whole table's reference."""
        classes = nested(violations.class_rows(source, masks, ()), "classes")
        small = violations.small(classes, self.scope.keys, self.scope.k, self.scope.records)
        parts = self._parts(nested(self._rows(masks), "rows"))
        return violations.merged([small, *parts], self.scope.keys)

    def _parts(self, rows: exp.Subquery) -> list[exp.Select]:
        """The violations of persons and of each sensitive attribute, among details of classes."""
        parts = []
        if self.scope.details.entity:
            parts.append(
                violations.few_persons(rows, self.scope.keys, self.scope.k, self.scope.records)
            )
        for attribute in self.scope.details.attributes:
            if attribute.models:
                parts.append(self._failing(rows, attribute))
        return parts

    def _failing(self, rows: exp.Table | exp.Subquery, attribute: SensitiveCodes) -> exp.Select:
        spread = violations.spread_rows(
            rows, self.scope.keys, attribute.number, entity=attribute.persons
        )
        needed = self.scope.needed(attribute)
        figures = sensitive.class_figures(
            nested(spread, "spread_rows"), self.scope.keys, needed, attribute.reference
        )
        conditions = [
            (sensitive.violates(model), self.scope.required(attribute, model))
            for model in attribute.models
        ]
        return violations.failing(figures, self.scope.keys, conditions)

    def _newly(self, rows: exp.Table, suppressed: exp.Table) -> exp.Select:
        """Classes that fail t-closeness by the distribution of what is not suppressed."""
        left = self._stored("left", violations.without(rows, suppressed, self.scope.keys))
        parts = []
        for attribute in self.scope.details.attributes:
            close = tuple(m for m in attribute.models if isinstance(m, TCloseness))
            if close:
                renewed = self.scope.details.renewed(self.engine, attribute, left)
                parts.append(self._failing(left, replace(renewed, models=close)))
        return violations.merged(parts, self.scope.keys)


def _all(table: exp.Table) -> exp.Select:
    return exp.Select(expressions=[exp.Star()]).from_(table.copy(), copy=False)
