"""The method diameter-cover: sets of near records by the sum of their diameters."""

from __future__ import annotations

import math

from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.clustering.linkage import Linkage, decide_linkage
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.diameter_cover import diameter_cover
from sqlanon.search.clustering.neighbours import Neighbours
from sqlanon.search.clustering.problem import ClusteringProblem

MOST = 50_000
"""Most distinct combinations at once: on one core they are covered in about a minute."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, by balls of near records made disjoint.

    Raises:
        SqlanonError: As `decide_linkage`.
    """
    own = Linkage(_link, MOST)
    return decide_linkage(engine, subject, policy=policy, options=options, linkage=own)


def _link(problem: ClusteringProblem, neighbours: Neighbours) -> FirstClusters:
    is_bounded = problem.demand is None and not problem.allowance
    guarantee = _guarantee(problem.k) if is_bounded else ""
    return FirstClusters(diameter_cover(problem, neighbours), guarantee=guarantee)


def _guarantee(k: int) -> str:
    return (
        f"diameter-cover loses at most 4k (1 + ln 2k) = {4 * k * (1 + math.log(2 * k)):.3g} times "
        "as much as the best recoding of single records"
    )
