"""Small groups of clusters that are dissolved and covered anew, many at once.

A *pool* is the records of a few similar clusters. Its *boxes* are closures of its records that hold
at least k of them. A *trial* forces one box to open with the k dearest records that it holds; the
rest is then covered directly: cheapest box first, each with all that it holds, as long as that is
k records; what remains joins the cheapest open box that holds it. All boxes of a pool are tried.

Forcing the choice that a greedy method starts with and keeping the best outcome is the pilot method
(Duin and Voß 1999); dissolving and covering parts anew is large neighbourhood search (Shaw 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.clusters import Mask, Problem
from sqlanon.search.memberships import WORD, Words, counted, flags
from sqlanon.search.taxonomy import Numbers, Taxonomy

PAIRS = 4096
"""Most pairs of records whose closures are looked at in a pool."""
BOXES = 160
"""Most boxes of a pool that are tried."""
LOOK = 16
"""Boxes that a trial passes until it may be given up."""
TABLE = 2**22
"""Most entries of a table of closures."""
FAR = 2**62
"""A loss above all others."""
Floats = NDArray[np.float32]


class Closures:
    """The closure of two leaves and what that of two nodes costs, by tables where they fit."""

    def __init__(self, taxonomies: Sequence[Taxonomy]) -> None:
        self._taxonomies = taxonomies
        self._tables: list[NDArray[np.int32] | None] = []
        for taxonomy in taxonomies:
            leaf = np.arange(taxonomy.leaves)
            pairs = np.meshgrid(leaf, leaf) if taxonomy.leaves**2 <= TABLE else None
            self._tables.append(
                taxonomy.closure(np.minimum(*pairs), np.maximum(*pairs)).astype(np.int32)
                if pairs
                else None
            )
        self._costs = [_join_costs(taxonomy) for taxonomy in taxonomies]

    def of(self, column: int, first: Numbers, second: Numbers) -> Numbers:
        """The lowest node that holds both leaves, element by element."""
        table = self._tables[column]
        if table is not None:
            found: Numbers = table[first, second].astype(np.int64)
            return found
        low, high = np.minimum(first, second), np.maximum(first, second)
        return self._taxonomies[column].closure(low, high)

    def costs(self, some: Numbers, nodes: Numbers) -> Floats:
        """About what a record at the closure of each pair of node tuples costs [units].

        Args:
            some: Node tuples, shape `(some, columns)`.
            nodes: Node tuples, shape `(tuples, columns)`.
        """
        total = np.zeros((len(some), len(nodes)), np.float32)
        for column, taxonomy in enumerate(self._taxonomies):
            table = self._costs[column]
            if table is not None:
                total += table[some[:, column]].take(nodes[:, column], axis=1)
            else:
                total += taxonomy.cost[taxonomy.join(some[:, column, None], nodes[None, :, column])]
        return total


def _join_costs(taxonomy: Taxonomy) -> Floats | None:
    """What the closure of two nodes costs, as a table; None where it would be large."""
    nodes = np.arange(len(taxonomy.cost))
    if len(nodes) ** 2 > TABLE:
        return None
    first, second = np.meshgrid(nodes, nodes)
    return taxonomy.cost[taxonomy.join(first, second)].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Pools:
    """Pools side by side, padded to one shape.

    Args:
        records: Record numbers, shape `(pools, places)`, those worth most first; -1 pads.
        leaves: Their leaves, shape `(pools, places, columns)`.
        own: Node tuples that become boxes whatever else, shape `(pools, some, columns)`.
    """

    records: Numbers
    leaves: Numbers
    own: Numbers

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
    """

    bits: Words
    cost: Numbers


def boxes_of(problem: Problem, pools: Pools, joins: Closures, random: np.random.Generator) -> Boxes:
    """The boxes of pools: closures of pairs of records, and the ones that are given.

    Args:
        problem: The table.
        pools: The pools.
        joins: The closures of two leaves.
        random: What picks pairs where there are too many, and boxes likewise.
    """
    nodes = _pair_closures(pools, joins, random)
    nodes = np.concatenate([pools.own, nodes], axis=1)
    pool, nodes, given = _distinct(nodes, pools.own.shape[1])
    bits = _members(problem, pools, pool, nodes)
    size = counted(bits)
    kept = size >= problem.k
    pool, nodes, given, bits, size = pool[kept], nodes[kept], given[kept], bits[kept], size[kept]
    thinned = np.lexsort((random.random(len(pool)), ~given, pool))
    thinned = thinned[_place(pool[thinned]) < BOXES]
    pool, nodes, bits, size = pool[thinned], nodes[thinned], bits[thinned], size[thinned]
    cost = problem.cost(nodes)
    order = np.lexsort((size, cost, pool))
    pool, bits, cost = pool[order], bits[order], cost[order]
    place = _place(pool)
    shape = (len(pools.records), int(place.max(initial=0)) + 1)
    padded = np.zeros((*shape, pools.words), np.uint64)
    costs = np.full(shape, FAR)
    padded[pool, place], costs[pool, place] = bits, cost
    return Boxes(padded, costs)


