"""Pattern-guided k-anonymity, greedily (Bredereck, Nichterlein and Niedermeier 2013, Algorithm 1).

A pattern says for every column how far it is generalized; in the plain case a column is kept or
suppressed. Records that agree on all that a pattern keeps are an *instance* of it. Each record is
published by one pattern, and so each instance that is used becomes a class.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity".
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.packing import packed, united
from sqlanon.search.privacy import Demands, Sparse, ValueDemand


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """A table as distinct rows, and what groups of them hold: records, persons, sensitive values.

    Args:
        codes: `codes[row, word]`: the packed code of each row, of which a pattern keeps some bits.
        sizes: Records of each row.
        demands: What else classes must satisfy, by `values[row, attribute]`, and whose persons are
            counted, if any; None for k records alone.
    """

    codes: Numbers
    sizes: Numbers
    demands: Demands | None = None

    @property
    def persons(self) -> Numbers | None:
        """The person of each row; None where records are counted."""
        return None if self.demands is None else self.demands.persons

    @property
    def union_closed(self) -> bool:
        """Whether classes that satisfy everything still do when they are put together."""
        return self.demands is None or self.demands.union_closed

    def holding(self, rows: Numbers, group: Numbers, *, groups: int, k: int) -> Flags:
        """Which groups of rows, numbered below `groups`, have k records or persons, and the rest.

        Rows without a record are members of none.
        """
        enough: Flags = self.counted(rows, group, groups=groups) >= k
        return enough & self.satisfying(rows, group, groups=groups)

    def counted(self, rows: Numbers, group: Numbers, *, groups: int) -> Numbers:
        """The records, or persons, of each group of rows."""
        if self.persons is None:
            return np.bincount(group, self.sizes[rows], groups).astype(np.int64)
        some = self.sizes[rows] > 0
        return np.bincount(each_once(group[some], self.persons[rows[some]]), minlength=groups)

    def satisfying(self, rows: Numbers, group: Numbers, *, groups: int) -> Flags:
        """Which groups of rows, numbered below `groups`, satisfy the demands beyond k."""
        holds = np.ones(groups, bool)
        for demand in () if self.demands is None else self.demands.every:
            number, value, count = self._held(demand, rows, group)
            holds &= Sparse.sorted(number, value, count).holds(demand, groups=groups)
        return holds

    def _held(
        self, demand: ValueDemand, rows: Numbers, group: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Groups with the values that they hold, and how many records or persons do."""
        assert self.demands is not None
        values, persons = self.demands.values[rows, demand.attribute], self.demands.persons
        some = np.flatnonzero((values >= 0) & (self.sizes[rows] > 0))
        group, value, count = group[some], values[some], self.sizes[rows[some]]
        if not demand.of_persons or persons is None:
            return group, value, count
        width = len(demand.table)
        pairs = each_once(group * width + value, persons[rows[some]])
        return pairs // width, pairs % width, np.ones_like(pairs)


def each_once(keys: Numbers, persons: Numbers) -> Numbers:
    """The keys, ascending, each once for every person that has it."""
    order = np.lexsort((persons, keys))
    keys, persons = keys[order], persons[order]
    fresh = np.append(True, (np.diff(keys) != 0) | (np.diff(persons) != 0))
    found: Numbers = keys[fresh[: len(keys)]]
    return found


LEFT = -1
"""In place of a pattern: none has an instance for these records."""
MIXERS = (1, 0x9E3779B97F4A7C15 - 2**64, 0xC2B2AE3D27D4EB4F - 2**64, 0x165667B19E3779F9)
"""Odd factors for the words of a code."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The pattern of each row, and the classes that this makes.

    Args:
        pattern: The number of each row's pattern, or LEFT.
        group: The number of each row's class, or LEFT; classes in the order they were made.
    """

    pattern: Numbers
    group: Numbers


def instance_keys(codes: Numbers, mask: Numbers) -> Numbers:
    """A number per row of `codes[word, row]`, equal for rows of one instance of a pattern."""
    return united([own & bits for own, bits in zip(codes, mask, strict=True)])


