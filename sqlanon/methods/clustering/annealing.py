"""Annealing as an improvement: clusters of k records whose records are exchanged for the models.

The ordinary way asks the models of every cluster from the start. This one clusters for k alone,
anneals, merges what fails even then, and refines the clusters under the models. Both are done, and
the one that loses less is published: to ask for an improvement never costs anything but time.

Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
utility", section III, steps 1 to 7 of both algorithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlanon.errors import TimeLimitError
from sqlanon.methods.local.input import EncodedRecords
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.policy.policy import Policy
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.anneal.search import Annealed, ModelState, Schedule, anneal, states
from sqlanon.search.clustering.assign import assign_rest, mend
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem, renumbered
from sqlanon.search.clustering.refine.search import Effort, refine
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted

ALONE, HEATED = 0.5, 0.6
"""Shares of the time that is left for clusters of k alone, and then for their annealing."""


@dataclass(frozen=True, slots=True)
class Annealing:
    """What annealing came to, of a table or a block of it.

    Args:
        done: Iterations and exchanges.
        states: How the clusters stand with each model, before and after.
        costs: What all records lose [units]: in clusters for k alone, after the exchanges, once
            every model holds, and in the ordinary way.
        records: Records of the table or block.
    """

    done: Annealed
    states: tuple[tuple[ModelState, ModelState], ...]
    costs: tuple[int, int, int, int]
    records: int

    @property
    def is_kept(self) -> bool:
        """Whether it lost less than the ordinary way."""
        return self.costs[2] < self.costs[3]


def schedule_of(options: Options[ClusterOptions]) -> Schedule:
    """The schedule that options ask for."""
    own = options.own
    given = {
        "iterations": own.iterations,
        "temperature": own.temperature,
        "cooling": own.cooling,
        "weight": own.loss_weight,
    }
    known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return Schedule(seed=options.seed, **known)


def improve(
    problem: ClusteringProblem,
    options: Options[ClusterOptions],
    *,
    ordinary: Clustering,
    search: Callable[[ClusteringProblem], Clustering],
) -> tuple[Clustering, Annealing | None]:
    """The better of clusters found in the ordinary way and of annealed ones.

    Args:
        problem: The table.
        options: Whether to anneal, and how.
        ordinary: Clusters that satisfy the policy.
        search: Finds clusters for a problem, as the method does.

    Returns:
        The clusters, and what annealing came to; None where there was nothing to anneal, or no time
        to get to clusters that satisfy the policy.
    """
    if options.own.improve != "anneal" or not isinstance(problem.demand, Demands):
        return ordinary, None
    demands = problem.demand
    try:
        alone = replace(problem, demand=None, deadline=problem.deadline.share(ALONE))
        first = search(alone)
        options.tell(f"anneal: {counted(len(first.sizes), 'cluster')}")
        alone = replace(alone, deadline=problem.deadline.share(HEATED))
        done = anneal(alone, demands, label=first.label, schedule=schedule_of(options))
        found = _mended(problem, done.label)
        if options.own.refine:
            found = refine(problem, found, effort=Effort(seed=options.seed))
    except TimeLimitError:
        return ordinary, None
    told = Annealing(
        done,
        tuple(zip(states(demands, first.label), states(demands, done.label), strict=True)),
        (
            first.loss(problem),
            Clustering.of(alone, done.label).loss(problem),
            found.loss(problem),
            ordinary.loss(problem),
        ),
        problem.records,
    )
    return (found if told.is_kept else ordinary), told


def _mended(problem: ClusteringProblem, label: Numbers) -> Clustering:
    """Clusters that satisfy the models, from some of which a few do not.

    Those that records of another division have come into fall into their divisions' parts.
    """
    if problem.highest:
        inside = label >= 0
        parts = label * (int(problem.division.max()) + 1) + problem.division
        label = renumbered(np.where(inside, parts, label))
    nowhere = (label < 0).nonzero()[0]
    if len(nowhere) and not problem.satisfies(nowhere):
        return assign_rest(problem, label)
    return mend(problem, Clustering.of(problem, label))


def annealing_document(
    found: Sequence[Annealing], read: EncodedRecords
) -> dict[str, dict[str, object]]:
    """What a report tells of annealing, under its key; nothing where nothing was annealed.

    Args:
        found: What it came to, of each block.
        read: The table.
    """
    if not found:
        return {}
    records = sum(each.records for each in found)
    names = ("clusters_of_k", "exchanged", "annealed", "ordinary")
    costs = zip(*(each.costs for each in found), strict=True)
    return {
        "annealing": {
            "iterations": sum(each.done.iterations for each in found),
            "accepted": sum(each.done.accepted for each in found),
            "records": records,
            "kept_records": sum(each.records for each in found if each.is_kept),
            "loss": {
                name: read.costs.loss(sum(cost), records)
                for name, cost in zip(names, costs, strict=True)
            },
            "models": _models(found, read),
        }
    }


def _models(found: Sequence[Annealing], read: EncodedRecords) -> list[dict[str, object]]:
    """How the clusters of all blocks stood with each model."""
    demands = read.demands()
    assert demands is not None
    columns = list(dict.fromkeys(demand.column for demand in read.policy.demands))
    rows = []
    for number, demand in enumerate(demands.every):
        row: dict[str, object] = {
            "model": demand.model.describe(),
            "column": columns[demand.attribute],
            "threshold": demand.model.threshold,
            "clusters": sum(each.states[number][0].clusters for each in found),
        }
        for at, when in enumerate(("before", "after")):
            states = [each.states[number][at] for each in found]
            sizes = sum(state.clusters for state in states)
            row[when] = {
                "failing": sum(state.failing for state in states),
                "worst": max(states, key=lambda state: state.lacking).worst,
                "mean": sum(state.mean * state.clusters for state in states) / sizes,
            }
        rows.append(row)
    return rows


def annealing_notes(
    found: Sequence[Annealing], options: Options[ClusterOptions], *, policy: Policy
) -> Iterator[str]:
    """What a reader should know of annealing that was asked for."""
    if options.own.improve != "anneal":
        return
    if not policy.demands:
        yield "no model of a sensitive attribute is asked for, so there was nothing to anneal"
    elif not found:
        yield "the time limit ended annealing: the clusters are those of the ordinary way"
    elif any(each.done.ended for each in found):
        yield "the time limit ended annealing before its last iteration"
