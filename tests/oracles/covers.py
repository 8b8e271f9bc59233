"""Small tables to cluster, their itemsets, and the least loss by trying every partition."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np

from sqlanon.hierarchy.tree import Tree
from sqlanon.loss.cells import CellCosts
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Candidates,
    ClusteringProblem,
    members,
)
from sqlanon.search.clustering.taxonomy import Taxonomy

FIGURE_1 = (
    ("20~29", "Single", "USA", "Male"),
    ("30~39", "Divorce", "China", "Female"),
    ("20~29", "Single", "USA", "Female"),
    ("30~39", "Separation", "Korea", "Female"),
)
FIGURE_2 = (
    ("20~29", "Single", "USA", "Female", "Master"),
    ("20~29", "Single", "USA", "Female", "Doctor"),
    ("20~29", "Single", "China", "Male", "Master"),
    ("20~29", "Single", "China", "Male", "Doctor"),
    ("20~29", "Divorce", "USA", "Male", "Master"),
    ("20~29", "Divorce", "USA", "Male", "Doctor"),
    ("30~39", "Single", "USA", "Male", "Master"),
    ("30~39", "Single", "USA", "Male", "Doctor"),
)


class Demand:
    """A condition on clusters that is asked of one at a time, and is none of the models."""

    every = ()

    def hold_per_group(self, records, group, *, groups):
        return np.array([self.holds(records[group == number]) for number in range(groups)], bool)


class Distinct(Demand):
    """At least so many different values in every cluster."""

    union_closed = True

    def __init__(self, values, least):
        self.values, self.least = np.asarray(values), least

    @property
    def monotone(self):
        return self

    def part(self, records):
        return Distinct(self.values[records], self.least)

    def holds(self, records):
        return len(set(self.values[records].tolist())) >= self.least


class Balanced(Demand):
    """No value of more than half of a cluster's records; a part of a cluster may do better."""

    union_closed = True

    def __init__(self, values):
        self.values = np.asarray(values)

    @property
    def monotone(self):
        return Distinct(self.values, 1)

    def part(self, records):
        return Balanced(self.values[records])

    def holds(self, records):
        return 2 * np.bincount(self.values[records]).max() <= len(records)


def problem_of(rows, k, trees=None, loss="suppressed-cells", demand=None):
    """A table of texts as a problem; columns without a tree are suppressed or kept."""
    columns = list(zip(*rows, strict=True))
    trees = trees or [
        Tree.grow(f"column {n}", [(value, "*") for value in dict.fromkeys(column)])
        for n, column in enumerate(columns)
    ]
    costs = CellCosts.of(loss, trees, weights=[1.0] * len(trees), records=len(rows))
    taxonomies = tuple(Taxonomy.of(t, c) for t, c in zip(trees, costs.costs, strict=True))
    leaves = np.array([[t.leaves.index(v) for t, v in zip(trees, r, strict=True)] for r in rows])
    return ClusteringProblem(taxonomies, leaves, k, demand)


def random_table(records, k, seed=1, *, demand=None, values=4, columns=4):
    """The problem of a random table with so many values in each of its columns."""
    random = np.random.default_rng(seed)
    rows = [tuple(map(str, row)) for row in random.integers(0, values, (records, columns))]
    return problem_of(sorted(rows), k, demand=demand)


def check(problem, clusters):
    """Every cluster may be published, and no more records are left out than may be."""
    assert all(problem.satisfies(records) for records in members(clusters))
    assert (clusters.label == NOWHERE).sum() <= problem.allowance


def held_by(problem, nodes):
    """Records that a node tuple holds."""
    inside = np.ones(problem.records, bool)
    for column, (taxonomy, node) in enumerate(zip(problem.taxonomies, nodes, strict=True)):
        leaves = problem.leaves[:, column]
        inside &= (taxonomy.low[node] <= leaves) & (leaves <= taxonomy.high[node])
    return np.flatnonzero(inside)


def closure_of(problem, records):
    """The closure of some records."""
    leaves = problem.leaves[np.asarray(records)]
    return tuple(
        int(taxonomy.closure(leaves[:, [j]].min(axis=0), leaves[:, [j]].max(axis=0))[0])
        for j, taxonomy in enumerate(problem.taxonomies)
    )


def cost_of(problem, records):
    """What a record costs in a cluster of these."""
    return int(problem.cost(np.array(closure_of(problem, records))))


def itemsets(problem, *, closed=True):
    """All (closed) frequent itemsets, the root among them."""
    every = product(*(range(len(taxonomy.cost)) for taxonomy in problem.taxonomies))
    found = []
    for nodes in every:
        records = held_by(problem, nodes)
        if len(records) < problem.k:
            continue
        if not closed or closure_of(problem, records) == nodes:
            found.append((nodes, len(records)))
    return found


def candidates_of(problem, *, closed=True):
    """The same as candidates."""
    found = itemsets(problem, closed=closed)
    nodes = np.array([nodes for nodes, _ in found]).reshape(-1, len(problem.taxonomies))
    return Candidates.of(problem, nodes, support=np.array([support for _, support in found]))


def cheapest_partition(costs, records, *, room=0, out=0):
    """What the cheapest partition of records into groups costs; None where there is none.

    Args:
        costs: What a group costs, by the bits of its records' numbers.
        records: How many there are.
        room: How many may be left out.
        out: What one that is left out costs.
    """

    @cache
    def least(left, room):
        if not left:
            return 0
        first = left & -left
        parts = (mask for mask in costs if mask & first and not mask & ~left)
        possible = [
            costs[mask] + rest for mask in parts if (rest := least(left & ~mask, room)) is not None
        ]
        if room and (rest := least(left & ~first, room - 1)) is not None:
            possible.append(out + rest)
        return min(possible, default=None)

    return least((1 << records) - 1, room)


def least_loss(problem, *, room=0, cost=cost_of):
    """The least that any partition into satisfying clusters loses; None where there is none.

    Args:
        problem: The problem.
        room: How many records may be left out.
        cost: What a record costs in a cluster, of the problem and the cluster's records.
    """
    losses = {}
    for size in range(problem.k, problem.records + 1):
        for subset in combinations(range(problem.records), size):
            if problem.satisfies(np.array(subset)):
                mask = sum(1 << record for record in subset)
                losses[mask] = size * cost(problem, subset)
    return cheapest_partition(losses, problem.records, room=room, out=problem.suppressed)


def limited(problem, highest, allowance):
    """A problem with highest levels, above which a cell costs more than a record left out."""
    taxonomies = tuple(
        replace(own, cost=np.where(own.level > top, problem.suppressed + 1, own.cost))
        for own, top in zip(problem.taxonomies, highest, strict=True)
    )
    return replace(
        problem,
        taxonomies=taxonomies,
        highest=highest,
        allowance=allowance,
        suppressed=problem.suppressed,
    )


def optimum(problem, *, cost=cost_of):
    """The least that any clusters within the levels lose with few enough records left out."""
    return least_loss(problem, room=min(problem.allowance, problem.records - problem.k), cost=cost)
