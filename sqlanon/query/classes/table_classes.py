"""Equivalence classes of any table, as it stands.

Columns of any type are packed into few whole numbers first, the words of a code: a GROUP BY of
these takes half the time of one of the columns themselves.

Everywhere `rows` are those of `coded_rows` or `sized_rows`, `words` is the number of words, and
`value` an expression over the columns of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query.classes.frequency import CLASS_SIZE, histogram
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encoding.encode import (
    RANK,
    SIZE,
    VALUE,
    same_columns,
    same_value,
    word,
    words_of,
)
from sqlanon.query.syntax import (
    added,
    alias,
    bigint,
    column,
    count_all,
    named,
    nested,
    select,
    star,
)

_ONE = exp.Literal.number(1)
_SIZE = alias(bigint(count_all()), CLASS_SIZE)


def size_histogram(source: exp.Table, quasi_identifiers: Sequence[str]) -> exp.Select:
    """The sizes of a table's classes and how many classes have each size.

    NULL is a value: records with NULL in a column share it.
    """
    return histogram(select([_SIZE], source, by=[column(name) for name in quasi_identifiers]))


def distinct_among(source: exp.Table, columns: Sequence[str], *, first: int) -> exp.Select:
    """Distinct values per column among the first records of a table, in one row."""
    head = select(map(column, columns), source).limit(first, copy=False)
    return select(_distinct_counts(columns), nested(head, "head"))


def distinct_values(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """Records of a table, and distinct values per column, in one row; NULL is none."""
    return select([bigint(count_all()), *_distinct_counts(columns)], source)


def _distinct_counts(columns: Sequence[str]) -> list[exp.Expr]:
    return [bigint(exp.Count(this=exp.Distinct(expressions=[column(name)]))) for name in columns]


@dataclass(frozen=True, slots=True)
class Coding:
    """Code maps of a table's columns.

    Args:
        maps: Per quasi-identifier rows of VALUE and the words.
        nullable: Quasi-identifiers that hold NULL, which plain equality would lose.
        words: Number of words of the code.
        ranks: Per sensitive attribute rows of VALUE and RANK.
        entity: The column that says whose record it is.
    """

    maps: Mapping[str, exp.Select]
    nullable: frozenset[str]
    words: int
    ranks: Mapping[str, exp.Table] = field(default_factory=dict)
    entity: str | None = None


def coded_rows(source: exp.Table, coding: Coding) -> exp.Select:
    """The records of a table as codes: the words, a rank per attribute, and the entity.

    A sensitive value without a rank, a NULL that is no value, becomes NULL.
    """
    carried = [
        alias(column(RANK, value_of(number)), value_of(number))
        for number in range(len(coding.ranks))
    ]
    if coding.entity is not None:
        carried.append(alias(column(coding.entity, "source"), ENTITY))
    codes = [alias(code, word(w)) for w, code in enumerate(_codes(coding))]
    query = _joined([*codes, *carried], source, coding=coding)
    for number, (name, ranks) in enumerate(coding.ranks.items()):
        own = value_of(number)
        same = same_value(column(name, "source"), column(VALUE, own), nullable=True)
        query.join(named(ranks, own), on=same, join_type="left", copy=False)
    return query


def coded_histogram(source: exp.Table, coding: Coding) -> exp.Select:
    """As `size_histogram`, by codes."""
    return histogram(_joined([_SIZE], source, coding=coding, by=_codes(coding)))


def _codes(coding: Coding) -> list[exp.Expr]:
    names = [f"map_{number}" for number in range(len(coding.maps))]
    return [added([column(word(w), name) for name in names]) for w in range(coding.words)]


def _joined(
    figures: Sequence[exp.Expr],
    source: exp.Table,
    *,
    coding: Coding,
    by: Sequence[exp.Expr] = (),
) -> exp.Select:
    query = select(figures, named(source, "source"), by=by)
    for number, (name, rows) in enumerate(coding.maps.items()):
        own = f"map_{number}"
        same = same_value(column(name, "source"), column(VALUE, own), name in coding.nullable)
        query.join(nested(rows, own), on=same, copy=False)
    return query


def larger_classes(rows: exp.Table, words: int) -> exp.Select:
    """The classes of more than one record: the words and CLASS_SIZE."""
    query = select([*words_of(words), _SIZE], rows, by=words_of(words))
    return query.having(count_all() > 1, copy=False)


def person_classes(rows: exp.Table, words: int) -> exp.Select:
    """All classes: the words and CLASS_SIZE [persons]; records without one are one person's."""
    persons = select([*words_of(words), column(ENTITY)], rows).distinct(copy=False)
    return select([*words_of(words), _SIZE], nested(persons, "persons"), by=words_of(words))


