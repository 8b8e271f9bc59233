"""Costs of the closures of one node tuple with many, exactly, by few look-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.taxonomy import Taxonomy

LARGEST_TABLE = 2**20
"""Most entries of the table of a column's pairs of nodes."""
LONGEST_ROW = 2**11
"""Most tuples of nodes of columns that are looked up together."""


class NodeCosts:
    """What records cost at the closures of node tuples, which are told by codes.

    Columns of few nodes are taken together: the tuple of their nodes is one code, and the costs of
    the closures of one tuple with all are one row.
    """

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        self._parts = [_Part(columns) for columns in _together(taxonomies)]

    def codes(self, nodes: Numbers) -> Numbers:
        """The codes of node tuples: `codes[part, tuple]` of `nodes[tuple, column]`."""
        return np.stack([part.codes(nodes) for part in self._parts])

    def joined(self, nodes: Numbers, codes: Numbers) -> Numbers:
        """What a record costs at the closure of one node tuple with each of those coded [units]."""
        total = np.zeros(codes.shape[1], np.int64)
        room = np.empty_like(total)
        for part, own in zip(self._parts, codes, strict=True):
            total += part.row(nodes).take(own, out=room, mode="clip")
        return total


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of node tuples.

    Args:
        place: Its place in the tuples.
        taxonomy: Its hierarchy.
        rows: The rows that were asked for, by their nodes; None where they are too long to be kept.
    """

    place: int
    taxonomy: Taxonomy
    rows: dict[int, Numbers] | None

    @classmethod
    def of(cls, place: int, taxonomy: Taxonomy) -> _Column:
        """A column of which no row is known."""
        return cls(place, taxonomy, {} if len(taxonomy.cost) ** 2 <= LARGEST_TABLE else None)

    def row(self, nodes: Numbers) -> Numbers:
        """The cost of the closure of the node of a tuple with each node."""
        node = int(nodes[self.place])
        if self.rows is None:
            return _row(self.taxonomy, node)
        if node not in self.rows:
            self.rows[node] = _row(self.taxonomy, node)
        return self.rows[node]


@dataclass(frozen=True, slots=True)
class _Part:
    """Columns whose nodes are one code, the node of the last column counting by ones."""

    columns: tuple[_Column, ...]

    def codes(self, nodes: Numbers) -> Numbers:
        """The code of each node tuple."""
        code = np.zeros(len(nodes), np.int64)
        for column in self.columns:
            code = code * len(column.taxonomy.cost) + nodes[:, column.place]
        return code

    def row(self, nodes: Numbers) -> Numbers:
        """The cost of the closure of a tuple with each code, of these columns alone."""
        first, *others = (column.row(nodes) for column in self.columns)
        for more in others:
            first = (first[:, None] + more).ravel()
        return first


def _together(taxonomies: Sequence[Taxonomy]) -> Iterator[tuple[_Column, ...]]:
    """The columns in groups, as many in each as have a short row together."""
    held, length = list[_Column](), 1
    sizes = [len(taxonomy.cost) for taxonomy in taxonomies]
    for place in sorted(range(len(sizes)), key=sizes.__getitem__):
        if held and length * sizes[place] > LONGEST_ROW:
            yield tuple(held)
            held, length = [], 1
        held.append(_Column.of(place, taxonomies[place]))
        length *= sizes[place]
    yield tuple(held)


def _row(taxonomy: Taxonomy, node: int) -> Numbers:
    """The cost of the closure of a node with each node.

    Of the nodes above it, the lowest that holds the first leaf of the other one is their closure,
    or is held by the other one; and costs never shrink on the way up.
    """
    leaves = np.empty(taxonomy.leaves, np.int64)
    for above in taxonomy.ancestors[taxonomy.level[node] :, taxonomy.low[node]][::-1].tolist():
        leaves[taxonomy.low[above] : taxonomy.high[above] + 1] = taxonomy.cost[above]
    return np.maximum(leaves[taxonomy.low], taxonomy.cost)
