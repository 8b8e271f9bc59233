"""Lessened clusters: a cluster that fails its models, without the records that keep it from them.

Nothing is left to merge such a cluster with. Records are taken out of it, those first whose leaving
makes what the cluster lacks least (`search.shortfalls`), until it satisfies the models. Where
persons are counted, all records of one go at once.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.search.privacy import Demands, ValueDemand
from sqlanon.search.shortfalls import shortfalls, worst_alone

ROUNDS = 128
"""Rounds in which records are taken out at most, of so many at once as that makes."""
CELLS, LEAST, MOST = 2**20, 8, 256
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
    if not isinstance(demands, Demands) or not demands.every:
        return None
    most = max(1, room // ROUNDS)
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
        held = np.stack([unit, demands.values[records, demand.attribute]], axis=1)
        held = held[held[:, 1] >= 0]
        if demand.of_persons:
            held = np.unique(held, axis=0)
        less, more = _changes(demands, demand, records)
        change += np.bincount(held[:, 0], less[held[:, 1]], len(sizes))
        excess += np.bincount(held[:, 0], more[held[:, 1]], len(sizes))
    # Of values that are as frequent as others, the leaving of one alone may not help.
    order = np.lexsort((-excess / sizes, change / sizes))
    order = order[np.cumsum(sizes[order]) <= most]
    leaves = np.zeros(len(sizes), np.bool_)
    leaves[order] = True
    found: Flags = leaves[unit]
    return found


def _changes(demands: Demands, demand: ValueDemand, records: Numbers) -> tuple[Reals, Reals]:
    """Per value what leaving adds to what a cluster lacks, and how much more of it there is."""
    counts = demands.counts(records, demand)
    size, values = max(int(counts.sum()), 1), len(counts)
    excess = counts / size - (demand.shares if demand.model.relative else 0.0)
    looked = min(values, max(LEAST, min(MOST, CELLS // max(values, 1))))
    order = np.argsort(np.where(counts > 0, -excess, np.inf), kind="stable")[:looked]
    order = order[counts[order] > 0]
    others = np.repeat(counts[np.newaxis], len(order), axis=0)
    others[np.arange(len(order)), order] -= 1
    change = np.ones(values)
    scale = worst_alone(demand)
    lacking = float(shortfalls(demand, counts[np.newaxis])[0])
    change[order] = (shortfalls(demand, others) - lacking) / scale
    return change, excess
