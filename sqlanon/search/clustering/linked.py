"""Clusters that grow together: which two are closest, as clusters become one, leave and come.

Each cluster knows the one nearest to it when it was last looked at. One that came since and is
nearer has taken that place; where the nearest has gone, the distance is a lower bound, so a cluster
is only looked at again when that bound is the least of all. A look compares one cluster with all.

Source: Müllner 2011, "Modern hierarchical, agglomerative clustering algorithms", section 3.1 (the
generic algorithm).
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.closure_costs import NodeCosts
from sqlanon.search.clustering.distances import Distance, Extent, Spans
from sqlanon.search.clustering.nearest_listed import NearestListed, known_lists
from sqlanon.search.clustering.neighbours import Neighbours
from sqlanon.search.clustering.problem import ClusteringProblem, closed
from sqlanon.search.clustering.taxonomy import StackedTaxonomies

CROWDED = 0.25
"""Share of the places held for clusters that are gone above which these are given up."""
GONE = -1
"""The stamp of a place without a cluster, which no cluster has seen."""


class Linked:
    """Clusters at places 0, 1, …; of equally close ones those at the lowest places come first.

    Args:
        problem: The table.
        most: Most clusters at a time.
        distance: How far clusters are from each other.
    """

    def __init__(self, problem: ClusteringProblem, most: int, distance: Distance) -> None:
        self._problem, self._distance = problem, distance
        self._costs = NodeCosts(problem.taxonomies)
        self._stacked = StackedTaxonomies(problem.taxonomies)
        self._nodes = np.zeros((most, len(problem.taxonomies)), np.int64)
        self._codes = self._costs.codes(self._nodes)
        self._size, self._cost = np.ones(most, np.int64), np.zeros(most, np.int64)
        self._records: list[list[int]] = [[] for _ in range(most)]
        one = Extent(self._size[:1], self._cost[:1])
        self._least = distance(Extent(one.size * 2, one.cost), one, one).repeat(most)
        self._far = np.array(
            np.inf if self._least.dtype.kind == "f" else np.iinfo(np.int64).max, self._least.dtype
        )[()]
        self._listed = NearestListed(most, self._far)
        self._nearest = np.zeros(most, np.int64)
        self._stamp, self._seen = np.zeros(most, np.int64), np.zeros(most, np.int64)
        self._gone = np.ones(most, np.bool_)
        self._places, self._stamps, self.count = 0, 0, 0

    def start(self, clusters: list[list[int]], neighbours: Neighbours) -> None:
        """Takes the first clusters, each of copies of a combination, in the order of these."""
        if not clusters:
            return
        first = np.array([records[0] for records in clusters], np.int64)
        own, self.count = slice(len(clusters)), len(clusters)
        nodes = self._problem.leaves[first]  # leaves are nodes of the same number
        self._nodes[own], self._codes[:, own] = nodes, self._costs.codes(nodes)
        self._size[own], self._cost[own] = list(map(len, clusters)), self._problem.cost(nodes)
        self._gone[own], self._stamp[own] = False, np.arange(1, self.count + 1)
        self._places = self._stamps = self.count
        self._records[own] = clusters
        held = Extent(self._size[own], self._cost[own])
        places, distances = known_lists(
            held,
            neighbours.copies.combination[first],
            neighbours=neighbours,
            distance=self._distance,
            far=self._far,
        )
        self._listed.hold_all(places, distances, stamps=self._stamp)
        self._nearest[own], self._least[own] = places[:, 0], distances[:, 0]
        self._seen[own] = self._stamp[places[:, 0]]
        for number, place in enumerate(np.flatnonzero(distances[:, 0] == self._far)):
            if number % 64 == 0:
                self._problem.deadline.check()
            self._look(int(place))

    def add(self, records: list[int]) -> None:
        """Takes another cluster."""
        self._come(self._place(), records, nodes=self._closure(records))

    def unite(self, first: int, second: int) -> None:
        """Makes two clusters one, at the lower of their places."""
        first, second = sorted((first, second))
        nodes = self._stacked.join(self._nodes[first], self._nodes[second])
        self._come(first, self.take(first) + self.take(second), nodes=nodes)

    def size(self, place: int) -> int:
        """The records of a cluster."""
        return len(self._records[place])

    def take(self, place: int) -> list[int]:
        """The records of a cluster, which is gone."""
        self._gone[place], self._least[place], self._stamp[place] = True, self._far, GONE
        self.count -= 1
        records, self._records[place] = self._records[place], []
        return records

    def closest(self) -> tuple[int, int]:
        """The places of the two clusters that are closest, of two or more."""
        while True:
            place = int(self._least[: self._places].argmin())
            nearest = int(self._nearest[place])
            if self._stamp[nearest] == self._seen[place]:
                return place, nearest
            following = self._listed.following(place, self._stamp)
            if following is None:
                self._look(place)
                continue
            self._nearest[place], self._least[place] = following
            self._seen[place] = self._stamp[following[0]]

    def rest(self) -> list[int]:
        """The records of all clusters that are left."""
        return [record for records in self._records for record in records]

    def _closure(self, records: list[int]) -> Numbers:
        leaves = self._problem.leaves[records]
        nodes: Numbers = closed(self._problem, leaves, starts=np.zeros(1, np.int64))[0]
        return nodes

    def _put(self, place: int, records: list[int], *, nodes: Numbers) -> None:
        """Holds a cluster at a place that is free."""
        self._records[place], self._nodes[place] = records, nodes
        self._codes[:, place] = self._costs.codes(nodes[None])[:, 0]
        self._size[place], self._cost[place] = len(records), self._problem.cost(nodes)
        self._gone[place] = False
        self._stamps += 1
        self._stamp[place] = self._stamps
        self.count += 1

    def _come(self, place: int, records: list[int], *, nodes: Numbers) -> None:
        """Holds a cluster that others may be nearest to."""
        self._put(place, records, nodes=nodes)
        found = self._look(place)
        self._listed.come(found)
        least, nearest = self._least[: self._places], self._nearest[: self._places]
        near = np.flatnonzero((found <= least) & (found < self._far))
        near = near[(found[near] < least[near]) | (place <= nearest[near])]
        least[near], nearest[near] = found[near], place
        self._seen[near] = self._stamps
        if self._places - self.count > CROWDED * self._places:
            self._close_up()

    def _look(self, place: int) -> Spans:
        """Finds what is nearest to a cluster; its distances."""
        every = slice(self._places)
        own = Extent(self._size[place], self._cost[place])
        others = Extent(self._size[every], self._cost[every])
        joined = self._costs.joined(self._nodes[place], self._codes[:, every])
        found = self._distance(Extent(own.size + others.size, joined), own, others)
        np.copyto(found, self._far, where=self._gone[every])
        found[place] = self._far
        nearest = int(found.argmin())
        self._nearest[place], self._least[place] = nearest, found[nearest]
        self._seen[place] = self._stamp[nearest]
        self._listed.hold(place, found, stamps=self._stamp)
        return found

    def _place(self) -> int:
        """The place of another cluster, after all others."""
        if self._places == len(self._nodes):
            self._close_up()
        self._places += 1
        return self._places - 1

    def _close_up(self) -> None:
        """Gives up the places of clusters that are gone; the others keep their order.

        What was nearest and is gone stands for the first that follows it, since nothing before it
        was as near; it is still known to be gone by its stamp.
        """
        held = np.flatnonzero(~self._gone[: self._places])
        moved = np.cumsum(np.r_[False, ~self._gone[: self._places]])
        now = slice(len(held))
        for values in (self._nodes, self._size, self._cost, self._least, self._stamp, self._seen):
            values[now] = values[held]
        self._codes[:, now] = self._codes[:, held]
        self._nearest[now] = np.minimum(moved[self._nearest[held]], max(len(held) - 1, 0))
        self._listed.close_up(held, moved)
        self._records[: self._places] = [self._records[place] for place in held] + [
            [] for _ in range(self._places - len(held))
        ]
        self._gone[now], self._gone[len(held) :] = False, True
        self._places = len(held)
