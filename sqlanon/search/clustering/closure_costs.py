"""Costs of closures, exactly, by few look-ups.

All follow from what the closure of a node with each leaf costs, of one column. `PairCosts` compares
one combination of values with all, which are known from the start: its codes stand for those alone,
so more columns share a table. `NodeCosts` compares one node tuple with tuples that come and go, so
a code stands for any tuple of nodes. `Joins` are the closures themselves, of pairs of leaves, with
keys that tell them apart.

A row of `PairCosts` takes two thirds to three quarters of the processor time of one of `NodeCosts`;
but clusters that grow, and annealing, ask for tuples that are not known before, or for too few rows
to pay for tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.bitmaps import Words
from sqlanon.search.clustering.taxonomy import Taxonomy

MAX_GROUP_VALUES = 2048
"""Most values of columns taken together whose distances are kept as one table."""
MAX_NODE_PAIRS = 2**20
"""Most entries of the table of a column's pairs of nodes."""
MAX_ROW_TUPLES = 2**11
"""Most tuples of nodes of columns that are looked up together."""


def leaf_costs(taxonomy: Taxonomy, node: int) -> Numbers:
    """The cost of the closure of a node with each leaf: nodes are runs of leaves."""
    row = np.empty(taxonomy.leaves, np.int64)
    for above in taxonomy.ancestors[taxonomy.level[node] :, taxonomy.low[node]][::-1].tolist():
        row[taxonomy.low[above] : taxonomy.high[above] + 1] = taxonomy.cost[above]
    return row


def node_costs(taxonomy: Taxonomy, node: int) -> Numbers:
    """The cost of the closure of a node with each node.

    Of the nodes above it, the lowest that holds the first leaf of the other one is their closure,
    or is held by the other one; and costs never shrink on the way up.
    """
    return np.maximum(leaf_costs(taxonomy, node)[taxonomy.low], taxonomy.cost)


class PairCosts:
    """The costs of the closures of one combination with every one, row by row.

    Columns of few values are taken together, so that a row is the sum of few look-ups.

    Args:
        taxonomies: The columns.
        leaves: Leaf numbers, shape `(combinations, columns)`.
    """

    def __init__(self, taxonomies: Sequence[Taxonomy], leaves: Numbers) -> None:
        self._groups = list(_groups(taxonomies, leaves))
        self._room = np.empty(len(leaves), np.int64)

    def part(self, combinations: Numbers) -> PairCosts:
        """The costs of some combinations, which are numbered anew."""
        some = copy(self)
        some._groups = [(code[combinations], costs) for code, costs in self._groups]
        some._room = np.empty(len(combinations), np.int64)
        return some

    def row(self, combination: int) -> Numbers:
        """What a record costs at the closure of each combination and this one [units]."""
        total = np.zeros(len(self._room), np.int64)
        for code, costs in self._groups:
            if isinstance(costs, Taxonomy):
                row = leaf_costs(costs, int(code[combination]))
            else:
                row = costs[code[combination]]
            total += row.take(code, out=self._room, mode="clip")
        return total


def _groups(
    taxonomies: Sequence[Taxonomy], leaves: Numbers
) -> Iterator[tuple[Numbers, Numbers | Taxonomy]]:
    """The columns in groups of few values, those of many by themselves.

    Yields:
        The code of each combination, and the cost of each two codes; of a column of many values its
        leaves and its taxonomy, from which the costs follow.
    """
    code, table = np.zeros(len(leaves), np.int64), np.zeros((1, 1), np.int64)
    present = [np.unique(column, return_inverse=True) for column in leaves.T]
    for column in sorted(range(len(taxonomies)), key=lambda c: len(present[c][0])):
        taxonomy, (values, place) = taxonomies[column], present[column]
        if len(values) > MAX_GROUP_VALUES:
            yield leaves[:, column], taxonomy
            continue
        costs = np.stack([leaf_costs(taxonomy, leaf)[values] for leaf in values.tolist()])
        pairs, both = np.unique(code * len(values) + place, return_inverse=True)
        if len(pairs) > MAX_GROUP_VALUES:
            yield code, table
            code, table = place, costs
            continue
        first, second = np.divmod(pairs, len(values))
        table = table[np.ix_(first, first)] + costs[np.ix_(second, second)]
        code = both
    yield code, table


class NodeCosts:
    """What records cost at the closures of node tuples, which are told by codes.

    Columns of few nodes are taken together: the tuple of their nodes is one code, the node of the
    last column counting by ones, and the costs of the closures of one tuple with all are one row.
    """

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        self._taxonomies = taxonomies
        self._groups = _together([len(taxonomy.cost) for taxonomy in taxonomies])
        # Per group and column how much the code grows by the next node.
        self._steps = np.zeros((len(self._groups), len(taxonomies)), np.int64)
        for group, steps in zip(self._groups, self._steps, strict=True):
            step = 1
            for column in reversed(group):
                steps[column] = step
                step *= len(taxonomies[column].cost)
        self._rows: list[dict[int, Numbers] | None] = [
            {} if len(taxonomy.cost) ** 2 <= MAX_NODE_PAIRS else None for taxonomy in taxonomies
        ]

    def codes(self, nodes: Numbers) -> Numbers:
        """The codes of node tuples: `codes[group, tuple]` of `nodes[tuple, column]`."""
        return self._steps @ nodes.T

    def joined(self, nodes: Numbers, codes: Numbers) -> Numbers:
        """What a record costs at the closure of one node tuple with each of those coded [units]."""
        total = np.zeros(codes.shape[1], np.int64)
        room = np.empty_like(total)
        for group, code in zip(self._groups, codes, strict=True):
            row, *others = (self._row(column, int(nodes[column])) for column in group)
            for more in others:
                row = (row[:, None] + more).ravel()
            total += row.take(code, out=room, mode="clip")
        return total

    def _row(self, column: int, node: int) -> Numbers:
        """The cost of the closure of a node of a column with each, kept where that is short."""
        rows = self._rows[column]
        if rows is None:
            return node_costs(self._taxonomies[column], node)
        if node not in rows:
            rows[node] = node_costs(self._taxonomies[column], node)
        return rows[node]


