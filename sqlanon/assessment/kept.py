"""Kept columns of a table as it is, or will be, published: whom they single out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.query.classes import table_classes
from sqlanon.query.syntax import rows_of
from sqlanon.reports.kept import KeptColumn, KeptColumns, KeptPair

SETS_PER_QUERY = 8  # sets that a query counts at once
ONE_SET_RECORDS = 1_000_000  # from which it counts one: each set holds its classes in memory
MAX_GROUPED_ROWS = 10_000_000  # rows that are grouped for sets of columns besides single ones
MAX_GROUPED_SETS = 100  # such sets


def kept_columns(
    engine: Engine,
    table: exp.Table,
    *,
    names: Sequence[str],
    quasi_identifiers: Sequence[str],
    k: int,
    alone: int | None = None,
    weight: str | None = None,
) -> KeptColumns | None:
    """Whom the kept columns of a table single out; None where there is none, or no record.

    Each column is counted, and all of them together. What they do in pairs and beside the
    quasi-identifiers is counted where all together single anybody out, those of most values first,
    as far as a budget goes.

    Args:
        engine: Where the table is.
        table: The table as it is, or will be, published.
        names: The columns that are published as they are.
        quasi_identifiers: Those that are generalized, or told to an attacker.
        k: Records that a class must have; 1 where nothing is asked.
        alone: Records that the quasi-identifiers single out; None where it is not known yet.
        weight: The column of survey weights, if any, which may be one of them.
    """
    quasi = list(quasi_identifiers)
    records = engine.rows(rows_of(table))[0][0] if names else 0
    if not records:
        return None
    counter = _Counter(engine, table, records)
    single = counter.counts([[name] for name in names])
    if alone is None or not quasi:
        alone = counter.counts([quasi])[0][1] if quasi else 0
    together = records
    if all(unique < records for _, unique in single):
        together = counter.counts([[*quasi, *names]])[0][1]
    kept = KeptColumns(
        records=records,
        k=k,
        columns=tuple(
            KeptColumn(name, values, unique)
            for name, (values, unique) in zip(names, single, strict=True)
        ),
        unique_by_quasi_identifiers=alone,
        unique_together=together,
        pairs=(),
        possible_pairs=0,
        weight=weight if weight in names else None,
    )
    if kept.unique_together > kept.unique_by_quasi_identifiers and quasi:
        kept = _beside(counter, kept, quasi=quasi)
    if kept.unique_together and len(names) > 1:
        return _paired(counter, kept)
    return kept


def with_joined(engine: Engine, table: exp.Table, *, kept: KeptColumns, entity: str) -> KeptColumns:
    """The figures with the records that each column joins as an entity column of the table does."""
    names = [one.name for one in kept.columns]
    persons, joinable = engine.rows(table_classes.records_of_several(table, entity))[0]
    if not joinable:
        return replace(kept, entity=entity)
    joined: dict[str, tuple[int, ...]] = {}
    for start in range(0, len(names), SETS_PER_QUERY):
        batch = names[start : start + SETS_PER_QUERY]
        rows = engine.rows(table_classes.joined_records(table, batch, entity=entity))
        joined |= {batch[place]: tuple(figures) for place, *figures in rows}
    columns = [
        replace(
            one,
            joined=joined[one.name][2],
            one_to_one=joined[one.name][:2] == (persons, persons),
        )
        for one in kept.columns
    ]
    return replace(kept, columns=tuple(columns), entity=entity, joinable=joinable)


@dataclass(slots=True)
class _Counter:
    """Counts sets of columns, and how much of the budget is left."""

    engine: Engine
    table: exp.Table
    records: int
    spent: int = 0

    @property
    def left(self) -> int:
        """How many sets the budget still allows."""
        return max(min(MAX_GROUPED_SETS, MAX_GROUPED_ROWS // self.records) - self.spent, 0)

    def counts(self, sets: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
        """Classes, and records alone in one, of each set."""
        counts = [(0, 0)] * len(sets)
        at_once = SETS_PER_QUERY if self.records < ONE_SET_RECORDS else 1
        for start in range(0, len(sets), at_once):
            query = table_classes.set_counts(self.table, sets[start : start + at_once])
            for place, classes, unique in self.engine.rows(query):
                counts[start + place] = classes, unique
        return counts

    def within_budget(self, sets: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
        """The counts of the first sets, as far as the budget goes."""
        allowed = sets[: self.left]
        self.spent += len(allowed)
        return self.counts(allowed)


def _by_values(kept: KeptColumns) -> list[KeptColumn]:
    return sorted(kept.columns, key=lambda one: -one.values)


def _beside(counter: _Counter, kept: KeptColumns, *, quasi: Sequence[str]) -> KeptColumns:
    """What each column singles out beside the quasi-identifiers, those of most values first."""
    every = {one.name: kept.records for one in kept.columns if one.unique == kept.records}
    every |= {one.name: kept.unique_by_quasi_identifiers for one in kept.columns if one.values == 1}
    asked = [one.name for one in _by_values(kept) if one.name not in every]
    counts = counter.within_budget([[*quasi, name] for name in asked])
    # A column that is left out for the budget has no figure.
    every |= {name: unique for name, (_, unique) in zip(asked, counts, strict=False)}
    columns = tuple(
        replace(one, unique_with_quasi_identifiers=every.get(one.name)) for one in kept.columns
    )
    return replace(kept, columns=columns)


def _paired(counter: _Counter, kept: KeptColumns) -> KeptColumns:
    """What pairs single out, of columns that are neither constant nor do so all by themselves."""
    apart = [one.name for one in _by_values(kept) if 1 < one.values < kept.records]
    pairs = list(islice(combinations(apart, 2), counter.left))
    counts = counter.within_budget(pairs)
    counted = [KeptPair(pair, unique) for pair, (_, unique) in zip(pairs, counts, strict=True)]
    ranked = tuple(sorted(counted, key=lambda pair: -pair.unique))
    return replace(kept, pairs=ranked, possible_pairs=math.comb(len(apart), 2))
