"""Weights: queries of the individual risk of a sample, and of the risk of its households.

`weight` and `household` are columns of the sample, None where there is none: each record then
stands for itself alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqltext import Fragment, Sql, expression, name, names, render, value

SIZES, STEPS = 20, 18
"""Sizes of the finite sum, and steps of the continued fraction beyond: within 1e-13 of the risk."""


def _number(weight: str | None) -> Fragment:
    """A record's weight; NULL where it is no number."""
    if weight is None:
        return value(1.0)
    return expression(
        "TRY_CAST(CAST(source.{{ weight }} AS VARCHAR) AS DOUBLE)", weight=name(weight)
    )


def weight_faults(
    source: exp.Table, *, weight: str | None, household: str | None, most: float
) -> Sql:
    """Records without a weight, with one that is none from 1 to `most`, and without a household."""
    columns = (value(1) if each is None else name(each) for each in (weight, household))
    return render(
        "assess/weight_faults",
        source=source,
        number=_number(weight),
        most=value(most),
        **dict(zip(("weight", "household"), columns, strict=True)),
    )


def weighted_classes(source: exp.Table, columns: Sequence[str], *, weight: str | None) -> Sql:
    """The classes of a sample: key_0, key_1, ..., class_size, and people, the sum of weights."""
    return render(
        "assess/weighted_classes",
        source=source,
        keys=list(zip(names(columns), _keys(columns), strict=True)),
        weight=_number(weight),
    )


def individual_figures(classes: exp.Table, *, threshold: float) -> Sql:
    """Figures of `weighted_classes` in one row: see the query."""
    return render(
        "assess/individual_figures",
        classes=individual_risk(classes),
        threshold=value(float(threshold)),
    )


def household_figures(
    source: exp.Table,
    columns: Sequence[str],
    *,
    household: str,
    classes: exp.Table,
    threshold: float,
) -> Sql:
    """Figures of households in one row, by the `weighted_classes` of the same columns."""
    keys = _keys(columns)
    return render(
        "assess/household_figures",
        source=source,
        household=name(household),
        pairs=list(zip(names(columns), keys, strict=True)),
        classes=individual_risk(classes, keys),
        threshold=value(float(threshold)),
    )


def individual_risk(classes: exp.Table, carried: Sequence[Fragment] = ()) -> Sql:
    """`weighted_classes` with the individual risk of the records of each.

    r = E[1 / F | f] = p integral over y from 0 to 1 of y^(f-1) / (p + (1 - p) y), p = f / people:
    given f, F is negative binomial, P(F = j) = C(j-1, f-1) p^f (1-p)^(j-f) for j >= f.

    Source: Benedetti and Franconi 1998, "Statistical and technological solutions for controlled
        data dissemination"; Franconi and Polettini 2004, "Individual risk estimation in
        mu-Argus: a review", whose forms for f = 1, f = 2 and the series the query has in one.
    """
    return render(
        "assess/individual_risk",
        classes=classes,
        carried=carried,
        sizes=range(1, SIZES + 1),
        largest=SIZES,
        steps=[
            ((step + 1) // 2, step // 2 - (step + 1) % 2, step - 1, step)
            for step in range(1, STEPS + 1)
        ],
    )


def _keys(columns: Sequence[str]) -> list[Sql]:
    return names(f"key_{place}" for place in range(len(columns)))
