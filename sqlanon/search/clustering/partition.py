"""Partition of a cluster between the nodes of one column.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", with the
nodes of a hierarchy in place of medians.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem


def parted(
    problem: ClusteringProblem, records: Numbers, *, below: Numbers
) -> tuple[list[Numbers], list[int]]:
    """Two or more parts by nodes, and the nodes that have one of their own; else none.

    Records of all other nodes are one more part, with those of the smallest one if need be.

    Args:
        problem: The table.
        records: The records of the cluster.
        below: The node of each.
    """
    order = np.argsort(below, kind="stable")
    held, starts = np.unique(below[order], return_index=True)
    groups = dict(zip(held.tolist(), np.split(records[order], starts[1:]), strict=True))
    large = [node for node, own in groups.items() if problem.satisfies(own)]
    large.sort(key=lambda node: -len(groups[node]))
    rest = records[~np.isin(below, large)]
    while len(rest) and not problem.satisfies(rest):
        if not large:
            return [], []
        rest = np.sort(np.concatenate([rest, groups[large.pop()]]))
    parts = [groups[node] for node in large] + ([rest] if len(rest) else [])
    return (parts, large) if len(parts) > 1 else ([], [])
