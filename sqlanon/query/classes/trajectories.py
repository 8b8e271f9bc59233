"""Trajectories: what all records of a person have in common with those of others.

Where a published column says whose record it is, all records of a person can be joined, so a
person is told apart by all of them together: the bag of their combinations of quasi-identifiers.

Everywhere `words` is the number of words that tell classes apart.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.arithmetic import ascending, over
from sqlanon.query.classes.frequency import CLASS_SIZE, histogram
from sqlanon.query.encoding.encode import same_value, word, words_of
from sqlanon.query.syntax import alias, bigint, column, count_all, named, nested, select, star
from sqlanon.query.text import joined, varchar

PERSON = "person"
TRAJECTORY = "trajectory"
_CLASS = "class"


def trajectories(
    rows: exp.Table, words: int, *, person: str, records: exp.Expr | None = None
) -> exp.Select:
    """Every person with the number of their trajectory: `person`, `trajectory`.

    Args:
        rows: The words and the person, several rows for a person and class or one.
        words: The number of words.
        person: The column that says whose a row is; NULL is one person.
        records: How many records a class of rows has; one for each row where left out.
    """
    who = column(person)
    times = varchar(bigint(records or count_all()))
    texts: list[exp.Expr | str] = []
    for own in words_of(words):
        texts += [varchar(own), "."]
    # Whole numbers between points are told apart, whatever they are.
    within = [alias(who, PERSON), alias(joined(*texts, times), _CLASS)]
    classes = select(within, rows, by=[who, *words_of(words)])
    ordered = exp.Order(this=column(_CLASS), expressions=[ascending(column(_CLASS))])
    listed = exp.GroupConcat(this=ordered, separator=exp.Literal.string(" "))
    own_classes = [column(PERSON), alias(listed, TRAJECTORY)]
    persons = select(own_classes, nested(classes, "classes"), by=[column(PERSON)])
    rank = over(exp.DenseRank(), order=[ascending(column(TRAJECTORY))])
    return select([column(PERSON), alias(bigint(rank), TRAJECTORY)], nested(persons, "persons"))


def trajectory_histogram(persons: exp.Table) -> exp.Select:
    """Persons who share a trajectory, and how many trajectories so many share."""
    size = alias(bigint(count_all()), CLASS_SIZE)
    return histogram(select([size], persons, by=[column(TRAJECTORY)]))


def with_trajectories(
    rows: exp.Table, persons: exp.Table, *, words: int, person: str
) -> exp.Select:
    """The rows with their person's trajectory as one more word."""
    own = alias(column(TRAJECTORY, "persons"), word(words))
    same = same_value(column(person, "rows"), column(PERSON, "persons"), nullable=True)
    query = select([star("rows"), own], named(rows, "rows"))
    return query.join(named(persons, "persons"), on=same, copy=False)
