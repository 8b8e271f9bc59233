"""The method direct-cover: itemsets in the order of cost, the rest where it costs least."""

from __future__ import annotations

import numpy as np

from sqlanon.engine.base import Engine
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.clustering.clusters import FirstClusters
from sqlanon.methods.clustering.covers import decide_cover
from sqlanon.methods.options import DirectCoverOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.direct_cover import direct_cover, published_direct_cover
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem
from sqlanon.wording import counted


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
    """All cells of what no itemset covers are suppressed."""
    found = published_direct_cover(problem, candidates)
    left = np.flatnonzero(found.label < 0)
    if len(left) and not problem.satisfies(left):
        raise UnsatisfiableError(
            f"no itemset covers {counted(len(left), 'record')}, which do not satisfy the models as "
            "a class of their own; leave suppress_uncovered out, and they go where they cost least"
        )
    return FirstClusters(found)
