"""Models: the figures of a class that each looks at, its violation, and the worst of a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.policy.forms import TOLERANCE
from sqlanon.policy.privacy import DISTANCES, ByForm, LDiversity, TCloseness, ValueModel
from sqlanon.policy.shares import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from sqlanon.query.arithmetic import number, real, times, wide
from sqlanon.query.privacy.figures import (
    DISTINCT_VALUES,
    ENTROPY,
    INVERSE,
    LARGEST,
    RATIO,
    SURPLUS,
    Needed,
    distance,
    tail,
)
from sqlanon.query.privacy.spread import COUNTED
from sqlanon.query.syntax import column

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
        needed: The figures of `sensitive.class_figures` that a model looks at.
        violates: Whether a row of them violates it.
        found: What a table has of it, from the worst figures of all classes (`worst.worst`).
    """

    needed: Callable[[Any], Needed]
    violates: Callable[[Any], exp.Expr]
    found: Callable[[Any, Row], float]


def needed_by(models: Sequence[ValueModel], *, nulls: bool = True) -> Needed:
    """The figures that the models of one attribute look at."""
    each = [_MODELS.of(model).needed(model) for model in models]
    return Needed(
        entropy=any(one.entropy for one in each),
        tails=tuple(sorted({l for one in each for l in one.tails})),  # noqa: E741
        distances=tuple(sorted({name for one in each for name in one.distances})),
        nulls=nulls,
    )


def violates(model: ValueModel) -> exp.Expr:
    """Whether a row of `sensitive.class_figures` violates a model.

    Entropies and distances may miss the threshold by `TOLERANCE`; counts are compared exactly, c
    and alpha as the decimal numbers that were written.
    """
    return _MODELS.of(model).violates(model)


def found(model: ValueModel, worst: Row) -> float:
    """The threshold that a table meets of a model: the worst of all classes."""
    return _MODELS.of(model).found(model, worst)


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


def _few(model: LDiversity) -> exp.Expr:
    return exp.LT(this=column(DISTINCT_VALUES), expression=number(int(model.l)))


def _uneven(model: LDiversity) -> exp.Expr:
    low = exp.LT(this=column(ENTROPY), expression=real(math.log(model.l) - TOLERANCE))
    nothing = exp.EQ(this=column(COUNTED), expression=number(0))
    return exp.or_(low, nothing, copy=False)


def _dominated(model: LDiversity) -> exp.Expr:
    return _compared(exp.GTE, LARGEST, factor=Fraction(str(model.c)), other=tail(int(model.l)))


def _too_frequent(model: AlphaAnonymity) -> exp.Expr:
    return _compared(exp.GT, LARGEST, factor=Fraction(str(model.alpha)), other=COUNTED)


def _gains(model: BetaLikeness) -> exp.Expr:
    return _above({RATIO: model.most_ratio})


def _gains_enhanced(model: BetaLikeness) -> exp.Expr:
    return _above({RATIO: model.most_ratio, SURPLUS: 1 + TOLERANCE})


def _discloses(model: DeltaDisclosure) -> exp.Expr:
    return _above({RATIO: model.most_ratio, INVERSE: model.most_ratio})


def _above(limits: Mapping[str, float]) -> exp.Expr:
    """Whether any of several distances is above its limit."""
    each = [exp.GT(this=column(distance(n)), expression=real(most)) for n, most in limits.items()]
    return exp.or_(*each, copy=False)


def _compared(how: type[exp.Binary], figure: str, *, factor: Fraction, other: str) -> exp.Expr:
    """A figure compared with another one times a factor, exactly."""
    return how(
        this=times(wide(column(figure)), number(factor.denominator)),
        expression=times(wide(column(other)), number(factor.numerator)),
    )


def _far(model: TCloseness) -> exp.Expr:
    return _above({model.distance: model.t + TOLERANCE})


_CLOSENESS = Judged(
    lambda model: Needed(distances=(model.distance,)),
    _far,
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
            lambda _: Needed(distances=(RATIO,)), _gains, lambda _, worst: _greatest_gain(worst)
        ),
        ("beta_likeness", "enhanced"): Judged(
            lambda _: Needed(distances=(RATIO, SURPLUS)),
            _gains_enhanced,
            lambda _, worst: _greatest_enhanced_gain(worst),
        ),
        ("delta_disclosure",): Judged(
            lambda _: Needed(distances=(RATIO, INVERSE)),
            _discloses,
            lambda _, worst: _greatest_logarithm(worst),
        ),
        **{("t", name): _CLOSENESS for name in DISTANCES},
    },
)
