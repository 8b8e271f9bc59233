"""Violations: which classes of a node fail a privacy model, and how many of their records must go.

The rows are those of a table of details: the keys that tell classes apart (words of the code, or
published values), a value per sensitive attribute, a person where records have one, and their
number. A relation of *violations* has a row per class: its keys and REQUIRED, records that no node
below can publish.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.encode import SIZE, VALUE, same_value, union_all, word
from sqlanon.query.frequency import CLASS_SIZE, NUMBER, REQUIRED, ROW, Masks
from sqlanon.query.names import (
    alias,
    bigint,
    column,
    count_all,
    greatest,
    least,
    masked,
    named,
    nested,
    total,
    when,
)

ENTITY = "entity"
_SIZES, _VIOLATIONS, _DETAILS = "sizes", "violations", "details"


Keys = Sequence[str]
Rows = exp.Table | exp.Subquery


def value_of(attribute: int) -> str:
    """Name of the column that holds a sensitive attribute's value, or its rank."""
    return f"value_{attribute}"


def words(count: int) -> list[str]:
    """The keys of a node's classes."""
    return [word(w) for w in range(count)]


def class_rows(details: exp.Table, masks: Masks, carried: Sequence[str]) -> exp.Select:
    """The details of a node's classes: their words, the columns carried, and SIZE."""
    own: list[exp.Expr] = [masked(word(w), mask) for w, mask in enumerate(masks)]
    kept: list[exp.Expr] = [column(name) for name in carried]
    named_words = [alias(key.copy(), word(w)) for w, key in enumerate(own)]
    return exp.Select(
        expressions=[*named_words, *kept, alias(total(column(SIZE)), SIZE)],
        group=exp.Group(expressions=[*own, *(item.copy() for item in kept)]),
    ).from_(details.copy(), copy=False)


def spread_rows(rows: Rows, keys: Keys, attribute: int, *, entity: bool) -> exp.Select:
    """Rows of the keys, VALUE and SIZE of one sensitive attribute.

    A person with several records of a class and value counts once.

    Args:
        rows: Details of classes.
        keys: What tells classes apart.
        attribute: Number of the attribute.
        entity: Whether records have persons.
    """
    value = alias(column(value_of(attribute)), VALUE)
    if not entity:
        return exp.select(*_columns(keys), value, column(SIZE)).from_(rows.copy())
    persons = exp.select(*_columns(keys), value, column(ENTITY)).distinct().from_(rows.copy())
    one = alias(bigint(exp.Literal.number(1)), SIZE)
    return exp.select(*_columns(keys), column(VALUE), one).from_(nested(persons, "persons"))


def small(rows: Rows, keys: Keys, k: int, records: int) -> exp.Select:
    """Classes of fewer than k records: nothing below them can be published."""
    return _too_few(rows, keys, exp.Sum(this=column(SIZE)), k, records)


def few_persons(rows: Rows, keys: Keys, k: int, records: int) -> exp.Select:
    """Classes of fewer than k persons; records without one are one person's."""
    persons = exp.select(*_columns(keys), column(ENTITY)).distinct().from_(rows.copy())
    return _too_few(nested(persons, "persons"), keys, count_all(), k, records)


def _too_few(rows: Rows, keys: Keys, count: exp.Expr, k: int, records: int) -> exp.Select:
    few = exp.LT(this=count, expression=exp.Literal.number(k))
    return (
        exp.select(*_columns(keys), alias(bigint(exp.Literal.number(records)), REQUIRED))
        .from_(rows.copy())
        .group_by(*_columns(keys))
        .having(few)
    )


def failing(
    figures: exp.Select, keys: Keys, conditions: Sequence[tuple[exp.Expr, exp.Expr]]
) -> exp.Select:
    """Classes whose figures fail any model.

    Args:
        figures: One row per class, as `sensitive.class_figures` makes them.
        keys: What tells classes apart.
        conditions: Per model whether a class fails it, and the records required to go then.
    """
    needed = [when(fails, required, exp.Literal.number(0)) for fails, required in conditions]
    most = greatest(*needed)
    fails = exp.or_(*(fails.copy() for fails, _ in conditions), copy=False)
    query = exp.select(*_columns(keys), alias(bigint(most), REQUIRED))
    return query.from_(nested(figures, "figures")).where(fails)


