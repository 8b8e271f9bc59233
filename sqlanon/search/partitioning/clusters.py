"""Clusters by cuts from the top, of records one by one, so that halves can be even.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", definition
of relaxed multidimensional partitionings.
"""

from __future__ import annotations

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem
from sqlanon.search.partitioning.histogram import Judge
from sqlanon.search.partitioning.rows import PartRows
from sqlanon.search.partitioning.search import Rule, partition
from sqlanon.search.partitioning.space import Dimension
from sqlanon.search.privacy import Demands, ValueDemand


def relaxed_clusters(problem: ClusteringProblem, *, cuts: str, seed: int = 0) -> Clustering:
    """Clusters of records, where those of one value may go to either half.

    Which of them go where is drawn, so that sensitive values are spread over both.

    Args:
        problem: The table; what its highest levels tell apart stays apart.
        cuts: One of `RULES`.
        seed: Seed of the draw.
    """
    order = np.random.default_rng(seed).permutation(problem.records)
    demand = problem.demand if isinstance(problem.demand, Demands) else None
    rows = PartRows(_columns(problem, order), np.ones(len(order), np.int64))
    every: tuple[ValueDemand, ...] = ()
    if demand is not None:
        every = demand.every
        persons = {each.attribute: each.of_persons for each in every}
        rows = PartRows(
            rows.leaves,
            rows.sizes,
            tuple(np.ascontiguousarray(own) for own in demand.values[order].T),
            tuple(persons.get(column, False) for column in range(demand.values.shape[1])),
            None if demand.persons is None else demand.persons[order],
        )
    counts_persons = demand is not None and demand.persons is not None
    rule = Rule(
        tuple(map(Dimension.of, problem.taxonomies)),
        Judge(problem.k, every),
        int(problem.cost(problem.root)),
        cuts,
        relaxed=True,
        halves=demand is None or (demand.union_closed and not (counts_persons and every)),
        deadline=problem.deadline,
    )
    label = np.empty(problem.records, np.int64)
    label[order] = partition(rows, _start(problem)[order], rule=rule).part
    return Clustering.of(problem, label)


def _columns(problem: ClusteringProblem, order: Numbers) -> tuple[Numbers, ...]:
    return tuple(np.ascontiguousarray(own) for own in problem.leaves[order].T)


def _start(problem: ClusteringProblem) -> Numbers:
    """What the highest levels tell apart."""
    if not problem.highest:
        return np.zeros(problem.records, np.int64)
    pairs = zip(problem.taxonomies, problem.highest, problem.leaves.T, strict=True)
    nodes = np.stack([own.ancestors[high, leaves] for own, high, leaves in pairs], axis=1)
    _, number = np.unique(nodes, axis=0, return_inverse=True)
    found: Numbers = number.ravel()
    return found