def _pair_closures(pools: Pools, joins: Closures, random: np.random.Generator) -> Numbers:
    """Closures of pairs of records, shape `(pools, pairs, columns)`; a pad repeats the first."""
    places = pools.records.shape[1]
    first, second = np.triu_indices(places)
    if len(first) > PAIRS:
        chosen = random.integers(0, len(first), PAIRS)
        first, second = first[chosen], second[chosen]
    found = np.empty((len(pools.records), len(first), pools.leaves.shape[2]), np.int64)
    for column in range(pools.leaves.shape[2]):
        leaves = pools.leaves[:, :, column]
        found[:, :, column] = joins.of(column, leaves[:, first], leaves[:, second])
    return found


def _distinct(nodes: Numbers, given: int) -> tuple[Numbers, Numbers, Mask]:
    """Each node tuple of a pool once: its pool, its nodes, and whether it is a given one.

    Node tuples are told apart by a hash of 64 bits; one that is missed is one trial less.
    """
    odd = np.random.default_rng(0).integers(0, 2**63, nodes.shape[2], np.uint64) * 2 + 1
    keys = np.zeros(nodes.shape[:2], np.uint64)
    for column, factor in enumerate(odd):
        keys += nodes[:, :, column].astype(np.uint64) * factor
    order = np.argsort(keys, axis=1, kind="stable")
    keys = np.take_along_axis(keys, order, axis=1)
    fresh = np.ones(keys.shape, np.bool_)
    fresh[:, 1:] = keys[:, 1:] != keys[:, :-1]
    pool, place = np.nonzero(fresh)
    place = order[pool, place]
    return pool, nodes[pool, place], place < given


