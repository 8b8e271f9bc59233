"""Children: the records of a cluster by the nodes right below its closure, and which stand alone.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", with the
nodes of a hierarchy in place of medians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem, closed


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
    nodes = closed(problem, leaves, starts=np.zeros(1, np.int64))[0]
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
