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

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.lower_bound.ceilings import Sought
from sqlanon.search.clustering.lower_bound.cheapest import Cheapest, column_bounds
from sqlanon.search.clustering.lower_bound.scale import PriceScale, exact_sum, leaving_most
from sqlanon.search.clustering.lower_bound.steps import Climb, NearTight
from sqlanon.search.clustering.lower_bound.whole_pass import Excess, WholePass
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem

NEAR = 0.3
"""Slack up to which a closure counts as nearly tight [mean costs of a record]."""
SLACK, WIDEST = 0.5, 1.5
"""Slack up to which the first pass keeps closures for steps, and any pass [mean costs]."""
MEMBERSHIPS = 12
"""Closures of a row that are worth keeping for steps, on average."""
UNEVEN = 4
"""Mean costs that the record of a unit of cost may bear on average, for all records to count alike.

On public data it bears 1.2 to 3."""
TOPS = 1.8
"""Cells at the top that the mean cost counts for at most: closures that a record might be in differ
by few cells, however many columns there are."""
RAISED = 1.35
"""Times their cheapest cost that records are worth to begin with: about what they lose more."""


class Ascent(Enum):
    """How long prices are raised.

    Per round, how far prices may go from those that are proven best [mean costs], after which all
    closures are looked at; and the steps of a round.
    """

    QUICK = (0.5, 0.4), 25
    FULL = (0.5, 0.4, 0.4, 0.3, 0.3, 0.2, 0.2, 0.15, 0.1), 40

    @property
    def radii(self) -> tuple[float, ...]:
        """The first of both."""
        found: tuple[float, ...] = self.value[0]
        return found

    @property
    def steps(self) -> int:
        """The second of both."""
        found: int = self.value[1]
        return found


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
    cheapest: Cheapest | None = None,
) -> Duals:
    """The highest lower bound found, and the prices that prove it.

    Where the deadline comes first, it is the best that was proven until then, of each column by
    itself at least. The time is that of the rounds: a look at all closures each (`whole_pass`) and
    its steps (`steps`). Records that are alike are looked at once.

    Args:
        problem: The table; costs never shrink on the way up.
        candidates: All closed frequent itemsets of it, or more: each cluster of k records or more
            within the levels allowed must have a candidate that holds it and costs no more.
        effort: How long prices are raised.
        start: Where to begin, and what is proven already, which is kept; at the cost of the
            cheapest itemsets for None.
        cheapest: What the candidates say of each record; looked for where None.
    """
    search = _Search(problem, candidates, cheapest or Cheapest.of(problem, candidates))
    if start is not None and start.total > search.best.total:
        search.best = start
    with suppress(TimeLimitError):
        search.climb(effort, start)
    return search.best


class _Search:
    """The best duals so far."""

    def __init__(
        self, problem: ClusteringProblem, candidates: Candidates, cheapest: Cheapest
    ) -> None:
        price, outside = cheapest.cost, cheapest.outside
        if problem.deadline.expired:
            price = np.maximum(price, column_bounds(problem))
        self.best = Duals(price.astype(np.float64), int(price.sum()), np.zeros(0, np.int64))
        self._problem, self._candidates = problem, candidates
        self._alike, self._scale = AlikeRecords.of(problem), PriceScale.of(problem)
        self._room = max(problem.allowance - int(outside.sum()), 0)
        self._alone = np.zeros(len(self._alike), np.bool_)
        self._alone[self._alike.row[outside]] = True
        self._pass: WholePass
        self._center, self._reached = np.zeros(len(self._alike)), 0
        self._slack = SLACK
        self._found: Excess | None = None

    @property
    def _mean(self) -> float:
        """The mean cost of a record, as far as it is known, or of `TOPS` cells if less [units].

        Where few records bear nearly all, the mean of what those cost: prices rise by as much.
        """
        price, mean = np.maximum(self.best.price, 0), max(self.best.total, 1) / len(self.best.price)
        borne = float(price @ price / max(price.sum(), 1))
        tops = TOPS * self._problem.suppressed / len(self._problem.taxonomies)
        return borne if borne > UNEVEN * mean else min(mean, tops)

    def climb(self, effort: Ascent, start: Duals | None) -> None:
        """Rounds of steps, each followed by a look at all closures."""
        self._problem.deadline.check()
        self._pass = WholePass(self._problem, self._candidates, self._alike)
        price = self._of_rows(self.best.price * RAISED if start is None else start.price)
        climb = Climb(self._problem, self._alike, self._room)
        self._prove(price)
        scale = 1.0
        for number, radius in enumerate(effort.radii):
            advance(number / len(effort.radii))
            found = self._found
            if found is None or not len(found.closures):
                break
            cost = self._candidates.cost[found.closures]
            near = NearTight.of(cost, sizes=found.sizes, members=found.members)
            box = scale * radius * self._mean
            price = climb.best(near, self._center, radius=box, steps=effort.steps)
            if not self._prove(price):
                scale /= 2
        self._look_for_near()

    def _look_for_near(self) -> None:
        """What is nearly tight at the best duals."""
        price = self._of_rows(self.best.price)
        slack = int(NEAR * self._mean * self._problem.k * self._scale.parts)
        sought = Sought(self._whole(price), self._scale.parts, -slack, 0)
        self.best = replace(self.best, near=self._pass.near(sought))

    def _of_rows(self, price: Reals) -> Reals:
        """Per row what its records are worth, of which each is worth the same."""
        found = np.zeros(len(self._alike))
        found[self._alike.row] = price
        return found

    def _whole(self, price: Reals) -> Numbers:
        """Prices in whole numbers, those of records in no candidate out of the way."""
        whole = self._scale.whole(price)
        whole[self._alone] = -self._scale.most
        return whole

    def _prove(self, price: Reals) -> bool:
        """Looks at all closures; whether these prices are worth more than those before."""
        problem, counts, parts = self._problem, self._alike.counts, self._scale.parts
        whole = self._whole(price)
        shares = problem.k * parts
        slack = int(self._slack * self._mean * shares)
        found = self._pass.excess(Sought(whole, parts, -slack, slack))
        worth = problem.k * whole - found.most
        worth[self._alone] = problem.suppressed * shares
        over = worth - problem.suppressed * shares
        total = exact_sum(worth, counts) - exact_sum(over, leaving_most(over, counts, self._room))
        exact, total = total, -(-total // shares)
        duals = worth / shares
        held = max(len(found.members), 1) / (MEMBERSHIPS * len(counts))
        self._slack = min(self._slack * min(max(held**-0.5, 0.5), 1.6), WIDEST)
        better = self._found is None or exact > self._reached
        if better:
            self._center, self._reached, self._found = duals, exact, found
        elif self._found is not None:
            self._found = found.beside(self._found)
        if total > self.best.total or (better and total == self.best.total):
            self.best = Duals(duals[self._alike.row], total, found.near)
        elif not len(self.best.near):
            self.best = replace(self.best, near=found.near)
        return better
