"""Merging: the recodings of a column as a tree from the finest, each exactly once.

Of unordered values without a hierarchy the parent of a recoding is found by taking the last element
out of the last block that has several, blocks being in the order of their first elements (the
source's Figure 6, mended). So a single element joins a block or another single element before it,
and no block after the one that it joins has several elements. As printed, the figure asks this of
the blocks in between alone, and reaches {1, 2}, {3, 4} twice.

With a hierarchy or an order the parent is the nearest ancestor in that tree that the scheme allows.
A block of several elements is a union of child subtrees c1, ..., ct of one node (t > 1). What
comes before it on the way are the first elements of it; of these the scheme allows c1, ..., c(t-1)
next, since no block holds a part of ct and anything outside. So the parent takes the last child
subtree out of the last block and makes single units of it. The source keeps the children that are
allowed as they are, which reaches 24 of the 67 recodings of its Figure 1 in `gsps` and 20 of the 40
in `gops`; its Examples 4 and 5 have two children each, not one.

In `ghs` a block has all child subtrees of its node, and the first of them comes next on the way.

Source: Li and Li 2007, "Towards optimal k-anonymization", sections 3.1 and 3.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlanon.policy.schemes import ORDERED
from sqlanon.search.lattice.schemes.domain import (
    Block,
    Branch,
    Domain,
    Partition,
    Span,
    numbered,
)
from sqlanon.search.lattice.schemes.partitions import Ban, Position


@dataclass(frozen=True, slots=True, eq=False)
class Merging:
    """The recodings of a column from the finest to the coarsest.

    Args:
        domain: The column.
    """

    domain: Domain
    _above: dict[tuple[int, int], tuple[Branch, int]] = field(init=False)

    def __post_init__(self) -> None:
        above = {
            (child.first, child.last): (branch, number)
            for root in self.domain.roots
            for branch in root.inner()
            for number, child in enumerate(branch.children)
        }
        object.__setattr__(self, "_above", above)

    @property
    def root(self) -> Position:
        """The finest recoding."""
        return Position(self.domain.finest, 0)

    @property
    def bans_last(self) -> bool:
        """They are pairs of units, and last."""
        return True

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
        yield tuple(unit for unit, own in enumerate(partition) if own == partition[start])
        yield from ((unit,) for unit in range(start + 1, len(partition)) if single[unit])

    def _next(self, base: Block, single: Sequence[bool]) -> Iterator[Span]:
        """The units, in a row, that a block may be extended by in one step."""
        found = self._place(base)
        if found is None:
            return
        branch, number = found
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
        stays = [own < last for own in partition]
        base = next(self._bases(position, single))
        if not any(self._next(base, single)):
            stays = [own <= last for own in partition]
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

        A block allowed that has both, and the block that was to be extended, has the subtree, too.
        """
        return any(_merges(child.partition, pair) for pair in bans)


def _relabel(labels: list[int], branches: Sequence[Branch], label: int) -> None:
    """Gives the units of some branches one label."""
    for branch in branches:
        labels[branch.first : branch.last] = [label] * (branch.last - branch.first)


def _single(partition: Partition) -> list[bool]:
    """Whether a unit is a block by itself."""
    sizes = Counter(partition)
    return [sizes[own] == 1 for own in partition]


def _merges(partition: Partition, pair: Ban) -> bool:
    """Whether a recoding has two units in one block."""
    one, other = pair
    return partition[one] == partition[other]


def _joined_by(finer: Partition, coarser: Partition) -> tuple[int, int]:
    """Two units that a recoding has in one block and a finer one has not."""
    firsts = [coarser.index(own) for own in coarser]
    return next((f, u) for u, f in enumerate(firsts) if finer[f] != finer[u])
