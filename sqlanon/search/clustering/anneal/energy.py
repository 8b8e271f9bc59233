"""Energy: what annealing makes less, of single clusters.

The energy of a state is the sum over its clusters. A cluster's is, summed over the models, what it
lacks to satisfy one over what a cluster of one value lacks at worst, so that models of different
units weigh alike; where the loss counts, too, its part of it, so that k records at the top of all
hierarchies have the weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem, closed
from sqlanon.search.privacy import Demands, ValueDemand
from sqlanon.search.shortfalls import shortfalls, worst_alone


class Energy:
    """The energies of clusters.

    Args:
        problem: The table.
        demands: The models.
        weight: The weight of the loss; 0 for none.
    """

    def __init__(self, problem: ClusteringProblem, demands: Demands, *, weight: float) -> None:
        self._problem = problem
        self._values = demands.values
        self._models = [(demand, 1.0 / worst_alone(demand)) for demand in demands.every]
        top = max(int(problem.cost(problem.root)), 1)
        self._share = weight / (top * problem.k)

    def lacking(self, clusters: Sequence[Numbers]) -> list[float]:
        """What each of some clusters, given by their records, lacks; 0 where every model holds."""
        total = np.zeros(len(clusters))
        for demand, scale in self._models:
            total += scale * shortfalls(demand, counts(self._values, demand, clusters=clusters))
        found: list[float] = total.tolist()
        return found

    def losing(self, clusters: Sequence[Numbers]) -> list[float]:
        """The parts of the loss."""
        if not self._share:
            return [0.0] * len(clusters)
        sizes = np.array([len(records) for records in clusters])
        leaves = self._problem.leaves[np.concatenate(clusters)]
        nodes = closed(self._problem, leaves, starts=np.cumsum(sizes) - sizes)
        found: list[float] = (self._problem.cost(nodes) * sizes * self._share).tolist()
        return found


def counts(values: Numbers, demand: ValueDemand, *, clusters: Sequence[Numbers]) -> Numbers:
    """Records per value of each of some clusters, shape `(clusters, values)`.

    Args:
        values: `values[record, attribute]`: the number of the value, -1 where it does not count.
        demand: The model, which says of which attribute.
        clusters: Their records.
    """
    width = len(demand.table)
    found = np.empty((len(clusters), width), np.int64)
    for row, records in zip(found, clusters, strict=True):
        row[:] = np.bincount(values[records, demand.attribute] + 1, minlength=width + 1)[1:]
    return found
