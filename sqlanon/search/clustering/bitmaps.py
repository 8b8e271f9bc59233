"""Bit maps of the records that itemsets hold, made on demand.

The memberships of a table's candidates can be hundreds of millions. So no list of them is kept:
every node of every column has a bit map of its records, and an itemset's members are the AND of its
nodes' maps. Itemsets that agree on the first columns share the AND of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.problem import narrow_first
from sqlanon.search.clustering.taxonomy import Taxonomy

Words = NDArray[np.uint64]
WORD = 64


class BitMaps:
    """Bit maps of the nodes of a table.

    Args:
        taxonomies: Per column its nodes.
        leaves: Leaf numbers, shape `(records, columns)`.
        used: Per column which nodes are asked for.
    """

    def __init__(
        self, taxonomies: Sequence[Taxonomy], leaves: Numbers, used: Sequence[Flags]
    ) -> None:
        self._used = used
        self._taxonomies = taxonomies
        self._columns = narrow_first(taxonomies)
        self.words = -(-len(leaves) // WORD)
        record = np.arange(len(leaves))
        bit = np.uint64(1) << (record % WORD).astype(np.uint64)
        self._row = [np.cumsum(mask) - 1 for mask in used]
        self._maps = []
        for column, taxonomy in enumerate(taxonomies):
            held = np.zeros((int(used[column].sum()), self.words), np.uint64)
            for nodes in taxonomy.distinct_levels:
                node = nodes[leaves[:, column]]
                asked = used[column][node]
                row = self._row[column][node[asked]]
                # A single index is what numpy has a fast loop for.
                np.bitwise_or.at(
                    held.reshape(-1), row * self.words + record[asked] // WORD, bit[asked]
                )
            self._maps.append(held)

    @classmethod
    def of_candidates(
        cls, taxonomies: Sequence[Taxonomy], leaves: Numbers, *, nodes: Numbers
    ) -> BitMaps:
        """Bit maps of the nodes that some candidates have."""
        used = []
        for column, taxonomy in enumerate(taxonomies):
            mask = np.zeros(len(taxonomy.cost), np.bool_)
            mask[nodes[:, column]] = True
            used.append(mask)
        return cls(taxonomies, leaves, used)

    def of_records(self, leaves: Numbers) -> BitMaps:
        """Bit maps of the same nodes over other records."""
        return BitMaps(self._taxonomies, leaves, self._used)

    def first(self, words: int) -> BitMaps:
        """The first words of every map."""
        found = copy(self)
        found.words = min(words, self.words)
        found._maps = [np.ascontiguousarray(held[:, : found.words]) for held in self._maps]
        return found

    def clear(self, removed: Words) -> None:
        """Takes the records of these bits out of every map."""
        for held in self._maps:
            np.bitwise_and(held, ~removed, out=held)

    def members(self, nodes: Numbers, rank: Numbers) -> Words:
        """The members of itemsets, shape `(itemsets, words)`.

        Args:
            nodes: Node tuples, shape `(itemsets, columns)`.
            rank: Their place in the lexicographic order, so that equal beginnings are neighbours.
        """
        order = np.argsort(rank)
        nodes = nodes[order]
        fresh = np.zeros(len(nodes), np.bool_)
        fresh[:1] = True
        held, run = np.full((1, self.words), ~np.uint64(0)), np.zeros(len(nodes), np.int64)
        for column in self._columns:
            values = nodes[:, column]
            fresh[1:] |= values[1:] != values[:-1]
            first = np.flatnonzero(fresh)
            held = held[run[first]]
            held &= self._maps[column][self._row[column][values[first]]]
            run = np.cumsum(fresh) - 1
        found = np.empty((len(nodes), self.words), np.uint64)
        found[order] = held[run]
        return found


def counted(bits: Words, axis: int = -1) -> Numbers:
    """Number of bits set, over the words along an axis."""
    counts: Numbers = np.bitwise_count(bits).sum(axis=axis, dtype=np.int64)
    return counts


def flags(bits: Words, records: int) -> Flags:
    """Bit maps as booleans, along the last axis."""
    flat = np.unpackbits(
        np.ascontiguousarray(bits).view(np.uint8), axis=-1, bitorder="little", count=records
    )
    return flat.view(np.bool_)


def packed(mask: Flags) -> Words:
    """Booleans as bit maps, along the last axis."""
    spare = -mask.shape[-1] % WORD
    room = [(0, 0)] * (mask.ndim - 1) + [(0, spare)]
    return np.packbits(np.pad(mask, room), axis=-1, bitorder="little").view(np.uint64)
