"""Equivalence classes of any table, as it stands.

Where classes are counted more than once, columns of any type are packed into few whole numbers
first, the words of a code: a GROUP BY of these takes half the time of one of the columns.

Everywhere `rows` are those of `coded_rows` or `sized_rows`, `words` is the number of words, and
`value` an expression over the columns of the rows.

Where a published column says whose record it is, all records of a person can be joined, so a person
is told apart by all of them together, the trajectory: the bag of their combinations of
quasi-identifiers. It is written as one text of whole numbers, its classes sorted: equal texts are
equal bags, exactly and on every engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query import encode
from sqlanon.query.classes.frequency import histogram
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encode import Carried, LeafMap, word_names
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


def sized_classes(
    source: exp.Table,
    columns: Sequence[str],
    *,
    size: str = encode.SIZE,
    entity: str | None = None,
    weight: Fragment | None = None,
) -> Sql:
    """The classes of columns: `key_0`, `key_1`, ..., their size, and people with a weight.

    Args:
        source: The table.
        columns: The columns that make the classes.
        size: What the number of their records, or persons, is called.
        entity: The column that says whose record it is; None where records count.
        weight: How many people a record of `source` stands for, where records count; None where
            nobody asks.
    """
    return render(
        "classes/sized_classes",
        source=source,
        columns=names(columns),
        entity=None if entity is None else name(entity),
        weight=weight,
        size=name(size),
    )


def fewest_sharing(combined: exp.Table, sets: Sequence[Sequence[int]]) -> Sql:
    """The fewest records that share a combination of some columns, in one row.

    Args:
        combined: Rows of `sized_classes`.
        sets: Sets of columns by their numbers.
    """
    columns = [names(f"key_{place}" for place in subset) for subset in sets]
    return render("privacy/fewest_sharing", rows=combined, sets=columns)


@dataclass(frozen=True, slots=True)
class Coding:
    """Code maps of a table's columns.

    Args:
        maps: Per quasi-identifier its leaf map.
        nullable: Quasi-identifiers that hold NULL, which plain equality would lose.
        words: Number of words of the code.
        ranks: Per sensitive attribute rows of VALUE and RANK.
        entity: The column that says whose record it is.
    """

    maps: Mapping[str, LeafMap]
    nullable: frozenset[str]
    words: int
    ranks: Mapping[str, exp.Table] = field(default_factory=dict)
    entity: str | None = None


def coded_rows(source: exp.Table, coding: Coding) -> Sql:
    """The records of a table as codes: the words, a rank per attribute, and the entity.

    A sensitive value without a rank, a NULL that is no value, becomes NULL.
    """
    ranked = enumerate(coding.ranks.items())
    carried = {value_of(number): Carried(column, ranks) for number, (column, ranks) in ranked}
    if coding.entity is not None:
        carried[ENTITY] = Carried(coding.entity)
    return encode.coded_rows(
        source, coding.maps, word_names(coding.words), nullable=coding.nullable, carried=carried
    )


def without_code(rows: exp.Table, words: int) -> Sql:
    """How many rows lack a word: they had a value that no map has."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM {{ rows }}"
        " WHERE {% for word in words %}{% if not loop.first %} OR {% endif %}{{ word }} IS NULL"
        "{% endfor %}",
        rows=rows,
        words=names(word_names(words)),
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


def sized_rows(rows: exp.Table, larger: exp.Table, *, words: int) -> Sql:
    """The rows of `coded_rows` with the CLASS_SIZE of `larger_classes`, or 1."""
    return render("classes/sized_rows", rows=rows, larger=larger, words=names(word_names(words)))


def shared_rows(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """Rows of the words, VALUE and SIZE of `sized_rows`, of classes of more than one record."""
    return expression(
        "SELECT {{ words }}, {{ value }} AS value, 1 AS size FROM {{ rows }} WHERE class_size > 1",
        rows=rows,
        words=_words(words),
        value=value,
    )


def single_rows(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """As `shared_rows`, one class of one record for each value of such classes.

    All such classes of a value have the same figures.
    """
    return render("classes/single_rows", rows=rows, words=words, value=value)


def persons_given_away(rows: exp.Table, words: int, *, value: Fragment) -> Sql:
    """Persons with records in classes of one value or none, in one row; NULL is no value."""
    keys = names(word_names(words))
    return render("classes/persons_given_away", rows=rows, words=keys, value=value)


def pair_value(one: int, other: int, *, values: int) -> Sql:
    """The ranks of two attributes, the second with so many values, as one number, else NULL."""
    return expression(
        "value_{{ one }} * {{ values }} + value_{{ other }}", one=one, other=other, values=values
    )


def _words(count: int) -> Sql:
    return listed(names(word_names(count)))


def set_counts(source: exp.Table, sets: Sequence[Sequence[str]]) -> Sql:
    """Classes of each set of columns: rows of its place, classes, and records alone in one.

    NULL is a value; no set is empty.
    """
    return render("classes/set_counts", source=source, sets=[names(subset) for subset in sets])


def joined_records(source: exp.Table, columns: Sequence[str], *, entity: str) -> Sql:
    """Records that a column joins as the entity column does, for each of some columns.

    Rows of its place; values; pairs of a value and a person; the records of values that one person
    has in several records, and nobody else in any. NULL joins nothing, and is nobody.
    """
    return render(
        "classes/joined_records", source=source, columns=names(columns), entity=name(entity)
    )


def records_of_several(source: exp.Table, entity: str) -> Sql:
    """Persons, and the records of those who have several; NULL is nobody."""
    return render("classes/records_of_several", source=source, entity=name(entity))


def trajectories(
    rows: exp.Table, words: int, *, person: str, records: Fragment | None = None
) -> Sql:
    """Every person with the number of their trajectory: `person`, `trajectory`.

    Args:
        rows: The words and the person, several rows for a person and class or one.
        words: The number of words.
        person: The column that says whose a row is; NULL is one person.
        records: How many records a class of rows has; one for each row where left out.
    """
    return render(
        "classes/trajectories",
        rows=rows,
        words=names(word_names(words)),
        person=name(person),
        records=records or expression("COUNT(*)"),
    )


def trajectory_histogram(persons: exp.Table) -> Sql:
    """Persons who share a trajectory, and how many trajectories so many share."""
    sizes = "SELECT COUNT(*) AS class_size FROM {{ persons }} GROUP BY trajectory"
    return histogram(expression(sizes, persons=persons))


def with_trajectories(rows: exp.Table, persons: exp.Table, *, words: int, person: str) -> Sql:
    """The rows with their person's trajectory as one more word."""
    return expression(
        "SELECT rows.*, persons.trajectory AS word_{{ words }} FROM {{ rows }} AS rows"
        " JOIN {{ persons }} AS persons ON rows.{{ person }} IS NOT DISTINCT FROM persons.person",
        rows=rows,
        persons=persons,
        words=words,
        person=name(person),
    )
