"""Suppression bounds: records that no node below another can publish, for each privacy model.

A node suppresses the classes that fail any model. Where that changes the distribution that
t-closeness refers to (suppressed records are not published), more classes may fail then: they are
suppressed in turn until no class that is left fails. What is left satisfies every model by its own
distribution, as a check of the published table will find.

What a check proves about the nodes below it must hold whatever they suppress. Let C be a class of
the node and K the union of the classes within it that a node below publishes. For a model that is
closed under union, K satisfies it, so at least as many records of C are suppressed there as have to
be removed from C until the rest can satisfy it:

- k, distinct l: all records of C, since a part of it is no larger and no more diverse.
- entropy l: H is concave and at least 0, so with a share s of C removed H(C) >= (1 - s) ln l
  fails unless s >= 1 - H(C) / ln l.
- recursive (c, l): the tail of K is at most that of C, so no value keeps c times the tail of C.
- alpha: of a value with c of the n records, the x that go leave c - x <= alpha (n - x) at best, so
  x >= (c - alpha n) / (1 - alpha).
- ratios: suppression leaves at least M of N records, so no value with C records has a share above
  C / M in what is published, and none of K above most C / M. Of a value with ratio r in the class,
  which has r C n / N of its n records, at least (C n / N) (r - most N / M) have to go, and C is at
  least that of the rarest value. Where each value has a least ratio, a class without more values
  than suppression may remove wholly has no part that can be published.
- t, `equal`: suppression leaves at least M of N records, so no value with C records has a share
  above u = C / M in what is published. Let V be the values of which C has more than that. What is
  published of C has at most t more of V than u(V); taking x records away, at best all of V, gets
  there if n P(V) - x <= (n - x) (u(V) + t). So x >= n (P(V) - u(V) - t) / (1 - u(V) - t).
- other t: a distance D convex in P and at most M over all P has D(C) <= (1 - s) t' + s M, so
  s >= (D(C) - t') / (M - t'). The reference is that of the whole table here; suppressing a share a
  of the records moves it by at most a, so t' = t + a. (`ordered` counts ranks of values that are
  present; each of v values that suppression may remove adds at most 1 / (m - 1) to t'.)

Models that are not closed under union prove nothing about other nodes, and of those that count
persons only k and distinct l do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

from sqlglot import exp

from sqlanon.microdata.sensitive_codes import Details, SensitiveCodes
from sqlanon.policy.privacy import (
    BY_RATIO,
    TOLERANCE,
    AlphaAnonymity,
    BetaLikeness,
    ByForm,
    LDiversity,
    TCloseness,
    ValueModel,
)
from sqlanon.query.arithmetic import number, real, times
from sqlanon.query.classes import violations
from sqlanon.query.classes.frequency import CLASS_SIZE
from sqlanon.query.privacy.figures import (
    COUNTED,
    DISTINCT_VALUES,
    ENTROPY,
    EXCEEDING,
    FAVOURED,
    LARGEST,
    RATIO,
    Needed,
    distance,
    tail,
)
from sqlanon.query.syntax import bigint, column, greatest, when

SAFETY = 1e-6  # records; far more than rounding can make of a figure that is compared with it


@dataclass(frozen=True, slots=True)
class ViolationCounts:
    """The violating classes of a node.

    Args:
        classes: How many there are.
        records: Records in them [records].
        squares: Their squared sizes, summed.
        cost: What the cells of their records would cost [units].
        required: Records that no node below can publish [records].
        required_squares: Those times the size of their class, summed.
        required_cost: What their cells would cost [units].
    """

    classes: int
    records: int
    squares: int
    cost: int
    required: int
    required_squares: int
    required_cost: int


NOTHING = ViolationCounts(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Settled:
    """The suppressed classes of a node at the fixpoint.

    Args:
        found: The suppressed classes.
        rounds: How often suppression was looked at: 1 where the first look was enough.
        suppressed: A temporary table with their words.
    """

    found: ViolationCounts
    rounds: int
    suppressed: exp.Table


@dataclass(frozen=True, slots=True)
class SuppressionScope:
    """The table, its details and the policy, as far as violations depend on them.

    Args:
        details: Codes with sensitive values and persons.
        words: Number of words of the code.
        k: Smallest class size allowed [records, or persons].
        records: Records of the table.
        allowance: Records that may be suppressed.
        keeping: Whether suppressed records are published without their quasi-identifiers, so that
            the reference of t-closeness is that of the whole table whatever is suppressed.
    """

    details: Details
    words: int
    k: int
    records: int
    allowance: int
    keeping: bool

    @property
    def keys(self) -> list[str]:
        """The columns that tell the classes of a node apart."""
        return violations.words(self.words)

    @property
    def union_closed(self) -> bool:
        """Whether unions of classes that satisfy all models satisfy them, too."""
        return all(
            model.union_closed and (model.superset_monotone or not attribute.persons)
            for attribute in self.details.attributes
            for model in attribute.models
        )

    @property
    def superset_monotone(self) -> bool:
        """Whether classes that satisfy all models still do with any records added."""
        return all(model.superset_monotone for model in self._models)

    @property
    def moving(self) -> bool:
        """Whether what is suppressed changes what the models refer to."""
        return not self.keeping and any(model.relative for model in self._models)

    @property
    def _models(self) -> list[ValueModel]:
        return [model for each in self.details.attributes for model in each.models]

    @property
    def unsettled(self) -> bool:
        """Whether a node that suppresses records needs a second look."""
        return self.moving or self.keeping

    def required(self, attribute: SensitiveCodes, model: ValueModel) -> exp.Expr:
        """Records of a violating class that no node below can publish.

        An expression over the figures of `sensitive.class_figures`.
        """
        # Without an allowance, one violating class is too many.
        proves = model.union_closed and not attribute.persons and self.allowance
        if not (model.superset_monotone or proves):
            return number(0)
        return _REQUIRED.of(model)(self, attribute, model)

    def needed(self, attribute: SensitiveCodes) -> Needed:
        """The figures that models and what they require look at."""
        if "equal" not in attribute.needed.distances:
            return attribute.needed
        return replace(attribute.needed, left=self.left(attribute))

    def left(self, attribute: SensitiveCodes) -> int:
        """Records that are published at least."""
        return max(attribute.records - (0 if self.keeping else self.allowance), 0)

    def moved(self, attribute: SensitiveCodes) -> float:
        """The share of records that suppression may take out of the reference."""
        return 0.0 if self.keeping else self.allowance / max(attribute.records, 1)

    def vanishing(self, attribute: SensitiveCodes) -> int:
        """The number of values that suppression may remove from the reference."""
        sums = accumulate(sorted(attribute.counts))
        return 0 if self.keeping else sum(records <= self.allowance for records in sums)


Required = Callable[[SuppressionScope, SensitiveCodes, Any], "exp.Expr"]


def _all(scope: SuppressionScope, _: SensitiveCodes, __: ValueModel) -> exp.Expr:
    """More than a class can have."""
    return number(scope.records)


def _by_entropy(_: SuppressionScope, __: SensitiveCodes, model: LDiversity) -> exp.Expr:
    needed = math.log(model.l) - TOLERANCE
    part = 1 - column(ENTROPY) / real(needed) if needed > 0 else real(0.0)
    nothing = column(COUNTED).eq(0)
    return when(nothing, column(CLASS_SIZE), default=_whole(column(COUNTED) * exp.Paren(this=part)))


def _by_tail(_: SuppressionScope, __: SensitiveCodes, model: LDiversity) -> exp.Expr:
    """The largest count loses what keeps it from being below c times the tail of the class."""
    factor = Fraction(str(model.c))
    rest = column(tail(int(model.l)))
    # The factor may be a quotient of large numbers: 1 / 3 as it was written has 16 digits.
    whole = exp.cast(rest.copy(), exp.DataType.Type.INT128)
    most = exp.Paren(this=whole * factor.numerator - 1) // factor.denominator
    return when(rest.eq(0), column(CLASS_SIZE), default=bigint(column(LARGEST) - most))


def _by_share(_: SuppressionScope, __: SensitiveCodes, model: AlphaAnonymity) -> exp.Expr:
    """X >= (c - alpha n) / (1 - alpha) in whole numbers, as alpha is written."""
    alpha = Fraction(str(model.alpha))
    rest = alpha.denominator - alpha.numerator
    if not rest:
        return number(0)
    large = exp.DataType.Type.INT128
    own = exp.cast(column(LARGEST), large) * alpha.denominator
    excess = own - exp.cast(column(COUNTED), large) * alpha.numerator
    return bigint(exp.Paren(this=excess + (rest - 1)) // rest)


def _by_ratio(scope: SuppressionScope, attribute: SensitiveCodes, model: BetaLikeness) -> exp.Expr:
    left, records = scope.left(attribute), attribute.records
    if not left:
        return number(0)
    excess = column(distance(RATIO)) - real(model.most_ratio * records / left)
    rarest = column(COUNTED) * real(min(attribute.counts) / records)
    required = _whole(times(rarest, excess))
    if not model.least_ratio:
        return required
    lacking = column(DISTINCT_VALUES) < attribute.values - scope.vanishing(attribute)
    return when(lacking, number(scope.records), default=required)


def _by_excess(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> exp.Expr:
    """See the module's docstring; both sides of the quotient are multiplied by n M."""
    left = scope.left(attribute)
    if not left:
        return number(0)
    limit = model.t + TOLERANCE
    allowed = column(COUNTED) * real(limit * left)
    excess = exp.Paren(this=column(EXCEEDING) - allowed)
    rest = exp.Paren(this=real((1 - limit) * left) - column(FAVOURED))
    required = _whole(exp.Div(this=excess.copy(), expression=rest))
    return when(excess > 0, required, default=number(0))


