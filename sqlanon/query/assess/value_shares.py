"""Value shares: how often a sensitive column's values are in a table and in its furthest class.

Everywhere `spread` is a table of `class_values`, `values` one of `held_values`, and labels are the
columns `label_0`, `label_1` and so on, as many as there are quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import (
    ascending,
    descending,
    divided,
    double,
    is_null,
    minus,
    number,
    over,
    summed,
    times,
    whole_part,
)
from sqlanon.query.assess.measure import label
from sqlanon.query.classes.frequency import CLASS_SIZE
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, same_value
from sqlanon.query.privacy.figures import Needed, Reference, distance
from sqlanon.query.privacy.sensitive import class_figures
from sqlanon.query.privacy.spread import Shape
from sqlanon.query.syntax import (
    alias,
    bigint,
    column,
    count_all,
    greatest,
    named,
    nested,
    select,
    total,
    when,
)
from sqlanon.query.text import text_of

HELD = "held"
RECORDS = "records"
DISTANCE = "distance"
FURTHEST = "furthest"
_SPREAD, _CLASSES, _VALUES = "spread", "classes", "overall"


def labels(count: int) -> list[str]:
    """The columns that hold the labels of so many quasi-identifiers."""
    return [label(place) for place in range(count)]


def class_values(
    source: exp.Table, columns: Sequence[str], *, name: str, nulls: bool
) -> exp.Select:
    """Records of each class and value: rows of labels, VALUE and SIZE; NULL where it counts."""
    keys: list[exp.Expr] = [column(each) for each in (*columns, name)]
    names = [*labels(len(columns)), VALUE]
    figures = [alias(key, shown) for key, shown in zip(keys, names, strict=True)]
    query = select([*figures, alias(bigint(count_all()), SIZE)], source, by=keys)
    return query if nulls else query.where(exp.Not(this=is_null(column(name))), copy=False)


def counted(spread: exp.Table) -> exp.Select:
    """All records that count, and their distinct values, NULL left out, in one row."""
    values = bigint(exp.Count(this=exp.Distinct(expressions=[column(VALUE)])))
    return select([total(column(SIZE)), values], spread)


def furthest_class(spread: exp.Table, columns: int, *, records: int) -> exp.Select:
    """The class whose values are furthest from those of the table, by the equal distance.

    One row of labels, CLASS_SIZE and DISTANCE: the share of its records that would have to hold
    another value. Of classes equally far the largest one, then the first by its labels.

    Args:
        spread: Records by class and value.
        columns: Number of quasi-identifiers.
        records: All records that count.
    """
    names = labels(columns)
    here = times(column(SIZE, _SPREAD), number(records))
    there = times(column(RECORDS, _VALUES), column(CLASS_SIZE, _CLASSES))
    beyond = exp.Sum(this=greatest(minus(here, there), number(0)))
    whole = times(double(column(CLASS_SIZE, _CLASSES)), number(records))
    keys: list[exp.Expr] = [
        *(column(name, _SPREAD) for name in names),
        column(CLASS_SIZE, _CLASSES),
    ]
    query = select([*keys, alias(divided(double(beyond), whole), DISTANCE)], named(spread, _SPREAD))
    sizes = select(
        [*map(column, names), alias(bigint(summed(SIZE)), CLASS_SIZE)],
        spread,
        by=list(map(column, names)),
    )
    query.join(nested(sizes, _CLASSES), on=_same(names, _SPREAD, _CLASSES), copy=False)
    values = select(
        [column(VALUE), alias(bigint(summed(SIZE)), RECORDS)], spread, by=[column(VALUE)]
    )
    query.join(nested(values, _VALUES), on=_same([VALUE], _SPREAD, _VALUES), copy=False)
    query.set("group", exp.Group(expressions=keys))
    return _furthest(query, names)


def furthest_in_order(spread: exp.Table, columns: int, *, reference: Reference) -> exp.Select:
    """As `furthest_class`, by the ordered distance.

    DISTANCE is how far the values of the class would have to move to be those of the table, in
    places among all values in order: mean over its records, over the most places there are.

    Args:
        spread: Records by class and value.
        columns: Number of quasi-identifiers.
        reference: The distribution of the table, by value.
    """
    names = labels(columns)
    needed, shape = Needed(distances=("ordered",)), Shape(grouped=True)
    figures = class_figures(spread, names, needed=needed, reference=reference, shape=shape)
    far = alias(column(distance("ordered")), DISTANCE)
    query = select([*map(column, names), column(CLASS_SIZE), far], nested(figures, "figures"))
    return _furthest(query, names)


def _furthest(distances: exp.Select, names: Sequence[str]) -> exp.Select:
    """The class of the greatest distance; of equal ones the largest, then the first by labels."""
    order = [descending(column(DISTANCE)), descending(column(CLASS_SIZE))]
    found = select([exp.Star()], nested(distances, "far"))
    found.set("order", exp.Order(expressions=[*order, *(ascending(column(n)) for n in names)]))
    return found.limit(1, copy=False)


def held_values(spread: exp.Table, furthest: exp.Table, *, columns: int) -> exp.Select:
    """Each value's records: rows of VALUE, RECORDS (all) and HELD (those of the furthest class)."""
    own = exp.Not(this=is_null(column(CLASS_SIZE, FURTHEST)))
    size = column(SIZE, _SPREAD)
    figures = [
        column(VALUE, _SPREAD),
        alias(total(size), RECORDS),
        alias(total(when(own, size)), HELD),
    ]
    query = select(figures, named(spread, _SPREAD), by=[column(VALUE, _SPREAD)])
    same = _same(labels(columns), _SPREAD, FURTHEST)
    return query.join(named(furthest, FURTHEST), on=same, join_type="left", copy=False)


