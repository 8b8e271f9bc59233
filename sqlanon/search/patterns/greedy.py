"""Pattern-guided k-anonymity, greedily (Bredereck, Nichterlein and Niedermeier 2013, Algorithm 1).

A pattern says for every column how far it is generalized; in the plain case a column is kept or
suppressed. Records that agree on all that a pattern keeps are an *instance* of it. Each record is
published by one pattern, and so each instance that is used becomes a class.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

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
BATCH = 2**17
"""Records times patterns that are counted in memory in one go."""
IN_MEMORY = 8_000
"""Rows among which instances are counted in memory, in less time than a query is planned."""
QUERY = 600_000
"""Rows times patterns that the database counts in one query."""
RELOAD_BELOW = 0.75
"""Share of the rows that the database holds, below which it gets those that are left."""
GROW_ABOVE, SHRINK_BELOW = 0.9, 0.75
"""Shares of rows that a batch leaves: the next one is larger above, and smaller below."""
COARSER_ABOVE = 0.5
"""Share of a batch without instances above which coarser patterns are asked for first."""
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


class Instances(Protocol):
    """Counts the instances of patterns where the rows live."""

    def among(self, rows: Numbers) -> None:
        """Counts among these rows, ascending, from now on."""

    def frequent(self, patterns: Numbers) -> Flags:
        """Which of the patterns have an instance of k records."""


def greedy(
    rows: DistinctRows,
    masks: Numbers,
    *,
    k: int,
    instances: Instances | None = None,
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
        instances: Counts instances as long as many rows are left; None to count them here.
        deadline: When the records that are left stay so.

    Source: Bredereck, Nichterlein and Niedermeier 2013, Algorithm 1.
    """
    return _Search(rows, masks, k=k, instances=instances).placed(deadline)


