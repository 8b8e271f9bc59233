"""The method direct-cover: itemsets in the order of cost, the rest where it costs least."""

from __future__ import annotations

import numpy as np

from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.covers import decide_cover
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.options import DirectCoverOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.assign import assign_rest
from sqlanon.search.clustering.direct_cover import direct_cover, published_direct_cover
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[DirectCoverOptions]
) -> Decided:
    """A recoding of every record, by the cheapest itemset with enough records left.

    Raises:
        SqlanonError: As `decide_cover`.
    """
    cover = _published if options.own.suppress_uncovered else _direct
    return decide_cover(engine, subject, policy=policy, options=options, cover=cover)


def _direct(problem: ClusteringProblem, candidates: Candidates) -> FirstClusters:
    return FirstClusters(direct_cover(problem, candidates))


def _published(problem: ClusteringProblem, candidates: Candidates) -> FirstClusters:
    """What no itemset covers is left out within the allowance, or loses all cells as a class.

    Where it is neither few enough for the one nor fit for the other, it goes where it costs least.
    """
    found = published_direct_cover(problem, candidates)
    left = np.flatnonzero(found.label < 0)
    is_class = not problem.highest and problem.satisfies(left)
    if len(left) <= problem.allowance or is_class:
        return FirstClusters(found)
    return FirstClusters(assign_rest(problem, found.label))
