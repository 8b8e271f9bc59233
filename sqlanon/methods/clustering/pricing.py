"""Pricing: what records are worth together, for methods that mine no itemsets to cluster by."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError
from sqlanon.methods.clustering.covers import Mine
from sqlanon.methods.clustering.first import FirstClusters, Start, effort_of
from sqlanon.methods.local.input import EncodedRecords, plain
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.microdata.encoding import encode_subject
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem

AT_ONCE = 5e7
"""Distinct combinations times nodes that may stand for one of them up to which records are priced
unasked: itemsets are mined and prices raised in about a second then, since no combination is a
member of more itemsets."""


def priced(
    engine: Engine,
    read: EncodedRecords,
    options: Options[ClusterOptions],
    *,
    start: Start,
    most: float = AT_ONCE,
) -> Start:
    """First clusters with what records are worth, where that is asked for or takes a moment.

    Args:
        engine: Where the table lives.
        read: The table.
        options: How to cluster it.
        start: Finds the clusters.
        most: Memberships in itemsets, at most, up to which records are priced unasked.
    """

    def mine() -> Mine:
        encoded = encode_subject(engine, read.subject, plain(read.policy))
        return Mine(engine, encoded, read, options.shared)

    def starting(problem: ClusteringProblem, quick: Clustering | None) -> FirstClusters:
        first = start(problem, quick)
        effort = effort_of(options)
        if options.own.bound is None and _memberships(problem) > most:
            return first
        # Clusters for k alone, whose records are exchanged, prove nothing that others do not.
        is_begin = problem.demand is None and read.policy.demands
        if effort is None or is_begin:
            return first
        try:
            with engine.limited(problem.deadline), phase("mining"):
                own = mine()
            every = own.candidates(problem, progress=options.progress)
            return replace(first, priced=own.priced(problem, every, effort=effort))
        except TimeLimitError:
            return first

    return starting


def _memberships(problem: ClusteringProblem) -> float:
    """In how many itemsets all combinations are at most, each counted by itself."""
    found = float(len(AlikeRecords.of(problem)))
    for column, taxonomy in enumerate(problem.taxonomies):
        top = len(taxonomy.ancestors) - 1
        found *= 1 + (min(top, problem.highest[column]) if problem.highest else top)
    return found