def greedy(
    rows: DistinctRows,
    masks: Numbers,
    *,
    k: int,
    deadline: Deadline = NEVER,
) -> Placed:
    """Publishes every record by the first pattern that has an instance of k records left for it.

    Where persons are counted, of k persons.

    The records of an instance are given to it together and are not looked at again. Fewer
    suppressed cells cannot be promised: the optimum may be lower by as many times as there are
    columns (Theorem 3).

    Args:
        rows: The table.
        masks: `masks[pattern, word]`: the bits that each pattern keeps, cheapest pattern first.
        k: The smallest class allowed [records, or persons].
        deadline: When the records that are left stay so.

    Source: Bredereck, Nichterlein and Niedermeier 2013, Algorithm 1.
    """
    search = _Search(rows, masks, k=k)
    with suppress(TimeLimitError):
        for number in range(len(masks)):
            if search.counted.sum() < k:
                break
            deadline.check()
            advance(number / len(masks))
            search.take(number)
    return Placed(search.pattern, search.group)


class _Search:
    """The rows that are left, and what was published of the others."""

    def __init__(self, rows: DistinctRows, masks: Numbers, *, k: int) -> None:
        self._rows, self._masks, self._k = rows, masks, k
        self.pattern, self.group = (np.full(len(rows.sizes), LEFT) for _ in range(2))
        self._left, self._classes = np.flatnonzero(rows.sizes), 0
        # k records tell that an instance has enough, so no row needs to be counted further.
        most = 1 if rows.persons is not None else k
        self.counted = np.minimum(rows.sizes[self._left], most)
        self._codes = np.ascontiguousarray(rows.codes[self._left].T)

    def take(self, number: int) -> None:
        """Gives the rows that are left to the instances of a pattern that has k of them."""
        mask = self._masks[number]
        if not len(self._frequent(_mixed(self._codes, mask))):
            return
        keys = instance_keys(self._codes, mask)
        enough = self._frequent(keys)
        if not len(enough):
            return
        place = np.minimum(np.searchsorted(enough, keys), len(enough) - 1)
        taken = enough[place] == keys
        if self._rows.demands is not None:
            own = self._rows.satisfying(self._left[taken], place[taken], groups=len(enough))
            taken &= own[place]
        rows = self._left[taken]
        self.pattern[rows] = number
        _, numbers = np.unique(place[taken], return_inverse=True)
        self.group[rows] = self._classes + numbers
        self._classes += int(numbers.max(initial=-1)) + 1
        self._left, self.counted = self._left[~taken], self.counted[~taken]
        self._codes = self._codes[:, ~taken]

    def _frequent(self, keys: Numbers) -> Numbers:
        """The keys of rows left that k records or persons have, ascending."""
        persons = self._rows.persons
        if persons is None:
            every = np.repeat(keys, self.counted)
            every.sort()
        else:
            every = each_once(keys, persons[self._left])
        last = max(0, len(every) - self._k + 1)
        found = every[self._k - 1 :]
        return np.unique(found[found == every[:last]])


def _mixed(codes: Numbers, mask: Numbers) -> Numbers:
    """A number per row of `codes[word, row]`, equal for rows of one instance of a pattern.

    Words are mixed into it: rows of different instances rarely become equal.
    """
    parts = zip(codes, mask, itertools.cycle(MIXERS), strict=False)
    return np.asarray(sum((own & bits) * factor for own, bits, factor in parts))


def pattern_order(nodes: Numbers, costs: Numbers, *, tops: Sequence[int]) -> Numbers:
    """The numbers of patterns by cost, those that suppress fewer columns first among equals.

    A column of one value may cost nothing when it is suppressed; it is kept all the same. What
    still ties goes by the kept columns in lexicographic order.

    Args:
        nodes: `nodes[pattern, column]`: levels.
        costs: The cost of each pattern [units].
        tops: Per column the level at which nothing is kept.
    """
    width = nodes.shape[1]
    kept = np.where(nodes < np.array(tops), np.arange(width), width)
    kept.sort(axis=1)
    # What has ended comes first.
    listed = np.where(kept < width, kept + 1, 0)
    most = int(nodes.max(initial=0)) + 1
    lost = (kept == width).sum(axis=1)
    keys = [costs, lost, *packed(listed, [width + 1] * width), *packed(nodes, [most] * width)]
    return np.lexsort(keys[::-1])
