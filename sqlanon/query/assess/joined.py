"""Joined: two tables that somebody puts together by the columns that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.syntax import TEXT, column
from sqlanon.sqltext import Sql, expression, name, render

WHOSE = "sqlanon_whose"
"""The column that says whose record a joined row is."""


def joined_rows(
    source: exp.Table,
    columns: Sequence[str],
    *,
    entity: str | None,
    other: exp.Table,
    added: Mapping[str, str],
    on: Mapping[str, bool],
) -> Sql:
    """The rows of a table with those of another that agree in some columns.

    Args:
        source: The table.
        columns: Its columns that are wanted.
        entity: Its column that says whose record each is; None where each is somebody's own.
        other: The other table.
        added: Columns of it that are wanted, and what they are called.
        on: The columns that agree, and whether they are of one type in both; else texts are
            compared.
    """
    compared = [
        column(attribute) if alike else exp.cast(column(attribute), TEXT)
        for attribute, alike in on.items()
    ]
    return render(
        "assess/joined_rows",
        source=source,
        columns=[(name(attribute), name(attribute)) for attribute in columns],
        entity=None if entity is None else name(entity),
        whose=name(WHOSE),
        other=other,
        added=[(name(attribute), name(called)) for attribute, called in added.items()],
        on=[(key, key) for key in compared],
        order=compared[0],
    )


def matched(rows: exp.Table) -> Sql:
    """How many have a joined row, in one row."""
    return expression(
        "SELECT CAST(COUNT(DISTINCT {{ whose }}) AS BIGINT) FROM {{ rows }}",
        whose=name(WHOSE),
        rows=rows,
    )
