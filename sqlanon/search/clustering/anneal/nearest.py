"""Nearest others: the records whose values of sensitive attributes differ, nearest first.

Only records of one division, which may share a cluster, are neighbours.

The distance of two records is the cost of their closure, the weight of an edge between them in the
source. Rows of distances are made when they are first asked for, and of each only the nearest few
are kept, so that memory grows with the records and not with their pairs.

Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
utility", sections II.E and III.A.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.closure_costs import NodeCosts
from sqlanon.search.clustering.problem import ClusteringProblem

NEAR = 48
"""Nearest records that are kept of each; a larger number is drawn once in as many turns."""


def drawn_number(x: float, *, below: int) -> int:
    """NUMBER-GEN: the whole part of 1 / x where that is below a number, else 1.

    With x uniform in (0, 1] the number z has probability 1 / (z (z + 1)), so z is (z + 2) / z times
    as probable as z + 1. The source says double: that is so for z = 2 alone; 1 is three times as
    probable as 2, and large numbers are about as probable as the next.

    Args:
        x: A number in [0, 1]; 0 counts as one that is too small.
        below: Above the largest number wanted.
    """
    if not x * below > 1:  # 1 / x would not be below it
        return 1
    number = int(1 / x)
    return number if number < below else 1


class NearestOthers:
    """The records of other values than a record's own, by distance, equal ones in random order.

    Args:
        problem: The table.
        values: `values[record, attribute]`: numbers of the sensitive values.
        among: Which records are in a cluster; no other is anybody's neighbour.
        random: Draws the order of equal distances.
    """

    def __init__(
        self,
        problem: ClusteringProblem,
        values: Numbers,
        *,
        among: Flags,
        random: np.random.Generator,
    ) -> None:
        self._leaves, self._random = problem.leaves, random
        combinations, at = np.unique(problem.leaves, axis=0, return_inverse=True)
        self._combination = at.ravel()
        self._costs = NodeCosts(problem.taxonomies)
        self._codes = self._costs.codes(combinations)
        self.group = np.unique(values, axis=0, return_inverse=True)[1].ravel()
        """Per record a number of its values."""
        self._among, self._division = among, problem.division
        self._alike = self._division * (int(self.group.max()) + 1) + self.group
        self._open = np.bincount(self._division[among])
        self._sizes = np.bincount(self._alike[among], minlength=int(self._alike.max()) + 1)
        self._near: dict[int, Numbers] = {}

    def others(self, record: int) -> int:
        """How many records of its division, in clusters, have other values than one."""
        whole, alike = self._open[self._division[record]], self._sizes[self._alike[record]]
        return int(whole) - int(alike)

    def distances(self, record: int) -> Numbers:
        """The cost of the closure of a record with every record [units]."""
        far = self._costs.joined(self._leaves[record], self._codes)
        found: Numbers = far.take(self._combination)
        return found

    def of(self, record: int, place: int, *, label: Numbers) -> int:
        """The record of other values in another cluster that is nearest but so many less one.

        Args:
            record: The record.
            place: 1 for the nearest; at most as many as there are.
            label: The cluster of each record.
        """
        if record not in self._near:
            self._near[record] = self._nearest(record)
        near = self._near[record]
        free = near[label[near] != label[record]]
        if place <= len(free):
            return int(free[place - 1])
        allowed = self._differing(record) & (label != label[record])
        return self._at(record, place, allowed=allowed)

    def _differing(self, record: int) -> Flags:
        found: Flags = self._among & (self.group != self.group[record])
        if self._open[self._division[record]] < len(self._among):
            found &= self._division == self._division[record]
        return found

    def _nearest(self, record: int) -> Numbers:
        """The nearest few, in order."""
        allowed = np.flatnonzero(self._differing(record))
        far = self.distances(record)[allowed]
        if len(far) > NEAR:
            within = far <= np.partition(far, NEAR - 1)[NEAR - 1]
            allowed, far = allowed[within], far[within]
        order = np.lexsort((self._random.random(len(far)), far))[:NEAR]
        return allowed[order].astype(np.int32)

    def _at(self, record: int, place: int, *, allowed: Flags) -> int:
        """The one at a place among those allowed, by a row that is not kept."""
        records = np.flatnonzero(allowed)
        far = self.distances(record)[records]
        alike = records[far == np.partition(far, place - 1)[place - 1]]
        return int(alike[int(self._random.random() * len(alike))])
