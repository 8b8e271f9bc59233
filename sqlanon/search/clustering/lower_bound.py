"""A lower bound on the loss of any k-anonymous clustering.

Source: Park and Shim 2007, section 4.5, lemma 4.16 (OPT-LB).
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.direct_cover import sweep
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem


def record_bounds(
    problem: ClusteringProblem, candidates: Candidates, uncovered: int = 0
) -> Numbers:
    """The cost of the cheapest closed frequent itemset that holds each record [units].

    A cluster's closure is a closed itemset with at least k records, so no record costs less. That
    needs costs that never shrink on the way up, as those of `Taxonomy` are, and all closed frequent
    itemsets as candidates. A record that no candidate holds costs `uncovered`.
    """
    bounds = np.full(problem.records, uncovered, np.int64)

    def take(candidate: int, records: Numbers) -> bool:
        bounds[records] = candidates.cost[candidate]
        return True

    sweep(problem, candidates, 1, take)
    return bounds


def lower_bound(problem: ClusteringProblem, candidates: Candidates) -> int:
    """The least that any clustering into clusters of at least k records can lose [units]."""
    return int(record_bounds(problem, candidates).sum())
