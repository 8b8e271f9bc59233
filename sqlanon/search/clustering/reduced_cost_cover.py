"""Cover by reduced cost (Fisher and Kedia 1990; Ceria, Nobili and Sassano 1998).

The sets are taken first that cost least beyond what their records are worth. The duals of set
partitioning (`dual_bound`) price the records so that no k of them are worth
more together than they cost in one cluster, and sets of a best partition cost about as much as
their records are worth. So of all closures that are nearly tight, with the k records of highest
price that each still holds, the one of least cost less mean price is taken; further records are
where their price exceeds what they cost there. What a closure still holds only shrinks, so its
reduced cost only grows, and values that are brought up to date when they reach the front lead to
the same sets as looking at all closures each time.

Source of reduced costs as the rule of a greedy cover: "Optimal solution of set
covering/partitioning problems using dual heuristics".
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.assign import assign_rest
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, counted, flags
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Candidates,
    Clustering,
    ClusteringProblem,
)
from sqlanon.search.clustering.dual_bound import Duals

MAX_REDUCED_COST = 1.0
"""Reduced cost up to which sets are taken; dearer ones lose more than records that go one by one
[mean prices of a record]."""
REMEMBERED, LEAST_REMEMBERED = 16, 1024
"""Records of highest price that are remembered of a closure, in times k, and at least so many."""
MEMBERSHIPS_AT_ONCE = 2**24
"""Records times closures whose memberships are made at once."""
ENLARGED_BY = 8
"""A set that fails the demand grows by one in so many of its records at a time."""
Places = NDArray[np.int32]


def reduced_cost_cover(
    problem: ClusteringProblem,
    candidates: Candidates,
    *,
    duals: Duals,
    label: Numbers | None = None,
) -> Clustering:
    """Clusters in the order of reduced cost; what remains goes where it costs least.

    It takes memory for `REMEMBERED` k records of each nearly tight closure, and time for as many
    looks as their values are brought up to date: about ten for each set.

    Args:
        problem: The table.
        candidates: Closed frequent itemsets.
        duals: What records are worth by these, and which candidates are nearly tight.
        label: The cluster of each record that is in one already, `NOWHERE` for those to be covered;
            None where all are.

    Raises:
        TimeLimitError: The problem's deadline came first.
        UnsatisfiableError: Nothing covers any record, and all records together do not satisfy the
            demand.
    """
    return assign_rest(problem, chosen_sets(problem, candidates, duals=duals, label=label))


def chosen_sets(
    problem: ClusteringProblem,
    candidates: Candidates,
    *,
    duals: Duals,
    label: Numbers | None = None,
) -> Numbers:
    """The cluster of each record; `NOWHERE` for those of no set that is worth taking."""
    if label is None:
        label = np.full(problem.records, NOWHERE)
    return _Queue(problem, candidates, duals, label=label).run()


class _Queue:
    """Nearly tight closures by reduced cost, and the records that each still holds.

    Records go by their places in the order of price, the highest first.
    """

    def __init__(
        self, problem: ClusteringProblem, candidates: Candidates, duals: Duals, *, label: Numbers
    ) -> None:
        self._problem, self._label = problem, label.copy()
        self._nodes, self._rank = candidates.nodes[duals.near], candidates.rank[duals.near]
        self._cost = candidates.cost[duals.near]
        self._record = np.argsort(-duals.price, kind="stable")
        self._price = duals.price[self._record]
        self._dearest = MAX_REDUCED_COST * float(duals.price.mean())
        self._gone = label[self._record] != NOWHERE
        self._most = max(REMEMBERED * problem.k, LEAST_REMEMBERED)
        self._size = np.full(len(duals.near), problem.k)
        self._maps = BitMaps.of_candidates(
            problem.taxonomies, problem.leaves[self._record], nodes=self._nodes
        )
        self._places: list[Places] = []
        self._is_whole = np.zeros(len(duals.near), np.bool_)
        step = max(1, MEMBERSHIPS_AT_ONCE // problem.records)
        for start in range(0, len(duals.near), step):
            problem.deadline.check()
            self._places += self._members(start, min(start + step, len(duals.near)))

    def _members(self, start: int, stop: int) -> list[Places]:
        """The first of the records that some closures still hold."""
        part = slice(start, stop)
        bits = self._maps.members(self._nodes[part], self._rank[part])
        self._is_whole[part] = counted(bits) <= self._most
        row, word = np.nonzero(bits)
        index, bit = np.nonzero(flags(bits[row, word][:, None], WORD))
        row, place = row[index], word[index] * WORD + bit
        open_ = ~self._gone[place]
        row, place = row[open_], place[open_]
        every = np.split(place, np.searchsorted(row, np.arange(1, stop - start)))
        return [places[: self._most].astype(np.int32) for places in every]

    def run(self) -> Numbers:
        """The cluster of each record, once no set is left that is worth taking."""
        label, made = self._label, int(self._label.max(initial=NOWHERE)) + 1
        heap = [
            (self._value(closure), closure)
            for closure, remaining in enumerate(self._places)
            if len(remaining) >= self._problem.k
        ]
        heapify(heap)
        while heap:
            self._problem.deadline.check()
            _, closure = heappop(heap)
            if not self._refreshed(closure):
                continue
            now = (self._value(closure), closure)
            if now[0] > self._dearest:
                continue
            if heap and now > heap[0]:
                heappush(heap, now)
                continue
            places = self._chosen(closure)
            if len(places):
                label[self._record[places]], self._gone[places] = made, True
                made += 1
            if self._refreshed(closure):
                heappush(heap, (self._value(closure), closure))
        return label

    def _refreshed(self, closure: int) -> bool:
        """Forgets the records of a closure that are in sets by now; whether enough are left."""
        remaining = self._places[closure]
        remaining = remaining[~self._gone[remaining]]
        if len(remaining) < self._size[closure] and not self._is_whole[closure]:
            remaining = self._members(closure, closure + 1)[0]
        self._places[closure] = remaining
        return len(remaining) >= int(self._size[closure])

    def _value(self, closure: int) -> float:
        """The reduced cost of the least set that a closure may still make [units]."""
        places = self._places[closure][: self._size[closure]]
        return float(self._cost[closure] - self._price[places].sum() / len(places))

    def _chosen(self, closure: int) -> Places:
        """The places of a set; none where it fails the demand, and has to be larger."""
        remaining, size = self._places[closure], int(self._size[closure])
        worth = int(np.searchsorted(-self._price[remaining], -float(self._cost[closure])))
        for count in sorted({max(size, worth), size}, reverse=True):
            if self._problem.satisfies(self._record[remaining[:count]]):
                return remaining[:count]
        self._size[closure] = size + max(1, size // ENLARGED_BY)
        return remaining[:0]
