"""Closures of pairs of leaves and of nodes, by tables where they fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.bitmaps import Words
from sqlanon.search.clustering.taxonomy import Taxonomy

TABLE = 2**22
"""Most entries of a table."""
Floats = NDArray[np.float32]


class Joins:
    """Closures of two leaves, costs of the closures of two nodes, and keys of closures.

    A key tells node tuples apart: the sum, modulo 2^64, of each column's node times an odd number.
    """

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        self._taxonomies = taxonomies
        random = np.random.default_rng(0)
        self._odd = random.integers(0, 2**63, len(taxonomies), np.uint64) * 2 + 1
        joins = [_leaf_joins(taxonomy) for taxonomy in taxonomies]
        self._nodes = [None if each is None else each.ravel() for each in joins]
        self._keys = [
            None if nodes is None else nodes.astype(np.uint64) * odd
            for nodes, odd in zip(self._nodes, self._odd, strict=True)
        ]
        self._costs = [
            _join_costs(taxonomy, each) for taxonomy, each in zip(taxonomies, joins, strict=True)
        ]

    def of(self, column: int, first: Numbers, *, second: Numbers) -> Numbers:
        """The lowest node that holds both leaves, element by element."""
        taxonomy, table = self._taxonomies[column], self._nodes[column]
        if table is not None:
            return table.take(first * taxonomy.leaves + second)
        return taxonomy.closure(np.minimum(first, second), np.maximum(first, second))

    def keys(self, column: int, first: Numbers, *, second: Numbers) -> Words:
        """The addend of a column in the keys of the closures of pairs of leaves."""
        table = self._keys[column]
        if table is not None:
            keys: Words = table.take(first * self._taxonomies[column].leaves + second)
        else:
            keys = self.of(column, first, second=second).astype(np.uint64) * self._odd[column]
        return keys

    def keys_of(self, nodes: Numbers) -> Words:
        """The keys of node tuples, shape `(..., columns)`."""
        keys: Words = (nodes.astype(np.uint64) * self._odd).sum(axis=-1, dtype=np.uint64)
        return keys

    def costs(self, some: Numbers, nodes: Numbers) -> Floats:
        """Costs of the closures of pairs of node tuples, `(some, nodes)`, in float32 [units]."""
        total = np.zeros((len(some), len(nodes)), np.float32)
        for column, taxonomy in enumerate(self._taxonomies):
            table = self._costs[column]
            if table is not None:
                total += table[some[:, column]].take(nodes[:, column], axis=1)
            else:
                total += taxonomy.cost[taxonomy.join(some[:, column, None], nodes[None, :, column])]
        return total


def _leaf_joins(taxonomy: Taxonomy) -> Numbers | None:
    """The closure of each two leaves; None where the table would be large."""
    if taxonomy.leaves**2 > TABLE:
        return None
    joins = np.empty((taxonomy.leaves, taxonomy.leaves), np.int64)
    # A node has a lower number than those that hold it.
    for node in reversed(range(len(taxonomy.cost))):
        own = slice(taxonomy.low[node], taxonomy.high[node] + 1)
        joins[own, own] = node
    return joins


def _join_costs(taxonomy: Taxonomy, joins: Numbers | None) -> Floats | None:
    """The cost of the closure of each two nodes; None where the table would be large.

    The closure is that of their first leaves, or the one of them that holds the other; and costs
    never shrink on the way up.
    """
    if joins is None or len(taxonomy.cost) ** 2 > TABLE:
        return None
    cost = taxonomy.cost.astype(np.float32)
    least = cost[joins[np.ix_(taxonomy.low, taxonomy.low)]]
    return np.maximum(least, np.maximum.outer(cost, cost), out=least)
