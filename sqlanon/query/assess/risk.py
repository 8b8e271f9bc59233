"""Risk: queries of classes, of subsets of columns and of a population.

Subsets are counted from frequency sets: tables of a packed code in one or more words and `size`,
where a subset of the columns is a mask of every word. Where persons are counted instead of
records, the last word says whose record a row is, and no mask touches it.

Everywhere `source` is a frequency set, with a row per class and person where persons are counted,
`words` the number of words that tell its classes apart, and `person` the word that says whose
record a row is, None where records are counted.

Wide tables turn a few columns at a time into words: `numbered` has the rows of `numbered_records`,
and a part is the numbers of some of its columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.hierarchy.layout import Field
from sqlanon.query.classes.frequency import CLASS_SIZE, Masks, histogram
from sqlanon.query.classes.table_classes import sized_classes
from sqlanon.query.classes.violations import value_of
from sqlanon.query.encode import LeafMap, word, word_names
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

PERSON = "person"
POPULATION_SIZE = "population_size"


def numbered_values(source: exp.Table, attribute: str) -> Sql:
    """Every distinct value of a column, NULL too, with its number: `value`, `code` from 0 on."""
    return expression(
        "SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value NULLS FIRST) - 1 AS BIGINT) AS code"
        " FROM (SELECT DISTINCT {{ attribute }} AS value FROM {{ source }}) AS held",
        attribute=name(attribute),
        source=source,
    )


def code_map(values: exp.Table, field: Field) -> LeafMap:
    """The codes of a column's `numbered_values` at its bits."""
    code = expression(
        "SELECT value, CAST(code * {{ one }} AS BIGINT) AS {{ word }} FROM {{ numbered }}",
        one=1 << field.offset,
        word=name(word(field.word)),
        numbered=values,
    )
    return LeafMap(code, [word(field.word)])


def single_class_persons(source: exp.Table, words: int) -> Sql:
    """The frequency set of persons who are in one class each: the words and `size`, persons."""
    return expression(
        "SELECT {{ words }}, CAST(COUNT(*) AS BIGINT) AS size FROM {{ source }}"
        " GROUP BY {{ words }}",
        words=listed(names(word_names(words))),
        source=source,
    )


def class_histogram(source: exp.Table, words: int, *, person: str | None = None) -> Sql:
    """The sizes of the classes of all columns and how many classes have each size."""
    return histogram(_classes(source, names(word_names(words)), person=person))


def person_histogram(source: exp.Table, words: int, *, person: str) -> Sql:
    """Persons by the size of the smallest class that holds a record of theirs: size, persons."""
    smallest = expression(
        "SELECT MIN(class_size) AS class_size FROM ("
        "SELECT {{ person }} AS person, COUNT(*) OVER (PARTITION BY {{ words }}) AS class_size"
        " FROM {{ source }}) AS sized GROUP BY person",
        person=name(person),
        words=listed(names(word_names(words))),
        source=source,
    )
    return histogram(smallest)


def subset_counts(source: exp.Table, masks: Sequence[Masks], *, person: str | None) -> Sql:
    """Counts of the classes of several subsets of columns, in one aggregation for all of them.

    Rows of position, classes, records (or persons) that are alone in a class, and the sum of the
    squared class sizes.
    """
    keys = [expression("word_{{ w }} & mask_{{ w }}", w=w) for w in range(len(masks[0]))]
    classes = _classes(source, keys, person=person, masks=masks)
    return render("assess/risk_figures", classes=classes, persons=person is not None)


SUBSET, MEMBERS = "subset", "members"


def no_uniques(words: int) -> Sql:
    """No row of SUBSET, MEMBERS and the words: what is known before any set was counted."""
    return expression(
        "SELECT {% for own in cells %}{% if not loop.first %}, {% endif %}CAST(0 AS BIGINT)"
        " AS {{ own }}{% endfor %} WHERE 1 = 0",
        cells=names([SUBSET, MEMBERS, *word_names(words)]),
    )


