"""Annealing as an improvement: clusters of k records whose records are exchanged for the models.

The ordinary way asks the models of every cluster from the start. This one clusters for k alone,
anneals, merges what fails even then, and refines the clusters under the models. Both are done, and
the one that loses less is published: to ask for an improvement never costs anything but time.

Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
utility", section III, steps 1 to 7 of both algorithms.

Where the loss counts in what is accepted, it may keep clusters from what a few exchanges would
mend, and merging them then loses all that it had kept; without it, more exchanges than need be are
made. So where clusters fail at the end, annealing goes on for a while without the loss, and what
loses less of the two, once it is mended, is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.local.input import EncodedRecords
from sqlanon.methods.options import AnnealingOptions, ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.annealing import (
    Annealed,
    ModelState,
    anneal,
    states,
)
from sqlanon.search.clustering.assign import assign_rest, mend
from sqlanon.search.clustering.effort import Schedule
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted

ALONE, HEATED = 0.5, 0.6
"""Shares of the time that is left for clusters of k alone, and then for their annealing."""
LATER = 0.25
"""Iterations without the loss, for each with it."""


@dataclass(frozen=True, slots=True)
class AnnealedPart:
    """What annealing came to, of a table or a block of it.

    Args:
        rounds: Iterations and exchanges, with the loss and then without it.
        states: How the clusters stand with each model, before and after.
        stages: The clusters for k alone, those after the exchanges, and those that satisfy every
            model, before they are refined.
    """

    rounds: tuple[Annealed, ...]
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
        return any(own.ended for each in self.parts for own in each.rounds)


def schedule_of(options: Options[AnnealingOptions]) -> Schedule:
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


def anneals(options: Options[AnnealingOptions]) -> bool:
    """Whether annealing is asked for, which is refused where there are no models to anneal for."""
    return options.own.improve == "anneal"


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
    assert isinstance(demands, Demands)
    persons = None if demands.persons is None else replace(demands, every=())
    alone = replace(problem, demand=persons, deadline=problem.deadline.share(ALONE))
    first = search(alone)
    if not len(first.nodes):
        raise UnsatisfiableError("no records are in clusters that could be annealed")
    options.tell(f"anneal: {counted(len(first.sizes), 'cluster')}")
    alone = replace(alone, deadline=problem.deadline.share(HEATED))
    rounds = _rounds(alone, demands, label=first.label, schedule=schedule_of(options))
    label, found = _best(problem, [each.label for each in rounds])
    before, after = (
        states(demands, own, deadline=problem.deadline) for own in (first.label, label)
    )
    return AnnealedPart(
        rounds,
        tuple(zip(before, after, strict=True)),
        (first, Clustering.of(alone, label), found),
    )


def _rounds(
    problem: ClusteringProblem, demands: Demands, *, label: Numbers, schedule: Schedule
) -> tuple[Annealed, ...]:
    """Annealing as the schedule has it, and where clusters fail even so without the loss."""
    done = anneal(problem, demands, label=label, schedule=schedule)
    iterations = math.ceil(LATER * schedule.limit(problem.records))
    if not schedule.weight or not iterations or done.ended:
        return (done,)
    with suppress(TimeLimitError):
        if any(each.failing for each in states(demands, done.label, deadline=problem.deadline)):
            later = replace(schedule, iterations=iterations, weight=0.0)
            return done, anneal(problem, demands, label=done.label, schedule=later)
    return (done,)


def _best(problem: ClusteringProblem, labels: Sequence[Numbers]) -> tuple[Numbers, Clustering]:
    """Of some clusters those that lose least once they are mended, of equal ones the last.

    Raises:
        TimeLimitError: There was no time to mend the first of them.
        UnsatisfiableError: None of them can be mended.
    """
    found, failed = list[tuple[Numbers, Clustering]](), None
    for label in labels:
        try:
            found.append((label, _mended(problem, label)))
        except UnsatisfiableError as error:
            failed = error
        except TimeLimitError:
            if not found:
                raise
    if not found:
        assert failed is not None
        raise failed
    return min(reversed(found), key=lambda each: each[1].loss(problem))


def _mended(problem: ClusteringProblem, label: Numbers) -> Clustering:
    """Clusters that satisfy the models, from some of which a few do not."""
    nowhere = (label < 0).nonzero()[0]
    if len(nowhere) and not problem.satisfies(nowhere):
        return assign_rest(problem, label)
    return mend(problem, Clustering.of(problem, label))


def annealing_document(found: Annealing, read: EncodedRecords) -> dict[str, object]:
    """What a report tells of annealing."""
    names = ("clusters_of_k", "exchanged", "annealed", "ordinary")
    return {
        "iterations": sum(own.iterations for each in found.parts for own in each.rounds),
        "accepted": sum(own.accepted for each in found.parts for own in each.rounds),
        "kept": found.is_kept,
        "loss": {
            name: read.costs.loss(cost, read.subject.records)
            for name, cost in zip(names, found.costs, strict=True)
        },
        "models": _models(found.parts, read),
    }


def _models(found: Sequence[AnnealedPart], read: EncodedRecords) -> list[dict[str, object]]:
    """How the clusters of all blocks stood with each model."""
    demands = read.demands()
    assert demands is not None
    columns = list(dict.fromkeys(demand.column for demand in read.policy.demands))
    rows = []
    for number, demand in enumerate(demands.every):
        row: dict[str, object] = {
            "model": demand.model.describe(),
            "column": columns[demand.attribute],
            "persons": demand.of_persons,
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


def annealing_notes(found: Annealing | None, options: Options[AnnealingOptions]) -> Iterator[str]:
    """What a reader should know of annealing that was asked for."""
    if not anneals(options):
        return
    if found is None:
        yield (
            "annealing found no clusters that satisfy the policy, or not in time: these are the "
            "clusters without annealing"
        )
    elif found.is_cut:
        yield "the time limit ended annealing before its last iteration"
