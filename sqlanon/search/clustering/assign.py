"""Assignment of records that no cluster has yet: each goes where it costs least.

Clusters that may not stand alone, being too small or failing the demand, are merged likewise.
Nothing is put together that the highest levels forbid.

Of a cluster that fails its models and has nothing left to merge with, records are taken out, those
first whose leaving makes what the cluster lacks least (`shortfalls`), until it satisfies the
models. Where persons are counted, all records of one go at once.

Which records are left out besides, `refinement` decides: one that is left out costs no less than
any other, so that gains only by what the records beside it then keep. Here are those that no
cluster may hold, and the return of others that may as well be published.
"""

from __future__ import annotations

import numpy as np

from sqlanon.errors import UnsatisfiableError
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    closures,
    members,
    records_of,
    renumbered,
)
from sqlanon.search.privacy import Demands, ValueDemand, shortfalls, worst_alone

MAX_ROUNDS = 128
"""Rounds in which records are taken out at most, of so many at once as that makes."""
COUNTS_AT_ONCE, MIN_VALUES_LOOKED_AT, MAX_VALUES_LOOKED_AT = 2**20, 8, 256
"""Counts of values that are looked at in a round, and at how many values they are at least and at
most; others stay, the rarest ones."""


def lessened(problem: ClusteringProblem, records: Numbers, *, room: int) -> Numbers | None:
    """The records of a cluster that stay where others leave, so that it satisfies the models.

    Args:
        problem: The table.
        records: The cluster, which fails.
        room: How many of them may leave [records].

    Returns:
        Those that stay, or None where none were found.

    Raises:
        TimeLimitError: The problem's deadline came first.
    """
    demands = problem.demand
    if demands is None or not demands.every:
        return None
    most = max(1, room // MAX_ROUNDS)
    while room > 0:
        problem.deadline.check()
        leaving = _leaving(demands, records, most=min(most, room))
        room -= int(leaving.sum())
        records = records[~leaving]
        if not leaving.any() or len(records) < problem.k:
            return None
        if problem.satisfies(records):
            return records
    return None


def _leaving(demands: Demands, records: Numbers, *, most: int) -> Flags:
    """Which records leave at once, so many at most; where the first person has more, nobody."""
    persons = np.arange(len(records)) if demands.persons is None else demands.persons[records]
    _, unit, sizes = np.unique(persons, return_inverse=True, return_counts=True)
    change, excess = np.zeros(len(sizes)), np.zeros(len(sizes))
    for demand in demands.every:
        pairs = np.stack([unit, demands.values[records, demand.attribute]], axis=1)
        pairs = pairs[pairs[:, 1] >= 0]
        if demand.of_persons:
            pairs = np.unique(pairs, axis=0)
        less, more = _changes(demands, demand, records)
        change += np.bincount(pairs[:, 0], less[pairs[:, 1]], len(sizes))
        excess += np.bincount(pairs[:, 0], more[pairs[:, 1]], len(sizes))
    # Of values that are as frequent as others, the leaving of one alone may not help.
    order = np.lexsort((-excess / sizes, change / sizes))
    order = order[np.cumsum(sizes[order]) <= most]
    leaves = np.zeros(len(sizes), np.bool_)
    leaves[order] = True
    leaving: Flags = leaves[unit]
    return leaving


def _changes(demands: Demands, demand: ValueDemand, records: Numbers) -> tuple[Reals, Reals]:
    """Per value what leaving adds to what a cluster lacks, and how much more of it there is."""
    every, values = demands.counts(records, demand), len(demand.table)
    counts = every[:values]
    excess = counts / max(int(counts.sum()), 1)
    excess -= demand.shares if demand.model.relative else 0.0
    looked = min(
        values,
        max(MIN_VALUES_LOOKED_AT, min(MAX_VALUES_LOOKED_AT, COUNTS_AT_ONCE // max(values, 1))),
    )
    order = np.argsort(np.where(counts > 0, -excess, np.inf), kind="stable")[:looked]
    order = order[counts[order] > 0]
    others = np.repeat(every[np.newaxis], len(order), axis=0)
    others[np.arange(len(order)), order] -= 1
    others[:, values:] -= 1
    change = np.ones(values)
    scale = worst_alone(demand)
    lacking = float(shortfalls(demand, every[np.newaxis])[0])
    change[order] = (shortfalls(demand, others) - lacking) / scale
    return change, excess


NEVER_NEAR = 2**63 - 1
"""What a record adds to a cluster that it may not join [units]."""

RECORDS_AT_ONCE = 256
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
    for start in range(0, len(left), RECORDS_AT_ONCE):
        records = left[start : start + RECORDS_AT_ONCE]
        leaves = problem.leaves[records]
        dearer = _joined_costs(problem, nodes, leaves=leaves)
        for place, record in enumerate(records):
            problem.deadline.check()
            added = dearer[place] * (sizes + 1) - costs * sizes
            cluster = int(np.where(problem.forbids(dearer[place]), NEVER_NEAR, added).argmin())
            label[record] = cluster
            sizes[cluster] += 1
            if _extend(problem, nodes[cluster], leaves[place]):
                costs[cluster] = dearer[place, cluster]
                later = _joined_costs(problem, nodes[[cluster]], leaves=leaves[place + 1 :])
                dearer[place + 1 :, cluster] = later[:, 0]
    return mend(problem, Clustering.of(problem, label))


def _founded(problem: ClusteringProblem, label: Numbers) -> Numbers:
    """The clusters, and one more of all records of each division that none has a record of."""
    division = problem.division
    without = np.ones(int(division.max()) + 1, np.bool_)
    without[division[label >= 0]] = False
    uncovered = without[division]
    first = int(label.max(initial=NOWHERE)) + 1
    return np.where(uncovered, first + (np.cumsum(without) - 1)[division], label)


def _joined_costs(problem: ClusteringProblem, nodes: Numbers, *, leaves: Numbers) -> Numbers:
    """What a record costs at the closures of leaves and node tuples [units], `(records, nodes)`."""
    total = np.zeros((len(leaves), len(nodes)), np.int64)
    for column, taxonomy in enumerate(problem.taxonomies):
        distinct, leaf = np.unique(leaves[:, column], return_inverse=True)
        kinds, kind = np.unique(nodes[:, column], return_inverse=True)
        shape = (len(distinct), len(kinds))
        first, second = np.broadcast_to(distinct[:, None], shape), np.broadcast_to(kinds, shape)
        table = taxonomy.cost[taxonomy.join(first, second)]
        total += table[leaf.ravel()].take(kind.ravel(), axis=1)
        if problem.highest:  # so that no sum of such costs is too large
            np.minimum(total, problem.suppressed + 1, out=total)
    return total


def _extend(problem: ClusteringProblem, node: Numbers, leaves: Numbers) -> bool:
    """Makes a node tuple hold a record; whether it did not before."""
    grows = False
    for column, (taxonomy, leaf) in enumerate(zip(problem.taxonomies, leaves, strict=True)):
        current = node[column]
        if not taxonomy.low[current] <= leaf <= taxonomy.high[current]:
            node[column] = taxonomy.join(current, leaf)
            grows = True
    return grows


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
    groups = members(clusters)
    nodes = clusters.nodes.copy()
    alive = np.ones(len(groups), np.bool_)
    left = int((clusters.label == NOWHERE).sum())
    label = clusters.label.copy()
    waiting = [c for c, records in enumerate(groups) if not problem.satisfies(records)]
    while waiting:
        problem.deadline.check()
        cluster = waiting.pop()
        if not alive[cluster] or problem.satisfies(groups[cluster]):
            continue
        alive[cluster] = False
        near = np.flatnonzero(alive)
        joined = problem.cost(join(problem, nodes[near], other=nodes[cluster]))
        allowed = ~problem.forbids(joined)
        near, joined = near[allowed], joined[allowed]
        if len(near):
            sizes = np.array([len(groups[other]) for other in near])
            added = joined * (sizes + len(groups[cluster])) - problem.cost(nodes[near]) * sizes
            partner = int(near[added.argmin()])
            groups[partner] = np.concatenate([groups[partner], groups[cluster]])
            nodes[partner] = join(problem, nodes[[partner]], other=nodes[cluster])[0]
            waiting.append(partner)
            continue
        stays = lessened(problem, groups[cluster], room=problem.allowance - left)
        left += len(groups[cluster]) - (0 if stays is None else len(stays))
        if left > problem.allowance:
            raise _unmendable(problem)
        label[groups[cluster]] = NOWHERE
        if stays is not None:
            groups[cluster], alive[cluster] = stays, True
    for survivor in np.flatnonzero(alive):
        label[groups[survivor]] = survivor
    return Clustering.of(problem, label)


def _unmendable(problem: ClusteringProblem) -> UnsatisfiableError:
    """The error to raise where nothing is left to merge clusters with."""
    levels = " that the highest levels allow" if problem.highest else ""
    ways = ", raise max_level (--max-level)" if problem.highest else ""
    reason = (
        f"and no {problem.allowance:,} or fewer were found whose leaving out helps"
        if problem.allowance
        else "and none may be left out here"
    )
    return UnsatisfiableError(
        f"all records in one cluster{levels} do not satisfy the models of the sensitive "
        f"attributes, {reason}; weaken the models{ways}, or raise the suppression limit "
        "(--suppression-limit)"
    )


def unplaceable(problem: ClusteringProblem) -> Flags:
    """Which records no cluster may hold: those of divisions that fail as one.

    A cluster lies within a division. So where all records of one are fewer than k, or fail a demand
    that more records never break, every cluster there fails, too.
    """
    without = np.zeros(problem.records, np.bool_)
    demand = None if problem.demand is None else problem.demand.monotone
    for records in records_of(problem.division):
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
