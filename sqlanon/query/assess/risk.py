"""Risk: what to ask of classes, of subsets of columns and of a population.

Subsets are counted from frequency sets: tables of a packed code in one or more words and `size`,
where a subset of the columns is a mask of every word. Where persons are counted instead of
records, the last word says whose record a row is, and no mask touches it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.hierarchy.layout import Field
from sqlanon.query.classes.frequency import CLASS_SIZE, Masks, histogram
from sqlanon.query.encoding.encode import SIZE, VALUE, union_all, word
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, total, when

CODE = "code"
PERSON = "person"
POPULATION_SIZE = "population_size"
SUBSET = "subset"


def numbered_values(source: exp.Table, name: str) -> exp.Select:
    """Every distinct value of a column, NULL too, with its number: `value`, `code` from 0 on."""
    values = exp.select(alias(column(name), VALUE)).distinct().from_(source)
    order = exp.Order(expressions=[exp.Ordered(this=column(VALUE), nulls_first=True)])
    number = exp.Window(this=exp.RowNumber(), order=order)
    code = exp.Sub(this=number, expression=exp.Literal.number(1))
    return exp.select(column(VALUE), alias(bigint(code), CODE)).from_(nested(values, "held"))


def code_map(values: exp.Table, field: Field, words: int) -> exp.Select:
    """The codes of a column by value: rows of `value` and the words.

    Args:
        values: What `numbered_values` found.
        field: Where the bits of the column lie.
        words: Number of words of the code.
    """
    code = exp.Mul(this=column(CODE), expression=exp.Literal.number(1 << field.offset))
    nothing = exp.Literal.number(0)
    codes = [code if number == field.word else nothing for number in range(words)]
    named_codes = [alias(bigint(code), word(number)) for number, code in enumerate(codes)]
    return exp.select(column(VALUE), *named_codes).from_(values)


def settled_persons(source: exp.Table, words: int) -> exp.Select:
    """The frequency set of persons who are in one class each: the words and `size`, persons.

    Args:
        source: A frequency set with one row per class and person.
        words: Number of words that tell its classes apart.
    """
    keys = [column(word(number)) for number in range(words)]
    size = alias(bigint(count_all()), SIZE)
    return exp.select(*keys, size).from_(source).group_by(*keys)


def class_histogram(source: exp.Table, words: int, person: str | None = None) -> exp.Select:
    """The sizes of the classes of all columns and how many classes have each size.

    Args:
        source: A frequency set.
        words: Number of words that tell its classes apart.
        person: The word that says whose record a row is; None where records are counted.
    """
    keys: list[exp.Expr] = [column(word(number)) for number in range(words)]
    return histogram(_classes(_rows(source), [], keys, person))


def person_histogram(source: exp.Table, words: int, person: str) -> exp.Select:
    """Persons by the size of the smallest class that holds a record of theirs: size, persons.

    Args:
        source: A frequency set with one row per class and person.
        words: Number of words that tell its classes apart.
        person: The word that says whose record a row is.
    """
    keys: list[exp.Expr] = [column(word(number)) for number in range(words)]
    size = exp.Window(this=count_all(), partition_by=keys)
    sized = exp.select(column(person), alias(size, CLASS_SIZE)).from_(source)
    smallest = alias(exp.Min(this=column(CLASS_SIZE)), CLASS_SIZE)
    persons = exp.select(smallest).from_(nested(sized, "sized")).group_by(column(person))
    return histogram(persons)


def subset_counts(source: exp.Table, words: int, subsets: int, person: str | None) -> exp.Expr:
    """Counts of the classes of several subsets of columns, one aggregation for each.

    Rows of position, classes, records (or persons) that are alone in a class, and the sum of the
    squared class sizes. The masks, subset by subset and word by word, are the query's parameters,
    so that its text serves many subsets. For large sets: no key is wider than it must be.

    Args:
        source: A frequency set whose columns include theirs.
        words: Number of words that tell classes apart.
        subsets: Number of subsets.
        person: The word that says whose record a row is; None where records are counted.
    """
    parts = []
    for number in range(subsets):
        keys: list[exp.Expr] = [
            exp.BitwiseAnd(this=column(word(w)), expression=exp.Placeholder()) for w in range(words)
        ]
        classes = nested(_classes(_rows(source), [], keys, person), "classes")
        figures = [exp.Literal.number(number), *_figures(person)]
        parts.append(exp.Select(expressions=figures).from_(classes, copy=False))
    return union_all(parts)


def joint_subset_counts(
    source: exp.Table, masks: Sequence[Masks], person: str | None
) -> exp.Select:
    """The rows of `subset_counts`, worked out in one aggregation for all subsets.

    For small sets, where planning an aggregation takes longer than running it.

    Args:
        source: A frequency set whose columns include theirs.
        masks: Per subset and word the bits that tell its classes apart.
        person: The word that says whose record a row is; None where records are counted.
    """
    words = len(masks[0])
    names = [SUBSET, *(f"mask_{w}" for w in range(words))]
    listed = [
        exp.Tuple(expressions=[exp.Literal.number(value) for value in (number, *subset)])
        for number, subset in enumerate(masks)
    ]
    aliases = exp.TableAlias(
        this=exp.Identifier(this="subsets", quoted=True),
        columns=[exp.Identifier(this=name, quoted=True) for name in names],
    )
    rows = _rows(source).join(
        exp.Values(expressions=listed, alias=aliases), join_type="CROSS", copy=False
    )
    keys: list[exp.Expr] = [
        exp.BitwiseAnd(this=column(word(w)), expression=column(f"mask_{w}")) for w in range(words)
    ]
    classes = nested(_classes(rows, [SUBSET], keys, person), "classes")
    figures = [column(SUBSET), *_figures(person)]
    return (
        exp.Select(expressions=figures)
        .from_(classes, copy=False)
        .group_by(column(SUBSET), copy=False)
    )


def matches(
    table: exp.Table,
    population: exp.Table,
    quasi_identifiers: Sequence[str],
    *,
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
        population_entity: The same for the population.
    """
    released = _sized(table, quasi_identifiers, entity, CLASS_SIZE)
    whole = _sized(population, quasi_identifiers, population_entity, POPULATION_SIZE)
    same = [
        exp.NullSafeEQ(this=column(f"key_{n}", "released"), expression=column(f"key_{n}", "whole"))
        for n in range(len(quasi_identifiers))
    ]
    size = _match_size()
    return (
        exp.select(bigint(size), *_match_figures())
        .from_(nested(released, "released"))
        .join(nested(whole, "whole"), on=exp.and_(*same, copy=False), join_type="FULL")
        .group_by(size)
        .order_by(size)
    )


