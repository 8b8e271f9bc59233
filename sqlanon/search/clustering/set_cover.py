"""Greedy set cover (Park and Shim 2007, sections 4.2 to 4.4: APPROX-NAIVE, APPROX-FQ, APPROX-CF).

Candidates are taken by what they cost per record that they newly cover. The ratio of a candidate
only grows as records get covered, so ratios that are brought up to date when they reach the front
lead to the same candidates as looking at all of them each time. `convert` makes clusters of a
cover, whose sets may overlap.

Sources: Park and Shim 2007, figures 6 (CONVERT) and 9; Kenig 2009, algorithm 2 and chapter 8,
algorithm 18 (over generalizations).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.assign import assign_rest
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, bits_of, counted, flags
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Candidates,
    Clustering,
    ClusteringProblem,
    set_closures,
)


def convert(problem: ClusteringProblem, sets: Sequence[Numbers]) -> list[Numbers]:
    """Disjoint sets of at least k records that hold the records of such sets, at no higher cost.

    Of two sets that share a record the larger one loses it, as long as it keeps k records; two sets
    of k are united, which makes at most 2k - 1. Where the demand forbids a removal, the other set
    loses the record, or they are united, so that sets can grow beyond 2k - 1. The sum of the costs
    of the sets' closures never rises: a closure never grows by a removal, and one of a union costs
    no more than both do, as they share a record.
    """
    parts = [set(records.tolist()) for records in sets]
    owners = defaultdict[int, list[int]](list)
    for number, records in enumerate(parts):
        for record in records:
            owners[record].append(number)
    for record in sorted(owners):
        problem.deadline.check()
        while len(several := owners[record]) > 1:
            first, second = several[:2]
            by_size = sorted((first, second), key=lambda number: -len(parts[number]))
            able = (n for n in by_size if _may_lose(problem, parts[n], record))
            loser = next(able, None)
            if loser is not None:
                parts[loser].remove(record)
                several.remove(loser)
                continue
            for moved in parts[second]:
                owners[moved].remove(second)
                if first not in owners[moved]:
                    owners[moved].append(first)
            parts[first] |= parts[second]
            parts[second] = set()
    return [np.array(sorted(records)) for records in parts if records]


def _may_lose(problem: ClusteringProblem, records: set[int], record: int) -> bool:
    """Whether a set may stand without a record."""
    if len(records) <= problem.k:
        return False
    return problem.demand is None or problem.demand.holds(np.array(sorted(records - {record})))


WINDOW_CANDIDATES = 8192
"""Candidates whose ratios are kept up to date."""
NEXT_CANDIDATES = 2**17
"""Candidates among which the next window is looked for, as long as it can only be there: of 1.6
million, a cover takes 3.1 s so and 5.5 s by a look at all of them."""
NO_CANDIDATE = (np.inf, 0)
"""The ratio and the number of no candidate."""
REBUILD_SHARE = 0.2
"""Share of covered records above which the bit maps are made anew over the others alone."""
MAX_SUBSETS = 200_000
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


def set_cover(problem: ClusteringProblem, candidates: Candidates) -> tuple[Clustering, int]:
    """Clusters by greedy cover and conversion, and how many records no candidate covers.

    With all closed or all frequent itemsets and no demand the loss is at most 2 (1 + ln 2k) times
    the least possible. What no candidate covers goes where it costs least.

    Raises:
        UnsatisfiableError: No cover satisfies the demand.
    """
    return converted(problem, greedy_cover(problem, candidates))


def converted(problem: ClusteringProblem, cover: Cover) -> tuple[Clustering, int]:
    """Clusters by conversion of a cover, and how many records it leaves to others.

    Raises:
        UnsatisfiableError: No clusters satisfy the demand.
    """
    label = np.full(problem.records, NOWHERE, np.int64)
    for cluster, records in enumerate(convert(problem, cover.sets)):
        label[records] = cluster
    return assign_rest(problem, label), len(cover.uncovered)


def within(problem: ClusteringProblem, candidates: Candidates, *, beta: float) -> Candidates:
    """Candidates that cost less than 1 / beta of a suppressed record.

    They are fewer, and the guarantee is weaker by the factor beta, at least 1.

    Source: Park and Shim 2007, section 4.4, "Trade-off".
    """
    end = int(np.searchsorted(candidates.cost, problem.suppressed / beta))
    columns = (candidates.nodes, candidates.support, candidates.cost, candidates.rank)
    return Candidates(*(column[:end] for column in columns))


def greedy_cover(problem: ClusteringProblem, candidates: Candidates) -> Cover:
    """GEN-COVER: sets of k to 2k - 1 records that cover all that the candidates hold.

    Each time the candidate with the least cost per newly covered record is taken, of which at most
    2k - 1 count. Where it holds no more than 2k - 1 records, they are the set. Where more than that
    are uncovered, the first 2k - 1 of them are; else the uncovered ones, filled up to k.
    """
    return _Queue(problem, candidates).cover()


class _Queue:
    """Candidates by ratio: a window of those in front, up to date, and all others as they were.

    A ratio that is not up to date is too small if anything. So the least one of the window is the
    least of all as long as no other has a smaller one.
    """

    def __init__(self, problem: ClusteringProblem, candidates: Candidates) -> None:
        self._problem, self._candidates = problem, candidates
        self._most = 2 * problem.k - 1
        self._left = np.arange(problem.records)
        self._uncovered = np.ones(problem.records, np.bool_)
        problem.deadline.check()
        self._maps = BitMaps.of_candidates(
            problem.taxonomies, problem.leaves, nodes=candidates.nodes
        )
        problem.deadline.check()
        self._all = self._maps
        self._ratio = candidates.cost / np.minimum(candidates.support, self._most)
        self._near, self._far = np.zeros(0, np.int64), NO_CANDIDATE
        self._look()

    def cover(self) -> Cover:
        """Takes candidates until nothing is left that any of them covers."""
        sets: list[Numbers] = []
        covered = 0
        while self._uncovered.any() and (candidate := self._front()) is not None:
            records = self._chosen(candidate)
            if records is None:
                self._drop(candidate)
                continue
            sets.append(np.sort(records))
            self._remove(records)
            covered += len(records)
            advance(covered / self._problem.records)
        return Cover(tuple(sets), np.flatnonzero(self._uncovered))

    def _front(self) -> int | None:
        """The candidate with the least ratio now, the first one in order among equals."""
        while True:
            self._problem.deadline.check()
            place = int(self._now.argmin())
            candidate = (float(self._now[place]), int(self._window[place]))
            if candidate < self._others:
                return candidate[1]
            if self._others == NO_CANDIDATE:
                return None
            self._look()

    def _look(self) -> None:
        """Moves the window to the candidates in front and brings them up to date."""
        pending = self._uncovered[self._left]
        if pending.mean() < 1 - REBUILD_SHARE:
            self._left = self._left[pending]
            self._maps = self._all.of_records(self._problem.leaves[self._left])
            pending = np.ones(len(self._left), np.bool_)
        front, self._others = self._first()
        self._window = np.sort(front)
        candidates = self._candidates
        bits = self._maps.members(candidates.nodes[self._window], candidates.rank[self._window])
        self._bits = np.ascontiguousarray((bits & bits_of(pending)).T)
        self._counts = counted(self._bits, axis=0)
        self._refresh()

    def _first(self) -> tuple[Numbers, tuple[float, int]]:
        """Candidates of the least known ratios, and the first one behind them."""
        front, behind = _least(self._ratio, self._near, count=WINDOW_CANDIDATES)
        if not behind < self._far:
            self._near, self._far = _least(
                self._ratio, np.arange(len(self._ratio)), count=NEXT_CANDIDATES
            )
            self._near.sort()
            front, behind = _least(self._ratio, self._near, count=WINDOW_CANDIDATES)
        return front, min(behind, self._far)

    def _refresh(self) -> None:
        """The ratios of the window from what its candidates still cover."""
        counts = np.minimum(self._counts, self._most)
        costs = self._candidates.cost[self._window]
        self._now = np.where(counts, costs / np.maximum(counts, 1), np.inf)
        self._ratio[self._window] = self._now
        if not len(self._now):
            self._now, self._window = np.array([np.inf]), np.zeros(1, np.int64)

    def _drop(self, candidate: int) -> None:
        """Excludes a candidate for good."""
        dropped = self._window == candidate
        self._ratio[candidate] = self._now[dropped] = np.inf
        self._counts[dropped] = self._bits[:, dropped] = 0

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
        fresh = np.searchsorted(self._left, records[self._uncovered[records]])
        self._uncovered[records] = False
        words, where = np.unique(fresh // WORD, return_inverse=True)
        removed = np.zeros(len(words), np.uint64)
        np.bitwise_or.at(removed, where, np.uint64(1) << (fresh % WORD).astype(np.uint64))
        self._counts -= counted(self._bits[words] & removed[:, None], axis=0)
        self._bits[words] &= ~removed[:, None]
        self._refresh()


def _least(ratio: Reals, among: Numbers, *, count: int) -> tuple[Numbers, tuple[float, int]]:
    """Candidates with the least ratios, by ratio and number, and the first one behind them.

    Args:
        ratio: Per candidate its ratio; infinite for one that is never taken.
        among: The candidates to look at, ascending.
        count: How many are wanted.
    """
    ratios = ratio[among]
    bar = np.partition(ratios, count)[count] if len(ratios) > count else np.inf
    places = np.flatnonzero((ratios <= bar) & (ratios < np.inf))
    places = places[np.argsort(ratios[places], kind="stable")]
    front = among[places[:count]]
    if len(places) <= count:
        return front, NO_CANDIDATE
    return front, (float(ratios[places[count]]), int(among[places[count]]))


def cover_by_subsets(problem: ClusteringProblem, beta: float | None = None) -> Cover:
    """GEN-COVER over every subset of k to 2k - 1 records (APPROX-NAIVE).

    Args:
        problem: The table.
        beta: Only subsets that cost less than 1 / beta of a suppressed record; None for all.

    Raises:
        PolicyError: There are more than `MAX_SUBSETS` of them.
    """
    limit = np.inf if beta is None else problem.suppressed / beta
    sizes = range(problem.k, min(2 * problem.k, problem.records + 1))
    number = sum(comb(problem.records, size) for size in sizes)
    if number > MAX_SUBSETS:
        raise PolicyError(
            f"{problem.records} records have {number} subsets of {problem.k} to "
            f"{2 * problem.k - 1} records, and at most {MAX_SUBSETS} can be candidates; "
            "use closed or frequent itemsets"
        )
    subsets = [
        np.array(subset)
        for size in sizes
        for subset in combinations(range(problem.records), size)
        if problem.demand is None or problem.demand.holds(np.array(subset))
    ]
    costs = problem.cost(set_closures(problem, *subsets))
    cheap = np.flatnonzero((costs < limit) & ~problem.forbids(costs))
    subsets, costs = [subsets[subset] for subset in cheap.tolist()], costs[cheap]
    contains = np.zeros((len(subsets), problem.records), np.bool_)
    for row, subset in zip(contains, subsets, strict=True):
        row[subset] = True
    uncovered, taken = np.ones(problem.records, np.bool_), []
    while (counts := (contains & uncovered).sum(axis=1)).any():
        problem.deadline.check()
        ratios = np.where(counts, costs / np.maximum(counts, 1), np.inf)
        taken.append(int(ratios.argmin()))
        uncovered[subsets[taken[-1]]] = False
    return Cover(tuple(subsets[subset] for subset in taken), np.flatnonzero(uncovered))
