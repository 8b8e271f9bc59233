"""Group labels: what a group of a column's values is published as, and what such a label says.

A group that is a node of the hierarchy has the node's label, a single value its own text. Any other
is a run of numbers such as `20-34`, or a set such as `{Local-gov, State-gov}`, whose items are
nodes, runs and values. Items that could be read otherwise are written as JSON strings; NULL is
`NULL`, and a text of that spelling is `"NULL"`.

A run says which numbers it holds, whether they are leaves or not. So a run of whole intervals has
the borders of their grid, and where leaves are the values of a table, the least and the greatest of
them end no run of several: such a run is open there, as `<=21`.

A label is taken if reading it gives its group, so a published table can be read on its own. Where
groups are no nodes, a plan and `measure` put a tree of leaf, group and top in place of the column's
own (`group_tree`), and leave out what goes by levels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, groupby
from operator import itemgetter

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.label_nodes import Label, LabelMatch, Nodes, read
from sqlanon.hierarchy.number_ranges import NumberRange, is_number
from sqlanon.hierarchy.tree import Run, Tree
from sqlanon.wording import counted

Leaves = frozenset[int]

_NULL = "NULL"
_ITEM = re.compile(r'("(?:[^"\\]|\\.)*")|([^,{}"]+)')


@dataclass(frozen=True, slots=True)
class LabelledGroup:
    """A group of a column's values with the label that it is published under.

    Args:
        label: The label; None for NULL itself.
        leaves: Its leaves, ascending.
        levels: The level of the node that it is. Of a group that is no node two: the highest of
            whose whole nodes it is made, and that of the lowest node that holds it.
        is_node: Whether it has the label of a node.
    """

    label: Label
    leaves: tuple[int, ...]
    levels: tuple[int, ...]
    is_node: bool


class GroupReader:
    """Reads labels of groups of a tree's leaves.

    Args:
        tree: The tree.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.leaf = {text: number for number, text in enumerate(tree.leaves)}
        self.rank = _ranks(tree)
        self.by_rank = sorted(self.rank, key=self.rank.__getitem__)
        self._numbers = [Decimal(str(tree.leaves[leaf])) for leaf in self.by_rank]
        self.spans = [tree.runs(level) for level in range(tree.height + 1)]
        self.levels: dict[Run, list[int]] = {}
        self._named: dict[Label, set[Run]] = {}
        for level, spans in enumerate(self.spans):
            for label, span in zip(tree.node_labels(level), spans, strict=True):
                self._named.setdefault(label, set()).add(span)
                self.levels.setdefault(span, []).append(level)

    def read(self, label: Label) -> Leaves | None:
        """The leaves that a label stands for; None where it says nothing, or several things."""
        spans = self._named.get(label)
        if spans is not None:
            return _of_span(next(iter(spans))) if len(spans) == 1 else None
        if label is None:
            return None
        return self._run(label) if label[:1] != "{" else self._set(label)

    def span(self, leaf: int, level: int) -> Run:
        """The leaves of the node of a level that holds a leaf."""
        return self.spans[level][self.tree.nodes[level][leaf]]

    def is_known(self, label: Label) -> bool:
        """Whether a value or a node has the label."""
        return label in self._named

    def levels_of(self, group: Sequence[int]) -> list[int]:
        """The levels that a group of leaves is a node of, ascending."""
        first = min(group)
        if max(group) - first + 1 != len(group):
            return []
        return self.levels.get((first, len(group)), [])

    def between(self, group: Sequence[int]) -> tuple[int, int]:
        """The highest level of whose nodes a group is made, and that of the lowest above it."""
        levels = range(len(self.spans))
        nodes = [{self.span(leaf, level) for leaf in group} for level in levels]
        lowest = next(n for n in levels if len(nodes[n]) == 1)
        made = next(n for n in reversed(levels) if sum(size for _, size in nodes[n]) == len(group))
        return made, lowest

    def item(self, text: Label) -> Leaves | None:
        """The leaves that an item of a set stands for; a value goes before a node."""
        return frozenset({self.leaf[text]}) if text in self.leaf else self.read(text)

    def _run(self, label: str) -> Leaves | None:
        """The leaves of a run of numbers."""
        wanted = NumberRange.read(label)
        leaves = self.by_rank[wanted.places(self._numbers)] if wanted else []
        return frozenset(leaves) if leaves else None

    def _set(self, label: str) -> Leaves | None:
        """The leaves of a set, each in one item."""
        leaves: list[int] = []
        texts = items_of(label)
        for text in texts or ():
            part = self.item(text)
            if part is None:
                return None
            leaves += part
        return frozenset(leaves) if leaves and len(set(leaves)) == len(leaves) else None


