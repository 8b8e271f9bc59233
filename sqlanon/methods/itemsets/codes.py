"""Codes for mining: the frequent nodes of every hierarchy, packed into bit fields.

Nodes below k records are left out first: no frequent itemset holds one (Kenig 2009, algorithm 16,
steps 2-4). What remains of a hierarchy is a laminar forest, and values that no frequent node tells
apart are one value from then on.

The code of a value is its path from the top: per depth a field with the place of its node among the
children of the node above, from 1; fields below its deepest node are 0. So the code of a node above
it is the same without the fields further down. With that goes what records agree on: `every` is the
code, and `some` too, but for the field below the deepest node, which has all bits set there. Values
of the same deepest node thus agree on nothing below it. They need not: if all records of an itemset
had one lower node in common, it would be frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.hierarchy.layout import WORD_BITS, Field, Words, field_masks
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.taxonomy import Taxonomy

_LISTED_CODES = 1 << 20


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
        cls, taxonomy: Taxonomy, counts: Sequence[int], *, k: int, levels: tuple[int, int]
    ) -> Forest:
        """Keeps the nodes of at least k records.

        Args:
            taxonomy: The hierarchy.
            counts: Records per leaf [records].
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
        """Children of each node; the last entry counts the nodes below no other."""
        counts = np.bincount(self.parents + 1, minlength=len(self.numbers) + 1)
        return np.roll(counts, -1)

    @property
    def places(self) -> list[int]:
        """The place of each node among its siblings, from 1."""
        found, taken = [], [0] * (len(self.numbers) + 1)
        for parent in self.parents.tolist():
            taken[parent] += 1
            found.append(taken[parent])
        return found

    @property
    def score(self) -> float:
        """Entropy of the attribute times log2 of its values [bits^2]: how it tells records apart.

        Attributes are mined in descending order of it. Those with few values come last: then the
        members of an itemset differ little in what is still to come, and members alike are one row.
        Near-constant ones come after those of as many values: they hardly make an itemset smaller.
        """
        held = np.bincount(self.deepest + 1, weights=self.records)
        shares = held[held > 0] / held.sum()
        return float(np.log2(len(shares)) * -(shares * np.log2(shares)).sum())

    def ancestors(self, node: int) -> list[int]:
        """A node and those above it, upwards; none for -1."""
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parents[node])
        return found


@dataclass(frozen=True, slots=True)
class ItemCodes:
    """Bit fields that hold the frequent nodes of all attributes.

    Args:
        forests: Per attribute its frequent nodes.
        fields: `fields[attribute][depth]` tells the children of a node of that depth apart.
        words: Number of words.
    """

    forests: tuple[Forest, ...]
    fields: tuple[tuple[Field, ...], ...]
    words: int

    @classmethod
    def of(cls, forests: Sequence[Forest]) -> ItemCodes:
        """Packs the fields, the first attribute's coarsest one into the highest bits.

        So itemsets in the order of their words, the last one first, have their nodes in the order
        of the trees, each before those below it.
        """
        widths = [_widths(forest)[::-1] for forest in reversed(forests)]
        packed, words = _packed([width for own in widths for width in own])
        rest = iter(packed)
        fields = [tuple(next(rest) for _ in own)[::-1] for own in widths]
        return cls(tuple(forests), tuple(reversed(fields)), words)

    @property
    def is_empty(self) -> bool:
        """Whether an attribute has no frequent node, so that there is no itemset."""
        return any(not len(forest.numbers) for forest in self.forests)

    @property
    def order(self) -> list[int]:
        """The attributes that tell itemsets apart, in the order of mining."""
        varying = [n for n, forest in enumerate(self.forests) if not forest.is_constant]
        return sorted(varying, key=lambda n: (-self.forests[n].score, n))

    def bits(self, attribute: int, low: int = 0, *, high: int | None = None) -> Words:
        """The bits in each word of an attribute's fields of depths from `low` to below `high`."""
        return field_masks(self.fields[attribute][low:high], self.words)

    def codes(self, attribute: int) -> list[Words]:
        """The code of each node."""
        forest, fields = self.forests[attribute], self.fields[attribute]
        places, found = forest.places, []
        for node in range(len(forest.numbers)):
            code = [0] * self.words
            for held in forest.ancestors(node):
                if held != forest.top:
                    field = fields[int(forest.depths[held]) - 1]
                    code[field.word] |= places[held] << field.offset
            found.append(tuple(code))
        return found

    def some(self, attribute: int, node: int, *, code: Words) -> Words:
        """The bits that any of the values of a deepest node may have set; node -1 is none."""
        depth = int(self.forests[attribute].depths[node]) if node >= 0 else 0
        below = self.bits(attribute, depth, high=depth + 1)
        return tuple(own | other for own, other in zip(code, below, strict=True))

    def nodes(self, attribute: int, words: Sequence[Numbers]) -> Numbers:
        """The nodes of itemsets, by their numbers in the taxonomy, from the words of their codes.

        A list by code finds those of 1.6 million itemsets in 0.06 s, a walk from the top in 0.36 s.
        """
        bits = self.bits(attribute)
        word = next((w for w, own in enumerate(bits) if own), 0)
        offset = (bits[word] & -bits[word]).bit_length() - 1 if bits[word] else 0
        if any(bits[word + 1 :]) or bits[word] >> offset >= _LISTED_CODES:
            return self._walked(attribute, words)
        numbers = np.zeros((bits[word] >> offset) + 1, np.int64)
        codes = np.array([code[word] for code in self.codes(attribute)], np.int64)
        numbers[codes >> offset] = self.forests[attribute].numbers
        found: Numbers = numbers[(words[word] & bits[word]) >> offset]
        return found

    def _walked(self, attribute: int, words: Sequence[Numbers]) -> Numbers:
        """Nodes found from the top, field by field, where a list by code would be too long."""
        forest = self.forests[attribute]
        below = np.argsort(forest.parents, kind="stable")
        first = np.concatenate(([0], np.cumsum(np.roll(forest.children, 1))[:-1]))
        node = np.full(len(words[0]), -1 if forest.top is None else forest.top)
        for field in self.fields[attribute]:
            place = (words[field.word] >> field.offset) & (field.mask >> field.offset)
            deeper = np.flatnonzero(place)
            node[deeper] = below[first[node[deeper] + 1] + place[deeper] - 1]
        found: Numbers = forest.numbers[node]
        return found


def _widths(forest: Forest) -> list[int]:
    """Bits per depth that tell the children of a node apart from each other and from none."""
    children = forest.children
    most = np.zeros(int(forest.depths.max(initial=0)) + 1, np.int64)
    np.maximum.at(most, forest.depths, children[:-1])
    if forest.top is None:
        most[0] = children[-1]
    return [int(number).bit_length() for number in most[:-1]]


def _packed(widths: Sequence[int]) -> tuple[list[Field], int]:
    """One field after the other, in as many words as it takes; at least one."""
    fields, word, used = [], 0, 0
    for width in widths:
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        fields.append(Field(word, used, width))
        used += width
    return fields, word + 1
