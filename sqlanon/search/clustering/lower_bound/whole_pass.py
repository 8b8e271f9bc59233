"""One look at all closures, in whole numbers: what a price proves.

Prices are whole numbers of 1 / `parts` of a unit, so every sum here is exact, and what is found is
a proof whatever the prices are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.bitmaps import WORD, BitMaps, Words, flags
from sqlanon.search.clustering.lower_bound.alike import AlikeRecords
from sqlanon.search.clustering.problem import Candidates, ClusteringProblem

BATCH = 2048
"""Candidates whose members are made at once."""
PREFIX = 32
"""Words of the dearest records that are looked at first."""


@dataclass(frozen=True, slots=True)
class Excess:
    """By how much the best k members of closures are worth more than they cost there.

    Args:
        most: Per row the greatest excess of k records that include one of it, over all closures; at
            least minus what was looked for [parts of a unit].
        near: Positions of the closures that were looked at to the end, ascending.
        own: The greatest excess of each of these.
        starts: Where the members of each begin.
        members: Their rows, those of the highest price first.
    """

    most: Numbers
    near: Numbers
    own: Numbers
    starts: Numbers
    members: Numbers


def excess(
    problem: ClusteringProblem,
    candidates: Candidates,
    *,
    alike: AlikeRecords,
    price: Numbers,
    least: tuple[int, int],
) -> Excess:
    """What k records of each closure are worth beyond their cost.

    Args:
        problem: The table.
        candidates: Its closures.
        alike: Its rows.
        price: Per row what a record of it is worth [parts of a unit].
        least: Parts of a unit; and below which (negative) excess of k records a closure is no
            longer looked at [parts of a unit].

    Raises:
        TimeLimitError: The problem's deadline came first.
    """
    parts, lowest = least
    order = np.argsort(-price, kind="stable")
    price, counts = price[order], alike.counts[order]
    best = np.full(len(order), lowest)
    leaves = alike.leaves[order]
    slots = np.repeat(np.arange(len(order)), np.minimum(counts, problem.k))
    dearest = price[
        np.append(slots[: PREFIX * WORD : WORD], slots[min(PREFIX * WORD, len(slots) - 1)])
    ]
    dearest = dearest.astype(np.float64)
    maps = BitMaps.of_candidates(problem.taxonomies, leaves, nodes=candidates.nodes)
    first = maps.of_records(leaves[slots[: PREFIX * WORD]])
    found = []
    room = 1e-9 * problem.k * abs(price).max()
    for start in range(0, len(candidates), BATCH):
        problem.deadline.check()
        part = slice(start, start + BATCH)
        cost = candidates.cost[part] * (parts * problem.k)
        if price[0] * problem.k - cost[0] < lowest:
            break
        nodes, rank = candidates.nodes[part], candidates.rank[part]
        worth = _at_most(first.members(nodes, rank), dearest, k=problem.k)
        kept = np.flatnonzero(worth + room - cost >= lowest)
        if len(kept):
            bits = maps.members(nodes[kept], rank[kept])
            one = _look(bits, cost[kept], price=price, counts=counts, k=problem.k)
            np.maximum.at(best, one[2], one[3])
            found.append((start + kept, one[0], one[1], order[one[2]]))
    most = np.empty_like(best)
    most[order] = best
    if not found:
        none = np.zeros(0, np.int64)
        return Excess(most, none, none, none, none)
    near, own, sizes, members = (np.concatenate(each) for each in zip(*found, strict=True))
    return Excess(most, near, own, np.cumsum(sizes) - sizes, members)


def _at_most(bits: Words, dearest: Reals, *, k: int) -> Reals:
    """An upper bound on what the best k records are worth, as if rows cost what their word's do.

    Args:
        bits: Members among slots, one for each of up to k records of a row.
        dearest: Per word of slots the highest price in it, and that of what comes after all.
        k: How many.
    """
    held = np.minimum(np.cumsum(np.bitwise_count(bits), axis=1, dtype=np.int64), k)
    found: Reals = k * dearest[-1] + held @ (dearest[:-1] - dearest[1:])
    return found


def _look(
    bits: Words, cost: Numbers, *, price: Numbers, counts: Numbers, k: int
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Per closure its excess and how many rows it holds; per row of each its place and excess."""
    closure, place = np.nonzero(flags(bits, len(price)))
    sizes = np.bincount(closure, minlength=len(bits))
    starts = np.cumsum(sizes) - sizes
    held = counts[place]
    before = np.cumsum(held) - held
    before -= before[starts][closure]
    taken = np.clip(k - before, 0, held)
    worth = np.add.reduceat(taken * price[place], starts)
    last = np.minimum.reduceat(np.where(taken > 0, price[place], price[0]), starts)
    own = worth - cost
    others = own - last
    most = np.minimum(own[closure], others[closure] + price[place])
    return own, sizes, place, most
