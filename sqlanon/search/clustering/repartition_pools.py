"""Dissolved pools: the records of a few similar clusters, and closures that may hold them anew.

Local prices say what the records of a pool are worth together, and which closures that leaves. No k
records of a closure are worth more than they cost there, so the prices of a pool add up to a lower
bound of what it can lose; a closure whose k dearest records are worth less than they cost there by
more than the pool loses above that bound is in no better partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.problem import ClusteringProblem, closed

PAIRS = 4096
"""Most pairs of records whose closures are looked at in a pool."""


@dataclass(frozen=True, slots=True)
class Spared:
    """Records that are left out now and may come back into a pool.

    Args:
        records: Their numbers.
        room: How many of these and of the clusters' records may be left out; -1 for none at all.
    """

    records: Numbers
    room: int


@dataclass(frozen=True, slots=True)
class Dissolved:
    """The records of a pool, and closures that hold k of them or are those of its clusters.

    Args:
        records: Numbers of its records, shape `(records,)`.
        cluster: Per record the cluster of the pool that it was in; -1 where it was left out.
        own: Per cluster the number of its closure.
        held: `held[closure, record]`: whether a closure holds a record.
        cost: What a record costs at each closure [units].
        unit: Per record its unit: those of one are in the same closures, and may stand for each
            other where that is all that counts; else each record is a unit.
        alike: Whether that is all that counts, as there is no demand.
        room: How many records may be left out; -1 where none may, and no such is looked at.
        price: What a record costs that is left out [units].
    """

    records: Numbers
    cluster: Numbers
    own: Numbers
    held: Flags
    cost: Numbers
    unit: Numbers
    alike: bool
    room: int
    price: int

    @property
    def loss(self) -> int:
        """What its records lose as it was [units]."""
        inside = self.cluster >= 0
        kept = self.cost[self.own[self.cluster[inside]]]
        return int(kept.sum()) + int((~inside).sum()) * self.price

    @property
    def sizes(self) -> Numbers:
        """The records of each unit."""
        return np.bincount(self.unit)

    @property
    def first(self) -> Numbers:
        """A record of each unit."""
        found: Numbers = np.unique(self.unit, return_index=True)[1]
        return found

    def only(self, closures: Numbers) -> Dissolved:
        """The same with some of the closures, and those of its clusters."""
        kept = np.union1d(closures, self.own)
        own, held, unit = np.searchsorted(kept, self.own), self.held[kept], self.unit
        if self.alike:
            signs = np.packbits(held.T, axis=1)
            unit = np.unique(signs, axis=0, return_inverse=True)[1].ravel()
        return replace(self, own=own, held=held, cost=self.cost[kept], unit=unit)

    def level(self, values: Reals) -> Reals:
        """Values of records, replaced by the mean of their units."""
        means: Reals = np.bincount(self.unit, values) / self.sizes
        return means[self.unit]


def dissolve(
    problem: ClusteringProblem,
    joins: Joins,
    *,
    clusters: Sequence[Numbers],
    spared: Spared,
    random: np.random.Generator,
) -> Dissolved:
    """Dissolves clusters.

    Args:
        problem: The table.
        joins: Closures by tables.
        clusters: The records of each cluster.
        spared: Who is left out and may come back.
        random: Picks pairs of records where there are too many.
    """
    sizes, outside = [len(each) for each in clusters], spared.records
    cluster = np.repeat(np.arange(-1, len(clusters)), [len(outside), *sizes])
    records = np.concatenate([outside, *clusters])
    leaves = problem.leaves[records]
    # Records that are left out come first, before every start.
    own = closed(problem, leaves, starts=np.searchsorted(cluster, np.arange(len(clusters))))
    pairs = _pair_closures(joins, leaves, random=random)
    first, second = np.triu_indices(len(own), 1)
    unions = [t.join(own[first, j], own[second, j]) for j, t in enumerate(problem.taxonomies)]
    nodes = np.concatenate([own, pairs, np.stack(unions, axis=1)])
    keys, chosen = np.unique(joins.keys_of(nodes), return_index=True)
    nodes = nodes[chosen]
    cost, held = problem.cost(nodes), _held(problem, leaves, nodes)
    own_at = np.searchsorted(keys, joins.keys_of(own))
    kept = (held.sum(axis=1) >= problem.k) & ~problem.forbids(cost)
    kept[own_at] = True
    places = np.cumsum(kept) - 1
    return Dissolved(
        *(records, cluster, places[own_at], held[kept], cost[kept], np.arange(len(records))),
        alike=problem.demand is None,
        room=spared.room,
        price=problem.suppressed,
    )


def _pair_closures(joins: Joins, leaves: Numbers, *, random: np.random.Generator) -> Numbers:
    """The different closures of pairs of records, shape `(closures, columns)`."""
    first, second = np.triu_indices(len(leaves))
    if len(first) > PAIRS:
        chosen = random.choice(len(first), PAIRS, replace=False)
        first, second = first[chosen], second[chosen]
    columns = range(leaves.shape[1])
    keys = np.zeros(len(first), np.uint64)
    for column in columns:
        own = leaves[:, column]
        keys += joins.keys(column, own[first], second=own[second])
    _, chosen = np.unique(keys, return_index=True)
    first, second = first[chosen], second[chosen]
    nodes = [joins.of(j, leaves[first, j], second=leaves[second, j]) for j in columns]
    return np.stack(nodes, axis=1)


def _held(problem: ClusteringProblem, leaves: Numbers, nodes: Numbers) -> Flags:
    """Which records closures hold."""
    found = np.ones((len(nodes), len(leaves)), np.bool_)
    for column, taxonomy in enumerate(problem.taxonomies):
        used, row = np.unique(nodes[:, column], return_inverse=True)
        own = leaves[:, column]
        inside = (own >= taxonomy.low[used, None]) & (own <= taxonomy.high[used, None])
        found &= inside[row.ravel()]
    return found


ROUGH, FINE = 3, 40
"""Steps over all closures, and over the nearest of them."""
NEAREST = 250
"""Closures that are looked at in fine steps, beside those of the clusters."""
FIRST, LAST = 0.12, 0.01
"""The length of the first step and the last one [mean prices]."""


@dataclass(frozen=True, slots=True)
class _Tops:
    """The k dearest records of every closure, in the order of prices.

    Args:
        order: Records by price, the dearest first.
        price: Their prices.
        held: `held[closure, place]`.
        top: Which of these are among the k dearest of a closure.
        total: What the k dearest are worth.
        last: The place of the cheapest of these.
    """

    order: Numbers
    price: Reals
    held: Flags
    top: Flags
    total: Reals
    last: Numbers

    @classmethod
    def of(cls, held: Flags, price: Reals, *, k: int) -> _Tops:
        order = np.argsort(-price, kind="stable")
        ordered, price = held[:, order], price[order]
        top = ordered & (np.cumsum(ordered, axis=1, dtype=np.int32) <= k)
        last = top.shape[1] - 1 - np.argmax(top[:, ::-1], axis=1)
        return cls(order, price, ordered, top, top @ price, last)


def local_prices(pool: Dissolved, *, k: int) -> tuple[Dissolved, Reals]:
    """The pool with the closures near its prices, and the price of every record.

    Prices begin with what the records cost in the clusters as they are.
    """
    cost = np.append(pool.cost[pool.own], pool.price)[pool.cluster]
    price = _raised(pool, cost.astype(np.float64), k=k, steps=ROUGH)
    slack = slacks(pool, price, k=k)
    pool = pool.only(np.argsort(slack, kind="stable")[:NEAREST])
    # Records that may stand for each other are worth the mean of what they are worth.
    price = pool.level(_raised(pool, pool.level(price), k=k, steps=FINE))
    return pool, np.minimum(price, pool.price) if pool.room >= 0 else price


def slacks(pool: Dissolved, price: Reals, *, k: int) -> Reals:
    """What k records at each closure cost at least above their prices [units]."""
    found: Reals = k * pool.cost - _Tops.of(pool.held, price, k=k).total
    return found


def _raised(pool: Dissolved, price: Reals, *, k: int, steps: int) -> Reals:
    """The best prices of some subgradient steps, less what is worth more than it costs."""
    best, found = -np.inf, price
    way = np.zeros(len(price))
    for length in FIRST * (LAST / FIRST) ** (np.arange(steps) / steps):
        excess, votes = _excess(pool, price, k=k)
        price = price - excess
        if price.sum() > best:
            best, found = price.sum(), price
        way = 0.7 * way + 0.3 * np.maximum(1 - votes, -2)
        price = price + length * max(price.mean(), 1e-9) * way
    return found


def _excess(pool: Dissolved, price: Reals, *, k: int) -> tuple[Reals, Reals]:
    """By how much any k records with each are worth more than they cost, and the votes for each.

    Every record votes for the k records, itself included, for which that is the most.
    """
    tops = _Tops.of(pool.held, price, k=k)
    records = np.arange(len(price))
    mean = tops.total / k - pool.cost
    other = (tops.total - tops.price[tops.last]) / k - pool.cost
    each = np.where(tops.top, mean[:, None], other[:, None] + tops.price / k)
    # A record that no closure holds stays left out, at what that costs.
    nowhere = tops.price - pool.price
    each = np.where(tops.held, each, np.where(tops.held.any(axis=0), -np.inf, nowhere))
    best = each.argmax(axis=0)
    votes = tops.top[best].sum(axis=0).astype(np.float64)
    joins = np.flatnonzero(~tops.top[best, records])
    np.subtract.at(votes, tops.last[best[joins]], 1)
    votes[joins] += 1
    excess, voted = np.empty(len(price)), np.empty(len(price))
    excess[tops.order] = each[best, records]
    voted[tops.order] = votes / k
    return excess, voted
