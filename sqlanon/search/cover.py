"""Greedy set cover: candidates by what they cost per record that they newly cover.

The ratio of a candidate only grows as records get covered, so a queue whose entries are brought up
to date when they reach its front finds the same candidates as looking at all of them each time.

Sources: Park and Shim 2007, sections 4.2 to 4.4, figure 9 (APPROX-NAIVE, APPROX-FQ, APPROX-CF);
Kenig 2009, chapter 8, algorithm 18 (over generalizations).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.search.assign import assign_rest
from sqlanon.search.clusters import NOWHERE, Candidates, Clusters, Problem, closed
from sqlanon.search.convert import convert
from sqlanon.search.memberships import BitMaps, counted, flags, packed
from sqlanon.search.taxonomy import Numbers

BATCH = 256
"""Entries at the front of the queue that are brought up to date at once."""
SPARSE = 0.2
"""Share of covered records beyond which the bit maps are made anew over the others alone."""
SUBSETS = 200_000
"""Most subsets of records that may be candidates."""


@dataclass(frozen=True, slots=True)
class Cover:
    """Sets of k to 2k - 1 records, which may overlap.

    Args:
        sets: The records of each, ascending.
        uncovered: Records that no candidate holds, which is possible with limited candidates.
    """

    sets: tuple[Numbers, ...]
    uncovered: Numbers

    def cost(self, problem: Problem) -> int:
        """The sum of the costs of the sets' closures, which a greedy cover keeps low [units]."""
        return sum(int(cost) for cost in self.costs(problem))

    def costs(self, problem: Problem) -> Numbers:
        """The cost of each set's closure [units]."""
        if not self.sets:
            return np.zeros(0, np.int64)
        starts = np.cumsum([0, *map(len, self.sets[:-1])])
        return problem.cost(closed(problem, problem.leaves[np.concatenate(self.sets)], starts))


def set_cover(problem: Problem, candidates: Candidates) -> tuple[Clusters, int]:
    """Clusters by greedy cover and conversion, and how many records no candidate covers.

    With all closed or all frequent itemsets and no demand the loss is at most 2 (1 + ln 2k) times
    the least possible. What no candidate covers goes where it costs least.

    Raises:
        UnsatisfiableError: No cover satisfies the demand.
    """
    return _clustered(problem, greedy_cover(problem, candidates))


def exhaustive_cover(problem: Problem) -> tuple[Clusters, int]:
    """The same with every subset of k to 2k - 1 records as a candidate, for tiny tables.

    Raises:
        PolicyError: There are more than `SUBSETS` of them.
        UnsatisfiableError: No cover satisfies the demand.
    """
    return _clustered(problem, cover_by_subsets(problem))


def _clustered(problem: Problem, cover: Cover) -> tuple[Clusters, int]:
    label = np.full(problem.records, NOWHERE, np.int64)
    for cluster, records in enumerate(convert(problem, cover.sets)):
        label[records] = cluster
    return assign_rest(problem, label), len(cover.uncovered)


def within(problem: Problem, candidates: Candidates, beta: float) -> Candidates:
    """Candidates that cost less than 1 / beta of a suppressed record.

    They are fewer, and the guarantee is weaker by the factor beta.

    Raises:
        PolicyError: beta is below 1.

    Source: Park and Shim 2007, section 4.4, "Trade-off".
    """
    if not beta >= 1:
        raise PolicyError(f"beta is {beta}; it must be at least 1")
    return candidates.cheaper_than(float(problem.cost(problem.root)) / beta)


def greedy_cover(problem: Problem, candidates: Candidates) -> Cover:
    """GEN-COVER: sets of k to 2k - 1 records that cover all that the candidates hold.

    Each time the candidate with the least cost per newly covered record is taken, of which at most
    2k - 1 count. Where it holds no more than 2k - 1 records, they are the set. Where more than that
    are uncovered, the first 2k - 1 of them are; else the uncovered ones, filled up to k.
    """
    return _Queue(problem, candidates).cover()


