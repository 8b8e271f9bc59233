"""Equivalence classes of any table, as it stands.

Where classes are counted more than once, columns of any type are packed into few whole numbers
first, the words of a code: a GROUP BY of these takes half the time of one of the columns.

Everywhere `rows` are those of `coded_rows` or `sized_rows`, `words` is the number of words, and
`value` an expression over the columns of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query.classes.frequency import histogram
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.classes.violations import words as keys
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render


def size_histogram(source: exp.Table, quasi_identifiers: Sequence[str]) -> Sql:
    """The sizes of a table's classes and how many classes have each size.

    NULL is a value: records with NULL in a column share it.
    """
    return histogram(
        expression(
            "SELECT CAST(COUNT(*) AS BIGINT) AS class_size FROM {{ source }}"
            "{% if columns %} GROUP BY {{ listed(columns) }}{% endif %}",
            source=source,
            columns=names(quasi_identifiers),
        )
    )


def distinct_values(source: exp.Table, columns: Sequence[str]) -> Sql:
    """Records of a table, and distinct values per column, in one row; NULL is none."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT){% for column in columns %},"
        " CAST(COUNT(DISTINCT {{ column }}) AS BIGINT){% endfor %} FROM {{ source }}",
        columns=names(columns),
        source=source,
    )


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


def coded_rows(source: exp.Table, coding: Coding) -> Sql:
    """The records of a table as codes: the words, a rank per attribute, and the entity.

    A sensitive value without a rank, a NULL that is no value, becomes NULL.
    """
    return render(
        "classes/coded_rows",
        source=source,
        maps=[(name(held), rows, held in coding.nullable) for held, rows in coding.maps.items()],
        words=coding.words,
        carried=[] if coding.entity is None else [(name(ENTITY), name(coding.entity))],
        ranks=[
            (name(column), ranks, name(value_of(number)))
            for number, (column, ranks) in enumerate(coding.ranks.items())
        ],
    )


def larger_classes(rows: exp.Table, words: int) -> Sql:
    """The classes of more than one record: the words and CLASS_SIZE."""
    return expression(
        "SELECT {{ words }}, CAST(COUNT(*) AS BIGINT) AS class_size FROM {{ rows }}"
        " GROUP BY {{ words }} HAVING COUNT(*) > 1",
        rows=rows,
        words=_words(words),
    )


def person_classes(rows: exp.Table, words: int) -> Sql:
    """All classes: the words and CLASS_SIZE [persons]; records without one are one person's."""
    return expression(
        "SELECT {{ words }}, CAST(COUNT(*) AS BIGINT) AS class_size"
        " FROM (SELECT DISTINCT {{ words }}, entity FROM {{ rows }}) AS persons"
        " GROUP BY {{ words }}",
        rows=rows,
        words=_words(words),
    )


def most_records(source: exp.Table, entity: str) -> Sql:
    """The most records of one person of a table, in one row; those without one are one person's."""
    return expression(
        "SELECT CAST(MAX(class_size) AS BIGINT) FROM (SELECT COUNT(*) AS class_size"
        " FROM {{ source }} GROUP BY {{ entity }}) AS persons",
        source=source,
        entity=name(entity),
    )


def sizes_histogram(classes: exp.Table) -> Sql:
    """Number of classes of each size."""
    return histogram(classes)


def sized_rows(rows: exp.Table, larger: exp.Table, *, words: int) -> Sql:
    """The rows of `coded_rows` with the CLASS_SIZE of `larger_classes`, or 1."""
    return render("classes/sized_rows", rows=rows, larger=larger, words=names(keys(words)))


def attribute_rows(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """Rows of the words, VALUE and SIZE."""
    return expression(
        "SELECT {{ words }}, {{ value }} AS value, 1 AS size FROM {{ rows }}",
        rows=rows,
        words=_words(words),
        value=value,
    )


def person_rows(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """As `attribute_rows`; a person counts once for each class and value."""
    return render("classes/person_rows", rows=rows, words=names(keys(words)), value=value)


def shared_rows(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """As `attribute_rows` of `sized_rows`, of classes of more than one record."""
    return expression(
        "SELECT {{ words }}, {{ value }} AS value, 1 AS size FROM {{ rows }} WHERE class_size > 1",
        rows=rows,
        words=_words(words),
        value=value,
    )


def single_rows(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """As `attribute_rows` of `sized_rows`, one class of one record for each value of such classes.

    All such classes of a value have the same figures.
    """
    return render("classes/single_rows", rows=rows, words=words, value=value)


def persons_given_away(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """Persons with records in classes of one value or none, in one row; NULL is no value."""
    own = names(keys(words))
    return render("classes/persons_given_away", rows=rows, words=own, value=value)


def pair_value(one: int, other: int, *, values: int) -> Sql:
    """The ranks of two attributes, the second with so many values, as one number, else NULL."""
    return expression(
        "value_{{ one }} * {{ values }} + value_{{ other }}", one=one, other=other, values=values
    )


def _words(count: int) -> Sql:
    return listed(names(keys(count)))
