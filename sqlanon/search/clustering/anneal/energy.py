"""Energy: what annealing makes less, of single clusters.

The energy of a state is the sum over its clusters. A cluster's is, summed over the models, k times
what it lacks to satisfy one over what a cluster of one value lacks at worst: so models of different
units weigh alike, and one record exchanged changes it by about 1, whatever k is. Where the loss
counts, too, every record adds its part of what it loses at the top of all hierarchies, times the
weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem, closed
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.privacy import Demands, ValueDemand
from sqlanon.search.shortfalls import shortfalls, worst_alone

TABLE = 2**22
"""Most pairs of leaves whose closures are kept."""
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
        self._closing = _Closing.of(problem.taxonomies)

    def lacking(self, clusters: Sequence[Numbers]) -> list[float]:
        """What each of some clusters, given by their records, lacks; 0 where every model holds."""
        total = np.zeros(len(clusters))
        for demand, scale in self._models:
            parts = counts(self._demands, demand, clusters=clusters)
            total += scale * np.concatenate([shortfalls(demand, part) for part in parts])
        found: list[float] = total.tolist()
        return found

    def losing(self, clusters: Sequence[Numbers]) -> list[float]:
        """The parts of the loss."""
        if not self._share:
            return [0.0] * len(clusters)
        sizes = np.array([len(records) for records in clusters])
        leaves, starts = self._problem.leaves[np.concatenate(clusters)], np.cumsum(sizes) - sizes
        if self._closing is None:
            cost = self._problem.cost(closed(self._problem, leaves, starts=starts))
        else:
            low = np.minimum.reduceat(leaves, starts, axis=0)
            high = np.maximum.reduceat(leaves, starts, axis=0)
            cost = self._closing.costs(low, high)
        found: list[float] = (cost * sizes * self._share).tolist()
        return found


@dataclass(frozen=True, slots=True)
class _Closing:
    """Costs of closures by one look at a table of all pairs of leaves of all columns.

    Args:
        cost: What the closure of two leaves costs in their column [units], column after column.
        start: Where the pairs of each column start.
        width: How many leaves it has.
    """

    cost: Numbers
    start: Numbers
    width: Numbers

    @classmethod
    def of(cls, taxonomies: Sequence[Taxonomy]) -> _Closing | None:
        """The table of some columns; None where it would be large."""
        width = np.array([taxonomy.leaves for taxonomy in taxonomies])
        if (width.astype(float) ** 2).sum() > TABLE:
            return None
        parts = []
        for taxonomy in taxonomies:
            first, second = np.indices((taxonomy.leaves, taxonomy.leaves))
            nodes = taxonomy.closure(np.minimum(first, second), np.maximum(first, second))
            parts.append(taxonomy.cost[nodes].ravel())
        return cls(np.concatenate(parts), np.cumsum(width**2) - width**2, width)

    def costs(self, low: Numbers, high: Numbers) -> Numbers:
        """What records cost in closures of the lowest and highest leaves, `(..., columns)`."""
        found: Numbers = self.cost.take(self.start + low * self.width + high).sum(axis=-1)
        return found


def counts(
    demands: Demands, demand: ValueDemand, *, clusters: Sequence[Numbers]
) -> Iterator[Numbers]:
    """Records, or persons, per value of some clusters, `(clusters, values)`, so many at a time.

    Args:
        demands: The models.
        demand: One of them, which says of which attribute.
        clusters: Their records.
    """
    step = max(1, CELLS // max(len(demand.table), 1))
    for start in range(0, len(clusters), step):
        part = clusters[start : start + step]
        yield np.stack([demands.counts(records, demand) for records in part])
