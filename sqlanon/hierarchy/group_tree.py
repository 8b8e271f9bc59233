"""Group trees: the hierarchy of a column that is published in groups of values.

Where groups are no nodes, a plan and `measure` put this tree of leaf, group and top in place of the
column's own, and leave out what goes by levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlanon.hierarchy.label_nodes import Label
from sqlanon.hierarchy.tree import Tree


def group_tree(
    tree: Tree, groups: Sequence[tuple[Label, Sequence[int]]]
) -> tuple[Tree, tuple[int, ...]]:
    """A tree of leaves, groups and the top, in place of a column's own.

    Args:
        tree: The column's hierarchy.
        groups: Labels, each with its leaves; leaves without a group stay by themselves.

    Returns:
        The tree, and per leaf of it the leaf of the hierarchy.
    """
    held = set(chain.from_iterable(leaves for _, leaves in groups))
    rest = [(tree.leaves[leaf], (leaf,)) for leaf in range(len(tree.leaves)) if leaf not in held]
    ordered = sorted([*groups, *rest], key=lambda group: min(group[1]))
    places = tuple(chain.from_iterable(sorted(leaves) for _, leaves in ordered))
    leaves = tuple(tree.leaves[leaf] for leaf in places)
    grouped = [(number, label) for number, (label, own) in enumerate(ordered) for _ in own]
    top = tree.labels[-1][0]
    return (
        Tree(
            tree.column,
            leaves,
            (leaves, tuple(label for _, label in grouped), (top,) * len(leaves)),
            (
                tuple(range(len(leaves))),
                tuple(number for number, _ in grouped),
                (0,) * len(leaves),
            ),
        ),
        places,
    )
