"""The method set-cover: a greedy cover by itemsets, converted into clusters."""

from __future__ import annotations

import math

from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.covers import decide_cover
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.options import CoverOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem
from sqlanon.search.clustering.set_cover import exhaustive_cover, set_cover


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[CoverOptions]
) -> Decided:
    """A recoding of every record, by the least cost per record newly covered.

    Raises:
        SqlanonError: As `decide_cover`.
    """
    own = options.own

    def cover(problem: ClusteringProblem, candidates: Candidates) -> FirstClusters:
        if own.candidates == "all":
            found, uncovered = exhaustive_cover(problem, own.beta)
        else:
            found, uncovered = set_cover(problem, candidates)
        # Of the best recoding that leaves records out, too, it says nothing.
        is_bounded = problem.demand is None and own.beta is None and not problem.allowance
        guarantee = _guarantee(problem.k) if is_bounded else ""
        return FirstClusters(found, uncovered=uncovered, guarantee=guarantee)

    return decide_cover(engine, subject, policy=policy, options=options, cover=cover)


def _guarantee(k: int) -> str:
    return (
        f"set-cover loses at most 2 (1 + ln 2k) = {2 * (1 + math.log(2 * k)):.3g} times as much as "
        "the best recoding of single records"
    )
