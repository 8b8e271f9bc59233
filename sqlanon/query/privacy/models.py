"""Models: the figures of a class that each looks at, its violation, and the worst of a table.

The worst of all classes in every figure of a sensitive attribute decides what holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlanon.policy.privacy import (
    DISTANCES,
    TOLERANCE,
    AlphaAnonymity,
    ByForm,
    LDiversity,
    TCloseness,
    ValueModel,
)
from sqlanon.query.privacy.figures import INVERSE, RATIO, SURPLUS, Needed, distance, tail
from sqlanon.sqltext import Sql, expression, name, render, value

FEWEST = "fewest"
LEAST_ENTROPY = "least_entropy"
GREATEST_SHARE = "greatest_share"
Row = Mapping[str, Any]


def ratio(l: int) -> str:  # noqa: E741
    """Name of the column of the greatest r_1 / (r_l + ... + r_m)."""
    return f"ratio_{l}"


def tailless(l: int) -> str:  # noqa: E741
    """Name of the column of the number of classes where that tail is nothing."""
    return f"tailless_{l}"


def furthest(name: str) -> str:
    """Name of the column of the greatest distance."""
    return f"furthest_{name}"


@dataclass(frozen=True, slots=True)
class Judged:
    """Figures of classes that models of one form need, their violation, and what a table has.

    Args:
        needed: The figures of `figures.class_figures` that a model looks at.
        violates: Whether a row of them violates it.
        threshold_met: What a table has of it, by the worst figures of all classes (`worst.worst`).
    """

    needed: Callable[[Any], Needed]
    violates: Callable[[Any], Sql]
    threshold_met: Callable[[Any, Row], float]


def needed_by(models: Sequence[ValueModel], *, nulls: bool = True) -> Needed:
    """The figures that the models of one attribute look at."""
    needs = [_MODELS.of(model).needed(model) for model in models]
    return Needed(
        entropy=any(one.entropy for one in needs),
        tails=tuple(sorted({l for one in needs for l in one.tails})),  # noqa: E741
        distances=tuple(sorted({name for one in needs for name in one.distances})),
        nulls=nulls,
    )


def violates(model: ValueModel) -> Sql:
    """Whether a row of `figures.class_figures` violates a model.

    Entropies and distances may miss the threshold by `TOLERANCE`; counts are compared exactly, c
    and alpha as the decimal numbers that were written.
    """
    return _MODELS.of(model).violates(model)


def threshold_met(model: ValueModel, worst: Row) -> float:
    """The threshold that a table meets of a model: the worst of all classes."""
    return _MODELS.of(model).threshold_met(model, worst)


def _entropy_l(worst: Row) -> float:
    """The l of entropy diversity that holds: 0 where a class has no value at all."""
    return math.exp(worst[LEAST_ENTROPY]) if worst[FEWEST] else 0.0


def _recursive_c(model: LDiversity, worst: Row) -> float:
    """The c above which recursive diversity holds: none where a class has fewer than l values."""
    l = int(model.l)  # noqa: E741
    return math.inf if worst[tailless(l)] else float(worst[ratio(l)])


def _greatest_distance(model: TCloseness, worst: Row) -> float:
    """The greatest distance of a class from the table.

    No distance is below 0, KL by Gibbs' inequality: what is there is rounding of logarithms.
    """
    return max(float(worst[furthest(model.distance)]), 0.0)


def _greatest_gain(worst: Row) -> float:
    """The greatest gain (p_v - q_v) / q_v of a value in a class."""
    return max(float(worst[furthest(RATIO)]) - 1.0, 0.0)


def _greatest_enhanced_gain(worst: Row) -> float:
    """The greatest gain, infinite where one is above -ln q_v, which no beta allows."""
    return math.inf if worst[furthest(SURPLUS)] > 1 + TOLERANCE else _greatest_gain(worst)


def _greatest_logarithm(worst: Row) -> float:
    """The greatest |ln(p_v / q_v)|, infinite where a class lacks a value of the table."""
    return math.log(max(worst[furthest(RATIO)], worst[furthest(INVERSE)], 1.0))


def _few(model: LDiversity) -> Sql:
    return expression("distinct_values < {{ l }}", l=int(model.l))


def _uneven(model: LDiversity) -> Sql:
    least = value(math.log(model.l) - TOLERANCE)
    return expression("entropy < {{ least }} OR counted = 0", least=least)


def _dominated(model: LDiversity) -> Sql:
    c = Fraction(str(model.c))
    return expression(
        "CAST(largest AS DECIMAL(38, 0)) * {{ denominator }}"
        " >= CAST({{ tail }} AS DECIMAL(38, 0)) * {{ numerator }}",
        tail=name(tail(int(model.l))),
        numerator=c.numerator,
        denominator=c.denominator,
    )


def _too_frequent(model: AlphaAnonymity) -> Sql:
    alpha = Fraction(str(model.alpha))
    return expression(
        "CAST(largest AS DECIMAL(38, 0)) * {{ denominator }}"
        " > CAST(counted AS DECIMAL(38, 0)) * {{ numerator }}",
        numerator=alpha.numerator,
        denominator=alpha.denominator,
    )


def _above(limits: Mapping[str, float]) -> Sql:
    """Whether any of several distances is above its limit."""
    return expression(
        "{% for distance, most in limits %}{% if not loop.first %} OR {% endif %}"
        "{{ distance }} > {{ most }}{% endfor %}",
        limits=[(name(distance(measure)), value(most)) for measure, most in limits.items()],
    )


_CLOSENESS = Judged(
    lambda model: Needed(distances=(model.distance,)),
    lambda model: _above({model.distance: model.t + TOLERANCE}),
    _greatest_distance,
)
_MODELS = ByForm(
    "figures of classes",
    {
        ("l", "distinct"): Judged(lambda _: Needed(), _few, lambda _, worst: worst[FEWEST]),
        ("l", "entropy"): Judged(
            lambda _: Needed(entropy=True), _uneven, lambda _, worst: _entropy_l(worst)
        ),
        ("l", "recursive"): Judged(
            lambda model: Needed(tails=(int(model.l),)),
            _dominated,
            _recursive_c,
        ),
        ("alpha",): Judged(
            lambda _: Needed(),
            _too_frequent,
            lambda _, worst: float(worst[GREATEST_SHARE] or 0.0),  # a class may have no value
        ),
        ("beta_likeness", "basic"): Judged(
            lambda _: Needed(distances=(RATIO,)),
            lambda model: _above({RATIO: model.most_ratio}),
            lambda _, worst: _greatest_gain(worst),
        ),
        ("beta_likeness", "enhanced"): Judged(
            lambda _: Needed(distances=(RATIO, SURPLUS)),
            lambda model: _above({RATIO: model.most_ratio, SURPLUS: 1 + TOLERANCE}),
            lambda _, worst: _greatest_enhanced_gain(worst),
        ),
        ("delta_disclosure",): Judged(
            lambda _: Needed(distances=(RATIO, INVERSE)),
            lambda model: _above({RATIO: model.most_ratio, INVERSE: model.most_ratio}),
            lambda _, worst: _greatest_logarithm(worst),
        ),
        **{("t", name): _CLOSENESS for name in DISTANCES},
    },
)


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
        figures: Rows of `figures.class_figures`.
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


def worst_figures(needed: Needed, *, models: Sequence[ValueModel]) -> list[str]:
    """The names of the figures of `worst`, in their order."""
    return [
        *(FEWEST, HOMOGENEOUS, GREATEST_SHARE),
        *([LEAST_ENTROPY] if needed.entropy else []),
        *(named(tail) for tail in needed.tails for named in (ratio, tailless)),
        *map(furthest, needed.distances),
        *map(violations, range(len(models))),
    ]


def fewest(figures: Sql) -> Sql:
    """The fewest distinct values of any class, in one row; NULL where there is none."""
    return expression("SELECT MIN(distinct_values) FROM {{ rows }} AS figures", rows=figures)
