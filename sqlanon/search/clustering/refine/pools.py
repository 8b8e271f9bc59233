"""Pools: small groups of similar clusters, and the closures that may cover their records.

A *pool* is the records of a few similar clusters. Its *boxes* are closures of its records that hold
at least k of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.bitmaps import WORD, Words, counted
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.search.clustering.refine.closures import Joins

PAIR_BITS = 11
PAIRS = 2**PAIR_BITS
"""Most pairs of records whose closures are looked at in a pool."""
BOXES = 160
"""Most boxes of a pool that are tried."""
NO_LOSS = 2**62
"""Above every loss: of no box, or of a trial that was given up [units]."""


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


def boxes_of(
    problem: ClusteringProblem, pools: Pools, *, joins: Joins, random: np.random.Generator
) -> Boxes:
    """The boxes of pools: closures of pairs of records, and the ones that are given.

    Pairs are picked at random where there are too many, and boxes likewise.
    """
    pool, nodes = _pair_closures(pools, joins, random=random)
    count, given = pools.own.shape[:2]
    pool = np.concatenate([np.repeat(np.arange(count), given), pool])
    nodes = np.concatenate([pools.own.reshape(count * given, -1), nodes])
    bits = _members(problem, pools, pool=pool, nodes=nodes)
    size = counted(bits)
    kept = np.flatnonzero(size >= problem.k)
    kept = kept[_first_of_each(pool[kept], joins.keys_of(nodes[kept]))]
    other = kept >= count * given
    kept = kept[np.lexsort((random.random(len(kept)), other, pool[kept]))]
    kept = kept[_place(pool[kept]) < BOXES]
    cost = problem.cost(nodes[kept])
    if problem.highest:
        allowed = ~problem.forbids(cost)
        kept, cost = kept[allowed], cost[allowed]
    order = np.lexsort((size[kept], cost, pool[kept]))
    kept, cost = kept[order], cost[order]
    pool, place = pool[kept], _place(pool[kept])
    shape = (count, int(place.max(initial=0)) + 1)
    padded = np.zeros((*shape, pools.words), np.uint64)
    costs = np.full(shape, NO_LOSS)
    padded[pool, place], costs[pool, place] = bits[kept], cost
    return Boxes(padded, costs)


def _pair_closures(
    pools: Pools, joins: Joins, *, random: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """The different closures of pairs of records: their pools and node tuples.

    The low bits of a key give way to the number of the pair, so that one sort brings equal closures
    together; a closure that is taken for another one is one trial less.
    """
    first, second = np.triu_indices(pools.records.shape[1])
    if len(first) > PAIRS:
        chosen = random.integers(0, len(first), PAIRS)
        first, second = first[chosen], second[chosen]
    leaves = np.ascontiguousarray(pools.leaves.transpose(2, 0, 1))
    keys = np.zeros((len(pools.records), len(first)), np.uint64)
    for column, own in enumerate(leaves):
        keys += joins.keys(column, own.take(first, axis=1), second=own.take(second, axis=1))
    keys <<= np.uint64(PAIR_BITS)
    keys |= np.arange(len(first), dtype=np.uint64)
    keys.sort(axis=1)
    fresh = np.ones(keys.shape, np.bool_)
    fresh[:, 1:] = keys[:, 1:] >> np.uint64(PAIR_BITS) != keys[:, :-1] >> np.uint64(PAIR_BITS)
    pool, place = np.nonzero(fresh)
    pair = (keys[pool, place] & np.uint64(PAIRS - 1)).astype(np.int64)
    columns = [
        joins.of(column, own[pool, first[pair]], second=own[pool, second[pair]])
        for column, own in enumerate(leaves)
    ]
    return pool, np.stack(columns, axis=1)


def _first_of_each(pool: Numbers, keys: Words) -> Numbers:
    """Positions of the first occurrence of each key within its pool."""
    order = np.lexsort((keys, pool))
    repeated = np.zeros(len(order), np.bool_)
    repeated[1:] = (keys[order][1:] == keys[order][:-1]) & (pool[order][1:] == pool[order][:-1])
    return np.sort(order[~repeated])


def _members(problem: ClusteringProblem, pools: Pools, *, pool: Numbers, nodes: Numbers) -> Words:
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
