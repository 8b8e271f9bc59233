"""Tree: the hierarchy of a column as a laminar tree with numbered leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, combinations, count, groupby, pairwise
from operator import itemgetter

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.rules import Path
from sqlanon.wording import counted

Labels = tuple[str | None, ...]
Place = tuple[int, int]
"""A node of a tree: its level, and its number within the level."""
Run = tuple[int, int]
"""First leaf and number of leaves of a node."""
_MAX_LABELS_NAMED = 5


@dataclass(frozen=True, slots=True)
class Tree:
    """A laminar tree over the values of one column, balanced or not.

    The leaves are numbered in tree order: every node of every level is a run of leaves. A label
    denotes one node of its level.

    Args:
        column: The column that the hierarchy belongs to.
        leaves: Texts of the leaves in tree order; None is NULL.
        labels: The label of each leaf's ancestor, `labels[level][leaf]`; level 0 are the leaves.
        nodes: The number of that ancestor within its level, ascending along the leaves.
    """

    column: str
    leaves: Labels
    labels: tuple[Labels, ...]
    nodes: tuple[tuple[int, ...], ...]

    @classmethod
    def grow(
        cls,
        column: str,
        rows: Iterable[Path],
        *,
        with_null: bool = False,
        name: str = "",
        lines: Sequence[int] = (),
    ) -> Tree:
        """Build the tree from its paths.

        Args:
            column: The column that the hierarchy belongs to; empty for none.
            rows: One path for each leaf, all of one width. Siblings keep the order of the rows.
            with_null: Add NULL as a leaf that only the top generalizes, unless a row names it.
            name: The hierarchy's own name, such as its file, for messages.
            lines: The lines of the first rows in that file, for messages.

        Raises:
            HierarchyError: With all faults at once: no rows, ragged rows, no level, duplicate
                leaves, empty labels, levels that do not nest, more than one top.
        """
        paths = rows if isinstance(rows, list | tuple) else list(rows)
        subject = f"hierarchy {name!r}{f' of column {column!r}' if column else ''}"
        if not name:
            subject = _of(column)
        faults = shape_faults(paths, subject)
        if faults:
            raise HierarchyError(faults)
        columns = [list(map(itemgetter(level), paths)) for level in range(len(paths[0]))]
        if with_null and None not in columns[0]:
            for texts in columns[:-1]:
                texts.append(None)
            columns[-1].append(columns[-1][0])
        leaves, levels = columns[0], [_Level.code(texts) for texts in columns[1:]]
        faults = _faults(leaves, levels, subject=subject, lines=lines)
        if faults:
            raise HierarchyError(faults)
        return cls._number(column, leaves, levels=levels)

    @classmethod
    def _number(cls, column: str, leaves: list[str | None], *, levels: list[_Level]) -> Tree:
        """Number the nodes of every level, top down, so that siblings are neighbours."""
        rank = [0]
        ranks = [rank]
        for level, above in zip(levels[-2::-1], levels[:0:-1], strict=True):
            places = list(map(rank.__getitem__, level.parents(above)))
            rank = [0] * len(places)
            for place, code in enumerate(sorted(range(len(places)), key=places.__getitem__)):
                rank[code] = place
            ranks.append(rank)
        places = list(map(rank.__getitem__, levels[0].codes))
        order = sorted(range(len(leaves)), key=places.__getitem__)
        labels = [tuple(map(leaves.__getitem__, order))]
        nodes = [tuple(range(len(leaves)))]
        for level, rank in zip(levels, reversed(ranks), strict=True):
            codes = list(map(level.codes.__getitem__, order))
            labels.append(tuple(map(level.labels.__getitem__, codes)))
            nodes.append(tuple(map(rank.__getitem__, codes)))
        return cls(column, labels[0], tuple(labels), tuple(nodes))

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.labels) - 1

    def sizes(self, level: int) -> list[int]:
        """Number of leaves under each node of the level."""
        return list(Counter(self.nodes[level]).values())

    def node_labels(self, level: int) -> list[str | None]:
        """The label of each node of the level."""
        return list(dict(zip(self.nodes[level], self.labels[level], strict=True)).values())

    def parents(self, level: int) -> list[int]:
        """For each node of the level, its parent's number within the next level."""
        return list(dict(zip(self.nodes[level], self.nodes[level + 1], strict=True)).values())

    def fan_out(self, level: int) -> int:
        """The largest number of children, at this level, of any node of the next level."""
        return max(Counter(self.parents(level)).values())

    def child_index(self, level: int) -> list[int]:
        """For each node of the level, its place among its siblings, 0 to fan-out - 1."""
        return list(chain.from_iterable(map(range, Counter(self.parents(level)).values())))

    def shared_labels(self, low: int = 0, high: int | None = None) -> list[tuple[str, int, int]]:
        """Labels that denote different nodes at two levels, as (label, level, higher level).

        A node that is repeated at several levels is one node, and its label is not shared.

        Args:
            low: The lowest level that is looked at.
            high: The highest one, the top where not given.
        """
        numbers = [
            dict(zip(*level, strict=True)) for level in zip(self.labels, self.nodes, strict=True)
        ]
        allowed = list(enumerate(numbers))[low : (self.height if high is None else high) + 1]
        runs = cache(self.runs)
        shared = [
            (label, level, higher)
            for (level, lower), (higher, upper) in combinations(allowed, 2)
            for label in lower.keys() & upper.keys()
            if label is not None and runs(level)[lower[label]] != runs(higher)[upper[label]]
        ]
        return sorted(shared, key=itemgetter(1, 2, 0))

    def runs(self, level: int) -> list[Run]:
        """The run of each node of the level."""
        sizes = self.sizes(level)
        return list(zip(accumulate(sizes, initial=0), sizes, strict=False))

    def warnings(self, *, show_labels: bool = False) -> list[str]:
        """Shared labels, which are no fault while the column is recoded at one level.

        Args:
            show_labels: Name the labels too. Only for a hierarchy that the user wrote: the labels
                of a rule are made from values of the table.
        """
        shared = self.shared_labels()
        return self._mixing(shared, show_labels, "the output is ambiguous where these levels mix")

    def mixing_faults(self, low: int, high: int, *, show_labels: bool = False) -> list[str]:
        """Labels that levels share which can mix in the output, where that is a fault.

        Args:
            low: The lowest level allowed.
            high: The highest level allowed.
            show_labels: As for `warnings`.
        """
        shared = self.shared_labels(low, high)
        advice = "rename them, since levels mix in the output of this method"
        return self._mixing(shared, show_labels, advice)

    def _mixing(
        self, shared: list[tuple[str, int, int]], show_labels: bool, advice: str
    ) -> list[str]:
        """One sentence for each pair of levels that share labels."""
        sentences = []
        for (level, higher), group in groupby(shared, key=itemgetter(1, 2)):
            labels = [f"'{label}'" for label, _, _ in group]
            more = ", …" if len(labels) > _MAX_LABELS_NAMED else ""
            shown = f" ({', '.join(labels[:_MAX_LABELS_NAMED])}{more})" if show_labels else ""
            sentences.append(
                f"{_of(self.column)} has {counted(len(labels), 'label')}{shown} "
                f"for different nodes at levels {level} and {higher}; {advice}"
            )
        return sentences


