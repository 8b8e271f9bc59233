"""Codes for mining: the frequent nodes of every hierarchy, numbered and packed into bit fields.

Nodes below k records are left out first: no frequent itemset holds one (Kenig 2009, algorithm 16,
steps 2-4). What remains of a hierarchy is a laminar forest, and values that no frequent node tells
apart are one value from then on.

A value's code holds, per node above it, its place among the frequent children of that node, from
1. A value below none of these children has no bit set in `every` and all of them set in `some`, so
that it agrees with nothing, not even with its like: a group of k records needs two of that kind,
which differ below the node, since one alone has less than k records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.codes import WORD_BITS, Field
from sqlanon.search.taxonomy import Taxonomy

Numbers = NDArray[np.int64]
Words = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """The frequent nodes of one hierarchy between two levels.

    Args:
        numbers: Per node its number in the taxonomy, ascending.
        parents: Per node the index of the lowest node above it; -1 where there is none.
        depths: Per node how many nodes are above it; one more where no node holds every leaf.
        deepest: Per leaf the index of the lowest node that holds it; -1 where there is none.
        records: Per leaf the records that hold it.
        top: The node that holds every leaf, if it is among them.
    """

    numbers: Numbers
    parents: Numbers
    depths: Numbers
    deepest: Numbers
    records: Numbers
    top: int | None

    @classmethod
    def of(
        cls, taxonomy: Taxonomy, counts: Sequence[int], k: int, levels: tuple[int, int]
    ) -> Forest:
        """Keeps the nodes of at least k records.

        Args:
            taxonomy: The hierarchy.
            counts: Per leaf the records that hold it.
            k: Fewest records of a node.
            levels: Lowest and highest level allowed; a node counts at every level that repeats it.
        """
        records = np.asarray(counts, np.int64)
        before = np.concatenate(([0], np.cumsum(records)))
        allowed = np.unique(taxonomy.ancestors[levels[0] : levels[1] + 1])
        supports = before[taxonomy.high[allowed] + 1] - before[taxonomy.low[allowed]]
        numbers = allowed[supports >= k]
        low, high = taxonomy.low[numbers], taxonomy.high[numbers]
        has_top = len(numbers) > 0 and low[-1] == 0 and high[-1] == taxonomy.leaves - 1
        parents, depths = np.full(len(numbers), -1), np.full(len(numbers), 0 if has_top else 1)
        deepest = np.full(taxonomy.leaves, -1)
        for node in reversed(range(len(numbers))):  # whatever is above has a higher number
            parents[node] = deepest[low[node]]
            if parents[node] >= 0:
                depths[node] = depths[parents[node]] + 1
            deepest[low[node] : high[node] + 1] = node
        top = len(numbers) - 1 if has_top else None
        return cls(numbers, parents, depths, deepest, records, top)

    @property
    def is_constant(self) -> bool:
        """Whether every itemset has the same node."""
        return self.top == 0

    @property
    def children(self) -> Numbers:
        """Per node how many are right below it; the last entry counts those below no node."""
        counts = np.bincount(self.parents + 1, minlength=len(self.numbers) + 1)
        return np.roll(counts, -1)

    @property
    def places(self) -> list[int]:
        """Per node its place among its siblings, from 1."""
        found, taken = [], [0] * (len(self.numbers) + 1)
        for parent in self.parents.tolist():
            taken[parent] += 1
            found.append(taken[parent])
        return found

    @property
    def score(self) -> float:
        """How much the attribute tells records apart [bits]: entropy and log2 of its values.

        Attributes are mined in descending order of it. Those with few values come last: then the
        members of an itemset differ little in what is still to come, and members alike are one row.
        """
        held = np.bincount(self.deepest + 1, weights=self.records)
        shares = held[held > 0] / held.sum()
        return float(np.log2(len(shares)) - (shares * np.log2(shares)).sum())

    def ancestors(self, node: int) -> list[int]:
        """A node and those above it, upwards; none for -1."""
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parents[node])
        return found


@dataclass(frozen=True, slots=True)
class ItemCodes:
    """Which bits of which word hold what.

    Args:
        forests: Per attribute its frequent nodes.
        places: `places[attribute][depth]` tells the children of a node of that depth apart.
        words: Number of words of a record's code.
        nodes: Per attribute the field of an itemset that holds its node's index in the forest.
        itemset_words: Number of words of an itemset.
    """

    forests: tuple[Forest, ...]
    places: tuple[tuple[Field, ...], ...]
    words: int
    nodes: tuple[Field, ...]
    itemset_words: int

    @classmethod
    def of(cls, forests: Sequence[Forest]) -> ItemCodes:
        """Packs the fields.

        The first attribute's node has the highest bits of the last word, so that itemsets in the
        order of their words, the last one first, are in the order of their nodes.
        """
        widths = [_widths(forest) for forest in forests]
        fields, words = _packed([width for own in widths for width in own])
        rest = iter(fields)
        places = tuple(tuple(next(rest) for _ in own) for own in widths)
        indices = [max(len(forest.numbers) - 1, 0).bit_length() for forest in forests]
        nodes, itemset_words = _packed(indices[::-1])
        return cls(tuple(forests), places, words, tuple(nodes[::-1]), itemset_words)

    @property
    def order(self) -> list[int]:
        """The attributes that tell itemsets apart, in the order of mining."""
        varying = [n for n, forest in enumerate(self.forests) if not forest.is_constant]
        return sorted(varying, key=lambda n: (-self.forests[n].score, n))

    def bits(self, attribute: int) -> Words:
        """Per word the bits of an attribute."""
        masks = [0] * self.words
        for field in self.places[attribute]:
            masks[field.word] |= field.mask
        return tuple(masks)

    def splits(self, attribute: int) -> list[Words]:
        """Per node the bits in which its records must differ, unless a lower node holds them all.

        Source: Kenig 2009, definition 7.4.1.
        """
        forest, fields = self.forests[attribute], self.places[attribute]
        pairs = zip(forest.depths.tolist(), forest.children[:-1].tolist(), strict=True)
        return [_bits(fields[depth] if below else None, self.words) for depth, below in pairs]

    def codes(self, attribute: int) -> dict[int, tuple[Words, Words]]:
        """By the deepest node of a value, `every` and `some` of its code; -1 for no node."""
        forest, fields = self.forests[attribute], self.places[attribute]
        places, children = forest.places, forest.children
        found = {}
        for node in np.unique(forest.deepest).tolist():
            every = [0] * self.words
            for held in forest.ancestors(node):
                if held != forest.top:
                    field = fields[int(forest.depths[held]) - 1]
                    every[field.word] |= places[held] << field.offset
            depth = int(forest.depths[node]) if node >= 0 else 0
            open_bits = _bits(fields[depth] if children[node] else None, self.words)
            some = tuple(a | b for a, b in zip(every, open_bits, strict=True))
            found[node] = (tuple(every), some)
        return found


def _bits(field: Field | None, words: int) -> Words:
    return tuple(field.mask if field and field.word == w else 0 for w in range(words))


def _widths(forest: Forest) -> list[int]:
    """Per depth the bits that tell the children of a node apart from each other and from none."""
    children = forest.children
    most = np.zeros(int(forest.depths.max(initial=0)) + 1, np.int64)
    np.maximum.at(most, forest.depths, children[:-1])
    if forest.top is None:
        most[0] = children[-1]
    return [int(number).bit_length() for number in most]


def _packed(widths: Sequence[int]) -> tuple[list[Field], int]:
    """One field after the other, in as many words as it takes; at least one."""
    fields, word, used = [], 0, 0
    for width in widths:
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        fields.append(Field(word, used, width))
        used += width
    return fields, word + 1
