"""Refinement: large neighbourhood search (Shaw 1998) of clusterings that never raises the loss.

Each round picks disjoint pools of similar clusters, dissolves them and covers their records anew
(`pilot_method`); where that loses no more, the new clusters stay. Clusters that lose as much as
those before them give later rounds other starting points. Which clusters are picked, and how, is
drawn from a seed, so equal seeds give equal clusters.

Where records may be left out, a few that are join each pool, and a pool may leave records out at a
price. A record left out costs as much as one whose cells all say nothing, so that to leave it out
gains only by what others then keep. The price starts far above what such a record costs, so that
those by which most is gained go first, and falls to that; the best clusters of all rounds by what
they really lose are kept.

Under a demand, trials (`pilot_method`) look at sizes alone, so some of the groups that they find
fail; to hold every trial against the demand would cost more than all else. Each failing group is
united with another one of its pool: of the `MAX_PARTNERS` that add least to the loss with the first
whose records make up for what it lacks, else with the cheapest.

Where a demand needs clusters of many times k records, parts of k are far from holding. There pools
are also parted along their columns with every sensitive value cut for itself, so that all parts
have about the pool's shares (as SABRE does: Cao, Karras, Kalnis and Tan 2011, "SABRE: a Sensitive
Attribute Bucketization and REdistribution framework for t-closeness"), or by the nodes of a
column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sqlanon.loss.cells import MAX_TOTAL
from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.bitmaps import Words
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Candidates,
    Clustering,
    ClusteringProblem,
    closed,
    closures,
    members,
    runs,
    set_closures,
)
from sqlanon.search.clustering.effort import PASSES
from sqlanon.search.clustering.pilot_method import (
    MAX_BOXES,
    NO_LOSS,
    Boxes,
    Pools,
    Trials,
    boxes_of,
    places,
    replay,
    try_all,
)
from sqlanon.search.clustering.taxonomy import Taxonomy


def parts_of_k(problem: ClusteringProblem, clusters: Clustering) -> Numbers:
    """The cluster of each record after clusters of 2k records and more are cut into parts of k.

    Parts keep neighbouring records together; a cluster stays whole where a part fails the demand,
    or where the deadline comes first.
    """
    label = clusters.label.copy()
    number = len(clusters.nodes)
    for records in members(clusters):
        if problem.deadline.expired:
            break
        for part in cut_of_k(problem, records)[1:]:
            label[part] = number
            number += 1
    return label


def cut_of_k(problem: ClusteringProblem, records: Numbers) -> list[Numbers]:
    """The parts of a cluster of 2k records and more, or the cluster where one fails the demand."""
    count = len(records) // problem.k
    if count < 2:
        return [records]
    ordered = records[np.lexsort(problem.leaves[records].T[::-1])]
    parts = np.array_split(ordered, count)
    return parts if all(problem.satisfies(part) for part in parts) else [records]


def cut_groups(group: Numbers, k: int) -> Numbers:
    """The group of each member after groups 0, 1, … of 2k and more are cut into k to 2k - 1."""
    order, starts = runs(group)
    sizes = np.diff(np.r_[starts, len(order)])
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    count = np.maximum(sizes // k, 1)
    first = np.cumsum(count) - count
    groups = np.empty(len(group), np.int64)
    groups[order] = np.repeat(first, sizes) + place * np.repeat(count, sizes) // np.repeat(
        sizes, sizes
    )
    return groups


MAX_POOLS = 64
"""Most pools of one round."""
POOL_RECORDS = 30
"""Clusters times k in the largest pools at first, where that is more than seven clusters."""
MAX_POOL_CLUSTERS = 20
"""Most clusters in a pool because its boxes are few."""
GROW_BELOW, SHRINK_ABOVE = 24, 48
"""Boxes per pool below which pools become larger, and above which smaller again."""
UNIFORM_SHARE = 0.1
"""Pools that start at any cluster, for each that starts by what records cost."""
SAMPLED_CLUSTERS, SAMPLED_NEAR = 256, 3
"""Clusters by a sample of which the near ones are told from most others, and how many of the sample
are nearer than what is looked at."""
OVERHEAD_RECORDS = 100
"""Time that a pool takes beside that of its records [records]."""
MIXED_SHARE = 2 / 3
"""Share of the rounds that mix sensitive values, of those that look for more than k records."""
MAX_OUTSIDE = 3
"""Most records that are left out in a pool at first."""
MIN_DEMANDING_RECORDS = 300
"""Records that a smaller table counts as under a demand, for which it needs more tries."""
MAX_PRICE, FALLING_SHARE = 8, 0.6
"""What leaving a record out costs at first more than it does, at most, and the share of the search
in which that falls to nothing [costs of such a record]."""


MAX_WAITING = 2**18
"""Boxes that are remembered more than once until each is kept once."""


class ClosuresMet:
    """The closures of at least k records that the pools of a search had for boxes, each once."""

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        self.joins = Joins(taxonomies)
        self._keys: list[Words] = []
        self._nodes: list[NDArray[np.int32]] = []

    def add(self, nodes: Numbers) -> None:
        """Remembers node tuples, shape `(boxes, columns)`."""
        self._keys.append(self.joins.keys_of(nodes))
        self._nodes.append(nodes.astype(np.int32))
        if sum(map(len, self._keys[1:])) > MAX_WAITING:
            self._unite()

    def __len__(self) -> int:
        return sum(map(len, self._keys))

    def _unite(self) -> None:
        keys, first = np.unique(np.concatenate(self._keys), return_index=True)
        self._keys, self._nodes = [keys], [np.concatenate(self._nodes)[first]]

    def candidates(self, problem: ClusteringProblem) -> Candidates:
        """All of them; their support is told as k, no more than it is.

        Raises:
            TimeLimitError: The problem's deadline came before they were sorted.
        """
        self._unite()
        nodes = self._nodes[0].astype(np.int64)
        return Candidates.of(problem, nodes, support=np.full(len(nodes), problem.k))


def refine(
    problem: ClusteringProblem,
    clusters: Clustering,
    *,
    passes: float = PASSES,
    seed: int = 0,
    bounds: Numbers | Reals | None = None,
    met: ClosuresMet | None = None,
) -> Clustering:
    """Clusters that lose no more, and mostly less.

    With a deadline that comes before the end the result depends on the machine.

    Args:
        problem: The table.
        clusters: Clusters that satisfy k and the demand.
        passes: How often each record is in a pool, on average, where `OVERHEAD_RECORDS` more
            records are counted for every pool. So a search takes about as long for any k.
        seed: What the choices are drawn from.
        bounds: Per record what it is worth (`dual_bound`) or costs at least [units], as far
            as that is known; pools mostly start at clusters whose records cost much more.
        met: Remembers the boxes of all pools.
    """
    if problem.deadline.expired:
        return clusters
    search = _Refinement(problem, clusters, seed=seed, bounds=bounds, met=met)
    search.run(passes)
    clustering = Clustering.of(problem, search.best_label)
    return clustering if clustering.loss(problem) < clusters.loss(problem) else clusters


class _Refinement:
    """A clustering that rounds improve."""

    def __init__(
        self,
        problem: ClusteringProblem,
        clusters: Clustering,
        *,
        seed: int,
        bounds: Numbers | Reals | None,
        met: ClosuresMet | None,
    ) -> None:
        self._problem, self._met = problem, met
        self._least = np.zeros(problem.records, np.int64) if bounds is None else bounds
        self._random = np.random.default_rng(seed)
        self._joins = Joins(problem.taxonomies) if met is None else met.joins
        self._first = self._most = 3 + max(5, POOL_RECORDS // problem.k)
        self._label = self.best_label = parts_of_k(problem, clusters)
        self._renumber(closures(problem, self._label))
        self._lost = self._loss()

    def run(self, passes: float) -> None:
        """Refines until there were so many passes, or until the deadline."""
        problem, done = self._problem, 0
        demanding = 0 if problem.demand is None else MIN_DEMANDING_RECORDS
        end = passes * max(problem.records, demanding)
        while done < end and not problem.deadline.expired:
            looked = self._round(self._price(done / end))
            if not looked:
                break
            done += looked
            advance(done / end)

    def _price(self, done: float) -> int | None:
        """What leaving a record out costs a pool [units], which falls as a search goes on."""
        problem = self._problem
        if not problem.allowance:
            return None
        more = min(problem.k - 1, MAX_PRICE) * max(0.0, 1 - done / FALLING_SHARE)
        room = MAX_TOTAL // max(problem.records, 1) // problem.suppressed
        return int(problem.suppressed * min(1 + more, max(room, 1)))

    def _renumber(self, nodes: Numbers) -> None:
        """Numbers the clusters that have records 0, 1, … again, and finds their records.

        Args:
            nodes: The closure of each, by the numbers that they have now.
        """
        sizes = np.bincount(self._label + 1, minlength=len(nodes) + 1)[1:]
        nonempty = sizes > 0
        self._label = np.append(np.cumsum(nonempty) - 1, NOWHERE)[self._label]
        self._nodes, self._sizes = nodes[nonempty], sizes[nonempty]
        self._cost = self._problem.cost(self._nodes)
        nowhere = len(self._label) - int(self._sizes.sum())
        self._order = np.argsort(self._label, kind="stable")[nowhere:]
        self._starts = np.cumsum(self._sizes) - self._sizes

    def _round(self, price: int | None) -> int:
        """Tries some pools; how many records were looked at, with those counted for the pools.

        Args:
            price: What a record costs that a pool leaves out [units]; None where none may be.
        """
        chosen = self._choose()
        if not len(chosen):
            return 0
        least = self._least_size(chosen)
        pools, outside = self._pools(chosen, is_mixed=least > self._problem.k)
        sized = replace(self._problem, k=least) if least > self._problem.k else self._problem
        boxes = boxes_of(sized, pools, joins=self._joins, random=self._random)
        if self._met is not None:
            self._met.add(boxes.nodes)
        a_pool = float((boxes.cost < NO_LOSS).sum(axis=1).mean())
        if a_pool < GROW_BELOW:
            self._most = max(self._most, min(self._most + 1, MAX_POOL_CLUSTERS))
        elif a_pool > SHRINK_ABOVE:
            self._most = max(self._most - 1, self._first)
        now = (self._sizes * self._cost)[chosen].sum(axis=1) + outside * (price or 0)
        trials = try_all(pools, boxes, k=least, now=now + 1, price=price)
        if self._problem.demand is None:
            able, parts, loss = self._best(pools, boxes, trials=trials, now=now)
        else:
            best = Satisfying(self._problem, self._joins, pools=pools, now=now, price=price or 0)
            self._offer(best, pools, boxes, trials=trials)
            if least > self._problem.k:
                best.offer(np.arange(len(now)), parted(self._problem, pools, random=self._random))
            able, parts, loss = np.flatnonzero(best.is_better), best.parts, best.loss
        if len(able) and price is not None:
            more = ((pools.records >= 0) & (parts < 0)).sum(axis=1) - outside
            able = self._within(able[np.argsort((loss - now)[able], kind="stable")], more)
        if len(able):
            self._replace(pools.records[able], parts[able], now=now[able], price=price or 0)
        if price is None:
            self.best_label = self._label
        elif (lost := self._loss()) < self._lost:
            self._lost, self.best_label = lost, self._label.copy()
        return int((pools.records >= 0).sum()) + OVERHEAD_RECORDS * len(chosen)

    def _least_size(self, chosen: Numbers) -> int:
        """Records that a trial looks for in a box: k, or under a demand at times up to the mean.

        So much the more often the more records the clusters of the pools have.
        """
        k = self._problem.k
        if self._problem.demand is None:
            return k
        times = float(self._sizes[chosen].mean()) / k
        if times * self._random.random() <= 1:
            return k
        return max(int(k * times ** self._random.random()), min(k + 1, int(times * k)))

    def _best(
        self, pools: Pools, boxes: Boxes, *, trials: Trials, now: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The pools that a trial loses no more in, the parts of all pools, and what they lose."""
        best = _least(trials.loss, self._random)
        loss = trials.loss[np.arange(len(now)), best]
        able = np.flatnonzero(loss <= now)
        parts = replay(pools, boxes, trials=trials, chosen=best) if len(able) else pools.records
        return able, parts, loss

    def _offer(self, best: Satisfying, pools: Pools, boxes: Boxes, *, trials: Trials) -> None:
        """Offers the groups of the best trial of each pool, and of any other that may do."""
        drawn = np.where(
            trials.loss <= best.loss[:, None], self._random.random(trials.loss.shape), 2
        )
        for order in (trials.loss, drawn):
            chosen = _least(order, self._random)
            loss = trials.loss[np.arange(len(chosen)), chosen]
            able = np.flatnonzero(loss <= best.loss)
            if len(able):
                best.offer(able, replay(pools, boxes, trials=trials, chosen=chosen))

    def _loss(self) -> int:
        """What all records lose now, those left out included [units]."""
        left = len(self._label) - len(self._order)
        return int((self._sizes * self._cost).sum()) + left * self._problem.suppressed

    def _within(self, able: Numbers, more: Numbers) -> Numbers:
        """The pools that may take place together, where some leave so many more records out.

        Args:
            able: Pools, those that gain most first.
            more: Per pool how many more it leaves out, negative where fewer.
        """
        room = self._problem.allowance - (len(self._label) - len(self._order))
        taken = []
        for pool in able.tolist():
            if more[pool] <= max(room, 0):
                taken.append(pool)
                # What others take back is not counted on.
                room -= max(int(more[pool]), 0)
        return np.sort(np.array(taken, np.int64))

    def _replace(self, records: Numbers, parts: Numbers, *, now: Numbers, price: int) -> None:
        """Puts the records of pools into new clusters, where those lose no more.

        Args:
            records: Record numbers, shape `(pools, places)`; -1 pads.
            parts: The new cluster of each within its pool; -1 for one that is left out.
            now: What each pool loses now [units].
            price: What a record costs that is left out [units].
        """
        pool, place = np.nonzero((records >= 0) & (parts >= 0))
        kept, key = records[pool, place], pool * (records.shape[1] + MAX_BOXES) + parts[pool, place]
        group = np.unique(key, return_inverse=True)[1]
        if self._problem.demand is None:
            group = cut_groups(group, self._problem.k)
        order, starts = runs(group)
        nodes = closed(self._problem, self._problem.leaves[kept[order]], starts=starts)
        sizes = np.diff(np.r_[starts, len(order)])
        outside = (records >= 0) & (parts < 0)
        after = outside.sum(axis=1) * price
        owner = pool[order[starts]]
        np.add.at(after, owner, sizes * self._problem.cost(nodes))
        stays = after <= now
        chosen = stays[pool]
        self._label[records[stays][outside[stays]]] = NOWHERE
        self._label[kept[chosen]] = len(self._nodes) + group[chosen]
        self._renumber(np.concatenate([self._nodes, nodes]))

    def _choose(self) -> Numbers:
        """Pools of clusters near a seed each, none of them in two, shape `(pools, clusters)`."""
        count = len(self._nodes)
        size = min(int(self._random.integers(3, self._most)), count)
        # One can do without a record, or be parted.
        if size < (1 if self._problem.allowance or self._problem.demand is not None else 2):
            return np.zeros((0, 0), np.int64)
        pools = max(1, min(MAX_POOLS, count // size))
        above = self._cost[self._label] - self._least
        over = np.bincount(self._label[self._label >= 0], above[self._label >= 0], count)
        weight = np.maximum(over, 0) + 1e-9  # records may be worth more than they cost
        weight = weight / weight.sum() + UNIFORM_SHARE / count
        seeds = self._random.choice(count, pools, replace=False, p=weight / weight.sum())
        # What joining each cluster with each seed costs, with some noise, `(seeds, clusters)`.
        near = self._joins.costs(self._nodes[seeds], self._nodes)
        near -= self._random.random((len(seeds), 1), np.float32) * self._cost.astype(np.float32)
        near *= 1 + np.float32(0.2) * self._random.random(near.shape, np.float32)
        few = near[:, :: max(1, count // SAMPLED_CLUSTERS)]
        place = min(SAMPLED_NEAR, few.shape[1] - 1)
        chosen = []
        for seed, row, most in zip(
            seeds, near, np.partition(few, place, axis=1)[:, place], strict=True
        ):
            if not np.isfinite(row[seed]):
                continue
            row[seed] = -np.inf
            pool = np.flatnonzero(row <= most)
            if len(pool) < size:
                pool = np.arange(count)
            pool = pool[np.argpartition(row[pool], size - 1)[:size]]
            if not np.isfinite(row[pool]).sum() >= size - 1:
                continue
            near[:, pool] = np.inf
            chosen.append(np.sort(pool))
        return np.array(chosen)

    def _pools(self, chosen: Numbers, *, is_mixed: bool) -> tuple[Pools, Numbers]:
        """The records of pools, those of the dearest clusters first, and how many are left out.

        Those come last. At times the sensitive values of the others are mixed where that is asked
        for, so that the first records of a box have about the shares that the pool has.
        """
        outside = self._outside(chosen)
        places = int((self._sizes[chosen].sum(axis=1) + list(map(len, outside))).max())
        records = np.full((len(chosen), places), -1)
        noise = 0.4 * self._random.random()
        is_mixed = is_mixed and self._random.random() < MIXED_SHARE
        for row, clusters, others in zip(records, chosen, outside, strict=True):
            pool = np.concatenate(
                [self._order[self._starts[c] : self._starts[c] + self._sizes[c]] for c in clusters]
            )
            worth = self._cost[self._label[pool]] * (1 + noise * self._random.random(len(pool)))
            pool = pool[np.argsort(-worth, kind="stable")]
            row[: len(pool)] = mixed(self._problem, pool, random=self._random) if is_mixed else pool
            row[len(pool) : len(pool) + len(others)] = others
        first = records[:, :1]
        leaves = self._problem.leaves[np.where(records >= 0, records, first)]
        return Pools(records, leaves, self._nodes[chosen]), np.array(list(map(len, outside)))

    def _outside(self, chosen: Numbers) -> list[Numbers]:
        """Records that are left out and near the first cluster of each pool, none in two."""
        free = np.flatnonzero(self._label == NOWHERE) if self._problem.allowance else chosen[:0, 0]
        nearest = []
        for cluster in chosen[:, 0].tolist():
            if not len(free):
                nearest.append(free)
                continue
            # The numbers of leaves are those of nodes.
            near = self._joins.costs(self._nodes[[cluster]], self._problem.leaves[free])[0]
            first = np.argsort(near, kind="stable")[:MAX_OUTSIDE]
            nearest.append(free[first])
            free = np.delete(free, first)
        return nearest


def _least(loss: Numbers, random: np.random.Generator) -> Numbers:
    """A trial of the least loss of each pool, drawn among equals."""
    tie = np.where(loss == loss.min(axis=1, keepdims=True), random.random(loss.shape), -1.0)
    best: Numbers = tie.argmax(axis=1)
    return best


MAX_PARTNERS = 4
"""Groups whose union with a failing one is held against the demand, those that cost least first."""
MAX_SLICES = 64
"""Most parts of a pool in which every sensitive value is cut for itself."""


class Satisfying:
    """The best groups of each pool that satisfy the demand, of those that were offered.

    Args:
        problem: The table, with a demand.
        joins: Closures by tables.
        pools: The pools.
        now: What each loses as it is [units].
        price: What a record costs that is left out [units].
    """

    def __init__(
        self, problem: ClusteringProblem, joins: Joins, *, pools: Pools, now: Numbers, price: int
    ) -> None:
        self._problem, self._joins, self._pools, self._price = problem, joins, pools, price
        self.loss, self.is_better = now.copy(), np.zeros(len(now), np.bool_)
        self.parts = np.full(pools.records.shape, NOWHERE)

    def offer(self, pools: Numbers, parts: Numbers) -> None:
        """Takes groups of some pools where they lose no more, once failing ones are united.

        Args:
            pools: Numbers of pools.
            parts: The group of each place, shape `(pools, places)` over all pools; -1 for a record
                that is left out, and for a pad.
        """
        records, part = self._pools.records[pools], parts[pools]
        inside = (records >= 0) & (part >= 0)
        row, place = np.nonzero(inside)
        keys, groups = np.unique(
            row * (part.max(initial=0) + 1) + part[row, place], return_inverse=True
        )
        owner, kept = keys // (part.max(initial=0) + 1), records[row, place]
        order, starts = runs(groups)
        cost = self._problem.cost(
            closed(self._problem, self._problem.leaves[kept[order]], starts=starts)
        )
        sizes = np.bincount(groups)
        loss = ((records >= 0) & (part < 0)).sum(axis=1) * self._price
        np.add.at(loss, owner, sizes * cost)
        able = inside.any(axis=1) & (loss <= self.loss[pools])
        able[owner[self._problem.forbids(cost)]] = False
        demand = self._problem.demand
        assert demand is not None
        good = (sizes >= self._problem.k) & demand.hold_per_group(kept, groups, groups=len(keys))
        whole = able.copy()
        whole[owner[~good]] = False
        taken = pools[whole]
        self.loss[taken], self.is_better[taken] = loss[whole], True
        self.parts[taken] = np.where(inside[whole], part[whole], NOWHERE)
        for number in np.flatnonzero(able & ~whole).tolist():
            self._unite(int(pools[number]), part[number])

    def _unite(self, pool: int, parts: Numbers) -> None:
        """Takes groups of a pool of which some fail, where they lose no more once united."""
        places = np.flatnonzero(self._pools.records[pool] >= 0)
        inside = places[parts[places] >= 0]
        left = (len(places) - len(inside)) * self._price
        group = np.unique(parts[inside], return_inverse=True)[1]
        groups = _Groups(self._problem, self._joins, self._pools.records[pool, inside], group)
        if groups.unite(int(self.loss[pool]) - left):
            self.loss[pool], self.is_better[pool] = groups.loss + left, True
            self.parts[pool] = NOWHERE
            self.parts[pool, inside] = groups.label[group]


class _Groups:
    """Groups of the records of a pool, which are united until all satisfy the demand."""

    def __init__(
        self, problem: ClusteringProblem, joins: Joins, records: Numbers, group: Numbers
    ) -> None:
        self._problem, self._joins = problem, joins
        order, self._sizes = np.argsort(group, kind="stable"), np.bincount(group)
        starts = np.cumsum(self._sizes) - self._sizes
        self._groups = np.split(records[order], starts[1:])
        leaves = problem.leaves[records[order]]
        self._low = np.minimum.reduceat(leaves, starts, axis=0)
        self._high = np.maximum.reduceat(leaves, starts, axis=0)
        self._cost = self._costs(self._low, self._high)
        self.loss = int((self._sizes * self._cost).sum())
        self.label = np.arange(len(starts))

    def _costs(self, low: Numbers, high: Numbers) -> Numbers:
        """What a record costs at the closures of ranges of leaves [units]."""
        columns = range(low.shape[1])
        nodes = [self._joins.of(j, low[:, j], second=high[:, j]) for j in columns]
        return self._problem.cost(np.stack(nodes, axis=1))

    def unite(self, most: int) -> bool:
        """Unites groups that fail; whether all hold then and lose no more than so much [units]."""
        if self._problem.forbids(self._cost).any() or self.loss > most:
            return False
        failing = [one for one, group in enumerate(self._groups) if not self._problem.meets(group)]
        while failing:
            one = min(failing, key=lambda number: (int(self._sizes[number]), number))
            partner = self._partner(one, most)
            if partner is None:
                return False
            other, holds = partner
            failing = [number for number in failing if number not in (one, other)]
            if not holds:
                failing.append(other)
        return True

    def _partner(self, one: int, most: int) -> tuple[int, bool] | None:
        """Unites a group with another one: which, and whether they hold; None without any."""
        every = np.arange(len(self.label))
        others = np.flatnonzero((self.label == every) & (every != one))
        low = np.minimum(self._low[others], self._low[one])
        high = np.maximum(self._high[others], self._high[one])
        costs, sizes = self._costs(low, high), self._sizes[others] + self._sizes[one]
        before = self._sizes[others] * self._cost[others] + self._sizes[one] * self._cost[one]
        added = costs * sizes - before
        able = np.flatnonzero(~self._problem.forbids(costs) & (self.loss + added <= most))
        if not len(able):
            return None
        near = able[np.argsort(added[able], kind="stable")]
        unions = (np.append(self._groups[others[place]], self._groups[one]) for place in near)
        tried = zip(near[:MAX_PARTNERS].tolist(), unions, strict=False)
        first = next((place for place, union in tried if self._problem.meets(union)), None)
        place = int(near[0]) if first is None else first
        other = int(others[place])
        self._groups[other] = np.append(self._groups[other], self._groups[one])
        self._low[other], self._high[other] = low[place], high[place]
        self._sizes[other], self._cost[other] = sizes[place], costs[place]
        self.loss += int(added[place])
        self.label[self.label == one] = other
        return other, first is not None


def parted(problem: ClusteringProblem, pools: Pools, *, random: np.random.Generator) -> Numbers:
    """The part of each place of pools, by slices or by nodes, shape `(pools, places)`; -1 pads."""
    part = by_node if random.random() < 0.5 else slices
    parts = np.full(pools.records.shape, NOWHERE)
    for row, records in zip(parts, pools.records, strict=True):
        places = np.flatnonzero(records >= 0)
        row[places] = part(problem, records[places], random=random)
    return parts


def slices(problem: ClusteringProblem, records: Numbers, *, random: np.random.Generator) -> Numbers:
    """The part of each record: as many of every sensitive value, along the columns in any order."""
    most = min(max(len(records) // problem.k, 2), MAX_SLICES)
    number = int(random.integers(2, most + 1))
    columns = random.permutation(problem.leaves.shape[1])
    value = _values(problem, records)
    order = np.lexsort((*problem.leaves[records][:, columns].T, value))
    place, sizes = places(value[order])
    parts = np.empty(len(records), np.int64)
    parts[order] = ((place + random.random()) * number / sizes).astype(np.int64) % number
    return parts


def by_node(
    problem: ClusteringProblem, records: Numbers, *, random: np.random.Generator
) -> Numbers:
    """The node of each record in one of the columns, below the one that holds all."""
    leaves = problem.leaves[records]
    top = set_closures(problem, records)[0]
    levels = [int(tree.level[node]) for tree, node in zip(problem.taxonomies, top, strict=True)]
    able = np.flatnonzero(levels)
    if not len(able):
        return np.zeros(len(records), np.int64)
    column = int(random.choice(able))
    level = int(random.integers(levels[column]))
    ancestors: Numbers = problem.taxonomies[column].ancestors[level, leaves[:, column]]
    return ancestors


def mixed(problem: ClusteringProblem, records: Numbers, *, random: np.random.Generator) -> Numbers:
    """Records in an order that mixes their sensitive values, evenly or by how many have each."""
    value = _values(problem, records)
    order = np.argsort(value, kind="stable")
    place, sizes = places(value[order])
    key = place + 0.5
    if random.random() < 0.5:
        key /= sizes
    ordered: Numbers = records[order[np.lexsort((order, key))]]
    return ordered


def _values(problem: ClusteringProblem, records: Numbers) -> Numbers:
    """The first sensitive value of each record; all the same where none is known."""
    if problem.values is None or not problem.values.shape[1]:
        return np.zeros(len(records), np.int64)
    values: Numbers = problem.values[records, 0]
    return values
