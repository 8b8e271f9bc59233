"""Linkage: what methods share that compare every two records, instead of mining itemsets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.divisions import by_division
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.local.input import encode_records, reading_end
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.lower_bound import column_bounds
from sqlanon.search.clustering.neighbours import Copies, Neighbours
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem
from sqlanon.wording import counted

INSTEAD = "mondrian or direct-cover"
"""The methods for tables of more combinations than can be compared."""
Own = TypeVar("Own", bound=ClusterOptions)


@dataclass(frozen=True, slots=True)
class Linkage:
    """How a method makes clusters of records that are near each other.

    Args:
        link: The first clusters of a table or of a block of it, from the neighbours of each
            combination.
        most: Most distinct combinations of a table, or of a block of it, that it takes.
    """

    link: Callable[[ClusteringProblem, Neighbours], FirstClusters]
    most: int


def decide_linkage(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[Own],
    linkage: Linkage,
) -> Decided:
    """A recoding of every record, from first clusters of records that are near each other.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: The policy asks for what this method cannot do, or there are more combinations.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        read = encode_records(engine, subject, policy=policy, loss=options.loss)
    name = options.method.name

    def start(problem: ClusteringProblem, quick: Clustering | None) -> FirstClusters:
        copies = Copies.of(problem)
        copies.refuse_beyond(linkage.most, method=name, instead=INSTEAD)
        options.tell(f"neighbours: {counted(len(copies), 'distinct combination')}")
        with phase("the search for neighbours"):
            neighbours = Neighbours.of(problem, copies)
        bounds = np.maximum(neighbours.record_bounds, column_bounds(problem))
        options.tell(f"{name}: {counted(problem.records, 'record')}")
        try:
            with phase("the search for clusters"):
                first = linkage.link(problem, neighbours)
        except TimeLimitError as error:
            if quick is None:
                raise
            first = FirstClusters(quick, ended=error.phase or "", is_instead=True)
        return replace(first, bounds=bounds)

    return decide_clusters(read, options, start=by_division(start))
