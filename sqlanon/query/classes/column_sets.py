"""Column sets: classes of a few sets of columns of any table, as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqltext import Sql, expression, name, names, render


def set_counts(source: exp.Table, sets: Sequence[Sequence[str]]) -> Sql:
    """Classes of each set of columns: rows of its place, classes, and records alone in one.

    NULL is a value; no set is empty.
    """
    return render("classes/set_counts", source=source, sets=[names(own) for own in sets])


def joined_records(source: exp.Table, columns: Sequence[str], *, entity: str) -> Sql:
    """Records that a column joins as the entity column does, for each of some columns.

    Rows of its place; values; pairs of a value and a person; the records of values that one person
    has in several records, and nobody else in any. NULL joins nothing, and is nobody.
    """
    return render(
        "classes/joined_records", source=source, columns=names(columns), entity=name(entity)
    )


def records_of_several(source: exp.Table, entity: str) -> Sql:
    """Persons, and the records of those who have several; NULL is nobody."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('CASE WHEN size > 1 THEN size END') }}"
        " FROM (SELECT CAST(COUNT(*) AS BIGINT) AS size FROM {{ source }}"
        " WHERE {{ entity }} IS NOT NULL GROUP BY {{ entity }}) AS persons",
        source=source,
        entity=name(entity),
    )
