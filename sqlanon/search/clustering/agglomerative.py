"""Agglomerative clustering (Gionis, Mazza and Tassa 2008, "k-Anonymization revisited", section V).

The two closest clusters become one, until all have k records. A cluster that has k records is set
aside: as it is, or in the modified variant without those that cost it most, which start anew by
themselves. What is left when one cluster remains goes where it is closest.

Which two are closest (`Linked`): each cluster knows the one nearest to it when it was last looked
at. One that came since and is nearer has taken that place; where the nearest has gone, the distance
is a lower bound, so a cluster is only looked at again when that bound is the least of all. A look
compares one cluster with all: 19,502 combinations of Adult take 5 s of processor time while they
are united, and never more memory than some rows and 64 neighbours of each. (To keep lists of the
next nearest saves looks, but no time.)

Sources: Kenig 2009, chapter 5, algorithms 6 and 7; Müllner 2011, "Modern hierarchical,
agglomerative clustering algorithms", section 3.1 (the generic algorithm).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.assign import join, mend
from sqlanon.search.clustering.closure_costs import NodeCosts
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    closures,
    records_of,
    set_closures,
)
from sqlanon.search.clustering.neighbours import Copies, Neighbours
from sqlanon.search.clustering.taxonomy import Taxonomy

Spans = NDArray[Any]
"""Distances: whole numbers [units] or, of a quotient, floating-point ones."""


class Extent(NamedTuple):
    """Clusters by their sizes [records] and by what a record in each costs [units]."""

    size: Numbers
    cost: Numbers


Distance = Callable[[Extent, Extent, Extent], Spans]
"""The distances of pairs of clusters, from their unions and from both parts of these."""


def _growth(union: Extent, first: Extent, second: Extent) -> Spans:
    """By how much the loss grows when both become one: |U| d(U) - |A| d(A) - |B| d(B).

    Source: Kenig 2009, equation (5.2).
    """
    grown: Spans = union.size * union.cost - first.size * first.cost - second.size * second.cost
    return grown


def _closure(union: Extent, first: Extent, second: Extent) -> Spans:
    """By how much a record costs more in the union than in both parts: d(U) - d(A) - d(B)."""
    return union.cost - first.cost - second.cost


def _closure_by_log(union: Extent, first: Extent, second: Extent) -> Spans:
    """The same over log |U|, in favour of large unions: they should come to k records soon."""
    distances: Spans = _closure(union, first, second) / np.log(union.size)
    return distances


DISTANCES: Mapping[str, Distance] = {
    "growth": _growth,
    "closure": _closure,
    "closure-log": _closure_by_log,
}
"""The distances of Gionis, Mazza and Tassa 2008, section V, whose formulas are exact."""


MAX_LOOKED_AT = 16
"""Most neighbours of a combination among which the nearest cluster is looked for."""
NOBODY = -1
"""In place of a neighbour that there is none of, or whose records have clusters already."""


def known_nearest(
    clusters: Extent,
    combination: Numbers,
    *,
    neighbours: Neighbours,
    distance: Distance,
    far: Spans,
) -> tuple[Numbers, Spans]:
    """What is nearest to clusters of copies, as far as the neighbours of their combinations tell.

    A record that is no neighbour costs no less at the closure with a combination than its last
    neighbour, so no cluster of such is nearer than one of the dearest records at that cost would
    be. By every distance that is nearest with fewest or with most records.

    Args:
        clusters: The clusters.
        combination: Per cluster its combination, in rising order.
        neighbours: The neighbours of all combinations.
        distance: How far clusters are from each other.
        far: The distance of what is not known.

    Returns:
        Per cluster the place of the nearest one and its distance, `far` where it is not known.
    """
    # What nobody is nearest to costs least, so that nothing is known of it.
    near = np.full((len(combination), MAX_LOOKED_AT), NOBODY)
    cost, last = np.zeros_like(near), np.zeros((len(combination), 1), np.int64)
    for row, number in enumerate(combination.tolist()):
        count = min(len(neighbours.near[number]), MAX_LOOKED_AT)
        if count:
            near[row, :count] = neighbours.near[number][:count]
            cost[row, :count] = neighbours.cost[number][:count]
            last[row] = cost[row, count - 1]
    place = np.full(len(neighbours.copies) + 1, NOBODY)
    place[combination] = np.arange(len(combination))
    others = place[near]
    extent = Extent(clusters.size[:, None], clusters.cost[:, None])
    there = Extent(clusters.size[others], clusters.cost[others])
    distances = distance(Extent(extent.size + there.size, cost), extent, there)
    if distances.dtype.kind == "f":  # a quotient of other arrays may differ in its last digit
        return np.zeros(len(others), np.int64), np.full(len(others), far)
    distances[others == NOBODY] = far
    bound = np.full_like(last, far)
    for size in (1, clusters.size.max(initial=1)):
        dearest = Extent(
            np.full_like(extent.size, size), np.full_like(extent.size, clusters.cost.max())
        )
        least = distance(Extent(extent.size + size, last), extent, dearest)
        np.minimum(bound, least, out=bound)
    complete = (near != NOBODY).sum(axis=1, keepdims=True) == len(neighbours.copies) - 1
    bound[complete] = far
    first = np.lexsort((others, distances))[:, :1]
    others, distances, cost = (
        np.take_along_axis(array, first, 1) for array in (others, distances, cost)
    )
    # Of records as near as the last neighbour those are neighbours that come first.
    is_known = (distances < bound) | ((distances == bound) & (cost == last) & (distances < far))
    return np.where(is_known, others, 0)[:, 0], np.where(is_known, distances, far)[:, 0]


MAX_SHARE_GONE = 0.25
"""Share of the places held for clusters that are gone above which these are given up."""
GONE = -1
"""The stamp of a place without a cluster, which no cluster has seen."""


class StackedTaxonomies:
    """Taxonomies of several columns in one set of arrays, for one node tuple at a time."""

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        sizes = [len(taxonomy.cost) for taxonomy in taxonomies]
        self._first_node = np.cumsum([0, *sizes[:-1]])
        self._first_leaf = np.cumsum([0, *(taxonomy.leaves for taxonomy in taxonomies[:-1])])
        self._low = np.concatenate(
            [taxonomy.low + at for taxonomy, at in zip(taxonomies, self._first_leaf, strict=True)]
        )
        self._high = np.concatenate(
            [taxonomy.high + at for taxonomy, at in zip(taxonomies, self._first_leaf, strict=True)]
        )
        levels = max(len(taxonomy.ancestors) for taxonomy in taxonomies)
        # A level above the highest one is the root once more.
        self._ancestors = np.concatenate(
            [
                np.pad(
                    taxonomy.ancestors, ((0, levels - len(taxonomy.ancestors)), (0, 0)), mode="edge"
                )
                for taxonomy in taxonomies
            ],
            axis=1,
        )

    def join(self, first: Numbers, second: Numbers) -> Numbers:
        """The closure of two node tuples, each of shape `(columns,)`."""
        first, second = first + self._first_node, second + self._first_node
        low = np.minimum(self._low[first], self._low[second])
        high = np.maximum(self._high[first], self._high[second])
        above = self._ancestors[:, low]
        level = (above == self._ancestors[:, high]).argmax(axis=0)
        closure: Numbers = above[level, np.arange(len(level))]
        return closure


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
        self._nearest = np.zeros(most, np.int64)
        self._stamp, self._seen = np.zeros(most, np.int64), np.zeros(most, np.int64)
        self._gone = np.ones(most, np.bool_)
        self._places, self._stamps, self.count = 0, 0, 0

    def start(self, clusters: list[list[int]], neighbours: Neighbours) -> None:
        """Takes the first clusters, each of copies of a combination, in the order of these."""
        if not clusters:
            return
        first = np.array([records[0] for records in clusters], np.int64)
        places, self.count = slice(len(clusters)), len(clusters)
        nodes = self._problem.leaves[first]  # leaves are nodes of the same number
        self._nodes[places], self._codes[:, places] = nodes, self._costs.codes(nodes)
        self._size[places], self._cost[places] = list(map(len, clusters)), self._problem.cost(nodes)
        self._gone[places], self._stamp[places] = False, np.arange(1, self.count + 1)
        self._places = self._stamps = self.count
        self._records[places] = clusters
        extent = Extent(self._size[places], self._cost[places])
        nearest, least = known_nearest(
            extent,
            neighbours.copies.combination[first],
            neighbours=neighbours,
            distance=self._distance,
            far=self._far,
        )
        self._nearest[places], self._least[places] = nearest, least
        self._seen[places] = self._stamp[nearest]
        for number, place in enumerate(np.flatnonzero(least == self._far)):
            if number % 64 == 0:
                self._problem.deadline.check()
            self._look(int(place))

    def add(self, records: list[int]) -> None:
        """Takes another cluster, at a place after all others."""
        if self._places == len(self._nodes):
            self._close_up()
        self._places += 1
        nodes = set_closures(self._problem, np.array(records))[0]
        self._come(self._places - 1, records, nodes=nodes)

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
            self._look(place)

    def rest(self) -> list[int]:
        """The records of all clusters that are left."""
        return [record for records in self._records for record in records]

    def _come(self, place: int, records: list[int], *, nodes: Numbers) -> None:
        """Puts a cluster that others may be nearest to at a place that is free."""
        self._records[place], self._nodes[place] = records, nodes
        self._codes[:, place] = self._costs.codes(nodes[None])[:, 0]
        self._size[place], self._cost[place] = len(records), self._problem.cost(nodes)
        self._gone[place] = False
        self._stamps += 1
        self._stamp[place] = self._stamps
        self.count += 1
        distances = self._look(place)
        least, nearest = self._least[: self._places], self._nearest[: self._places]
        near = np.flatnonzero((distances <= least) & (distances < self._far))
        near = near[(distances[near] < least[near]) | (place <= nearest[near])]
        least[near], nearest[near] = distances[near], place
        self._seen[near] = self._stamps
        if self._places - self.count > MAX_SHARE_GONE * self._places:
            self._close_up()

    def _look(self, place: int) -> Spans:
        """Finds what is nearest to a cluster; its distances."""
        every = slice(self._places)
        extent = Extent(self._size[place], self._cost[place])
        others = Extent(self._size[every], self._cost[every])
        joined = self._costs.joined(self._nodes[place], self._codes[:, every])
        distances = self._distance(Extent(extent.size + others.size, joined), extent, others)
        np.copyto(distances, self._far, where=self._gone[every])
        distances[place] = self._far
        nearest = int(distances.argmin())
        self._nearest[place], self._least[place] = nearest, distances[nearest]
        self._seen[place] = self._stamp[nearest]
        return distances

    def _close_up(self) -> None:
        """Gives up the places of clusters that are gone; the others keep their order.

        What was nearest and is gone stands for the first that follows it, since nothing before it
        was as near; it is still known to be gone by its stamp.
        """
        kept = np.flatnonzero(~self._gone[: self._places])
        moved = np.cumsum(np.r_[False, ~self._gone[: self._places]])
        now = slice(len(kept))
        for values in (self._nodes, self._size, self._cost, self._least, self._stamp, self._seen):
            values[now] = values[kept]
        self._codes[:, now] = self._codes[:, kept]
        self._nearest[now] = np.minimum(moved[self._nearest[kept]], max(len(kept) - 1, 0))
        self._records[: self._places] = [self._records[place] for place in kept] + [
            [] for _ in range(self._places - len(kept))
        ]
        self._gone[now], self._gone[len(kept) :] = False, True
        self._places = len(kept)


def agglomerative(
    problem: ClusteringProblem,
    neighbours: Neighbours,
    *,
    distance: str = "growth",
    modified: bool = False,
) -> Clustering:
    """Clusters of k to 2k - 2 records that satisfy the demand, or more with what was left over.

    Args:
        problem: The table.
        neighbours: The neighbours of its combinations.
        distance: One of `DISTANCES`.
        modified: Whether a cluster gives back what it has beyond k records.

    Raises:
        TimeLimitError: The problem's deadline came before there were any.
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    parts = ripe_parts(problem, neighbours, distance=DISTANCES[distance], modified=modified)
    return mend(problem, Clustering.of(problem, parts))


