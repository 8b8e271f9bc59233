"""Records left out: those that no cluster may hold, and the return of others that may as well stay.

Which records are left out besides, `refine` decides: one that is left out costs no less than any
other, so that gains only by what the records beside it then keep.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Flags
from sqlanon.search.clustering.assign import join
from sqlanon.search.clustering.problem import NOWHERE, Clustering, ClusteringProblem, runs


def unplaceable(problem: ClusteringProblem) -> Flags:
    """Which records no cluster may hold: those of divisions that fail as one.

    A cluster lies within a division. So where all records of one are fewer than k, or fail a demand
    that more records never break, every cluster there fails, too.
    """
    order, starts = runs(problem.division)
    without = np.zeros(problem.records, np.bool_)
    demand = None if problem.demand is None else problem.demand.monotone
    for records in np.split(order, starts[1:]):
        if len(records) < problem.k or not (demand is None or demand.holds(records)):
            without[records] = True
    return without


def returned(problem: ClusteringProblem, clusters: Clustering) -> Clustering:
    """Puts back each record that costs less in a cluster than it does left out, with all it adds.

    Where the deadline comes first, the others stay left out.
    """
    label, nodes, sizes = clusters.label.copy(), clusters.nodes.copy(), clusters.sizes
    if not len(nodes):
        return clusters
    costs = problem.cost(nodes)
    for record in np.flatnonzero(label == NOWHERE):
        if problem.deadline.expired:
            break
        joined = join(problem, nodes, other=problem.leaves[record])
        dearer = problem.cost(joined)
        added = dearer * (sizes + 1) - costs * sizes
        near = np.flatnonzero((added < problem.suppressed) & ~problem.forbids(dearer))
        for cluster in near[np.argsort(added[near], kind="stable")].tolist():
            if problem.deadline.expired:
                break
            label[record] = cluster
            if problem.demand is None or problem.demand.holds(np.flatnonzero(label == cluster)):
                sizes[cluster] += 1
                nodes[cluster], costs[cluster] = joined[cluster], dearer[cluster]
                break
            label[record] = NOWHERE
    return Clustering.of(problem, label)
