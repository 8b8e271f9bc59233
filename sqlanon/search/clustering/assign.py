"""Assignment of records that no cluster has yet: each goes where it costs least.

Clusters that may not stand alone, being too small or failing the demand, are merged likewise.
Nothing is put together that the highest levels forbid.
"""

from __future__ import annotations

import numpy as np

from sqlanon.errors import UnsatisfiableError
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.lessened import lessened
from sqlanon.search.clustering.problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    closures,
    members,
    renumbered,
)

NEVER_NEAR = 2**63 - 1
"""What a record adds to a cluster that it may not join [units]."""

BLOCK = 256
"""Records whose costs in all clusters are worked out at once."""


def assign_rest(problem: ClusteringProblem, label: Numbers) -> Clustering:
    """Puts every record without a cluster into one, and mends what then fails the demand.

    Raises:
        UnsatisfiableError: As `mend`.
    """
    label = _founded(problem, renumbered(label))
    nodes, sizes = closures(problem, label), np.bincount(label[label >= 0])
    costs = problem.cost(nodes)
    left = np.flatnonzero(label < 0)
    for start in range(0, len(left), BLOCK):
        records = left[start : start + BLOCK]
        leaves = problem.leaves[records]
        dearer = _joined_costs(problem, nodes, leaves=leaves)
        for place, record in enumerate(records):
            problem.deadline.check()
            added = dearer[place] * (sizes + 1) - costs * sizes
            cluster = int(np.where(problem.forbids(dearer[place]), NEVER_NEAR, added).argmin())
            label[record] = cluster
            sizes[cluster] += 1
            joined = join(problem, nodes[[cluster]], other=leaves[place])
            if (joined[0] != nodes[cluster]).any():
                nodes[cluster], costs[cluster] = joined[0], dearer[place, cluster]
                later = leaves[place + 1 :]
                dearer[place + 1 :, cluster] = _joined_costs(problem, joined, leaves=later)[:, 0]
    return mend(problem, Clustering.of(problem, label))


def _founded(problem: ClusteringProblem, label: Numbers) -> Numbers:
    """The clusters, and one more of all records of each division that none has a record of."""
    division = problem.division
    without = np.ones(int(division.max()) + 1, np.bool_)
    without[division[label >= 0]] = False
    own = without[division]
    first = int(label.max(initial=NOWHERE)) + 1
    return np.where(own, first + (np.cumsum(without) - 1)[division], label)


def _joined_costs(problem: ClusteringProblem, nodes: Numbers, *, leaves: Numbers) -> Numbers:
    """What a record costs at the closures of leaves and node tuples [units], `(records, nodes)`."""
    total = np.zeros((len(leaves), len(nodes)), np.int64)
    for column, taxonomy in enumerate(problem.taxonomies):
        own, leaf = np.unique(leaves[:, column], return_inverse=True)
        kinds, kind = np.unique(nodes[:, column], return_inverse=True)
        shape = (len(own), len(kinds))
        first, second = np.broadcast_to(own[:, None], shape), np.broadcast_to(kinds, shape)
        table = taxonomy.cost[taxonomy.join(first, second)]
        total += table[leaf.ravel()].take(kind.ravel(), axis=1)
        if problem.highest:  # so that no sum of such costs is too large
            np.minimum(total, problem.suppressed + 1, out=total)
    return total


def join(problem: ClusteringProblem, nodes: Numbers, *, other: Numbers) -> Numbers:
    """The closure of each node tuple with another one, shape `(tuples, columns)`."""
    columns = enumerate(problem.taxonomies)
    return np.stack(
        [t.join(nodes[:, j], np.broadcast_to(other[j], len(nodes))) for j, t in columns], axis=1
    )


def mend(problem: ClusteringProblem, clusters: Clustering) -> Clustering:
    """Merges each cluster that is too small or fails the demand with the one it costs least with.

    Where there is none to merge it with, records are left out of it until it satisfies the demand,
    or all of them where that does not help, as far as the allowance goes that those without a
    cluster have left.

    Raises:
        UnsatisfiableError: All records of a division together fail, and nothing was found that may
            be left out.
    """
    held = members(clusters)
    nodes = clusters.nodes.copy()
    alive = np.ones(len(held), np.bool_)
    left = int((clusters.label == NOWHERE).sum())
    label = clusters.label.copy()
    waiting = [c for c, records in enumerate(held) if not problem.satisfies(records)]
    while waiting:
        problem.deadline.check()
        cluster = waiting.pop()
        if not alive[cluster] or problem.satisfies(held[cluster]):
            continue
        alive[cluster] = False
        partner = _nearest(problem, held, nodes=nodes, cluster=cluster, others=alive)
        if partner is None:
            stays = lessened(problem, held[cluster], room=problem.allowance - left)
            if stays is not None:
                left += len(held[cluster]) - len(stays)
                label[held[cluster]] = NOWHERE
                held[cluster], alive[cluster] = stays, True
                continue
            left += len(held[cluster])
            if left > problem.allowance:
                raise _unmendable(problem)
            label[held[cluster]] = NOWHERE
            continue
        held[partner] = np.concatenate([held[partner], held[cluster]])
        nodes[partner] = join(problem, nodes[[partner]], other=nodes[cluster])[0]
        waiting.append(partner)
    for survivor in np.flatnonzero(alive):
        label[held[survivor]] = survivor
    return Clustering.of(problem, label)


def _unmendable(problem: ClusteringProblem) -> UnsatisfiableError:
    """The error to raise where nothing is left to merge clusters with."""
    levels = " that the highest levels allow" if problem.highest else ""
    ways = ", raise max_level (--max-level)" if problem.highest else ""
    found = (
        f"and no {problem.allowance:,} or fewer were found whose leaving out helps"
        if problem.allowance
        else "and none may be left out here"
    )
    return UnsatisfiableError(
        f"all records in one cluster{levels} do not satisfy the models of the sensitive "
        f"attributes, {found}; weaken the models{ways}, or raise the suppression limit "
        "(--suppression-limit)"
    )


def _nearest(
    problem: ClusteringProblem,
    held: list[Numbers],
    *,
    nodes: Numbers,
    cluster: int,
    others: Flags,
) -> int | None:
    """The cluster whose union with another one adds least to the loss; None without any."""
    near = np.flatnonzero(others)
    joined = problem.cost(join(problem, nodes[near], other=nodes[cluster]))
    allowed = ~problem.forbids(joined)
    near, joined = near[allowed], joined[allowed]
    if not len(near):
        return None
    sizes = np.array([len(held[other]) for other in near])
    added = joined * (sizes + len(held[cluster])) - problem.cost(nodes[near]) * sizes
    return int(near[added.argmin()])