def most_records(source: exp.Table, entity: str) -> exp.Select:
    """The most records of one person of a table, in one row; those without one are one person's."""
    persons = select([_SIZE], source, by=[column(entity)])
    return select([bigint(exp.Max(this=column(CLASS_SIZE)))], nested(persons, "persons"))


def sizes_histogram(classes: exp.Table) -> exp.Select:
    """Number of classes of each size."""
    return histogram(select([column(CLASS_SIZE)], classes))


def sized_rows(rows: exp.Table, larger: exp.Table, *, words: int) -> exp.Select:
    """The rows of `coded_rows` with the CLASS_SIZE of `larger_classes`, or 1."""
    size = exp.Coalesce(this=column(CLASS_SIZE, "larger"), expressions=[_ONE])
    query = select([star("rows"), alias(size, CLASS_SIZE)], named(rows, "rows"))
    same = same_columns("rows", "larger", names=[word(w) for w in range(words)])
    return query.join(named(larger, "larger"), on=same, join_type="left", copy=False)


def attribute_rows(rows: exp.Table, words: int, *, value: exp.Expr) -> exp.Select:
    """Rows of the words, VALUE and SIZE."""
    return select([*words_of(words), alias(value, VALUE), alias(_ONE, SIZE)], rows)


def person_rows(rows: exp.Table, words: int, *, value: exp.Expr) -> exp.Select:
    """As `attribute_rows`; a person counts once for each class and value."""
    columns = [*words_of(words), alias(value, VALUE), column(ENTITY)]
    each = nested(select(columns, rows).distinct(copy=False), "persons")
    return select([*words_of(words), column(VALUE), alias(_ONE, SIZE)], each)


def shared_rows(rows: exp.Table, words: int, *, value: exp.Expr) -> exp.Select:
    """As `attribute_rows` of `sized_rows`, of classes of more than one record."""
    return attribute_rows(rows, words, value=value).where(column(CLASS_SIZE) > 1, copy=False)


def single_rows(rows: exp.Table, words: int, *, value: exp.Expr) -> exp.Select:
    """As `attribute_rows` of `sized_rows`, one class of one record for each value of such classes.

    All such classes of a value have the same figures.
    """
    others = [alias(exp.Literal.number(0), word(w)) for w in range(1, words)]
    figures = [alias(value, word(0)), *others, alias(value, VALUE), alias(_ONE, SIZE)]
    query = select(figures, rows).distinct(copy=False)
    return query.where(column(CLASS_SIZE).eq(1), copy=False)


def persons_given_away(rows: exp.Table, words: int, *, value: exp.Expr) -> exp.Select:
    """Persons with records in classes of one value or none, in one row; NULL is no value."""
    values = exp.Count(this=exp.Distinct(expressions=[value]))
    classes = select(words_of(words), rows, by=words_of(words)).having(values <= 1, copy=False)
    same = same_columns("rows", "classes", names=[word(w) for w in range(words)])
    held = select([column(ENTITY, "rows")], named(rows, "rows")).distinct(copy=False)
    held.join(nested(classes, "classes"), on=same, copy=False)
    return select([bigint(count_all())], nested(held, "persons"))


def pair_value(one: int, other: int, *, values: int) -> exp.Expr:
    """The ranks of two attributes, the second with so many values, as one number, else NULL."""
    return column(value_of(one)) * values + column(value_of(other))
