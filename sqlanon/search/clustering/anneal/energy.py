"""Energy: what annealing makes less, of single clusters.

The energy of a state is the sum over its clusters. A cluster's is, summed over the models, k times
what it lacks to satisfy one over what a cluster of one value lacks at worst: so models of different
units weigh alike, and one record exchanged changes it by about 1, whatever k is. Where the loss
counts, too, every record adds its part of what it loses at the top of all hierarchies, times the
weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.closure_costs import SpanCosts
from sqlanon.search.clustering.problem import ClusteringProblem, closed
from sqlanon.search.held import counts_of_own
from sqlanon.search.privacy import Demands, ValueDemand
from sqlanon.search.shortfalls import shortfalls, worst_alone

CELLS = 2**20
"""Most counts of values at a time."""


class Energy:
    """The energies of clusters.

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
        self._spans = SpanCosts.of(problem.taxonomies)

    def lacking(self, clusters: Sequence[Numbers], *, deadline: Deadline = NEVER) -> list[float]:
        """What each of some clusters, given by their records, lacks; 0 where every model holds.

        Raises:
            TimeLimitError: The deadline came before all were looked at.
        """
        total = np.zeros(len(clusters))
        for demand, scale in self._models:
            for some, part in counts(self._demands, demand, clusters=clusters, deadline=deadline):
                total[some] += scale * shortfalls(demand, part)
        found: list[float] = total.tolist()
        return found

    def losing(self, clusters: Sequence[Numbers]) -> list[float]:
        """The parts of the loss."""
        if not self._share:
            return [0.0] * len(clusters)
        sizes = np.array([len(records) for records in clusters])
        leaves, starts = self._problem.leaves[np.concatenate(clusters)], np.cumsum(sizes) - sizes
        if self._spans is None:
            cost = self._problem.cost(closed(self._problem, leaves, starts=starts))
        else:
            low = np.minimum.reduceat(leaves, starts, axis=0)
            high = np.maximum.reduceat(leaves, starts, axis=0)
            cost = self._spans.costs(low, high)
        found: list[float] = (cost * sizes * self._share).tolist()
        return found


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
    values, relative = len(demand.table), demand.model.relative or demand.of_persons
    if len(clusters) * values > CELLS and not relative:
        records, sizes = np.concatenate(clusters), [len(each) for each in clusters]
        value, group = demands.values[records, demand.attribute], np.arange(len(clusters))
        there, group = value >= 0, np.repeat(group, sizes)
        own = group[there], value[there], np.ones(int(there.sum()), np.int64)
        for some, part in counts_of_own(*own, groups=len(clusters), cells=CELLS):
            deadline.check()
            yield some, part
        return
    step = max(1, CELLS // max(values, 1))
    for start in range(0, len(clusters), step):
        deadline.check()
        some = np.arange(start, min(start + step, len(clusters)))
        yield some, np.stack([demands.counts(clusters[each], demand) for each in some.tolist()])
