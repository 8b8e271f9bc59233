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
lowers the bound; its maximum is the value of the linear relaxation of set partitioning. On Adult
the bound rises by half.

Where a records may be left out at s each, the duals' sum less that of the a greatest of (dual - s,
if positive) is a lower bound: by the proof above the others cost no less than their duals, and s is
all that is lost with those left out. A record that no candidate holds is left out in any case.

Prices are raised by subgradient steps in floating point, over the closures that are nearly tight
(`climbed`), and proven in whole numbers over all of them (`price_proof`).

Source: Camerini, Fratta and Maffioli 1975, "On improving relaxation methods by modified gradient
techniques", for directions that keep a part of the one before.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.clustering_problem import (
    Candidates,
    ClusteringProblem,
    column_bounds,
)
from sqlanon.search.clustering.direct_cover import Cheapest
from sqlanon.search.clustering.price_proof import (
    SPARE_MEMBERS,
    AlikeRecords,
    Excess,
    PriceScale,
    WholePass,
    exact_sum,
    leaving_most,
    sorted_pairs,
)

FIRST_STEP, LAST_STEP = 0.15, 0.02
"""Length of the first step and of the last one [radii of the box]."""
KEPT_SHARE, STEEPEST = 0.85, -2.0
"""Share of the direction before in the next one, and the least that a record's part of it is."""
STEPS_BETWEEN_REFRESHES = 10
"""Steps after which the dearest members of closures are looked for anew."""


@dataclass(frozen=True, slots=True)
class NearTight:
    """Closures that are nearly tight, and their members.

    Args:
        cost: What a record costs at each [units].
        closure: The closures of the first row, then those of the second, and so on.
        starts: Where those of each row begin that is in any.
        rows: The rows that are in any.
    """

    cost: Reals
    closure: Numbers
    starts: Numbers
    rows: Numbers

    @classmethod
    def of(cls, cost: Numbers, *, sizes: Numbers, members: Numbers) -> NearTight:
        """From the members of each closure."""
        order = np.argsort(members, kind="stable")
        rows, starts = np.unique(members[order], return_index=True)
        closure = np.repeat(np.arange(len(sizes)), sizes)[order]
        return cls(cost.astype(np.float64), closure, starts, rows)

    @property
    def owner(self) -> Numbers:
        """Per member of a closure the place in `rows` of its row."""
        sizes = np.diff(np.append(self.starts, len(self.closure)))
        return np.repeat(np.arange(len(sizes)), sizes)

    def dearest(self, price: Reals, *, counts: Numbers, k: int) -> Numbers:
        """Per closure the rows of its dearest records; the number of rows where it has no more."""
        owner, width = self.owner, 2 * k + SPARE_MEMBERS
        by_price = np.argsort(-price, kind="stable")
        place = np.empty(len(price), np.int64)
        place[by_price] = np.arange(len(price))
        closure, dear = sorted_pairs(self.closure, place[self.rows[owner]], below=len(price))
        row = by_price[dear]
        copies = np.minimum(counts[row], k)
        slot = np.cumsum(copies) - copies
        slot -= slot[np.searchsorted(closure, np.arange(len(self.cost)))][closure]
        rows = np.full((len(self.cost), width), len(price))
        for copy in range(int(copies.max(initial=0))):
            asked = (copies > copy) & (slot + copy < width)
            rows[closure[asked], slot[asked] + copy] = row[asked]
        return rows


