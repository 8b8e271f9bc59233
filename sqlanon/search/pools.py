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
TABLE = 2**22
"""Most entries of a table of closures."""
FAR = np.int64(2**62)


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
            found: Numbers = table[first, second]
            return found
        low, high = np.minimum(first, second), np.maximum(first, second)
        return self._taxonomies[column].closure(low, high)

    def costs(self, some: Numbers, nodes: Numbers) -> Numbers:
        """What a record at the closure of each pair of node tuples costs [units].

        Args:
            some: Node tuples, shape `(some, columns)`.
            nodes: Node tuples, shape `(tuples, columns)`.
        """
        total = np.zeros((len(some), len(nodes)), np.int64)
        for column, taxonomy in enumerate(self._taxonomies):
            table = self._costs[column]
            if table is not None:
                total += table[some[:, column]][:, nodes[:, column]]
            else:
                total += taxonomy.cost[taxonomy.join(some[:, column, None], nodes[None, :, column])]
        return total


def _join_costs(taxonomy: Taxonomy) -> Numbers | None:
    """What the closure of two nodes costs, as a table; None where it would be large."""
    nodes = np.arange(len(taxonomy.cost))
    if len(nodes) ** 2 > TABLE:
        return None
    first, second = np.meshgrid(nodes, nodes)
    return taxonomy.cost[taxonomy.join(first, second)]


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
        return -(-self.records.shape[1] // WORD)


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
    pool, nodes, given, bits, size = (x[kept] for x in (pool, nodes, given, bits, size))
    thinned = np.lexsort((random.random(len(pool)), ~given, pool))
    thinned = thinned[_place(pool[thinned]) < BOXES]
    pool, nodes, bits, size = (x[thinned] for x in (pool, nodes, bits, size))
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
    found = np.empty((len(pools.records), len(first), pools.leaves.shape[2]), np.int32)
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
        loss: What the pool then loses, shape `(pools, boxes)` [units]; `FAR` where records remain.
        open: Which boxes are open, shape `(pools, trials, boxes)`.
        forced: The places that the forced box took, shape `(pools, trials, words)`.
    """

    loss: Numbers
    open: Mask
    forced: Words


def try_all(pools: Pools, boxes: Boxes, k: int) -> Trials:
    """Forces each box of each pool in turn, and covers the rest directly.

    What is left of a box never grows, so one pass over the boxes in the order of their costs finds
    what always taking the cheapest one does.
    """
    forced = first_bits(boxes.bits, pools.records.shape[1], k)
    left = _valid(pools)[:, None, :] & ~forced
    loss = k * np.where(boxes.cost == FAR, 0, boxes.cost)
    count = boxes.cost.shape[1]
    opened = np.zeros((len(boxes.cost), count, count), np.bool_)
    for box in range(count):
        taken = left & boxes.bits[:, None, box]
        size = counted(taken)
        enough = size >= k
        enough[:, box] = size[:, box] > 0
        opened[:, :, box] = enough
        left ^= np.where(enough[:, :, None], taken, 0)
        loss += np.where(enough, size, 0) * boxes.cost[:, None, box]
    opened[:, np.arange(count), np.arange(count)] = True
    failed = left.any(axis=2) | (boxes.cost == FAR)
    return Trials(np.where(failed, FAR, loss), opened, forced)


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
    return found
