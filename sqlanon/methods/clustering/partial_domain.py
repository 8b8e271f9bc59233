"""The method partial-domain: each group of records at a node of its own, by Khaitan's E."""

from __future__ import annotations

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.clustering.pricing import priced
from sqlanon.methods.local import encode_records, reading_end
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.clustering_problem import ClusteringProblem, column_bounds
from sqlanon.search.clustering.partial_domain import partial_domain


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, from the best node of the full domain downwards.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    sensitive = list(policy.sensitive_attributes)
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        read = encode_records(engine, subject, policy=policy, loss=options.loss, valued=sensitive)

    def start(problem: ClusteringProblem) -> FirstClusters:
        clusters, bounds = partial_domain(problem), column_bounds(problem)
        ended = "the cuts of groups" if problem.deadline.expired else ""
        return FirstClusters(clusters, bounds, ended=ended)

    return decide_clusters(read, options, start=priced(engine, read, options, start=start))
