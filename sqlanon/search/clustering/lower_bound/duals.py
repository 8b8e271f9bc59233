"""What records are worth together: a lower bound by the dual of set partitioning.

A cluster's closure is one of the candidates, or costs no less than one that holds its records. Let
every record have a price, whatever it is, and let b of a record be the most by which k records with
it among them, of one candidate, have a higher mean price than they cost there. Then no partition
into clusters of k records or more costs less than the sum of all prices less b.

Proof. In a cluster S of m >= k records take k of them, T, with the record i. The candidate of S
holds T, so b_i >= (mean price of T) - (what S costs per record). Averaged over all T with i, the
mean price of T is (price_i + (k - 1) / (m - 1) times the prices of the others) / k; summed over all
i in S, that is the sum of the prices in S. So prices less b of the records of S add up to no more
than S costs.

Prices of 0 give the bound of the cheapest itemset of each record. Prices less b, the *duals*, have
b <= 0 everywhere and are worth no less than the prices themselves, so that repeating this never
lowers the bound; its maximum is the value of the linear relaxation of set partitioning.

Where a records may be left out at s each, the duals' sum less that of the a greatest of (dual - s,
if positive) is a lower bound: by the proof above the others cost no less than their duals, and s is
all that is lost with those left out. A record that no candidate holds is left out in any case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sqlanon.errors import TimeLimitError
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.lower_bound.cheapest import column_bounds, record_bounds
from sqlanon.search.clustering.lower_bound.scale import PriceScale, exact_sum, left_over
from sqlanon.search.clustering.lower_bound.steps import NearTight, climb
from sqlanon.search.clustering.lower_bound.whole_pass import Excess, excess
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem

NEAR = 0.3
"""Slack up to which a closure counts as nearly tight [mean costs of a record]."""
FIRST_SLACK = 0.4
"""Slack up to which the first pass looks at closures [mean costs of a record]."""
_ALONE = -1


class Ascent(Enum):
    """How long prices are raised: rounds of steps, and steps in each."""

    QUICK = (1, 30)
    FULL = (5, 60)

    @property
    def rounds(self) -> int:
        """How often all closures are looked at after some steps."""
        return self.value[0]

    @property
    def steps(self) -> int:
        """Steps of a round."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Duals:
    """What each record is worth, and the lower bound that this proves.

    Args:
        price: Per record what it is worth [units], shape `(records,)`; may be negative. No k
            records are worth more together than they cost in one cluster.
        total: What all records lose at least, those left out within the allowance included [units].
        near: Positions of candidates, ascending, that are nearly tight: a record at them costs no
            more than the mean price of the k dearest that they hold and `NEAR` of the mean cost.
    """

    price: Reals
    total: int
    near: Numbers


def dual_bound(
    problem: ClusteringProblem,
    candidates: Candidates,
    *,
    effort: Ascent = Ascent.QUICK,
    start: Duals | None = None,
) -> Duals:
    """The highest lower bound found, and the prices that prove it.

    Where the deadline comes first, it is the best that was proven until then.

    Args:
        problem: The table; costs never shrink on the way up.
        candidates: All closed frequent itemsets of it, or more: each cluster of k records or more
            within the levels allowed must have a candidate that holds it and costs no more.
        effort: How long prices are raised.
        start: Where to begin; at the cost of the cheapest itemsets for None.
    """
    search = _Search.of(problem, candidates)
    try:
        search.climb(effort, start)
    except TimeLimitError:
        return search.best
    return search.best


class _Search:
    """The best duals so far."""

    def __init__(
        self,
        problem: ClusteringProblem,
        candidates: Candidates,
        *,
        cheapest: Numbers,
    ) -> None:
        self._problem, self._candidates = problem, candidates
        self._alike = AlikeRecords.of(problem)
        self._scale = PriceScale.of(problem)
        outside = cheapest == _ALONE
        self._room = max(problem.allowance - int(outside.sum()), 0)
        self._alone = np.zeros(len(self._alike), np.bool_)
        self._alone[self._alike.row[outside]] = True
        price = np.where(outside, problem.suppressed, cheapest)
        self.best = Duals(price.astype(np.float64), int(price.sum()), np.zeros(0, np.int64))

    @classmethod
    def of(cls, problem: ClusteringProblem, candidates: Candidates) -> _Search:
        """Begins with the cheapest candidate of each record."""
        cheapest = record_bounds(problem, candidates, uncovered=_ALONE)
        if problem.deadline.expired:
            cheapest = np.maximum(cheapest, column_bounds(problem))
        return cls(problem, candidates, cheapest=cheapest)

    @property
    def _mean(self) -> float:
        return max(self.best.total, 1) / self._problem.records

    def climb(self, effort: Ascent, start: Duals | None) -> None:
        """Rounds of steps, each followed by a look at all closures."""
        alike, k = self._alike, self._problem.k
        price = np.zeros(len(alike))
        price[alike.row] = (self.best if start is None else start).price
        price, found = self._prove(price, slack=FIRST_SLACK)
        for _ in range(effort.rounds):
            if not len(found.near):
                return
            cost = self._candidates.cost[found.near]
            near = NearTight.of(cost, found.starts, members=found.members, alike=alike, k=k)
            price = climb(near, price, alike=alike, k=k, steps=effort.steps)
            price, found = self._prove(price, slack=NEAR)

    def _prove(self, price: Reals, *, slack: float) -> tuple[Reals, Excess]:
        """The duals of some prices, and the closures within some slack [mean costs]."""
        problem, counts, parts = self._problem, self._alike.counts, self._scale.parts
        whole = self._scale.whole(price)
        whole[self._alone] = -self._scale.most
        shares = problem.k * parts
        found = excess(
            problem,
            self._candidates,
            alike=self._alike,
            price=whole,
            least=(parts, -int(slack * self._mean * shares)),
        )
        worth = problem.k * whole - found.most
        worth[self._alone] = problem.suppressed * shares
        gone, _ = left_over(worth - problem.suppressed * shares, counts, room=self._room)
        total = -(-(exact_sum(worth, counts) - gone) // shares)
        duals = worth / shares
        near = found.near[found.own >= -NEAR * self._mean * shares]
        if total > self.best.total:
            self.best = Duals(duals[self._alike.row], total, near)
        elif not len(self.best.near):
            self.best = replace(self.best, near=near)
        return duals, found
