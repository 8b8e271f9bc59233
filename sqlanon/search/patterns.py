"""Patterns: the greedy search for them, and the cuts of an integer program of them.

A pattern says for every column how far it is generalized; in the plain case a column is kept or
suppressed. Records that agree on all that a pattern keeps are an *instance* of it. Each record is
published by one pattern, and so each instance that is used becomes a class.

Cuts are inequalities that all classes which satisfy a model obey, and one that fails does not.

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

The scaled distances are not convex: see `policy.privacy.TCloseness.union_closed`.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", Algorithm 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.policy.privacy import BY_RATIO, ByForm
from sqlanon.progress import advance
from sqlanon.search.arrays import Flags, Numbers, Reals, packed, united
from sqlanon.search.privacy import (
    Demands,
    ValueDemand,
    once_per_person,
    ratio_bounds,
)


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """A table as distinct rows, and what groups of them hold: records, persons, sensitive values.

    Args:
        codes: `codes[row, word]`: the packed code of each row, of which a pattern keeps some bits.
        sizes: Records of each row.
        demands: What else classes must satisfy, by `values[row, attribute]`, and whose persons are
            counted, if any; None for k records alone.
    """

    codes: Numbers
    sizes: Numbers
    demands: Demands | None = None

    @property
    def persons(self) -> Numbers | None:
        """The person of each row; None where records are counted."""
        return None if self.demands is None else self.demands.persons

    @property
    def union_closed(self) -> bool:
        """Whether classes that satisfy everything still do when they are put together."""
        return self.demands is None or self.demands.union_closed

    def holding(self, rows: Numbers, group: Numbers, *, groups: int, k: int) -> Flags:
        """Which groups of rows, numbered below `groups`, have k records or persons, and the rest.

        Rows without a record are members of none.
        """
        enough: Flags = self.counted(rows, group, groups=groups) >= k
        return enough & self.satisfying(rows, group, groups=groups)

    def counted(self, rows: Numbers, group: Numbers, *, groups: int) -> Numbers:
        """The records, or persons, of each group of rows."""
        if self.persons is None:
            return np.bincount(group, self.sizes[rows], groups).astype(np.int64)
        some = self.sizes[rows] > 0
        return np.bincount(once_per_person(group[some], self.persons[rows[some]]), minlength=groups)

    def satisfying(self, rows: Numbers, group: Numbers, *, groups: int) -> Flags:
        """Which groups of rows, numbered below `groups`, satisfy the demands beyond k."""
        if self.demands is None:
            return np.ones(groups, np.bool_)
        some = self.sizes[rows] > 0
        rows, group = rows[some], group[some]
        return self.demands.models_hold(rows, group, groups=groups, sizes=self.sizes[rows])


LEFT = -1
"""In place of a pattern: none has an instance for these records."""
MIXERS = (1, 0x9E3779B97F4A7C15 - 2**64, 0xC2B2AE3D27D4EB4F - 2**64, 0x165667B19E3779F9)
"""Odd factors for the words of a code."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The pattern of each row, and the classes that this makes.

    Args:
        pattern: The number of each row's pattern, or LEFT.
        group: The number of each row's class, or LEFT; classes in the order they were made.
    """

    pattern: Numbers
    group: Numbers


def instance_keys(codes: Numbers, mask: Numbers) -> Numbers:
    """A number per row of `codes[word, row]`, equal for rows of one instance of a pattern."""
    return united([word & bits for word, bits in zip(codes, mask, strict=True)])


def greedy(
    rows: DistinctRows,
    masks: Numbers,
    *,
    k: int,
    deadline: Deadline = NEVER,
) -> Placed:
    """Publishes every record by the first pattern that has an instance of k records left for it.

    Where persons are counted, of k persons.

    The records of an instance are given to it together and are not looked at again. Fewer
    suppressed cells cannot be promised: the optimum may be lower by as many times as there are
    columns (Theorem 3).

    Args:
        rows: The table.
        masks: `masks[pattern, word]`: the bits that each pattern keeps, cheapest pattern first.
        k: The smallest class allowed [records, or persons].
        deadline: When the records that are left stay so.

    Source: Bredereck, Nichterlein and Niedermeier 2013, Algorithm 1.
    """
    search = _Search(rows, masks, k=k)
    with suppress(TimeLimitError):
        for number in range(len(masks)):
            if search.counted.sum() < k:
                break
            deadline.check()
            advance(number / len(masks))
            search.take(number)
    return Placed(search.pattern, search.group)


class _Search:
    """The rows that are left, and what was published of the others."""

    def __init__(self, rows: DistinctRows, masks: Numbers, *, k: int) -> None:
        self._rows, self._masks, self._k = rows, masks, k
        self.pattern, self.group = (np.full(len(rows.sizes), LEFT) for _ in range(2))
        self._left, self._classes = np.flatnonzero(rows.sizes), 0
        # k records tell that an instance has enough, so no row needs to be counted further.
        most = 1 if rows.persons is not None else k
        self.counted = np.minimum(rows.sizes[self._left], most)
        self._codes = np.ascontiguousarray(rows.codes[self._left].T)

    def take(self, number: int) -> None:
        """Gives the rows that are left to the instances of a pattern that has k of them."""
        mask = self._masks[number]
        if not len(self._frequent(_mixed(self._codes, mask))):
            return
        keys = instance_keys(self._codes, mask)
        enough = self._frequent(keys)
        if not len(enough):
            return
        place = np.minimum(np.searchsorted(enough, keys), len(enough) - 1)
        taken = enough[place] == keys
        if self._rows.demands is not None:
            good = self._rows.satisfying(self._left[taken], place[taken], groups=len(enough))
            taken &= good[place]
        rows = self._left[taken]
        self.pattern[rows] = number
        _, numbers = np.unique(place[taken], return_inverse=True)
        self.group[rows] = self._classes + numbers
        self._classes += int(numbers.max(initial=-1)) + 1
        self._left, self.counted = self._left[~taken], self.counted[~taken]
        self._codes = self._codes[:, ~taken]

    def _frequent(self, keys: Numbers) -> Numbers:
        """The keys of rows left that k records or persons have, ascending."""
        persons = self._rows.persons
        if persons is None:
            every = np.repeat(keys, self.counted)
            every.sort()
        else:
            every = once_per_person(keys, persons[self._left])
        last = max(0, len(every) - self._k + 1)
        shifted = every[self._k - 1 :]
        return np.unique(shifted[shifted == every[:last]])


def _mixed(codes: Numbers, mask: Numbers) -> Numbers:
    """A number per row of `codes[word, row]`, equal for rows of one instance of a pattern.

    Words are mixed into it: rows of different instances rarely become equal.
    """
    parts = zip(codes, mask, itertools.cycle(MIXERS), strict=False)
    return np.asarray(sum((word & bits) * factor for word, bits, factor in parts))


def pattern_order(nodes: Numbers, costs: Numbers, *, tops: Sequence[int]) -> Numbers:
    """The numbers of patterns by cost, those that suppress fewer columns first among equals.

    A column of one value may cost nothing when it is suppressed; it is kept all the same. What
    still ties goes by the kept columns in lexicographic order.

    Args:
        nodes: `nodes[pattern, column]`: levels.
        costs: The cost of each pattern [units].
        tops: Per column the level at which nothing is kept.
    """
    width = nodes.shape[1]
    kept = np.where(nodes < np.array(tops), np.arange(width), width)
    kept.sort(axis=1)
    # What has ended comes first.
    listed = np.where(kept < width, kept + 1, 0)
    most = int(nodes.max(initial=0)) + 1
    lost = (kept == width).sum(axis=1)
    keys = [costs, lost, *packed(listed, [width + 1] * width), *packed(nodes, [most] * width)]
    return np.lexsort(keys[::-1])


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
    values, whole = demand.parts(counts[np.newaxis])
    return _CUTS.of(demand.model)(demand, values[0], int(whole[0, 0]))


def _distinct(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
    missing = counts == 0
    return _cut(
        demand, -missing.astype(float), least=demand.model.threshold - int((~missing).sum())
    )


def _entropy(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
    if not counts.sum():
        return _cut(demand, -np.ones(len(counts)), least=1.0)
    return _gradient(
        demand, counts, reference=np.ones(len(counts)), constant=math.log(demand.model.threshold)
    )


def _recursive(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
    model: Any = demand.model
    largest_first = np.argsort(-counts, kind="stable")
    c = Fraction(str(model.c))
    factors = np.full(len(counts), -c.numerator)
    factors[largest_first[: int(model.l) - 1]] = 0
    factors[largest_first[0]] += c.denominator
    return _cut(demand, factors.astype(float), least=1.0)


def _alpha(demand: ValueDemand, counts: Numbers, whole: int) -> Cut:
    alpha, value = Fraction(str(demand.model.threshold)), int(counts.argmax())
    if counts[value] - alpha * whole <= _PARTED * whole:
        return _by_share(demand, counts, whole, value=value, sign=1)
    factors = _beyond(demand, value, times=alpha.denominator, share=alpha.numerator)
    return _scaled(demand, factors)


def _beyond(demand: ValueDemand, value: int, *, times: float, share: float) -> Reals:
    """Factors of a multiple of a value's count, less one of the whole that shares are of."""
    factors = np.full(demand.width, -float(share))
    if demand.of_persons:
        factors[:-1] = 0.0
    factors[value] += times
    return factors


