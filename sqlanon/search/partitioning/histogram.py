"""Histograms: the records of each part by the children of a column's node, and who judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.privacy import ValueDemand, counts_of_own

CELLS = 4_000_000
"""Counts of values by group that are judged at once."""


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
        own = Sparse.of(self, np.where(entries, 0, -1))
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
            own = Sparse.of(histogram.held[demand.attribute], place[group])
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


@dataclass(frozen=True, slots=True)
class Sparse:
    """Records of groups by value, of those that hold any; sorted by group.

    Args:
        group: The group.
        value: The value.
        count: Records, or persons [records].
    """

    group: Numbers
    value: Numbers
    count: Numbers

    @classmethod
    def of(cls, held: Held, group: Numbers) -> Sparse:
        """What groups hold, by the group of each entry; -1 for none."""
        own = group[held.entry]
        there = np.flatnonzero((own >= 0) & (held.value >= 0))
        own, value, count = own[there], held.value[there], held.count[there]
        if held.person is not None:
            rows = np.stack([own, value, held.person[there]], axis=1)
            own, value, _ = np.unique(rows, axis=0).T
            count = np.ones_like(own)
        order = np.argsort(own, kind="stable")
        return cls(own[order], value[order], count[order])

    def holds(self, demand: ValueDemand, *, groups: int, deadline: Deadline = NEVER) -> Flags:
        """Which groups 0, 1, … satisfy a model, so many counts at once.

        Raises:
            TimeLimitError: The deadline came before all were looked at.
        """
        values, good = len(demand.table), np.empty(groups, np.bool_)
        if groups * values > CELLS and not demand.model.relative:
            own = self.group, self.value, self.count
            for some, counts in counts_of_own(*own, groups=groups, cells=CELLS):
                deadline.check()
                good[some] = demand.holds(counts)
            return good
        step = max(1, CELLS // max(values, 1))
        for first in range(0, groups, step):
            deadline.check()
            last = min(first + step, groups)
            start, end = np.searchsorted(self.group, [first, last])
            key = (self.group[start:end] - first) * values + self.value[start:end]
            counts = np.bincount(key, self.count[start:end], (last - first) * values)
            good[first:last] = demand.holds(counts.astype(np.int64).reshape(-1, values))
        return good


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
