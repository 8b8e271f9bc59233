"""Assignment of records that no cluster has yet: each goes where it costs least.

Clusters that may not stand alone, being too small or failing the demand, are merged likewise.
"""

from __future__ import annotations

import numpy as np

from sqlanon.errors import UnsatisfiableError
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import (
    Clustering,
    ClusteringProblem,
    closures,
    members,
    renumbered,
)


def assign_rest(problem: ClusteringProblem, label: Numbers) -> Clustering:
    """Puts every record without a cluster into one, and mends what then fails the demand.

    Raises:
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    label = renumbered(label)
    if label.max(initial=-1) < 0:
        return mend(problem, Clustering.of(problem, np.zeros(problem.records, np.int64)))
    nodes, sizes = closures(problem, label), np.bincount(label[label >= 0])
    costs = problem.cost(nodes)
    for record in np.flatnonzero(label < 0):
        problem.deadline.check()
        joined = join(problem, nodes, other=problem.leaves[record])
        dearer = problem.cost(joined)
        cluster = int((dearer * (sizes + 1) - costs * sizes).argmin())
        label[record] = cluster
        sizes[cluster] += 1
        nodes[cluster], costs[cluster] = joined[cluster], dearer[cluster]
    return mend(problem, Clustering.of(problem, label))


def join(problem: ClusteringProblem, nodes: Numbers, *, other: Numbers) -> Numbers:
    """The closure of each node tuple with another one, shape `(tuples, columns)`."""
    columns = enumerate(problem.taxonomies)
    return np.stack(
        [t.join(nodes[:, j], np.broadcast_to(other[j], len(nodes))) for j, t in columns], axis=1
    )


def mend(problem: ClusteringProblem, clusters: Clustering) -> Clustering:
    """Merges each cluster that is too small or fails the demand with the one it costs least with.

    Raises:
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    held = members(clusters)
    nodes = clusters.nodes.copy()
    alive = np.ones(len(held), np.bool_)
    waiting = [c for c, records in enumerate(held) if not problem.satisfies(records)]
    while waiting:
        problem.deadline.check()
        cluster = waiting.pop()
        if not alive[cluster] or problem.satisfies(held[cluster]):
            continue
        others = np.flatnonzero(alive & (np.arange(len(held)) != cluster))
        if not len(others):
            raise UnsatisfiableError(
                "all records in one cluster do not satisfy the models of the sensitive "
                "attributes; weaken them"
            )
        partner = _nearest(problem, held, nodes=nodes, cluster=cluster, others=others)
        held[partner] = np.concatenate([held[partner], held[cluster]])
        nodes[partner] = join(problem, nodes[[partner]], other=nodes[cluster])[0]
        alive[cluster] = False
        waiting.append(partner)
    label = clusters.label.copy()
    for survivor in np.flatnonzero(alive):
        label[held[survivor]] = survivor
    return Clustering.of(problem, label)


def _nearest(
    problem: ClusteringProblem,
    held: list[Numbers],
    *,
    nodes: Numbers,
    cluster: int,
    others: Numbers,
) -> int:
    """The cluster whose union with another one adds least to the loss."""
    sizes = np.array([len(held[other]) for other in others])
    joined = problem.cost(join(problem, nodes[others], other=nodes[cluster]))
    added = joined * (sizes + len(held[cluster])) - problem.cost(nodes[others]) * sizes
    return int(others[added.argmin()])
