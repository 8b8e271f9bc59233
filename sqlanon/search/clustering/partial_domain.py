"""Partial domain (Khaitan, Babu, Jena and Majhi, section III.C.2): groups, each with its own node.

Figure 2 of the source, the flowchart of the algorithm, cannot be read any more. Built is what the
text says: "different tuples can be anonymized to different extents"; some groups "could have been
k-anonymized at a lower cost" than by the node that all others need; E(v) balances cost and purity,
and need not "be calculated for the entire dataset at each generalization level"; the time is
polynomial. Read so:

1. The best node of the full domain under E(v), where every class satisfies the policy. A lattice of
   up to `MAX_NODES` nodes is looked through; in a larger one the node is reached from the top, one
   column one level down at a time, each time to the least E(v) of those that satisfy the policy.
2. From there each class goes down by itself: it is cut at one column, between the nodes right below
   its own; subgroups that satisfy the policy leave, what remains stays together at the node, with
   the smallest subgroups where it fails otherwise. Of all columns the one is taken that leaves the
   least E of the whole release; for that the group's own records are looked at, and two sums.
3. A group is published as its closure: no record is generalized further than its group needs.

A cut lowers the cost, since closures only shrink, and never the purity, since a sum of squares over
n is subadditive (Cauchy-Schwarz: a group of several is no purer than they are). So E falls with
every cut, and the result is never above the node of step 1, which on lattices of up to `MAX_NODES`
nodes is the best of the full domain. To go up instead, and to leave what is not anonymous yet to
higher nodes, would strew records of all regions over the last groups, which then say nothing.

E is the cost over the purity gain, the mean over the sensitive attributes, as in
`loss.measures.utility`. The cost is that of the problem, so the source's is the tree measure. Where
no purity is gained, or there is no sensitive attribute, costs are compared alone.

Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
utility", section III.C.2.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod

import numpy as np

from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers, packed, united
from sqlanon.search.clustering.assign import mend
from sqlanon.search.clustering.clustering_problem import (
    Clustering,
    ClusteringProblem,
    records_of,
    set_closures,
)

MAX_NODES = 500
"""Most nodes of a lattice that is looked through."""
PURITY_ROUNDING = 1e-12
"""Purity that may be gained by rounding alone."""


def purity_squares(values: Numbers, group: Numbers) -> float:
    """Summed over groups, the squared counts of values over the records that count.

    It is the number of records times the purity: the mean over the attributes.

    Args:
        values: `values[record, attribute]`: the number of the value, -1 where it does not count.
        group: The group of each record, from 0.
    """
    attributes = values.shape[1]
    total = 0.0
    for value in values.T:
        there = value >= 0
        width = int(value.max(initial=0)) + 1
        pairs, counts = np.unique(group[there] * width + value[there], return_counts=True)
        sizes = np.bincount(group[there], minlength=int(group.max(initial=0)) + 1)
        squares = np.bincount(pairs // width, counts.astype(np.float64) ** 2, len(sizes))
        total += float((squares / np.maximum(sizes, 1)).sum())
    return total / attributes if attributes else 0.0


Worth = tuple[float, float]
"""E of a release and its cost, by which releases are compared."""


@dataclass(slots=True)
class _Release:
    """What a release costs and gains so far.

    Args:
        cost: The cost of all records [units].
        pure: `purity_squares` of its groups.
        least: The same of all records as one group.
        asks: Whether there is a sensitive attribute.
    """

    cost: float
    pure: float
    least: float
    asks: bool

    def worth(self, cost: float = 0.0, pure: float = 0.0) -> Worth:
        """E and cost, with what a change adds to cost and purity."""
        total, gain = self.cost + cost, self.pure + pure - self.least
        if not self.asks or not total:
            return total, total
        return (total / gain if gain > PURITY_ROUNDING * max(self.least, 1.0) else inf), total


def partial_domain(problem: ClusteringProblem) -> Clustering:
    """Groups of records, each generalized as far as it needs, by the problem's sensitive values.

    Raises:
        UnsatisfiableError: No groups satisfy the policy, see `mend`.
    """
    none = np.empty((problem.records, 0), np.int64)
    values = none if problem.values is None else problem.values
    classes = best_classes(problem, values)
    return mend(problem, _specialized(problem, values, label=classes))


def best_classes(problem: ClusteringProblem, values: Numbers) -> Numbers:
    """The class of each record at the best node of the full domain that is found."""
    lattice = _Lattice(problem, values)
    is_small = prod(level + 1 for level in lattice.top) <= MAX_NODES
    return lattice.classes(lattice.best() if is_small else lattice.descended())


class _Lattice:
    """The nodes of the full domain within the highest levels."""

    def __init__(self, problem: ClusteringProblem, values: Numbers) -> None:
        self._problem, self._values = problem, values
        self._levels = list(_rows(problem))
        self.top = tuple(len(levels) - 1 for levels in self._levels)
        self._least = purity_squares(values, np.zeros(problem.records, np.int64))
        self._excused = np.zeros(problem.records, np.bool_)
        for records in records_of(self.classes(self.top)):
            # What fails even here no node below it can hold, so it does not speak against them.
            self._excused[records] = not problem.satisfies(records)

    def classes(self, node: Sequence[int]) -> Numbers:
        """The class of each record."""
        cells = self._cells(node)
        widths = [len(taxonomy.cost) for taxonomy in self._problem.taxonomies]
        classes: Numbers = np.unique(united(packed(cells, widths)), return_inverse=True)[1].ravel()
        return classes

    def best(self) -> tuple[int, ...]:
        """The node of least worth among all that satisfy the policy."""
        nodes = product(*(range(level + 1) for level in self.top))
        return min(self._able(nodes), key=lambda pair: pair[0], default=((inf, inf), self.top))[1]

    def descended(self) -> tuple[int, ...]:
        """The node that steps of one level down lead to, each to the least worth."""
        node = self.top
        while True:
            below = (
                (*node[:column], level - 1, *node[column + 1 :])
                for column, level in enumerate(node)
                if level
            )
            _, step = min(self._able(below), key=lambda pair: pair[0], default=(None, None))
            if step is None:
                return node
            node = step

    def _able(self, nodes: Iterator[tuple[int, ...]]) -> Iterator[tuple[Worth, tuple[int, ...]]]:
        """The nodes that satisfy the policy, with their worth, as far as there is time."""
        for node in nodes:
            if self._problem.deadline.expired:
                return
            label = self.classes(node)
            try:
                satisfies = self._satisfies(label)
            except TimeLimitError:
                return
            if satisfies:
                cost = float(self._problem.cost(self._cells(node)).sum())
                pure = purity_squares(self._values, label)
                asks = self._values.shape[1] > 0
                yield _Release(cost, pure, self._least, asks).worth(), node

    def _satisfies(self, label: Numbers) -> bool:
        """Whether all classes satisfy the policy but those that cannot.

        Raises:
            TimeLimitError: The problem's deadline came before that was known.
        """
        few = np.bincount(label) < self._problem.k
        if (few[label] & ~self._excused).any():
            return False
        if self._problem.demand is None:
            return True
        for records in records_of(label):
            self._problem.deadline.check()
            if not (self._excused[records[0]] or self._problem.satisfies(records)):
                return False
        return True

    def _cells(self, node: Sequence[int]) -> Numbers:
        """The node of each record in each column, shape `(records, columns)`."""
        columns = enumerate(zip(self._levels, node, strict=True))
        leaves = self._problem.leaves
        return np.stack([rows[level][leaves[:, j]] for j, (rows, level) in columns], axis=1)


def _rows(problem: ClusteringProblem) -> Iterator[Numbers]:
    """Per column the nodes above each leaf, by level, up to the highest level allowed."""
    for column, taxonomy in enumerate(problem.taxonomies):
        allowed = taxonomy.ancestors
        if problem.highest:
            allowed = allowed[: problem.highest[column] + 1]
        yield replace(taxonomy, ancestors=allowed).distinct_levels


def _specialized(problem: ClusteringProblem, values: Numbers, *, label: Numbers) -> Clustering:
    """Groups after all cuts that lower E, the largest group first.

    Args:
        problem: The table.
        values: Its sensitive values.
        label: The group of each record at first.
    """
    groups = records_of(label)
    cost, pure = _figures(problem, values, groups)
    least = purity_squares(values, np.zeros_like(label))
    release = _Release(cost, pure, least, asks=values.shape[1] > 0)
    waiting = [(-len(records), number, records) for number, records in enumerate(groups)]
    heapq.heapify(waiting)
    made, done, closed_records = len(groups), list[Numbers](), 0
    while waiting and not problem.deadline.expired:
        _, _, records = heapq.heappop(waiting)
        parts = _best_parts(problem, values, release=release, records=records)
        if not parts:
            done.append(records)
            closed_records += len(records)
            advance(closed_records / problem.records)
        for part in parts:
            heapq.heappush(waiting, (-len(part), made, part))
            made += 1
    final = np.empty(problem.records, np.int64)
    for number, records in enumerate([*done, *(records for _, _, records in waiting)]):
        final[records] = number
    return Clustering.of(problem, final)


def _best_parts(
    problem: ClusteringProblem, values: Numbers, *, release: _Release, records: Numbers
) -> list[Numbers]:
    """The parts of a group by the cut that leaves the least E, which is noted; none without any."""
    if len(records) < 2 * problem.k or not problem.satisfies(records):
        return []
    best, chosen = release.worth(), list[Numbers]()
    change = 0.0, 0.0
    before = _figures(problem, values, [records])
    for groups in children(problem, records):
        if problem.deadline.expired:
            break
        parts = standing(groups, problem.satisfies)
        if not parts:
            continue
        after = _figures(problem, values, parts)
        added = after[0] - before[0], after[1] - before[1]
        if (worth := release.worth(*added)) < best:
            best, chosen, change = worth, parts, added
    release.cost += change[0]
    release.pure += change[1]
    return chosen


def _figures(
    problem: ClusteringProblem, values: Numbers, groups: Sequence[Numbers]
) -> tuple[float, float]:
    """The cost of groups and their `Purity.squares`."""
    sizes = np.array([len(records) for records in groups])
    cost = float((problem.cost(set_closures(problem, *groups)) * sizes).sum())
    pure = purity_squares(values[np.concatenate(groups)], np.repeat(np.arange(len(groups)), sizes))
    return cost, pure


def children(problem: ClusteringProblem, records: Numbers) -> Iterator[list[Numbers]]:
    """The records of each node right below their closure, for each column that tells any apart."""
    nodes = set_closures(problem, records)[0]
    for column, taxonomy in enumerate(problem.taxonomies):
        level = int(taxonomy.level[nodes[column]])
        if not level:
            continue
        below = taxonomy.ancestors[level - 1, problem.leaves[records, column]]
        order = np.argsort(below, kind="stable")
        borders = np.flatnonzero(np.diff(below[order])) + 1
        yield np.split(records[order], borders)


def standing(groups: Sequence[Numbers], holds: Callable[[Numbers], bool]) -> list[Numbers]:
    """The groups that may stand alone, the largest first, and all others as one more.

    Where these may not, the smallest of the first join them, the last among equals, until they may.

    Args:
        groups: Records of each group.
        holds: Whether records may stand alone.

    Returns:
        Two groups or more; none where they cannot be kept apart.
    """
    large, others = list[Numbers](), list[Numbers]()
    for group in groups:
        (large if holds(group) else others).append(group)
    large.sort(key=len, reverse=True)
    if others:
        rest = np.sort(np.concatenate(others))
        while not holds(rest):
            if not large:
                return []
            rest = np.sort(np.concatenate([rest, large.pop()]))
        large.append(rest)
    return large if len(large) > 1 else []