def ripe_parts(
    problem: ClusteringProblem, neighbours: Neighbours, *, distance: Distance, modified: bool
) -> Numbers:
    """The cluster of each record.

    Records alike lose nothing together, so before anything else they are clusters of k copies, and
    one of the copies that are left; those that a cluster gives back stay together, too.

    Source: Kenig 2009, algorithms 6 and 7.
    """
    copies = neighbours.copies
    done, rest = _of_copies(copies, problem.k)
    linked = Linked(problem, max(len(rest), 1), distance)
    linked.start(rest, neighbours)
    first_count = linked.count
    while linked.count > 1:
        problem.deadline.check()
        advance(1 - linked.count / first_count)
        first, second = linked.closest()
        if linked.size(first) + linked.size(second) < problem.k:
            linked.unite(first, second)
            continue
        first, second = sorted((first, second))
        records = linked.take(first) + linked.take(second)
        done.append(shrunk(problem, records) if modified else records)
        for back in _alike(set(records).difference(done[-1]), copies):
            linked.add(back)
    label = np.full(problem.records, NOWHERE, np.int64)
    for number, records in enumerate(done):
        label[records] = number
    _place_rest(problem, label, rest=sorted(linked.rest()), distance=distance)
    return label


def shrunk(problem: ClusteringProblem, records: list[int]) -> list[int]:
    """The k records that stay of a ripe cluster.

    The record goes without which the others cost least, the first among equals, then the next. By
    every distance it is the one of the largest distance between the cluster and what is left of it,
    since these differ in the cost of what is left alone. (As printed, the source takes one out each
    time that it has worked out one distance; all of them must be known to take the largest.)

    Source: Kenig 2009, algorithm 7.
    """
    kept = np.sort(records)
    while len(kept) > problem.k:
        problem.deadline.check()
        kept = np.delete(kept, _costs_without(problem, problem.leaves[kept]).argmin())
    left: list[int] = kept.tolist()
    return left


