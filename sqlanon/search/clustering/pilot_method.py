"""Pilot method (Duin and Voß 1999): small groups of clusters covered anew, many at once.

A *pool* is the records of a few similar clusters. Its *boxes* are closures of its records that hold
at least k of them. A *trial* forces one box of a pool to open with the k dearest records that it
holds; the rest is then covered directly: cheapest box first, each with all that it holds, as long
as that is k records; what remains is united with the records of the box that was opened last, or
left out where that has a price and is cheaper. All boxes of a pool are tried.

The pilot method forces the choice that a greedy method starts with and keeps the best outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.bitmaps import WORD, Words, bits_of, counted, flags
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.clustering_problem import ClusteringProblem

PAIR_BITS = 11
MAX_PAIRS = 2**PAIR_BITS
"""Most pairs of records whose closures are looked at in a pool."""
MAX_BOXES = 160
"""Most boxes of a pool that are tried."""
NO_LOSS = 2**62
"""Above every loss: of no box, or of a trial that was given up [units]."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Pools side by side, padded to one shape.

    Args:
        records: Record numbers, shape `(pools, places)`, those worth most first; -1 pads.
        leaves: Their leaves, shape `(pools, places, columns)`.
        fixed: Node tuples that become boxes whatever else, shape `(pools, some, columns)`.
    """

    records: Numbers
    leaves: Numbers
    fixed: Numbers

    @property
    def words(self) -> int:
        """Words of a bit map over the places of a pool."""
        return -(-int(self.records.shape[1]) // WORD)


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes of each pool by cost, padded to one shape with boxes that hold nothing.

    Args:
        bits: The places that each holds, shape `(pools, boxes, words)`.
        cost: What a record costs in each [units], shape `(pools, boxes)`.
        nodes: The node tuples of all of them, shape `(boxes of all pools, columns)`.
    """

    bits: Words
    cost: Numbers
    nodes: Numbers


def boxes_of(
    problem: ClusteringProblem, pools: Pools, *, joins: Joins, random: np.random.Generator
) -> Boxes:
    """The boxes of pools: closures of pairs of records, and the ones that are given.

    Pairs are picked at random where there are too many, and boxes likewise.
    """
    pool, nodes = _pair_closures(pools, joins, random=random)
    count, given = pools.fixed.shape[:2]
    pool = np.concatenate([np.repeat(np.arange(count), given), pool])
    nodes = np.concatenate([pools.fixed.reshape(count * given, -1), nodes])
    bits = _members(problem, pools, pool=pool, nodes=nodes)
    size = counted(bits)
    kept = np.flatnonzero(size >= problem.k)
    kept = kept[_first_per_key(pool[kept], joins.keys_of(nodes[kept]))]
    other = kept >= count * given
    kept = kept[np.lexsort((random.random(len(kept)), other, pool[kept]))]
    kept = kept[places(pool[kept])[0] < MAX_BOXES]
    cost = problem.cost(nodes[kept])
    if problem.highest:
        allowed = ~problem.forbids(cost)
        kept, cost = kept[allowed], cost[allowed]
    order = np.lexsort((size[kept], cost, pool[kept]))
    kept, cost = kept[order], cost[order]
    pool, (place, _) = pool[kept], places(pool[kept])
    shape = (count, int(place.max(initial=0)) + 1)
    padded = np.zeros((*shape, pools.words), np.uint64)
    costs = np.full(shape, NO_LOSS)
    padded[pool, place], costs[pool, place] = bits[kept], cost
    return Boxes(padded, costs, nodes[kept])


