"""Detail: sensitive values as ranks in their attribute's order."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.classes.violations import spread_rows
from sqlanon.query.privacy.figures import node
from sqlanon.sqltext import Sql, expression, listed, name, names, render


def held(source: exp.Table, attribute: str, *, entity: str | None) -> Sql:
    """Rows of VALUE and SIZE of a column; a person of `entity` counts once for each value."""
    person = None if entity is None else name(entity)
    return spread_rows(source, (), attribute=name(attribute), entity=person, size=1)


def as_one_class(held: Sql) -> Sql:
    """Rows of `held` with a word that is the same for all."""
    return expression(
        "SELECT CAST(0 AS BIGINT) AS word_0, value, size FROM {{ held }} AS held", held=held
    )


def by_rank(reference: exp.Table, height: int) -> Sql:
    """A reference whose values are their ranks."""
    return render("privacy/by_rank", reference=reference, levels=range(1, height))


def rank_counts(reference: exp.Table, height: int) -> Sql:
    """Rows of rank, records, and the node of each inner level of a hierarchy."""
    columns = listed(names(["rank", "records", *map(node, range(1, height))]))
    return expression("SELECT {{ columns }} FROM {{ rows }}", columns=columns, rows=reference)
