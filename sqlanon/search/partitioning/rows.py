"""Rows: parts of a table in memory, cut again and again until no cut is left.

All parts are cut at once: rows are kept in the order of their parts, so what a part holds is found
by one pass over each column, however many parts there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.partitioning.histogram import Held, Histogram, summed
from sqlanon.search.partitioning.space import Dimension

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
