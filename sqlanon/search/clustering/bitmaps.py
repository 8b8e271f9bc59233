"""Bit maps of the records that itemsets hold, made on demand.

The memberships of a table's candidates can be hundreds of millions. So mining counts in the
database, and no list of them is kept: every node of every column has a bit map of its records, and
an itemset's members are the AND of its
nodes' maps. Columns of few nodes are taken together, with a map for each tuple of their nodes, and
itemsets that agree on the first columns share the AND of those. Of fourteen columns five maps are
ANDed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.clustering_problem import narrow_first
from sqlanon.search.clustering.taxonomy import Taxonomy

Words = NDArray[np.uint64]
Codes = NDArray[np.int32]
WORD = 64
MAX_WORDS_TOGETHER = 2**21
"""Words of the maps of columns that are taken together."""


@dataclass(frozen=True, slots=True)
class MapLayout:
    """Which nodes have maps, and which columns are taken together.

    Args:
        taxonomies: Per column its nodes.
        row: Per column the place of each node among those that are asked for; -1 for the others.
        counts: Per column how many are asked for.
        groups: The columns that are taken together, those of few nodes first.
    """

    taxonomies: Sequence[Taxonomy]
    row: Sequence[Numbers]
    counts: Sequence[int]
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, taxonomies: Sequence[Taxonomy], nodes: Numbers, *, records: int) -> MapLayout:
        """For the nodes of some itemsets, shape `(itemsets, columns)`, in maps of some records."""
        rows, counts = [], []
        for column, taxonomy in enumerate(taxonomies):
            used = np.zeros(len(taxonomy.cost), np.bool_)
            used[nodes[:, column]] = True
            rows.append(np.where(used, np.cumsum(used) - 1, -1))
            counts.append(int(used.sum()))
        most = MAX_WORDS_TOGETHER // max(-(-records // WORD), 1)
        groups = tuple(_groups(narrow_first(taxonomies), counts, most=most))
        return cls(taxonomies, rows, counts, groups)

    def codes(self, nodes: Numbers) -> Codes:
        """The map of each group that itemsets need, shape `(groups, itemsets)`."""
        codes = np.zeros((len(self.groups), len(nodes)), np.int32)
        for number, group in enumerate(self.groups):
            for column in group:
                codes[number] *= self.counts[column]
                codes[number] += self.row[column][nodes[:, column]]
        return codes


def _groups(
    columns: Sequence[int], counts: Sequence[int], *, most: int
) -> Iterator[tuple[int, ...]]:
    """Columns in groups of at most so many tuples of nodes, or by themselves."""
    group, tuples = list[int](), 1
    for column in columns:
        if group and tuples * counts[column] > most:
            yield tuple(group)
            group, tuples = [], 1
        group.append(column)
        tuples *= counts[column]
    yield tuple(group)


class BitMaps:
    """Bit maps of the nodes of a table.

    Args:
        layout: Which nodes.
        leaves: Leaf numbers, shape `(records, columns)`.

    Attributes:
        words: The words of each map.
        tuples: Per group of the layout the maps of all tuples of its nodes, by their codes.
    """

    def __init__(self, layout: MapLayout, leaves: Numbers) -> None:
        self._layout = layout
        self.words = -(-len(leaves) // WORD)
        self._open = np.full((1, self.words), ~np.uint64(0))
        self.tuples: list[Words] = []
        self._filled: list[Words] = []
        for group in layout.groups:
            maps = self._of_column(group[0], leaves)
            for column in group[1:]:
                more = self._of_column(column, leaves)
                maps = (maps[:, None] & more).reshape(len(maps) * len(more), self.words)
            self.tuples.append(maps)

    @classmethod
    def of_candidates(
        cls, taxonomies: Sequence[Taxonomy], leaves: Numbers, *, nodes: Numbers
    ) -> BitMaps:
        """Bit maps of the nodes that some candidates have."""
        return cls(MapLayout.of(taxonomies, nodes, records=len(leaves)), leaves)

    def of_records(self, leaves: Numbers) -> BitMaps:
        """Bit maps of the same nodes over other records."""
        return BitMaps(self._layout, leaves)

    def between(self, first: int, last: int) -> BitMaps:
        """These words of every map, the last one left out."""
        result = copy(self)
        result.words = min(last, self.words) - first
        part = slice(first, first + result.words)
        result._open = self._open[:, part]
        result.tuples = [np.ascontiguousarray(maps[:, part]) for maps in self.tuples]
        return result

    def clear(self, removed: Words) -> None:
        """Takes the records of these bits out of every map."""
        self._open = self._open & ~removed

    def members(self, nodes: Numbers, rank: Numbers) -> Words:
        """The members of itemsets, shape `(itemsets, words)`.

        Args:
            nodes: Node tuples, shape `(itemsets, columns)`.
            rank: Their place in the lexicographic order, so that equal beginnings are neighbours.
        """
        order = np.argsort(rank)
        bits = np.empty((len(nodes), self.words), np.uint64)
        bits[order] = self.coded(self._layout.codes(nodes[order]))
        return bits

    def coded(self, codes: Codes) -> Words:
        """The members of itemsets in lexicographic order, shape `(itemsets, words)`.

        Args:
            codes: Their codes by the layout, shape `(groups, itemsets)`.
        """
        fresh = np.zeros(codes.shape[1], np.bool_)
        fresh[:1] = True
        bits, run = self._open, np.zeros(len(fresh), np.int64)
        for code, maps in zip(codes, self.tuples, strict=True):
            fresh[1:] |= code[1:] != code[:-1]
            first = np.flatnonzero(fresh)
            more = maps.take(code[first], axis=0)
            more &= bits if len(bits) == 1 else bits.take(run[first], axis=0)
            bits, run = more, np.cumsum(fresh) - 1
        return bits if len(bits) == len(fresh) else bits.take(run, axis=0)

    def words_of(self, codes: Codes) -> tuple[Numbers, Numbers, Words]:
        """The words in which itemsets have members: of each its itemset, its place, and its bits.

        First it is asked in which words every node has records, of 64 of them at once. Where
        records alike in many columns are near each other, these are few.
        """
        if not self._filled:
            self._filled = [bits_of(maps != 0) for maps in self.tuples]
        open_ = np.full((1, -(-self.words // WORD)), ~np.uint64(0))
        for code, filled in zip(codes, self._filled, strict=True):
            open_ = open_ & filled.take(code, axis=0)
        itemset, word = np.nonzero(flags(open_, self.words))
        bits = self._open[0, word]
        for code, maps in zip(codes, self.tuples, strict=True):
            bits &= maps[code[itemset], word]
        kept = np.flatnonzero(bits)
        return itemset[kept], word[kept], bits[kept]

    def _of_column(self, column: int, leaves: Numbers) -> Words:
        """The maps of the nodes of a column."""
        row = self._layout.row[column]
        record = np.arange(len(leaves))
        bit = np.uint64(1) << (record % WORD).astype(np.uint64)
        maps = np.zeros((self._layout.counts[column], self.words), np.uint64)
        for nodes in self._layout.taxonomies[column].distinct_levels:
            node_row = row[nodes[leaves[:, column]]]
            asked = np.flatnonzero(node_row >= 0)
            # A single index is what numpy has a fast loop for.
            place = node_row[asked] * self.words + asked // WORD
            np.bitwise_or.at(maps.reshape(-1), place, bit[asked])
        return maps


def counted(bits: Words, axis: int = -1) -> Numbers:
    """Number of bits set, over the words along an axis."""
    counts = np.bitwise_count(bits)
    total: Numbers
    if bits.shape[axis] == 1:  # the sum of one word takes longer than its count
        total = counts.take(0, axis=axis).astype(np.int64)
    else:
        total = counts.sum(axis=axis, dtype=np.int64)
    return total


def flags(bits: Words, records: int) -> Flags:
    """Bit maps as booleans, along the last axis."""
    flat = np.unpackbits(
        np.ascontiguousarray(bits).view(np.uint8), axis=-1, bitorder="little", count=records
    )
    return flat.view(np.bool_)


def bits_of(mask: Flags) -> Words:
    """Booleans as bit maps, along the last axis."""
    spare = -mask.shape[-1] % WORD
    room = [(0, 0)] * (mask.ndim - 1) + [(0, spare)]
    return np.packbits(np.pad(mask, room), axis=-1, bitorder="little").view(np.uint64)
