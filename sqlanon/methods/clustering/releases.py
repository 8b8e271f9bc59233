"""Tables to cluster, and what a policy says of the records that clusters leave out.

A record that is left out is dropped, or kept with all cells suppressed in a class of its own, as
the policy has it. What models refer to is the table that is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.errors import UnsatisfiableError
from sqlanon.loss.cells import CellCosts
from sqlanon.methods.local import EncodedRecords
from sqlanon.methods.unsatisfiable import alone_within_levels
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import expanded
from sqlanon.policy.policy import Policy
from sqlanon.recoding import Node
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.assign import assign_rest, mend, unplaceable
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    records_of,
    renumbered,
)
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.wording import counted


def problem_of(read: EncodedRecords) -> ClusteringProblem:
    """A row of leaves per record, in the order of the distinct combinations."""
    records, subject, policy = expanded(read.combinations.sizes), read.subject, read.policy
    demands = read.demands()
    return ClusteringProblem(
        tuple(taxonomies(subject, read.costs)),
        read.combinations.leaves[records],
        policy.k,
        None if demands is None else demands.part(records),
        highest=highest(subject),
        # A table without records is none.
        allowance=min(policy.allowance(subject.records), subject.records - 1),
        suppressed=read.costs.unit,
        values=read.combinations.values[records],
    )


def highest(subject: Subject) -> Node:
    """The highest levels of a problem: none where every level is allowed."""
    columns = zip(subject.high, subject.trees, strict=True)
    return subject.high if any(high < tree.height for high, tree in columns) else ()


def taxonomies(subject: Subject, costs: CellCosts) -> Iterator[Taxonomy]:
    """The hierarchies as arrays.

    Below the lowest level allowed a cell costs what it does there; above the highest one it costs
    more than a record that is left out.
    """
    bounds = zip(subject.low, subject.high, strict=True)
    for tree, column, (low, high) in zip(subject.trees, costs.costs, bounds, strict=True):
        taxonomy = Taxonomy.of(tree, column)
        # Not the cost of the node there: one that a branch repeats has that of its lowest level.
        raised = np.asarray(column[low], np.int64)[np.asarray(tree.nodes[low])[taxonomy.low]]
        cost = np.where(taxonomy.level < low, raised, taxonomy.cost)
        yield replace(taxonomy, cost=np.where(taxonomy.level > high, costs.unit + 1, cost))


@dataclass(frozen=True, slots=True)
class Releases:
    """A table to cluster, with those of its records that some cluster may hold.

    Args:
        whole: All records.
        policy: The policy.
        placeable: The records that some cluster may hold; the others are left out in any case.
        problem: The problem of these, with what is left of the allowance, by the reference of a
            table without the others.
    """

    whole: ClusteringProblem
    policy: Policy
    placeable: Numbers
    problem: ClusteringProblem

    @classmethod
    def of(cls, whole: ClusteringProblem, policy: Policy) -> Releases:
        """Leaves out the records that no cluster within the highest levels may hold.

        Raises:
            UnsatisfiableError: They are more than may be left out.
        """
        every = np.arange(whole.records)
        if not whole.highest:
            return cls(whole, policy, every, whole)
        placeable = np.flatnonzero(~unplaceable(whole))
        alone = whole.records - len(placeable)
        if alone > whole.allowance:
            raise alone_within_levels(
                policy, alone, records=whole.records, allowance=whole.allowance
            )
        return cls(whole, policy, placeable, _without(whole, policy, placeable))

    @property
    def shifts(self) -> bool:
        """Whether leaving records out changes what clusters must satisfy."""
        return _shifts(self.whole, self.policy)

    def ended_by(self, deadline: Deadline) -> Releases:
        """The same, to be searched until another deadline."""
        return replace(self, problem=replace(self.problem, deadline=deadline))

    def all_of(self, label: Numbers, records: Numbers) -> Clustering:
        """Clusters of all records, from those of some; the others are left out."""
        every = np.full(self.whole.records, NOWHERE, np.int64)
        every[records] = label
        return Clustering.of(self.whole, every)

    def placed(self, clusters: Clustering) -> tuple[Numbers, ClusteringProblem]:
        """The records that clusters hold, and the problem of these as it is published."""
        records = np.flatnonzero(clusters.label != NOWHERE)
        return records, _without(self.whole, self.policy, records)

    def suppresses(self, clusters: Clustering) -> bool:
        """Whether the records without a cluster are more than may be left out.

        Then they are published with all cells suppressed, where they satisfy the policy as a class.
        """
        return int((clusters.label == NOWHERE).sum()) > self.whole.allowance

    def holds(self, clusters: Clustering) -> bool:
        """Whether clusters that satisfy `problem` may be published without what they leave out."""
        left = clusters.label == NOWHERE
        if not left.any():
            return True
        suppresses = self.suppresses(clusters)
        if suppresses and self.whole.highest:
            return False
        if suppresses or self.policy.suppressed == "keep":
            # Those at the top of every column may be published as the same class.
            top = np.append((clusters.nodes == self.whole.root).all(axis=1), True)
            classes = left, top[clusters.label]
            return all(self.whole.meets(np.flatnonzero(mask)) for mask in classes)
        if not self.shifts:
            return True
        _, problem = self.placed(clusters)
        label = renumbered(clusters.label[clusters.label != NOWHERE])
        return all(problem.satisfies(group) for group in records_of(label))

    def settled(self, clusters: Clustering) -> Clustering:
        """The clusters as classes, with what they left out in the nearest where that must be.

        Raises:
            UnsatisfiableError: Those that no cluster may hold are no class that may be kept, or
                all clusters together are no class.
        """
        return self._as_classes(self._settled(self._as_classes(clusters)))

    def _as_classes(self, clusters: Clustering) -> Clustering:
        """The classes that clusters are published as, merged on where one of them fails.

        What two clusters satisfy their union may not: of persons, who may be in both, and where a
        distance is scaled. Each time clusters are merged or records left out, so this ends.
        """
        demand = self.whole.demand
        while not (demand is None or demand.union_closed):
            records, problem = self.placed(clusters)
            placed = Clustering(renumbered(clusters.label[records]), clusters.nodes)
            classes = placed.as_classes(problem)
            if len(classes.nodes) == len(placed.nodes):
                break
            clusters = self.all_of(mend(problem, classes).label, records)
        return clusters

    def _settled(self, clusters: Clustering) -> Clustering:
        if self.holds(clusters):
            return clusters
        without = self._without_more(clusters)
        if without is not None:
            return without
        assigned = assign_rest(replace(self.problem, allowance=0), clusters.label[self.placeable])
        back = self.all_of(assigned.label, self.placeable)
        if self.holds(back):
            return back
        left = counted(self.whole.records - len(self.placeable), "record")
        raise UnsatisfiableError(
            f"no class within the levels allowed can hold {left}, too few or too much alike to be "
            "kept as a class of their own; use suppressed='drop' (--suppressed drop), or raise "
            "max_level (--max-level)"
        )

    def _without_more(self, clusters: Clustering) -> Clustering | None:
        """Clusters that hold by what is published, where more is left out as what that is shifts.

        Each time clusters are merged or records left out, so this ends.
        """
        while self.shifts and not self.suppresses(clusters):
            try:
                records, problem = self.placed(clusters)
                label = renumbered(clusters.label[records])
                mended = mend(problem, Clustering.of(problem, label))
            except UnsatisfiableError:
                return None
            clusters = self.all_of(mended.label, records)
            if self.holds(clusters):
                return clusters
        return None

    def notes(self, clusters: Clustering) -> Iterator[str]:
        """What became of the records that no cluster holds."""
        left = int((clusters.label == NOWHERE).sum())
        if not left:
            return
        if self.suppresses(clusters):
            yield (
                f"no itemset covers {counted(left, 'record')}: all their cells are suppressed, "
                "and no suppression limit bounds how many they are"
            )
            return
        alone = self.whole.records - len(self.placeable)
        why = (
            f", {alone:,} of them since no class within the highest levels can hold them"
            if alone
            else ""
        )
        how = (
            "kept with every quasi-identifier suppressed"
            if self.policy.suppressed == "keep"
            else "left out"
        )
        are = "is" if left == 1 else "are"
        yield f"{counted(left, 'record')} {are} {how} within the suppression limit{why}"


def _shifts(problem: ClusteringProblem, policy: Policy) -> bool:
    demand = problem.demand
    return policy.suppressed == "drop" and demand is not None and demand.is_relative


def _without(whole: ClusteringProblem, policy: Policy, records: Numbers) -> ClusteringProblem:
    """The problem of some records, where the others are left out."""
    if _shifts(whole, policy) and whole.demand is not None:
        whole = replace(whole, demand=whole.demand.referring(records))
    left = whole.records - len(records)
    return replace(whole.part(records), allowance=whole.allowance - left)
