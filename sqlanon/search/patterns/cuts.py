"""Cuts: inequalities that all classes which satisfy a model obey, and one that fails does not.

A class has c_v records with value v of a sensitive attribute, N = sum c_v, and q_v is the share of
v in the table. Each cut has the form sum a_v c_v + least <= 0 for a class, and 0 <= 0 for none at
all, so an integer program holds with it for every class that is used.

- Distinct l: a class with the values D, fewer than l, needs l - |D| records of others.
- Recursive (c, l): r_1 + c (r_1 + ... + r_{l-1}) - c N < 0. The left side is the greatest over all
  choices of a value and of l - 1 values, so each choice gives a cut; over whole records it is at
  most -1 in units of c's denominator.
- Alpha: c_v - alpha N <= 0 for the most frequent value v.
- Ratios: c_v - most_v q_v N <= 0 and least_v q_v N - c_v <= 0 of every value v; where each value
  has a least ratio, a class has a record of each.
- Both, where a class C breaks the bound by the last digits alone: |C| c_v - C_v N <= -1.
- Equal, ordered and hierarchical t-closeness: N times the distance is a sum of norms of c - q N,
  each the greatest over a choice of signs, so each choice gives a cut.
- Entropy l, and t-closeness by kl: sum c_v ln(c_v / N) + N ln l and sum c_v ln(c_v / (q_v N)) - t N
  are convex in c and grow with it in proportion. So each of their gradients gives a cut.

The scaled distances are not convex: see `privacy.TCloseness.union_closed`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sqlanon.policy.privacy import BY_RATIO, ByForm
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.privacy import Demands, ValueDemand, ratio_bounds

GREATEST = 1e4
"""The greatest coefficient of a cut: small violations must not drown in a solver's tolerance."""
_PARTED = 1e-6
"""Share of a class by which a bound must be broken for a solver to see it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An inequality: sum of factors times the class's counts, plus least, is at most 0.

    Args:
        attribute: Number of the sensitive attribute.
        factors: Per value a_v.
        least: What is added where there is a class.
    """

    attribute: int
    factors: tuple[float, ...]
    least: float = 0.0

    def at(self, counts: Numbers) -> float:
        """The left side for a class; above 0 it is ruled out."""
        return float(np.array(self.factors) @ counts) + self.least


def inseparable(demands: Demands) -> dict[str, str]:
    """Models that no cuts are known for, and why: those that unions of classes can break."""
    every = [demand.model for demand in demands.every]
    return {model.describe(): "is not convex" for model in every if not model.union_closed}


def cut(demand: ValueDemand, counts: Numbers) -> Cut:
    """An inequality that a class of these counts, which fails the model, breaks.

    Every class that satisfies the model obeys it; the model is not `inseparable`.
    """
    return _CUTS.of(demand.model)(demand, counts)


def _distinct(demand: ValueDemand, counts: Numbers) -> Cut:
    missing = counts == 0
    return _cut(
        demand, -missing.astype(float), least=demand.model.threshold - int((~missing).sum())
    )


def _entropy(demand: ValueDemand, counts: Numbers) -> Cut:
    if not counts.sum():
        return _cut(demand, -np.ones(len(counts)), least=1.0)
    return _gradient(
        demand, counts, reference=np.ones(len(counts)), constant=math.log(demand.model.threshold)
    )


def _recursive(demand: ValueDemand, counts: Numbers) -> Cut:
    model: Any = demand.model
    largest_first = np.argsort(-counts, kind="stable")
    c = Fraction(str(model.c))
    factors = np.full(len(counts), -c.numerator)
    factors[largest_first[: int(model.l) - 1]] = 0
    factors[largest_first[0]] += c.denominator
    return _cut(demand, factors.astype(float), least=1.0)


def _alpha(demand: ValueDemand, counts: Numbers) -> Cut:
    alpha, value = Fraction(str(demand.model.threshold)), int(counts.argmax())
    if counts[value] - alpha * int(counts.sum()) <= _PARTED * int(counts.sum()):
        return _by_share(demand, counts, value=value, sign=1)
    factors = np.full(len(counts), -float(alpha.numerator))
    factors[value] += alpha.denominator
    return _scaled(demand, factors)


