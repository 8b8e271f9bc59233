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
        """No record is worth more than k that are left out."""
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


def leaving_most(over: Numbers | Reals, counts: Numbers, room: int) -> Numbers:
    """How many records of each row are among those that gain most by being left out.

    Args:
        over: Per row what a record of it gains; where that is not positive, it stays.
        counts: Records of each row.
        room: How many may be left out [records].
    """
    taken = np.zeros(len(counts), np.int64)
    gaining = np.flatnonzero(over > 0) if room else np.zeros(0, np.int64)
    order = gaining[np.argsort(-over[gaining], kind="stable")]
    before = np.cumsum(counts[order]) - counts[order]
    taken[order] = np.clip(room - before, 0, counts[order])
    return taken
