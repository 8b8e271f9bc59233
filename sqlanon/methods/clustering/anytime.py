"""The method anytime: cuts from the top, refined and covered anew for as long as there is time."""

from __future__ import annotations

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.clustering.pricing import priced
from sqlanon.methods.local.input import encode_records, reading_end
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.anytime import TURNS
from sqlanon.search.clustering.effort import PASSES
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.problem import ClusteringProblem, column_bounds


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, better the longer it is searched for.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        UnsatisfiableError: No clusters satisfy the policy.
        TimeLimitError: The time limit came before there were clusters.
    """
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        read = encode_records(engine, subject, policy=policy, loss=options.loss)

    def start(problem: ClusteringProblem) -> FirstClusters:
        return FirstClusters(cut_clusters(problem), column_bounds(problem))

    starting = priced(engine, read, options, start=start)
    turns = min(TURNS, max(1, round(TURNS * options.specific.passes / PASSES)))
    return decide_clusters(read, options, start=starting, turns=turns)