def climbed(
    problem: ClusteringProblem,
    counts: Numbers,
    near: NearTight,
    *,
    center: Reals,
    room: int,
    radius: float,
    steps: int,
) -> Reals:
    """The best prices in a box that some subgradient steps find.

    Every record votes, with 1 / k each, for the k records of its best set; a record that gets fewer
    votes than it has itself is to be worth more. Prices stay within a box around where they were
    when all closures were looked at last, so that those left out hardly matter. What such a step
    finds is no bound all the same; a pass over all closures proves what its prices are good for.

    A step takes the time of some ten operations for each member of the closures that are looked at.

    Args:
        problem: The table.
        counts: Records of each row.
        near: The closures that are looked at.
        center: The middle of the box, where the steps begin [units].
        room: How many records may be left out besides those in no candidate.
        radius: Half the width of the box [units].
        steps: How many.
    """
    k, moved, owner = problem.k, near.rows, near.owner
    price, best, most = center, center, -np.inf
    direction, dearest = np.zeros(len(moved)), np.zeros((0, 0), np.int64)
    low, high = center[moved] - radius, center[moved] + radius
    for step in range(steps):
        if problem.deadline.expired:
            break
        if step % STEPS_BETWEEN_REFRESHES == 0:
            dearest = near.dearest(price, counts=counts, k=k)
        best_sets = _BestSets.of(near, price, dearest=dearest, owner=owner, k=k)
        duals = price.copy()
        duals[moved] -= best_sets.excess
        over = duals - problem.suppressed
        taken = leaving_most(over, counts, room).astype(np.float64)
        total = float((duals * counts - over * taken).sum())
        if total > most:
            best, most = price, total
        votes = best_sets.votes(moved, counts - taken, k=k)
        gradient = ((counts - taken - votes) / counts)[moved]
        direction = KEPT_SHARE * direction + (1 - KEPT_SHARE) * np.maximum(gradient, STEEPEST)
        length = radius * FIRST_STEP * (LAST_STEP / FIRST_STEP) ** (step / max(steps - 1, 1))
        price = price.copy()
        price[moved] = np.clip(duals[moved] + length * direction, low, high)
    return best


@dataclass(frozen=True, slots=True)
class _BestSets:
    """The best set of each row: k records of one closure.

    Args:
        excess: Per row in any what the set is worth beyond its cost, of each record [units].
        closure: The number of its closure among those chosen.
        inside: Whether the row is among the dearest k there; if not, it replaces the last of them.
        dearest: Per chosen closure the rows of the dearest k, the last one first.
    """

    excess: Reals
    closure: Numbers
    inside: Flags
    dearest: Numbers

    @classmethod
    def of(
        cls, near: NearTight, price: Reals, *, dearest: Numbers, owner: Numbers, k: int
    ) -> _BestSets:
        """By the dearest rows of each closure and the owner of each member."""
        below = price.min() - 10 * abs(price).max() - 1
        value = np.append(price, below)[dearest]
        first = value.shape[1] - k
        top = np.partition(value, first, axis=1)[:, first:]
        last, whole = top[:, 0], top.sum(axis=1) / k - near.cost
        row_price = price[near.rows]
        excess = np.minimum(
            whole.take(near.closure),
            (whole - last / k).take(near.closure) + (row_price / k).take(owner),
        )
        most = np.maximum.reduceat(excess, near.starts)
        at = np.flatnonzero(excess == most.take(owner))
        closure = near.closure[at[np.searchsorted(owner[at], np.arange(len(row_price)))]]
        asked, number = np.unique(closure, return_inverse=True)
        place = np.argpartition(value[asked], first, axis=1)[:, first:]
        rows = np.take_along_axis(dearest[asked], place, axis=1)
        return cls(most, number.ravel(), row_price >= last[closure], rows)

    def votes(self, rows: Numbers, staying: Reals, *, k: int) -> Reals:
        """What each row gets if every record that stays votes for the records of its best set."""
        share = staying[rows] / k
        whole = np.bincount(self.closure, share * self.inside, len(self.dearest))
        others = np.bincount(self.closure, share * ~self.inside, len(self.dearest))
        given = np.repeat((whole + others)[:, np.newaxis], k, axis=1)
        given[:, 0] = whole
        got = np.bincount(self.dearest.ravel(), given.ravel(), len(staying) + 1)
        votes: Reals = got[:-1].astype(np.float64)
        votes[rows] += np.where(self.inside, 0.0, share)
        return votes


