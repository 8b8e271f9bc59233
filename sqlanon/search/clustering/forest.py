"""Forest (Aggarwal et al. 2005, "Approximation algorithms for k-anonymity"): trees, cut.

Every record is joined to one of its nearest neighbours, and large trees are cut.

In the graph of all records an edge costs what a record does at the closure of its two ends. The
first phase joins each tree of fewer than k records, by an edge from its root, to the nearest record
outside; so no edge costs more than the (k - 1)-th nearest neighbour of its record, which is no more
than that record costs in any cluster of k. The second phase cuts trees of more than 3 (k - 1)
records in two, each part of k records or more. A closure costs no more than the edges of a tree
that holds its records, so the loss is at most 3 (k - 1) times the least possible.

Source: Kenig 2009, section 4.3, algorithms 4 and 5.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.assign import mend
from sqlanon.search.clustering.clustering_problem import Clustering, ClusteringProblem
from sqlanon.search.clustering.neighbours import Neighbours

ROOT = -1
"""The parent of the root of a tree."""


def forest(problem: ClusteringProblem, neighbours: Neighbours) -> Clustering:
    """Clusters of at least k records that satisfy the demand.

    Raises:
        TimeLimitError: The problem's deadline came before there were any.
        UnsatisfiableError: All records together do not satisfy the demand.
    """
    trees = grown(problem, neighbours)
    return mend(problem, Clustering.of(problem, decomposed(trees, problem.k)))


@dataclass(frozen=True, slots=True)
class SpanningForest:
    """A spanning forest of the records, each tree directed to its root.

    Args:
        parent: Per record the one that it is joined to, or `ROOT`.
        cost: What that edge costs [units]; 0 for a root.
    """

    parent: Numbers
    cost: Numbers


def grown(problem: ClusteringProblem, neighbours: Neighbours) -> SpanningForest:
    """A forest of trees of k records and more, whose edges cost no more than any k-anonymization.

    Cheap edges come first. All copies of a combination are joined to the first of them, which is
    joined on where they are fewer than k: there are k - 1 neighbours and fewer other records in its
    tree, so one of them is outside.

    Source: Kenig 2009, algorithm 4 and lemma 4.3.3.
    """
    copies = neighbours.copies
    parent, cost = copies.first[copies.combination], neighbours.alone[copies.combination]
    parent[copies.first], cost[copies.first] = ROOT, 0
    trees, near, costs = _Trees(copies.sizes), list(neighbours.near), list(neighbours.cost)
    place = [0] * len(near)  # trees only grow, so a neighbour that was inside stays inside
    lacking = np.flatnonzero(copies.sizes < problem.k).tolist()
    waiting = [(int(neighbours.cost[node][0]), node) for node in lacking]
    heapq.heapify(waiting)
    while waiting:
        edge, node = heapq.heappop(waiting)
        if trees.size[trees.of(node)] >= problem.k:
            continue
        problem.deadline.check()
        advance(1 - len(waiting) / len(lacking))
        tree = trees.of(node)
        while True:
            if place[node] == len(near[node]):
                more, dearer = neighbours.search.of(node)
                near[node], costs[node] = more[: 2 * place[node]], dearer[: 2 * place[node]]
            other = int(near[node][place[node]])
            if trees.of(other) != tree:
                break
            place[node] += 1
        edge_cost = int(costs[node][place[node]])
        if edge_cost > edge:
            heapq.heappush(waiting, (edge_cost, node))
            continue
        parent[copies.first[node]], cost[copies.first[node]] = copies.first[other], edge_cost
        trees.unite(node, other)
    return SpanningForest(parent, cost)


class _Trees:
    """Which tree each combination is in, by union and find."""

    def __init__(self, sizes: Numbers) -> None:
        self._parent = list(range(len(sizes)))
        self.size: list[int] = sizes.tolist()

    def of(self, node: int) -> int:
        """The number of the tree of a combination."""
        parent = self._parent
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    def unite(self, first: int, second: int) -> None:
        """Makes the trees of two combinations one."""
        small, large = sorted((self.of(first), self.of(second)), key=self.size.__getitem__)
        self._parent[small] = large
        self.size[large] += self.size[small]


def decomposed(trees: SpanningForest, k: int) -> Numbers:
    """The component of each record, of k to 3 (k - 1) records; for k = 1 each by itself.

    A large tree is looked at from the lowest vertex that has k records below it and itself, so that
    each of its subtrees but the one upwards has fewer. Where k records or more are upwards, that is
    one tree and the rest another. Else subtrees go together, until they are k records: a forest of
    at most 2 (k - 1), which an unseen copy of the vertex connects for the edges that they had; and
    a tree of k or more is left. (The source says a sum of exactly k, which subtrees need not have.)
    Any vertex may be the first one, and from this one the first step of the source always suffices.

    Source: Kenig 2009, algorithm 5, lemmas 4.3.4 and 4.3.5.
    """
    return _Decomposition(trees, k).run()


class _Decomposition:
    """Trees that are being cut, from the leaves up."""

    def __init__(self, trees: SpanningForest, k: int) -> None:
        self._parent, self._cost = trees.parent.tolist(), trees.cost.tolist()
        self._k, self._most = k, max(3 * (k - 1), 1)
        self._below = [1] * len(self._parent)
        self._children: list[list[int]] = [[] for _ in self._parent]
        self._label = [ROOT] * len(self._parent)
        self._numbers = count()

    def run(self) -> Numbers:
        """The number of each record's component."""
        order, root = self._down()
        left = np.bincount(root).tolist()
        for vertex in reversed(order):
            if left[root[vertex]] > self._most and self._below[vertex] >= self._k:
                left[root[vertex]] = self._cut(vertex, left[root[vertex]])
            above = self._parent[vertex]
            if above != ROOT and self._label[vertex] == ROOT:
                self._below[above] += self._below[vertex]
                self._children[above].append(vertex)
        for vertex in order:
            if self._label[vertex] == ROOT:
                above = self._parent[vertex]
                self._label[vertex] = next(self._numbers) if above == ROOT else self._label[above]
        return np.array(self._label)

    def _down(self) -> tuple[list[int], list[int]]:
        """The records, each after its parent, and the root of each one's tree."""
        below: list[list[int]] = [[] for _ in self._parent]
        order, root = list[int](), list(range(len(self._parent)))
        for vertex, above in enumerate(self._parent):
            (order if above == ROOT else below[above]).append(vertex)
        for vertex in order:
            for child in below[vertex]:
                root[child] = root[vertex]
            order += below[vertex]
        return order, root

    def _cut(self, vertex: int, size: int) -> int:
        """Cuts a large tree at a vertex; how many records are still to be looked at.

        Args:
            vertex: The vertex, none of whose subtrees below has k records.
            size: The records of the tree.
        """
        below = self._below[vertex]
        if size - below >= self._k:
            self._label[vertex] = next(self._numbers)
            self._split(vertex, below, upwards=0)
            return size - below
        self._split(vertex, size, upwards=size - below)
        return 0

    def _split(self, vertex: int, size: int, *, upwards: int) -> None:
        """Takes forests of subtrees from a tree until it is not large any more.

        Args:
            vertex: The vertex below which the subtrees are, each of fewer than k records.
            size: The records of the tree.
            upwards: Those of the subtree that holds the parent of the vertex.
        """
        subtrees = [(self._cost[c], c, self._below[c]) for c in self._children[vertex]]
        if upwards:
            subtrees.append((self._cost[vertex], ROOT, upwards))
        subtrees.sort()
        while size > self._most:
            number, taken = next(self._numbers), 0
            while taken < self._k:
                _, child, records = subtrees.pop()
                taken += records
                if child == ROOT:
                    self._lift(vertex, number)
                else:
                    self._label[child] = number
            size -= taken

    def _lift(self, vertex: int, number: int) -> None:
        """Gives all that is above a vertex to a component, and the vertex to one of its own."""
        self._label[vertex] = next(self._numbers)
        while self._parent[vertex] != ROOT:
            vertex = self._parent[vertex]
        self._label[vertex] = number
