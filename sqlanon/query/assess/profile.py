"""Profile: what the columns of a table look like, in one pass over it or over a sample.

`source` is a table, or a sample of one. No figure is a value of the table but the quantiles, from
which only widths and round borders are made.

What tells persons apart is how often values of a column repeat, and what they settle; the hashes
are DuckDB's.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqltext import Sql, expression, name, names, render, value


def sample(source: exp.Table, columns: Sequence[str], *, parts: int) -> Sql:
    """One of so many parts of the rows, the same whatever their order: by a hash of these columns.

    Rows alike are in it together, so it tells how many are alone as the whole table does.
    """
    return expression(
        "SELECT {{ listed(columns) }} FROM {{ source }}"
        " WHERE HASH({{ listed(columns) }}) % {{ parts }} = 0",
        columns=names(columns),
        source=source,
        parts=parts,
    )


def counts(source: exp.Table, columns: Sequence[str]) -> Sql:
    """Rows, then for each column how many hold a value, and how many values there are."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT){% for column in columns %},"
        " CAST(COUNT({{ column }}) AS BIGINT), CAST(COUNT(DISTINCT {{ column }}) AS BIGINT)"
        "{% endfor %} FROM {{ source }}",
        columns=names(columns),
        source=source,
    )


def parted_counts(source: exp.Table, columns: Sequence[str], *, parts: int) -> Sql:
    """As `counts`, without the rows, of one of so many parts of the values of each column.

    The number of rows per value in it is that of the whole column, whatever order the rows have.
    """
    chosen = [
        expression(
            "CASE WHEN HASH({{ column }}) % {{ parts }} = 0 THEN {{ column }} END",
            column=column,
            parts=parts,
        )
        for column in names(columns)
    ]
    return expression(
        "SELECT {% for chosen in columns %}CAST(COUNT({{ chosen }}) AS BIGINT),"
        " CAST(COUNT(DISTINCT {{ chosen }}) AS BIGINT), {% endfor %}FROM {{ source }}",
        columns=chosen,
        source=source,
    )


def lengths(source: exp.Table, columns: Sequence[str]) -> Sql:
    """For each column the least, the mean and the greatest number of characters of its values."""
    return render("assess/lengths", columns=names(columns), source=source)


def shapes(source: exp.Table, columns: Sequence[str], *, patterns: Sequence[str]) -> Sql:
    """For each column of texts, how many match each of the regular expressions."""
    return render(
        "assess/shapes", columns=names(columns), patterns=list(map(value, patterns)), source=source
    )


def outer_words(source: exp.Table, columns: Sequence[str]) -> Sql:
    """For each column of texts, how many first words there are, and how many last words.

    Where a text has a comma, what stands before it comes last: Berg, Anna.
    """
    return render("assess/outer_words", columns=names(columns), source=source)


def commonest(source: exp.Table, columns: Sequence[str]) -> Sql:
    """Rows of the place of each column and how many rows hold its most frequent value.

    NULL is a value.
    """
    return render("assess/commonest", columns=names(columns), source=source)


def misfits(source: exp.Table, columns: Sequence[str], *, formats: Sequence[str]) -> Sql:
    """For each column of texts, how many are no date in each of the formats of strptime."""
    return render(
        "assess/misfits", columns=names(columns), formats=list(map(value, formats)), source=source
    )


def quantiles(
    source: exp.Table, columns: Sequence[str], *, shares: Sequence[float], floats: Sequence[str]
) -> Sql:
    """For each column of numbers its finite values, how many are whole, and their quantiles.

    Args:
        source: The table.
        columns: The columns.
        shares: The shares below each quantile; quantiles are values that stand in the column.
        floats: Those of the columns that may hold what is not finite.
    """
    return render(
        "assess/quantiles",
        columns=[_finite(name(column)) if column in floats else name(column) for column in columns],
        shares=list(map(value, shares)),
        source=source,
    )


def quantiles_beside(
    source: exp.Table, column: str, *, shares: Sequence[float], is_float: bool
) -> Sql:
    """The quantiles of a column of numbers without its median, which most of its values are."""
    finite = _finite(name(column)) if is_float else name(column)
    other = expression(
        "CASE WHEN {{ finite }} <> ("
        "SELECT QUANTILE_DISC({{ finite }}, CAST(0.5 AS DOUBLE)) FROM {{ source }}"
        ") THEN {{ finite }} END",
        finite=finite,
        source=source,
    )
    return expression(
        "SELECT CAST(COUNT({{ other }}) AS BIGINT),"
        " QUANTILE_DISC({{ other }}, [{{ listed(shares) }}]) FROM {{ source }}",
        other=other,
        shares=list(map(value, shares)),
        source=source,
    )


def spans(source: exp.Table, columns: Sequence[str], *, share: float) -> Sql:
    """For each column of dates: days between two quantiles, and values with a time of day.

    Args:
        source: The table.
        columns: The columns.
        share: The share of the values below the first quantile, and above the second.
    """
    return render(
        "assess/spans",
        source=source,
        columns=names(columns),
        first=value(float(share)),
        last=value(float(1 - share)),
    )


def prefix_counts(source: exp.Table, column: str, *, length: int) -> Sql:
    """The number of distinct prefixes of a column's texts of one character, of two, and so on."""
    return expression(
        "SELECT {% for characters in lengths %}CAST(COUNT(DISTINCT"
        " LEFT(CAST({{ column }} AS VARCHAR), {{ characters }})) AS BIGINT), {% endfor %}"
        "FROM {{ source }}",
        column=name(column),
        lengths=range(1, length + 1),
        source=source,
    )


def _finite(column: Sql) -> Sql:
    return expression("CASE WHEN ISFINITE({{ column }}) THEN {{ column }} END", column=column)


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
    return render(
        "assess/records_of_values",
        subject=name(column),
        beside=names(beside),
        source=table,
        parts=parts,
    )


def one_per_value(records: exp.Table, others: int) -> Sql:
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
