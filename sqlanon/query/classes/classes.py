"""Equivalence classes of any table, as it stands.

Columns of any type are packed into few whole numbers first, the words of a code: a GROUP BY of
these takes half the time of one of the columns themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query.classes.frequency import CLASS_SIZE, histogram
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, same_value, word
from sqlanon.query.syntax import added, alias, bigint, column, count_all, named, nested

_ONE = exp.Literal.number(1)


def size_histogram(source: exp.Table, quasi_identifiers: Sequence[str]) -> exp.Select:
    """The sizes of a table's classes and how many classes have each size.

    NULL is a value: records with NULL in a column share it.
    """
    classes = exp.select(alias(bigint(count_all()), CLASS_SIZE)).from_(source)
    return histogram(classes.group_by(*(column(name) for name in quasi_identifiers)))


def records(source: exp.Table) -> exp.Select:
    """Number of records of a table."""
    return exp.select(bigint(count_all())).from_(source)


def distinct_among(source: exp.Table, columns: Sequence[str], first: int) -> exp.Select:
    """Distinct values per column among the first records of a table, in one row."""
    head = exp.select(*map(column, columns)).from_(source).limit(first)
    counts = [exp.Count(this=exp.Distinct(expressions=[column(name)])) for name in columns]
    return exp.select(*map(bigint, counts)).from_(nested(head, "head"))


def distinct_values(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """Records of a table, and distinct values per column, in one row; NULL is none."""
    counts = [exp.Count(this=exp.Distinct(expressions=[column(name)])) for name in columns]
    return exp.select(bigint(count_all()), *map(bigint, counts)).from_(source)


@dataclass(frozen=True, slots=True)
class Coding:
    """How the records of a table become codes.

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
    query = _joined(exp.select(*codes, *carried), source, coding)
    for number, (name, ranks) in enumerate(coding.ranks.items()):
        own = value_of(number)
        same = same_value(column(name, "source"), column(VALUE, own), nullable=True)
        query = query.join(named(ranks, own), on=same, join_type="left")
    return query


def coded_histogram(source: exp.Table, coding: Coding) -> exp.Select:
    """As `size_histogram`, by codes."""
    classes = _joined(exp.select(alias(bigint(count_all()), CLASS_SIZE)), source, coding)
    return histogram(classes.group_by(*_codes(coding)))


def _codes(coding: Coding) -> list[exp.Expr]:
    names = [f"map_{number}" for number in range(len(coding.maps))]
    return [added([column(word(w), name) for name in names]) for w in range(coding.words)]


def _joined(query: exp.Select, source: exp.Table, coding: Coding) -> exp.Select:
    query = query.from_(named(source, "source"))
    for number, (name, rows) in enumerate(coding.maps.items()):
        own = f"map_{number}"
        same = same_value(column(name, "source"), column(VALUE, own), name in coding.nullable)
        query = query.join(nested(rows, own), on=same)
    return query


def larger_classes(rows: exp.Table, words: int) -> exp.Select:
    """The classes of more than one record: the words and CLASS_SIZE.

    Args:
        rows: Rows of `coded_rows`.
        words: Number of words.
    """
    size = alias(bigint(count_all()), CLASS_SIZE)
    query = exp.select(*_words(words), size).from_(rows).group_by(*_words(words))
    return query.having(count_all() > 1)


def person_classes(rows: exp.Table, words: int) -> exp.Select:
    """All classes: the words and CLASS_SIZE [persons]; records without one are one person's."""
    persons = exp.select(*_words(words), column(ENTITY)).distinct().from_(rows)
    query = exp.select(*_words(words), alias(bigint(count_all()), CLASS_SIZE))
    return query.from_(nested(persons, "persons")).group_by(*_words(words))


def sizes_histogram(classes: exp.Table) -> exp.Select:
    """How many of some classes have each size."""
    return histogram(exp.select(column(CLASS_SIZE)).from_(classes))


def sized_rows(rows: exp.Table, larger: exp.Table, words: int) -> exp.Select:
    """The rows of `coded_rows` with the CLASS_SIZE of `larger_classes`, or 1."""
    pairs = [column(word(w), "rows").eq(column(word(w), "larger")) for w in range(words)]
    size = exp.Coalesce(this=column(CLASS_SIZE, "larger"), expressions=[_ONE])
    own = exp.Column(this=exp.Star(), table=exp.to_identifier("rows", quoted=True))
    query = exp.select(own, alias(size, CLASS_SIZE)).from_(named(rows, "rows"))
    same = exp.and_(*pairs, copy=False)
    return query.join(named(larger, "larger"), on=same, join_type="left")


def attribute_rows(rows: exp.Table, words: int, value: exp.Expr) -> exp.Select:
    """Rows of the words, VALUE and SIZE.

    Args:
        rows: Rows of `coded_rows` or `sized_rows`.
        words: Number of words.
        value: The value, over the columns of the rows.
    """
    columns = [*_words(words), alias(value, VALUE), alias(_ONE, SIZE)]
    return exp.select(*columns).from_(rows)


def person_rows(rows: exp.Table, words: int, value: exp.Expr) -> exp.Select:
    """As `attribute_rows`; a person counts once for each class and value."""
    columns = [*_words(words), alias(value, VALUE), column(ENTITY)]
    each = exp.select(*columns).distinct().from_(rows)
    query = exp.select(*_words(words), column(VALUE), alias(_ONE, SIZE))
    return query.from_(nested(each, "persons"))


def shared_rows(rows: exp.Table, words: int, value: exp.Expr) -> exp.Select:
    """As `attribute_rows`, of classes of more than one record.

    Args:
        rows: Rows of `sized_rows`.
        words: Number of words.
        value: The value, over the columns of the rows.
    """
    return attribute_rows(rows, words, value).where(column(CLASS_SIZE) > 1)


def single_rows(rows: exp.Table, words: int, value: exp.Expr) -> exp.Select:
    """As `attribute_rows`, of one class of one record for each value that such classes hold.

    All such classes of a value have the same figures.

    Args:
        rows: Rows of `sized_rows`.
        words: Number of words.
        value: The value, over the columns of the rows.
    """
    first = alias(value, word(0))
    others = [alias(exp.Literal.number(0), word(w)) for w in range(1, words)]
    query = exp.select(first, *others, alias(value, VALUE), alias(_ONE, SIZE))
    return query.distinct().from_(rows).where(column(CLASS_SIZE).eq(1))


def pair_value(one: int, other: int, values: int) -> exp.Expr:
    """The ranks of two attributes as one number; NULL where one has none.

    Args:
        one: Number of the first attribute.
        other: Number of the second.
        values: How many ranks the second has.
    """
    return column(value_of(one)) * values + column(value_of(other))


def _words(words: int) -> list[exp.Expr]:
    return [column(word(w)) for w in range(words)]
