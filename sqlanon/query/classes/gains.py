"""Gains: what knowing its class adds to the purity of a sensitive attribute, summed over classes.

The results have a row per node: NUMBER, EVERY (over all classes), POSITIVE (over those that add
something, each rounded up), and both over the classes of k records alone, LARGE and POSITIVE_LARGE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.classes import violations
from sqlanon.query.classes.frequency import (
    NUMBER,
    Masks,
    Selected,
    class_rows,
)
from sqlanon.query.encode import word_names
from sqlanon.sqltext import Sql, expression, listed, name, names, render, value

_FITS = 1 << 62


@dataclass(frozen=True, slots=True)
class Valued:
    """A sensitive attribute whose values are ranks.

    Args:
        number: Its number.
        records: Records of the table that count, N; at least one.
        squares: Sum of the squared value counts of the table, S.
        parts: Parts that a purity of 1 has, for this attribute.
    """

    number: int
    records: int
    squares: int
    parts: float


def of_nodes(
    details: exp.Table,
    words: int,
    *,
    attributes: Sequence[Valued],
    k: int,
    masks: Sequence[Masks] | None = None,
) -> Sql:
    """The gains of one sensitive attribute or more at nodes, from the details of a frequency set.

    `masks` are the nodes, None stands for those of the query.
    """
    keys = word_names(words)
    parts = []
    for attribute in attributes:
        by = {"rank": violations.value_of(attribute.number)}
        selected = Selected({"held": "size"}, carried=True, by=by)
        values = class_rows(details, words, selected=selected, masks=masks)
        parts.append(_summed(values, [NUMBER, *keys], attribute=attribute, k=k, by=[NUMBER]))
    return expression(
        "SELECT number, {{ total('every') }} AS every, {{ total('positive') }} AS positive,"
        " {{ total('large') }} AS large, {{ total('positive_large') }} AS positive_large"
        " FROM ({{ union_all(parts) }}) AS parts GROUP BY number",
        parts=parts,
    )


def of_classes(rows: exp.Table, words: int, *, attribute: Valued) -> Sql:
    """The gains of one attribute over the classes of some details, in one row without a NUMBER."""
    keys = word_names(words)
    values = expression(
        "SELECT {{ keys }}, {{ rank }} AS rank, CAST(SUM(size) AS BIGINT) AS held FROM {{ rows }}"
        " GROUP BY {{ keys }}, {{ rank }}",
        keys=listed(names(keys)),
        rank=name(violations.value_of(attribute.number)),
        rows=rows,
    )
    return _summed(values, keys, attribute=attribute, k=0, by=[])


def _summed(
    values: Sql, keys: Sequence[str], *, attribute: Valued, k: int, by: Sequence[str]
) -> Sql:
    """The gains of classes, added up by some columns."""
    records = attribute.records
    return render(
        "classes/gains",
        value_counts=values,
        keys=names(keys),
        by=names(by),
        k=k,
        squared_records=records**2,
        squares=attribute.squares,
        parts=value(attribute.parts / records**3),
        is_wide=records**4 >= _FITS,
    )
