"""Sensitive attributes: how the values of each class are spread, and how far from the table's.

Plain SQL: no lists, no ASOF, no QUALIFY. Whole numbers are counted exactly, and sums of logarithms
are taken in whole parts, so neither threads nor the order of the rows can change a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import (
    divided,
    double,
    in_parts,
    is_null,
    minus,
    not_zero,
    number,
    of_parts,
    or_zero,
    plus,
    summed,
    times,
)
from sqlanon.query.classes.frequency import CLASS_SIZE
from sqlanon.query.encoding.encode import RANK, SIZE
from sqlanon.query.privacy.figures import (
    BELOW,
    DISTINCT_VALUES,
    ENTROPY,
    EXCEEDING,
    FAVOURED,
    INVERSE,
    LARGEST,
    RATIO,
    RECORDS,
    SCALED,
    SURPLUS,
    Needed,
    Reference,
    Relation,
    distance,
    tail,
)
from sqlanon.query.privacy.spread import (
    COUNTED,
    HELD,
    MOVED,
    NEXT_BELOW,
    NEXT_RANK,
    PLACE,
    THROUGH,
    TURN,
    TURN_BELOW,
    Shape,
    SpreadScope,
    beyond,
    excess,
    spread,
)
from sqlanon.query.syntax import alias, bigint, column, nested, select, table, total, when

_NO_REFERENCE = Reference(table("none"), 0, 0)


def class_figures(
    source: Relation,
    keys: Sequence[str],
    *,
    needed: Needed,
    reference: Reference | None = None,
    shape: Shape | None = None,
) -> exp.Select:
    """Figures of one attribute's values in every class: one row per class.

    Rows of the keys, CLASS_SIZE (records, NULLs of the attribute included), COUNTED (n),
    DISTINCT_VALUES, LARGEST (r_1), and as needed ENTROPY [nats], `tail(l)` (n without the l - 1
    largest counts), `distance(name)`, EXCEEDING and FAVOURED (see `spread.beyond`). A class without
    any value that counts has zeros.

    Args:
        source: Rows of the keys, VALUE and SIZE [records].
        keys: Columns that tell classes apart.
        needed: Which figures are.
        reference: The distribution over the table that is looked at; only distances need it.
        shape: What else the source has, and which figures are wanted.
    """
    scope = SpreadScope(tuple(keys), needed, reference or _NO_REFERENCE, shape or Shape())
    figures = [
        alias(total(column(SIZE)), CLASS_SIZE),
        alias(_n(), COUNTED),
        alias(bigint(exp.Count(this=column(HELD))), DISTINCT_VALUES),
        alias(_largest(), LARGEST),
    ]
    if needed.entropy:
        figures.append(alias(_entropy(), ENTROPY))
    figures += [alias(_tail(l), tail(l)) for l in needed.tails]  # noqa: E741
    figures += [alias(or_zero(_DISTANCES[d](scope)), distance(d)) for d in needed.distances]
    if needed.left is not None:
        names = (EXCEEDING, FAVOURED)
        figures += [alias(f, n) for f, n in zip(beyond(needed.left), names, strict=True)]
    wanted = scope.shape.wanted
    figures = [figure for figure in figures if wanted is None or figure.alias in wanted]
    return select([*scope.by(), *figures], nested(spread(scope, source), "classes"), by=scope.by())


def _n() -> exp.Expr:
    return total(column(HELD))


def _largest() -> exp.Expr:
    return or_zero(exp.Max(this=column(HELD)))


def _entropy() -> exp.Expr:
    """H = ln n - (sum c ln c) / n, exactly 0 for one value."""
    sums = _real_sum(times(column(HELD), exp.Ln(this=column(HELD))))
    several = exp.GT(this=exp.Count(this=column(HELD)), expression=number(1))
    return when(several, minus(exp.Ln(this=_n()), divided(sums, _n())), default=number(0))


def _real_sum(terms: exp.Expr) -> exp.Expr:
    """A sum that is the same in any order of the rows, and right to the last digits."""
    return of_parts(exp.Sum(this=in_parts(terms)))


def _tail(l: int) -> exp.Expr:  # noqa: E741
    """The records outside the l - 1 largest counts."""
    if l == 1:
        return _n()
    if l == 2:
        return minus(_n(), _largest())
    frequent = exp.LT(this=column(PLACE), expression=number(l))
    return minus(_n(), total(when(frequent, column(HELD))))


def _whole(*factors: exp.Expr) -> exp.Expr:
    """The denominator of a distance in whole numbers; NULL where it is 0."""
    return not_zero(times(double(_n()), *factors))


def _steps(scope: SpreadScope) -> exp.Expr:
    """The greatest difference of two ranks, m - 1."""
    return minus(scope.values, number(1))


def _equal(scope: SpreadScope) -> exp.Expr:
    """P and Q both add up to one, so what exceeds is half of the difference."""
    return divided(double(excess(scope)), _whole(scope.records))


def _hierarchical(scope: SpreadScope) -> exp.Expr:
    """The mean of the equal distance over the levels below the top."""
    found, height = excess(scope), max(scope.reference.height, 1)
    if scope.reference.levels:
        found = plus(found, or_zero(exp.Max(this=column(MOVED))))
    return divided(double(found), _whole(scope.records, number(height)))


def _ordered(scope: SpreadScope) -> exp.Expr:
    """Terms after each value, whose sign changes at TURN, and before the first: n Q_i."""

    def between(low: tuple[str, str], high: tuple[str, str]) -> exp.Expr:
        """The sum of a N - n Q_i from one rank up to another."""
        ranks = scope.exact(minus(column(high[0]), column(low[0])))
        reached = scope.exact(minus(column(high[1]), column(low[1])))
        own = times(ranks, column(THROUGH), scope.records)
        return minus(own, times(reached, column(COUNTED)))

    first, turn, last = (RANK, BELOW), (TURN, TURN_BELOW), (NEXT_RANK, NEXT_BELOW)
    later = exp.GTE(this=column(TURN), expression=column(NEXT_RANK))
    earlier = exp.LTE(this=column(TURN), expression=column(RANK))
    after = exp.Case(
        ifs=[
            exp.If(this=later, true=between(first, last)),
            exp.If(this=earlier, true=minus(number(0), between(first, last))),
        ],
        default=minus(between(first, turn), between(turn, last)),
    )
    is_first = exp.EQ(this=column(THROUGH), expression=column(HELD))
    before = times(scope.exact(column(BELOW)), column(COUNTED))
    work = exp.Sum(this=when(_counts(), plus(after, when(is_first, before, default=number(0)))))
    return divided(double(work), _whole(scope.records, _steps(scope)))


def _kl(scope: SpreadScope) -> exp.Expr:
    """(sum c ln(c / C)) / n + ln(N / n)."""
    ratio = divided(double(column(HELD)), double(column(RECORDS)))
    terms = _real_sum(times(column(HELD), exp.Ln(this=ratio)))
    share = divided(double(scope.records), not_zero(_n()))
    return plus(divided(terms, not_zero(_n())), exp.Ln(this=share))


def _scaled_by(name: str) -> Distance:
    def scaled(scope: SpreadScope) -> exp.Expr:
        """The sums keep their value up to the next value's rank."""
        ranks = minus(column(NEXT_RANK), column(RANK))
        work = exp.Sum(this=when(_counts(), times(exp.Abs(this=column(name)), ranks)))
        return divided(of_parts(work), not_zero(_steps(scope)))

    return scaled


