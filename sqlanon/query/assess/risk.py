"""Risk: queries of classes, of subsets of columns and of a population.

Subsets are counted from frequency sets: tables of a packed code in one or more words and `size`,
where a subset of the columns is a mask of every word. Where persons are counted instead of
records, the last word says whose record a row is, and no mask touches it.

Everywhere `source` is a frequency set, with a row per class and person where persons are counted,
`words` the number of words that tell its classes apart, and `person` the word that says whose
record a row is, None where records are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.hierarchy.layout import Field
from sqlanon.query.arithmetic import ascending, minus, number, or_zero, over, times
from sqlanon.query.classes.frequency import CLASS_SIZE, Masks, histogram, mask
from sqlanon.query.encoding.encode import (
    SIZE,
    VALUE,
    distinct_values,
    same_columns,
    union_all,
    word,
    words_of,
)
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, select, total, when
from sqlanon.sqltext import Sql

CODE = "code"
PERSON = "person"
POPULATION_SIZE = "population_size"
SUBSET = "subset"


def numbered_values(source: exp.Table, name: str) -> exp.Select:
    """Every distinct value of a column, NULL too, with its number: `value`, `code` from 0 on."""
    row = over(exp.RowNumber(), order=[ascending(column(VALUE), nulls_first=True)])
    code = alias(bigint(minus(row, number(1))), CODE)
    return select([column(VALUE), code], nested(distinct_values(source, name), "held"))


def code_map(values: exp.Table, field: Field, *, words: int) -> exp.Select:
    """The codes of a column's `numbered_values` at its bits: rows of `value` and the words."""
    code = times(column(CODE), number(1 << field.offset))
    codes = [code if w == field.word else number(0) for w in range(words)]
    return select(
        [column(VALUE), *(alias(bigint(code), word(w)) for w, code in enumerate(codes))], values
    )


def single_class_persons(source: exp.Table, words: int) -> exp.Select:
    """The frequency set of persons who are in one class each: the words and `size`, persons."""
    keys = words_of(words)
    return select([*keys, alias(bigint(count_all()), SIZE)], source, by=keys)


def class_histogram(source: exp.Table, words: int, *, person: str | None = None) -> Sql:
    """The sizes of the classes of all columns and how many classes have each size."""
    return histogram(_classes(_rows(source), [], keys=words_of(words), person=person))


def person_histogram(source: exp.Table, words: int, *, person: str) -> Sql:
    """Persons by the size of the smallest class that holds a record of theirs: size, persons."""
    size = alias(over(count_all(), words_of(words)), CLASS_SIZE)
    sized = select([column(person), size], source)
    smallest = alias(exp.Min(this=column(CLASS_SIZE)), CLASS_SIZE)
    return histogram(select([smallest], nested(sized, "sized"), by=[column(person)]))


def subset_counts(source: exp.Table, words: int, *, subsets: int, person: str | None) -> exp.Expr:
    """Counts of the classes of several subsets of columns, one aggregation for each.

    Rows of position, classes, records (or persons) that are alone in a class, and the sum of the
    squared class sizes. The masks, subset by subset and word by word, are the query's parameters,
    so that its text serves many subsets. For large sets: no key is wider than it must be.
    """
    parts = []
    for place in range(subsets):
        keys: list[exp.Expr] = [
            exp.BitwiseAnd(this=column(word(w)), expression=exp.Placeholder()) for w in range(words)
        ]
        classes = nested(_classes(_rows(source), [], keys=keys, person=person), "classes")
        parts.append(select([number(place), *_figures(person)], classes))
    return union_all(parts)


def joint_subset_counts(
    source: exp.Table, masks: Sequence[Masks], *, person: str | None
) -> exp.Select:
    """The rows of `subset_counts`, worked out in one aggregation for all subsets.

    For small sets, where planning an aggregation takes longer than running it.
    """
    words = len(masks[0])
    listed = exp.values(
        [(place, *subset) for place, subset in enumerate(masks)],
        alias="subsets",
        columns=[SUBSET, *(mask(w) for w in range(words))],
    )
    rows = _rows(source).join(listed, join_type="CROSS", copy=False)
    keys: list[exp.Expr] = [
        exp.BitwiseAnd(this=column(word(w)), expression=column(mask(w))) for w in range(words)
    ]
    classes = nested(_classes(rows, [SUBSET], keys=keys, person=person), "classes")
    return select([column(SUBSET), *_figures(person)], classes, by=[column(SUBSET)])


