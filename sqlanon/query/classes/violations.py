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
from itertools import combinations
from typing import TypeAlias

from sqlanon.query.encode import word_names
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

ENTITY = "entity"
_SIZE = name("size")

Keys = Sequence[str]
Condition: TypeAlias = "tuple[Fragment, Fragment]"
"""Whether a class fails a model, and the records required to go then."""


def value_of(attribute: int) -> str:
    """Name of the column that holds a sensitive attribute's value, or its rank."""
    return f"value_{attribute}"


def spread_rows(
    rows: Fragment,
    keys: Keys,
    *,
    attribute: Fragment,
    entity: Fragment | None = None,
    size: Fragment = _SIZE,
) -> Sql:
    """Rows of the keys, VALUE and SIZE of one sensitive attribute.

    A person of `entity` with several records of a class and value counts once, and is a column of
    the rows, ENTITY.
    """
    return render(
        "classes/spread_rows",
        source=rows,
        keys=names(keys),
        attribute=attribute,
        entity=entity,
        size=size,
    )


def attribute_rows(rows: Fragment, keys: Keys, *, attribute: int, persons: bool) -> Sql:
    """`spread_rows` of details, by the number of the attribute, and whether persons are counted."""
    entity = name(ENTITY) if persons else None
    return spread_rows(rows, keys, attribute=name(value_of(attribute)), entity=entity)


def small(rows: Fragment, keys: Keys, *, k: int) -> Sql:
    """Classes of fewer than k records."""
    return render("classes/small", rows=rows, keys=names(keys), k=k)


def few_persons(rows: Fragment, keys: Keys, *, k: int) -> Sql:
    """Classes of fewer than k persons; records without one are one person's."""
    return render("classes/few_persons", rows=rows, keys=names(keys), k=k)


def failing(figures: Sql, keys: Keys, *, conditions: Sequence[Fragment]) -> Sql:
    """Classes whose figures fail any model."""
    return render("classes/failing", figures=figures, keys=names(keys), conditions=conditions)


def merged(parts: Sequence[Sql], keys: Keys) -> Sql:
    """One row per class that any of several relations of violations holds."""
    return render("classes/merged", parts=parts, keys=names(keys))


def rare(rows: Fragment, masks: Sequence[Sequence[int]], *, k: int) -> Sql:
    """Classes of a node with a combination of some columns that fewer than k records share.

    Rows of the number 0, the words, `class_size` and REQUIRED, which is 0.

    Args:
        rows: Rows of the words and SIZE.
        masks: Per set of columns the bits of every word that tell its combinations apart.
        k: Fewest records that share a combination.
    """
    parts = [
        expression("classes.word_{{ w }} & sets.mask_{{ w }}", w=w) for w in range(len(masks[0]))
    ]
    classes = _rare(rows, word_names(len(masks[0])), sets=masks, parts=parts, k=k)
    return expression(
        "SELECT CAST(0 AS BIGINT) AS number, rare.* FROM {{ classes }} AS rare", classes=classes
    )


def rare_among(rows: Fragment, keys: Keys, *, subsets: int, k: int) -> Sql:
    """Classes with a combination of so many keys that fewer than k records share.

    Where there are fewer keys, of all of them. The keys are published values, of which those that
    are the same for all are left out: a combination with them is one of fewer keys.
    """
    chosen = combinations(range(len(keys)), min(subsets, len(keys)))
    sets = [[int(place in subset) for place in range(len(keys))] for subset in chosen]
    parts = [
        expression("CASE WHEN sets.mask_{{ n }} = 1 THEN classes.{{ key }} END", n=n, key=name(key))
        for n, key in enumerate(keys)
    ]
    classes = _rare(rows, keys, sets=sets, parts=parts, k=k)
    return expression(
        "SELECT {{ keys }}, required FROM {{ classes }} AS rare",
        keys=listed(names(keys)),
        classes=classes,
    )


def _rare(
    rows: Fragment, keys: Keys, *, sets: Sequence[Sequence[int]], parts: Sequence[Sql], k: int
) -> Sql:
    combination = names(["set_number", *(f"part_{place}" for place in range(len(parts)))])
    return render(
        "classes/rare",
        rows=rows,
        keys=names(keys),
        sets=[(number, *figures) for number, figures in enumerate(sets)],
        parts=list(zip([expression("sets.number"), *parts], combination, strict=True)),
        combination=combination,
        k=k,
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of classes, and what models make of them.

    Args:
        rows: One row per class: what tells classes apart, and the figures.
        conditions: Per model whether a class fails it, and the records required to go then.
    """

    rows: Fragment
    conditions: Sequence[Condition]


def violating(parts: Sequence[Figures], keys: Keys) -> Sql:
    """The classes that fail any model, with REQUIRED.

    Args:
        parts: Figures of the same classes; the first ones have CLASS_SIZE.
        keys: What tells classes apart.
    """
    required = [
        expression("part_{{ part }}.required_{{ model }}", part=number, model=model)
        for number, part in enumerate(parts)
        for model in range(len(part.conditions))
    ]
    return render(
        "classes/violating",
        parts=[(part.rows, part.conditions) for part in parts],
        keys=names(keys),
        most=expression("GREATEST({{ columns }})", columns=listed(required))
        if len(required) > 1
        else required[0],
        others=names(f"part_{number}" for number in range(1, len(parts))),
    )


def compared(rows: Fragment, keys: Keys, *, counts_absent: bool) -> Sql:
    """Classes with their `released` records, PEOPLE of the population, and CLASS_SIZE.

    Args:
        rows: Classes with the first two, those of the population alone among them.
        keys: What tells them apart.
        counts_absent: Whether the latter stay; their people then stand for missing records.
    """
    return render("classes/compared", rows=rows, keys=names(keys), counts_absent=counts_absent)


def beside(rows: Fragment, population: Fragment, keys: Keys) -> Sql:
    """Classes of records with the people of a population that have the same published values.

    Args:
        rows: The records: the keys and SIZE.
        population: The people: the keys and PEOPLE.
        keys: What tells classes apart; NULL is a value.
    """
    return render("classes/beside", rows=rows, population=population, keys=names(keys))


def persons(rows: Fragment, keys: Keys) -> Sql:
    """The `persons` per class, of rows that tell them apart; those without one are one person's."""
    return expression(
        "SELECT {{ keys }}, CAST(COUNT(*) AS BIGINT) AS persons FROM {{ rows }} AS rows"
        " GROUP BY {{ keys }}",
        rows=rows,
        keys=listed(names(keys)),
    )


def once_per_person(rows: Fragment, keys: Keys) -> Sql:
    """Rows of persons and values, each of SIZE 1."""
    return expression(
        "SELECT {{ keys }}, value, CAST(1 AS BIGINT) AS size, entity FROM {{ rows }} AS persons",
        rows=rows,
        keys=listed(names(keys)),
    )


def without(rows: Fragment, suppressed: Fragment, *, keys: Keys, nullable: bool = False) -> Sql:
    """The details of the classes that are not suppressed."""
    return render(
        "classes/not_suppressed",
        rows=rows,
        suppressed=suppressed,
        keys=names(keys),
        nullable=nullable,
    )


def within(rows: Fragment, suppressed: Fragment, *, keys: Keys) -> Sql:
    """The details of the classes that are suppressed."""
    return expression(
        "SELECT details.* FROM {{ rows }} AS details"
        " JOIN {{ suppressed }} AS gone ON {{ equal('gone', 'details', keys) }}",
        rows=rows,
        suppressed=suppressed,
        keys=names(keys),
    )
