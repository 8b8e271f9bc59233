"""Ceilings: what the best k records of closures are worth beyond their cost, from above.

The dearest records of a table in the order of their prices are counted per closure, by bit maps: of
these 64 each counts as the first of them, and those that a closure lacks to k count as the first
one that was not looked at. So a closure that costs too much drops out after few words of its bit
map, and one that has k records by then is known as well as it will be. Before all that each closure
has the ceiling of the nodes that it has in a few columns, and that of earlier prices: the best k
records are worth no more now than then, and the best k of what each has become dearer by.

All of this is sums of whole numbers that floating-point numbers hold exactly, rounded up where they
are too large for that: so it is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, MapLayout, Words, flags
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.lower_bound.scale import PriceScale
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem

FIRST_WORDS, LONGER = 8, 2
"""Words of the dearest records that are looked at first, and how many times as many next."""
CELLS = 2**17
"""Words of bit maps that are made at once."""
FEW = 2**14
"""Words of the bit maps of so few closures that each record is looked at by itself."""
EXACT = 53
"""Bits of the whole numbers that floating-point numbers hold."""


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


class Ceilings:
    """Ceilings of the closures of a table, as prices change.

    Args:
        problem: The table.
        candidates: Its closures.
        alike: Its rows.
        layout: What their bit maps look like.
    """

    def __init__(
        self,
        problem: ClusteringProblem,
        candidates: Candidates,
        alike: AlikeRecords,
        *,
        layout: MapLayout,
    ) -> None:
        self._problem, self._alike, self._layout = problem, alike, layout
        self._by_rank = np.argsort(candidates.rank)
        self._cost = candidates.cost[self._by_rank]
        self._codes = layout.codes(candidates.nodes[self._by_rank])
        self._price = np.zeros(len(alike), np.int64)
        self._known: Reals | None = None
        # No sum or difference here is greater than that of so many prices.
        greatest = 8 * problem.k * PriceScale.of(problem).most
        self._shift = max(greatest.bit_length() - EXACT, 0)

    def near(self, sought: Sought) -> tuple[Numbers, Reals]:
        """Positions of the closures whose ceiling is not below what is looked for, and theirs.

        They are in lexicographic order, their ceilings in k times parts of a unit.

        Raises:
            TimeLimitError: The problem's deadline came first.
        """
        cost = (self._cost * (sought.parts * self._problem.k) >> self._shift).astype(np.float64)
        least = sought.least >> self._shift
        dearest = self._dearest(sought.price)
        above = self._problem.k * dearest.first[0] - cost
        if self._known is not None:
            risen = self._known + self._of_tuples(self._dearest(sought.price - self._price))
            np.minimum(above, risen, out=above)
        at = np.flatnonzero(above >= least)
        above[at] = np.minimum(above[at], self._of_tuples(dearest, at) - cost[at])
        at = at[above[at] >= least]
        self._count(at, above, dearest=dearest, cost=cost, least=least)
        at = at[above[at] >= least]
        if len(at) * dearest.maps.words <= FEW:
            above[at] = dearest.exact(dearest.maps.coded(self._codes.take(at, axis=1))) - cost[at]
            at = at[above[at] >= least]
        self._price, self._known = sought.price, above
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
        found = np.full(self._codes.shape[1] if at is None else len(at), np.inf)
        for maps, own in zip(dearest.maps.tuples, self._codes, strict=True):
            worth = np.empty(len(maps))
            step = max(CELLS // dearest.maps.words, 64)
            for start in range(0, len(maps), step):
                part = slice(start, start + step)
                counts = np.bitwise_count(maps[part])
                worth[part] = dearest.worth(counts)
            np.minimum(found, worth.take(own if at is None else own[at]), out=found)
        return found

    def _count(
        self, at: Numbers, above: Reals, *, dearest: _Dearest, cost: Reals, least: int
    ) -> None:
        """Lowers the ceilings of closures by counting what they hold of the dearest records."""
        k, words = self._problem.k, dearest.maps.words
        held, worth = np.zeros(len(at), np.int32), np.zeros(len(at))
        first, last = 0, min(FIRST_WORDS, words)
        while len(at):
            part = dearest.maps.between(first, last)
            falls, rest = dearest.falls[first:last], k * float(dearest.first[last])
            step = max(CELLS // part.words, 64)
            for start in range(0, len(at), step):
                self._problem.deadline.check()
                some = slice(start, start + step)
                bits = part.coded(self._codes.take(at[some], axis=1))
                counts = np.cumsum(np.bitwise_count(bits), axis=1, dtype=np.int32)
                counts += held[some, None]
                held[some] = counts[:, -1]
                worth[some] += np.minimum(counts, k) @ falls
            most = worth + rest - cost[at]
            above[at] = np.minimum(above[at], most)
            open_ = (held < k) & (most >= least)
            at, held, worth = at[open_], held[open_], worth[open_]
            if last == words:
                return
            first, last = last, min(last * LONGER, words)


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
        found: Reals = self.first[:-1] - self.first[1:]
        return found

    def worth(self, counts: NDArray[np.uint8]) -> Reals:
        """What the best k records are worth at most, by how many there are in each word."""
        grown = np.cumsum(counts, axis=1, dtype=np.int32)
        found: Reals = np.minimum(grown, self.k) @ self.falls + self.k * self.first[-1]
        return found

    def exact(self, bits: Words) -> Reals:
        """What the best k records are worth of closures that hold these."""
        held = flags(bits, len(self.value))
        found: Reals = (held & (np.cumsum(held, axis=1) <= self.k)) @ self.value
        return found
