"""Domain: the values of a column, and the blocks that a generalization scheme may merge.

A *unit* is a value that the table holds, or all values below a node of the lowest level allowed. A
recoding of a column is a partition of its units into blocks. In every scheme but `bhs` it is valid
if each of its blocks is, so a scheme is a family of blocks:

- `bhs`: all nodes of one level;
- `ghs`: nodes, so that a recoding is a cut of the hierarchy;
- `ops`: units that follow each other in the column's order;
- `sps`: any units;
- `gsps`: some of the child subtrees of one node, each whole. This is what "x and y in a block: all
  z nearer to one of them than they are to each other" comes to, the distance of two values being
  the height of their lowest common ancestor;
- `gops`: child subtrees of one node that follow each other in the column's order.

With a hierarchy of height one, `gsps` is `sps` and `gops` is `ops`. Values that the table does not
hold stay by themselves where they can: a block takes those between its units in an order, and those
below the child subtrees that it merges.

Source: Li and Li 2007, "Towards optimal k-anonymization", section 2. The 17 recodings that it
counts in `ghs` for Figure 1 are cuts; as partitions of the values they are 9, since a node with one
child and the child are one block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.tree import Tree
from sqlanon.policy.schemes import GUIDED, ORDERED
from sqlanon.search.arrays import Flags, Numbers

Block = tuple[int, ...]
"""Units, ascending."""
Partition = tuple[int, ...]
"""Per unit the number of its block; blocks are numbered by their first units."""
Span = tuple[int, int]
"""The first of some leaves in a row, by place in their order, and one more than the last."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A subtree of the units that a scheme goes by.

    Args:
        first: Its first unit.
        last: One more than its last unit.
        span: The leaves of the highest node that has these units and no others.
        lowest_span: The leaves of the lowest such node.
        children: Two subtrees or more; none for a single unit.
    """

    first: int
    last: int
    span: Span
    lowest_span: Span
    children: tuple[Branch, ...] = ()

    def inner(self) -> Iterator[Branch]:
        """Itself and all below it that have children, the higher before the lower."""
        if self.children:
            yield self
            for child in self.children:
                yield from child.inner()


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a hierarchy as a recoding.

    Args:
        partition: The block of each unit.
        spans: The leaves of each block.
    """

    partition: Partition
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The units of a column under a scheme.

    Args:
        scheme: One of `SCHEMES`.
        order: The leaves of the hierarchy in the order that the scheme goes by.
        unit: Per leaf of the hierarchy its unit; -1 where it belongs to none that the table holds.
        records: Per unit its records [records].
        roots: The highest nodes allowed; no block lies in two of them.
        levels: The recodings that `bhs` allows, without levels that repeat a lower one; empty for
            schemes that look at no hierarchy.
    """

    scheme: str
    order: Numbers
    unit: Numbers
    records: Numbers
    roots: tuple[Branch, ...]
    levels: tuple[Level, ...] = ()

    @classmethod
    def of(
        cls,
        scheme: str,
        tree: Tree,
        counts: Sequence[int],
        *,
        levels: tuple[int, int] | None = None,
        order: Sequence[int] | None = None,
    ) -> Domain:
        """The domain of a column.

        Args:
            scheme: One of `SCHEMES`.
            tree: Its hierarchy; a flat scheme looks at its lowest and its highest level alone.
            counts: Records per leaf [records].
            levels: The lowest and the highest level allowed; None for all.
            order: The leaves in the column's order, for ordered schemes; None for that of the tree,
                in which every node has its leaves in a row.

        Raises:
            UnsuitedOrderError: A node that the scheme looks at has not its leaves in a row.
        """
        low, high = levels or (0, tree.height)
        places = np.arange(len(tree.leaves)) if order is None else np.asarray(order, np.int64)
        steps = range(low, high + 1) if scheme in GUIDED else [low, high]
        nodes = [np.array(tree.nodes[level])[places] for level in dict.fromkeys(steps)]
        for runs in nodes:
            _refuse_scattered(runs, places)
        used, units = np.asarray(counts)[places] > 0, list[Span]()
        grown = (_grow(nodes, used, span=span, units=units) for span in _runs(nodes[-1]))
        roots = tuple(root for root in grown if root is not None)
        unit = np.full(len(places), -1)
        for number, (start, end) in enumerate(units):
            unit[places[start:end]] = number
        records = np.bincount(unit[unit >= 0], np.asarray(counts)[unit >= 0], len(units))
        guided_levels = tuple(_levels(nodes, units)) if scheme in GUIDED else ()
        return cls(scheme, places, unit, records.astype(np.int64), roots, guided_levels)

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.records)

    @property
    def finest(self) -> Partition:
        """The least general recoding."""
        return tuple(range(self.units))

    @property
    def coarsest(self) -> Partition:
        """The most general recoding."""
        return tuple(n for n, root in enumerate(self.roots) for _ in range(root.first, root.last))

    def branch_of(self, block: Block) -> Branch:
        """The lowest node that has all units of a block, which lie in one root."""
        branch = self.roots[_place(self.roots, block[0])]
        while branch.children:
            child = branch.children[_place(branch.children, block[0])]
            if block[-1] >= child.last:
                break
            branch = child
        return branch

    def spans(self, block: Block) -> list[Span]:
        """The leaves of a block of any scheme but `bhs`, as runs in their order."""
        branch = self.branch_of(block)
        if self.scheme == "ghs" or len(block) == 1:
            return [branch.lowest_span]
        merged = _touched(branch, block)
        if self.scheme in ORDERED:
            return [(merged[0].span[0], merged[-1].span[1])]
        units = set(block)
        return [child.span for child in merged if child.first in units]

    def block_spans(self, partition: Partition) -> list[list[Span]]:
        """The leaves of each block of a recoding, as runs in their order."""
        if self.scheme == "bhs":
            matching = next(level for level in self.levels if level.partition == partition)
            return [[span] for span in matching.spans]
        return list(map(self.spans, blocks_of(partition)))

    def moved(self, partition: Partition, other: Domain) -> Partition:
        """A recoding of another domain of the same column and levels, in the units of this one."""
        labels = [0] * self.units
        for leaf, unit in enumerate(self.unit.tolist()):
            if unit >= 0:
                labels[unit] = partition[int(other.unit[leaf])]
        return numbered(labels)

    def is_valid(self, partition: Partition) -> bool:
        """Whether the scheme allows a recoding."""
        if self.scheme == "bhs":
            return any(level.partition == partition for level in self.levels)
        return all(self.allows(block) for block in blocks_of(partition))

    def allows(self, block: Block) -> bool:
        """Whether a block may be merged, in any scheme but `bhs`, which has no blocks of its own.

        It may where it is the least block allowed that has all its units. There is one least, since
        in every scheme two blocks allowed that share units have an intersection that is allowed.
        """
        if len(block) == 1:
            return True
        if not any(root.first <= block[0] and block[-1] < root.last for root in self.roots):
            return False
        branch = self.branch_of(block)
        merged = _touched(branch, block)
        if self.scheme == "ghs":
            return block == tuple(range(branch.first, branch.last))
        if self.scheme in ORDERED:
            return block == tuple(range(merged[0].first, merged[-1].last))
        touched = [c for c in merged if any(c.first <= unit < c.last for unit in block)]
        return block == tuple(unit for c in touched for unit in range(c.first, c.last))


class UnsuitedOrderError(HierarchyError):
    """A node of a hierarchy has not its leaves in a row.

    Args:
        pair: Two leaves of a node, by number, between which there are others.
    """

    def __init__(self, pair: tuple[int, int]) -> None:
        super().__init__(["the order of a column does not suit its hierarchy"])
        self.pair = pair


def _place(nodes: Sequence[Branch], unit: int) -> int:
    """The place of the node that has a unit, among nodes that follow each other."""
    return bisect_right(nodes, unit, key=lambda node: node.first) - 1


def _touched(branch: Branch, block: Block) -> Sequence[Branch]:
    """The children of a branch from that of a block's first unit to that of its last."""
    nodes = branch.children
    return nodes[_place(nodes, block[0]) : _place(nodes, block[-1]) + 1]