def _match_size() -> exp.Expr:
    return exp.Coalesce(this=column(POPULATION_SIZE), expressions=[exp.Literal.number(0)])


def _match_figures() -> list[exp.Expr]:
    size, one = column(CLASS_SIZE), exp.Literal.number(1)
    alone = exp.EQ(this=size, expression=one)
    larger = exp.GT(this=size, expression=_match_size())
    return [
        bigint(exp.Count(this=column(POPULATION_SIZE))),
        bigint(exp.Count(this=size)),
        total(size),
        bigint(exp.Count(this=when(alone, one))),
        bigint(exp.Count(this=when(larger, one))),
        total(when(larger, size)),
    ]


def _sized(table: exp.Table, names: Sequence[str], entity: str | None, size: str) -> exp.Select:
    """The classes of a table by number of records, or of persons: key_0, key_1, ..., the size."""
    keys = [f"key_{number}" for number in range(len(names))]
    values = [alias(column(name), key) for key, name in zip(keys, names, strict=True)]
    members = exp.select(*values).from_(table)
    if entity is not None:
        members = members.select(alias(column(entity), PERSON)).distinct()
    return (
        exp.select(*map(column, keys), alias(bigint(count_all()), size))
        .from_(nested(members, "members"))
        .group_by(*map(column, keys))
    )


def _rows(source: exp.Table) -> exp.Select:
    """A query over a table that says nothing yet of its columns."""
    return exp.Select().from_(source, copy=False)


def _classes(
    rows: exp.Select, labels: Sequence[str], keys: Sequence[exp.Expr], person: str | None
) -> exp.Select:
    """The classes of rows that share labels and keys: the labels, `class_size`, `person`.

    A person counts once in a class; `person` is the only one of a class of size 1.
    """
    shown: list[exp.Expr] = [column(label) for label in labels]
    if person is None:
        size = alias(total(column(SIZE)), CLASS_SIZE)
        return rows.select(*shown, size, copy=False).group_by(*shown, *keys, copy=False)
    names = [f"key_{number}" for number in range(len(keys))]
    own = [alias(key, name) for key, name in zip(keys, names, strict=True)]
    members = rows.select(*shown, *own, alias(column(person), PERSON), copy=False)
    figures = [
        *shown,
        alias(bigint(count_all()), CLASS_SIZE),
        alias(exp.Min(this=column(PERSON)), PERSON),
    ]
    return (
        exp.Select(expressions=figures)
        .from_(nested(members.distinct(copy=False), "members"), copy=False)
        .group_by(*shown, *map(column, names), copy=False)
    )


def _figures(person: str | None) -> list[exp.Expr]:
    """What is counted over classes: their number, who is alone in one, their squared sizes."""
    size, one = column(CLASS_SIZE), exp.Literal.number(1)
    alone = exp.EQ(this=size, expression=one)
    if person is None:
        unique: exp.Expr = when(alone, one)
    else:
        # One person may be alone in several classes.
        unique = exp.Distinct(expressions=[when(alone, column(PERSON))])
    square = exp.Mul(this=size, expression=size)
    return [bigint(count_all()), bigint(exp.Count(this=unique)), total(square)]
