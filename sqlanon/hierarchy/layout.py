"""Layout of packed codes: few whole numbers per record that hold its path in every hierarchy.

A leaf's path from the top is a run of bit fields, one per level: the number of its node among the
children of the parent. All columns' fields are packed into as few 62-bit words as hold them. Two
records then share `word & mask` exactly when they share every generalized value of a lattice node,
so one aggregation key serves every node, a roll-up is a bit mask, and no column is carried with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import and_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.hierarchy.tree import Tree
    from sqlanon.recoding import Node

WORD_BITS = 62  # a BIGINT less its sign, less one bit of room
Words = tuple[int, ...]
"""A packed code, or the bits of it that a mask keeps: one whole number per word."""


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


def packed(counts: Sequence[int]) -> list[Field]:
    """Bit fields for the numbers of so many values each, first-fit into few words.

    A field of no width stands for one value.
    """
    used = [0]
    fields = []
    for count in counts:
        width = max(count - 1, 0).bit_length()
        place = next((i for i, bits in enumerate(used) if bits + width <= WORD_BITS), len(used))
        if place == len(used):
            used.append(0)
        fields.append(Field(place, used[place], width))
        used[place] += width
    return fields


def field_masks(fields: Iterable[Field], words: int) -> Words:
    """Per word the bits of some fields."""
    masks = [0] * words
    for field in fields:
        masks[field.word] |= field.mask
    return tuple(masks)


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
        levels = [(tree, level) for tree in trees for level in reversed(range(tree.height))]
        fields = packed([tree.fan_out(level) for tree, level in levels])
        taken = iter(fields)
        columns = [tuple(islice(taken, tree.height))[::-1] for tree in trees]
        return cls(tuple(columns), 1 + max((field.word for field in fields), default=0))

    def column_masks(self, column: int, level: int) -> Words:
        """Per word the bits that tell the nodes of a column's level apart."""
        return field_masks(self.fields[column][level:], self.words)

    def node_masks(self, node: Node) -> Words:
        """Per word the bits that tell the classes of a node of the lattice apart."""
        kept = (fields[level:] for fields, level in zip(self.fields, node, strict=True))
        return field_masks(chain.from_iterable(kept), self.words)

    def leaf_codes(self, column: int, tree: Tree) -> list[Words]:
        """The code of every leaf of a column, in tree order."""
        codes = [[0] * len(tree.leaves) for _ in range(self.words)]
        for level, field in enumerate(self.fields[column]):
            if field.width:
                index = tree.child_index(level)
                word = codes[field.word]
                for leaf, node in enumerate(tree.nodes[level]):
                    word[leaf] |= index[node] << field.offset
        return list(zip(*codes, strict=True))

    def node_codes(self, column: int, tree: Tree, *, level: int) -> dict[Words, int]:
        """The nodes of a column's level by what its masks leave of their codes."""
        masks = self.column_masks(column, level)
        leaves = self.leaf_codes(column, tree)
        codes = (tuple(map(and_, code, masks)) for code in leaves) if level else leaves
        return dict(zip(codes, tree.nodes[level], strict=True))