NEAR_SLACK = 0.3
"""Slack up to which a closure counts as nearly tight [mean costs of a record]."""
FIRST_SLACK, MAX_SLACK = 0.5, 1.5
"""Slack up to which the first pass keeps closures for steps, and any pass [mean costs]."""
CLOSURES_PER_ROW = 12
"""Closures of a row that are worth keeping for steps, on average."""
MAX_UNEVENNESS = 4
"""Mean costs that the record of a unit of cost may bear on average, for all records to count alike.

On public data it bears 1.2 to 3."""
MAX_TOP_CELLS = 1.8
"""Cells at the top that the mean cost counts for at most: closures that a record might be in differ
by few cells, however many columns there are."""
FIRST_RAISE = 1.35
"""Times their cheapest cost that records are worth to begin with: about what they lose more."""


def standing(problem: ClusteringProblem, candidates: Candidates, below: int) -> Candidates:
    """The candidates, all of which cost less than so much, and one that stands for all others.

    It holds all records and costs just that. A cluster whose closure costs as much or more lies in
    it, and costs no less. So what all candidates together prove is a bound, whatever the cost is.
    """
    nodes = problem.root[np.newaxis].astype(candidates.nodes.dtype)
    return Candidates(
        np.append(candidates.nodes, nodes, axis=0),
        np.append(candidates.support, problem.records),
        np.append(candidates.cost, below),
        np.append(candidates.rank, len(candidates)),
    )


def stands_at(problem: ClusteringProblem, candidates: Candidates) -> int | None:
    """What the last candidate costs if it stands for others, so that the root costs less."""
    is_root = len(candidates) and (candidates.nodes[-1] == problem.root).all()
    below = int(candidates.cost[-1]) if is_root else None
    return None if below is None or below >= problem.cost(problem.root) else below


class Ascent(Enum):
    """How long prices are raised.

    Per round, how far prices may go from those that are proven best [mean costs], after which all
    closures are looked at; and the steps of a round. `FURTHER` is for prices that are known of most
    of the closures.
    """

    QUICK = (0.5, 0.4), 25
    FURTHER = (0.3, 0.2), 25
    FULL = (0.5, 0.4, 0.4, 0.3, 0.3, 0.2, 0.2, 0.15, 0.1), 40

    def __init__(self, radii: tuple[float, ...], steps: int) -> None:
        self.radii, self.steps = radii, steps


@dataclass(frozen=True, slots=True)
class Duals:
    """What each record is worth, and the lower bound that this proves.

    Args:
        price: Per record what it is worth [units], shape `(records,)`; may be negative. No k
            records are worth more together than they cost in one cluster.
        total: What all records lose at least, those left out within the allowance included [units].
        near: Positions of candidates, ascending, that are nearly tight: a record at them costs no
            more than the mean price of the k dearest that they hold and `NEAR_SLACK` of the mean
            cost.
        effort: How long prices were raised; None where the deadline came before the end.
    """

    price: Reals
    total: int
    near: Numbers
    effort: Ascent | None = None


