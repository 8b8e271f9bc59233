"""Partition: clusters by cuts from the top, along the hierarchies, for as long as there is time.

All records are one cluster at first. A cluster is cut at one column, between the nodes right below
its closure, where that saves most; what has too few records in a node of its own stays above. It
can be stopped at any time, and is then coarser.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", with the
nodes of a hierarchy in place of medians.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem, closed, runs


def partition(problem: ClusteringProblem) -> Clustering:
    """Clusters that satisfy k and the demand, where the records of each division together do."""
    done: list[Numbers] = []
    order, starts = runs(problem.division)
    whole = np.split(order, starts[1:])
    waiting = [(-len(records), made, records) for made, records in enumerate(whole)]
    heapq.heapify(waiting)
    made = len(waiting)
    while waiting and not problem.deadline.expired:
        _, _, records = heapq.heappop(waiting)
        parts = _cut(problem, records)
        if not parts:
            done.append(records)
        for part in parts:
            heapq.heappush(waiting, (-len(part), made, part))
            made += 1
    label = np.empty(problem.records, np.int64)
    for number, records in enumerate([*done, *(records for _, _, records in waiting)]):
        label[records] = number
    return Clustering.of(problem, label)


def _cut(problem: ClusteringProblem, records: Numbers) -> list[Numbers]:
    """The parts of a cluster by the cut that saves most; none where no cut saves anything."""
    if len(records) < 2 * problem.k:
        return []
    best, parts = 0, list[Numbers]()
    for most, below, saved in sorted(_cuts(problem, records), key=lambda each: -each[0]):
        if most <= best or problem.deadline.expired:
            break
        apart, kept = parted(problem, records, below=below)
        value = int(saved[kept].sum())
        if value > best:
            best, parts = value, apart
    return parts


def _cuts(problem: ClusteringProblem, records: Numbers) -> Iterator[tuple[int, Numbers, Numbers]]:
    """Per column that can be cut the most that this saves, the node of each record, and its saving.

    Savings are per node, in the column itself, without those of less than k records [units].
    """
    leaves = problem.leaves[records]
    nodes = closed(problem, leaves, starts=np.zeros(1, np.int64))[0]
    for column, taxonomy in enumerate(problem.taxonomies):
        level = int(taxonomy.level[nodes[column]])
        if not level or problem.deadline.expired:
            continue
        below = taxonomy.ancestors[level - 1, leaves[:, column]]
        sizes = np.bincount(below, minlength=len(taxonomy.cost))
        sizes[sizes < problem.k] = 0
        saved = (taxonomy.cost[nodes[column]] - taxonomy.cost) * sizes
        yield int(saved.sum()), below, saved


def parted(
    problem: ClusteringProblem, records: Numbers, *, below: Numbers
) -> tuple[list[Numbers], list[int]]:
    """Two or more parts by nodes, and the nodes that have one of their own; else none.

    Records of all other nodes are one more part, with those of the smallest one if need be.

    Args:
        problem: The table.
        records: The records of the cluster.
        below: The node of each.
    """
    order = np.argsort(below, kind="stable")
    held, starts = np.unique(below[order], return_index=True)
    groups = dict(zip(held.tolist(), np.split(records[order], starts[1:]), strict=True))
    large = [node for node, own in groups.items() if problem.satisfies(own)]
    large.sort(key=lambda node: -len(groups[node]))
    rest = records[~np.isin(below, large)]
    while len(rest) and not problem.satisfies(rest):
        if not large:
            return [], []
        rest = np.sort(np.concatenate([rest, groups[large.pop()]]))
    parts = [groups[node] for node in large] + ([rest] if len(rest) else [])
    return (parts, large) if len(parts) > 1 else ([], [])
