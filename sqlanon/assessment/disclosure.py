"""Disclosure: what the classes of a table tell of its sensitive attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlglot import exp

from sqlanon.assessment.classes import Tabulated
from sqlanon.engine.base import Engine
from sqlanon.microdata.sensitive import BoundSensitive, bound, persons_of, rank_values
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import DISTANCES, FAMILIES, LDiversity, TCloseness, ValueModel
from sqlanon.query.classes.table_classes import pair_value, persons_given_away
from sqlanon.query.classes.violations import value_of
from sqlanon.query.encode import presence
from sqlanon.query.privacy import models
from sqlanon.query.privacy.figures import Needed, Reference, class_figures
from sqlanon.query.syntax import column, rows_and_sum
from sqlanon.reports.check import ModelResult, SensitiveFigures

Row = Mapping[str, Any]
# How the figures of some classes and of others become those of all.
_LEAST = (models.FEWEST, models.LEAST_ENTROPY)
# The models whose figures are reported whatever is asked, with any threshold.
_ENTROPY = LDiversity(1, "entropy")
_CLOSE: Mapping[str, TCloseness] = {name: TCloseness(0, name) for name in DISTANCES}
_SHARES = {key: family.build(1) for key, family in FAMILIES.items() if family.key}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A sensitive attribute whose values are ranked over a table.

    Args:
        bound: What is asked of it.
        values: Rows of VALUE and RANK.
        reference: Its distribution, by rank.
        count: How many values it has.
    """

    bound: BoundSensitive
    values: exp.Table
    reference: Reference
    count: int


def rank_attributes(
    engine: Engine, table: exp.Table, *, policy: Policy, types: Mapping[str, exp.DataType]
) -> list[Ranked]:
    """Ranks the values of sensitive attributes and counts the records, or persons, with each.

    The temporary tables stay until the engine's workspace ends.
    """
    ranked = []
    for name in policy.sensitive_attributes:
        asked = bound(engine, table, policy=policy, columns=types, name=name)
        values, by_rank = rank_values(engine, table, asked=asked, entity=policy.entity)
        count, records = engine.rows(rows_and_sum(values, "records"))[0]
        persons = persons_of(engine, table, asked=asked, entity=policy.entity)
        reference = Reference(by_rank, records, count, asked.height, persons)
        ranked.append(Ranked(asked, values, reference, count))
    return ranked


def attribute_figures(
    engine: Engine, table: Tabulated, *, number: int, attribute: Ranked
) -> tuple[SensitiveFigures, tuple[ModelResult, ...]]:
    """The worst of all classes in every figure of a table's attribute, and whether models hold."""
    asked = attribute.bound
    diverse = {l: LDiversity(l, "recursive", 1) for l in sorted({2, *asked.needed.tails})}  # noqa: E741
    distances = dict.fromkeys([*asked.distances, *asked.needed.distances])
    close = {name: _CLOSE[name] for name in distances if name in _CLOSE}
    reported = [_ENTROPY, *diverse.values(), *close.values(), *_SHARES.values()]
    rows = _worst(engine, table, number=number, attribute=attribute, reported=reported)
    worst = _merged(rows)
    figures = SensitiveFigures(
        values=attribute.count,
        distinct_l=worst[models.FEWEST],
        entropy_l=models.threshold_met(_ENTROPY, worst),
        recursive_c={l: models.threshold_met(model, worst) for l, model in diverse.items()},  # noqa: E741
        t={name: models.threshold_met(model, worst) for name, model in close.items()},
        homogeneous_records=_given_away(engine, table, number=number, worst=rows[0]),
        shares={key: models.threshold_met(model, worst) for key, model in _SHARES.items()},
    )
    return figures, _results(asked, worst)


def _given_away(engine: Engine, table: Tabulated, *, number: int, worst: Row) -> int:
    """Records in classes of one value or none, or persons, each once however many classes."""
    records: int = worst[models.HOMOGENEOUS] + table.singles
    if not table.has_persons or not records:
        return records
    query = persons_given_away(table.rows, table.words, value=column(value_of(number)))
    persons: int = engine.rows(query)[0][0]
    return persons


def attribute_models(
    engine: Engine, table: Tabulated, attributes: Sequence[Ranked]
) -> tuple[ModelResult, ...]:
    """Whether the models of attributes hold, without the figures that none of them looks at."""
    results: list[ModelResult] = []
    for number, attribute in enumerate(attributes):
        if attribute.bound.models:
            rows = _worst(engine, table, number=number, attribute=attribute)
            results += _results(attribute.bound, _merged(rows))
    return tuple(results)


def _results(asked: BoundSensitive, worst: Row) -> tuple[ModelResult, ...]:
    """Whether models hold, by the worst of all classes."""
    return tuple(
        ModelResult(
            model.describe(),
            model.threshold,
            models.threshold_met(model, worst),
            worst[models.violations(n)] == 0,
            asked.name,
        )
        for n, model in enumerate(asked.models)
    )


def joint_diversity(
    engine: Engine, table: Tabulated, *, attributes: Sequence[Ranked]
) -> dict[tuple[str, str], int]:
    """Distinct l of every pair of attributes: the fewest pairs of values in any class.

    l for each of two attributes says nothing of the pair, whose values may go together.
    """
    diversity = {}
    for (one, first), (other, second) in combinations(enumerate(attributes), 2):
        names = first.bound.name, second.bound.name
        ranks = [value_of(one), value_of(other)]
        if table.singles and len(set(engine.rows(presence(table.rows, ranks))[0])) == 1:
            diversity[names] = 1  # no record has a NULL that is no value
            continue
        value = pair_value(one, other, values=second.count)
        counts = [
            engine.rows(models.fewest(class_figures(part, table.keys, needed=Needed(nulls=False))))[
                0
            ][0]
            for part in table.parts(value)
        ]
        diversity[names] = min(count for count in counts if count is not None)
    return diversity


def _worst(
    engine: Engine,
    table: Tabulated,
    *,
    number: int,
    attribute: Ranked,
    reported: Sequence[ValueModel] = (),
) -> list[dict[str, Any]]:
    """The worst figures of each part of a table that the models look at, and those reported."""
    asked = attribute.bound.models
    # A NULL that counts has a rank.
    needed = models.needed_by([*asked, *reported], nulls=False)
    names = models.worst_figures(needed, models=asked)
    rows = []
    for part in table.parts(column(value_of(number))):
        figures = class_figures(
            part,
            table.keys,
            needed=needed,
            reference=attribute.reference,
            persons=table.has_persons,
        )
        [row] = engine.rows(models.worst(figures, needed, models=asked))
        rows.append(dict(zip(names, row, strict=True)))
    return rows


def _merged(rows: Sequence[Row]) -> dict[str, Any]:
    """The worst of several parts of a table; None where a part has no class."""
    merged: dict[str, Any] = {}
    for name in rows[0]:
        figures = [row[name] for row in rows if row[name] is not None]
        worse = min if name in _LEAST else max
        merged[name] = worse(figures, default=None)
    return merged
