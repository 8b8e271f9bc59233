"""The worst of all classes in every figure of a sensitive attribute: it decides what holds."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.policy.privacy import ValueModel
from sqlanon.query.privacy.figures import Needed, distance
from sqlanon.query.privacy.models import furthest, violates
from sqlanon.sqltext import Sql, expression, name, render

HOMOGENEOUS = "homogeneous"


def violations(number: int) -> str:
    """Name of the column of the number of classes that violate a model."""
    return f"violations_{number}"


def worst(figures: Sql, needed: Needed, *, models: Sequence[ValueModel]) -> Sql:
    """One row: the worst figures of all classes, NULL or 0 where there is none.

    FEWEST distinct values, GREATEST_SHARE, the HOMOGENEOUS records whose class has at most one
    value, LEAST_ENTROPY where it is needed, `ratio(l)`, `tailless(l)`, `furthest(name)`, and
    `violations(number)` of each model.

    Args:
        figures: Rows of `sensitive.class_figures`.
        needed: Which figures these are.
        models: The models.
    """
    return render(
        "privacy/worst",
        figures=figures,
        needed=needed,
        distances=[(name(distance(d)), name(furthest(d))) for d in needed.distances],
        violations=list(map(violates, models)),
    )


def fewest(figures: Sql) -> Sql:
    """The fewest distinct values of any class, in one row; NULL where there is none."""
    return expression("SELECT MIN(distinct_values) FROM {{ rows }} AS figures", rows=figures)


def extent(reference: exp.Table) -> Sql:
    """Records that count and values of a distribution, in one row."""
    return expression(
        "SELECT {{ total('records') }}, CAST(COUNT(*) AS BIGINT) FROM {{ rows }}", rows=reference
    )
