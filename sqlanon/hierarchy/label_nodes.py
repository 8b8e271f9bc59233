"""Labels: the node of its hierarchy that each label of a published column stands for.

A label can be that of several nodes: a branch that repeats a node at several levels, or a hierarchy
that uses one text twice. What decides is how many records the original has under a node, the
levels that the policy allows, and those that all labels of the column have in common.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from sqlanon.errors import PolicyError
from sqlanon.hierarchy.tree import Place, Run, Tree, node_counts

Label = str | None


@dataclass(frozen=True, slots=True)
class LabelMatch:
    """A node that a label may stand for.

    Args:
        label: The label.
        place: The node.
        records: Published records with the label [records].
        classes: Published classes with it.
    """

    label: Label
    place: Place
    records: int
    classes: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Nodes of a column's labels.

    Args:
        places: The node of each label.
        ambiguous: Labels that stand for different nodes, and nothing decides which.
        excessive: Labels that more records have than the original has under any node of theirs.
    """

    places: Mapping[Label, Place]
    ambiguous: int = 0
    excessive: int = 0


class Nodes:
    """The nodes of a tree as runs of leaves, with the original's records under each.

    Args:
        tree: The tree.
        counts: Records of the original per leaf [records].
    """

    def __init__(self, tree: Tree, counts: Sequence[int]) -> None:
        levels = range(tree.height + 1)
        self._runs = [tree.runs(level) for level in levels]
        self._records = [node_counts(tree, level, counts=counts) for level in levels]

    def run(self, place: Place) -> Run:
        """First leaf and number of leaves of a node: nodes of one run are one set of values."""
        level, node = place
        return self._runs[level][node]

    def records(self, place: Place) -> int:
        """Records of the original under a node."""
        return self._records[place[0]][place[1]]

    def disjoint(self, places: Iterable[Place]) -> bool:
        """Whether no node lies within another, so that each value can have become only one."""
        runs = sorted({place: self.run(place) for place in places}.values())
        return all(first + size <= other for (first, size), (other, _) in pairwise(runs))

    def crowded(self, released: Mapping[Place, int]) -> int:
        """Nodes that hold more released records, with those of nodes within, than original ones.

        Args:
            released: Records that are released at each node.
        """
        # Of nodes that begin together the largest comes first, so those within a node follow it.
        order = sorted(released, key=lambda place: (self.run(place)[0], -self.run(place)[1]))
        begin = [self.run(place)[0] for place in order]
        below = [0, *accumulate(released[place] for place in order)]
        ends = (bisect_left(begin, sum(self.run(place))) for place in order)
        totals = (below[end] - below[at] for at, end in enumerate(ends))
        return sum(n > self.records(place) for place, n in zip(order, totals, strict=True))


def read(nodes: Nodes, matches: Iterable[LabelMatch], *, allowed: range) -> Reading:
    """Choose the node of each label.

    First, a node with fewer records in the original than the label has in the release is none of
    its nodes. Nor is one of a level that is not allowed, unless some label has no other. If then
    the labels share a level, all are of that level, the lowest if the sets of values are the same
    at each; if the sets differ, labels with several are ambiguous. If they share none, each label
    is of its lowest node.
    """
    candidates: dict[Label, list[Place]] = {}
    for match in sorted(matches, key=lambda match: match.place):
        fitting = candidates.setdefault(match.label, [])
        if match.records <= nodes.records(match.place):
            fitting.append(match.place)
    excessive = {label for label, fitting in candidates.items() if not fitting}
    for label in excessive:
        del candidates[label]
    within = {
        label: [place for place in places if place[0] in allowed]
        for label, places in candidates.items()
    }
    if all(within.values()):
        candidates = within
    unclear = {
        label for label, places in candidates.items() if len({nodes.run(p) for p in places}) > 1
    }
    shared = [dict.fromkeys(level for level, _ in places) for places in candidates.values()]
    levels = [level for level in (shared[0] if shared else ()) if all(level in s for s in shared)]
    options = [
        {label: next(p for p in places if p[0] == level) for label, places in candidates.items()}
        for level in levels
    ]
    distinct = {tuple(map(nodes.run, option.values())) for option in options}
    if unclear and len(distinct) != 1:
        return Reading({}, len(unclear), len(excessive))
    lowest = {label: places[0] for label, places in candidates.items()}
    return Reading(options[0] if options else lowest, 0, len(excessive))


def refuse_two_meanings(trees: Iterable[Tree], suppressed: str) -> None:
    """Raise a `PolicyError` where suppressed values get the label of a leaf or an inner node."""
    for tree in trees:
        if any(suppressed in labels and len(set(labels)) > 1 for labels in tree.labels):
            raise PolicyError(
                f"the label for suppressed values also stands for a value or a node of column "
                f"{tree.column!r}; name another with suppressed_label (--suppressed-label)"
            )
