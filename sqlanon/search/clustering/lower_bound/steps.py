"""Subgradient steps over the closures that are nearly tight.

Every record votes, with 1 / k each, for the k records of its best set; a record that gets fewer
votes than it has itself is to be worth more. Prices stay within a box around where they were when
all closures were looked at last, so that those left out hardly matter. What such a step finds is no
bound all the same; a pass over all closures (`whole_pass`) proves what its prices are good for.

A step takes the time of some ten operations for each member of the closures that are looked at.

Source: Camerini, Fratta and Maffioli 1975, "On improving relaxation methods by modified gradient
techniques", for directions that keep a part of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.lower_bound.scale import leaving_most
from sqlanon.search.clustering.problem import ClusteringProblem

FIRST, LAST = 0.15, 0.02
"""Length of the first step and of the last one [radii of the box]."""
KEEP, STEEPEST = 0.85, -2.0
"""Share of the direction before in the next one, and the least that a record's part of it is."""
SPARE = 20
"""Members of a closure that are looked at beside the dearest 2 k."""
REFRESHED = 10
"""Steps after which the dearest members of closures are looked for anew."""


@dataclass(frozen=True, slots=True)
class NearTight:
    """Closures that are nearly tight, and their members.

    Args:
        cost: What a record costs at each [units].
        closure: The closures of the first row, then those of the second, and so on.
        starts: Where those of each row begin that is in any.
        rows: The rows that are in any.
    """

    cost: Reals
    closure: Numbers
    starts: Numbers
    rows: Numbers

    @classmethod
    def of(cls, cost: Numbers, *, sizes: Numbers, members: Numbers) -> NearTight:
        """From the members of each closure."""
        order = np.argsort(members, kind="stable")
        rows, starts = np.unique(members[order], return_index=True)
        closure = np.repeat(np.arange(len(sizes)), sizes)[order]
        return cls(cost.astype(np.float64), closure, starts, rows)

    @property
    def owner(self) -> Numbers:
        """Per member of a closure the place in `rows` of its row."""
        sizes = np.diff(np.append(self.starts, len(self.closure)))
        return np.repeat(np.arange(len(sizes)), sizes)

    def dearest(self, price: Reals, *, counts: Numbers, k: int) -> Numbers:
        """Per closure the rows of its dearest records; the number of rows where it has no more."""
        owner, width = self.owner, 2 * k + SPARE
        place = np.empty(len(price), np.int64)
        place[np.argsort(-price, kind="stable")] = np.arange(len(price))
        order = np.argsort(self.closure * len(price) + place[self.rows[owner]])
        closure, row = self.closure[order], self.rows[owner[order]]
        copies = np.minimum(counts[row], k)
        slot = np.cumsum(copies) - copies
        slot -= slot[np.searchsorted(closure, np.arange(len(self.cost)))][closure]
        found = np.full((len(self.cost), width), len(price))
        for copy in range(int(copies.max(initial=0))):
            asked = (copies > copy) & (slot + copy < width)
            found[closure[asked], slot[asked] + copy] = row[asked]
        return found


@dataclass(frozen=True, slots=True)
class Climb:
    """Where steps may go, and what they are worth.

    Args:
        problem: The table.
        alike: Its rows.
        room: How many records may be left out besides those in no candidate.
    """

    problem: ClusteringProblem
    alike: AlikeRecords
    room: int

    def staying(self, duals: Reals) -> tuple[Reals, float]:
        """How many records of each row stay at these duals [units], and what all are worth."""
        counts, over = self.alike.counts, duals - self.problem.suppressed
        taken = leaving_most(over, counts, self.room).astype(np.float64)
        return counts - taken, float((duals * counts - over * taken).sum())

    def best(self, near: NearTight, center: Reals, *, radius: float, steps: int) -> Reals:
        """The best prices in a box that some steps find.

        Args:
            near: The closures that are looked at.
            center: The middle of the box, where the steps begin [units].
            radius: Half its width [units].
            steps: How many.
        """
        counts, k = self.alike.counts, self.problem.k
        price, best, most = center, center, -np.inf
        direction, moved = np.zeros(len(near.rows)), near.rows
        low, high = center[moved] - radius, center[moved] + radius
        dearest, owner = np.zeros((0, 0), np.int64), near.owner
        for step in range(steps):
            if self.problem.deadline.expired:
                break
            if step % REFRESHED == 0:
                dearest = near.dearest(price, counts=counts, k=k)
            excess, chosen = _chosen(near, price, dearest=dearest, owner=owner, k=k)
            duals = price.copy()
            duals[moved] -= excess
            staying, total = self.staying(duals)
            if total > most:
                best, most = price, total
            votes = chosen.votes(moved, staying, k=k)
            gradient = ((staying - votes) / counts)[moved]
            direction = KEEP * direction + (1 - KEEP) * np.maximum(gradient, STEEPEST)
            length = radius * FIRST * (LAST / FIRST) ** (step / max(steps - 1, 1))
            price = price.copy()
            price[moved] = np.clip(duals[moved] + length * direction, low, high)
        return best


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The best set of each row: k records of one closure.

    Args:
        closure: Per row in any the number of its closure among those chosen.
        inside: Whether it is among the dearest k there; if not, it replaces the last of them.
        dearest: Per chosen closure the rows of the dearest k, the last one first.
    """

    closure: Numbers
    inside: Flags
    dearest: Numbers

    def votes(self, rows: Numbers, staying: Reals, *, k: int) -> Reals:
        """What each row gets if every record that stays votes for the records of its best set."""
        own = staying[rows] / k
        whole = np.bincount(self.closure, own * self.inside, len(self.dearest))
        others = np.bincount(self.closure, own * ~self.inside, len(self.dearest))
        given = np.repeat((whole + others)[:, np.newaxis], k, axis=1)
        given[:, 0] = whole
        got = np.bincount(self.dearest.ravel(), given.ravel(), len(staying) + 1)
        votes: Reals = got[:-1].astype(np.float64)
        votes[rows] += np.where(self.inside, 0.0, own)
        return votes


def _chosen(
    near: NearTight, price: Reals, *, dearest: Numbers, owner: Numbers, k: int
) -> tuple[Reals, _Chosen]:
    """Per row in any the greatest excess of a set with a record of it, and that set."""
    below = price.min() - 10 * abs(price).max() - 1
    value = np.append(price, below)[dearest]
    first = value.shape[1] - k
    top = np.partition(value, first, axis=1)[:, first:]
    last, own = top[:, 0], top.sum(axis=1) / k - near.cost
    held = price[near.rows]
    each = np.minimum(
        own.take(near.closure), (own - last / k).take(near.closure) + (held / k).take(owner)
    )
    most = np.maximum.reduceat(each, near.starts)
    at = np.flatnonzero(each == most.take(owner))
    closure = near.closure[at[np.searchsorted(owner[at], np.arange(len(held)))]]
    asked, number = np.unique(closure, return_inverse=True)
    place = np.argpartition(value[asked], first, axis=1)[:, first:]
    rows = np.take_along_axis(dearest[asked], place, axis=1)
    return most, _Chosen(number.ravel(), held >= last[closure], rows)