def _by_share(demand: ValueDemand, counts: Numbers, whole: int, *, value: int, sign: int) -> Cut:
    """The cut by the share of a value in this very class, for a bound that hardly parts it.

    A class that satisfies the model has a smaller share (greater, with a sign of -1), which is a
    difference of at least 1 in whole numbers.
    """
    factors = _beyond(demand, value, times=whole, share=int(counts[value]))
    return _cut(demand, sign * factors, least=1.0)


def _by_ratio(demand: ValueDemand, counts: Numbers, whole: int) -> Cut:
    least, most = ratio_bounds(demand)
    if not whole:
        return _cut(demand, -np.eye(demand.width)[0], least=1.0)
    above, below = counts - most * whole, least * whole - counts
    is_over = bool(above.max() >= below.max())
    beyond = above if is_over else below
    value = int(beyond.argmax())
    if beyond[value] <= _PARTED * whole:
        return _by_share(demand, counts, whole, value=value, sign=1 if is_over else -1)
    if is_over:
        return _scaled(demand, _beyond(demand, value, times=1.0, share=most[value]))
    return _scaled(demand, -_beyond(demand, value, times=1.0, share=least[value]))


def _ordered(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
    table, records = demand.table, int(demand.table.sum())
    signs = np.sign(np.cumsum(counts * records - table * int(counts.sum())))
    factors = np.cumsum(signs[::-1])[::-1] * records - int(signs @ np.cumsum(table))
    return _norm(demand, factors, parts=max(len(counts) - 1, 1))


def _equal(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
    return _by_nodes(demand, counts, nodes=[np.arange(len(counts))])


def _hierarchical(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
    return _by_nodes(demand, counts, nodes=[np.arange(len(counts)), *demand.nodes])


def _by_nodes(demand: ValueDemand, counts: Numbers, *, nodes: list[Numbers]) -> Cut:
    """The cut by the excess of a class over its share of every node at each level."""
    table, records = demand.table, int(demand.table.sum())
    beyond = counts * records - table * int(counts.sum())
    factors = np.zeros(len(counts), np.int64)
    for level_nodes in nodes:
        above = np.bincount(level_nodes, weights=beyond).astype(np.int64) > 0
        factors += above[level_nodes] * records - int(table[above[level_nodes]].sum())
    return _norm(demand, factors, parts=len(nodes))


def _norm(demand: ValueDemand, factors: Numbers, *, parts: int) -> Cut:
    """The signs that make a distance as large as it is, less what is allowed in its parts."""
    allowed = Fraction(str(demand.model.threshold)) * parts
    records = int(demand.table.sum())
    whole = factors * allowed.denominator - allowed.numerator * records
    return _scaled(demand, whole.astype(float))


def _divergence(demand: ValueDemand, counts: Numbers, _: int) -> Cut:
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


_CUTS: ByForm[Callable[[ValueDemand, Numbers, int], Cut]] = ByForm(
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