def items_of(label: str) -> list[Label] | None:
    """The items of a set; None where it is not written as one.

    >>> items_of('{a, "b, c", NULL}')
    ['a', 'b, c', None]
    """
    if not (label.startswith("{") and label.endswith("}")):
        return None
    items: list[Label] = []
    at, end = 1, len(label) - 1
    while at < end:
        if items and not label.startswith(", ", at):
            return None
        at += 2 if items else 0
        match = _ITEM.match(label, at, end)
        if match is None:
            return None
        quoted, plain = match.groups()
        try:
            items.append(json.loads(quoted) if quoted else None if plain == _NULL else plain)
        except ValueError:
            return None
        at = match.end()
    return items


def _written(item: Label) -> str:
    """An item of a set.

    >>> [_written(item) for item in ("a", "b, c", " d", "NULL", None)]
    ['a', '"b, c"', '" d"', '"NULL"', 'NULL']
    """
    if item is None:
        return _NULL
    plain = item not in ("", _NULL) and item == item.strip() and not set(item) & set(',{}"\n\r')
    return item if plain else json.dumps(item, ensure_ascii=False)


def _ranks(tree: Tree) -> dict[int, int]:
    """The place of each leaf but NULL in the order of numbers; empty where they are none."""
    texts = {number: text for number, text in enumerate(tree.leaves) if text is not None}
    if not all(map(is_number, texts.values())):
        return {}
    numbers = {number: Decimal(text) for number, text in texts.items()}
    if len(set(numbers.values())) < len(numbers):
        return {}
    return {number: place for place, number in enumerate(sorted(numbers, key=numbers.__getitem__))}


def _of_span(span: Run) -> Leaves:
    first, number = span
    return frozenset(range(first, first + number))


def numeric_order(tree: Tree) -> tuple[int, ...] | None:
    """The leaves in the order of their numbers, NULL last; None where they are no numbers."""
    ranks = _ranks(tree)
    if not ranks:
        return None
    return tuple(sorted(range(len(tree.leaves)), key=lambda leaf: ranks.get(leaf, len(ranks))))


