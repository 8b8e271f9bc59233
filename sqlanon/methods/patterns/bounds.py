"""Bounds: what the records of a table lose at least, whatever the patterns, and by some."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.methods.local.input import EncodedRecords
from sqlanon.methods.patterns.problem import PatternProblem
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.dual_bound import dual_bound
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.patterns.greedy import DistinctRows, instance_keys

PRICED = 100_000
"""Rows times patterns up to which records are priced, in about a second."""
MOST = 200_000
"""Records up to which they are priced, as each is an entry of its own."""
LOOKED_AT = 1_000_000
"""Rows times patterns up to which each pattern is looked at for a bound, in a moment."""


def least_cost(
    read: EncodedRecords, rows: DistinctRows, *, costs: Sequence[Numbers], k: int
) -> int:
    """What all records cost at least, from each column by itself [units].

    A published cell is a node that k records, or persons, of the table share, at a level that is
    allowed, so it costs no less than the cheapest of those above its value. A record that has no
    such node in some column must be left out. One that is left out, or reads as suppressed, costs a
    unit, which is no less than all its cells at their tops. So this holds for any recoding, however
    many records are left out, and models beyond k can only raise the loss further.

    Args:
        read: The table.
        rows: Its distinct combinations.
        costs: Per column `[level, leaf]`: what a cell costs [units].
        k: The smallest class allowed.
    """
    subject, leaves = read.subject, read.combinations.leaves
    every, unit = np.arange(len(leaves)), read.costs.unit
    total, possible = np.zeros(len(leaves), np.int64), np.ones(len(leaves), bool)
    for number, (tree, low, high) in enumerate(
        zip(subject.trees, subject.low, subject.high, strict=True)
    ):
        least = np.full(len(leaves), unit)
        allowed = np.zeros(len(leaves), bool)
        for level in range(low, high + 1):
            nodes = np.array(tree.nodes[level])[leaves[:, number]]
            counted = rows.counted(every, nodes, groups=int(nodes.max()) + 1)
            enough = counted[nodes] >= k
            cost = costs[number][level, leaves[:, number]]
            least = np.where(enough, np.minimum(least, cost), least)
            allowed |= enough
        total += np.where(allowed, least, 0)
        possible &= allowed
    cost = np.where(possible, np.minimum(total, unit), unit)
    return int(cost @ rows.sizes)


def least_by_patterns(table: PatternProblem) -> int:
    """What all records cost at least by the patterns of a table [units].

    A record goes to an instance of k records or persons, keeps nothing or is left out; it costs no
    less than the cheapest of these. With too many patterns, what is known whatever they are.
    """
    rows = np.arange(len(table.highest))
    if len(rows) * len(table.nodes) > LOOKED_AT:
        return table.least
    found = table.least_left(rows)
    for node, mask in zip(table.nodes, table.masks, strict=True):
        _, group = np.unique(instance_keys(table.rows.codes.T, mask), return_inverse=True)
        enough = table.rows.counted(rows, group, groups=int(group.max()) + 1) >= table.k
        found = np.where(enough[group], np.minimum(found, table.cost(rows, node)), found)
    return max(table.least, table.at_most(int(found @ table.rows.sizes)))


def least_by_prices(read: EncodedRecords, table: PatternProblem, *, deadline: Deadline) -> int:
    """What all records cost at least by the patterns of a table, since a class needs k takers.

    Every class is an instance of a pattern, or of the highest levels, that k records or more share;
    so instances are the candidates that `dual_bound` asks for, whatever else there is in the
    table. What is neither is left out, or reads as that, within the suppression limit. With too
    many patterns or records, or where the deadline comes before prices, what is known whatever
    these are.
    """
    leaves, sizes = read.combinations.leaves, read.combinations.sizes
    records = int(sizes.sum())
    too_many = len(leaves) * len(table.nodes) > PRICED or records > MOST
    if too_many or deadline.expired or read.policy.suppressed == "keep":
        return table.least
    taxonomies = tuple(
        Taxonomy.of(tree, own)
        for tree, own in zip(read.subject.trees, read.costs.costs, strict=True)
    )
    problem = ClusteringProblem(
        taxonomies,
        np.repeat(leaves, sizes, axis=0),
        table.k,
        deadline=deadline,
        allowance=min(read.policy.allowance(records), records),
        suppressed=read.costs.unit,
    )
    every = []
    for levels in (*table.nodes, table.tops):
        at = zip(taxonomies, levels, leaves.T, strict=True)
        every.append(np.stack([own.ancestors[level, leaf] for own, level, leaf in at], axis=1))
    nodes, first = np.unique(np.concatenate(every), axis=0, return_inverse=True)
    # One instance may belong to several patterns: its records count once.
    place = np.unique(first.ravel() * len(leaves) + np.tile(np.arange(len(leaves)), len(every)))
    support = np.bincount(place // len(leaves), sizes[place % len(leaves)]).astype(np.int64)
    try:
        found = dual_bound(problem, Candidates.of(problem, nodes, support=support))
    except TimeLimitError:
        return table.least
    return max(table.least, table.at_most(found.total))
