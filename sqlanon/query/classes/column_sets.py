"""Column sets: classes of a few sets of columns of any table, as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import is_null, number
from sqlanon.query.classes.frequency import CLASS_SIZE
from sqlanon.query.encoding.encode import SIZE, VALUE, union_all
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, select, total, when

PERSON = "person"
PERSONS = "persons"


def set_counts(source: exp.Table, sets: Sequence[Sequence[str]]) -> exp.Expr:
    """Classes of each set of columns: rows of its place, classes, and records alone in one.

    NULL is a value; no set is empty.
    """
    parts = []
    for place, names in enumerate(sets):
        size = alias(bigint(count_all()), CLASS_SIZE)
        classes = select([size], source, by=[column(name) for name in names])
        alone = when(column(CLASS_SIZE).eq(1), number(1))
        figures = [number(place), bigint(count_all()), bigint(exp.Count(this=alone))]
        parts.append(select(figures, nested(classes, "classes")))
    return union_all(parts)


def joined_records(source: exp.Table, names: Sequence[str], *, entity: str) -> exp.Expr:
    """Records that a column joins as the entity column does, for each of some columns.

    Rows of its place; values; pairs of a value and a person; the records of values that one person
    has in several records, and nobody else in any. NULL joins nothing, and is nobody.
    """
    parts = []
    for place, name in enumerate(names):
        held = [alias(column(name), VALUE), alias(bigint(count_all()), SIZE)]
        pairs = select(held, source, by=[column(name), column(entity)])
        pairs.where(*(is_null(column(each)).not_() for each in (name, entity)), copy=False)
        sizes = [alias(count_all(), PERSONS), alias(total(column(SIZE)), SIZE)]
        values = select(sizes, nested(pairs, "pairs"), by=[column(VALUE)])
        joins = exp.and_(column(PERSONS).eq(1), column(SIZE) > 1)
        records = total(when(joins, column(SIZE)))
        figures = [number(place), bigint(count_all()), total(column(PERSONS)), records]
        parts.append(select(figures, nested(values, "values")))
    return union_all(parts)


def records_of_several(source: exp.Table, entity: str) -> exp.Select:
    """Persons, and the records of those who have several; NULL is nobody."""
    size = alias(bigint(count_all()), SIZE)
    persons = select([size], source, by=[column(entity)])
    persons.where(is_null(column(entity)).not_(), copy=False)
    several = when(column(SIZE) > 1, column(SIZE))
    return select([bigint(count_all()), total(several)], nested(persons, "persons"))
