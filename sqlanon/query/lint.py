"""Queries of the linter: what a release tells beside the values of its cells.

The order of rows, and texts among bytes, are asked of the database in this process alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from sqlanon.query.syntax import column, select
from sqlanon.sqltext import Sql, expression, listed, name, names, render, value


def null_records(source: exp.Table, columns: Sequence[str]) -> Sql:
    """Records with NULL in every one of some columns."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM {{ source }} WHERE"
        " {% for column in columns %}{% if not loop.first %} AND {% endif %}"
        "{{ column }} IS NULL{% endfor %}",
        source=source,
        columns=names(columns),
    )


def extremes(source: exp.Table, attribute: str) -> exp.Select:
    """The least and the greatest value of a column."""
    return select([exp.Min(this=column(attribute)), exp.Max(this=column(attribute))], source)


def row_steps(source: exp.Table, sets: Sequence[Sequence[str]]) -> Sql:
    """Per set of columns how many neighbouring rows descend by it, and how many differ."""
    return render("lint/row_steps", source=source, sets=[names(columns) for columns in sets])


def foreign_values(source: exp.Table, other: exp.Table, attribute: str) -> Sql:
    """How many values of a column, as texts, that of another table does not have."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM ("
        "SELECT CAST({{ column }} AS VARCHAR) FROM {{ source }}"
        " EXCEPT SELECT CAST({{ column }} AS VARCHAR) FROM {{ other }}) AS foreign_values",
        column=name(attribute),
        source=source,
        other=other,
    )


def row_places(
    released: exp.Table, original: exp.Table, *, columns: Sequence[str], blocks: Sequence[str]
) -> Sql:
    """Groups of records that are matched by columns, and how their places agree, from -1 to 1.

    Args:
        released: The release.
        original: Its original.
        columns: Columns that are as in the original.
        blocks: Columns by which the release is sorted.
    """
    block = expression("ROW({{ columns }})", columns=listed(names(blocks))) if blocks else value(0)
    return render(
        "lint/row_places",
        released=released,
        original=original,
        columns=names(columns),
        block=block,
    )


def texts(
    original: exp.Table,
    columns: Sequence[str],
    *,
    released: exp.Table,
    published: Collection[str],
    lengths: tuple[int, int],
    most: int,
) -> Sql:
    """Some texts of each of some columns of the original that the published one does not hold."""
    shortest, longest = lengths
    return render(
        "lint/texts",
        original=original,
        columns=[
            (name(column), name(column) if column in published else None) for column in columns
        ],
        released=released,
        shortest=shortest,
        longest=longest,
        most=most,
    )


def unpublished(texts: exp.Table, source: exp.Table, columns: Sequence[str]) -> Sql:
    """How many texts stand in no cell of some columns of a table, not even as a part of one."""
    return render("lint/unpublished", texts=texts, source=source, columns=names(columns))
