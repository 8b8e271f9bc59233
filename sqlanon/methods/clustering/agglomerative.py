"""The method agglomerative: the two closest clusters become one, until all have k records."""

from __future__ import annotations

from collections.abc import Callable

from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.clustering.linkage import Linkage, decide_linkage
from sqlanon.methods.options import AgglomerativeOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.agglomerative import agglomerative
from sqlanon.search.clustering.neighbours import Neighbours
from sqlanon.search.clustering.problem import ClusteringProblem

MOST = 50_000
"""Most distinct combinations at once: on one core they are united in about two minutes."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[AgglomerativeOptions]
) -> Decided:
    """A recoding of every record, by clusters that grow to k records and more.

    Raises:
        SqlanonError: As `decide_linkage`.
    """
    own = Linkage(_link(options.own.distance), MOST)
    return decide_linkage(engine, subject, policy=policy, options=options, linkage=own)


def _link(distance: str) -> Callable[[ClusteringProblem, Neighbours], FirstClusters]:
    def link(problem: ClusteringProblem, neighbours: Neighbours) -> FirstClusters:
        return FirstClusters(agglomerative(problem, neighbours.copies, distance=distance))

    return link
