"""Instances: which patterns have enough records that agree on what they keep."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.classes.frequency import with_nodes
from sqlanon.query.classes.violations import words as keys
from sqlanon.sqltext import Sql, expression, listed, name, names, render


def among(units: exp.Table, words: int, *, unit: str, records: str, k: int) -> Sql:
    """Words and SIZE of the distinct combinations whose bit a parameter sets, counted up to k.

    `units` has rows of the words, and in the columns `unit` and `records` the number of a
    combination, from 0, and its records.
    """
    return expression(
        "SELECT {{ words }}, LEAST({{ records }}, {{ k }}) AS size FROM {{ units }}"
        " WHERE GET_BIT(CAST(? AS BIT), CAST({{ unit }} AS INT)) = 1",
        units=units,
        words=listed(names(keys(words))),
        unit=name(unit),
        records=name(records),
        k=k,
    )


def persons_among(units: exp.Table, words: int, *, unit: str) -> Sql:
    """Words and ENTITY, the number of a person, of the combinations whose bit a parameter sets.

    Arguments as of `among`; records without a person are one person's.
    """
    return expression(
        "SELECT DISTINCT {{ words }},"
        " CAST(DENSE_RANK() OVER (ORDER BY entity) AS BIGINT) AS entity FROM {{ units }}"
        " WHERE GET_BIT(CAST(? AS BIT), CAST({{ unit }} AS INT)) = 1",
        units=units,
        words=listed(names(keys(words))),
        unit=name(unit),
    )


def frequent(rows: exp.Table, words: int, *, k: int, parts: int) -> Sql:
    """The NUMBER of each pattern of the query that has an instance of k records."""
    return _frequent(rows, words, k=k, parts=parts, count=expression("SUM(source.size)"))


def frequent_persons(rows: exp.Table, words: int, *, k: int, parts: int) -> Sql:
    """The NUMBER of each pattern of the query that has an instance of k persons."""
    persons = expression("COUNT(DISTINCT source.entity)")
    return _frequent(rows, words, k=k, parts=parts, count=persons)


def _frequent(rows: exp.Table, words: int, *, k: int, parts: int, count: Sql) -> Sql:
    query = render("classes/frequent", source=rows, words=words, k=k, parts=parts, count=count)
    return with_nodes(query, words)
