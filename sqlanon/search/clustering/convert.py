"""Conversion of a cover into clusters: records in several sets are left in one.

Sources: Park and Shim 2007, section 4.2, figure 6 (CONVERT); Kenig 2009, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem


def convert(problem: ClusteringProblem, sets: Sequence[Numbers]) -> list[Numbers]:
    """Disjoint sets of at least k records that hold the records of such sets, at no higher cost.

    Of two sets that share a record the larger one loses it, as long as it keeps k records; two sets
    of k are united, which makes at most 2k - 1. Where the demand forbids a removal, the other set
    loses the record, or they are united, so that sets can grow beyond 2k - 1. The sum of the costs
    of the sets' closures never rises: a closure never grows by a removal, and one of a union costs
    no more than both do, as they share a record.
    """
    return _Conversion(problem, sets).run()


class _Conversion:
    """Sets of records, and the sets that own each record."""

    def __init__(self, problem: ClusteringProblem, sets: Sequence[Numbers]) -> None:
        self._problem = problem
        self._sets = [set(records.tolist()) for records in sets]
        self._owners: dict[int, list[int]] = {}
        for number, records in enumerate(self._sets):
            for record in records:
                self._owners.setdefault(record, []).append(number)

    def run(self) -> list[Numbers]:
        """Looks at each record in turn."""
        for record in sorted(self._owners):
            self._problem.deadline.check()
            while len(owners := self._owners[record]) > 1:
                self._separate(record, owners[0], second=owners[1])
        return [np.array(sorted(records)) for records in self._sets if records]

    def _separate(self, record: int, first: int, *, second: int) -> None:
        """Takes a record out of one of two sets, or unites them."""
        for number in sorted((first, second), key=lambda n: -len(self._sets[n])):
            if self._may_lose(number, record):
                self._sets[number].remove(record)
                self._owners[record].remove(number)
                return
        self._unite(first, second)

    def _may_lose(self, number: int, record: int) -> bool:
        """Whether a set may stand without a record."""
        if len(self._sets[number]) <= self._problem.k:
            return False
        if self._problem.demand is None:
            return True
        rest = np.array(sorted(self._sets[number] - {record}))
        return self._problem.demand.holds(rest)

    def _unite(self, first: int, second: int) -> None:
        """Moves everything of one set to another."""
        for record in self._sets[second]:
            owners = self._owners[record]
            owners.remove(second)
            if first not in owners:
                owners.append(first)
        self._sets[first] |= self._sets[second]
        self._sets[second] = set()
