"""Histograms: the records of each part by the children of a column's node, and who judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.held import Sparse
from sqlanon.search.privacy import ValueDemand


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
