"""Violations: which classes of a node fail a privacy model, and how many of their records must go.

The rows are those of a table of details: the keys that tell classes apart (words of the code, or
published values), a value per sensitive attribute, a person where records have one, and their
number. A relation of *violations* has a row per class: its keys and REQUIRED, records that no node
below can publish. A search asks for those of several nodes at once, from figures beside each other
(`violating`); a published statement has a query per model (`small`, `few_persons`, `failing`) and
merges the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.arithmetic import number
from sqlanon.query.classes.frequency import CLASS_SIZE, REQUIRED
from sqlanon.query.encoding.encode import SIZE, VALUE, same_columns, union_all, word
from sqlanon.query.syntax import (
    alias,
    bigint,
    column,
    count_all,
    greatest,
    least,
    named,
    nested,
    select,
    star,
    when,
)

ENTITY = "entity"
PERSONS = "persons"
_DETAILS = "details"
_KEPT = -1  # what is required of a class that violates nothing

Keys = Sequence[str]
Rows = exp.Table | exp.Subquery


def value_of(attribute: int) -> str:
    """Name of the column that holds a sensitive attribute's value, or its rank."""
    return f"value_{attribute}"


def words(count: int) -> list[str]:
    """The keys of a node's classes."""
    return [word(w) for w in range(count)]


def spread_rows(rows: Rows, keys: Keys, *, attribute: int, entity: bool) -> exp.Select:
    """Rows of the keys, VALUE and SIZE of one sensitive attribute.

    A person with several records of a class and value counts once, where the details have any.
    """
    value = alias(column(value_of(attribute)), VALUE)
    if not entity:
        return select([*_columns(keys), value, column(SIZE)], rows)
    persons = select([*_columns(keys), value, column(ENTITY)], rows).distinct(copy=False)
    return each_once(persons, keys)


def small(rows: Rows, keys: Keys, *, k: int, records: int) -> exp.Select:
    """Classes of fewer than k records: nothing below them can be published."""
    return _too_few(rows, keys, count=exp.Sum(this=column(SIZE)), k=k, records=records)


def few_persons(rows: Rows, keys: Keys, *, k: int, records: int) -> exp.Select:
    """Classes of fewer than k persons; records without one are one person's."""
    persons = select([*_columns(keys), column(ENTITY)], rows).distinct(copy=False)
    return _too_few(nested(persons, "persons"), keys, count=count_all(), k=k, records=records)


def _too_few(rows: Rows, keys: Keys, *, count: exp.Expr, k: int, records: int) -> exp.Select:
    few = exp.LT(this=count, expression=number(k))
    required = alias(bigint(number(records)), REQUIRED)
    query = select([*_columns(keys), required], rows, by=_columns(keys))
    return query.having(few, copy=False)


def failing(
    figures: exp.Select, keys: Keys, *, conditions: Sequence[tuple[exp.Expr, exp.Expr]]
) -> exp.Select:
    """Classes whose figures fail any model."""
    needed = [when(fails, required, default=number(0)) for fails, required in conditions]
    most = greatest(*needed)
    fails = exp.or_(*(fails for fails, _ in conditions), copy=False)
    query = select([*_columns(keys), alias(bigint(most), REQUIRED)], nested(figures, "figures"))
    return query.where(fails, copy=False)


def merged(parts: Sequence[exp.Select], keys: Keys) -> exp.Select:
    """One row per class that any of several relations of violations holds."""
    required = alias(exp.Max(this=column(REQUIRED)), REQUIRED)
    together = nested(union_all(parts), "parts")
    return select([*_columns(keys), required], together, by=_columns(keys))


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of classes, and what models make of them.

    Args:
        rows: One row per class: what tells classes apart, and the figures.
        conditions: Per model whether a class fails it, and the records required to go then.
    """

    rows: exp.Query
    conditions: Sequence[tuple[exp.Expr, exp.Expr]]


def violating(parts: Sequence[Figures], keys: Keys) -> exp.Select:
    """The classes that fail any model, with REQUIRED.

    Args:
        parts: Figures of the same classes; the first ones have CLASS_SIZE.
        keys: What tells classes apart.
    """
    first, *others = [f"part_{place}" for place in range(len(parts))]
    needed = [
        when(_of(fails, name), _of(required, name), default=number(_KEPT))
        for name, part in zip([first, *others], parts, strict=True)
        for fails, required in part.conditions
    ]
    size = column(CLASS_SIZE, first)
    most = least(greatest(*needed), size)
    kept = [column(name, first) for name in keys]
    judged = select([*kept, size, alias(most, REQUIRED)], nested(parts[0].rows, first))
    for name, part in zip(others, parts[1:], strict=True):
        judged.join(nested(part.rows, name), on=same_columns(first, name, names=keys), copy=False)
    query = select([star()], nested(judged, "judged"))
    kept_not = exp.GTE(this=column(REQUIRED), expression=number(0))
    return query.where(kept_not, copy=False)


def _of(condition: exp.Expr, relation: str) -> exp.Expr:
    """A condition over the columns of a relation."""

    def qualified(item: exp.Expr) -> exp.Expr:
        return column(item.name, relation) if isinstance(item, exp.Column) else item

    return condition.transform(qualified)


def persons(rows: exp.Query, keys: Keys) -> exp.Select:
    """PERSONS per class, of rows that tell them apart; records without one are one person's."""
    figures = [*_columns(keys), alias(bigint(count_all()), PERSONS)]
    return select(figures, nested(rows, "rows"), by=_columns(keys))


def each_once(rows: exp.Query, keys: Keys) -> exp.Select:
    """Rows of persons and values, each of SIZE 1."""
    one = alias(bigint(number(1)), SIZE)
    figures = [*_columns(keys), column(VALUE), one]
    return select(figures, nested(rows, "persons"))


def without(
    rows: exp.Table, suppressed: exp.Table, *, keys: Keys, nullable: bool = False
) -> exp.Select:
    """The details of the classes that are not suppressed."""
    gone = select([number(1)], named(suppressed, "gone"))
    gone.where(same_columns("gone", _DETAILS, names=keys, nullable=nullable), copy=False)
    query = select([star()], named(rows, _DETAILS))
    return query.where(exp.Not(this=exp.Exists(this=gone)), copy=False)


def within(rows: exp.Table, suppressed: exp.Table, *, keys: Keys) -> exp.Select:
    """The details of the classes that are suppressed."""
    query = select([star(_DETAILS)], named(rows, _DETAILS))
    same = same_columns("gone", _DETAILS, names=keys)
    return query.join(named(suppressed, "gone"), on=same, copy=False)


def _columns(keys: Keys) -> list[exp.Column]:
    return [column(key) for key in keys]