class _Queue:
    """Candidates by ratio, some of them as it was earlier."""

    def __init__(self, problem: Problem, candidates: Candidates) -> None:
        self._problem, self._candidates = problem, candidates
        self._most = 2 * problem.k - 1
        self._left = np.arange(problem.records)
        self._uncovered = np.ones(problem.records, np.bool_)
        everything = BitMaps.of_candidates(problem.taxonomies, problem.leaves, candidates.nodes)
        self._all = self._maps = everything
        self._pending = packed(self._uncovered)
        ratio = candidates.cost / np.minimum(candidates.support, self._most)
        self._order = np.argsort(ratio, kind="stable")
        self._ratio = ratio
        self._next = 0
        self._heap: list[tuple[float, int, int]] = []
        self._time = 0

    def cover(self) -> Cover:
        """Takes candidates until nothing is left that any of them covers."""
        sets: list[Numbers] = []
        while self._uncovered.any() and (found := self._front()) is not None:
            ratio, candidate = found
            records = self._chosen(candidate)
            if records is None:
                continue
            sets.append(np.sort(records))
            self._remove(records)
            heapq.heappush(self._heap, (ratio, candidate, -1))
        return Cover(tuple(sets), np.flatnonzero(self._uncovered))

    def _front(self) -> tuple[float, int] | None:
        """The candidate with the least ratio now, the first one in order among equals."""
        while True:
            stale: list[int] = []
            while len(stale) < BATCH:
                entry = self._pop()
                if entry is None:
                    break
                ratio, candidate, time = entry
                if time == self._time:
                    if not stale:
                        return ratio, candidate
                    heapq.heappush(self._heap, entry)
                    break
                stale.append(candidate)
            if not stale:
                return None
            self._refresh(np.array(stale))

    def _pop(self) -> tuple[float, int, int] | None:
        """The entry in front, be it of the heap or of those never looked at."""
        if self._next < len(self._order):
            candidate = int(self._order[self._next])
            entry = (float(self._ratio[candidate]), candidate, -1)
            if not self._heap or entry < self._heap[0]:
                self._next += 1
                return entry
        return heapq.heappop(self._heap) if self._heap else None

    def _refresh(self, candidates: Numbers) -> None:
        """Puts candidates back with their ratio now; those that cover nothing new are dropped."""
        held = self._candidates
        bits = self._maps.members(held.nodes[candidates], held.rank[candidates]) & self._pending
        counts = np.minimum(counted(bits), self._most)
        for candidate, count in zip(candidates.tolist(), counts.tolist(), strict=True):
            if count:
                entry = (float(held.cost[candidate] / count), candidate, self._time)
                heapq.heappush(self._heap, entry)

    def _chosen(self, candidate: int) -> Numbers | None:
        """The records of a candidate that become a set; None where the demand fails for all."""
        part = slice(candidate, candidate + 1)
        bits = self._all.members(self._candidates.nodes[part], self._candidates.rank[part])[0]
        records = np.flatnonzero(flags(bits, self._problem.records))
        fresh = self._uncovered[records]
        ordered = np.concatenate([records[fresh], records[~fresh]])
        size = len(records)
        if size > self._most:
            size = min(max(int(fresh.sum()), self._problem.k), self._most)
        if self._problem.satisfies(ordered[:size]):
            return ordered[:size]
        return ordered if self._problem.satisfies(ordered) else None

    def _remove(self, records: Numbers) -> None:
        """Counts records as covered from now on."""
        self._time += 1
        self._uncovered[records] = False
        pending = self._uncovered[self._left]
        if pending.mean() < 1 - SPARSE:
            self._left = self._left[pending]
            self._maps = self._all.of_records(self._problem.leaves[self._left])
            pending = np.ones(len(self._left), np.bool_)
        self._pending = packed(pending)


def cover_by_subsets(problem: Problem) -> Cover:
    """GEN-COVER over every subset of k to 2k - 1 records (APPROX-NAIVE).

    Raises:
        PolicyError: There are more than `SUBSETS` of them.
    """
    sizes = range(problem.k, min(2 * problem.k, problem.records + 1))
    number = sum(comb(problem.records, size) for size in sizes)
    if number > SUBSETS:
        raise PolicyError(
            f"{problem.records} records have {number} subsets of {problem.k} to "
            f"{2 * problem.k - 1} records, and at most {SUBSETS} can be candidates; "
            "use closed or frequent itemsets"
        )
    subsets = [
        np.array(subset)
        for size in sizes
        for subset in combinations(range(problem.records), size)
        if problem.demand is None or problem.demand.holds(np.array(subset))
    ]
    costs = Cover(tuple(subsets), np.zeros(0, np.int64)).costs(problem)
    held = np.zeros((len(subsets), problem.records), np.bool_)
    for row, subset in zip(held, subsets, strict=True):
        row[subset] = True
    uncovered, taken = np.ones(problem.records, np.bool_), []
    while (counts := (held & uncovered).sum(axis=1)).any():
        ratios = np.where(counts, costs / np.maximum(counts, 1), np.inf)
        taken.append(int(ratios.argmin()))
        uncovered[subsets[taken[-1]]] = False
    return Cover(tuple(subsets[subset] for subset in taken), np.flatnonzero(uncovered))
