"""Blocks: a large table cut along its hierarchies, so that each part is covered on its own.

A cut is between the nodes right below a closure, as in LeFevre, DeWitt and Ramakrishnan 2006,
"Mondrian multidimensional k-anonymity", with the nodes of a hierarchy in place of medians. It looks
at one group, by its records, whatever the demand, for searches that weigh the parts of every cut
themselves: blocks by what they tell, `partial_domain` by E. Small children join the smallest, since
what a child saves by itself is not what is asked. (`mondrian` cuts all parts at once, by counts, so
that the database may count.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem, records_of, set_closures


@dataclass(frozen=True, slots=True)
class Children:
    """Records by the nodes right below their closure in one column.

    Args:
        column: The column.
        node: The closure's node.
        below: The node right below it of each record.
        groups: The records of each such node, in the order of nodes.
    """

    column: int
    node: int
    below: Numbers
    groups: list[Numbers]


def children(problem: ClusteringProblem, records: Numbers) -> Iterator[Children]:
    """The records by the children of their closure, for each column that tells any apart."""
    leaves = problem.leaves[records]
    nodes = set_closures(problem, records)[0]
    for column, taxonomy in enumerate(problem.taxonomies):
        node = int(nodes[column])
        level = int(taxonomy.level[node])
        if not level:
            continue
        below = taxonomy.ancestors[level - 1, leaves[:, column]]
        order = np.argsort(below, kind="stable")
        borders = np.flatnonzero(np.diff(below[order])) + 1
        yield Children(column, node, below, np.split(records[order], borders))


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


MAX_PART_SHARE = 0.8
"""Share of a block's records in one part above which other cuts are preferred."""


def cut_blocks(problem: ClusteringProblem, most: int) -> list[Numbers]:
    """Blocks of records, each a union of subtrees that may be a cluster itself.

    With highest levels, so may the part of each division in a block, where the division may.

    A block that is too large is cut at one column, between the nodes right below its closure. Small
    neighbours stay together, so that there are few blocks. One that no column can cut stays whole,
    however large.

    A cut forbids clusters that cross it. So the column is taken where such clusters pay least: the
    one whose parts tell least of the records [bits] for what a cell loses by going up. Cuts that
    leave nearly all records in one part come last.

    Args:
        problem: The table.
        most: Largest block wanted [records].

    Returns:
        The records of each block, ascending; blocks in the order of their first records.
    """
    blocks, waiting = [], [np.arange(problem.records)]
    while waiting:
        records = waiting.pop()
        cuts = list(_cuts(problem, records, most=most)) if len(records) > most else []
        if cuts:
            waiting += min(cuts, key=lambda cut: cut[0])[1]
        else:
            blocks.append(records)
    blocks = _reunited(problem, blocks) if problem.highest else blocks
    return sorted(blocks, key=lambda block: int(block[0]))


def _reunited(problem: ClusteringProblem, blocks: list[Numbers]) -> list[Numbers]:
    """The blocks, with every division that they part whole where one of its parts fails.

    Its records then go to the block that holds most of them.
    """
    block = np.empty(problem.records, np.int64)
    for number, records in enumerate(blocks):
        block[records] = number
    for records in records_of(problem.division):
        homes, sizes = np.unique(block[records], return_counts=True)
        if len(homes) < 2:
            continue
        parts = [records[block[records] == home] for home in homes]
        if not all(problem.meets(part) for part in parts):
            block[records] = homes[sizes.argmax()]
    return [np.flatnonzero(block == number) for number in np.unique(block)]


def _cuts(
    problem: ClusteringProblem, records: Numbers, *, most: int
) -> Iterator[tuple[tuple[bool, float], list[Numbers]]]:
    """The ways to cut a block, one for each column that allows it.

    Yields:
        Whether nearly all are in one part, with the entropy of the parts over what a cell loses
        more above the cut than below, on average [bits per unit]; and the parts, two or more.
    """
    for each in children(problem, records):
        problem.deadline.check()
        unions = _packed(each.groups, most)
        # Of parts of one size the first may be joined: it holds the largest node.
        parts = standing(unions[::-1], problem.meets)
        if parts:
            cost = problem.taxonomies[each.column].cost
            added = float(cost[each.node] - cost[each.below].mean())
            shares = np.array([len(part) for part in parts]) / len(records)
            entropy = float(-(shares * np.log2(shares)).sum())
            regret = entropy / added if added > 0 else np.inf
            yield (bool(shares.max() > MAX_PART_SHARE), regret), parts


def _packed(parts: list[Numbers], most: int) -> list[Numbers]:
    """The parts first-fit decreasing into unions of at most so many records."""
    unions: list[list[Numbers]] = []
    for part in sorted(parts, key=len, reverse=True):
        room = (held for held in unions if sum(map(len, held)) + len(part) <= most)
        held = next(room, None)
        if held is None:
            unions.append(held := [])
        held.append(part)
    return [np.sort(np.concatenate(held)) for held in unions]
