"""Value shares: how often a sensitive column's values are in a table and in its furthest class.

Everywhere `spread` is a table of `class_values`, `values` one of `furthest_values`, and labels
are the columns `label_0`, `label_1` and so on, as many as there are quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlglot import exp

from sqlanon.query.assess import release
from sqlanon.query.privacy.figures import Needed, Reference, class_figures, distance
from sqlanon.query.syntax import column, text_of
from sqlanon.sqltext import Sql, expression, name, names, render

DISTANCE = "distance"


def class_values(source: exp.Table, columns: Sequence[str], *, attribute: str, nulls: bool) -> Sql:
    """Records of each class and value: rows of labels, VALUE and SIZE; NULL where it counts."""
    return expression(
        "SELECT {% for label in labels %}{{ label }}, {% endfor %}value,"
        " {{ total('size') }} AS size FROM {{ rows }} AS rows"
        "{% if not nulls %} WHERE value IS NOT NULL{% endif %} GROUP BY ALL",
        labels=names(release.labels(len(columns))),
        rows=release.class_values(source, columns, sensitive=attribute, suppressed=None),
        nulls=nulls,
    )


def counted(spread: exp.Table) -> Sql:
    """All records that count, and their distinct values, NULL left out, in one row."""
    return expression(
        "SELECT {{ total('size') }}, CAST(COUNT(DISTINCT value) AS BIGINT) FROM {{ spread }}",
        spread=spread,
    )


def value_records(spread: exp.Table) -> Sql:
    """All records of each value: rows of VALUE and records."""
    return expression(
        "SELECT value, {{ total('size') }} AS records FROM {{ spread }} GROUP BY value",
        spread=spread,
    )


def furthest_class(
    spread: exp.Table, columns: int, *, reference: Reference, measure: Literal["equal", "ordered"]
) -> Sql:
    """The class whose values are furthest from those of the table.

    One row of labels, CLASS_SIZE and DISTANCE: by the equal distance the share of its records that
    would have to hold another value; by the ordered one how far values would have to move, in
    places among all in order: mean over its records, over the most places there are. Of classes
    equally far the largest one, then the first by its labels.

    Args:
        spread: Records by class and value.
        columns: Number of quasi-identifiers.
        reference: The distribution of the table, by value; for the equal distance rows of
            `value_records` do.
        measure: Which distance.
    """
    keys, needed = release.labels(columns), Needed(distances=(measure,))
    figures = class_figures(spread, keys, needed=needed, reference=reference, grouped=True)
    return render(
        "assess/furthest_class",
        labels=names(keys),
        distance=name(distance(measure)),
        figures=figures,
    )


def furthest_values(spread: exp.Table, furthest: exp.Table, *, columns: int) -> Sql:
    """Each value's records: rows of VALUE, records (all) and held (those of the furthest class)."""
    keys = names(release.labels(columns))
    return render("assess/furthest_values", spread=spread, furthest=furthest, labels=keys)


def totals(values: exp.Table) -> Sql:
    """Values, their records, those of the furthest class, and those of one record, in one row."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('records') }}, {{ total('held') }},"
        " {{ count_if('records = 1') }} FROM {{ rows }}",
        rows=values,
    )


def frequent(values: exp.Table, kind: exp.DataType, *, most: int) -> Sql:
    """The most frequent values: rows of text, records and held."""
    return expression(
        "SELECT {{ text }}, records, held FROM {{ rows }}"
        " ORDER BY records DESC NULLS LAST, value LIMIT {{ most }}",
        text=text_of(column("value"), kind),
        rows=values,
        most=most,
    )


def in_parts(values: exp.Table, kind: exp.DataType, *, parts: int) -> Sql:
    """Values in order, cut into parts of about as many records each.

    Rows of the least and the greatest value as texts, records and held; NULL is a part by itself.

    Args:
        values: Rows of VALUE, records and held.
        kind: The column's type.
        parts: How many parts besides that of NULL.
    """
    least, greatest = (exp.Min(this=column("value")), exp.Max(this=column("value")))
    return render(
        "assess/value_ranges",
        rows=values,
        parts=parts,
        least=text_of(least, kind),
        greatest=text_of(greatest, kind),
    )
