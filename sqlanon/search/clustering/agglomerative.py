"""Agglomerative clustering: the two closest clusters become one, until all have k records.

A cluster that has k records is set aside: as it is, or in the modified variant without those that
cost it most, which start anew by themselves. What is left when one cluster remains goes where it is
closest.

Sources: Gionis, Mazza and Tassa 2008, "k-Anonymization revisited", section V; Kenig 2009, chapter
5, algorithms 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.assign import join, mend
from sqlanon.search.clustering.distances import DISTANCES, Distance, Extent
from sqlanon.search.clustering.linked import Linked
from sqlanon.search.clustering.neighbours import Copies, Neighbours
from sqlanon.search.clustering.problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    closures,
)

Ripe = Callable[[list[int]], list[int]]
"""The k records and more of a ripe cluster that stay together."""


def agglomerative(
    problem: ClusteringProblem, neighbours: Neighbours, *, distance: str = "growth"
) -> Clustering:
    """Clusters of k to 2k - 2 records, and those with what was left over, that satisfy the demand.

    Raises:
        TimeLimitError: The problem's deadline came before there were any.
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    parts = ripe_parts(
        problem, neighbours, distance=DISTANCES[distance], ripe=lambda records: records
    )
    return mend(problem, Clustering.of(problem, parts))


def modified_agglomerative(
    problem: ClusteringProblem, neighbours: Neighbours, *, distance: str = "growth"
) -> Clustering:
    """Clusters of k records, and those with what was left over, that satisfy the demand.

    Raises:
        TimeLimitError: The problem's deadline came before there were any.
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    parts = ripe_parts(
        problem,
        neighbours,
        distance=DISTANCES[distance],
        ripe=lambda records: shrunk(problem, records),
    )
    return mend(problem, Clustering.of(problem, parts))


def ripe_parts(
    problem: ClusteringProblem, neighbours: Neighbours, *, distance: Distance, ripe: Ripe
) -> Numbers:
    """The cluster of each record.

    Records alike lose nothing together, so before anything else they are clusters of k copies, and
    one of the copies that are left; those that a cluster gives back stay together, too.

    Source: Kenig 2009, algorithms 6 and 7.
    """
    copies = neighbours.copies
    done, rest = _of_copies(copies, problem.k)
    linked = Linked(problem, max(len(rest), 1), distance)
    linked.start(rest, neighbours)
    first_count = linked.count
    while linked.count > 1:
        problem.deadline.check()
        advance(1 - linked.count / first_count)
        first, second = linked.closest()
        if linked.size(first) + linked.size(second) < problem.k:
            linked.unite(first, second)
            continue
        first, second = sorted((first, second))
        records = linked.take(first) + linked.take(second)
        done.append(ripe(records))
        for back in _alike(set(records).difference(done[-1]), copies):
            linked.add(back)
    label = np.full(problem.records, NOWHERE, np.int64)
    for number, records in enumerate(done):
        label[records] = number
    _place_rest(problem, label, rest=sorted(linked.rest()), distance=distance)
    return label


def shrunk(problem: ClusteringProblem, records: list[int]) -> list[int]:
    """The k records that stay of a ripe cluster.

    The record goes without which the others cost least, the first among equals, then the next. By
    every distance it is the one of the largest distance between the cluster and what is left of it,
    since these differ in the cost of what is left alone. (As printed, the source takes one out each
    time that it has worked out one distance; all of them must be known to take the largest.)

    Source: Kenig 2009, algorithm 7.
    """
    held = np.sort(records)
    while len(held) > problem.k:
        problem.deadline.check()
        held = np.delete(held, _costs_without(problem, problem.leaves[held]).argmin())
    left: list[int] = held.tolist()
    return left


def _costs_without(problem: ClusteringProblem, leaves: Numbers) -> Numbers:
    """What a record costs at the closure of all records but each one, of three or more [units]."""
    ordered = np.sort(leaves, axis=0)
    low = np.where(leaves == ordered[0], ordered[1], ordered[0])
    high = np.where(leaves == ordered[-1], ordered[-2], ordered[-1])
    columns = enumerate(problem.taxonomies)
    return problem.cost(np.stack([t.closure(low[:, j], high[:, j]) for j, t in columns], axis=1))


def _of_copies(copies: Copies, k: int) -> tuple[list[list[int]], list[list[int]]]:
    """Clusters of k records alike, and those of the fewer than k that are left of each kind."""
    done, rest = list[list[int]](), list[list[int]]()
    order = np.argsort(copies.combination, kind="stable")
    for held in np.split(order, np.cumsum(copies.sizes)[:-1]):
        ripe = len(held) // k * k
        done += held[:ripe].reshape(-1, k).tolist()
        if ripe < len(held):
            rest.append(held[ripe:].tolist())
    return done, rest


def _alike(records: set[int], copies: Copies) -> list[list[int]]:
    """The records in groups of copies, by first records."""
    found: dict[int, list[int]] = {}
    for record in sorted(records):
        found.setdefault(int(copies.combination[record]), []).append(record)
    return list(found.values())


def _place_rest(
    problem: ClusteringProblem, label: Numbers, *, rest: list[int], distance: Distance
) -> None:
    """Puts each record that is left into the cluster that it is closest to."""
    nodes, sizes = closures(problem, label), np.bincount(label[label != NOWHERE])
    costs = problem.cost(nodes)
    for record in rest:
        leaves = problem.leaves[record]
        joined = join(problem, nodes, other=leaves)
        union = Extent(sizes + 1, problem.cost(joined))
        own = Extent(np.ones(1, np.int64), problem.cost(leaves[None]))
        cluster = int(distance(union, own, Extent(sizes, costs)).argmin())
        label[record] = cluster
        sizes[cluster] += 1
        nodes[cluster], costs[cluster] = joined[cluster], union.cost[cluster]
