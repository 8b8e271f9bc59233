"""Level labels: whether labels of one level, read without the level, say which nodes they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sqlanon.hierarchy.label_nodes import LabelMatch, Nodes, read
from sqlanon.hierarchy.tree import Tree


def telling_level(
    tree: Tree,
    levels: Iterable[int],
    *,
    groups: Sequence[Sequence[int]],
    published: Collection[int] | None,
) -> int | None:
    """The first level whose labels tell groups of leaves that are its nodes; None where none does.

    None of the labels is the text of a value in another group.

    Args:
        tree: The hierarchy.
        levels: The levels to look at.
        groups: Every leaf once, ascending.
        published: Leaves that a published record holds; None where any may be.
    """
    leaf = {text: number for number, text in enumerate(tree.leaves)}
    told = groups
    if published is not None:
        told = [group for group in groups if not set(group).isdisjoint(published)]
    for level in levels:
        names = tree.labels[level]
        is_foreign = any(leaf.get(names[own[0]], own[0]) not in own for own in groups)
        if not is_foreign and _tells(tree, level, groups=told):
            return level
    return None


def _tells(tree: Tree, level: int, *, groups: Sequence[Sequence[int]]) -> bool:
    """Whether the labels of these nodes of a level and no others say which nodes they are."""
    wanted = {tree.labels[level][group[0]]: (group[0], len(group)) for group in groups}
    nodes = Nodes(tree, [1] * len(tree.leaves))
    matches = [
        LabelMatch(label, (at, node), 1, 1)
        for at in range(tree.height + 1)
        for node, label in enumerate(tree.node_labels(at))
        if label in wanted
    ]
    places = read(nodes, matches, allowed=range(tree.height + 1)).places
    return {label: nodes.run(place) for label, place in places.items()} == wanted
