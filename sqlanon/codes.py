"""Packed codes: one whole number per record that holds its path in every hierarchy.

A leaf's path from the top is a run of bit fields, one per level: the number of its node among the
children of the parent. All columns' fields are packed into as few 62-bit words as hold them. The
records of a node of the lattice then share `word & mask` exactly when they share every
generalized value, so one aggregation key serves every node and a roll-up is a bit mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.hierarchy import Tree
from sqlanon.recoding import Node

WORD_BITS = 62  # a BIGINT less its sign, less one bit of room


@dataclass(frozen=True, slots=True)
class Field:
    """Where the bits of one column's level lie."""

    word: int
    offset: int
    width: int

    @property
    def mask(self) -> int:
        """The field's bits within its word."""
        return ((1 << self.width) - 1) << self.offset


@dataclass(frozen=True, slots=True)
class Layout:
    """Which bits of which word hold which level of which column.

    Args:
        fields: `fields[column][level]` for levels 0 up to one below the top, which needs none.
        words: Number of words, at least one.
    """

    fields: tuple[tuple[Field, ...], ...]
    words: int

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Layout:
        """Packs the fields first-fit in the order of columns, coarse levels first."""
        used = [0]
        columns: list[tuple[Field, ...]] = []
        for tree in trees:
            fields: list[Field] = []
            for level in reversed(range(tree.height)):
                width = (tree.fan_out(level) - 1).bit_length()
                word = next((i for i, bits in enumerate(used) if bits + width <= WORD_BITS), None)
                if word is None:
                    word = len(used)
                    used.append(0)
                fields.append(Field(word, used[word], width))
                used[word] += width
            columns.append(tuple(reversed(fields)))
        return cls(tuple(columns), len(used))

    def column_masks(self, column: int, level: int) -> tuple[int, ...]:
        """Per word the bits that tell the nodes of a column's level apart."""
        masks = [0] * self.words
        for field in self.fields[column][level:]:
            masks[field.word] |= field.mask
        return tuple(masks)

    def node_masks(self, node: Node) -> tuple[int, ...]:
        """Per word the bits that tell the classes of a node of the lattice apart."""
        masks = [0] * self.words
        for column, level in enumerate(node):
            for word, mask in enumerate(self.column_masks(column, level)):
                masks[word] |= mask
        return tuple(masks)

    def leaf_codes(self, column: int, tree: Tree) -> list[list[int]]:
        """Per word the code of every leaf of a column, in tree order."""
        codes = [[0] * len(tree.leaves) for _ in range(self.words)]
        for level, field in enumerate(self.fields[column]):
            if field.width:
                index = tree.child_index(level)
                word = codes[field.word]
                for leaf, node in enumerate(tree.nodes[level]):
                    word[leaf] |= index[node] << field.offset
        return codes
