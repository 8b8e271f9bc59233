"""Repartition: large neighbourhood search (Shaw 1998) by integer programs.

Each turn draws a cluster, the rather the more its records lose above what they are worth, dissolves
it with those near it and parts their records anew as an integer program says
(`repartition_programs`): up to k = 10 by columns, beyond that by assignment. What loses less stays,
so the loss never grows. Turns are drawn from a seed; without a deadline equal seeds give equal
clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.assign import join
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    closures,
    records_of,
    set_closures,
)
from sqlanon.search.clustering.refinement import cut_of_k, parts_of_k
from sqlanon.search.clustering.repartition_programs import (
    Dissolved,
    assignment_program,
    column_program,
    dissolve,
    local_prices,
    solved,
    spare,
)

POOL_RECORDS, POOL_CLUSTERS = (40, 80), (4, 9)
"""Records of a pool whose groups are columns, and clusters of one whose records are assigned, at
least and at most."""
MAX_POOL_RECORDS = 2_000
"""Most records of a pool."""
MIN_SPARE_RECORDS = 3
"""From how many records more than k groups must be drawn, for columns to be of use."""
MAX_OUTSIDE = 4
"""Most records that are left out and may come back, in a pool."""
RARER = 0.5
"""How much rarer a cluster starts a pool each time that it has been in one for nothing."""
MIN_WEIGHT = 1e-3
"""The least that a cluster counts among those that may start a pool [units]."""
MAX_IDLE = 20
"""Pools for each cluster after which a search ends that has gained nothing in them."""
POOLS_BETWEEN_REPORTS = 250
"""Pools after which progress is told."""


@dataclass(frozen=True, slots=True)
class Repartition:
    """What a search came to.

    Args:
        clusters: The clusters.
        pools: How many pools were parted by a program; others were too large, or none that loses
            less was near their prices.
        better: In how many of these that lost less.
    """

    clusters: Clustering
    pools: int
    better: int


def records_of_a_pool(k: int) -> float:
    """How many records a pool has, about."""
    least, most = _range(k)
    return (least + most) / 2


def _range(k: int) -> tuple[int, int]:
    """How many records a pool has at least and at most, about."""
    if spare(k) >= MIN_SPARE_RECORDS:
        return POOL_RECORDS
    least, most = (min(clusters * k, MAX_POOL_RECORDS) for clusters in POOL_CLUSTERS)
    return least, most


def repartitioned(
    problem: ClusteringProblem,
    clusters: Clustering,
    *,
    price: Reals | None,
    pools: float,
    seed: int = 0,
    least: int = 0,
    tell: Callable[[int, int], None] = lambda pools, loss: None,
) -> Repartition:
    """Clusters that lose no more, and mostly less.

    With a deadline that comes before the end the result depends on the machine.

    Args:
        problem: The table.
        clusters: Clusters that satisfy k and the demand.
        price: Per record what it is worth [units], as far as that is known.
        pools: How many pools are drawn; without end for infinity.
        seed: What the choices are drawn from.
        least: A loss at which the search ends, since none is less [units].
        tell: Called now and then with the number of pools and the loss [units].
    """
    if problem.deadline.expired or not len(clusters.nodes):
        return Repartition(clusters, 0, 0)
    search = _Search(problem, clusters, price=price, seed=seed)
    done = better = idle = 0
    while done < pools and idle < search.patience and search.loss > least:
        if problem.deadline.expired:
            break
        gained = search.turn()
        idle = 0 if gained else idle + 1
        better += gained
        done += 1
        if done % POOLS_BETWEEN_REPORTS == 0:
            tell(done, search.loss)
    clustering = Clustering.of(problem, search.label)
    kept = clustering if clustering.loss(problem) < clusters.loss(problem) else clusters
    return Repartition(kept, search.solved, better)


class _Search:
    """Clusters that turns improve."""

    def __init__(
        self,
        problem: ClusteringProblem,
        clusters: Clustering,
        *,
        price: Reals | None,
        seed: int,
    ) -> None:
        self._problem, self._random = problem, np.random.default_rng(seed)
        self.solved = 0
        self._joins = Joins(problem.taxonomies)
        self._by_columns = spare(problem.k) >= MIN_SPARE_RECORDS
        label = parts_of_k(problem, clusters)
        self._nodes = closures(problem, label)
        self._cost = problem.cost(self._nodes)
        self._records = records_of(label)
        self._outside = np.flatnonzero(label == NOWHERE)
        self._price = np.zeros(problem.records) if price is None else price
        self._weight = self._weights(self._records, self._cost)
        self.loss = Clustering(label, self._nodes).loss(problem)

    @property
    def patience(self) -> int:
        """How many pools may gain nothing, one after the other."""
        return MAX_IDLE * len(self._records)

    @property
    def label(self) -> Numbers:
        """The cluster of each record."""
        labels = np.full(self._problem.records, NOWHERE, np.int64)
        for number, records in enumerate(self._records):
            labels[records] = number
        return labels

    def _weights(self, clusters: list[Numbers], cost: Numbers) -> Reals:
        """How likely clusters are to start a pool: what they lose above what they are worth."""
        above = [
            len(records) * float(record_cost) - float(self._price[records].sum())
            for records, record_cost in zip(clusters, cost, strict=True)
        ]
        return np.maximum(above, MIN_WEIGHT)

    def turn(self) -> bool:
        """Dissolves clusters and parts their records anew where that loses less; whether it does.

        No more than `MAX_POOL_RECORDS` records are dissolved.
        """
        problem, chosen = self._problem, self._chosen()
        clusters = [self._records[number] for number in chosen]
        if sum(map(len, clusters)) <= MAX_POOL_RECORDS:
            outside, room = self._outside[:0], -1
            if problem.allowance:
                near = join(problem, problem.leaves[self._outside], other=self._nodes[chosen[0]])
                outside = self._outside[np.argsort(problem.cost(near), kind="stable")[:MAX_OUTSIDE]]
                room = max(problem.allowance - len(self._outside), 0) + len(outside)
            pool = dissolve(
                *(problem, self._joins),
                clusters=clusters,
                outside=outside,
                room=room,
                random=self._random,
            )
            new_clusters = self._parted(pool)
            if new_clusters and self._replaced(pool, chosen, clusters=new_clusters):
                return True
        self._weight[chosen] = np.maximum(self._weight[chosen] * RARER, MIN_WEIGHT)
        return False

    def _chosen(self) -> Numbers:
        """A cluster and those near it, for a pool."""
        weight = self._weight
        seed = int(self._random.choice(len(weight), p=weight / weight.sum()))
        near = self._joins.costs(self._nodes[[seed]], self._nodes)[0].astype(np.float64)
        near -= self._random.random() * self._cost
        near *= 1 + 0.2 * self._random.random(len(near))
        near[seed] = -np.inf
        least, most = _range(self._problem.k)
        wanted = int(self._random.integers(least, most + 1))
        first = min(wanted // self._problem.k + 1, len(near))
        order = np.argpartition(near, first - 1)[:first] if first < len(near) else near.argsort()
        order = order[np.argsort(near[order], kind="stable")]
        sizes = np.cumsum([len(self._records[number]) for number in order])
        return order[: max(int(np.searchsorted(sizes, wanted)), 2)]

    def _parted(self, pool: Dissolved) -> list[Numbers] | None:
        """The records of new clusters; None where there are no better ones."""
        problem = self._problem
        pool, price = local_prices(pool, k=problem.k)
        if self._by_columns:
            made = column_program(problem, pool, price)
        else:
            made = assignment_program(pool, price, k=problem.k)
        if made is None:
            return None
        program, parts_of = made
        part = parts_of(solved(program, problem.deadline.left()))
        self.solved += 1
        groups = [pool.records[part == number] for number in np.unique(part[part >= 0])]
        return [cut for group in groups for cut in cut_of_k(problem, group)]

    def _replaced(self, pool: Dissolved, chosen: Numbers, *, clusters: list[Numbers]) -> bool:
        """Puts clusters in place of those of a pool where they lose less; whether they do."""
        problem = self._problem
        sizes = np.array([len(records) for records in clusters], np.int64)
        out = np.setdiff1d(pool.records, np.concatenate([pool.records[:0], *clusters]))
        if len(out) > max(pool.room, 0) or not all(problem.meets(records) for records in clusters):
            return False
        nodes = set_closures(problem, *clusters)
        cost = problem.cost(nodes)
        after = int(sizes @ cost) + len(out) * pool.price
        if after >= pool.loss or problem.forbids(cost).any():
            return False
        kept = np.ones(len(self._records), np.bool_)
        kept[chosen] = False
        self._records = [group for group, stays in zip(self._records, kept, strict=True) if stays]
        self._records += clusters
        self._nodes = np.concatenate([self._nodes[kept], nodes])
        self._cost = np.concatenate([self._cost[kept], cost])
        weight = self._weights(clusters, cost)
        self._weight = np.concatenate([self._weight[kept], weight])
        self._outside = np.union1d(np.setdiff1d(self._outside, pool.records), out)
        self.loss -= pool.loss - after
        return True
