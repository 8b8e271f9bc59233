"""Linkage: the methods that compare every two records, instead of mining itemsets.

All but one step of them is the same: what they make of the neighbours of each record. They know
nothing of highest levels, so where there are any, each division is searched by itself: no cluster
within these levels crosses a division's border, and none inside is above them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters, Start, largest_block
from sqlanon.methods.clustering.pricing import priced
from sqlanon.methods.local import EncodedRecords, encode_records, read_once, reading_end
from sqlanon.methods.options import AgglomerativeOptions, ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.query.classes.parts import combinations
from sqlanon.search.clustering.agglomerative import agglomerative
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    column_bounds,
    records_of,
)
from sqlanon.search.clustering.diameter_cover import diameter_cover
from sqlanon.search.clustering.forest import forest
from sqlanon.search.clustering.neighbours import Neighbours, refuse_beyond, refuse_blocks
from sqlanon.wording import counted

INSTEAD = "mondrian or direct-cover"
"""The methods for tables of more combinations than can be compared."""
Link = Callable[[ClusteringProblem, Neighbours, ClusterOptions], FirstClusters]
"""The first clusters of a table or of a block of it, from the neighbours of each combination."""


def _forest(problem: ClusteringProblem, neighbours: Neighbours, _: ClusterOptions) -> FirstClusters:
    """The trees that near records grow into, cut."""
    guarantee = ""
    if problem.demand is None and not problem.allowance and problem.k > 1:
        guarantee = (
            f"forest loses at most 3 (k - 1) = {3 * (problem.k - 1)} times as much as the best "
            "recoding of single records"
        )
    return FirstClusters(forest(problem, neighbours), guarantee=guarantee)


def _agglomerative(
    problem: ClusteringProblem,
    neighbours: Neighbours,
    settings: ClusterOptions,
    *,
    modified: bool = False,
) -> FirstClusters:
    """Clusters that grow to k records and more, or give back what is more."""
    assert isinstance(settings, AgglomerativeOptions)
    clusters = agglomerative(problem, neighbours, distance=settings.distance, modified=modified)
    return FirstClusters(clusters)


def _diameter_cover(
    problem: ClusteringProblem, neighbours: Neighbours, _: ClusterOptions
) -> FirstClusters:
    """Balls of near records, made disjoint."""
    guarantee = ""
    if problem.demand is None and not problem.allowance:
        factor = 4 * problem.k * (1 + math.log(2 * problem.k))
        guarantee = (
            f"diameter-cover loses at most 4k (1 + ln 2k) = {factor:.3g} times as much as the best "
            "recoding of single records"
        )
    return FirstClusters(diameter_cover(problem, neighbours), guarantee=guarantee)


@dataclass(frozen=True, slots=True)
class Linkage:
    """How a method makes clusters of records that are near each other.

    Args:
        link: The first clusters.
        most: Most distinct combinations of a table, or of a block of it, that it takes.
        patience: How many times as much as others it prices unasked, since it takes longer itself.
    """

    link: Link
    most: int
    patience: int = 1


LINKAGES: Mapping[str, Linkage] = {
    "forest": Linkage(_forest, 100_000),
    "agglomerative": Linkage(_agglomerative, 50_000, 10),
    "agglomerative-modified": Linkage(partial(_agglomerative, modified=True), 50_000, 10),
    "diameter-cover": Linkage(_diameter_cover, 50_000),
}
"""The methods by name. On one core so many combinations are compared and covered in about a minute
each, and united in about two."""


def _refuse_early(engine: Engine, subject: Subject, options: Options[ClusterOptions]) -> None:
    """Refuses, by a `PolicyError`, a table of more combinations, as soon as they can be counted.

    So no time limit that ends the encoding hides it. Of tables that are searched in blocks, or in
    what highest levels keep apart, nothing is known before they are read.
    """
    method, tops = options.method.name, tuple(tree.height for tree in subject.trees)
    most = LINKAGES[method].most
    if subject.high == tops and most < subject.records <= largest_block(options):
        count: int = engine.rows(combinations(subject.table, subject.names))[0][0]
        refuse_beyond(most, count, method=method, instead=INSTEAD)


def _by_division(problem: ClusteringProblem, start: Start) -> FirstClusters:
    """First clusters of each division, one after the other."""
    label = np.full(problem.records, NOWHERE, np.int64)
    bounds, room, number = np.zeros_like(label), problem.allowance, 0
    firsts: list[FirstClusters] = []
    for records in records_of(problem.division):
        part = replace(problem.part(records), highest=(), allowance=room)
        first = start(part)
        placed = first.clusters.label != NOWHERE
        label[records[placed]] = number + first.clusters.label[placed]
        assert first.bounds is not None
        bounds[records] = first.bounds
        number += len(first.clusters.nodes)
        room -= min(room, int((~placed).sum()))
        firsts.append(first)
    return FirstClusters(
        Clustering.of(problem, label),
        bounds,
        guarantee=firsts[0].guarantee,
        ended=next((clusters.ended for clusters in firsts if clusters.ended), ""),
    )


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, from first clusters of records that are near each other.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: The policy asks for what this method cannot do, or there are more combinations.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        _refuse_early(engine, subject, options)

        def read_now() -> EncodedRecords:
            return encode_records(engine, subject, policy=policy, loss=options.loss)

        read = read_once(options.shared, subject, read_now, policy=policy)
    name = options.method.name
    linkage = LINKAGES[name]

    def link(problem: ClusteringProblem) -> FirstClusters:
        def search() -> Neighbours:
            with phase("the search for neighbours"):
                return Neighbours.of(problem)

        neighbours = options.shared.once(
            ("near records", problem.digest), search, records=problem.records
        )
        bounds = np.maximum(neighbours.record_bounds, column_bounds(problem))
        tell(f"{name}: {counted(problem.records, 'record')}")
        with phase("the search for clusters"):
            return replace(linkage.link(problem, neighbours, options.specific), bounds=bounds)

    def start(problem: ClusteringProblem) -> FirstClusters:
        return _by_division(problem, link) if problem.highest else link(problem)

    refuse = partial(refuse_blocks, most=linkage.most, method=name, instead=INSTEAD)
    proving = priced(engine, read, options, start=start, patience=linkage.patience)
    return decide_clusters(read, options, start=proving, refuse=refuse)
