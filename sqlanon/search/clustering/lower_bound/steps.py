"""Subgradient steps over the closures that are nearly tight.

What such a step finds is no bound, since it looks at some closures and at the dearest members of
each only; a pass over all closures (`whole_pass`) proves what its prices are good for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords

FIRST, LAST = 0.12, 0.005
"""Length of the first step and of the last one [mean prices]."""
KEEP, STEEPEST = 0.7, -2.0
"""Share of the direction before in the next one, and the least that a record's part of it is."""
SPARE = 12
"""Members of a closure that are looked at beside the dearest 2 k."""


@dataclass(frozen=True, slots=True)
class NearTight:
    """Closures that are nearly tight, and their members.

    Args:
        cost: What a record costs at each [units].
        closure: The closures of the first row, then those of the second, and so on.
        starts: Where those of each row begin that is in any.
        rows: The rows that are in any.
        dearest: Per closure the rows of its dearest records, one for each; the number of rows where
            it has no more.
    """

    cost: Reals
    closure: Numbers
    starts: Numbers
    rows: Numbers
    dearest: Numbers

    @classmethod
    def of(
        cls, cost: Numbers, starts: Numbers, *, members: Numbers, alike: AlikeRecords, k: int
    ) -> NearTight:
        """From the members of each closure, those of the highest price first."""
        sizes = np.diff(np.append(starts, len(members)))
        closure = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(members, kind="stable")
        rows, first = np.unique(members[order], return_index=True)
        width = 2 * k + SPARE
        copies = np.minimum(alike.counts[members], k)
        place = np.cumsum(copies) - copies
        place -= place[starts][closure]
        asked = place < width
        slot = np.repeat(place[asked], copies[asked])
        slot += np.arange(len(slot)) - np.repeat(
            np.cumsum(copies[asked]) - copies[asked], copies[asked]
        )
        owner = np.repeat(closure[asked], copies[asked])
        row = np.repeat(members[asked], copies[asked])
        dearest = np.full((len(sizes), width), len(alike))
        within = slot < width
        dearest[owner[within], slot[within]] = row[within]
        return cls(cost.astype(np.float64), closure[order], first, rows, dearest)


def climb(near: NearTight, price: Reals, *, alike: AlikeRecords, k: int, steps: int) -> Reals:
    """Prices after some steps that are worth more in total.

    Args:
        near: The closures that are looked at.
        price: Where the steps begin [units].
        alike: The rows.
        k: Smallest cluster [records].
        steps: How many.
    """
    direction = np.zeros(len(price))
    best, most = price, -np.inf
    for step in range(steps):
        excess, votes = _votes(near, price, alike=alike, k=k)
        level = price - excess
        total = float(level @ alike.counts)
        if total > most:
            best, most = level, total
        gradient = 1 - votes / alike.counts
        direction = KEEP * direction + (1 - KEEP) * np.maximum(gradient, STEEPEST)
        length = FIRST * (LAST / FIRST) ** (step / max(steps - 1, 1))
        price = level.copy()
        price[near.rows] += (length * total / alike.counts.sum() * direction)[near.rows]
    return best


def _votes(near: NearTight, price: Reals, *, alike: AlikeRecords, k: int) -> tuple[Reals, Reals]:
    """Per row the greatest excess of a set with a record of it, and the votes it gets."""
    rows, width = len(price), near.dearest.shape[1]
    low = price.min() - 10 * abs(price).max() - 1
    value = np.append(price, low)[near.dearest]
    place = np.argpartition(value, width - k, axis=1)[:, width - k :]
    top = np.take_along_axis(value, place, axis=1)
    last = top[:, 0]
    own = top.sum(axis=1) / k - near.cost
    held = price[near.rows]
    lengths = np.diff(np.append(near.starts, len(near.closure)))
    each = np.minimum(
        own[near.closure],
        (own - last / k)[near.closure] + np.repeat(held / k, lengths),
    )
    most = np.maximum.reduceat(each, near.starts)
    at = np.flatnonzero(each == np.repeat(most, lengths))
    _, one = np.unique(np.repeat(np.arange(len(lengths)), lengths)[at], return_index=True)
    chosen = near.closure[at[one]]
    counts = alike.counts[near.rows].astype(np.float64)
    inside = held >= last[chosen]
    whole = np.bincount(chosen, counts * inside, len(own)) / k
    others = np.bincount(chosen, counts * ~inside, len(own)) / k
    given = np.repeat((whole + others)[:, None], k, axis=1)
    given[:, 0] = whole
    got = np.take_along_axis(near.dearest, place, axis=1)
    votes: Reals = np.bincount(got.ravel(), given.ravel(), rows + 1)[:rows].astype(np.float64)
    votes[near.rows] += np.where(inside, 0, counts / k)
    excess = np.zeros(rows)
    excess[near.rows] = most
    return excess, votes