def _together(sizes: Sequence[int]) -> list[list[int]]:
    """The columns in few groups that have a short row together: the widest first, where it fits."""
    groups, lengths = list[list[int]](), list[int]()
    for column in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        fits = [at for at, length in enumerate(lengths) if length * sizes[column] <= MAX_ROW_TUPLES]
        at = fits[0] if fits else len(groups)
        if not fits:
            groups.append([])
            lengths.append(1)
        groups[at].append(column)
        lengths[at] *= sizes[column]
    return groups


MAX_JOINS = 2**22
"""Most entries of a table."""
Floats = NDArray[np.float32]


class Joins:
    """Closures of two leaves, costs of the closures of two nodes, and keys of closures.

    A key tells node tuples apart: the sum, modulo 2^64, of each column's node times an odd number.

    Two different leaves are closed as the nodes right above them are. So a column of many leaves
    has tables of these nodes, where a leaf by itself is looked at besides.
    """

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        self._taxonomies = taxonomies
        random = np.random.default_rng(0)
        self._odd = random.integers(0, 2**63, len(taxonomies), np.uint64) * 2 + 1
        self._joins = [_NodeJoins.of(taxonomy) for taxonomy in taxonomies]
        self._keys = [
            None if joins is None else joins.nodes.astype(np.uint64) * odd
            for joins, odd in zip(self._joins, self._odd, strict=True)
        ]

    def of(self, column: int, first: Numbers, *, second: Numbers) -> Numbers:
        """The lowest node that holds both leaves, element by element."""
        taxonomy, joins = self._taxonomies[column], self._joins[column]
        if joins is None:
            return taxonomy.closure(np.minimum(first, second), np.maximum(first, second))
        node = joins.nodes.take(joins.row[first] + joins.place[second])
        return np.where(first == second, first, node) if joins.is_of_parents else node

    def keys(self, column: int, leaves: Numbers, *, first: Numbers, second: Numbers) -> Words:
        """The addend of a column in the keys of the closures of pairs of leaves.

        Args:
            column: The column.
            leaves: Leaf numbers, shape `(..., places)`.
            first: The place of one leaf of each pair.
            second: The place of the other one.
        """
        joins, table = self._joins[column], self._keys[column]
        if joins is None or table is None:
            one, other = leaves.take(first, axis=-1), leaves.take(second, axis=-1)
            keys: Words = self.of(column, one, second=other).astype(np.uint64)
            keys *= self._odd[column]
            return keys
        pairs = joins.row[leaves].take(first, axis=-1)
        pairs += joins.place[leaves].take(second, axis=-1)
        keys = table.take(pairs)
        if joins.is_of_parents:
            one = leaves.take(first, axis=-1)
            same = one == leaves.take(second, axis=-1)
            keys[same] = one[same].astype(np.uint64) * self._odd[column]
        return keys

    def keys_of(self, nodes: Numbers) -> Words:
        """The keys of node tuples, shape `(..., columns)`."""
        keys: Words = (nodes.astype(np.uint64) * self._odd).sum(axis=-1, dtype=np.uint64)
        return keys

    def costs(self, some: Numbers, nodes: Numbers) -> Floats:
        """Costs of the closures of pairs of node tuples, `(some, nodes)`, in float32 [units]."""
        total = np.zeros((len(some), len(nodes)), np.float32)
        for column, taxonomy in enumerate(self._taxonomies):
            joins = self._joins[column]
            few, many = some[:, column], nodes[:, column]
            if joins is None:
                total += taxonomy.cost[taxonomy.join(few[:, None], many[None, :])]
                continue
            joined = joins.costs[joins.place[few]].take(joins.place[many], axis=1)
            if joins.is_of_parents:
                one, other = np.nonzero(few[:, None] == many[None, :])
                joined[one, other] = taxonomy.cost[few[one]]
            total += joined
        return total


@dataclass(frozen=True, slots=True)
class _NodeJoins:
    """Closures of pairs of nodes of a column by tables.

    Args:
        is_of_parents: Whether a leaf stands for the node right above it.
        place: Per node its place in the tables.
        row: Per leaf where its row begins in `nodes`.
        nodes: The closures of pairs of places, of which leaves have the first ones.
        costs: What a cell at the closure costs, per pair of places [units].
    """

    is_of_parents: bool
    place: Numbers
    row: Numbers
    nodes: Numbers
    costs: Floats

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> _NodeJoins | None:
        """The tables; None where they would be large."""
        number, leaves = len(taxonomy.cost), taxonomy.leaves
        place = np.arange(number)
        is_of_parents = number**2 > MAX_JOINS
        if is_of_parents:
            different = taxonomy.ancestors != np.arange(leaves)
            above = taxonomy.ancestors[different.argmax(axis=0), np.arange(leaves)]
            kept, code = np.unique(np.append(above, np.arange(leaves, number)), return_inverse=True)
            place = code.ravel()
        else:
            kept = place
        if len(kept) ** 2 > MAX_JOINS:
            return None
        first, second = np.broadcast_arrays(kept[:, None], kept[None, :])
        nodes = taxonomy.join(first.ravel(), second.ravel())
        costs = taxonomy.cost[nodes].astype(np.float32).reshape(len(kept), -1)
        return cls(is_of_parents, place, place[:leaves] * len(kept), nodes, costs)
