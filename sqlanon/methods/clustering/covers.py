"""Covers: the methods that choose clusters from the frequent itemsets of a table.

All but one step of them is the same: in which order they take the itemsets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.clustering.pricing import PRICED_SHARE, Mine, effort_of
from sqlanon.methods.local import reading_end, refuse_mixed_labels
from sqlanon.methods.options import CoverOptions, DirectCoverOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.search.clustering.assign import assign_rest
from sqlanon.search.clustering.clustering_problem import (
    Candidates,
    ClusteringProblem,
    column_bounds,
)
from sqlanon.search.clustering.direct_cover import direct_cover, published_direct_cover
from sqlanon.search.clustering.set_cover import converted, cover_by_subsets, set_cover, within
from sqlanon.wording import counted

MINED_SHARE = 0.8
"""Share of the time for a cover that mining may take: what it finds is to be sorted and chosen."""
MOST_LOST_BY_PRICES = 1.1
"""How many times as much as the method's own clusters a cover by prices may lose and be refined in
their place. Of five tables it lost up to 1.02 times as much, and once refined no more than what the
better of both came to in as long; under t-closeness of 0.3 it loses 1.8 times as much, and never
catches up."""
Cover = Callable[[ClusteringProblem, Candidates, CoverOptions], FirstClusters]
"""The first clusters of a table or of a block of it, chosen from its candidates."""


def _set_cover(
    problem: ClusteringProblem, candidates: Candidates, settings: CoverOptions
) -> FirstClusters:
    """By the least cost per record newly covered, converted into clusters."""
    if settings.candidates == "all":
        clusters, uncovered = converted(problem, cover_by_subsets(problem, settings.beta))
    else:
        clusters, uncovered = set_cover(problem, candidates)
    guarantee = ""
    # Of the best recoding that leaves records out, too, it says nothing.
    if problem.demand is None and settings.beta is None and not problem.allowance:
        factor = 2 * (1 + math.log(2 * problem.k))
        guarantee = (
            f"set-cover loses at most 2 (1 + ln 2k) = {factor:.3g} times as much as the best "
            "recoding of single records"
        )
    return FirstClusters(clusters, uncovered=uncovered, guarantee=guarantee)


def _direct_cover(
    problem: ClusteringProblem, candidates: Candidates, settings: CoverOptions
) -> FirstClusters:
    """By the cheapest itemset with enough records left, the rest where it costs least.

    As published, what no itemset covers is left out within the allowance, or loses all cells as a
    class; where it is neither few enough for the one nor fit for the other, it goes where it costs
    least, too.
    """
    assert isinstance(settings, DirectCoverOptions)
    if not settings.suppress_uncovered:
        return FirstClusters(direct_cover(problem, candidates))
    clusters = published_direct_cover(problem, candidates)
    left = np.flatnonzero(clusters.label < 0)
    is_class = not problem.highest and problem.satisfies(left)
    if len(left) <= problem.allowance or is_class:
        return FirstClusters(clusters)
    return FirstClusters(assign_rest(problem, clusters.label))


COVERS: Mapping[str, Cover] = {"set-cover": _set_cover, "direct-cover": _direct_cover}
"""The methods by name."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[CoverOptions]
) -> Decided:
    """A recoding of every record, from the first clusters that a cover by itemsets chooses.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: The policy asks for what this method cannot do.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    refuse_mixed_labels(subject)
    settings, cover = options.specific, COVERS[options.method.name]
    kind = "frequent" if settings.candidates == "frequent" else "closed"
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        mine = Mine.of(
            engine, subject, policy=policy, loss=options.loss, shared=options.shared, kind=kind
        )

    def start(problem: ClusteringProblem) -> FirstClusters:
        before = replace(problem, deadline=problem.deadline.share(MINED_SHARE))
        every = mine.candidates(before)
        cheapest = mine.cheapest(problem, every)
        bounds, priced = cheapest.cost, None
        if problem.deadline.expired:
            bounds = np.maximum(bounds, column_bounds(problem))
        effort, members = effort_of(options, problem.records)
        if effort is not None:
            tell(f"prices: {counted(len(every), 'candidate')}")
            share = replace(problem, deadline=problem.deadline.share(PRICED_SHARE))
            priced = mine.priced(share, every, effort=effort, cheapest=cheapest, most=members)
        tell(f"cover: {counted(len(every), 'candidate')}")
        cheap = every if settings.beta is None else within(problem, every, beta=settings.beta)
        other = None
        with phase("the cover"):
            first = cover(problem, cheap, settings)
            if settings.refine and priced is not None:
                other = mine.by_reduced_cost(problem, every, priced=priced)
                most = MOST_LOST_BY_PRICES * first.clusters.loss(problem)
                if other is not None and other.loss(problem) > most:
                    other = None
        return replace(first, bounds=bounds, candidates=len(every), priced=priced, other=other)

    return decide_clusters(mine.read, options, start=start)
