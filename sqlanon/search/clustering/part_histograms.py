"""Parts of a table, and histograms of them: their records by the children of a column's node.

All parts are cut at once: rows are kept in the order of their parts, so what a part holds is found
by one pass over each column, however many parts there are. `Judge` says which groups of them may be
classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.privacy import Sparse, ValueDemand


@dataclass(frozen=True, slots=True)
class Dimension:
    """One column: its hierarchy, with the nodes of each level numbered from left to right.

    Args:
        taxonomy: Its nodes and what a cell at each costs [units].
        place: `place[level, leaf]`: the place of the leaf's node among those of the level.
        nodes: Per level the nodes by place.
    """

    taxonomy: Taxonomy
    place: Numbers
    nodes: tuple[Numbers, ...]

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Dimension:
        """Numbers the nodes of every level."""
        changes = np.diff(taxonomy.ancestors, axis=1, prepend=taxonomy.ancestors[:, :1]) != 0
        place = np.cumsum(changes, axis=1)
        firsts = [np.unique(row, return_index=True)[1] for row in place]
        rows = zip(taxonomy.ancestors, firsts, strict=True)
        return cls(taxonomy, place, tuple(row[first] for row, first in rows))

    def child_nodes(self, level: Numbers, place: Numbers) -> Numbers:
        """The nodes at levels and places, element by element."""
        flat = np.concatenate(self.nodes)
        starts = np.append(0, np.cumsum([len(own) for own in self.nodes]))
        found: Numbers = flat[starts[level] + place]
        return found


@dataclass(frozen=True, slots=True)
class Held:
    """What the records of a histogram hold: one row for each that differs.

    Args:
        entry: The entry of the histogram, ascending.
        value: The value that it holds; -1 where it does not count.
        count: Records [records].
        person: The person of the records; None where records count.
    """

    entry: Numbers
    value: Numbers
    count: Numbers
    person: Numbers | None = None

    def counts(self, entries: Flags, values: int) -> Numbers:
        """Records, or persons, per value 0, 1, … of some entries [records]."""
        own = _sparse(self, np.where(entries, 0, -1))
        return np.bincount(own.value, own.count, values).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Records of parts by child, one entry for each that holds any.

    Args:
        part: The part of each entry, ascending.
        child: The child, ascending within a part.
        count: Its records [records].
        held: Per sensitive attribute that is asked about what they hold.
        people: The persons of the records; None where records count.
    """

    part: Numbers
    child: Numbers
    count: Numbers
    held: tuple[Held, ...] = ()
    people: Held | None = None

    def segments(self, parts: int) -> Numbers:
        """Where the entries of parts 0, 1, … begin, and the end."""
        return np.searchsorted(self.part, np.arange(parts + 1))


