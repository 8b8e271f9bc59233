"""Frontier: recodings of all columns that a systematic search has still to go on from."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.partitions import Ban, Position
from sqlanon.search.lattice.schemes.spaces import Least

Bans = tuple[frozenset[Ban], ...]
"""Per column what costs too much in all recodings below."""


@dataclass(frozen=True, slots=True)
class Move:
    """A step of one column.

    Args:
        column: Number of the column.
        to: Its recoding.
        later: The columns that may still change below, it and those applied later.
    """

    column: int
    to: Position
    later: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Opened:
    """A recoding of all columns, and what lies below it.

    Args:
        positions: Per column its recoding.
        active: The columns that may change below, the source's applicators.
        bans: Per column what is not to be done below.
        least: What all below it cost and suppress.
        moves: Those not made yet; None until the first is.
    """

    positions: tuple[Position, ...]
    active: tuple[int, ...]
    bans: Bans
    least: Least
    moves: Iterator[Move] | None = None

    @property
    def recoding(self) -> tuple[Partition, ...]:
        """It, per column."""
        return tuple(own.partition for own in self.positions)


@dataclass(slots=True, eq=False)
class Frontier:
    """A queue of recodings; when it is full, a stack that is emptied before the queue goes on.

    So no more are held than it may have, but for those of one way down, and the search stays exact.

    Args:
        most: How many the queue may hold.
        by_bound: Whether that with the least bound comes first, else that found first.
    """

    most: int
    by_bound: bool
    _queue: list[tuple[Least, int, Opened]] = field(default_factory=list)
    _stack: list[Opened] = field(default_factory=list)
    _pushed: int = 0

    def push(self, opened: Opened) -> None:
        """Adds a recoding."""
        if len(self._queue) >= self.most:
            self._stack.append(opened)
            return
        self._pushed += 1
        rank = opened.least if self.by_bound else Least(0, 0)
        heapq.heappush(self._queue, (rank, self._pushed, opened))

    def pop(self) -> Opened | None:
        """Takes the next one; None where none is left."""
        if self._stack:
            return self._stack.pop()
        return heapq.heappop(self._queue)[2] if self._queue else None

    def bounds(self) -> list[int]:
        """What all recodings below each of them cost at least."""
        left = [*self._stack, *(opened for _, _, opened in self._queue)]
        return [opened.least.cost for opened in left]
