"""Prices in whole numbers, and what they come to without records that may be left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.problem import ClusteringProblem

FINEST = 2**20
"""Most parts of a unit that prices are rounded to."""
_ROOM = 2**60


@dataclass(frozen=True, slots=True)
class PriceScale:
    """How fine prices are: so that k times the sum of k of them fits 64 bits.

    Args:
        parts: Parts of a unit, a power of two.
        most: The highest price, and minus the lowest one [parts of a unit].
    """

    parts: int
    most: int

    @classmethod
    def of(cls, problem: ClusteringProblem) -> PriceScale:
        """No record is worth more than k that are left out: nobody else in its cluster has to be."""
        k, parts = problem.k, 1
        most = min(k * problem.suppressed, _ROOM // k)
        while parts < FINEST and 2 * parts * k * max(most, problem.suppressed) <= _ROOM:
            parts *= 2
        return cls(parts, most * parts)

    def whole(self, price: Reals) -> Numbers:
        """Prices [units] as whole numbers [parts of a unit]."""
        found: Numbers = np.clip(np.rint(price * self.parts), -self.most, self.most).astype(
            np.int64
        )
        return found


def exact_sum(worth: Numbers, counts: Numbers) -> int:
    """The sum of products that may not fit 64 bits, of counts that add up to less than 2^31."""
    low = (worth & (2**31 - 1)) * counts
    return int(((worth >> 31) * counts).sum()) * 2**31 + int(low.sum())


def left_over(over: Numbers, counts: Numbers, *, room: int) -> tuple[int, Numbers]:
    """What the `room` records gain at most that gain most by being left out.

    Args:
        over: Per row what a record of it gains; what is negative counts as 0.
        counts: Records of each row.
        room: How many may be left out [records].

    Returns:
        Their gain, and how many records of each row are among them.
    """
    over = np.maximum(over, 0)
    order = np.argsort(-over, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    taken = np.zeros(len(counts), np.int64)
    taken[order] = np.clip(room - before, 0, counts[order])
    taken[over == 0] = 0
    return exact_sum(over, taken), taken
