"""Persons: how often values of a column repeat, and what they settle; the hashes are DuckDB's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqltext import Sql, expression, name, names, render


def estimated_values(table: exp.Table, columns: Sequence[str]) -> Sql:
    """Two figures for each column: records with a value, and about how many values there are."""
    return expression(
        "SELECT {% for column in columns %}CAST(COUNT({{ column }}) AS BIGINT),"
        " CAST(APPROX_COUNT_DISTINCT({{ column }}) AS BIGINT), {% endfor %}FROM {{ table }}",
        columns=names(columns),
        table=table,
    )


def distinct_values(table: exp.Table, column: str) -> Sql:
    """One row: the distinct values of a column, told by their hashes, since texts take longer."""
    return expression(
        "SELECT CAST(COUNT(DISTINCT CASE WHEN {{ column }} IS NOT NULL THEN HASH({{ column }}) END)"
        " AS BIGINT) FROM {{ table }}",
        column=name(column),
        table=table,
    )


def records_of_values(table: exp.Table, column: str, *, beside: Sequence[str], parts: int) -> Sql:
    """All records of one of so many parts of the values of a column, as hashes.

    Those of the column as `value`, which also say which part it is in, and NULL is in none; those
    of the columns beside it, of which NULL is a value, by their place.
    """
    return expression(
        "SELECT HASH({{ own }}) AS value{% for other in beside %},"
        " HASH({{ other }}) AS column_{{ loop.index0 }}{% endfor %} FROM {{ table }}"
        " WHERE {{ own }} IS NOT NULL AND HASH({{ own }}) % {{ parts }} = 0",
        own=name(column),
        beside=names(beside),
        table=table,
        parts=parts,
    )


def one_of_each(records: exp.Table, others: int) -> Sql:
    """A row for each `value`, with the least that the other columns hold beside it."""
    return expression(
        "SELECT value{% for column in columns %}, MIN({{ column }}) AS {{ column }}{% endfor %}"
        " FROM {{ records }} GROUP BY value",
        columns=names(map(placed, range(others))),
        records=records,
    )


def differing(records: exp.Table, *, by: str, of: Sequence[str]) -> Sql:
    """Two shares for each column of `of`, which hold hashes.

    Of the values of `by` with several records those whose records differ in the column, NULL where
    there is no such value; and of neighbouring values of `by`, which are in no order, those that
    differ from each other.
    """
    return render("assess/differing", records=records, by=name(by), of=names(of))


def placed(place: int) -> str:
    """What a column is called by its place."""
    return f"column_{place}"
