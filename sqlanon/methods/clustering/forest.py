"""The method forest: records joined to near ones, and the trees cut."""

from __future__ import annotations

from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.clustering.linkage import Linkage, decide_linkage
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.forest import forest
from sqlanon.search.clustering.neighbours import Neighbours
from sqlanon.search.clustering.problem import ClusteringProblem

MOST = 100_000
"""Most distinct combinations at once: on one core they are compared in about a minute."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, by the trees that near records grow into.

    Raises:
        SqlanonError: As `decide_linkage`.
    """
    own = Linkage(_link, MOST)
    return decide_linkage(engine, subject, policy=policy, options=options, linkage=own)


def _link(problem: ClusteringProblem, neighbours: Neighbours) -> FirstClusters:
    is_bounded = problem.demand is None and not problem.allowance and problem.k > 1
    guarantee = _guarantee(problem.k) if is_bounded else ""
    return FirstClusters(forest(problem, neighbours), guarantee=guarantee)


def _guarantee(k: int) -> str:
    return (
        f"forest loses at most 3 (k - 1) = {3 * (k - 1)} times as much as the best recoding of "
        "single records"
    )
