"""Nearest clusters, several of each: where the nearest is gone, the next one is known.

A list holds what is nearest to a cluster at some time, the nearest first, then by place; all that
was there then and is not listed is farther, or at a later place. What comes later is not listed,
but how near it came is remembered: what is listed below that is nearer than all others.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.distances import Distance, Extent, Spans
from sqlanon.search.clustering.neighbours import Neighbours

LISTED = 16
"""Most clusters in a list."""
NOBODY = -1
"""In place of a neighbour that there is none of, or whose records have clusters already."""


class NearestListed:
    """The lists of clusters, each at a place of its own.

    Args:
        most: Most clusters at a time.
        far: A distance above all others.
    """

    def __init__(self, most: int, far: Spans) -> None:
        self._places = np.zeros((most, LISTED), np.int64)
        self._stamps = np.zeros((most, LISTED), np.int64)
        self._distances = np.full((most, LISTED), far)
        self._next = np.zeros(most, np.int64)
        self._came = np.full(most, far)
        self._far = far

    def hold(self, place: int, found: Spans, *, stamps: Numbers) -> None:
        """Lists what is nearest to a cluster, from its distances to all."""
        near = np.arange(len(found))
        if len(found) > LISTED:
            near = np.flatnonzero(found <= np.partition(found, LISTED - 1)[LISTED - 1])
        near = near[found[near].argsort(kind="stable")[:LISTED]]
        count = len(near)
        self._places[place, :count], self._stamps[place, :count] = near, stamps[near]
        self._distances[place, :count] = found[near]
        self._places[place, count:], self._distances[place, count:] = 0, self._far
        self._next[place], self._came[place] = 0, self._far

    def hold_all(self, places: Numbers, distances: Spans, *, stamps: Numbers) -> None:
        """Lists what is nearest to the clusters at places 0, 1, …, known before.

        Args:
            places: Per cluster the nearest ones, in the order of a list.
            distances: Their distances, `far` where nothing is known any more.
            stamps: The stamps of all clusters.
        """
        count, width = places.shape
        self._places[:count, :width], self._distances[:count, :width] = places, distances
        self._stamps[:count, :width] = stamps[places]

    def come(self, found: Spans) -> None:
        """Remembers how near a cluster comes to each other one."""
        came = self._came[: len(found)]
        np.minimum(came, found, out=came)

    def following(self, place: int, stamps: Numbers) -> tuple[int, Spans] | None:
        """The nearest cluster that is left, and its distance; None where it is not known."""
        for number in range(int(self._next[place]), LISTED):
            distance = self._distances[place, number]
            if distance >= self._came[place]:
                return None
            nearest = int(self._places[place, number])
            if stamps[nearest] == self._stamps[place, number]:
                self._next[place] = number
                return nearest, distance
        return None

    def close_up(self, held: Numbers, moved: Numbers) -> None:
        """Keeps the lists of some places, in their order, and tells where all have gone."""
        now = slice(len(held))
        for values in (self._stamps, self._distances, self._next, self._came):
            values[now] = values[held]
        self._places[now] = np.minimum(moved[self._places[held]], max(len(held) - 1, 0))


def known_lists(
    held: Extent,
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
        held: The clusters.
        combination: Per cluster its combination, in rising order.
        neighbours: The neighbours of all combinations.
        distance: How far clusters are from each other.
        far: The distance of what is not known.

    Returns:
        Per cluster places and distances, the nearest first, as far as nothing else is nearer.
    """
    near, cost, last = _padded(combination, neighbours)
    place = np.full(len(neighbours.copies) + 1, NOBODY)
    place[combination] = np.arange(len(combination))
    others = place[near]
    own = Extent(held.size[:, None], held.cost[:, None])
    there = Extent(held.size[others], held.cost[others])
    found = distance(Extent(own.size + there.size, cost), own, there)
    if found.dtype.kind == "f":  # a quotient of other arrays may differ in its last digit
        return np.zeros_like(others), np.full(others.shape, far)
    found[others == NOBODY] = far
    bound = np.full_like(last, far)
    for size in (1, held.size.max(initial=1)):
        dearest = Extent(np.full_like(own.size, size), np.full_like(own.size, held.cost.max()))
        least = distance(Extent(own.size + size, last), own, dearest)
        np.minimum(bound, least, out=bound)
    complete = (near != NOBODY).sum(axis=1, keepdims=True) == len(neighbours.copies) - 1
    bound[complete] = far
    order = np.lexsort((others, found))
    others, found, cost = (np.take_along_axis(each, order, 1) for each in (others, found, cost))
    # Of records as near as the last neighbour those are listed that come first.
    is_known = (found < bound) | ((found == bound) & (cost == last) & (found < far))
    is_known = np.logical_and.accumulate(is_known, axis=1)
    return np.where(is_known, others, 0), np.where(is_known, found, far)


def _padded(combination: Numbers, neighbours: Neighbours) -> tuple[Numbers, Numbers, Numbers]:
    """The neighbours of combinations, what these cost, and what the last one does; else `NOBODY`.

    What nobody is nearest to costs least, so that nothing is known of it.
    """
    near = np.full((len(combination), LISTED), NOBODY)
    cost, last = np.zeros_like(near), np.zeros((len(combination), 1), np.int64)
    for row, number in enumerate(combination.tolist()):
        own = neighbours.near[number][:LISTED]
        if len(own):
            near[row, : len(own)], cost[row, : len(own)] = own, neighbours.cost[number][: len(own)]
            last[row] = cost[row, len(own) - 1]
    return near, cost, last
