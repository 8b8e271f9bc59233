"""Trees of recodings of one column, each exactly once (Li and Li 2007), and how many there are.

A tree is walked from the finest recoding (`Merging`) or from the coarsest (`Splitting`). Both have
the same shape: a node is a recoding and the unit at which the last step was taken; every block that
begins before that unit stays as it is in all recodings below. So the recodings below a node lie
between it and one that can be told from it, which is what bounds need.

Source: Li and Li 2007, "Towards optimal k-anonymization", sections 3.1 and 3.3; Bayardo and Agrawal
2005, "Data privacy through optimal k-anonymization", section 4, for the way down.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlanon.policy.schemes import ORDERED
from sqlanon.search.lattice.schemes.domain import (
    Block,
    Branch,
    Domain,
    Partition,
    Span,
    blocks_of,
    numbered,
)

Ban = tuple[int, ...]
"""Two units that are not to be merged, or not to be split; or a recoding that is not to be made."""


@dataclass(frozen=True, slots=True)
class Position:
    """A node of a tree of recodings.

    Args:
        partition: The recoding.
        start: Blocks whose first unit is below it are the same in all recodings below.
        ban: What it has that no recoding above has; see `Merging.is_banned`.
    """

    partition: Partition
    start: int
    ban: Ban = ()


def count(domain: Domain) -> int:
    """The number of recodings that a scheme allows, exactly.

    The children of a branch are merged in groups; those that stay alone have recodings of their
    own, of which being one block is one. So with p the product over those that stay alone, it is
    the sum of p over all sets that may stay alone, times the ways to merge all others with none
    left alone: of an ordered scheme a recursion along the children, of another the elementary
    symmetric polynomials of their numbers times the numbers of partitions without singletons.
    """
    if domain.scheme == "bhs":
        return len(domain.levels)
    return math.prod(_count(root, domain.scheme) for root in domain.roots)


def _count(branch: Branch, scheme: str) -> int:
    """The recodings of a branch."""
    if not branch.children:
        return 1
    below = [_count(child, scheme) for child in branch.children]
    if scheme == "ghs":
        return 1 + math.prod(below)
    return _in_runs(below) if scheme in ORDERED else _in_groups(below)


def _in_runs(below: Sequence[int]) -> int:
    """The recodings of children that are merged in runs of two or more."""
    ways, before = 1, 0  # of those so far, and in all of those with fewer
    for number in below:
        ways, before = ways * number + before, before + ways
    return ways


def _in_groups(below: Sequence[int]) -> int:
    """The recodings of children that are merged in any groups of two or more."""
    alone = [1]  # elementary symmetric polynomials
    for number in below:
        alone = [a + b * number for a, b in zip([*alone, 0], [0, *alone], strict=True)]
    merged = _without_singletons(len(below))
    return sum(ways * merged[len(below) - single] for single, ways in enumerate(alone))


def _without_singletons(most: int) -> list[int]:
    """Partitions of 0 to so many elements into sets of two or more, from Bell(n) = a(n) + a(n+1).

    >>> _without_singletons(6)
    [1, 0, 1, 1, 4, 11, 41]
    """
    partitions, row = [1], [1]
    for _ in range(most):
        partitions.append(row[0] - partitions[-1])
        row = _next_bell_row(row)
    return partitions


def _next_bell_row(row: Sequence[int]) -> list[int]:
    """The next row of Bell's triangle; its first number is the next Bell number."""
    following = [row[-1]]
    for number in row:
        following.append(following[-1] + number)
    return following


