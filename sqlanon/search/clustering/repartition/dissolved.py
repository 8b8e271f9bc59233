"""Dissolved pools: the records of a few similar clusters, and closures that may hold them anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.problem import ClusteringProblem, closed
from sqlanon.search.clustering.refine.closures import Joins

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