def merged(parts: Sequence[exp.Select], keys: Keys) -> exp.Select:
    """One row per class that any of several relations of violations holds."""
    together = exp.Subquery(
        this=union_all(list(parts)),
        alias=exp.TableAlias(this=exp.Identifier(this="parts", quoted=True)),
    )
    return exp.Select(
        expressions=[*_columns(keys), alias(exp.Max(this=column(REQUIRED)), REQUIRED)],
        group=exp.Group(expressions=_columns(keys)),
    ).from_(together, copy=False)


def sized(
    source: exp.Table, masks: Masks, violations: exp.Select | exp.Table, number: int, *, row: bool
) -> exp.Select:
    """The violating classes of a node with their size, and what tells their cells' costs.

    Rows of NUMBER, the words, ROW where asked, CLASS_SIZE and REQUIRED.

    Args:
        source: The frequency set that they are counted from.
        masks: The bits that tell the node's classes apart.
        violations: Rows of `merged`.
        number: The node's number.
        row: Whether the set has a ROW.
    """
    keys = words(len(masks))
    own: list[exp.Expr] = [masked(word(w), bits) for w, bits in enumerate(masks)]
    figures = [alias(key.copy(), word(w)) for w, key in enumerate(own)]
    if row:
        figures.append(alias(exp.Min(this=column(ROW)), ROW))
    figures.append(alias(exp.Sum(this=column(SIZE)), CLASS_SIZE))
    sizes = exp.Select(expressions=figures, group=exp.Group(expressions=own))
    sizes.from_(source.copy(), copy=False)
    kept = [column(name, _SIZES) for name in (*keys, *([ROW] if row else []), CLASS_SIZE)]
    required = least(column(REQUIRED, _VIOLATIONS), column(CLASS_SIZE, _SIZES))
    given = (
        named(violations, _VIOLATIONS)
        if isinstance(violations, exp.Table)
        else nested(violations, _VIOLATIONS)
    )
    numbered = alias(exp.Literal.number(number), NUMBER)
    query = exp.Select(expressions=[numbered, *kept, alias(required, REQUIRED)])
    query.from_(nested(sizes, _SIZES), copy=False)
    return query.join(given, on=same_class(_SIZES, _VIOLATIONS, keys), copy=False)


def same_class(one: str, other: str, keys: Keys, *, nullable: bool = False) -> exp.Expr:
    """Whether rows of two relations belong to one class.

    Args:
        one: Alias of a relation.
        other: Alias of the other.
        keys: What tells classes apart.
        nullable: Whether a key may be NULL, as published values may.
    """
    pairs = [same_value(column(key, one), column(key, other), nullable) for key in keys]
    return exp.and_(*pairs, copy=False)


def without(
    rows: exp.Table, suppressed: exp.Table, keys: Keys, *, nullable: bool = False
) -> exp.Select:
    """The details of the classes that are not suppressed."""
    gone = exp.select(exp.Literal.number(1)).from_(named(suppressed, "gone"))
    gone = gone.where(same_class("gone", _DETAILS, keys, nullable=nullable))
    query = exp.Select(expressions=[exp.Star()]).from_(named(rows, _DETAILS), copy=False)
    return query.where(exp.Not(this=exp.Exists(this=gone)), copy=False)


def within(rows: exp.Table, suppressed: exp.Table, keys: Keys) -> exp.Select:
    """The details of the classes that are suppressed."""
    query = exp.Select(
        expressions=[exp.Column(this=exp.Star(), table=exp.Identifier(this=_DETAILS, quoted=True))]
    ).from_(named(rows, _DETAILS), copy=False)
    same = same_class("gone", _DETAILS, keys)
    return query.join(named(suppressed, "gone"), on=same, copy=False)


def _columns(keys: Keys) -> list[exp.Expr]:
    return [column(key) for key in keys]