class _Search:
    """The rows that are left, and the patterns that may still have an instance among them.

    Rows only become fewer, so a pattern without an instance of k records never has one again, nor
    has any that keeps more. Patterns are looked at in batches before their turn; those that have an
    instance then may have lost it by their turn.
    """

    def __init__(
        self, rows: DistinctRows, masks: Numbers, *, k: int, instances: Instances | None
    ) -> None:
        self._rows, self._masks, self._k, self._instances = rows, masks, k, instances
        self._pattern, self._group = (np.full(len(rows.sizes), LEFT) for _ in range(2))
        self._left, self._classes = np.flatnonzero(rows.sizes), 0
        # k records tell that an instance has enough, so no row needs to be counted further.
        most = 1 if rows.persons is not None else k
        self._counted = np.minimum(rows.sizes[self._left], most)
        self._codes = np.ascontiguousarray(rows.codes[self._left].T)
        self._undecided = np.ones(len(masks), bool)
        self._turn = 0
        # Of the database: rows that it holds, patterns to ask for, share that had no instance.
        self._loaded, self._pace, self._vain = 0, 4, 0.0
        self._hoped, self._tried = np.zeros(len(masks), bool), np.zeros(len(masks), bool)

    def placed(self, deadline: Deadline) -> Placed:
        """The pattern of every row, as far as there is one and the time suffices."""
        with suppress(TimeLimitError):
            while self._turn < len(self._masks) and self._counted.sum() >= self._k:
                deadline.check()
                advance(self._turn / len(self._masks))
                self._advance()
        return Placed(self._pattern, self._group)

    def _advance(self) -> None:
        """Looks at some patterns, and takes those whose turn comes."""
        before = len(self._left)
        if self._instances is None or before <= IN_MEMORY:
            self._take_all(*self._counted_here())
            return
        self._take_all(*self._asked(self._instances))
        if len(self._left) > GROW_ABOVE * before:
            self._pace *= 2
        elif len(self._left) < SHRINK_BELOW * before:
            self._pace = max(self._pace // 2, 1)

    def _counted_here(self) -> tuple[Numbers, Flags]:
        """The patterns whose turn is next, and which of them have an instance."""
        most = max(1, BATCH // int(self._counted.sum()))
        numbers = self._turn + np.flatnonzero(self._undecided[self._turn :])[:most]
        found = self._promising(self._masks[numbers])
        self._undecided[numbers[~found]] = False
        return numbers, found

    def _promising(self, masks: Numbers) -> Flags:
        """Which patterns may have an instance of k records or persons among the rows left."""
        persons = self._rows.persons
        if persons is None:
            codes = np.repeat(self._codes, self._counted, axis=1)
            return promising(codes, masks, k=self._k)
        own = persons[self._left]
        order = np.argsort(own, kind="stable")
        return peopled(self._codes[:, order], masks, persons=own[order], k=self._k)

    def _asked(self, instances: Instances) -> tuple[Numbers, Flags]:
        """Patterns whose turn is next or that rule them out, and which have an instance."""
        if not self._loaded or len(self._left) < RELOAD_BELOW * self._loaded:
            instances.among(self._left)
            self._loaded = len(self._left)
        numbers = self._next(max(1, min(self._pace, QUERY // len(self._left))))
        found = instances.frequent(numbers)
        for number in numbers[~found]:
            self._undecided &= ~self._finer(number)
        self._vain = float((~found).mean())
        return numbers, found

    def _next(self, count: int) -> Numbers:
        """The patterns to ask for: where most had no instance, coarser ones that rule them out."""
        picked: list[int] = []
        open_ = self._undecided.copy()
        while len(picked) < count:
            turn = int(open_.argmax())
            if not open_[turn]:
                break
            number = self._coarser(turn) if self._vain > COARSER_ABOVE else turn
            picked.append(number)
            open_ &= ~self._finer(number)
            open_[turn] = False
        return np.array(sorted(picked), np.int64)

    def _coarser(self, turn: int) -> int:
        """The first later pattern that keeps less than one, once for each; else that itself."""
        if self._hoped[turn]:
            return turn
        self._hoped[turn] = True
        coarser = ((self._masks[turn + 1 :] & ~self._masks[turn]) == 0).all(axis=1)
        coarser &= (self._undecided & ~self._tried)[turn + 1 :]
        if not coarser.any():
            return turn
        number = turn + 1 + int(coarser.argmax())
        self._tried[number] = True
        return number

    def _finer(self, number: int) -> Flags:
        """The patterns that keep what one keeps, itself included."""
        own = self._masks[number]
        finer: Flags = ((self._masks & own) == own).all(axis=1)
        return finer

    def _take_all(self, numbers: Numbers, found: Flags) -> None:
        """Takes the patterns of a batch whose turn comes, as far as all before are decided."""
        ready = set(numbers[found].tolist())
        while self._turn < len(self._masks):
            self._turn += int(self._undecided[self._turn :].argmax())
            if not self._undecided[self._turn]:
                self._turn = len(self._masks)
            elif self._turn in ready:
                self._take(self._turn)
                self._undecided[self._turn] = False
            else:
                return

    def _take(self, number: int) -> None:
        """Gives the rows that are left to the instances of a pattern that has k of them."""
        rows, keys = self._rows, instance_keys(self._codes, self._masks[number])
        persons = rows.persons
        if persons is None:
            enough = _frequent(np.repeat(keys, self._counted), self._k)
        else:
            enough = _frequent(each_once(keys, persons[self._left]), self._k)
        if not len(enough):
            return
        place = np.minimum(np.searchsorted(enough, keys), len(enough) - 1)
        taken = enough[place] == keys
        if rows.demands is not None:
            own = rows.satisfying(self._left[taken], place[taken], groups=len(enough))
            taken &= own[place]
        taken_rows = self._left[taken]
        self._pattern[taken_rows] = number
        _, numbers = np.unique(place[taken], return_inverse=True)
        self._group[taken_rows] = self._classes + numbers
        self._classes += int(numbers.max(initial=-1)) + 1
        self._left, self._counted = self._left[~taken], self._counted[~taken]
        self._codes = self._codes[:, ~taken]


def promising(codes: Numbers, masks: Numbers, *, k: int) -> Flags:
    """Which patterns may have an instance of k of `codes[word, record]`; the others have none."""
    keys = _mixed(codes, masks)
    keys.sort(axis=1)
    some: Flags = (keys[:, k - 1 :] == keys[:, : keys.shape[1] - k + 1]).any(axis=1)
    return some


def peopled(codes: Numbers, masks: Numbers, *, persons: Numbers, k: int) -> Flags:
    """Which patterns may have an instance of k persons, of `codes[word, row]`, persons ascending.

    The others have none.
    """
    keys = _mixed(codes, masks)
    order = keys.argsort(axis=1, kind="stable")
    keys, own = np.take_along_axis(keys, order, axis=1), persons[order]
    fresh = np.ones(keys.shape, bool)
    fresh[:, 1:] = (np.diff(keys, axis=1) != 0) | (np.diff(own, axis=1) != 0)
    number, place = np.nonzero(fresh)
    once = keys[number, place]
    last = max(0, len(once) - k + 1)
    enough = (once[k - 1 :] == once[:last]) & (number[k - 1 :] == number[:last])
    found = np.zeros(len(masks), bool)
    found[number[k - 1 :][enough]] = True
    return found


def _mixed(codes: Numbers, masks: Numbers) -> Numbers:
    """A number per pattern and column of codes, equal where what the pattern keeps is equal.

    Words are mixed into it: codes that are equal stay so, others rarely become equal.
    """
    return np.asarray(
        sum(
            (own & masks[:, word, np.newaxis]) * MIXERS[word % len(MIXERS)]
            for word, own in enumerate(codes)
        )
    )


def _frequent(keys: Numbers, k: int) -> Numbers:
    """The keys that occur at least k times, ascending; sorts the keys in place."""
    keys.sort()
    found = keys[k - 1 :][keys[k - 1 :] == keys[: max(0, len(keys) - k + 1)]]
    return np.unique(found) if len(found) else found


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