@dataclass(frozen=True, slots=True)
class GroupLabeller:
    """Labels of the groups of a column.

    Args:
        reader: Reads labels of its tree.
        low: The lowest level that may be published: labels name nothing below it.
        high: The highest level that may be published.
        suppressed: The label of suppressed values, which no group may have unless it has all.
        is_listed: Whether the user wrote the leaves, so that the least and the greatest of them
            tell nothing of a table.
        has_grid: Whether labels of nodes are intervals of a grid, whose borders a run may have.
    """

    reader: GroupReader
    low: int
    high: int
    suppressed: str
    is_listed: bool = True
    has_grid: bool = False

    def label(
        self, groups: Sequence[Sequence[int]], published: Collection[int] | None = None
    ) -> tuple[LabelledGroup, ...]:
        """Every group with its label: that of the lowest node it is; of all values, the highest.

        Args:
            groups: Every leaf once.
            published: Leaves that a published record holds; None where any may be.

        Raises:
            HierarchyError: Groups for which there is no label of their own.
        """
        ordered = sorted(tuple(sorted(group)) for group in groups)
        levels = self._shared_levels(ordered)
        if len(ordered) > 1:
            levels = [n for n in levels if all(self._levels(group)[0] == n for group in ordered)]
        return self._alike(ordered, levels, published=published) or self._one_by_one(ordered)

    def label_alike(
        self, groups: Sequence[Sequence[int]], published: Collection[int] | None = None
    ) -> tuple[LabelledGroup, ...]:
        """As `label`, but with the labels of one level where all groups are nodes of it."""
        ordered = sorted(tuple(sorted(group)) for group in groups)
        levels = self._shared_levels(ordered)
        return self._alike(ordered, levels, published=published) or self._one_by_one(ordered)

    def _alike(
        self,
        groups: Sequence[tuple[int, ...]],
        levels: Sequence[int],
        *,
        published: Collection[int] | None,
    ) -> tuple[LabelledGroup, ...]:
        """The labels of the first level that tells the groups; none where no level does."""
        tree = self.reader.tree
        level = telling_level(tree, levels, groups=groups, published=published)
        if level is None:
            return ()
        return tuple(
            LabelledGroup(tree.labels[level][group[0]], group, (level,), is_node=True)
            for group in groups
        )

    def _one_by_one(self, groups: Sequence[tuple[int, ...]]) -> tuple[LabelledGroup, ...]:
        """The label of each group that says nothing else, whatever other labels there are."""
        labelled = [next(self._possible(group), None) for group in groups]
        missing = sum(group is None for group in labelled)
        if missing:
            raise HierarchyError(
                f"column {self.reader.tree.column!r}: {counted(missing, 'group')} of values "
                "cannot be labelled so that nothing else has the same label; give nodes and "
                "values of its hierarchy labels of their own, or name another label for "
                "suppressed values with --suppressed-label"
            )
        return tuple(group for group in labelled if group is not None)

    def _shared_levels(self, groups: Sequence[tuple[int, ...]]) -> list[int]:
        """The levels whose nodes the groups are, ascending; of one group of all, descending."""
        shared = set.intersection(*(set(self._levels(group)) for group in groups))
        return sorted(shared, reverse=len(groups) == 1 and len(groups[0]) > 1)

    def _levels(self, group: Sequence[int]) -> list[int]:
        """The levels allowed that a group is a node of."""
        return [n for n in self.reader.levels_of(group) if self.low <= n <= self.high]

    def _possible(self, group: tuple[int, ...]) -> Iterator[LabelledGroup]:
        """The labels that say nothing but the group, best first."""
        wanted, tree = frozenset(group), self.reader.tree
        for level in self._levels(group):
            label = tree.labels[level][group[0]]
            if self.reader.read(label) == wanted and label != self.suppressed:
                yield LabelledGroup(label, group, (level,), is_node=True)
        for text in self._texts(group):
            if self.reader.read(text) == wanted and text != self.suppressed:
                levels = self._levels(group)[:1] or sorted({*self.reader.between(group)})
                yield LabelledGroup(text, group, tuple(levels), is_node=False)

    def _texts(self, group: tuple[int, ...]) -> Iterator[str]:
        runs = self._runs(group)
        if len(runs) == 1 and len(runs[0]) > 1:
            yield from self._run_texts(runs[0])
        if runs:
            parts = [part for run in runs for part in self._run_parts(run)]
            nulls = [leaf for leaf in group if leaf not in self.reader.rank]
            yield _set_text([*parts, *((leaf, None) for leaf in nulls)])
        yield _set_text(self._parts(group))
        if not self.low:
            yield _set_text([(leaf, self.reader.tree.leaves[leaf]) for leaf in group])

    def _runs(self, group: Sequence[int]) -> list[list[int]]:
        """The runs of neighbours in the order of numbers; none where they could not be named."""
        rank = self.reader.rank
        if not rank or (self.low and not self.has_grid):
            return []
        places = sorted(rank[leaf] for leaf in group if leaf in rank)
        numbered = groupby(enumerate(places), lambda pair: pair[1] - pair[0])
        return [[self.reader.by_rank[place] for _, place in pairs] for _, pairs in numbered]

    def _run_texts(self, run: Sequence[int]) -> Iterator[str]:
        """The ways to write a run of several numbers, best first."""
        on_grid = self._on_grid(run)
        if on_grid is not None:
            yield on_grid.label
        if not self.low:
            yield self._between(run).label

    def _between(self, run: Sequence[int]) -> NumberRange:
        """From the first number of a run to the last, open where that is an extreme of a table."""
        texts, ends = self.reader.tree.leaves, self.reader.by_rank
        low, high = texts[run[0]], texts[run[-1]]
        if self.is_listed:
            return NumberRange(low, high)
        if run[0] == ends[0]:
            if len(run) == 1 < len(ends):
                return NumberRange(None, texts[ends[1]], has_high=False)
            low = None
        if run[-1] == ends[-1]:
            if len(run) == 1 < len(ends):
                return NumberRange(texts[ends[-2]], None, has_low=False)
            high = None
        return NumberRange(low, high)

    def _on_grid(self, run: Sequence[int]) -> NumberRange | None:
        """The borders around a run of whole intervals, of the highest level that has such."""
        labels, spans = self.reader.tree.labels, self.reader.span
        highest = min(self.high, self.reader.tree.height - 1) if self.has_grid else 0
        for level in range(highest, max(self.low, 1) - 1, -1):
            if sum(size for _, size in {spans(leaf, level) for leaf in run}) == len(run):
                first, last = (
                    NumberRange.of_interval(str(labels[level][leaf])) for leaf in (run[0], run[-1])
                )
                return first.up_to(last) if first and last else None
        return None

    def _run_parts(self, run: Sequence[int]) -> list[tuple[int, Label]]:
        """The items of a run: its node, itself, or its parts where that could be misread."""
        wanted, inside = frozenset(run), sorted(run)
        levels = self._levels(inside)
        is_named = len(run) > 1
        if not self.is_listed:
            # A value alone in its node, or an extreme of the table, need not be told for itself.
            levels = [level for level in reversed(levels) if level]
            is_named |= bool({self.reader.by_rank[0], self.reader.by_rank[-1]} & {*run})
        nodes = [self.reader.tree.labels[level][run[0]] for level in levels]
        for text in (*nodes, *(self._run_texts(run) if is_named else ())):
            if self.reader.item(text) == wanted:
                return [(inside[0], text)]
        return list(self._parts(tuple(inside)))

    def _parts(self, group: tuple[int, ...]) -> Iterator[tuple[int, Label]]:
        """The items of a set: the largest nodes within it."""
        leaves, at = frozenset(group), 0
        while at < len(group):
            number, text = self._largest(group[at], leaves)
            yield group[at], text
            at += number

    def _largest(self, leaf: int, leaves: Leaves) -> tuple[int, Label]:
        """The number of leaves of the largest node that begins at a leaf, and its label."""
        reader, labels = self.reader, self.reader.tree.labels
        for level in range(self.high, self.low - 1, -1):
            span = reader.span(leaf, level)
            node = _of_span(span)
            if span[0] == leaf and node <= leaves:
                names = (labels[at][leaf] for at in reader.levels[span] if at >= self.low)
                name = next((text for text in names if reader.item(text) == node), None)
                if name is not None or reader.tree.leaves[leaf : leaf + span[1]] == (None,):
                    return span[1], name
        return 1, labels[self.low][leaf]


def _set_text(items: Iterable[tuple[int, Label]]) -> str:
    """A set of items, each with a leaf of its own that says where it stands."""
    return "{" + ", ".join(_written(text) for _, text in sorted(items, key=itemgetter(0))) + "}"


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
    relevant = groups
    if published is not None:
        relevant = [group for group in groups if not set(group).isdisjoint(published)]
    for level in levels:
        names = tree.labels[level]
        is_foreign = any(leaf.get(names[group[0]], group[0]) not in group for group in groups)
        if not is_foreign and _tells(tree, level, groups=relevant):
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
    covered = set(chain.from_iterable(leaves for _, leaves in groups))
    rest = [(tree.leaves[leaf], (leaf,)) for leaf in range(len(tree.leaves)) if leaf not in covered]
    ordered = sorted([*groups, *rest], key=lambda group: min(group[1]))
    places = tuple(chain.from_iterable(sorted(leaves) for _, leaves in ordered))
    leaves = tuple(tree.leaves[leaf] for leaf in places)
    grouped = [(number, label) for number, (label, members) in enumerate(ordered) for _ in members]
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
