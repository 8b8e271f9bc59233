"""Gains: what knowing its class adds to the purity of a sensitive attribute, summed over classes.

A class with n records that count, squares Q of its value counts added up, adds (Q / n - n S / N^2)
/ N, with N and S those of the table. That is (Q N^2 - n^2 S) / (n N^3), whose sign is exact, since
the numerator is a whole number. Each class is rounded to a whole number of parts, so that the order
of the rows cannot change a sum.

The results have a row per node: NUMBER, EVERY (over all classes), POSITIVE (over those that add
something, each rounded up), and both over the classes of k records alone, LARGE and POSITIVE_LARGE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.arithmetic import (
    divided,
    double,
    is_null,
    minus,
    not_zero,
    number,
    or_zero,
    plus,
    real,
    summed,
    times,
    wide,
)
from sqlanon.query.classes import violations
from sqlanon.query.classes.frequency import (
    CLASS_SIZE,
    NUMBER,
    Masks,
    Selected,
    class_rows,
    classes_side_by_side,
)
from sqlanon.query.encoding.encode import SIZE, union_all
from sqlanon.query.syntax import alias, bigint, column, nested, select, total, when

EVERY = "every"
POSITIVE = "positive"
LARGE = "large"
POSITIVE_LARGE = "positive_large"
_HELD, _RANK = "held", "rank"
_COUNTED, _SQUARES, _ABOVE = "counted", "squares", "above"
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

    def exact(self, count: exp.Expr) -> exp.Expr:
        """A count whose product with three others must not overflow."""
        return count if self.records**4 < _FITS else wide(count)


def of_nodes(
    details: exp.Table,
    words: int,
    *,
    attributes: Sequence[Valued],
    k: int,
    masks: Sequence[Masks] | None = None,
) -> exp.Select:
    """The gains of one sensitive attribute or more at nodes, from the details of a frequency set.

    `masks` are the nodes of `frequency.classes_side_by_side`, None stands for those of the query.
    """
    keys = violations.words(words)
    parts = []
    for each in attributes:
        by = {_RANK: violations.value_of(each.number)}
        selected = Selected({_HELD: SIZE}, keys, by)
        values: exp.Query = (
            class_rows(details, words, selected=selected)
            if masks is None
            else classes_side_by_side(details, masks, selected=selected)
        )
        parts.append(
            _summed(_classes(values, [NUMBER, *keys], attribute=each), each, k=k, by=[NUMBER])
        )
    names = (EVERY, POSITIVE, LARGE, POSITIVE_LARGE)
    sums = [alias(total(column(name)), name) for name in names]
    relation = nested(union_all(parts), "parts")
    return select([column(NUMBER), *sums], relation, by=[column(NUMBER)])


def of_classes(rows: exp.Table, words: int, *, attribute: Valued) -> exp.Select:
    """The gains of one attribute over the classes of some details, in one row without a NUMBER."""
    keys, value = violations.words(words), violations.value_of(attribute.number)
    own, held = [column(key) for key in keys], alias(bigint(summed(SIZE)), _HELD)
    figures = [*own, alias(column(value), _RANK), held]
    values = select(figures, rows, by=[*own, column(value)])
    return _summed(_classes(values, keys, attribute=attribute), attribute, k=0, by=[])


def _classes(values: exp.Query, keys: Sequence[str], *, attribute: Valued) -> exp.Select:
    """Per class the keys, its size, its records that count and its squares.

    `values` has rows of the keys, RANK and HELD, one per class and value.
    """
    counts = exp.Not(this=is_null(column(_RANK)))
    square = times(attribute.exact(column(_HELD)), column(_HELD))
    figures = [
        *map(column, keys),
        alias(bigint(summed(_HELD)), CLASS_SIZE),
        alias(total(when(counts, column(_HELD))), _COUNTED),
        alias(or_zero(exp.Sum(this=when(counts, square))), _SQUARES),
    ]
    return select(figures, nested(values, "held"), by=[column(key) for key in keys])


def _summed(classes: exp.Select, each: Valued, *, k: int, by: Sequence[str]) -> exp.Select:
    """The gains of classes, added up by some columns."""
    figures = [*map(column, by), column(CLASS_SIZE), column(_COUNTED), alias(_excess(each), _ABOVE)]
    inner = select(figures, nested(classes, "classes"))
    gained = [alias(_rounded(each), EVERY), alias(_rounded_up(each), POSITIVE)]
    rows = select([*map(column, by), column(CLASS_SIZE), *gained], nested(inner, "excess"))
    large = exp.GTE(this=column(CLASS_SIZE), expression=number(k))
    sums = [
        alias(total(column(EVERY)), EVERY),
        alias(total(column(POSITIVE)), POSITIVE),
        alias(total(when(large, column(EVERY))), LARGE),
        alias(total(when(large, column(POSITIVE))), POSITIVE_LARGE),
    ]
    own = [column(name) for name in by]
    return select([*own, *sums], nested(rows, "gains"), by=own)


def _excess(each: Valued) -> exp.Expr:
    """Q N^2 - n^2 S."""
    own = times(each.exact(column(_SQUARES)), number(each.records**2))
    counted = column(_COUNTED)
    return minus(own, times(each.exact(counted), counted, number(each.squares)))


def _parts(each: Valued) -> exp.Expr:
    """The gain of a class in parts; NULL where none of its records count."""
    share = divided(double(column(_ABOVE)), not_zero(double(column(_COUNTED))))
    return times(share, real(each.parts / each.records**3))


def _rounded(each: Valued) -> exp.Expr:
    return or_zero(bigint(exp.Round(this=_parts(each))))


def _rounded_up(each: Valued) -> exp.Expr:
    up = plus(bigint(exp.Ceil(this=_parts(each))), number(1))
    return when(exp.GT(this=column(_ABOVE), expression=number(0)), up, default=number(0))
