"""Diameter cover (after Meyerson and Williams 2004, "On the complexity of optimal k-anonymity").

Sets of near records whose diameters sum to little, made disjoint.

The distance of two records is what each costs at the closure of both; where cells are kept or
suppressed it is the number of attributes in which they differ. A set is a record, its centre, with
others within some radius, so its diameter is at most twice that. Greedily the set is taken that has
the least such diameter for each record that is in no set yet; sets that share records are then
separated as in any cover.

Of each radius one set of at most 2k - 1 records is looked at, those first that are in no set yet.
Balls of all records within a radius would do for a cover, but not for clusters: a ball of
everything costs least for each record, and must then be split without regard to distances.

Take any partition into parts of k to 2k - 1 records. While i records of a part are in no set, there
is a set around one of them that takes i records, for at most twice the diameter of the part. So the
sum of the diameters is at most 2 (1 + 1/2 + ... + 1/(2k - 1)) times the least of such a partition.
A closure costs no more than the edges from a centre to all others together, and a part of the best
recoding no less than k times its diameter, so the loss is at most 4k (1 + ln 2k) times the least
possible.

The diameter sum is that of the source, which covers by it in time that does not grow exponentially
with k, too; see also Park and Shim 2007, sections 3.2 and 5.1 (APPROX-DS). The sets and the proof
are ours.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.assign import mend
from sqlanon.search.clustering.clustering_problem import Clustering, ClusteringProblem, records_of
from sqlanon.search.clustering.neighbours import FARTHEST, Neighbours, nearest
from sqlanon.search.clustering.set_cover import convert

MIN_SHARE_OPEN = 0.9
"""Share of the combinations looked at with records in no ball, below which the others are left."""


def diameter_cover(problem: ClusteringProblem, neighbours: Neighbours) -> Clustering:
    """Clusters of k to 2k - 1 records.

    They have more where the demand asks for it, and where clusters of one closure are united (see
    `Clustering.of`), as they are published as one class.

    Raises:
        TimeLimitError: The problem's deadline came before there were any.
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    label = np.empty(problem.records, np.int64)
    balls = covering_balls(problem, neighbours)
    for number, records in enumerate(convert(problem, [ball.records for ball in balls])):
        label[records] = number
    return mend(problem, Clustering.of(problem, label))


@dataclass(frozen=True, slots=True)
class Ball:
    """A set of k to 2k - 1 records around one of them.

    Args:
        radius: Distance of the farthest record from the centre at most [units].
        records: Its records, those that no earlier ball holds first, the centre first of all.
        fresh: How many those are.
    """

    radius: int
    records: Numbers
    fresh: int


def covering_balls(problem: ClusteringProblem, neighbours: Neighbours) -> list[Ball]:
    """Balls that hold every record, each the best at its time.

    As balls are taken, others lose records that are in none yet, so what they cost for each only
    grows: one is looked at again when what was known of it is the least of all.
    """
    cover, balls, covered = _Cover(problem, neighbours), list[Ball](), 0
    waiting = [(2 * least / (2 * problem.k - 1), c) for c, least in enumerate(neighbours.bound)]
    heapq.heapify(waiting)
    while waiting:
        problem.deadline.check()
        _, centre = heapq.heappop(waiting)
        if not cover.left[centre]:
            continue
        best = cover.best(centre)
        if waiting and (best.price, centre) > waiting[0]:
            heapq.heappush(waiting, (best.price, centre))
            continue
        balls.append(cover.take(best))
        covered += balls[-1].fresh
        advance(covered / problem.records)
        heapq.heappush(waiting, (best.price, centre))
    return balls


@dataclass(frozen=True, slots=True)
class _Choice:
    """The best ball around a centre.

    Args:
        centre: The combination of its centre.
        radius: Its radius [units].
        price: Twice that for each record that is in no ball yet.
        fresh: How many those are, at most 2k - 1.
        near: The combinations of such records other than the centre's, the nearest first.
    """

    centre: int
    radius: int
    price: float
    fresh: int
    near: Numbers


class _Cover:
    """Which records are in a ball: of the copies of each combination the first ones."""

    def __init__(self, problem: ClusteringProblem, neighbours: Neighbours) -> None:
        copies = neighbours.copies
        self._problem, self._neighbours = problem, neighbours
        # What is looked at: combinations that had records in no ball some time ago.
        self._pairs, self._open = neighbours.search.pairs, np.arange(len(copies))
        self._place = self._open.copy()
        self._records = records_of(copies.combination)
        self.left = copies.sizes.copy()

    def best(self, centre: int) -> _Choice:
        """The ball around a record in none yet that takes least for each such record."""
        most = 2 * self._problem.k - 1
        row, left, place = self._row(centre)
        row[left == 0] = row[place] = FARTHEST
        near = nearest(self._problem, row, most, sizes=left)
        near = near[row[near] < FARTHEST]
        far, near = row[near], self._open[near]
        fresh = np.minimum(np.cumsum(np.r_[self.left[centre], self.left[near]]), most)
        radius = np.r_[self._neighbours.alone[centre], far]
        radius = np.maximum(radius, self._neighbours.bound[centre])
        price = 2 * radius / fresh
        chosen = len(price) - 1 - int(price[::-1].argmin())
        return _Choice(
            centre, int(radius[chosen]), float(price[chosen]), int(fresh[chosen]), near[:chosen]
        )

    def _row(self, centre: int) -> tuple[Numbers, Numbers, int]:
        """Distances from a centre, records in no ball beside each, and the place of the centre."""
        left = self.left[self._open]
        if np.count_nonzero(left) < MIN_SHARE_OPEN * len(left):
            kept = np.flatnonzero(left)
            self._pairs, self._open, left = self._pairs.part(kept), self._open[kept], left[kept]
            self._place[self._open] = np.arange(len(kept))
        place = int(self._place[centre])
        return self._pairs.row(place), left, place

    def take(self, choice: _Choice) -> Ball:
        """The records of a ball, with the nearest ones of other balls where they are too few."""
        chosen = list[int]()
        for combination in [choice.centre, *choice.near.tolist()]:
            records, left = self._records[combination], int(self.left[combination])
            taken = min(left, choice.fresh - len(chosen))
            start = len(records) - left
            chosen += records[start : start + taken].tolist()
            self.left[combination] -= taken
        fresh = len(chosen)
        if fresh < self._problem.k:
            chosen += self._others(choice.centre, set(chosen))[: self._problem.k - fresh]
        return Ball(choice.radius, np.array(chosen), fresh)

    def _others(self, centre: int, chosen: set[int]) -> list[int]:
        """The nearest records of a centre that are not chosen, enough for k together."""
        near = [centre, *self._neighbours.search.of(centre)[0].tolist()]
        return [r for c in near for r in self._records[c].tolist() if r not in chosen]