def totals(values: exp.Table) -> exp.Select:
    """Values, their records, those of the furthest class, and those of one record, in one row."""
    alone = total(when(column(RECORDS).eq(1), number(1)))
    figures = [bigint(count_all()), total(column(RECORDS)), total(column(HELD)), alone]
    return select(figures, values)


def frequent(values: exp.Table, kind: exp.DataType, *, most: int) -> exp.Select:
    """The most frequent values: rows of text, RECORDS and HELD."""
    figures = [text_of(column(VALUE), kind), column(RECORDS), column(HELD)]
    query = select(figures, values)
    order = [descending(column(RECORDS)), ascending(column(VALUE))]
    query.set("order", exp.Order(expressions=order))
    return query.limit(most, copy=False)


def in_parts(values: exp.Table, kind: exp.DataType, *, parts: int) -> exp.Select:
    """Values in order, cut into parts of about as many records each.

    Rows of the least and the greatest value as texts, RECORDS and HELD; NULL is a part by itself.

    Args:
        values: Rows of VALUE, RECORDS and HELD.
        kind: The column's type.
        parts: How many parts besides that of NULL.
    """
    is_value = exp.Not(this=is_null(column(VALUE)))
    records = over(exp.Sum(this=when(is_value, column(RECORDS))))
    before = over(summed(RECORDS), order=[ascending(column(VALUE))])
    reached = minus(before, column(RECORDS))
    part = whole_part(times(exp.Paren(this=reached), number(parts)), records)
    rank = when(is_null(column(VALUE)), number(parts), default=part)
    ranked = select([exp.Star(), alias(rank, RANK)], values)
    figures = [
        text_of(exp.Min(this=column(VALUE)), kind),
        text_of(exp.Max(this=column(VALUE)), kind),
        total(column(RECORDS)),
        total(column(HELD)),
    ]
    query = select(figures, nested(ranked, "ranked"), by=[column(RANK)])
    query.set("order", exp.Order(expressions=[ascending(column(RANK))]))
    return query


def _same(names: Sequence[str], one: str, other: str) -> exp.Expr:
    pairs = [same_value(column(name, one), column(name, other), nullable=True) for name in names]
    return exp.and_(*pairs, copy=False)