@dataclass(frozen=True, slots=True)
class Judge:
    """Says which groups of records may be published as a class.

    Args:
        k: Fewest records, or persons.
        every: The models of sensitive attributes; `demand.attribute` is a place in `held`.
        deadline: When it is too late to say.
    """

    k: int
    every: tuple[ValueDemand, ...] = ()
    deadline: Deadline = NEVER

    @property
    def by_size(self) -> bool:
        """Whether the number of records alone decides."""
        return not self.every

    def holds(self, histogram: Histogram, group: Numbers, *, groups: int) -> Flags:
        """Which groups of entries satisfy everything.

        Args:
            histogram: The entries.
            group: The group of each entry; -1 for none.
            groups: How many groups there are.

        Raises:
            TimeLimitError: The deadline came before all were looked at.
        """
        sizes = _sums(group, histogram.count, groups=groups)
        if histogram.people is not None:
            sizes = np.minimum(sizes, self._persons(histogram.people, group, groups=groups))
        good: Flags = sizes >= self.k
        for demand in self.every:
            asked = np.flatnonzero(good)
            if not len(asked):
                break
            place = np.full(groups + 1, -1)  # the last one is that of no group
            place[asked] = np.arange(len(asked))
            own = _sparse(histogram.held[demand.attribute], place[group])
            good[asked] = own.holds(demand, groups=len(asked), deadline=self.deadline)
        return good

    def _persons(self, people: Held, group: Numbers, *, groups: int) -> Numbers:
        """The persons of each group."""
        assert people.person is not None
        own = group[people.entry]
        there = own >= 0
        most = int(people.person.max(initial=0)) + 1
        pairs = np.unique(own[there] * most + people.person[there])
        return np.bincount(pairs // most, minlength=groups)


def _sparse(held: Held, group: Numbers) -> Sparse:
    """What groups hold, by the group of each entry; -1 for none."""
    own = group[held.entry]
    there = np.flatnonzero((own >= 0) & (held.value >= 0))
    own, value, count = own[there], held.value[there], held.count[there]
    if held.person is not None:
        rows = np.stack([own, value, held.person[there]], axis=1)
        own, value, _ = np.unique(rows, axis=0).T
        count = np.ones_like(own)
    return Sparse.sorted(own, value, count)


def _sums(group: Numbers, count: Numbers, *, groups: int) -> Numbers:
    """Records of each group 0, 1, …; those of group -1 are left out [records]."""
    there = group >= 0
    return np.bincount(group[there], count[there], groups).astype(np.int64)


def summed(keys: Sequence[Numbers], count: Numbers) -> tuple[list[Numbers], Numbers]:
    """Distinct rows of keys, ascending, with the sums of their counts."""
    order = np.lexsort(list(keys)[::-1])
    rows = [key[order] for key in keys]
    fresh = np.zeros(len(order), np.bool_)
    fresh[:1] = True
    for row in rows:
        fresh[1:] |= row[1:] != row[:-1]
    starts = np.flatnonzero(fresh)
    return [row[starts] for row in rows], np.add.reduceat(count[order], starts)


DENSE = 4
"""Cells of a table of counts, per row, up to which it is filled instead of sorting the rows."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """Rows of a table that are alike in all that a search looks at.

    Args:
        leaves: Per column the leaf of each row.
        sizes: Records of each row [records].
        values: Per sensitive attribute that is asked about the value of each row; -1 for none.
        persons: Per sensitive attribute whether persons count instead of records.
        person: The person of each row; None where records count.
    """

    leaves: tuple[Numbers, ...]
    sizes: Numbers
    values: tuple[Numbers, ...] = ()
    persons: tuple[bool, ...] = ()
    person: Numbers | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def taken(self, rows: Numbers) -> PartRows:
        """Some of the rows."""
        return replace(
            self,
            leaves=tuple(own[rows] for own in self.leaves),
            sizes=self.sizes[rows],
            values=tuple(own[rows] for own in self.values),
            person=None if self.person is None else self.person[rows],
        )


@dataclass(frozen=True, slots=True)
class PartedRows:
    """Rows in the order of their parts.

    Args:
        rows: The rows.
        part: The part of each, ascending from 0 without gaps.
        parts: How many there are.
    """

    rows: PartRows
    part: Numbers
    parts: int

    @property
    def sizes(self) -> Numbers:
        """Records of each part [records]."""
        return np.bincount(self.part, self.rows.sizes, self.parts).astype(np.int64)

    def bounds(self, column: int) -> tuple[Numbers, Numbers]:
        """The first and the last leaf that each part holds in a column."""
        starts = np.searchsorted(self.part, np.arange(self.parts))
        own = self.rows.leaves[column]
        return (
            np.minimum.reduceat(own, starts).astype(np.int64),
            np.maximum.reduceat(own, starts).astype(np.int64),
        )

    def children(self, column: int, dimension: Dimension, *, level: Numbers) -> Numbers:
        """The place of each row's node at the level of its part."""
        own = level[self.part].astype(np.int64)
        own *= dimension.place.shape[1]
        own += self.rows.leaves[column]
        found: Numbers = dimension.place.ravel()[own]
        return found

    def histogram(self, child: Numbers, *, width: Numbers) -> tuple[Histogram, Numbers]:
        """Records of parts by child, and the entry of each row.

        Args:
            child: The child of each row, in [0, width of its part).
            width: Per part above all of its children.
        """
        rows, starts = self.rows, np.append(0, np.cumsum(width))
        key = starts[self.part] + child
        if starts[-1] <= DENSE * len(key) + 1024:
            counts = np.bincount(key, rows.sizes, int(starts[-1])).astype(np.int64)
            held = np.flatnonzero(counts)
            place = np.zeros(len(counts), np.int64)
            place[held] = np.arange(len(held))
            entry = place[key]
        else:
            held, entry = np.unique(key, return_inverse=True)
            counts = np.zeros(0, np.int64)
        count = (
            counts[held]
            if len(counts)
            else np.bincount(entry, rows.sizes, len(held)).astype(np.int64)
        )
        part = np.searchsorted(starts, held, side="right") - 1
        found = Histogram(part, held - starts[part], count, *self._held(entry))
        return found, entry

    def in_order(self, child: Numbers) -> tuple[Histogram, Numbers]:
        """As `histogram`, each row a child of its own, in the order of their children."""
        order = np.lexsort((np.arange(len(child)), child, self.part))
        starts = np.searchsorted(self.part, np.arange(self.parts + 1))
        place = np.empty(len(child), np.int64)
        place[order] = np.arange(len(child))
        return self.histogram(place - starts[self.part], width=np.diff(starts))

    def _held(self, entry: Numbers) -> tuple[tuple[Held, ...], Held | None]:
        """What the entries of a histogram hold of sensitive attributes, and whose they are."""
        rows, held = self.rows, []
        for value, persons in zip(rows.values, rows.persons, strict=True):
            if persons and rows.person is not None:
                held.append(Held(entry, value, np.ones_like(entry), rows.person))
            else:
                (own, values), count = summed([entry, value], rows.sizes)
                held.append(Held(own, values, count))
        people = rows.person
        whose = None if people is None else Held(entry, entry, np.ones_like(entry), people)
        return tuple(held), whose