class Merging:
    """The recodings of a column from the finest to the coarsest.

    Of unordered values without a hierarchy the parent of a recoding is found by taking the last
    element out of the last block that has several, blocks being in the order of their first
    elements (the source's Figure 6, mended). So a single element joins a block or another single
    element before it, and no block after the one that it joins has several elements. As printed,
    the figure asks this of the blocks in between alone, and reaches {1, 2}, {3, 4} twice.

    With a hierarchy or an order the parent is the nearest ancestor in that tree that the scheme
    allows. A block of several elements is a union of child subtrees c1, ..., ct of one node (t >
    1). What comes before it on the way are the first elements of it; of these the scheme allows c1,
    ..., c(t-1) next, since no block holds a part of ct and anything outside. So the parent takes
    the last child subtree out of the last block and makes single units of it. The source keeps the
    children that are allowed as they are, which reaches 24 of the 67 recodings of its Figure 1 in
    `gsps` and 20 of the 40 in `gops`; its Examples 4 and 5 have two children each, not one.

    In `ghs` a block has all child subtrees of its node, and the first of them comes next on the
    way.

    Args:
        domain: The column.

    Source: Li and Li 2007, "Towards optimal k-anonymization", sections 3.1 and 3.3.
    """

    bans_last = True
    """Whether a ban says anything below other recodings than that whose child has it."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._above = {
            (child.first, child.last): (branch, number)
            for root in self.domain.roots
            for branch in root.inner()
            for number, child in enumerate(branch.children)
        }

    @property
    def root(self) -> Position:
        """The finest recoding."""
        return Position(self.domain.finest, 0)

    def children(self, position: Position) -> Iterator[Position]:
        """The recodings that merge a block with one subtree more; the next level in `bhs`."""
        partition, single = position.partition, _single(position.partition)
        if self.domain.scheme == "bhs":
            levels = [level.partition for level in self.domain.levels]
            for merged in levels[levels.index(partition) + 1 :][:1]:
                yield Position(merged, 0, _joined_by(partition, merged))
            return
        for base in self._bases(position, single):
            for first, last in self._next(base, single):
                labels = [*partition]
                labels[first:last] = [labels[base[0]]] * (last - first)
                yield Position(numbered(labels), base[0], (base[0], first))

    def _bases(self, position: Position, single: Sequence[bool]) -> Iterator[Block]:
        """What may be extended: the block merged last, and single units after its first."""
        partition, start = position.partition, position.start
        yield tuple(unit for unit, block in enumerate(partition) if block == partition[start])
        yield from ((unit,) for unit in range(start + 1, len(partition)) if single[unit])

    def _next(self, base: Block, single: Sequence[bool]) -> Iterator[Span]:
        """The units, in a row, that a block may be extended by in one step."""
        place = self._place(base)
        if place is None:
            return
        branch, number = place
        if self.domain.scheme == "ghs":
            if number == 0 and all(single[base[-1] + 1 : branch.last]):
                yield base[-1] + 1, branch.last
            return
        later = branch.children[number + 1 :]
        for child in later[:1] if self.domain.scheme in ORDERED else later:
            if all(single[child.first : child.last]):
                yield child.first, child.last

    def _place(self, base: Block) -> tuple[Branch, int] | None:
        """The node whose child subtrees a block is made of, and the number of the last of them.

        None for a block of all units of a root, which nothing can join.
        """
        whole = (base[0], base[-1] + 1)
        if len(base) == whole[1] - whole[0]:
            if whole in self._above:
                return self._above[whole]
            if any(whole == (root.first, root.last) for root in self.domain.roots):
                return None
        branch = self.domain.branch_of(base)
        return branch, next(n for n, c in enumerate(branch.children) if base[-1] < c.last)

    def farthest(self, position: Position) -> Partition:
        """A partition coarser than all recodings below.

        Units of blocks that stay as they are, and of the block merged last where nothing can join
        it, are not merged with others, nor then are subtrees that have such a unit, as a whole. All
        else may be: below each node the child subtrees that have none.
        """
        partition, single = position.partition, _single(position.partition)
        if self.domain.scheme == "bhs":
            return self.domain.coarsest
        last = partition[position.start]
        stays = [block < last for block in partition]
        base = next(self._bases(position, single))
        if not any(self._next(base, single)):
            stays = [block <= last for block in partition]
        labels = [*partition]
        for root in self.domain.roots:
            self._merge_free(root, stays, labels=labels)
        return numbered(labels)

    def _merge_free(self, branch: Branch, stays: Sequence[bool], *, labels: list[int]) -> None:
        """Gives one label to all that may be merged, in each node of a branch."""
        if not any(stays[branch.first : branch.last]):
            _relabel(labels, [branch], len(stays) + branch.first)
            return
        free = [c for c in branch.children if not any(stays[c.first : c.last])]
        for group in [[child] for child in free] if self.domain.scheme == "ghs" else [free]:
            _relabel(labels, group, len(stays) + (group[0].first if group else 0))
        for child in branch.children:
            if child not in free:
                self._merge_free(child, stays, labels=labels)

    def is_banned(self, child: Position, bans: frozenset[Ban]) -> bool:
        """Whether a recoding merges two units that are not to be merged.

        If a child of a recoding was ruled out, and with it all below that goes at least as far,
        then everything below the recoding that has the child's `ban` goes at least as far: a block
        allowed that has both units, and the block that was to be extended, has the subtree, too.
        """
        return any(child.partition[one] == child.partition[other] for one, other in bans)


def _relabel(labels: list[int], branches: Sequence[Branch], label: int) -> None:
    """Gives the units of some branches one label."""
    for branch in branches:
        labels[branch.first : branch.last] = [label] * (branch.last - branch.first)


def _single(partition: Partition) -> list[bool]:
    """Whether a unit is a block by itself."""
    sizes = Counter(partition)
    return [sizes[block] == 1 for block in partition]


def _joined_by(finer: Partition, coarser: Partition) -> tuple[int, int]:
    """Two units that a recoding has in one block and a finer one has not."""
    firsts = [coarser.index(block) for block in coarser]
    return next((f, u) for u, f in enumerate(firsts) if finer[f] != finer[u])


class Splitting:
    """The recodings of a column from the coarsest to the finest.

    The way to a recoding is one: the first block, by first units, that it does not have is split in
    two, until none is left. Let the block be child subtrees c1, ..., ct of one node. If the
    recoding has a block of some of them, among them c1, that is split off; else c1 is, since c1
    then has blocks of its own or is one. What is left is child subtrees of that node again, so
    every step is allowed. In `ghs` a block is split into all child subtrees at once.

    So below a node no block changes that begins before the one split last, nor that which was split
    off it if it is not a child subtree; all others can be split to the end. In `ops` this is the
    set enumeration of borders of the source: its head are the borders, its tail all after the last.

    A block of t subtrees can be split in 2^(t-1) - 1 ways without an order. No tree over recodings
    has fewer children there: what has two blocks comes from one coarser recoding alone.

    Args:
        domain: The column.

    Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization", section 4, for
    `ops`.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        # Borders last; without an order a ban is a recoding.
        self.bans_last = domain.scheme in (*ORDERED, "ghs")

    @property
    def root(self) -> Position:
        """The coarsest recoding."""
        return Position(self.domain.coarsest, 0)

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
        subtrees = [child for child in children if child.first in units]
        if self.domain.scheme == "ghs":
            yield [[child] for child in subtrees]
        elif self.domain.scheme in ORDERED:
            yield from ([subtrees[:place], subtrees[place:]] for place in range(1, len(subtrees)))
        else:
            first, *others = subtrees
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
        firsts = [position.partition.index(block) for block in position.partition]
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


Enumeration = Merging | Splitting
"""The recodings of a column as a tree."""
