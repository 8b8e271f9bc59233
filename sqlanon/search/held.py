"""What groups of records hold of a sensitive attribute, and whether that satisfies a model.

Counts of all groups by all values can be far more than the records: groups come a few at a time,
and where other values than a group's own cannot matter, with these alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.privacy import ValueDemand

CELLS = 4_000_000
"""Counts of values by group that are judged at once."""


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
    def sorted(cls, group: Numbers, value: Numbers, count: Numbers) -> Sparse:
        """The same in any order."""
        order = np.argsort(group, kind="stable")
        return cls(group[order], value[order], count[order])

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
            good[first:last] = demand.holds(counts.astype(np.int64).reshape(last - first, values))
        return good


def counts_of_own(
    group: Numbers, value: Numbers, count: Numbers, *, groups: int, cells: int
) -> Iterator[tuple[Numbers, Numbers]]:
    """Records of groups by value, each group's own values alone, so many counts at once.

    For models that values which a group does not hold cannot matter to; groups of about as many
    values come together.

    Args:
        group: The group of each entry, from 0.
        value: Its value.
        count: Its records [records].
        groups: How many groups there are.
        cells: Counts at once.

    Yields:
        Some groups, and `counts[group, place]` of these.
    """
    width = int(value.max(initial=0)) + 1
    keys, inverse = np.unique(group * width + value, return_inverse=True)
    sums = np.bincount(inverse, count, len(keys)).astype(np.int64)
    own = keys // width
    place = np.arange(len(own)) - np.searchsorted(own, own)
    ends = np.cumsum(np.bincount(own, minlength=groups))
    starts = np.append(0, ends[:-1])
    rank = np.ceil(np.log2(np.maximum(ends - starts, 1))).astype(np.int64)
    for each in np.unique(rank).tolist():
        alike, most = np.flatnonzero(rank == each), 2**each
        step = max(1, cells // most)
        for some in np.split(alike, range(step, len(alike), step)):
            counts = np.zeros((len(some), most), np.int64)
            lengths = ends[some] - starts[some]
            row = np.repeat(np.arange(len(some)), lengths)
            entry = np.repeat(starts[some] - np.cumsum(lengths) + lengths, lengths)
            entry += np.arange(len(entry))
            counts[row, place[entry]] = sums[entry]
            yield some, counts
