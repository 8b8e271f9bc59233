"""Profiled: violations counted from frequency sets that hold a column per sensitive value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.batch import Batch
from sqlanon.details import Details, SensitiveCodes
from sqlanon.engine.base import Engine
from sqlanon.privacy import TCloseness
from sqlanon.query import frequency, profiles, sensitive
from sqlanon.query.encode import word
from sqlanon.query.frequency import CLASS_SIZE, NUMBER, with_nodes
from sqlanon.query.profiles import Condition, Distribution
from sqlanon.violations import NOTHING, Found, Scope, Settled, stored_words

FEW = 40  # values of an attribute
FEW_IN_ORDER = 20  # the same where a distance sums up to every value
ROOM = 50_000_000  # values of all rows of the encoded table together
_UP_TO_EVERY = ("ordered", "scaled", "scaled-literal")


def columns_of(details: Details) -> dict[str, tuple[int, int]]:
    """Attribute and rank per column of a profile."""
    return {
        profiles.held(attribute.number, rank): (attribute.number, rank)
        for attribute in details.attributes
        for rank in range(attribute.values)
    }


def is_profiled(details: Details, rows: int) -> bool:
    """Whether the values are few enough for a column each.

    Args:
        details: What models look at.
        rows: Rows of the encoded table, at most.
    """
    few = all(
        0 < each.values <= (FEW_IN_ORDER if _in_order(each) else FEW)
        and max(each.needed.tails, default=0) <= 2
        for each in details.attributes
    )
    return few and not details.entity and rows * len(columns_of(details)) <= ROOM


def _in_order(attribute: SensitiveCodes) -> bool:
    return any(name in _UP_TO_EVERY for name in attribute.needed.distances)


@dataclass(slots=True)
class ProfiledViolations:
    """Counts violations from one row per class.

    Args:
        engine: Where the frequency sets live.
        scope: What the violations depend on.
    """

    engine: Engine
    scope: Scope
    _prepared: dict[str, Callable[[Sequence[object]], list[tuple[int, ...]]]] = field(
        default_factory=dict
    )

    def count(self, batch: Batch) -> list[Found]:
        """The violations of several nodes, in the order given, by the whole table's reference."""
        source = batch.source
        if source.table.name not in self._prepared:
            query = self._counted(batch, self._conditions())
            self._prepared[source.table.name] = self.engine.prepare(query)
        rows = self._prepared[source.table.name](batch.parameters)
        found = {number: Found(*row) for number, *row in rows}
        return [found.get(number, NOTHING) for number in range(len(batch.nodes))]

    def settle(self, batch: Batch) -> Settled:
        """What a node suppresses in the end."""
        conditions, rounds = self._conditions(), 1
        found = self._found(batch, conditions)
        while self.scope.moving and 0 < found.records <= self.scope.allowance:
            more = [*conditions, *self._renewed(batch, conditions)]
            again = self._found(batch, more)
            if again.classes == found.classes:
                break
            conditions, found, rounds = more, again, rounds + 1
        return Settled(found, rounds, conditions)

    def is_published(self, settled: Settled, batch: Batch) -> bool:
        """Whether the suppressed records may be published as one class without their cells."""
        if not settled.found.records:
            return True
        judged = self._judged(batch, settled.found_by, self._held)
        together = profiles.held_sums(judged, self._held, gone=True)
        again = profiles.judged(together, self.scope.k, settled.found_by, [CLASS_SIZE])
        [(_, required)] = self._rows(batch, again)
        return bool(required == profiles.KEPT)

    def suppressed(self, settled: Settled, batch: Batch) -> exp.Table:
        """The words of the suppressed classes, in a temporary table."""
        words = [word(w) for w in range(self.scope.words)]
        judged = self._judged(batch, settled.found_by, words)
        rows = self._rows(batch, profiles.violating(judged))
        return stored_words(self.engine, [row[1:-2] for row in rows], self.scope.words)

    @property
    def _held(self) -> list[str]:
        return list(columns_of(self.scope.details))

    def _rows(self, batch: Batch, query: exp.Select) -> list[tuple[int, ...]]:
        prices = batch.source.prices
        return self.engine.rows(with_nodes(query, self.scope.words, prices), batch.parameters)

    def _found(self, batch: Batch, conditions: Sequence[Condition]) -> Found:
        rows = self.engine.rows(self._counted(batch, conditions), batch.parameters)
        return Found(*rows[0][1:]) if rows else NOTHING

    def _counted(self, batch: Batch, conditions: Sequence[Condition]) -> exp.Select:
        """What the violating classes add up to."""
        words, prices = self.scope.words, batch.source.prices
        judged = self._judged(batch, conditions, frequency.cost_keys(words, prices))
        query = frequency.added_up(profiles.violating(judged), words, prices)
        return with_nodes(query, words, prices)

    def _judged(
        self, batch: Batch, conditions: Sequence[Condition], carried: Sequence[str]
    ) -> exp.Select:
        words = self.scope.words
        keys = [name for name in carried if name not in self._held]
        rows = profiles.classes(batch.source.table, words, self._held, keys)
        return profiles.judged(rows, self.scope.k, conditions, [NUMBER, *carried, CLASS_SIZE])

    def _conditions(self) -> list[Condition]:
        """All models by the reference of the whole table."""
        return [
            Condition(
                self._distribution(each),
                sensitive.violates(model),
                self.scope.required(each, model),
            )
            for each in self.scope.details.attributes
            for model in each.models
        ]

    def _distribution(self, each: SensitiveCodes) -> Distribution:
        left, whole = self.scope.needed(each).left, each.records == self.scope.records
        return Distribution(each.number, each.counts, each.nodes, left, whole)

    def _renewed(self, batch: Batch, conditions: Sequence[Condition]) -> list[Condition]:
        """T-closeness by the distribution of what is not suppressed."""
        judged = self._judged(batch, conditions, self._held)
        kept = profiles.held_sums(judged, self._held, gone=False)
        [(_, _, *sums)] = self._rows(batch, kept)
        held = dict(zip(self._held, sums, strict=True))
        renewed = []
        for each in self.scope.details.attributes:
            counts = tuple(held[profiles.held(each.number, r)] for r in range(each.values))
            distribution = replace(self._distribution(each), counts=counts)
            renewed += [
                Condition(distribution, sensitive.violates(model), exp.Literal.number(0))
                for model in each.models
                if isinstance(model, TCloseness)
            ]
        return renewed
