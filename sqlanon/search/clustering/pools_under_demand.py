"""Pools under a demand: groups of theirs that fail it are united, and more ways to part them.

Trials (`pilot_method`) look at sizes alone, so under models of sensitive values some of the groups
that they find fail; to hold every trial against the demand would cost more than all else. Each
failing group is united with another one of its pool: of the `MAX_PARTNERS` that add least to the
loss with the first whose records make up for what it lacks, else with the cheapest.

Where a demand needs clusters of many times k records, parts of k are far from holding. There pools
are also parted along their columns with every sensitive value cut for itself, so that all parts
have about the pool's shares (as SABRE does: Cao, Karras, Kalnis and Tan 2011, "SABRE: a Sensitive
Attribute Bucketization and REdistribution framework for t-closeness"), or by the nodes of a
column.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.pilot_method import Pools, places
from sqlanon.search.clustering.problem import NOWHERE, ClusteringProblem, set_closures

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
        self.loss, self.found = now.copy(), np.zeros(len(now), np.bool_)
        self.parts = np.full(pools.records.shape, NOWHERE)

    def offer(self, pools: Numbers, parts: Numbers) -> None:
        """Takes groups of some pools where they lose no more, once failing ones are united.

        Args:
            pools: Numbers of pools.
            parts: The group of each place, shape `(pools, places)` over all pools; -1 for a record
                that is left out, and for a pad.
        """
        for pool in pools.tolist():
            places = np.flatnonzero(self._pools.records[pool] >= 0)
            inside = places[parts[pool, places] >= 0]
            if not len(inside):
                continue
            left = (len(places) - len(inside)) * self._price
            group = np.unique(parts[pool, inside], return_inverse=True)[1]
            groups = _Groups(self._problem, self._joins, self._pools.records[pool, inside], group)
            if groups.unite(int(self.loss[pool]) - left):
                self.loss[pool], self.found[pool] = groups.loss + left, True
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
        self._held = np.split(records[order], starts[1:])
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
        failing = [one for one, own in enumerate(self._held) if not self._problem.meets(own)]
        while failing:
            one = min(failing, key=lambda each: (int(self._sizes[each]), each))
            found = self._partner(one, most)
            if found is None:
                return False
            other, holds = found
            failing = [each for each in failing if each not in (one, other)]
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
        unions = (np.append(self._held[others[place]], self._held[one]) for place in near)
        tried = zip(near[:MAX_PARTNERS].tolist(), unions, strict=False)
        first = next((place for place, union in tried if self._problem.meets(union)), None)
        place = int(near[0]) if first is None else first
        other = int(others[place])
        self._held[other] = np.append(self._held[other], self._held[one])
        self._low[other], self._high[other] = low[place], high[place]
        self._sizes[other], self._cost[other] = sizes[place], costs[place]
        self.loss += int(added[place])
        self.label[self.label == one] = other
        return other, first is not None


def parted(problem: ClusteringProblem, pools: Pools, *, random: np.random.Generator) -> Numbers:
    """The part of each place of pools, by slices or by nodes, shape `(pools, places)`; -1 pads."""
    part = by_node if random.random() < 0.5 else slices
    found = np.full(pools.records.shape, NOWHERE)
    for row, records in zip(found, pools.records, strict=True):
        places = np.flatnonzero(records >= 0)
        row[places] = part(problem, records[places], random=random)
    return found


def slices(problem: ClusteringProblem, records: Numbers, *, random: np.random.Generator) -> Numbers:
    """The part of each record: as many of every sensitive value, along the columns in any order."""
    most = min(max(len(records) // problem.k, 2), MAX_SLICES)
    number = int(random.integers(2, most + 1))
    columns = random.permutation(problem.leaves.shape[1])
    value = _values(problem, records)
    order = np.lexsort((*problem.leaves[records][:, columns].T, value))
    place, sizes = places(value[order])
    found = np.empty(len(records), np.int64)
    found[order] = ((place + random.random()) * number / sizes).astype(np.int64) % number
    return found


def by_node(
    problem: ClusteringProblem, records: Numbers, *, random: np.random.Generator
) -> Numbers:
    """The node of each record in one of the columns, below the one that holds all."""
    leaves = problem.leaves[records]
    top = set_closures(problem, records)[0]
    levels = [int(own.level[node]) for own, node in zip(problem.taxonomies, top, strict=True)]
    able = np.flatnonzero(levels)
    if not len(able):
        return np.zeros(len(records), np.int64)
    column = int(random.choice(able))
    level = int(random.integers(levels[column]))
    found: Numbers = problem.taxonomies[column].ancestors[level, leaves[:, column]]
    return found


def mixed(problem: ClusteringProblem, records: Numbers, *, random: np.random.Generator) -> Numbers:
    """Records in an order that mixes their sensitive values, evenly or by how many have each."""
    value = _values(problem, records)
    order = np.argsort(value, kind="stable")
    place, sizes = places(value[order])
    key = place + 0.5
    if random.random() < 0.5:
        key /= sizes
    found: Numbers = records[order[np.lexsort((order, key))]]
    return found


def _values(problem: ClusteringProblem, records: Numbers) -> Numbers:
    """The first sensitive value of each record; all the same where none is known."""
    if problem.values is None or not problem.values.shape[1]:
        return np.zeros(len(records), np.int64)
    found: Numbers = problem.values[records, 0]
    return found
