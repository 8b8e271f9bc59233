"""Clusters by cuts from the top: a partition of single records, whenever it is stopped.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", definitions
of strict and of relaxed multidimensional partitionings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlanon.deadline import NEVER
from sqlanon.search.clustering.assign import mend
from sqlanon.search.clustering.problem import NOWHERE, Clustering, ClusteringProblem
from sqlanon.search.partitioning.histogram import Judge
from sqlanon.search.partitioning.partition import BEST, Rule, may_halve, partition
from sqlanon.search.partitioning.rows import PartRows
from sqlanon.search.partitioning.space import Dimension
from sqlanon.search.privacy import Demands, ValueDemand


def cut_clusters(
    problem: ClusteringProblem,
    *,
    cuts: str = BEST,
    relaxed: bool = False,
    seed: int = 0,
    begun: Clustering | None = None,
) -> Clustering:
    """Clusters that satisfy k and the demand.

    Where those of one value may go to either half, it is drawn which of them go where, so that
    sensitive values are spread over both.

    Args:
        problem: The table, whose demand are models of sensitive values.
        cuts: One of `RULES`.
        relaxed: Whether records of one value may go to either half.
        seed: Seed of the draw.
        begun: Clusters that are cut further, in the place of divisions; who is in none stays so.

    Raises:
        UnsatisfiableError: The records of a division together fail the demand, see `mend`.
    """
    demand = problem.demand
    assert demand is None or isinstance(demand, Demands)
    part = problem.division if begun is None else begun.label
    order = np.flatnonzero(part != NOWHERE)
    if relaxed:
        order = np.random.default_rng(seed).permutation(order)
    leaves = tuple(np.ascontiguousarray(own) for own in problem.leaves[order].T)
    rows = PartRows(leaves, np.ones(len(order), np.int64))
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
    rule = Rule(
        tuple(map(Dimension.of, problem.taxonomies)),
        Judge(problem.k, every),
        int(problem.cost(problem.root)),
        cuts,
        relaxed=relaxed,
        halves=may_halve(every, persons=rows.person is not None),
        deadline=problem.deadline,
    )
    label = np.full(problem.records, NOWHERE, np.int64)
    label[order] = partition(rows, part[order], rule=rule).part
    found = Clustering.of(problem, label)
    # Cut parts satisfy the demand; those that could not be cut may not, whatever the time.
    whole = demand is None or begun is not None
    return found if whole else mend(replace(problem, deadline=NEVER), found)