def leaf_count(spans: Iterable[Span]) -> int:
    """Leaves of some runs of them."""
    return sum(end - start for start, end in spans)


def blocks_of(partition: Partition) -> list[Block]:
    """The blocks of a recoding, by their first units."""
    blocks: list[list[int]] = [[] for _ in range(max(partition, default=-1) + 1)]
    for unit, block in enumerate(partition):
        blocks[block].append(unit)
    return list(map(tuple, blocks))


def partition_of(blocks: Sequence[Block]) -> Partition:
    """The recoding of blocks in any order."""
    number = {unit: n for n, block in enumerate(sorted(blocks)) for unit in block}
    return tuple(number[unit] for unit in sorted(number))


def numbered(labels: Sequence[int]) -> Partition:
    """The recoding whose blocks are the units of one label each."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(label, len(numbers)) for label in labels)


def _grow(nodes: Sequence[Numbers], used: Flags, *, span: Span, units: list[Span]) -> Branch | None:
    """The branch of a node; None where the table holds none of its leaves.

    Args:
        nodes: Per level up to that of the node, the lowest first, the node of each leaf.
        used: Whether the table holds the leaf.
        span: The leaves of the node.
        units: The leaves of each unit so far; those of the branch are added.
    """
    if not used[slice(*span)].any():
        return None
    *below, _ = nodes
    if not below:
        units.append(span)
        return Branch(len(units) - 1, len(units), span, span)
    grown = (_grow(below, used, span=part, units=units) for part in _runs(below[-1], span))
    children = tuple(child for child in grown if child is not None)
    if len(children) == 1:
        return replace(children[0], span=span)
    return Branch(children[0].first, children[-1].last, span, span, children)


def _runs(nodes: Numbers, span: Span | None = None) -> list[Span]:
    """The runs of leaves of one node each, within a run."""
    start, end = span or (0, len(nodes))
    cuts = np.flatnonzero(np.diff(nodes[start:end])) + start + 1
    borders = [start, *cuts.tolist(), end]
    return list(pairwise(borders))


def _levels(nodes: Sequence[Numbers], units: Sequence[Span]) -> Iterator[Level]:
    """The levels as recodings of the units, without those that repeat a lower one."""
    seen = set()
    for runs in nodes:
        partition = numbered([int(runs[start]) for start, _ in units])
        if partition not in seen:
            seen.add(partition)
            used = {int(runs[start]) for start, _ in units}
            spans = tuple(span for span in _runs(runs) if int(runs[span[0]]) in used)
            yield Level(partition, spans)


def _refuse_scattered(nodes: Numbers, places: Numbers) -> None:
    """Refuses an order in which the leaves of a node are not in a row."""
    seen: dict[int, int] = {}
    for start, end in _runs(nodes):
        node = int(nodes[start])
        if node in seen:
            raise UnsuitedOrderError((int(places[seen[node]]), int(places[start])))
        seen[node] = end - 1
