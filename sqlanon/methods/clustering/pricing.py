"""Pricing: what records are worth together, for methods that mine no itemsets to cluster by.

Unasked they price records where an upper bound on all memberships says that it takes a moment,
never by the clock, so that reports are the same everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError
from sqlanon.methods.clustering.covers import PRICED, Mine
from sqlanon.methods.clustering.first import FirstClusters, Start, effort_of
from sqlanon.methods.local.input import EncodedRecords, plain
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.microdata.encoding import encode_subject
from sqlanon.search.clustering.price_proof import AlikeRecords
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem

FEW, MEMBERSHIPS = 5_000, 5e7
"""Distinct combinations up to which records are priced unasked, and these times the nodes that may
stand for one of them, which are no fewer than their memberships in itemsets: it takes a second or
two."""


def priced(
    engine: Engine,
    read: EncodedRecords,
    options: Options[ClusterOptions],
    *,
    start: Start,
    patience: int = 1,
) -> Start:
    """First clusters with what records are worth, where that is asked for or takes a moment.

    Under a time limit mining and prices have a share of it together.

    Args:
        engine: Where the table lives.
        read: The table.
        options: How to cluster it.
        start: Finds the clusters.
        patience: How many times as much as in general is priced unasked.
    """

    def mine() -> Mine:
        encoded = encode_subject(engine, read.subject, plain(read.policy))
        return Mine(engine, encoded, read, options.shared)

    def starting(problem: ClusteringProblem, quick: Clustering | None) -> FirstClusters:
        first = start(problem, quick)
        if options.own.bound is None and not _takes_a_moment(problem, patience):
            return first
        # Clusters for k alone, whose records are exchanged, prove nothing that others do not.
        is_begin = problem.demand is None and read.policy.demands
        if options.own.bound == "columns" or is_begin:
            return first
        problem = replace(problem, deadline=problem.deadline.share(PRICED))
        try:
            with engine.limited(problem.deadline), phase("mining"):
                own = mine()
            every = own.candidates(problem, progress=options.progress)
            effort = effort_of(options, problem.records, memberships=every.memberships)
            assert effort is not None
            return replace(first, priced=own.priced(problem, every, effort=effort))
        except TimeLimitError:
            return replace(first, is_unpriced=True)

    return starting


def _takes_a_moment(problem: ClusteringProblem, patience: int) -> bool:
    """Whether itemsets are so few, by an upper bound, that nobody has to ask for them."""
    combinations, each = len(AlikeRecords.of(problem)), 1.0
    for column, taxonomy in enumerate(problem.taxonomies):
        top = len(taxonomy.ancestors) - 1
        each *= 1 + (min(top, problem.highest[column]) if problem.highest else top)
    return combinations <= patience * FEW and combinations * each <= patience * MEMBERSHIPS
