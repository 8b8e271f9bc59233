"""Encoded tables as clustering problems: leaves, costs within the levels, and what is demanded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sqlanon.loss.cells import CellCosts
from sqlanon.methods.local.input import EncodedRecords
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import expanded
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.search.clustering.taxonomy import Taxonomy


def problem_of(read: EncodedRecords) -> ClusteringProblem:
    """A row of leaves per record, in the order of the distinct combinations."""
    records, subject, policy = expanded(read.combinations.sizes), read.subject, read.policy
    demands = read.demands()
    is_bounded = any(
        high < tree.height for high, tree in zip(subject.high, subject.trees, strict=True)
    )
    return ClusteringProblem(
        tuple(taxonomies(subject, read.costs)),
        read.combinations.leaves[records],
        policy.k,
        None if demands is None else demands.part(records),
        highest=subject.high if is_bounded else (),
        # A table without records is none.
        allowance=min(policy.allowance(subject.records), subject.records - 1),
        suppressed=read.costs.unit,
        values=read.combinations.values[records],
    )


def taxonomies(subject: Subject, costs: CellCosts) -> Iterator[Taxonomy]:
    """The hierarchies as arrays.

    Below the lowest level allowed a cell costs what it does there; above the highest one it costs
    more than a record that is left out.
    """
    bounds = zip(subject.low, subject.high, strict=True)
    for tree, column, (low, high) in zip(subject.trees, costs.costs, bounds, strict=True):
        own = Taxonomy.of(tree, column)
        # Not the cost of the node there: one that a branch repeats has that of its lowest level.
        raised = np.asarray(column[low], np.int64)[np.asarray(tree.nodes[low])[own.low]]
        cost = np.where(own.level < low, raised, own.cost)
        yield replace(own, cost=np.where(own.level > high, costs.unit + 1, cost))