def _by_share(demand: ValueDemand, counts: Numbers, *, value: int, sign: int) -> Cut:
    """The cut by the share of a value in this very class, for a bound that hardly parts it.

    A class that satisfies the model has a smaller share (greater, with a sign of -1), which is a
    difference of at least 1 in whole numbers.
    """
    factors = np.eye(len(counts), dtype=np.int64)[value] * counts.sum() - counts[value]
    return _cut(demand, (sign * factors).astype(float), least=1.0)


def _by_ratio(demand: ValueDemand, counts: Numbers) -> Cut:
    least, most = ratio_bounds(demand)
    size, own = int(counts.sum()), np.eye(len(counts))
    if not size:
        return _cut(demand, -own[0], least=1.0)
    above, below = counts - most * size, least * size - counts
    is_over = bool(above.max() >= below.max())
    beyond = above if is_over else below
    value = int(beyond.argmax())
    if beyond[value] <= _PARTED * size:
        return _by_share(demand, counts, value=value, sign=1 if is_over else -1)
    return _scaled(demand, own[value] - most[value] if is_over else least[value] - own[value])


def _ordered(demand: ValueDemand, counts: Numbers) -> Cut:
    table, records = demand.table, int(demand.table.sum())
    signs = np.sign(np.cumsum(counts * records - table * int(counts.sum())))
    factors = np.cumsum(signs[::-1])[::-1] * records - int(signs @ np.cumsum(table))
    return _norm(demand, factors, parts=max(len(counts) - 1, 1))


def _equal(demand: ValueDemand, counts: Numbers) -> Cut:
    return _by_nodes(demand, counts, nodes=[np.arange(len(counts))])


def _hierarchical(demand: ValueDemand, counts: Numbers) -> Cut:
    return _by_nodes(demand, counts, nodes=[np.arange(len(counts)), *demand.nodes])


def _by_nodes(demand: ValueDemand, counts: Numbers, *, nodes: list[Numbers]) -> Cut:
    """The cut by the excess of a class over its share of every node at each level."""
    table, records = demand.table, int(demand.table.sum())
    beyond = counts * records - table * int(counts.sum())
    factors = np.zeros(len(counts), np.int64)
    for each in nodes:
        above = np.bincount(each, weights=beyond).astype(np.int64) > 0
        factors += above[each] * records - int(table[above[each]].sum())
    return _norm(demand, factors, parts=len(nodes))


def _norm(demand: ValueDemand, factors: Numbers, *, parts: int) -> Cut:
    """The signs that make a distance as large as it is, less what is allowed in its parts."""
    allowed = Fraction(str(demand.model.threshold)) * parts
    records = int(demand.table.sum())
    whole = factors * allowed.denominator - allowed.numerator * records
    return _scaled(demand, whole.astype(float))


def _divergence(demand: ValueDemand, counts: Numbers) -> Cut:
    return _gradient(
        demand, counts, reference=demand.shares, constant=-float(demand.model.threshold)
    )


def _gradient(demand: ValueDemand, counts: Numbers, *, reference: Reals, constant: float) -> Cut:
    """The gradient of a convex measure of a class, near it where values are missing."""
    size, present = int(counts.sum()), counts > 0
    ratios = np.log(counts[present] / (reference[present] * size))
    beyond = float(counts[present] @ ratios) + constant * size
    # What is missing is taken for so little that the class stays beyond the gradient there.
    little = min(0.5, beyond / (2 * len(counts)))
    near = np.where(present, counts, little)
    return _scaled(demand, np.log(near / (reference * near.sum())) + constant)


def _scaled(demand: ValueDemand, factors: Reals) -> Cut:
    return _cut(demand, factors * (GREATEST / np.abs(factors).max()), least=0.0)


def _cut(demand: ValueDemand, factors: Reals, *, least: float) -> Cut:
    return Cut(demand.attribute, tuple(factors.tolist()), least)


_CUTS: ByForm[Callable[[ValueDemand, Numbers], Cut]] = ByForm(
    "cuts of an integer program",
    {
        ("l", "distinct"): _distinct,
        ("l", "entropy"): _entropy,
        ("l", "recursive"): _recursive,
        ("alpha",): _alpha,
        **dict.fromkeys(BY_RATIO, _by_ratio),
        ("t", "equal"): _equal,
        ("t", "ordered"): _ordered,
        ("t", "hierarchical"): _hierarchical,
        ("t", "kl"): _divergence,
    },
)
