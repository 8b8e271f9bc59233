"""Direct cover (Park and Shim 2007, section 4.5: APPROX-DR): candidates by their cost.

Each is a cluster of what it still covers, over the generalized itemsets of Kenig 2009, chapter 7.
Beside it stands OPT-LB (lemma 4.16 there): a record costs no less by itself than the cheapest
candidate that holds it (`Cheapest`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.assign import assign_rest
from sqlanon.search.clustering.bitmaps import BitMaps, Words, counted, flags
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Candidates,
    Clustering,
    ClusteringProblem,
)

CANDIDATES_AT_ONCE = 2048
"""Candidates whose members are made at once."""
REBUILD_SHARE = 0.1
"""Share of covered records above which the bit maps are made anew over the others alone."""


def direct_cover(problem: ClusteringProblem, candidates: Candidates) -> Clustering:
    """Clusters in the order of cost; what remains goes where it costs least.

    Raises:
        TimeLimitError: The deadline came before all candidates had their turn.
        UnsatisfiableError: Nothing covers any record, and all records together do not satisfy the
            demand.
    """
    return assign_rest(problem, _greedy(problem, candidates))


def published_direct_cover(problem: ClusteringProblem, candidates: Candidates) -> Clustering:
    """Clusters in the order of cost, as published: whatever remains is suppressed."""
    return Clustering.of(problem, _greedy(problem, candidates))


def _greedy(problem: ClusteringProblem, candidates: Candidates) -> Numbers:
    """The cluster of each record; a candidate is taken if it covers k records still uncovered."""
    label = np.full(problem.records, NOWHERE, np.int64)
    made = 0

    def take(_: int, records: Numbers) -> bool:
        nonlocal made
        if not problem.satisfies(records):
            return False
        label[records] = made
        made += 1
        return True

    if sweep(problem, candidates, least=problem.k, take=take) < len(candidates):
        raise TimeLimitError
    return label


def sweep(
    problem: ClusteringProblem,
    candidates: Candidates,
    *,
    least: int,
    take: Callable[[int, Numbers], bool],
) -> int:
    """Offers each candidate, in order, the records that it holds and none before it has taken.

    Returns:
        How many candidates had their turn: all, unless the deadline came before.

    Args:
        problem: The table.
        candidates: The candidates.
        least: Fewest records that are offered.
        take: Called with a candidate and the records; whether it takes them.
    """
    if problem.deadline.expired:
        return 0
    left = np.arange(problem.records)
    gone = np.zeros(problem.records, np.bool_)
    maps = BitMaps.of_candidates(problem.taxonomies, problem.leaves, nodes=candidates.nodes)
    for start in range(0, len(candidates), CANDIDATES_AT_ONCE):
        if problem.deadline.expired:
            return start
        advance(start / len(candidates))
        part = slice(start, start + CANDIDATES_AT_ONCE)
        bits = maps.members(candidates.nodes[part], candidates.rank[part])
        taken = np.zeros(maps.words, np.uint64)
        for place in np.flatnonzero(counted(bits) >= least):
            fresh: Words = bits[place] & ~taken
            if counted(fresh) < least:
                continue
            if take(start + int(place), left[flags(fresh, len(left))]):
                taken |= fresh
        gone |= flags(taken, len(left))
        if gone.mean() > REBUILD_SHARE:
            left, gone = left[~gone], np.zeros(int((~gone).sum()), np.bool_)
            maps = maps.of_records(problem.leaves[left])
        elif taken.any():
            maps.clear(taken)
        if not len(left):
            break
    return len(candidates)


@dataclass(frozen=True, slots=True)
class Cheapest:
    """What each record costs at least by itself.

    Args:
        cost: Per record the cost of the cheapest candidate that holds it, of one that is left out
            where there is none [units].
        outside: Whether there is none.
    """

    cost: Numbers
    outside: Flags

    @classmethod
    def of(cls, problem: ClusteringProblem, candidates: Candidates) -> Cheapest:
        """By all candidates, or until the deadline.

        A cluster's closure is a closed itemset with at least k records, so no record costs less.
        That needs costs that never shrink on the way up, as those of `Taxonomy` are, and all closed
        frequent itemsets as candidates. Where the deadline comes first, a record costs no less than
        the first candidate that had no turn.
        """
        cost = np.full(problem.records, problem.suppressed, np.int64)
        outside = np.ones(problem.records, np.bool_)

        def take(candidate: int, records: Numbers) -> bool:
            cost[records] = candidates.cost[candidate]
            outside[records] = False
            return True

        looked = sweep(problem, candidates, least=1, take=take)
        if looked < len(candidates):
            cost[outside] = candidates.cost[looked]
            outside[:] = False
        return cls(cost, outside)