def _members(problem: Problem, pools: Pools, pool: Numbers, nodes: Numbers) -> Words:
    """The places that boxes hold, shape `(boxes, words)`."""
    owner, place = np.nonzero(pools.records >= 0)
    bit = np.uint64(1) << (place % WORD).astype(np.uint64)
    bits: Words | None = None
    for column, taxonomy in enumerate(problem.taxonomies):
        leaves = pools.leaves[owner, place, column]
        maps = np.zeros((len(pools.records), len(taxonomy.cost), pools.words), np.uint64)
        for level in taxonomy.ancestors:
            np.bitwise_or.at(maps, (owner, level[leaves], place // WORD), bit)
        held = maps[pool, nodes[:, column]]
        bits = held if bits is None else bits & held
    assert bits is not None
    return bits


def _place(group: Numbers) -> Numbers:
    """The place of each element within its group; groups are neighbours."""
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else group
    sizes = np.diff(np.r_[starts, len(group)])
    return np.arange(len(group)) - np.repeat(starts, sizes)


@dataclass(frozen=True, slots=True)
class Trials:
    """One trial for each box of each pool.

    Args:
        loss: What the pool then loses, shape `(pools, trials)` [units]; too much for a trial that
            was given up.
        open: Which boxes are open, shape `(pools, trials, boxes)`.
        forced: The places that the forced box took, shape `(pools, trials, words)`.
        partner: The open box whose records were united with what remained.
    """

    loss: Numbers
    open: Mask
    forced: Words
    partner: Numbers


def try_all(pools: Pools, boxes: Boxes, k: int, now: Numbers) -> Trials:
    """Forces each box of each pool in turn, and covers the rest directly.

    What is left of a box never grows, so one pass over the boxes in the order of their costs finds
    what always taking the cheapest one does.

    Args:
        pools: The pools.
        boxes: Their boxes.
        k: Smallest cluster allowed.
        now: What each pool loses now [units]; trials that lose as much are given up.
    """
    forced = first_bits(boxes.bits, pools.records.shape[1], k)
    pool, trial = np.nonzero(boxes.cost < FAR)
    started = forced[pool, trial]
    run = _Run(boxes, pool, trial, k, _valid(pools)[pool] & ~started)
    for box in range(boxes.cost.shape[1]):
        if box % LOOK == 0:
            run.give_up(box, now)
        run.open(box)
    run.unite_rest(started, now)
    loss, partner = np.full(boxes.cost.shape, FAR), np.zeros(boxes.cost.shape, np.int64)
    opened = np.zeros((*boxes.cost.shape, boxes.cost.shape[1]), np.bool_)
    loss[pool, trial], partner[pool, trial] = run.loss, run.partner
    opened[pool, trial] = run.opened.T
    return Trials(loss, opened, forced, partner)


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

    def __init__(self, boxes: Boxes, pool: Numbers, trial: Numbers, k: int, left: Words) -> None:
        self._bits = np.ascontiguousarray(boxes.bits.transpose(1, 2, 0))
        self._cost = np.ascontiguousarray(boxes.cost.T)
        self._pool, self._trial, self._k = pool, trial, k
        self._left = np.ascontiguousarray(left.T)
        self.loss = k * boxes.cost[pool, trial]
        self.partner = trial.copy()
        self.opened = np.zeros((len(self._cost), len(pool)), np.bool_)
        self._active = np.arange(len(pool))
        self._view = self._left

    def give_up(self, box: int, now: Numbers) -> None:
        """Goes on with the trials that have records left and may still come to less."""
        self._left[:, self._active] = self._view
        size = _sizes(self._left)
        rest = np.maximum(size - self._k, 0) * np.minimum(self._cost[box, self._pool], FAR >> 32)
        hopeless = (size > 0) & (self.loss + rest >= now[self._pool])
        self.loss[hopeless] = FAR
        self._left[:, hopeless] = 0
        self._active = np.flatnonzero(self._left.any(axis=0))
        self._view = self._left[:, self._active]

    def open(self, box: int) -> None:
        """Opens a box where k records are left of it; the forced one takes what is left of it."""
        pool = self._pool[self._active]
        taken = self._view & self._bits[box][:, pool]
        size = _sizes(taken)
        enough = size >= self._k
        enough |= self._trial[self._active] == box
        chosen = np.flatnonzero(enough)
        trials = self._active[chosen]
        self._view[:, chosen] ^= taken[:, chosen]
        self.loss[trials] += size[chosen] * self._cost[box, pool[chosen]]
        self.opened[box, trials] = True
        self.partner[trials] = box

    def unite_rest(self, forced: Words, now: Numbers) -> None:
        """Unites what remains with the records of the box that was opened last.

        Args:
            forced: What the forced box took at first, shape `(trials, words)`.
            now: What each pool loses now [units].
        """
        self._left[:, self._active] = self._view
        self.opened[self._trial, np.arange(len(self._trial))] = True
        rest = np.flatnonzero(self._left.any(axis=0))
        pool, partner = self._pool[rest], self.partner[rest]
        held = self._held_last(rest, forced[rest].T)
        need = held | self._left[:, rest]
        cost = np.full(len(rest), FAR)
        for box in reversed(range(len(self._cost))):
            fits = ~(need & ~self._bits[box][:, pool]).any(axis=0)
            cost[fits] = self._cost[box, pool][fits]
        found = cost < FAR
        loss = self.loss[rest] - self._cost[partner, pool] * _sizes(held)
        loss += np.where(found, cost, 0) * _sizes(need)
        self.loss[rest] = np.where(found, loss, FAR)

    def _held_last(self, rest: Numbers, forced: Words) -> Words:
        """What the last box of some trials took."""
        pool, partner = self._pool[rest], self.partner[rest]
        own = partner == self._trial[rest]
        gone = np.where(own, np.uint64(0), forced)
        for box in range(int(partner.max(initial=0))):
            other = self.opened[box, rest] & (box < partner)
            gone |= np.where(other, self._bits[box][:, pool], np.uint64(0))
        held: Words = self._bits[partner, :, pool].T & ~gone
        return np.where(own, held | forced, held)


def _sizes(bits: Words) -> Numbers:
    """Number of bits set, over the words along the first axis."""
    sizes: Numbers = np.bitwise_count(bits).sum(axis=0, dtype=np.int64)
    return sizes


def _valid(pools: Pools) -> Words:
    """The places that hold a record, shape `(pools, words)`."""
    spare = pools.words * WORD - pools.records.shape[1]
    held = np.pad(pools.records >= 0, ((0, 0), (0, spare)))
    return np.packbits(held, axis=1, bitorder="little").view(np.uint64)


def first_bits(bits: Words, places: int, k: int) -> Words:
    """The first k bits of each bit map."""
    held = flags(bits, places)
    held &= np.cumsum(held, axis=-1, dtype=np.int32) <= k
    spare = bits.shape[-1] * WORD - places
    held = np.pad(held, [(0, 0)] * (held.ndim - 1) + [(0, spare)])
    return np.packbits(held, axis=-1, bitorder="little").view(np.uint64)


def replay(pools: Pools, boxes: Boxes, trials: Trials, pool: int, trial: int) -> Numbers:
    """The box of each place after a trial; -1 for a pad."""
    places = pools.records.shape[1]
    found = np.full(places, -1, np.int64)
    found[flags(trials.forced[pool, trial], places)] = trial
    for box in np.flatnonzero(trials.open[pool, trial]):
        found[flags(boxes.bits[pool, box], places) & (found < 0)] = box
    found[(found < 0) & (pools.records[pool] >= 0)] = trials.partner[pool, trial]
    return found
