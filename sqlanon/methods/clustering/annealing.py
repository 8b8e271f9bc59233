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

from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.local import EncodedRecords
from sqlanon.methods.options import AnnealingOptions, ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.progress import tell
from sqlanon.reports.search import (
    AnnealedModel,
    AnnealingFigures,
    AnnealingLosses,
    ClustersByModel,
)
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.annealing import (
    Annealed,
    ModelState,
    anneal,
    states,
)
from sqlanon.search.clustering.assign import assign_rest, mend
from sqlanon.search.clustering.clustering_problem import Clustering, ClusteringProblem
from sqlanon.search.clustering.effort import Schedule
from sqlanon.wording import counted

ALONE_SHARE, ANNEALED_SHARE = 0.5, 0.6
"""Shares of the time that is left for clusters of k alone, and then for their annealing."""


@dataclass(frozen=True, slots=True)
class AnnealedPart:
    """What annealing came to, of a table or a block of it.

    Args:
        done: Its iterations and exchanges.
        states: How the clusters stand with each model, before and after.
        stages: The clusters for k alone, those after the exchanges, and those that satisfy every
            model, before they are refined.
    """

    done: Annealed
    states: tuple[tuple[ModelState, ModelState], ...]
    stages: tuple[Clustering, Clustering, Clustering]


@dataclass(frozen=True, slots=True)
class Annealing:
    """What annealing came to, of all blocks.

    Args:
        parts: What it came to, of each block.
        costs: What all records lose [units]: in clusters for k alone, after the exchanges, once
            every model holds, and in the ordinary way.
    """

    parts: tuple[AnnealedPart, ...]
    costs: tuple[int, int, int, int]

    @property
    def is_kept(self) -> bool:
        """Whether it lost less than the ordinary way."""
        return self.costs[2] < self.costs[3]

    @property
    def is_cut(self) -> bool:
        """Whether the time limit ended it before its last iteration."""
        return any(part.done.ended for part in self.parts)


def schedule_of(options: Options[AnnealingOptions]) -> Schedule:
    """The schedule that options ask for."""
    settings = options.specific
    given = {
        "iterations": settings.iterations,
        "temperature": settings.temperature,
        "cooling": settings.cooling,
        "weight": settings.loss_weight,
    }
    known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return Schedule(seed=options.seed, **known)


def anneals(options: Options[AnnealingOptions]) -> bool:
    """Whether annealing is asked for, which is refused where there are no models to anneal for."""
    return options.specific.improve == "anneal"


def annealed_part(
    problem: ClusteringProblem,
    options: Options[ClusterOptions],
    *,
    search: Callable[[ClusteringProblem], Clustering],
) -> AnnealedPart:
    """Clusters for k alone whose records are exchanged until the models hold, or merged.

    Args:
        problem: The table or a block of it, of which no record may be left out.
        options: How to anneal.
        search: Finds clusters for a problem, as the method does.

    Raises:
        TimeLimitError: There was no time to get to clusters that satisfy the policy.
        UnsatisfiableError: There are no clusters of k records, or persons.
    """
    demands = problem.demand
    assert demands is not None
    persons = None if demands.persons is None else replace(demands, every=())
    alone = replace(problem, demand=persons, deadline=problem.deadline.share(ALONE_SHARE))
    first = search(alone)
    if not len(first.nodes):
        raise UnsatisfiableError("no records are in clusters that could be annealed")
    tell(f"anneal: {counted(len(first.sizes), 'cluster')}")
    alone = replace(alone, deadline=problem.deadline.share(ANNEALED_SHARE))
    done = anneal(alone, demands, label=first.label, schedule=schedule_of(options))
    clusters = _mended(problem, done.label)
    before, after = (
        states(demands, label, deadline=problem.deadline) for label in (first.label, done.label)
    )
    return AnnealedPart(
        done,
        tuple(zip(before, after, strict=True)),
        (first, Clustering.of(alone, done.label), clusters),
    )


def _mended(problem: ClusteringProblem, label: Numbers) -> Clustering:
    """Clusters that satisfy the models, from some of which a few do not."""
    nowhere = (label < 0).nonzero()[0]
    if len(nowhere) and not problem.satisfies(nowhere):
        return assign_rest(problem, label)
    return mend(problem, Clustering.of(problem, label))


def annealing_figures(outcome: Annealing, read: EncodedRecords) -> AnnealingFigures:
    """What a report tells of annealing."""
    losses = (read.costs.loss(cost, read.subject.records) for cost in outcome.costs)
    return AnnealingFigures(
        iterations=sum(part.done.iterations for part in outcome.parts),
        accepted=sum(part.done.accepted for part in outcome.parts),
        kept=outcome.is_kept,
        loss=AnnealingLosses(*losses),
        models=tuple(_models(outcome.parts, read)),
    )


def _models(parts: Sequence[AnnealedPart], read: EncodedRecords) -> Iterator[AnnealedModel]:
    """How the clusters of all blocks stood with each model."""
    demands = read.demands()
    assert demands is not None
    columns = list(dict.fromkeys(demand.column for demand in read.policy.demands))
    for number, demand in enumerate(demands.every):
        before, after = (_by_model([part.states[number][at] for part in parts]) for at in (0, 1))
        yield AnnealedModel(
            model=demand.model.describe(),
            column=columns[demand.attribute],
            persons=demand.of_persons,
            threshold=demand.model.threshold,
            clusters=sum(part.states[number][0].clusters for part in parts),
            before=before,
            after=after,
        )


def _by_model(states: Sequence[ModelState]) -> ClustersByModel:
    """How the clusters of all blocks stand with a model."""
    sizes = sum(state.clusters for state in states)
    return ClustersByModel(
        failing=sum(state.failing for state in states),
        worst=max(states, key=lambda state: state.lacking).worst,
        mean=sum(state.mean * state.clusters for state in states) / sizes,
    )


def annealing_notes(outcome: Annealing | None, options: Options[AnnealingOptions]) -> Iterator[str]:
    """What a reader should know of annealing that was asked for."""
    if not anneals(options):
        return
    if outcome is None:
        yield (
            "annealing found no clusters that satisfy the policy, or not in time: these are the "
            "clusters without annealing"
        )
    elif outcome.is_cut:
        yield "the time limit ended annealing before its last iteration"