def _pair_closures(
    pools: Pools, joins: Joins, *, random: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """The different closures of pairs of records: their pools and node tuples.

    The low bits of a key give way to the number of the pair, so that one sort brings equal closures
    together; a closure that is taken for another one is one trial less.
    """
    first, second = np.triu_indices(pools.records.shape[1])
    if len(first) > MAX_PAIRS:
        chosen = random.integers(0, len(first), MAX_PAIRS)
        first, second = first[chosen], second[chosen]
    leaves = np.ascontiguousarray(pools.leaves.transpose(2, 0, 1))
    keys = np.zeros((len(pools.records), len(first)), np.uint64)
    for column, leaf in enumerate(leaves):
        keys += joins.keys(column, leaf, first=first, second=second)
    keys <<= np.uint64(PAIR_BITS)
    keys |= np.arange(len(first), dtype=np.uint64)
    keys.sort(axis=1)
    fresh = np.ones(keys.shape, np.bool_)
    fresh[:, 1:] = keys[:, 1:] >> np.uint64(PAIR_BITS) != keys[:, :-1] >> np.uint64(PAIR_BITS)
    pool, place = np.nonzero(fresh)
    pair = (keys[pool, place] & np.uint64(MAX_PAIRS - 1)).astype(np.int64)
    columns = [
        joins.of(column, leaf[pool, first[pair]], second=leaf[pool, second[pair]])
        for column, leaf in enumerate(leaves)
    ]
    return pool, np.stack(columns, axis=1)


def _first_per_key(pool: Numbers, keys: Words) -> Numbers:
    """Positions of the first occurrence of each key within its pool."""
    order = np.lexsort((keys, pool))
    repeated = np.zeros(len(order), np.bool_)
    repeated[1:] = (keys[order][1:] == keys[order][:-1]) & (pool[order][1:] == pool[order][:-1])
    return np.sort(order[~repeated])


def _members(problem: ClusteringProblem, pools: Pools, *, pool: Numbers, nodes: Numbers) -> Words:
    """The places that boxes hold, shape `(boxes, words)`."""
    owner, place = np.nonzero(pools.records >= 0)
    bit = np.uint64(1) << (place % WORD).astype(np.uint64)
    count, words = len(pools.records), pools.words
    bits: Words | None = None
    for column, taxonomy in enumerate(problem.taxonomies):
        leaves, size = pools.leaves[owner, place, column], len(taxonomy.cost)
        maps = np.zeros((count * size, words), np.uint64)
        # A single index is what numpy has a fast loop for.
        for level in taxonomy.ancestors:
            word = (owner * size + level[leaves]) * words + place // WORD
            np.bitwise_or.at(maps.reshape(-1), word, bit)
        column_bits = maps.take(pool * size + nodes[:, column], axis=0)
        bits = column_bits if bits is None else bits & column_bits
    assert bits is not None
    return bits


def places(ordered: Numbers) -> tuple[Numbers, Numbers]:
    """The place of each element among its equals, which are neighbours, and how many these are."""
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])[: len(ordered)]
    sizes = np.diff(np.r_[starts, len(ordered)])
    return np.arange(len(ordered)) - np.repeat(starts, sizes), np.repeat(sizes, sizes)


BOXES_BETWEEN_LOOKS = 16
"""Boxes that a trial passes until it may be given up."""


@dataclass(frozen=True, slots=True)
class Trials:
    """One trial for each box of each pool.

    Args:
        loss: What the pool then loses, shape `(pools, trials)` [units]; `NO_LOSS` for a trial that
            was given up.
        open: Which boxes are open, shape `(pools, trials, boxes)`.
        forced: The places that the forced box took, shape `(pools, trials, words)`.
        partner: The open box whose records were united with what remained.
        left: How many records were left out instead.
    """

    loss: Numbers
    open: Flags
    forced: Words
    partner: Numbers
    left: Numbers


def try_all(
    pools: Pools, boxes: Boxes, *, k: int, now: Numbers, price: int | None = None
) -> Trials:
    """Forces each box of each pool in turn, and covers the rest directly.

    What is left of a box never grows, so one pass over the boxes in the order of their costs finds
    what always taking the cheapest one does.

    Args:
        pools: The pools.
        boxes: Their boxes.
        k: Smallest cluster allowed.
        now: What each pool loses now [units]; trials that lose as much are given up.
        price: What a record costs that is left out [units]; None where none may be.
    """
    dearest = flags(boxes.bits, pools.records.shape[1])
    dearest &= np.cumsum(dearest, axis=-1, dtype=np.int32) <= k
    forced = bits_of(dearest)
    pool, trial = np.nonzero(boxes.cost < NO_LOSS)
    started = forced[pool, trial]
    run = _Run(boxes, pool, trial=trial, k=k, left=bits_of(pools.records >= 0)[pool] & ~started)
    for box in range(boxes.cost.shape[1]):
        if box % BOXES_BETWEEN_LOOKS == 0:
            run.give_up(box, now)
        run.open(box)
    run.unite_rest(started, now, price)
    loss, partner = np.full(boxes.cost.shape, NO_LOSS), np.zeros(boxes.cost.shape, np.int64)
    opened = np.zeros((*boxes.cost.shape, boxes.cost.shape[1]), np.bool_)
    left = np.zeros(boxes.cost.shape, np.int64)
    loss[pool, trial], partner[pool, trial] = run.loss, run.partner
    opened[pool, trial], left[pool, trial] = run.opened.T, run.left_out
    return Trials(loss, opened, forced, partner, left)