def _ratio(scope: SpreadScope) -> exp.Expr:
    """The greatest p_v / q_v."""
    own = divided(double(column(HELD)), double(column(RECORDS)))
    counted = not_zero(summed(HELD))
    return divided(times(exp.Max(this=own), double(scope.records)), counted)


def _inverse(scope: SpreadScope) -> exp.Expr:
    """The greatest q_v / p_v, infinite where a class lacks a value of the table."""
    own = divided(double(column(RECORDS)), double(column(HELD)))
    greatest = divided(times(exp.Max(this=own), summed(HELD)), double(scope.records))
    lacking = exp.LT(this=exp.Count(this=column(HELD)), expression=scope.values)
    return when(lacking, double(exp.Literal.string("Infinity")), default=greatest)


def _surplus(scope: SpreadScope) -> exp.Expr:
    """The greatest p_v / q_v + ln q_v, of which enhanced beta-likeness allows 1."""
    here = times(double(column(HELD)), scope.records)
    there = times(double(column(RECORDS)), column(COUNTED))
    share = exp.Ln(this=divided(double(column(RECORDS)), double(scope.records)))
    return exp.Max(this=plus(divided(here, there), share))


def _counts() -> exp.Expr:
    return exp.Not(this=is_null(column(HELD)))


Distance = Callable[[SpreadScope], "exp.Expr"]
_DISTANCES: dict[str, Distance] = {
    "equal": _equal,
    "ordered": _ordered,
    "hierarchical": _hierarchical,
    "kl": _kl,
    **{name: _scaled_by(name) for name in SCALED},
    RATIO: _ratio,
    INVERSE: _inverse,
    SURPLUS: _surplus,
}
