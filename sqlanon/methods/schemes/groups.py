"""Groups of a scheme's recoding: which leaves they have, their labels, and what they publish."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.group_labels import GroupLabeller, GroupReader, LabelledGroup, group_tree
from sqlanon.loss.release import Tallied
from sqlanon.methods.local.release import Assigned, Original, tallied
from sqlanon.methods.schemes.columns import SchemeColumn
from sqlanon.recoding import ColumnMap, Group
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.lattice.schemes.domain import Domain, Partition
from sqlanon.search.lattice.schemes.problem import SchemeProblem, classes_of


def leaf_groups(column: SchemeColumn, domain: Domain, partition: Partition) -> list[list[int]]:
    """The leaves of each group: of each block, and those that the table does not hold.

    The latter stay by themselves, or in nodes of the lowest level allowed; of `bhs`, of its level.
    """
    nodes = column.tree.nodes
    groups = [
        [int(leaf) for start, end in spans for leaf in domain.order[start:end]]
        for spans in domain.block_spans(partition)
    ]
    held = {leaf for group in groups for leaf in group}
    low, high = column.bounds
    if domain.scheme == "bhs":
        low = next(n for n in range(low, high + 1) if _are_nodes(nodes[n], groups))
    others: dict[int, list[int]] = {}
    for leaf, node in enumerate(nodes[low]):
        if leaf not in held:
            others.setdefault(node, []).append(leaf)
    return [*groups, *others.values()]


def _are_nodes(nodes: Sequence[int], groups: Sequence[Sequence[int]]) -> bool:
    """Whether groups are nodes of a level."""
    sizes = np.bincount(nodes)
    return all(
        len({nodes[leaf] for leaf in group}) == 1 and sizes[nodes[group[0]]] == len(group)
        for group in groups
    )


def group_numbers(groups: Sequence[Sequence[int]]) -> Numbers:
    """The group of each leaf, of groups that have every leaf once."""
    found = np.empty(sum(map(len, groups)), np.int64)
    for number, leaves in enumerate(groups):
        found[list(leaves)] = number
    return found


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """A column as it is published.

    Args:
        tree: Its hierarchy.
        groups: Its groups, every leaf once.
    """

    tree: Tree
    groups: tuple[LabelledGroup, ...]

    @classmethod
    def of(
        cls,
        column: SchemeColumn,
        groups: Sequence[Sequence[int]],
        *,
        suppressed: str,
        published: Collection[int],
    ) -> GroupedColumn:
        """Labels groups of leaves.

        Args:
            column: The column.
            groups: Every leaf once.
            suppressed: The label of suppressed values.
            published: Leaves that a published record holds.

        Raises:
            HierarchyError: Groups for which there is no label of their own.
        """
        hierarchy = column.attribute.hierarchy
        labeller = GroupLabeller(
            GroupReader(column.tree),
            *column.bounds,
            suppressed,
            is_listed=hierarchy.is_listed,
            has_grid=hierarchy.kind == "intervals",
        )
        label = labeller.label_alike if column.scheme == "bhs" else labeller.label
        return cls(column.tree, label(groups, published))

    @property
    def numbers(self) -> Numbers:
        """The group of each leaf."""
        return group_numbers([group.leaves for group in self.groups])

    def column_map(self) -> ColumnMap:
        """What becomes of each value."""
        leaves = self.tree.leaves
        groups = tuple(
            Group(group.label, tuple(leaves[leaf] for leaf in group.leaves))
            for group in self.groups
        )
        return ColumnMap(groups, tuple(sorted({at for own in self.groups for at in own.levels})))


def published(problem: SchemeProblem, groups: Sequence[Numbers]) -> Flags:
    """Which combinations are published, by the group of each in every column."""
    group = classes_of(groups, [int(own.max(initial=0)) + 1 for own in groups])
    sizes = np.bincount(group, problem.sizes).astype(np.int64)
    return problem.publishable(group, sizes)[group]


def tallied_groups(
    original: Original, columns: Sequence[GroupedColumn], *, problem: SchemeProblem
) -> Tallied:
    """Classes and columns of what is published.

    A column whose published groups all are nodes is measured by its hierarchy, any other by the
    tree of its groups, as where the published table is read on its own.
    """
    of_leaf = [column.numbers for column in columns]
    groups = [own[original.leaves[:, c]] for c, own in enumerate(of_leaf)]
    kept = published(problem, groups)
    trees, leaves, levels = [], [], []
    counts, grouped = list[Sequence[int]](), list[bool]()
    for c, column in enumerate(columns):
        own = original.leaves[:, c]
        is_grouped = not all(column.groups[g].is_node for g in np.unique(groups[c][kept]))
        if is_grouped:
            tree, places = group_tree(
                column.tree, [(group.label, group.leaves) for group in column.groups]
            )
            leaves.append(np.argsort(places)[own])
            levels.append(np.ones_like(own))
            counts.append([original.counts[c][place] for place in places])
        else:
            tree = column.tree
            at = np.array([group.levels[0] for group in column.groups])
            leaves.append(own)
            levels.append(at[groups[c]])
            counts.append(original.counts[c])
        trees.append(tree)
        grouped.append(is_grouped)
    subject = replace(original.subject, trees=tuple(trees))
    every = np.arange(len(problem.sizes))
    tally = tallied(
        replace(original, subject=subject, leaves=np.stack(leaves, axis=1), counts=counts),
        Assigned(every, problem.sizes, np.stack(levels, axis=1), ~kept),
    )
    marked = tuple(
        replace(column, is_grouped=own)
        for column, own in zip(tally.release.columns, grouped, strict=True)
    )
    return replace(tally, release=replace(tally.release, columns=marked))
