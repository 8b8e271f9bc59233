"""One look at all closures, in whole numbers: what prices prove.

Prices are whole numbers of parts of a unit and what is found is exact, so it is a proof whatever
the prices are. Few closures are looked at to the end: those whose ceilings (`ceilings`) are not too
low, in the order of these, and once all of a closure's rows have found a better one, nothing is
asked of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, MapLayout, Words, packed
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.lower_bound.ceilings import Ceilings, Sought
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem

BATCH = 512
"""Closures that are looked at to the end at once."""
MEMBERS = 40
"""Members for each row after which closures are looked at only where they may change what is
found."""


@dataclass(frozen=True, slots=True)
class Excess:
    """By how much the best k members of closures are worth more than they cost there.

    Args:
        most: Per row the greatest excess of k records that include one of it, over all closures; at
            least what was looked for [k times parts of a unit].
        near: Positions of the closures that are near what was looked for or above it, ascending.
        closures: Positions of those that were looked at to the end.
        sizes: How many rows each of these holds.
        members: Their rows.
    """

    most: Numbers
    near: Numbers
    closures: Numbers
    sizes: Numbers
    members: Numbers

    def beside(self, other: Excess) -> Excess:
        """This one, with the closures that another one looked at to the end, too."""
        fresh = ~np.isin(other.closures, self.closures)
        members = other.members[np.repeat(fresh, other.sizes)]
        return Excess(
            self.most,
            self.near,
            np.append(self.closures, other.closures[fresh]),
            np.append(self.sizes, other.sizes[fresh]),
            np.append(self.members, members),
        )


class WholePass:
    """Passes over the closures of a table.

    Args:
        problem: The table.
        candidates: Its closures.
        alike: Its rows.
    """

    def __init__(
        self, problem: ClusteringProblem, candidates: Candidates, alike: AlikeRecords
    ) -> None:
        self._problem, self._candidates, self._alike = problem, candidates, alike
        self._layout = MapLayout.of(problem.taxonomies, candidates.nodes, records=problem.records)
        self._ceilings = Ceilings(problem, candidates, alike, layout=self._layout)

    def excess(self, sought: Sought) -> Excess:
        """What k records of each closure are worth beyond their cost.

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        order = np.argsort(-sought.price, kind="stable")
        near, most = self._ceilings.near(sought)
        price, counts = sought.price[order], self._alike.counts[order]
        maps = BitMaps(self._layout, self._alike.leaves[order])
        look = _Look(price, counts, self._problem.k)
        best = np.full(len(order), sought.least)
        turns, margin, held = np.argsort(-most, kind="stable"), sought.margin, 0
        found: list[tuple[Numbers, Numbers, Numbers]] = []
        for start in range(0, len(turns), BATCH):
            self._problem.deadline.check()
            some = turns[start : start + BATCH]
            open_rows = packed(best < most[some[0]] + margin)
            if not open_rows.any():
                break
            at = near[some]
            bits = maps.members(self._candidates.nodes[at], self._candidates.rank[at])
            asks = (bits & open_rows).any(axis=1)
            if not asks.any():
                continue
            at = at[asks]
            cost = self._candidates.cost[at] * (sought.parts * self._problem.k)
            sizes, place, own = look.at(bits[asks], cost)
            np.maximum.at(best, place, own)
            found.append((at, sizes, order[place]))
            held += len(place)
            margin = margin if held < MEMBERS * len(order) else 0
        return _gathered(best, order, near=np.sort(near), found=found)

    def near(self, sought: Sought) -> Numbers:
        """Positions, ascending, of the closures whose excess is not below what is looked for.

        Some others may be among them, whose excess is as good as that.

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        return np.sort(self._ceilings.near(sought)[0])


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at all members of closures; rows stand in the order of their prices."""

    price: Numbers
    counts: Numbers
    k: int

    def at(self, bits: Words, cost: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """How many rows each closure holds; per row of each its place, and its excess there."""
        closure, word = np.nonzero(bits)
        eights = np.ascontiguousarray(bits[closure, word]).view(np.uint8).reshape(-1, WORD // 8)
        held, bit = np.nonzero(np.unpackbits(eights, axis=1, bitorder="little"))
        closure, place = closure[held], word[held] * WORD + bit
        sizes = np.bincount(closure, minlength=len(bits))
        starts = np.cumsum(sizes) - sizes
        copies = self.counts[place]
        before = np.cumsum(copies) - copies
        before -= before[starts][closure]
        taken = np.clip(self.k - before, 0, copies)
        price = self.price[place]
        own = np.add.reduceat(taken * price, starts) - cost
        last = np.minimum.reduceat(np.where(taken > 0, price, self.price[0]), starts)
        return sizes, place, np.minimum(own[closure], (own - last)[closure] + price)


def _gathered(
    best: Numbers,
    order: Numbers,
    *,
    near: Numbers,
    found: list[tuple[Numbers, Numbers, Numbers]],
) -> Excess:
    most = np.empty_like(best)
    most[order] = best
    none = np.zeros(0, np.int64)
    at, sizes, members = (
        (np.concatenate(each) for each in zip(*found, strict=True)) if found else (none,) * 3
    )
    return Excess(most, near, at, sizes, members)
