"""Ratios: how much more or less frequent values are in a class than in the table."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlanon.query.arithmetic import divided, double, not_zero, plus, times
from sqlanon.query.privacy.figures import RECORDS
from sqlanon.query.privacy.spread import COUNTED, HELD, SpreadScope
from sqlanon.query.syntax import column, when

RATIO = "ratio"
INVERSE = "inverse-ratio"
SURPLUS = "surplus"


def _ratio(scope: SpreadScope) -> exp.Expr:
    """The greatest p_v / q_v."""
    own = divided(double(column(HELD)), double(column(RECORDS)))
    return divided(times(exp.Max(this=own), double(scope.records)), not_zero(_counted()))


def _inverse(scope: SpreadScope) -> exp.Expr:
    """The greatest q_v / p_v, infinite where a class lacks a value of the table."""
    own = divided(double(column(RECORDS)), double(column(HELD)))
    greatest = divided(times(exp.Max(this=own), _counted()), double(scope.records))
    lacking = exp.LT(this=exp.Count(this=column(HELD)), expression=scope.values)
    return when(lacking, double(exp.Literal.string("Infinity")), greatest)


def _surplus(scope: SpreadScope) -> exp.Expr:
    """The greatest p_v / q_v + ln q_v, of which enhanced beta-likeness allows 1."""
    here = times(double(column(HELD)), scope.records)
    there = times(double(column(RECORDS)), column(COUNTED))
    share = exp.Ln(this=divided(double(column(RECORDS)), double(scope.records)))
    return exp.Max(this=plus(divided(here, there), share))


def _counted() -> exp.Expr:
    return exp.Sum(this=column(HELD))


RATIOS: dict[str, Callable[[SpreadScope], exp.Expr]] = {
    RATIO: _ratio,
    INVERSE: _inverse,
    SURPLUS: _surplus,
}