def _by_order(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> exp.Expr:
    steps = attribute.values - 1
    if steps < 1:
        return number(0)
    mean = sum(rank * count for rank, count in enumerate(attribute.counts)) / attribute.records
    slack = scope.moved(attribute) + scope.vanishing(attribute) / steps
    return _by_furthest(model, slack, furthest=max(mean, steps - mean) / steps)


def _by_level(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> exp.Expr:
    return _by_furthest(model, scope.moved(attribute), furthest=1.0)


def _by_divergence(
    scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness
) -> exp.Expr:
    if scope.moved(attribute) or not attribute.counts:
        return number(0)
    return _by_furthest(model, 0.0, furthest=math.log(attribute.records / min(attribute.counts)))


def _by_furthest(model: TCloseness, slack: float, *, furthest: float) -> exp.Expr:
    """S >= (D(C) - t') / (M - t') of a convex distance, t' being t and the slack.

    The slack is what suppression may change of the distance of any class, and the furthest distance
    from the reference, M, that of a class whose records all hold one value.
    """
    limit = model.t + slack + TOLERANCE
    if limit >= furthest:
        return number(0)
    excess = column(distance(model.distance)) - real(limit)
    return _whole(column(COUNTED) * excess / real(furthest - limit))


_REQUIRED: ByForm[Required] = ByForm(
    "records that must go",
    {
        ("l", "distinct"): _all,
        ("l", "entropy"): _by_entropy,
        ("l", "recursive"): _by_tail,
        ("alpha",): _by_share,
        **dict.fromkeys(BY_RATIO, _by_ratio),
        ("t", "equal"): _by_excess,
        ("t", "ordered"): _by_order,
        ("t", "hierarchical"): _by_level,
        ("t", "kl"): _by_divergence,
    },
)


def _whole(records: exp.Expr) -> exp.Expr:
    """The least whole number of records, not below 0; rounding never makes it one too many."""
    whole = exp.Ceil(this=exp.Sub(this=exp.Paren(this=records), expression=real(SAFETY)))
    return bigint(greatest(whole, number(0)))
