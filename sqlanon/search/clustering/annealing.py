"""Annealing (Khaitan, Babu, Jena and Majhi, algorithms NEIGHBOUR and NUMBER-GEN).

Records are exchanged between clusters until each satisfies the models. The clusters that it starts
from satisfy k alone. An iteration takes a cluster that fails, one of its records and the z-th
nearest record of another cluster (z by NUMBER-GEN, `drawn_number`), and exchanges the two, so every
cluster keeps its number of records. The exchange stands where the energy of the state does not
rise, else with probability exp(-rise / T).

What the source leaves open is settled so:

- *Energy* is a sum over all clusters, of what they lack (`Energy`). The source compares "the
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

It has a loop of its own beside `refinement`, which covers pools of clusters anew, many at once, and
never loses more: annealing exchanges one pair after the other, each depending on the one before,
and may go uphill.

Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
utility", sections II.E, III.A and III.B.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.closure_costs import NodeCosts
from sqlanon.search.clustering.clustering_problem import ClusteringProblem, records_of, set_closures
from sqlanon.search.clustering.effort import Schedule
from sqlanon.search.privacy import (
    Demands,
    ValueDemand,
    counts_per_group,
    figures,
    shortfalls,
    worst_alone,
)

COUNTS_AT_ONCE = 2**20
"""Most counts of values at a time."""


class Energy:
    """Energy: what annealing makes less, of single clusters; that of a state is their sum.

    A cluster's is, summed over the models, k times what it lacks to satisfy one over what a cluster
    of one value lacks at worst: so models of different units weigh alike, and one record exchanged
    changes it by about 1, whatever k is. Where the loss counts, too, every record adds its part of
    what it loses at the top of all hierarchies, times the weight.

    Args:
        problem: The table.
        demands: The models.
        weight: The weight of the loss; 0 for none.
    """

    def __init__(self, problem: ClusteringProblem, demands: Demands, *, weight: float) -> None:
        self._problem = problem
        self._demands = demands
        self._models = [(demand, problem.k / worst_alone(demand)) for demand in demands.every]
        self._share = weight / max(int(problem.cost(problem.root)), 1)

    def lacking(self, clusters: Sequence[Numbers], *, deadline: Deadline = NEVER) -> list[float]:
        """What each of some clusters, given by their records, lacks; 0 where every model holds.

        Raises:
            TimeLimitError: The deadline came before all were looked at.
        """
        total = np.zeros(len(clusters))
        for demand, scale in self._models:
            for some, part in counts(self._demands, demand, clusters=clusters, deadline=deadline):
                total[some] += scale * shortfalls(demand, part)
        energies: list[float] = total.tolist()
        return energies

    def losing(self, clusters: Sequence[Numbers]) -> list[float]:
        """The parts of the loss."""
        if not self._share:
            return [0.0] * len(clusters)
        sizes = np.array([len(records) for records in clusters])
        cost = self._problem.cost(set_closures(self._problem, *clusters))
        losses: list[float] = (cost * sizes * self._share).tolist()
        return losses


def counts(
    demands: Demands,
    demand: ValueDemand,
    *,
    clusters: Sequence[Numbers],
    deadline: Deadline = NEVER,
) -> Iterator[tuple[Numbers, Numbers]]:
    """Records, or persons, per value of clusters, so many at a time.

    Of many values only those that a cluster holds, where no others matter to the model.

    Args:
        demands: The models.
        demand: One of them, which says of which attribute.
        clusters: Their records.
        deadline: When it is too late.

    Yields:
        The numbers of some clusters, and their counts, `(clusters, values)`.

    Raises:
        TimeLimitError: The deadline came before all were counted.
    """
    values, relative = demand.width, demand.model.relative or demand.of_persons
    if len(clusters) * values > COUNTS_AT_ONCE and not relative:
        records, sizes = np.concatenate(clusters), [len(cluster) for cluster in clusters]
        value, group = demands.values[records, demand.attribute], np.arange(len(clusters))
        there, group = value >= 0, np.repeat(group, sizes)
        entries = group[there], value[there], np.ones(int(there.sum()), np.int64)
        for some, part in counts_per_group(*entries, groups=len(clusters), cells=COUNTS_AT_ONCE):
            deadline.check()
            yield some, part
        return
    step = max(1, COUNTS_AT_ONCE // max(values, 1))
    for start in range(0, len(clusters), step):
        deadline.check()
        some = np.arange(start, min(start + step, len(clusters)))
        yield some, np.stack([demands.counts(clusters[number], demand) for number in some.tolist()])


MAX_NEAREST = 48
"""Nearest records that are kept of each; a larger number is drawn once in as many turns."""


def drawn_number(x: float, *, below: int) -> int:
    """NUMBER-GEN: the whole part of 1 / x where that is below a number, else 1.

    With x uniform in (0, 1] the number z has probability 1 / (z (z + 1)), so z is (z + 2) / z times
    as probable as z + 1. The source says double: that is so for z = 2 alone; 1 is three times as
    probable as 2, and large numbers are about as probable as the next.

    Args:
        x: A number in [0, 1]; 0 counts as one that is too small.
        below: Above the largest number wanted.
    """
    if not x * below > 1:  # 1 / x would not be below it
        return 1
    number = int(1 / x)
    return number if number < below else 1


class NearestOthers:
    """The records of other values than a record's own, by distance, equal ones in random order.

    Only records of one division, which may share a cluster, are neighbours. The distance of two
    records is the cost of their closure, the weight of an edge between them in the source. Rows of
    distances are made when they are first asked for, and of each only the nearest few are kept, so
    that memory grows with the records and not with their pairs.

    Args:
        problem: The table.
        values: `values[record, attribute]`: numbers of the sensitive values.
        among: Which records are in a cluster; no other is anybody's neighbour.
        random: Draws the order of equal distances.
    """

    def __init__(
        self,
        problem: ClusteringProblem,
        values: Numbers,
        *,
        among: Flags,
        random: np.random.Generator,
    ) -> None:
        self._leaves, self._random = problem.leaves, random
        combinations, at = np.unique(problem.leaves, axis=0, return_inverse=True)
        self._combination = at.ravel()
        self._costs = NodeCosts(problem.taxonomies)
        self._codes = self._costs.codes(combinations)
        self.group = np.unique(values, axis=0, return_inverse=True)[1].ravel()
        """Per record a number of its values."""
        self._among, self._division = among, problem.division
        self._alike = self._division * (int(self.group.max()) + 1) + self.group
        self._open = np.bincount(self._division[among])
        self._sizes = np.bincount(self._alike[among], minlength=int(self._alike.max()) + 1)
        self._near: dict[int, Numbers] = {}

    def others(self, record: int) -> int:
        """How many records of its division, in clusters, have other values than one."""
        whole, alike = self._open[self._division[record]], self._sizes[self._alike[record]]
        return int(whole) - int(alike)

    def distances(self, record: int) -> Numbers:
        """The cost of the closure of a record with every record [units]."""
        far = self._costs.joined(self._leaves[record], self._codes)
        distances: Numbers = far.take(self._combination)
        return distances

    def of(self, record: int, place: int, *, label: Numbers) -> int:
        """The record of other values in another cluster that is nearest but so many less one.

        Args:
            record: The record.
            place: 1 for the nearest; at most as many as there are.
            label: The cluster of each record.
        """
        if record not in self._near:
            self._near[record] = self._nearest(record)
        near = self._near[record]
        free = near[label[near] != label[record]]
        if place <= len(free):
            return int(free[place - 1])
        records = np.flatnonzero(self._differing(record) & (label != label[record]))
        far = self.distances(record)[records]
        alike = records[far == np.partition(far, place - 1)[place - 1]]
        return int(alike[int(self._random.random() * len(alike))])

    def _differing(self, record: int) -> Flags:
        differing: Flags = self._among & (self.group != self.group[record])
        if self._open[self._division[record]] < len(self._among):
            differing &= self._division == self._division[record]
        return differing

    def _nearest(self, record: int) -> Numbers:
        """The nearest few, in order."""
        allowed = np.flatnonzero(self._differing(record))
        far = self.distances(record)[allowed]
        if len(far) > MAX_NEAREST:
            within = far <= np.partition(far, MAX_NEAREST - 1)[MAX_NEAREST - 1]
            allowed, far = allowed[within], far[within]
        order = np.lexsort((self._random.random(len(far)), far))[:MAX_NEAREST]
        return allowed[order].astype(np.int32)


ITERATIONS_BETWEEN_LOOKS = 64
"""Iterations from one look at the deadline to the next."""
ENERGY_ROUNDING = 1e-9
"""By how much energies may differ by the order of their sums."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """How clusters stand with a model.

    Args:
        clusters: How many there are.
        failing: Those that fail it.
        lacking: What the worst one lacks, see `figures`.
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
    clusters = records_of(label)
    model_states = []
    for demand in demands.every:
        failing, total, worst = 0, 0.0, (-math.inf, 0.0)
        for _, part in counts(demands, demand, clusters=clusters, deadline=deadline):
            failing += len(part) - int(demand.holds(part).sum())
            lacking, figure, mean = figures(demand, part)
            total += mean * len(part)
            worst = max(worst, (lacking, figure))
        model_states.append(ModelState(len(clusters), failing, *worst, total / len(clusters)))
    return model_states


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
        self._members = records_of(label)
        self._place = np.zeros(len(label), np.int64)
        for records in self._members:
            self._place[records] = np.arange(len(records))
        self._lacking = self._energy.lacking(self._members, deadline=problem.deadline)
        self._losing = self._energy.losing(self._members)
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
            if self.done % ITERATIONS_BETWEEN_LOOKS == 0 and self._problem.deadline.expired:
                self.ended = True
                return
            if self.done % ITERATIONS_BETWEEN_LOOKS == 0:
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
        cluster = self._failing[int(self._random.random() * len(self._failing))]
        records = self._members[cluster]
        record = int(records[int(self._random.random() * len(records))])
        groups = self._nearest.group[records]
        inside = int((groups != self._nearest.group[record]).sum())
        others = self._nearest.others(record) - inside
        if others < 1:
            return
        place = drawn_number(self._random.random(), below=others + 1)
        other = self._nearest.of(record, place, label=self.label)
        pair = (cluster, int(self.label[other]))
        self._exchange(record, other)
        clusters = [self._members[number] for number in pair]
        if not all(map(self._problem.satisfies, clusters)):
            self._exchange(record, other)
            return
        lacking, losing = self._energy.lacking(clusters), self._energy.losing(clusters)
        rise = sum(lacking) + sum(losing)
        rise -= sum(self._lacking[number] + self._losing[number] for number in pair)
        # A rise is accepted with probability exp(-rise / T).
        if rise > 0 and not (heat > 0 and self._random.random() < math.exp(-rise / heat)):
            self._exchange(record, other)
            return
        self.accepted += 1
        self._since.append((record, other))
        for number, lack, loss in zip(pair, lacking, losing, strict=True):
            self._stand(number, lack, loss)
        self.energy += rise
        if self.energy < self._best - ENERGY_ROUNDING:
            self._best = self.energy
            self._since.clear()

    def _exchange(self, record: int, other: int) -> None:
        """Puts two records in each other's place; to do it twice changes nothing."""
        one, two = self.label[record], self.label[other]
        at, there = self._place[record], self._place[other]
        self._members[one][at], self._members[two][there] = other, record
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
