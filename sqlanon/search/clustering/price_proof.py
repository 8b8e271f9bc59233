"""What prices of records prove: one look at all closures, in whole numbers.

Prices are whole numbers of parts of a unit and what is found is exact, so it is a proof whatever
the prices are. Few closures are looked at to the end: those whose ceilings (`WholePass.ceilings`)
are not too low, in the order of these, and once all of a closure's rows have found a better one,
nothing is asked of it.

On Adult with fourteen columns, prices of 1.8 million itemsets took 41 s of processor time without
ceilings by groups of columns, ceilings kept from one look to the next and steps measured in cells,
and 9 s with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Numbers, Reals, packed, united
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, MapLayout, Words, bits_of, flags
from sqlanon.search.clustering.clustering_problem import Candidates, ClusteringProblem, narrow_first


@dataclass(frozen=True, slots=True)
class AlikeRecords:
    """The distinct rows of a table: records alike are in the same closures and share one price.

    Args:
        leaves: Their leaf numbers, shape `(rows, columns)`.
        counts: Records of each.
        row: Per record its row.
    """

    leaves: Numbers
    counts: Numbers
    row: Numbers

    @classmethod
    def of(cls, problem: ClusteringProblem) -> AlikeRecords:
        """The rows in lexicographic order, so that those of a closure are near each other."""
        columns = narrow_first(problem.taxonomies)
        widths = [problem.taxonomies[column].leaves for column in columns]
        key = united(packed(problem.leaves[:, columns], widths))
        _, first, row, counts = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(problem.leaves[first], counts, row.ravel())

    def __len__(self) -> int:
        return len(self.counts)


MAX_PARTS = 2**20
"""Most parts of a unit that prices are rounded to."""
_MAX_PRICE_SUM = 2**60
"""Most that sums of the prices of k records come to, times k [parts of a unit]."""


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
        most = min(k * problem.suppressed, _MAX_PRICE_SUM // k)
        while parts < MAX_PARTS and 2 * parts * k * max(most, problem.suppressed) <= _MAX_PRICE_SUM:
            parts *= 2
        return cls(parts, most * parts)

    def whole(self, price: Reals) -> Numbers:
        """Prices [units] as whole numbers [parts of a unit]."""
        whole: Numbers = np.clip(np.rint(price * self.parts), -self.most, self.most).astype(
            np.int64
        )
        return whole


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


FIRST_WORDS, TIMES_LONGER = 8, 2
"""Words of the dearest records that are looked at first, and how many times as many next."""
WORDS_AT_ONCE = 2**17
"""Words of bit maps that are made at once."""
MAX_WORDS_TO_THE_END = 2**14
"""Words of the bit maps of so few closures that each record is looked at by itself."""
EXACT_BITS = 53
"""Bits of the whole numbers that floating-point numbers hold."""


@dataclass(frozen=True, slots=True)
class _Dearest:
    """The records of a table, the dearest first.

    Args:
        value: What each is worth.
        maps: Their bit maps.
        first: What the first of each word is worth, and the last one of all.
        k: How many are to be worth most.
    """

    value: Reals
    maps: BitMaps
    first: Reals
    k: int

    @property
    def falls(self) -> Reals:
        """By how much the first of the next word is cheaper than that of each."""
        falls: Reals = self.first[:-1] - self.first[1:]
        return falls

    def worth(self, counts: NDArray[np.uint8]) -> Reals:
        """What the best k records are worth at most, by how many there are in each word."""
        grown = np.cumsum(counts, axis=1, dtype=np.int32)
        worth: Reals = np.minimum(grown, self.k) @ self.falls + self.k * self.first[-1]
        return worth

    def exact(self, bits: Words) -> Reals:
        """What the best k records are worth of closures that hold these."""
        members = flags(bits, len(self.value))
        worth: Reals = (members & (np.cumsum(members, axis=1) <= self.k)) @ self.value
        return worth


SPARE_MEMBERS = 20
"""Members of a closure that are looked at beside the dearest 2 k."""
CLOSURES_AT_ONCE = 512
"""Closures that are looked at to the end at once."""
MAX_MEMBERS_PER_ROW = 40
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
        sizes: How many rows of each of these follow.
        members: The rows that are worth most in it, and those whose best set it may be.
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
    """Passes over the closures of a table, as prices change.

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
        self._by_rank = np.argsort(candidates.rank)
        self._cost = candidates.cost[self._by_rank]
        self._codes = self._layout.codes(candidates.nodes[self._by_rank])
        self._place = np.empty_like(self._by_rank)
        self._place[self._by_rank] = np.arange(len(candidates))
        self._maps = BitMaps(self._layout, alike.leaves)
        self._price = np.zeros(len(alike), np.int64)
        self._known: Reals | None = None
        # No sum or difference here is greater than that of so many prices.
        greatest = 8 * problem.k * PriceScale.of(problem).most
        self._shift = max(greatest.bit_length() - EXACT_BITS, 0)

    def excess(self, price: Numbers, *, parts: int, least: int, margin: int) -> Excess:
        """What k records of each closure are worth beyond their cost.

        Args:
            price: As of `ceilings`.
            parts: As there.
            least: As there.
            margin: By how much less than the best of a row's closures others of it are looked at.

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        near, most = self.ceilings(price, parts=parts, least=least)
        best, wide = np.full(len(price), least), margin
        turns, members = np.argsort(-most, kind="stable"), 0
        none = np.zeros(0, np.int64)
        looked = [(none, none, none, none)]
        by_price = np.argsort(-price, kind="stable")
        place = np.empty(len(price), np.int64)
        place[by_price] = np.arange(len(price))
        for start in range(0, len(turns), CLOSURES_AT_ONCE):
            self._problem.deadline.check()
            some = turns[start : start + CLOSURES_AT_ONCE]
            open_rows = bits_of(best < most[some[0]] + margin)
            if not open_rows.any():
                break
            closure, word, bits = self._maps.words_of(
                self._codes.take(self._place[near[some]], axis=1)
            )
            asks = np.zeros(len(some), np.bool_)
            asks[closure[(bits & open_rows[word]) != 0]] = True
            if not asks.any():
                continue
            kept = asks[closure]
            closure, at = (np.cumsum(asks) - 1)[closure[kept]], near[some][asks]
            owner, row = _members(closure, word[kept], bits[kept])
            owner, dear = sorted_pairs(owner, place[row], below=len(price))
            row = by_price[dear]
            cost = self._candidates.cost[at] * (parts * self._problem.k)
            excess = _excess(
                owner, cost, price=price[row], counts=self._alike.counts[row], k=self._problem.k
            )
            np.maximum.at(best, row, excess)
            looked.append((at, np.bincount(owner, minlength=len(at)), row, excess))
            members += len(row)
            if members >= MAX_MEMBERS_PER_ROW * len(price):
                margin = 0
        at, sizes, rows, excess = map(np.concatenate, zip(*looked, strict=True))
        # Of the others of a closure no row's best set is near.
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = (rank < 2 * self._problem.k + SPARE_MEMBERS) | (excess >= best[rows] - wide)
        sizes = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[kept], minlength=len(sizes))
        return Excess(best, np.sort(near), at, sizes, rows[kept])

    def ceilings(self, price: Numbers, *, parts: int, least: int) -> tuple[Numbers, Reals]:
        """Positions of the closures whose ceiling is not below what is looked for, and theirs.

        They are in lexicographic order, their ceilings in k times parts of a unit. The positions
        hold all closures whose excess is not below what is looked for, and perhaps some others.

        The dearest records of a table in the order of their prices are counted per closure, by bit
        maps: of these 64 each counts as the first of them, and those that a closure lacks to k
        count as the first one that was not looked at. So a closure that costs too much drops out
        after few words of its bit map, and one that has k records by then is known as well as it
        will be. Before all that each closure has the ceiling of the nodes that it has in a few
        columns, and that of earlier prices: the best k records are worth no more now than then, and
        the best k of what each has become dearer by.

        All of this is sums of whole numbers that floating-point numbers hold exactly, rounded up
        where they are too large for that: so it is the same on every machine.

        Args:
            price: Per row what a record of it is worth [parts of a unit].
            parts: Parts of a unit.
            least: Excess, negative, below which a closure drops out [k times parts of a unit].

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        cost = (self._cost * (parts * self._problem.k) >> self._shift).astype(np.float64)
        least >>= self._shift
        dearest = self._dearest(price)
        above = self._problem.k * dearest.first[0] - cost
        if self._known is not None:
            risen = self._known + self._of_tuples(self._dearest(price - self._price))
            np.minimum(above, risen, out=above)
        at = np.flatnonzero(above >= least)
        above[at] = np.minimum(above[at], self._of_tuples(dearest, at) - cost[at])
        at = at[above[at] >= least]
        self._count(at, above, dearest=dearest, cost=cost, least=least)
        at = at[above[at] >= least]
        if len(at) * dearest.maps.words <= MAX_WORDS_TO_THE_END:
            above[at] = dearest.exact(dearest.maps.coded(self._codes.take(at, axis=1))) - cost[at]
            at = at[above[at] >= least]
        self._price, self._known = price, above
        return self._by_rank[at], above[at] * float(2**self._shift)

    def _dearest(self, price: Numbers) -> _Dearest:
        """The records by these prices or by what they rise by, k of each row at most."""
        k = self._problem.k
        order = np.argsort(-price, kind="stable")
        slots = np.repeat(order, np.minimum(self._alike.counts[order], k))
        value = -(-price[slots] >> self._shift).astype(np.float64)
        maps = BitMaps(self._layout, self._alike.leaves[slots])
        return _Dearest(value, maps, np.append(value[::WORD], value[-1]), k)

    def _of_tuples(self, dearest: _Dearest, at: Numbers | None = None) -> Reals:
        """What the best k records of closures are worth by the nodes of each group of columns."""
        bound = np.full(self._codes.shape[1] if at is None else len(at), np.inf)
        for maps, code in zip(dearest.maps.tuples, self._codes, strict=True):
            worth = np.empty(len(maps))
            step = max(WORDS_AT_ONCE // dearest.maps.words, 64)
            for start in range(0, len(maps), step):
                part = slice(start, start + step)
                counts = np.bitwise_count(maps[part])
                worth[part] = dearest.worth(counts)
            np.minimum(bound, worth.take(code if at is None else code[at]), out=bound)
        return bound

    def _count(
        self, at: Numbers, above: Reals, *, dearest: _Dearest, cost: Reals, least: int
    ) -> None:
        """Lowers the ceilings of closures by counting what they hold of the dearest records."""
        k, words = self._problem.k, dearest.maps.words
        totals, worth = np.zeros(len(at), np.int32), np.zeros(len(at))
        first, last = 0, min(FIRST_WORDS, words)
        while len(at):
            part = dearest.maps.between(first, last)
            falls, rest = dearest.falls[first:last], k * float(dearest.first[last])
            step = max(WORDS_AT_ONCE // part.words, 64)
            for start in range(0, len(at), step):
                self._problem.deadline.check()
                some = slice(start, start + step)
                bits = part.coded(self._codes.take(at[some], axis=1))
                counts = np.cumsum(np.bitwise_count(bits), axis=1, dtype=np.int32)
                counts += totals[some, None]
                totals[some] = counts[:, -1]
                worth[some] += np.minimum(counts, k) @ falls
            most = worth + rest - cost[at]
            above[at] = np.minimum(above[at], most)
            open_ = (totals < k) & (most >= least)
            at, totals, worth = at[open_], totals[open_], worth[open_]
            if last == words:
                return
            first, last = last, min(last * TIMES_LONGER, words)


def sorted_pairs(first: Numbers, second: Numbers, *, below: int) -> tuple[Numbers, Numbers]:
    """Pairs by the first and then by the second number, which is less than so much.

    Numbers are sorted several times as fast as the places of such.
    """
    bits = below.bit_length()
    key = first << bits | second
    key.sort()
    return key >> bits, key & ((1 << bits) - 1)


def _members(closure: Numbers, word: Numbers, bits: Words) -> tuple[Numbers, Numbers]:
    """The closure and the row of each bit that is set in words of closures."""
    eights = np.ascontiguousarray(bits).view(np.uint8).reshape(-1, WORD // 8)
    index, bit = np.nonzero(np.unpackbits(eights, axis=1, bitorder="little"))
    return closure[index], word[index] * WORD + bit


def _excess(closure: Numbers, cost: Numbers, *, price: Numbers, counts: Numbers, k: int) -> Numbers:
    """The excess at each member of closures, whose members follow each other, the dearest first."""
    sizes = np.bincount(closure, minlength=len(cost))
    starts = np.cumsum(sizes) - sizes
    before = np.cumsum(counts) - counts
    before -= before[starts][closure]
    taken = np.clip(k - before, 0, counts)
    best = np.add.reduceat(taken * price, starts) - cost
    last = np.minimum.reduceat(np.where(taken > 0, price, price.max()), starts)
    excess: Numbers = np.minimum(best[closure], (best - last)[closure] + price)
    return excess
