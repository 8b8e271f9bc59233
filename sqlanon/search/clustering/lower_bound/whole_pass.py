"""One look at all closures, in whole numbers: what prices prove.

Prices are whole numbers of parts of a unit and what is found is exact, so it is a proof whatever
the prices are. Few closures are looked at to the end. Bit maps of the records in the order of their
prices tell how many of the dearest 64, 128, ... a closure holds, which bounds what its best k are
worth from above; those that cost too much for it drop out at the first 512 records, at the first
2,048, and so on. What is left has its turn by that bound, and once all of a closure's rows have
found a better one, nothing is asked of it.

A pass takes the time of some 20 operations a closure, of one for each word of those that are left
at each length, and of some ten for each member of what is looked at to the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, Words, packed
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem, narrow_first

FIRST_WORDS, LONGER = 8, 4
"""Words of the dearest records that are looked at first, and how many times as many next."""
CELLS = 2**17
"""Words of bit maps that are made at once."""
BATCH = 512
"""Closures that are looked at to the end at once."""
MEMBERS = 6_000_000
"""Members after which closures are looked at only where they may change what is found."""


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


@dataclass(frozen=True, slots=True)
class Sought:
    """What a pass looks for.

    Args:
        price: Per row what a record of it is worth [parts of a unit].
        parts: Parts of a unit.
        least: Excess, negative, below which a closure drops out [k times parts of a unit].
        margin: By how much less than the best of a row's closures others of it are looked at, too.
    """

    price: Numbers
    parts: int
    least: int
    margin: int


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
        self._by_rank = np.argsort(candidates.rank)
        self._cost = candidates.cost.astype(np.float64)
        self._columns = np.ascontiguousarray(candidates.nodes.T)
        self._used = []
        for column, taxonomy in zip(self._columns, problem.taxonomies, strict=True):
            mask = np.zeros(len(taxonomy.cost), np.bool_)
            mask[column] = True
            self._used.append(mask)

    def excess(self, sought: Sought) -> Excess:
        """What k records of each closure are worth beyond their cost.

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        order = np.argsort(-sought.price, kind="stable")
        near, most = self._near(sought, order)
        price, counts = sought.price[order], self._alike.counts[order]
        maps = self._maps(self._alike.leaves[order])
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
            margin = margin if held < MEMBERS else 0
        return _gathered(best, order, near=np.sort(near), found=found)

    def near(self, sought: Sought) -> Numbers:
        """Positions, ascending, of the closures whose excess is not below what is looked for.

        Some others may be among them, whose excess is as good as that.

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        return np.sort(self._near(sought, np.argsort(-sought.price, kind="stable"))[0])

    def _maps(self, leaves: Numbers) -> BitMaps:
        return BitMaps(self._problem.taxonomies, leaves, self._used)

    def _near(self, sought: Sought, order: Numbers) -> tuple[Numbers, Reals]:
        """Closures that do not drop out, and bounds on their excess from above.

        Args:
            sought: What is looked for.
            order: The rows from the highest price to the lowest.
        """
        k = self._problem.k
        slots = np.repeat(order, np.minimum(self._alike.counts[order], k))
        price, leaves = sought.price[slots], self._alike.leaves[slots]
        value = price.astype(np.float64)
        scale = sought.parts * k
        cost = self._cost * float(scale)
        # Above the error of any sum of floating-point numbers below.
        room = 1e-9 * (k * float(np.abs(value).max()) + float(self._problem.suppressed) * scale)
        least = sought.least - room
        dearest = int((k * value[0] - least) / scale) + 1
        at = np.arange(np.searchsorted(self._candidates.cost, dearest, side="right"))
        for column in reversed(narrow_first(self._problem.taxonomies)):
            taxonomy = self._problem.taxonomies[column]
            worth = np.full(len(taxonomy.cost), -np.inf)
            for nodes in taxonomy.distinct_levels:
                _raise(worth, nodes[leaves[:, column]], price, k=k)
            most = worth.take(self._columns[column].take(at)) - cost.take(at)
            at = at[most >= least]
        kept = np.zeros(len(cost), np.bool_)
        kept[at] = True
        near = self._by_rank[kept[self._by_rank]]
        maps, words = self._maps(leaves), FIRST_WORDS
        while True:
            part = maps.first(words)
            most = self._at_most(part, near, value=value) - cost[near] + room
            near, most = near[most >= sought.least], most[most >= sought.least]
            if words >= maps.words or not len(near):
                return near, most
            words *= LONGER

    def _at_most(self, maps: BitMaps, near: Numbers, *, value: Reals) -> Reals:
        """What the best k records of closures are worth at most, by words of the dearest records.

        Each counts as the dearest one of its word, and after these words as the first of the next.
        """
        k, words = self._problem.k, maps.words
        dearest = np.append(value[: words * WORD : WORD], value[min(words * WORD, len(value) - 1)])
        falls = dearest[:-1] - dearest[1:]
        found = np.empty(len(near))
        batch = max(CELLS // words, 64)
        for start in range(0, len(near), batch):
            self._problem.deadline.check()
            at = near[start : start + batch]
            bits = maps.members(self._candidates.nodes[at], self._candidates.rank[at])
            counts = np.bitwise_count(bits).T.astype(np.int32, order="C")
            held, worth = np.zeros(len(at), np.int32), np.full(len(at), k * dearest[-1])
            enough, added = np.empty(len(at), np.int32), np.empty(len(at))
            for count, fall in zip(counts, falls.tolist(), strict=True):
                held += count
                if fall:
                    np.minimum(held, k, out=enough)
                    worth += np.multiply(enough, fall, out=added)
            found[start : start + batch] = worth
        return found


def _raise(worth: Reals, nodes: Numbers, price: Numbers, *, k: int) -> None:
    """Per node what its best k records are worth, of prices from the highest to the lowest."""
    order = np.argsort(nodes, kind="stable")
    ends = np.cumsum(np.bincount(nodes, minlength=len(worth)))
    starts = np.append(0, ends[:-1])
    # Whole numbers: where the sum of all overflows, differences are right nonetheless.
    sums = np.append(0, np.cumsum(price[order]))
    enough = ends - starts >= k
    worth[enough] = (sums[np.minimum(starts + k, len(nodes))] - sums[starts])[enough]


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
