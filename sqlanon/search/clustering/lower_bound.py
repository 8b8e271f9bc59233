"""OPT-LB (Park and Shim 2007, section 4.5, lemma 4.16): a record costs no less by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.direct_cover import sweep
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem
from sqlanon.search.clustering.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Cheapest:
    """What each record costs at least by itself.

    Args:
        cost: Per record the cost of the cheapest candidate that holds it, of one that is left out
            where there is none [units].
        outside: Whether there is none.
    """

    cost: Numbers
    outside: Flags

    @classmethod
    def of(cls, problem: ClusteringProblem, candidates: Candidates) -> Cheapest:
        """By all candidates, or until the deadline.

        A cluster's closure is a closed itemset with at least k records, so no record costs less.
        That needs costs that never shrink on the way up, as those of `Taxonomy` are, and all closed
        frequent itemsets as candidates. Where the deadline comes first, a record costs no less than
        the first candidate that had no turn.
        """
        cost = np.full(problem.records, problem.suppressed, np.int64)
        outside = np.ones(problem.records, np.bool_)

        def take(candidate: int, records: Numbers) -> bool:
            cost[records] = candidates.cost[candidate]
            outside[records] = False
            return True

        looked = sweep(problem, candidates, least=1, take=take)
        if looked < len(candidates):
            cost[outside] = candidates.cost[looked]
            outside[:] = False
        return cls(cost, outside)


def column_bounds(problem: ClusteringProblem) -> Numbers:
    """What each record costs at least, from each column by itself [units].

    A cell is published as a node that k records share, so it costs no less than the lowest of
    those above its value. It takes no itemsets, and little time. With highest levels that may be a
    node that is not allowed: such a record must be left out, and costs what that does. With an
    allowance it holds as it stands, since no record costs more than one that is left out.
    """
    total = np.zeros(problem.records, np.int64)
    for column, taxonomy in enumerate(problem.taxonomies):
        counts = np.bincount(problem.leaves[:, column], minlength=taxonomy.leaves)
        total += leaf_bounds(taxonomy, counts, k=problem.k)[problem.leaves[:, column]]
        if problem.highest:  # after each column, so that no sum is too large
            np.minimum(total, problem.suppressed, out=total)
    return total


def leaf_bounds(taxonomy: Taxonomy, counts: Numbers, *, k: int) -> Numbers:
    """What a cell of each leaf costs at least [units], by the records of each leaf."""
    before = np.append(0, np.cumsum(counts))
    support = before[taxonomy.high + 1] - before[taxonomy.low]
    enough = support[taxonomy.ancestors] >= k
    lowest = taxonomy.ancestors[enough.argmax(axis=0), np.arange(taxonomy.leaves)]
    found: Numbers = taxonomy.cost[lowest]
    return found