@dataclass(frozen=True, slots=True)
class _Level:
    """A level before its nodes are numbered: texts are hashed once, integers from then on.

    Args:
        labels: The distinct labels, in the order of the rows.
        codes: For each row, the index of its label.
    """

    labels: list[str | None]
    codes: list[int]

    @classmethod
    def code(cls, texts: list[str | None]) -> _Level:
        labels = dict.fromkeys(texts)
        codes = dict(zip(labels, count(), strict=False))
        return cls(list(labels), list(map(codes.__getitem__, texts)))

    def parents(self, above: _Level) -> list[int]:
        """For each label, the code of a label above it: the only one where the levels nest."""
        return list(dict(zip(self.codes, above.codes, strict=True)).values())

    def split_nodes(self, above: _Level) -> set[int]:
        """The codes of labels with several labels above them."""
        parents = self.parents(above)
        if list(map(parents.__getitem__, self.codes)) == above.codes:
            return set()
        edges = Counter(code for code, _ in set(zip(self.codes, above.codes, strict=True)))
        return {code for code, number in edges.items() if number > 1}


def shape_faults(paths: Sequence[Path], subject: str) -> list[str]:
    """Faults of paths that are no table of leaves and levels, one sentence each.

    Args:
        paths: From leaf to top.
        subject: What a sentence calls the hierarchy.
    """
    if not paths:
        return [f"{subject} is empty: it has 0 rows; give a row for each value"]
    width = len(paths[0])
    ragged = sum(len(path) != width for path in paths) if len(set(map(len, paths))) > 1 else 0
    if not ragged and width > 1:
        return []
    faults = []
    if ragged:
        faults.append(
            f"{subject} is ragged: {ragged} of its {counted(len(paths), 'row')} "
            f"{'does' if ragged == 1 else 'do'} not have "
            f"{counted(width, 'field')} as the first row does"
        )
    if width < 2:
        faults.append(f"{subject} has 0 levels above the leaves; add a last column with one label")
    return faults + _duplicate_faults([path[0] if path else None for path in paths], subject)


