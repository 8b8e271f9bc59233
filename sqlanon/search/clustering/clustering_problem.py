"""Clustering problem: records as numbers, candidate itemsets, and clusters with their closures.

A record is a row of leaf numbers, one for each quasi-identifier. A cluster is a set of at least k
records, published as its closure: per column the lowest node that holds all of them. What a search
minimizes is the sum over clusters of size times the closure's cost.

Columns may have a highest level. Records that no node tuple of these levels holds together are of
different *divisions* and never share a cluster: a closure above these levels is not allowed, and
costs more than a record that is left out, so that nothing is gained by it.

Source: Kenig 2009, sections 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import UnsatisfiableError
from sqlanon.search.arrays import Flags, Numbers, packed, united
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted

NOWHERE = -1
"""The cluster of a record that is left out."""


@dataclass(frozen=True, slots=True)
class ClusteringProblem:
    """Records to partition into clusters.

    Args:
        taxonomies: Per column its nodes and what a cell at each costs [units].
        leaves: Leaf numbers, shape `(records, columns)`. Their order decides ties, so a caller who
            wants the same result for any order of rows sorts them.
        k: Smallest cluster allowed [records].
        demand: What else a cluster must satisfy: persons, and the models of sensitive values.
        deadline: When a search for clusters ends, by a `TimeLimitError` where it has none yet.
        highest: Per column the highest level of a closure; empty where every level is allowed.
            Nodes above it cost `suppressed` + 1.
        allowance: How many records may be left out [records].
        suppressed: What a record costs that is left out, no less than any that is not [units];
            0 for what one costs whose cells are all at the top.
        values: `values[record, attribute]`: sensitive values by number, -1 where they do not count,
            for searches that look at them for other reasons than the demand.

    Raises:
        UnsatisfiableError: There are fewer than k records.
    """

    taxonomies: tuple[Taxonomy, ...]
    leaves: Numbers
    k: int
    demand: Demands | None = None
    deadline: Deadline = NEVER
    highest: tuple[int, ...] = ()
    allowance: int = 0
    suppressed: int = 0
    values: Numbers | None = None

    def __post_init__(self) -> None:
        if not self.suppressed:
            whole = sum(int(taxonomy.cost[taxonomy.root]) for taxonomy in self.taxonomies)
            object.__setattr__(self, "suppressed", max(whole, 1))
        if self.records < self.k:
            be = "is" if self.records == 1 else "are"
            raise UnsatisfiableError(
                f"k is {self.k}, but there {be} {counted(self.records, 'record')}; lower k"
            )

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.leaves)

    @property
    def root(self) -> Numbers:
        """The node tuple that holds everything."""
        return np.array([taxonomy.root for taxonomy in self.taxonomies], np.int64)

    def cost(self, nodes: Numbers) -> Numbers:
        """The cost of a record at each node tuple [units], of shape `(..., columns)`."""
        total = np.zeros(nodes.shape[:-1], np.int64)
        for column, taxonomy in enumerate(self.taxonomies):
            total += taxonomy.cost[nodes[..., column]]
            if self.highest:  # so that no sum of such costs is too large
                np.minimum(total, self.suppressed + 1, out=total)
        return total

    def forbids(self, costs: Numbers) -> Flags:
        """Whether node tuples are above the highest levels, by what a record at them costs."""
        return costs > self.suppressed

    @property
    def division(self) -> Numbers:
        """The division of each record, numbered from 0: those of one may share a cluster."""
        if not self.highest:
            return np.zeros(self.records, np.int64)
        columns = enumerate(zip(self.taxonomies, self.highest, strict=True))
        tops = [taxonomy.ancestors[at, self.leaves[:, j]] for j, (taxonomy, at) in columns]
        widths = [len(taxonomy.cost) for taxonomy in self.taxonomies]
        key = united(packed(np.stack(tops, axis=1), widths))
        division: Numbers = np.unique(key, return_inverse=True)[1].ravel()
        return division

    @property
    def digest(self) -> bytes:
        """Tells the records of one problem from those of others with the same taxonomies and k."""
        hasher = sha256(self.leaves.tobytes())
        hasher.update(str(self.highest).encode())
        return hasher.digest()

    def part(self, records: Numbers) -> ClusteringProblem:
        """The problem of some of the records, by the reference of the whole table."""
        demand = None if self.demand is None else self.demand.part(records)
        values = None if self.values is None else self.values[records]
        return replace(self, leaves=self.leaves[records], demand=demand, values=values)

    def meets(self, records: Numbers) -> bool:
        """Whether these records are enough, and satisfy the demand together."""
        return len(records) >= self.k and (self.demand is None or self.demand.holds(records))

    def satisfies(self, records: Numbers) -> bool:
        """Whether these records may be a cluster: of one division where there are several."""
        if not self.meets(records):
            return False
        if not self.highest:
            return True
        return not self.forbids(self.cost(set_closures(self, records)))[0]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Itemsets that a cover may use, in the order in which ties are broken.

    The order is by cost, then the smaller support, then the node numbers. Among equal costs the
    rare itemsets go first, because the frequent ones have other records left.

    Args:
        nodes: Node tuples, shape `(candidates, columns)`.
        support: Records that each holds.
        cost: What a record generalized to it costs [units].
        rank: Place of each in the lexicographic order of the node numbers.
    """

    nodes: Numbers
    support: Numbers
    cost: Numbers
    rank: Numbers

    @classmethod
    def of(cls, problem: ClusteringProblem, nodes: Numbers, *, support: Numbers) -> Candidates:
        """Sorts mined itemsets, each once; those with fewer than k records are left out.

        Raises:
            TimeLimitError: The problem's deadline came before they were sorted.
        """
        kept = np.flatnonzero(support >= problem.k)
        nodes, support = np.asarray(nodes), np.asarray(support, np.int64)
        if len(kept) < len(nodes):
            nodes, support = nodes[kept], support[kept]
        problem.deadline.check()
        cost = problem.cost(nodes)
        columns = narrow_first(problem.taxonomies)
        widths = [len(problem.taxonomies[column].cost) for column in columns]
        keys = packed(nodes[:, columns], widths)
        problem.deadline.check()
        # No two are equal, so that a faster sort of one key does.
        turns = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
        rank = np.empty(len(nodes), np.int64)
        rank[turns] = np.arange(len(nodes))
        problem.deadline.check()
        order = np.lexsort((rank, support, cost))
        return cls(nodes[order], support[order], cost[order], rank[order])

    def __len__(self) -> int:
        return len(self.nodes)


