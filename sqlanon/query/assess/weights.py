"""Weights: queries of the individual risk of a sample, and of the risk of its households.

`weight` and `household` are columns of the sample, None where there is none. A parameter `number`
is the weight as the function of that name has it, or 1 where each record stands for itself alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqltext import Fragment, Sql, expression, name, names, render, value

INTEGRAL_STEP, POINTS = 0.2, range(-16, 17)
"""Of the integral that individual risk is: with them it is within 1e-10 of the risk."""


def number(weight: str, kind: exp.DataType) -> Fragment:
    """A record's weight, from a column of some type; NULL where it is no number."""
    is_number = kind.is_type(*exp.DataType.NUMERIC_TYPES)
    plain = expression("source.{{ weight }}", weight=name(weight))
    text = expression("CAST({{ plain }} AS VARCHAR)", plain=plain)
    return expression("TRY_CAST({{ cell }} AS DOUBLE)", cell=plain if is_number else text)


def present(household: str, kind: exp.DataType) -> Fragment:
    """A record's household, from a column of some type; NULL where it is NaN."""
    plain = expression("source.{{ household }}", household=name(household))
    if not kind.is_type("float", "double"):
        return plain
    # As one engine or another writes it.
    return expression(
        "CASE WHEN CAST({{ cell }} AS VARCHAR) NOT IN ('nan', '-nan', 'NaN') THEN {{ cell }} END",
        cell=plain,
    )


def weight_faults(
    source: exp.Table, *, weight: str | None, number: Fragment, household: Fragment, most: float
) -> Sql:
    """Records without a weight, with one that is none from 1 to `most`, and without a household."""
    return render(
        "assess/weight_faults",
        source=source,
        weight=value(1) if weight is None else name(weight),
        number=number,
        household=household,
        most=value(most),
    )


def individual_risk(classes: exp.Table, columns: int) -> Sql:
    """Classes by so many columns, of CLASS_SIZE and people: records, and the risk of each.

    r = E[1 / F | f] = p integral over y from 0 to 1 of y^(f-1) / (p + (1 - p) y), p = f / people:
    given f, F is negative binomial, P(F = j) = C(j-1, f-1) p^f (1-p)^(j-f) for j >= f. The query
    has z = y^f, so that no power is large.

    Source: Benedetti and Franconi 1998, "Statistical and technological solutions for controlled
        data dissemination"; Franconi and Polettini 2004, "Individual risk estimation in
        mu-Argus: a review", whose forms for f = 1 and f = 2 the query has.
    """
    return render(
        "assess/individual_risk",
        classes=classes,
        carried=_keys(columns),
        points=[tuple(map(value, _point(INTEGRAL_STEP * number))) for number in POINTS],
    )


def _point(place: float) -> tuple[float, float]:
    """The logarithm of a point of (0, 1), z = 1 / (1 + e), e = exp(-pi sinh t), and its weight.

    Source: Takahasi and Mori 1974, "Double exponential formulas for numerical integration".
    """
    e = math.exp(-math.pi * math.sinh(place))
    return -math.log1p(e), INTEGRAL_STEP * math.pi * math.cosh(place) * e / (1 + e) ** 2


def people(classes: exp.Table) -> Sql:
    """The people that classes stand for."""
    return expression("SELECT {{ real_sum('people') }} FROM {{ classes }}", classes=classes)


def record_risk(risks: Fragment, *, threshold: float) -> Sql:
    """Figures in one row of the records of classes, or of households, and their risk."""
    return render("assess/record_risk", risks=risks, threshold=value(float(threshold)))


def household_risk(
    source: exp.Table, columns: Sequence[str], *, household: str, risks: exp.Table
) -> Sql:
    """Risk of households, by the `individual_risk` of classes of the same columns."""
    return render(
        "assess/household_risk",
        source=source,
        household=name(household),
        pairs=list(zip(names(columns), _keys(len(columns)), strict=True)),
        risks=risks,
    )


def _keys(columns: int) -> list[Sql]:
    return names(f"key_{place}" for place in range(columns))
