"""Splitting: the recodings of a column as a tree from the coarsest, each exactly once.

The way to a recoding is one: the first block, by first units, that it does not have is split in
two, until none is left. Let the block be child subtrees c1, ..., ct of one node. If the recoding
has a block of some of them, among them c1, that is split off; else c1 is, since c1 then has blocks
of its own or is one. What is left is child subtrees of that node again, so every step is allowed.
In `ghs` a block is split into all child subtrees at once.

So below a node no block changes that begins before the one split last, nor that which was split off
it if it is not a child subtree; all others can be split to the end. In `ops` this is the set
enumeration of borders of the source: its head are the borders, its tail all after the last.

A block of t subtrees can be split in 2^(t-1) - 1 ways without an order. No tree over recodings has
fewer children there: what has two blocks comes from one coarser recoding alone.

Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization", section 4, for
`ops`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlanon.policy.schemes import ORDERED
from sqlanon.search.lattice.schemes.domain import (
    Block,
    Branch,
    Domain,
    Partition,
    blocks_of,
    numbered,
)
from sqlanon.search.lattice.schemes.partitions import Ban, Position


@dataclass(frozen=True, slots=True, eq=False)
class Splitting:
    """The recodings of a column from the coarsest to the finest.

    Args:
        domain: The column.
    """

    domain: Domain

    @property
    def root(self) -> Position:
        """The coarsest recoding."""
        return Position(self.domain.coarsest, 0)

    @property
    def bans_last(self) -> bool:
        """Borders last; without an order a ban is a recoding."""
        return self.domain.scheme in (*ORDERED, "ghs")

    def children(self, position: Position) -> Iterator[Position]:
        """The recodings that split one block more; the level below in `bhs`."""
        partition = position.partition
        if self.domain.scheme == "bhs":
            levels = [level.partition for level in self.domain.levels]
            for split in reversed(levels[: levels.index(partition)][-1:]):
                yield Position(split, 0, split)
            return
        for block in blocks_of(partition):
            if block[0] >= position.start and len(block) > 1:
                for parts in self._splits(block):
                    yield self._split(partition, parts)

    def _splits(self, block: Block) -> Iterator[list[list[Branch]]]:
        """The ways to split a block in one step, as groups of child subtrees."""
        children = self.domain.branch_of(block).children
        units = set(block)
        own = [child for child in children if child.first in units]
        if self.domain.scheme == "ghs":
            yield [[child] for child in own]
        elif self.domain.scheme in ORDERED:
            yield from ([own[:place], own[place:]] for place in range(1, len(own)))
        else:
            first, *others = own
            for more in range(len(others)):
                for with_first in combinations(others, more):
                    left = [child for child in others if child not in with_first]
                    yield [[first, *with_first], left]

    def _split(self, partition: Partition, parts: Sequence[Sequence[Branch]]) -> Position:
        """The recoding that splits a block into groups of subtrees."""
        labels = [*partition]
        for number, group in enumerate(parts):
            for child in group:
                label = len(partition) * (number + 1)
                labels[child.first : child.last] = [label] * (child.last - child.first)
        head, following = parts[0], parts[1]
        goes_on = len(head) == 1 and bool(head[0].children)
        start = head[0].first if goes_on else head[0].first + 1
        split = numbered(labels)
        ban: Ban = (head[-1].last - 1, following[0].first) if self.bans_last else split
        return Position(split, start, ban)

    def farthest(self, position: Position) -> Partition:
        """The finest recoding below: all that can still be split are single units."""
        if self.domain.scheme == "bhs":
            return self.domain.finest
        firsts = [position.partition.index(own) for own in position.partition]
        return numbered(
            [
                first if first < position.start else len(firsts) + unit
                for unit, first in enumerate(firsts)
            ]
        )

    def is_banned(self, child: Position, bans: frozenset[Ban]) -> bool:
        """Whether a recoding splits what is not to be split.

        Where blocks are runs, those that have a border between two units go at least as far as the
        child that had it first. Without an order a child is told by itself alone.
        """
        if not self.bans_last:
            return child.partition in bans
        return any(child.partition[one] != child.partition[other] for one, other in bans)