def minimal_uniques(source: exp.Table, sets: Sequence[Sequence[int]], *, known: exp.Table) -> Sql:
    """Records that are unique by sets of columns and by none within: SUBSET, MEMBERS and the words.

    Args:
        source: The frequency set.
        sets: Per set its columns, a bit for each, how many these are, and its masks of the words.
        known: What was found by all smaller sets.
    """
    words = names(word_names(len(sets[0]) - 2))
    return render("assess/minimal_uniques", source=source, sets=sets, words=words, known=known)


def joined(one: exp.Table, other: Sql) -> Sql:
    """The rows of both."""
    return expression("SELECT * FROM {{ one }} UNION ALL {{ other }}", one=one, other=other)


def sizes_of_sets(minimal: exp.Table) -> Sql:
    """How many records each set is a minimal one of: SUBSET, records."""
    return expression(
        "SELECT subset, CAST(COUNT(*) AS BIGINT) FROM {{ minimal }} GROUP BY subset",
        minimal=minimal,
    )


def sets_of_records(minimal: exp.Table, words: int, *, largest: int) -> Sql:
    """How many records have so many minimal sets of 1, 2, ... columns: these numbers, records."""
    return render(
        "assess/sets_of_records",
        sizes=names(f"size_{size}" for size in range(1, largest + 1)),
        numbers=range(1, largest + 1),
        minimal=minimal,
        words=names(word_names(words)),
    )


def _classes(
    source: exp.Table,
    keys: Sequence[Fragment],
    *,
    person: str | None,
    masks: Sequence[Masks] | None = None,
) -> Sql:
    """The classes of rows that share keys, of each subset: `class_size`, `person`."""
    who = None if person is None else name(person)
    return render("assess/risk_classes", source=source, keys=keys, person=who, masks=masks)


def matches(
    table: exp.Table,
    population: exp.Table,
    *,
    quasi_identifiers: Sequence[str],
    entity: str | None = None,
    population_entity: str | None = None,
) -> Sql:
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
    released = sized_classes(table, quasi_identifiers, entity=entity, size=CLASS_SIZE)
    whole = sized_classes(
        population, quasi_identifiers, entity=population_entity, size=POPULATION_SIZE
    )
    keys = names(f"key_{place}" for place in range(len(quasi_identifiers)))
    return render("assess/matches", released=released, population=whole, keys=keys)


RECORD = "record"


def cell(place: int) -> str:
    """Name of a numbered column."""
    return f"cell_{place}"


def numbered_records(source: exp.Table, columns: Sequence[str]) -> Sql:
    """The records of a table with a number each: `record`, `cell_0`, `cell_1`, ..."""
    return expression(
        "SELECT ROW_NUMBER() OVER () AS record"
        "{% for column in columns %}, {{ column }} AS cell_{{ loop.index0 }}{% endfor %}"
        " FROM {{ source }}",
        columns=names(columns),
        source=source,
    )


def wide_rows(
    numbered: exp.Table,
    parts: Sequence[tuple[exp.Table, int]],
    *,
    ranks: Mapping[int, exp.Table] | None = None,
    entity: int | None = None,
) -> Sql:
    """The words of parts per record, with what is carried; else the frequency set of the parts.

    Args:
        numbered: The numbered records.
        parts: The parts, and how many words each has.
        ranks: Rows of VALUE and RANK by the number of a column that is carried; None for the words
            and `size`.
        entity: The number of the carried column that says whose record it is.
    """
    places = [(place, w) for place, (_, words) in enumerate(parts) for w in range(words)]
    return render(
        "assess/wide_rows",
        numbered=numbered,
        parts=[(_part(place), rows) for place, (rows, _) in enumerate(parts)],
        words=[(name(word(w)), _part(p), name(word(index))) for w, (p, index) in enumerate(places)],
        ranks=[
            (name(value_of(number)), rows, name(cell(place)))
            for number, (place, rows) in enumerate((ranks or {}).items())
        ],
        entity=None if entity is None else name(cell(entity)),
        is_sized=ranks is None,
    )


def _part(place: int) -> Sql:
    return name(f"part_{place}")