def _faults(
    leaves: list[str | None], levels: list[_Level], *, subject: str, lines: Sequence[int]
) -> list[str]:
    faults = _duplicate_faults(leaves, subject, lines=lines)
    for number, level in enumerate(levels, start=1):
        if None in level.labels:
            null = level.labels.index(None)
            pairs = zip(leaves, level.codes, strict=True)
            empty = [n for n, (leaf, code) in enumerate(pairs) if leaf is not None and code == null]
            if empty:
                faults.append(
                    f"{subject} has {counted(len(empty), 'empty label')} at level {number}; "
                    f"only the row of NULL, whose leaf is empty, may have them{_at(empty, lines)}"
                )
    for number, (level, above) in enumerate(pairwise(levels), start=1):
        split = level.split_nodes(above)
        if split:
            faults.append(
                f"{subject} does not nest: {counted(len(split), 'node')} of level {number} with "
                f"leaves under several nodes of level {number + 1}"
                f"{_at([n for n, code in enumerate(level.codes) if code in split], lines)}"
            )
    tops = len(levels[-1].labels)
    if tops > 1:
        faults.append(
            f"{subject} has {tops} top nodes at level {len(levels)}; "
            "add a last column with one label"
        )
    return faults


def _duplicate_faults(
    leaves: Sequence[str | None], subject: str, *, lines: Sequence[int] = ()
) -> list[str]:
    if len(set(leaves)) == len(leaves):
        return []
    twice = {leaf for leaf, count in Counter(leaves).items() if count > 1}
    what = counted(len(twice), "duplicate leaf", more="duplicate leaves")
    where = _at([number for number, leaf in enumerate(leaves) if leaf in twice], lines)
    return [f"{subject} has {what} at level 0; give each value one row{where}"]


def _at(rows: Sequence[int], lines: Sequence[int]) -> str:
    """The end of a sentence: the lines of some rows in their file, where there is one."""
    known = [lines[row] for row in rows if row < len(lines)]
    return f"; {lines_text(known)}" if known else ""


def lines_text(numbers: Sequence[int], most: int = 5) -> str:
    """Lines of a file by their numbers, the first ones of many.

    >>> lines_text([3]), lines_text([1, 2, 3, 4, 5, 6, 7])
    ('see line 3', 'see lines 1, 2, 3, 4, 5 and 2 more')
    """
    shown = ", ".join(map(str, numbers[:most]))
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"see line {shown}" if len(numbers) == 1 else f"see lines {shown}{more}"


def _of(column: str) -> str:
    return f"hierarchy of column {column!r}" if column else "the hierarchy"


def node_counts(tree: Tree, level: int, *, counts: Sequence[int]) -> list[int]:
    """Records under each node of a level, from the records of each leaf [records]."""
    result = [0] * (tree.nodes[level][-1] + 1)
    for node, records in zip(tree.nodes[level], counts, strict=True):
        result[node] += records
    return result