def dual_bound(
    problem: ClusteringProblem,
    candidates: Candidates,
    *,
    effort: Ascent = Ascent.QUICK,
    start: Duals | None = None,
    cheapest: Cheapest | None = None,
    most_members: float = np.inf,
) -> Duals:
    """The highest lower bound found, and the prices that prove it.

    Where the deadline comes first, it is the best that was proven until then, of each column by
    itself at least. The time is that of the rounds: a look at all closures each (`WholePass`) and
    its steps (`climbed`). Records that are alike are looked at once.

    Args:
        problem: The table; costs never shrink on the way up.
        candidates: All closed frequent itemsets of it, or more: each cluster of k records or more
            within the levels allowed must have a candidate that holds it and costs no more.
        effort: How long prices are raised.
        start: Where to begin, and what is proven already, which is kept; at the cost of the
            cheapest itemsets for None.
        cheapest: What the candidates say of each record; looked for where None.
        most_members: Rows of the nearly tight closures, by the first look, above which the ascent
            is a quick one in any case: steps take as long as there are of these.
    """
    search = _Search(problem, candidates, cheapest or Cheapest.of(problem, candidates))
    if start is not None and start.total > search.best.total:
        search.best = start
    with suppress(TimeLimitError):
        search.climb(effort, start, most_members=most_members)
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
        self._slack = FIRST_SLACK
        self._last_excess: Excess | None = None

    @property
    def _mean(self) -> float:
        """The mean cost of a record, as far as it is known, at most of `MAX_TOP_CELLS` [units].

        Where few records bear nearly all, the mean of what those cost: prices rise by as much.
        """
        price, mean = np.maximum(self.best.price, 0), max(self.best.total, 1) / len(self.best.price)
        borne = float(price @ price / max(price.sum(), 1))
        tops = MAX_TOP_CELLS * self._problem.suppressed / len(self._problem.taxonomies)
        return borne if borne > MAX_UNEVENNESS * mean else min(mean, tops)

    def climb(self, effort: Ascent, start: Duals | None, *, most_members: float) -> None:
        """Rounds of steps, each followed by a look at all closures; then what is nearly tight."""
        self._problem.deadline.check()
        self._pass = WholePass(self._problem, self._candidates, self._alike)
        price = self._of_rows(self.best.price * FIRST_RAISE if start is None else start.price)
        self._prove(price)
        if self._last_excess is not None and len(self._last_excess.members) > most_members:
            effort = Ascent.QUICK
        scale = 1.0
        for number, radius in enumerate(effort.radii):
            advance(number / len(effort.radii))
            excess = self._last_excess
            if excess is None or not len(excess.closures):
                break
            cost = self._candidates.cost[excess.closures]
            near = NearTight.of(cost, sizes=excess.sizes, members=excess.members)
            box = scale * radius * self._mean
            price = climbed(
                *(self._problem, self._alike.counts, near),
                center=self._center,
                room=self._room,
                radius=box,
                steps=effort.steps,
            )
            if not self._prove(price):
                scale /= 2
        price = self._of_rows(self.best.price)
        slack = int(NEAR_SLACK * self._mean * self._problem.k * self._scale.parts)
        tight, _ = self._pass.ceilings(self._whole(price), parts=self._scale.parts, least=-slack)
        self.best = replace(self.best, near=np.sort(tight), effort=effort)

    def _of_rows(self, price: Reals) -> Reals:
        """Per row what its records are worth, of which each is worth the same."""
        row_price = np.zeros(len(self._alike))
        row_price[self._alike.row] = price
        return row_price

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
        excess = self._pass.excess(whole, parts=parts, least=-slack, margin=slack)
        worth = problem.k * whole - excess.most
        worth[self._alone] = problem.suppressed * shares
        over = worth - problem.suppressed * shares
        total = exact_sum(worth, counts) - exact_sum(over, leaving_most(over, counts, self._room))
        exact, total = total, -(-total // shares)
        duals = worth / shares
        ratio = max(len(excess.members), 1) / (CLOSURES_PER_ROW * len(counts))
        self._slack = min(self._slack * min(max(ratio**-0.5, 0.5), 1.6), MAX_SLACK)
        better = self._last_excess is None or exact > self._reached
        if better:
            self._center, self._reached, self._last_excess = duals, exact, excess
        elif self._last_excess is not None:
            self._last_excess = excess.beside(self._last_excess)
        if total > self.best.total or (better and total == self.best.total):
            self.best = Duals(duals[self._alike.row], total, excess.near)
        elif not len(self.best.near):
            self.best = replace(self.best, near=excess.near)
        return better
