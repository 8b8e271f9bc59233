"""The worst of all classes in every figure of a sensitive attribute: it decides what holds."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.policy.privacy import ValueModel
from sqlanon.query.classes.frequency import CLASS_SIZE
from sqlanon.query.privacy.figures import (
    DISTINCT_VALUES,
    ENTROPY,
    LARGEST,
    RECORDS,
    Needed,
    distance,
    tail,
)
from sqlanon.query.privacy.models import (
    FEWEST,
    GREATEST_SHARE,
    LEAST_ENTROPY,
    furthest,
    ratio,
    tailless,
    violates,
)
from sqlanon.query.privacy.spread import COUNTED
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, total, when

HOMOGENEOUS = "homogeneous"


def violations(number: int) -> str:
    """Name of the column of the number of classes that violate a model."""
    return f"violations_{number}"


def worst(figures: exp.Select, needed: Needed, *, models: Sequence[ValueModel]) -> exp.Select:
    """One row: the worst figures of all classes, NULL or 0 where there is none.

    FEWEST distinct values, GREATEST_SHARE, the HOMOGENEOUS records whose class has at most one
    value, LEAST_ENTROPY where it is needed, `ratio(l)`, `tailless(l)`, `furthest(name)`, and
    `violations(number)` of each model.

    Args:
        figures: Rows of `sensitive.class_figures`.
        needed: Which figures these are.
        models: The models.
    """
    one = column(DISTINCT_VALUES) <= 1
    found = [
        alias(exp.Min(this=column(DISTINCT_VALUES)), FEWEST),
        alias(total(when(one, column(CLASS_SIZE))), HOMOGENEOUS),
    ]
    found.append(alias(_greatest_ratio(COUNTED), GREATEST_SHARE))
    if needed.entropy:
        found.append(alias(exp.Min(this=column(ENTROPY)), LEAST_ENTROPY))
    for l in needed.tails:  # noqa: E741
        others = column(tail(l))
        found += [
            alias(_greatest_ratio(tail(l)), ratio(l)),
            alias(_count(others.eq(0)), tailless(l)),
        ]
    found += [alias(exp.Max(this=column(distance(d))), furthest(d)) for d in needed.distances]
    found += [alias(_count(violates(m)), violations(number)) for number, m in enumerate(models)]
    return exp.select(*found).from_(nested(figures, "figures"))


def _greatest_ratio(name: str) -> exp.Expr:
    """The greatest ratio of the largest count to another one, where that is any."""
    others = column(name)
    ratio = exp.cast(column(LARGEST), exp.DataType.Type.DOUBLE) / others.copy()
    return exp.Max(this=when(others > 0, ratio))


def fewest(figures: exp.Select) -> exp.Select:
    """The fewest distinct values of any class, in one row; NULL where there is none."""
    return exp.select(exp.Min(this=column(DISTINCT_VALUES))).from_(nested(figures, "figures"))


def extent(reference: exp.Table) -> exp.Select:
    """Records that count and values of a distribution, in one row."""
    return exp.select(total(column(RECORDS)), bigint(count_all())).from_(reference.copy())


def _count(condition: exp.Expr) -> exp.Expr:
    return bigint(exp.Count(this=when(condition, exp.Literal.number(1))))
