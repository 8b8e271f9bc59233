"""Annealing: records are exchanged between clusters until each satisfies the models.

The clusters that it starts from satisfy k alone. An iteration takes a cluster that fails, one of
its records and the z-th nearest record of another cluster (z by NUMBER-GEN, `drawn_number`), and
exchanges the two, so every cluster keeps its number of records. The exchange stands where the
energy of the state does not rise, else with probability exp(-rise / T).

What the source leaves open is settled so:

- *Energy* is a sum over all clusters, of what they lack (`energy`). The source compares "the
  l-diversity value of the state" and does not say of which clusters; by the chosen one alone a
  neighbour's diversity could be used up for nothing. A cluster that satisfies a model lacks
  nothing, however much it exceeds it, so that it can give to others what it has to spare. Only two
  clusters change, so a comparison looks at these two alone.
- *Which cluster, which record*: each failing cluster, and each record of it, with one probability.
- *Neighbours* are counted among the records of other clusters with other sensitive values: an
  exchange within a cluster, or of equal values, changes no energy. Equal distances are in random
  order.
- *Temperature*: T falls from `Schedule.temperature` by one factor per iteration, to `cooling` of
  that at the end. One record exchanged changes the energy by about 1.
- *The end* is where no cluster fails, or after so many iterations. The state of least energy is
  the result, also where later ones were worse. What fails even so is for the caller to mend.
- *The loss* counts in the energy, too, which the source calls for in section VI; with a weight of
  0 it does not, and exchanges are those of section III. On Adult it halves what annealing loses.

Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
utility", sections III.A and III.B, algorithms NEIGHBOUR and NUMBER-GEN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.anneal.energy import Energy, counts
from sqlanon.search.clustering.anneal.nearest import NearestOthers, drawn_number
from sqlanon.search.clustering.problem import ClusteringProblem, runs
from sqlanon.search.privacy import Demands
from sqlanon.search.shortfalls import figures

PER_RECORD, MOST = 5, 250_000
"""Iterations for each record, and for all of them at most, where no number is given."""
LOOK = 64
"""Iterations from one look at the deadline to the next."""
ROUNDING = 1e-9
"""By how much energies may differ by the order of their sums."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how hot annealing is.

    Args:
        iterations: Most exchanges tried; None for `PER_RECORD` of each record, at most `MOST`.
        temperature: That of the first iteration [units of energy], at least 0, where only rises in
            energy are refused.
        cooling: That of the last one over that of the first, above 0 and at most 1.
        weight: What the loss counts in the energy, at least 0.
        seed: What the choices are drawn from.
    """

    iterations: int | None = None
    temperature: float = 0.2
    cooling: float = 0.01
    weight: float = 1.0
    seed: int = 0

    def limit(self, records: int) -> int:
        """Most iterations for a table of so many records."""
        own = min(PER_RECORD * records, MOST)
        return own if self.iterations is None else self.iterations


@dataclass(frozen=True, slots=True)
class ModelState:
    """How clusters stand with a model.

    Args:
        clusters: How many there are.
        failing: Those that fail it.
        lacking: What the worst one lacks, see `shortfalls.figures`.
        worst: Its figure.
        mean: The mean of the clusters' figures.
    """

    clusters: int
    failing: int
    lacking: float
    worst: float
    mean: float


@dataclass(frozen=True, slots=True)
class Annealed:
    """What annealing made of clusters.

    Args:
        label: The cluster of each record; all have as many records as before.
        iterations: Iterations done.
        accepted: Exchanges that stood.
        energies: Energy before and after; NaN where there was no time to work it out.
        ended: Whether the deadline came first.
    """

    label: Numbers
    iterations: int
    accepted: int
    energies: tuple[float, float]
    ended: bool = False


def anneal(
    problem: ClusteringProblem, demands: Demands, *, label: Numbers, schedule: Schedule
) -> Annealed:
    """Exchanges records of clusters so that they lack less, or nothing, to satisfy models.

    Args:
        problem: The table with what clusters satisfy already, and still do after each exchange;
            its deadline ends the search with the best clusters until then.
        demands: The models.
        label: The cluster of each record; `NOWHERE` for one that stays there.
        schedule: How long and how hot.
    """
    try:
        search = _Search(problem, demands, label=label.copy(), schedule=schedule)
    except TimeLimitError:
        return Annealed(label, 0, 0, (math.nan, math.nan), ended=True)
    before = search.energy
    search.run(schedule.limit(problem.records))
    search.settle()
    return Annealed(
        search.label, search.done, search.accepted, (before, search.energy), search.ended
    )


def states(demands: Demands, label: Numbers, *, deadline: Deadline = NEVER) -> list[ModelState]:
    """How clusters stand with each model, by the cluster of each record; there is one or more.

    Raises:
        TimeLimitError: The deadline came before that was known.
    """
    held = clusters_of(label)
    found = []
    for demand in demands.every:
        failing, total, worst = 0, 0.0, (-math.inf, 0.0)
        for _, part in counts(demands, demand, clusters=held, deadline=deadline):
            failing += len(part) - int(demand.holds(part).sum())
            lacking, figure, mean = figures(demand, part)
            total += mean * len(part)
            worst = max(worst, (lacking, figure))
        found.append(ModelState(len(held), failing, *worst, total / len(held)))
    return found


def clusters_of(label: Numbers) -> list[Numbers]:
    """The records of each cluster, by its number."""
    order, starts = runs(label)
    return np.split(order, starts[1:]) if len(starts) else []


class _Search:
    """A clustering whose records are exchanged."""

    def __init__(
        self, problem: ClusteringProblem, demands: Demands, *, label: Numbers, schedule: Schedule
    ) -> None:
        self._problem, self._schedule = problem, schedule
        self._random = np.random.default_rng(schedule.seed)
        self._energy = Energy(problem, demands, weight=schedule.weight)
        self.label = label
        self._nearest = NearestOthers(
            problem, demands.values, among=label >= 0, random=self._random
        )
        self._held = clusters_of(label)
        self._place = np.zeros(len(label), np.int64)
        for records in self._held:
            self._place[records] = np.arange(len(records))
        self._lacking = self._energy.lacking(self._held, deadline=problem.deadline)
        self._losing = self._energy.losing(self._held)
        self._failing = [number for number, lack in enumerate(self._lacking) if lack > 0]
        self._at = {number: at for at, number in enumerate(self._failing)}
        self.energy = self._best = sum(self._lacking) + sum(self._losing)
        self._since: list[tuple[int, int]] = []
        self.done = self.accepted = 0
        self.ended = False

    def run(self, iterations: int) -> None:
        """Tries exchanges until no cluster fails."""
        falls = self._schedule.cooling ** (1 / max(iterations - 1, 1))
        heat = self._schedule.temperature
        while self._failing and self.done < iterations:
            if self.done % LOOK == 0 and self._problem.deadline.expired:
                self.ended = True
                return
            if self.done % LOOK == 0:
                advance(self.done / iterations)
            self._try(heat)
            heat *= falls
            self.done += 1

    def settle(self) -> None:
        """Goes back to the state of least energy, unless none fails in the one that is reached."""
        if not self._failing:
            return
        for record, other in reversed(self._since):
            self._exchange(record, other)
        self._since.clear()
        self.energy = self._best

    def _try(self, heat: float) -> None:
        """Exchanges a record of a failing cluster with a neighbour, if that is accepted."""
        cluster = self._failing[self._below(len(self._failing))]
        record = int(self._held[cluster][self._below(len(self._held[cluster]))])
        own = self._nearest.group[self._held[cluster]]
        inside = int((own != self._nearest.group[record]).sum())
        others = self._nearest.others(record) - inside
        if others < 1:
            return
        place = drawn_number(self._random.random(), below=others + 1)
        other = self._nearest.of(record, place, label=self.label)
        pair = (cluster, int(self.label[other]))
        self._exchange(record, other)
        held = [self._held[number] for number in pair]
        if not all(map(self._problem.satisfies, held)):
            self._exchange(record, other)
            return
        lacking, losing = self._energy.lacking(held), self._energy.losing(held)
        rise = sum(lacking) + sum(losing)
        rise -= sum(self._lacking[number] + self._losing[number] for number in pair)
        if rise > 0 and not self._is_accepted(rise, heat):
            self._exchange(record, other)
            return
        self.accepted += 1
        self._since.append((record, other))
        for number, lack, loss in zip(pair, lacking, losing, strict=True):
            self._stand(number, lack, loss)
        self.energy += rise
        if self.energy < self._best - ROUNDING:
            self._best = self.energy
            self._since.clear()

    def _below(self, number: int) -> int:
        """A whole number from 0 up to below another."""
        return int(self._random.random() * number)

    def _is_accepted(self, rise: float, heat: float) -> bool:
        """Whether a rise in energy is: with probability exp(-rise / T)."""
        return heat > 0 and self._random.random() < math.exp(-rise / heat)

    def _exchange(self, record: int, other: int) -> None:
        """Puts two records in each other's place; to do it twice changes nothing."""
        one, two = self.label[record], self.label[other]
        at, there = self._place[record], self._place[other]
        self._held[one][at], self._held[two][there] = other, record
        self.label[record], self.label[other] = two, one
        self._place[record], self._place[other] = there, at

    def _stand(self, number: int, lack: float, loss: float) -> None:
        """Notes how a cluster stands now."""
        self._lacking[number], self._losing[number] = lack, loss
        if lack > 0 and number not in self._at:
            self._at[number] = len(self._failing)
            self._failing.append(number)
        elif not lack > 0 and number in self._at:
            at, last = self._at.pop(number), self._failing.pop()
            if last != number:
                self._failing[at] = last
                self._at[last] = at