class _Run:
    """Trials side by side, as they pass the boxes.

    Bit maps have their words along the first axis, so that sums over words are sums of rows.

    Args:
        boxes: The boxes of all pools.
        pool: Per trial its pool.
        trial: Per trial the box that it forces.
        k: Smallest cluster allowed.
        left: The places that no box has yet, shape `(trials, words)`.
    """

    def __init__(self, boxes: Boxes, pool: Numbers, *, trial: Numbers, k: int, left: Words) -> None:
        self._bits = np.ascontiguousarray(boxes.bits.transpose(1, 2, 0))
        self._cost = np.ascontiguousarray(boxes.cost.T)
        self._pool, self._trial, self._k = pool, trial, k
        self._left = np.ascontiguousarray(left.T)
        self.loss = k * boxes.cost[pool, trial]
        self.partner = trial.copy()
        self.opened = np.zeros((len(self._cost), len(pool)), np.bool_)
        self.left_out = np.zeros(len(pool), np.int64)
        # What the box that was opened last took.
        self._last = np.zeros_like(self._left)
        self._look_at(np.arange(len(pool)))

    def give_up(self, box: int, now: Numbers) -> None:
        """Goes on with the trials that have records left and may still come to less."""
        self._left[:, self._active] = self._view
        size = counted(self._left, axis=0)
        rest = np.maximum(size - self._k, 0) * np.minimum(
            self._cost[box, self._pool], NO_LOSS >> 32
        )
        hopeless = (size > 0) & (self.loss + rest >= now[self._pool])
        self.loss[hopeless] = NO_LOSS
        self._left[:, hopeless] = 0
        self._look_at(np.flatnonzero(self._left.any(axis=0)))

    def _look_at(self, active: Numbers) -> None:
        """Goes on with these trials."""
        self._active, self._view = active, self._left[:, active]
        self._active_pool, self._active_trial = self._pool[active], self._trial[active]

    def open(self, box: int) -> None:
        """Opens a box where k records are left of it; the forced one takes what is left of it."""
        taken = self._bits[box].take(self._active_pool, axis=1)
        taken &= self._view
        size = counted(taken, axis=0)
        enough = size >= self._k
        enough |= self._active_trial == box
        chosen = np.flatnonzero(enough)
        trials = self._active[chosen]
        self._view[:, chosen] ^= taken[:, chosen]
        self.loss[trials] += size[chosen] * self._cost[box, self._active_pool[chosen]]
        self.opened[box, trials] = True
        self.partner[trials] = box
        self._last[:, trials] = taken[:, chosen]

    def unite_rest(self, forced: Words, now: Numbers, price: int | None) -> None:
        """Unites what remains with the records of the box that was opened last, or leaves it out.

        The cheapest box that holds them all comes no sooner than the one opened last, which was the
        cheapest that held k of them, unless that was forced. Trials are given up that lose as much
        as now.

        Args:
            forced: What the forced box took at first, shape `(trials, words)`.
            now: What each pool loses now [units].
            price: What a record costs that is left out [units]; None where none may be.
        """
        self._left[:, self._active] = self._view
        self.opened[self._trial, np.arange(len(self._trial))] = True
        rest = np.flatnonzero(self._left.any(axis=0))
        pool, partner = self._pool[rest], self.partner[rest]
        is_forced = partner == self._trial[rest]
        taken = self._last[:, rest] | np.where(is_forced, forced[rest].T, np.uint64(0))
        need = taken | self._left[:, rest]
        size, most = counted(need, axis=0), now[pool]
        others = self.loss[rest] - self._cost[partner, pool] * counted(taken, axis=0)
        united = np.full(len(rest), NO_LOSS)
        first = np.where(is_forced, 0, partner)
        waiting = np.flatnonzero(others + self._cost[first, pool] * size < most)
        for box in range(int(first[waiting].min(initial=len(self._cost))), len(self._cost)):
            total = others[waiting] + self._cost[box, pool[waiting]] * size[waiting]
            lacking = need[:, waiting] & ~self._bits[box].take(pool[waiting], axis=1)
            fits = ~lacking.any(axis=0)
            united[waiting[fits]] = total[fits]
            waiting = waiting[~fits & (total < most[waiting])]
            if not len(waiting):
                break
        if price is not None:
            left = counted(self._left[:, rest], axis=0)
            out = self.loss[rest] + left * price
            self.left_out[rest] = np.where(out < united, left, 0)
            united = np.minimum(out, united)
        self.loss[rest] = united


def replay(pools: Pools, boxes: Boxes, *, trials: Trials, chosen: Numbers) -> Numbers:
    """The box of each place after a chosen trial of each pool, `(pools, places)`.

    -1 stands for what is left out, and for a pad.
    """
    pool, places = np.arange(len(chosen)), pools.records.shape[1]
    first = flags(trials.forced[pool, chosen], places)
    owner = np.where(first, chosen[:, None], -1)
    free = ~first & (pools.records >= 0)
    opened = trials.open[pool, chosen]
    for box in range(opened.shape[1]):
        some = np.flatnonzero(opened[:, box])
        if len(some):
            taken = flags(boxes.bits[some, box], places) & free[some]
            owner[some] = np.where(taken, box, owner[some])
            free[some] &= ~taken
    partner = np.where(trials.left[pool, chosen], -1, trials.partner[pool, chosen])
    return np.where(free, partner[:, None], owner)
