"""Trajectories: what all records of a person have in common with those of others.

Where a published column says whose record it is, all records of a person can be joined, so a
person is told apart by all of them together: the bag of their combinations of quasi-identifiers.
It is written as one text of whole numbers, its classes sorted: equal texts are equal bags, exactly
and on every engine.

Everywhere `words` is the number of words that tell classes apart.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.classes.frequency import histogram
from sqlanon.query.classes.violations import words as keys
from sqlanon.sqltext import Fragment, Sql, expression, name, names, render


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
        words=names(keys(words)),
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