def narrow_first(taxonomies: Sequence[Taxonomy]) -> list[int]:
    """The columns by number of nodes."""
    return sorted(range(len(taxonomies)), key=lambda column: len(taxonomies[column].cost))


@dataclass(frozen=True, slots=True)
class Clustering:
    """A partition of the records.

    Args:
        label: Per record the number of its cluster, or `NOWHERE`.
        nodes: Per cluster its node tuple, shape `(clusters, columns)`.
    """

    label: Numbers
    nodes: Numbers

    @classmethod
    def of(cls, problem: ClusteringProblem, label: Numbers) -> Clustering:
        """Clusters by any numbers, renumbered by their first record and closed.

        Clusters with one closure are one class of the published table. They become one cluster,
        unless the demand may fail for their union.
        """
        label = renumbered(label)
        nodes = closures(problem, label)
        if problem.demand is None or problem.demand.union_closed:
            return cls(label, nodes).as_classes(problem)
        return cls(label, nodes)

    def as_classes(self, problem: ClusteringProblem) -> Clustering:
        """The classes of the published table: clusters with one closure are one."""
        _, same = np.unique(self.nodes, axis=0, return_inverse=True)
        within = self.label >= 0
        label = self.label.copy()
        label[within] = same.ravel()[label[within]]
        label = renumbered(label)
        return Clustering(label, closures(problem, label))

    @property
    def sizes(self) -> Numbers:
        """Records of each cluster."""
        return np.bincount(self.label[self.label >= 0], minlength=len(self.nodes))

    def loss(self, problem: ClusteringProblem) -> int:
        """Cost of all records, those left out included [units]."""
        suppressed = int((self.label == NOWHERE).sum()) * problem.suppressed
        return int((self.sizes * problem.cost(self.nodes)).sum()) + suppressed


def renumbered(label: Numbers) -> Numbers:
    """Cluster numbers in the order of the clusters' first records."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    inside = label[first] >= 0
    number = np.full(len(first), NOWHERE, np.int64)
    number[np.flatnonzero(inside)[np.argsort(first[inside])]] = np.arange(int(inside.sum()))
    numbers: Numbers = number[inverse.ravel()]
    return numbers


def runs(label: Numbers) -> tuple[Numbers, Numbers]:
    """Records in the order of their clusters, and where each cluster 0, 1, … starts.

    Every cluster up to the last has a record.
    """
    order = np.argsort(label, kind="stable")
    order = order[np.searchsorted(label[order], 0) :]
    starts = np.searchsorted(label[order], np.arange(int(label.max(initial=NOWHERE)) + 1))
    return order, starts


def records_of(label: Numbers) -> list[Numbers]:
    """The records of each cluster 0, 1, …, every one of which has some."""
    order, starts = runs(label)
    return np.split(order, starts[1:]) if len(starts) else []


def members(clusters: Clustering) -> list[Numbers]:
    """The records of each cluster."""
    return records_of(clusters.label)


def closures(problem: ClusteringProblem, label: Numbers) -> Numbers:
    """The closure of each cluster 0, 1, …, shape `(clusters, columns)`."""
    order, starts = runs(label)
    return closed(problem, problem.leaves[order], starts=starts)


def set_closures(problem: ClusteringProblem, *sets: Numbers) -> Numbers:
    """The closure of each set of records, which may overlap, shape `(sets, columns)`."""
    sizes = np.array([len(records) for records in sets], np.int64)
    records = np.concatenate([np.zeros(0, np.int64), *sets])
    return closed(problem, problem.leaves[records], starts=np.cumsum(sizes) - sizes)


def closed(problem: ClusteringProblem, leaves: Numbers, *, starts: Numbers) -> Numbers:
    """The closure of each run of records, whose leaves are of shape `(records, columns)`."""
    if not len(starts):
        return np.zeros((0, leaves.shape[1]), np.int64)
    low = np.minimum.reduceat(leaves, starts, axis=0)
    high = np.maximum.reduceat(leaves, starts, axis=0)
    columns = enumerate(problem.taxonomies)
    return np.stack([t.closure(low[:, j], high[:, j]) for j, t in columns], axis=1)


def column_bounds(problem: ClusteringProblem) -> Numbers:
    """What each record costs at least, from each column by itself [units].

    A cell is published as a node that k records share, so it costs no less than the lowest of
    those above its value. It takes no itemsets, and little time. With highest levels that may be a
    node that is not allowed: such a record must be left out, and costs what that does. With an
    allowance it holds as it stands, since no record costs more than one that is left out.
    """
    total = np.zeros(problem.records, np.int64)
    for column, taxonomy in enumerate(problem.taxonomies):
        counts = np.bincount(problem.leaves[:, column], minlength=taxonomy.leaves)
        total += taxonomy.least_costs(counts, k=problem.k)[problem.leaves[:, column]]
        if problem.highest:  # after each column, so that no sum is too large
            np.minimum(total, problem.suppressed, out=total)
    return total
