"""Cuts: clusters of 2k records and more, cut into parts of k."""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem, members, runs


def parts_of_k(problem: ClusteringProblem, clusters: Clustering) -> Numbers:
    """The cluster of each record after clusters of 2k records and more are cut into parts of k.

    Parts keep neighbouring records together; a cluster stays whole where a part fails the demand,
    or where the deadline comes first.
    """
    label = clusters.label.copy()
    number = len(clusters.nodes)
    for records in members(clusters):
        if problem.deadline.expired:
            break
        for part in cut_of_k(problem, records)[1:]:
            label[part] = number
            number += 1
    return label


def cut_of_k(problem: ClusteringProblem, records: Numbers) -> list[Numbers]:
    """The parts of a cluster of 2k records and more, or the cluster where one fails the demand."""
    count = len(records) // problem.k
    if count < 2:
        return [records]
    ordered = records[np.lexsort(problem.leaves[records].T[::-1])]
    parts = np.array_split(ordered, count)
    return parts if all(problem.satisfies(part) for part in parts) else [records]


def cut_groups(group: Numbers, k: int) -> Numbers:
    """The group of each member after groups 0, 1, … of 2k and more are cut into k to 2k - 1."""
    order, starts = runs(group)
    sizes = np.diff(np.r_[starts, len(order)])
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    count = np.maximum(sizes // k, 1)
    first = np.cumsum(count) - count
    found = np.empty(len(group), np.int64)
    found[order] = np.repeat(first, sizes) + place * np.repeat(count, sizes) // np.repeat(
        sizes, sizes
    )
    return found