def matches(
    table: exp.Table,
    population: exp.Table,
    *,
    quasi_identifiers: Sequence[str],
    entity: str | None = None,
    population_entity: str | None = None,
) -> exp.Select:
    """The classes of a table and of the population that it is of, matched value by value.

    One row per size of population class, 0 standing for none: the size; population classes;
    classes of the table that match one of them, records in these, and how many of these classes
    hold one record; classes of the table that are larger than their match, and records in these.
    NULL matches NULL.

    Args:
        table: The released table.
        population: The population, in the same columns.
        quasi_identifiers: The columns that make the classes.
        entity: A column of the table that says whose record it is; None where records count.
        population_entity: That column of the population.
    """
    released = _sized(table, quasi_identifiers, entity=entity, size=CLASS_SIZE)
    whole = _sized(population, quasi_identifiers, entity=population_entity, size=POPULATION_SIZE)
    same = same_columns("released", "whole", names=_keys(quasi_identifiers), nullable=True)
    size = or_zero(column(POPULATION_SIZE))
    query = select([bigint(size), *_match_figures()], nested(released, "released"), by=[size])
    query.join(nested(whole, "whole"), on=same, join_type="FULL", copy=False)
    return query.order_by(size, copy=False)


def _keys(columns: Sequence[object]) -> list[str]:
    return [f"key_{place}" for place in range(len(columns))]


def _match_figures() -> list[exp.Expr]:
    size = column(CLASS_SIZE)
    larger = exp.GT(this=size, expression=or_zero(column(POPULATION_SIZE)))
    return [
        bigint(exp.Count(this=column(POPULATION_SIZE))),
        bigint(exp.Count(this=size)),
        total(size),
        bigint(exp.Count(this=_alone())),
        bigint(exp.Count(this=when(larger, number(1)))),
        total(when(larger, size)),
    ]


def _sized(table: exp.Table, names: Sequence[str], *, entity: str | None, size: str) -> exp.Select:
    """The classes of a table by number of records, or of persons: key_0, key_1, ..., the size."""
    keys = [column(key) for key in _keys(names)]
    values = [alias(column(name), key) for key, name in zip(_keys(names), names, strict=True)]
    persons = [] if entity is None else [alias(column(entity), PERSON)]
    members = select([*values, *persons], table)
    if persons:
        members.distinct(copy=False)
    return select([*keys, alias(bigint(count_all()), size)], nested(members, "members"), by=keys)


def _rows(source: exp.Table) -> exp.Select:
    """A query over a table that says nothing yet of its columns."""
    return exp.Select().from_(source, copy=False)


def _classes(
    rows: exp.Select, labels: Sequence[str], *, keys: Sequence[exp.Expr], person: str | None
) -> exp.Select:
    """The classes of rows that share labels and keys: the labels, `class_size`, `person`.

    A person counts once in a class; `person` is the only one of a class of size 1.
    """
    shown: list[exp.Expr] = [column(label) for label in labels]
    if person is None:
        size = alias(total(column(SIZE)), CLASS_SIZE)
        return rows.select(*shown, size, copy=False).group_by(*shown, *keys, copy=False)
    names = _keys(keys)
    own = [alias(key, name) for key, name in zip(keys, names, strict=True)]
    members = rows.select(*shown, *own, alias(column(person), PERSON), copy=False)
    only = alias(exp.Min(this=column(PERSON)), PERSON)
    return select(
        [*shown, alias(bigint(count_all()), CLASS_SIZE), only],
        nested(members.distinct(copy=False), "members"),
        by=[*shown, *map(column, names)],
    )


def _figures(person: str | None) -> list[exp.Expr]:
    """Number of classes, of records or persons alone in one, and sum of squared class sizes."""
    # One person may be alone in several classes.
    unique = _alone() if person is None else exp.Distinct(expressions=[_alone(column(PERSON))])
    square = times(column(CLASS_SIZE), column(CLASS_SIZE))
    return [bigint(count_all()), bigint(exp.Count(this=unique)), total(square)]


def _alone(value: exp.Expr | None = None) -> exp.Expr:
    """A value, or 1, of a class of one record, else NULL."""
    return when(exp.EQ(this=column(CLASS_SIZE), expression=number(1)), value or number(1))
