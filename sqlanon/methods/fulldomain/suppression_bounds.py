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
from sqlanon.policy.forms import TOLERANCE
from sqlanon.policy.privacy import (
    BY_RATIO,
    AlphaAnonymity,
    BetaLikeness,
    ByForm,
    LDiversity,
    TCloseness,
    ValueModel,
)
from sqlanon.query.classes import violations
from sqlanon.query.privacy.figures import (
    Needed,
    distance,
    tail,
)
from sqlanon.sqltext import Fragment, Sql, expression, name, value

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

    def required(self, attribute: SensitiveCodes, model: ValueModel) -> Fragment:
        """Records of a violating class that no node below can publish.

        An expression over the figures of `sensitive.class_figures`.
        """
        # Without an allowance, one violating class is too many.
        proves = model.union_closed and not attribute.persons and self.allowance
        if not (model.superset_monotone or proves):
            return 0
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


Required = Callable[[SuppressionScope, SensitiveCodes, Any], "Fragment"]


def _all(scope: SuppressionScope, _: SensitiveCodes, __: ValueModel) -> Fragment:
    """More than a class can have."""
    return scope.records


def _by_entropy(_: SuppressionScope, __: SensitiveCodes, model: LDiversity) -> Fragment:
    needed = math.log(model.l) - TOLERANCE
    required: Fragment = 0
    if needed > 0:
        part = expression("counted * (1 - entropy / {{ needed }})", needed=value(needed))
        required = _whole(part)
    return expression(
        "CASE WHEN counted = 0 THEN class_size ELSE {{ required }} END", required=required
    )


def _by_tail(_: SuppressionScope, __: SensitiveCodes, model: LDiversity) -> Fragment:
    """The largest count loses what keeps it from being below c times the tail of the class."""
    factor = Fraction(str(model.c))
    # The factor may be a quotient of large numbers: 1 / 3 as it was written has 16 digits.
    return expression(
        "CASE WHEN {{ rest }} = 0 THEN class_size ELSE CAST("
        "largest - (CAST({{ rest }} AS INT128) * {{ numerator }} - 1) // {{ denominator }}"
        " AS BIGINT) END",
        rest=name(tail(int(model.l))),
        numerator=factor.numerator,
        denominator=factor.denominator,
    )


def _by_share(_: SuppressionScope, __: SensitiveCodes, model: AlphaAnonymity) -> Fragment:
    """X >= (c - alpha n) / (1 - alpha) in whole numbers, as alpha is written."""
    alpha = Fraction(str(model.alpha))
    rest = alpha.denominator - alpha.numerator
    if not rest:
        return 0
    return expression(
        "CAST((CAST(largest AS INT128) * {{ denominator }} - CAST(counted AS INT128)"
        " * {{ numerator }} + {{ up }}) // {{ rest }} AS BIGINT)",
        denominator=alpha.denominator,
        numerator=alpha.numerator,
        up=rest - 1,
        rest=rest,
    )


def _by_ratio(scope: SuppressionScope, attribute: SensitiveCodes, model: BetaLikeness) -> Fragment:
    left, records = scope.left(attribute), attribute.records
    if not left:
        return 0
    excess = expression(
        "counted * {{ rarest }} * (distance_ratio - {{ most }})",
        rarest=value(min(attribute.counts) / records),
        most=value(model.most_ratio * records / left),
    )
    if not model.least_ratio:
        return _whole(excess)
    return expression(
        "CASE WHEN distinct_values < {{ least }} THEN {{ every }} ELSE {{ required }} END",
        least=attribute.values - scope.vanishing(attribute),
        every=scope.records,
        required=_whole(excess),
    )


def _by_excess(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Fragment:
    """See the module's docstring; both sides of the quotient are multiplied by n M."""
    left = scope.left(attribute)
    if not left:
        return 0
    limit = model.t + TOLERANCE
    excess = expression("exceeding - counted * {{ allowed }}", allowed=value(limit * left))
    rest = expression("{{ most }} - favoured", most=value((1 - limit) * left))
    return expression(
        "CASE WHEN {{ excess }} > 0 THEN {{ required }} ELSE 0 END",
        excess=excess,
        required=_whole(expression("{{ excess }} / {{ rest }}", excess=excess, rest=rest)),
    )


def _by_order(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Fragment:
    steps = attribute.values - 1
    if steps < 1:
        return 0
    mean = sum(rank * count for rank, count in enumerate(attribute.counts)) / attribute.records
    slack = scope.moved(attribute) + scope.vanishing(attribute) / steps
    return _by_furthest(model, slack, furthest=max(mean, steps - mean) / steps)


def _by_level(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Fragment:
    return _by_furthest(model, scope.moved(attribute), furthest=1.0)


def _by_divergence(
    scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness
) -> Fragment:
    if scope.moved(attribute) or not attribute.counts:
        return 0
    return _by_furthest(model, 0.0, furthest=math.log(attribute.records / min(attribute.counts)))


def _by_furthest(model: TCloseness, slack: float, *, furthest: float) -> Fragment:
    """S >= (D(C) - t') / (M - t') of a convex distance, t' being t and the slack.

    The slack is what suppression may change of the distance of any class, and the furthest distance
    from the reference, M, that of a class whose records all hold one value.
    """
    limit = model.t + slack + TOLERANCE
    if limit >= furthest:
        return 0
    return _whole(
        expression(
            "counted * ({{ distance }} - {{ limit }}) / {{ room }}",
            distance=name(distance(model.distance)),
            limit=value(limit),
            room=value(furthest - limit),
        )
    )


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


def _whole(records: Sql) -> Sql:
    """The least whole number of records, not below 0; rounding never makes it one too many."""
    return expression(
        "CAST(GREATEST(CEIL({{ records }} - {{ safety }}), 0) AS BIGINT)",
        records=records,
        safety=value(SAFETY),
    )