def _costs_without(problem: ClusteringProblem, leaves: Numbers) -> Numbers:
    """What a record costs at the closure of all records but each one, of three or more [units]."""
    ordered = np.sort(leaves, axis=0)
    low = np.where(leaves == ordered[0], ordered[1], ordered[0])
    high = np.where(leaves == ordered[-1], ordered[-2], ordered[-1])
    columns = enumerate(problem.taxonomies)
    return problem.cost(np.stack([t.closure(low[:, j], high[:, j]) for j, t in columns], axis=1))


def _of_copies(copies: Copies, k: int) -> tuple[list[list[int]], list[list[int]]]:
    """Clusters of k records alike, and those of the fewer than k that are left of each kind."""
    done, rest = list[list[int]](), list[list[int]]()
    for group in records_of(copies.combination):
        ripe = len(group) // k * k
        done += group[:ripe].reshape(-1, k).tolist()
        if ripe < len(group):
            rest.append(group[ripe:].tolist())
    return done, rest


def _alike(records: set[int], copies: Copies) -> list[list[int]]:
    """The records in groups of copies, by first records."""
    groups: dict[int, list[int]] = {}
    for record in sorted(records):
        groups.setdefault(int(copies.combination[record]), []).append(record)
    return list(groups.values())


def _place_rest(
    problem: ClusteringProblem, label: Numbers, *, rest: list[int], distance: Distance
) -> None:
    """Puts each record that is left into the cluster that it is closest to."""
    nodes, sizes = closures(problem, label), np.bincount(label[label != NOWHERE])
    costs = problem.cost(nodes)
    for record in rest:
        leaves = problem.leaves[record]
        joined = join(problem, nodes, other=leaves)
        union = Extent(sizes + 1, problem.cost(joined))
        extent = Extent(np.ones(1, np.int64), problem.cost(leaves[None]))
        cluster = int(distance(union, extent, Extent(sizes, costs)).argmin())
        label[record] = cluster
        sizes[cluster] += 1
        nodes[cluster], costs[cluster] = joined[cluster], union.cost[cluster]
