"""Local prices: what the records of a pool are worth together, and which closures that leaves.

No k records of a closure are worth more than they cost there, so the prices of a pool add up to a
lower bound of what it can lose; a closure whose k dearest records are worth less than they cost
there by more than the pool loses above that bound is in no better partition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.repartition.dissolved import Dissolved

ROUGH, FINE = 3, 40
"""Steps over all closures, and over the nearest of them."""
NEAREST = 250
"""Closures that are looked at in fine steps, beside those of the clusters."""
FIRST, LAST = 0.12, 0.01
"""The length of the first step and the last one [mean prices]."""


@dataclass(frozen=True, slots=True)
class _Tops:
    """The k dearest records of every closure, in the order of prices.

    Args:
        order: Records by price, the dearest first.
        price: Their prices.
        held: `held[closure, place]`.
        top: Which of these are among the k dearest of a closure.
        total: What the k dearest are worth.
        last: The place of the cheapest of these.
    """

    order: Numbers
    price: Reals
    held: Flags
    top: Flags
    total: Reals
    last: Numbers

    @classmethod
    def of(cls, held: Flags, price: Reals, *, k: int) -> _Tops:
        order = np.argsort(-price, kind="stable")
        ordered, price = held[:, order], price[order]
        top = ordered & (np.cumsum(ordered, axis=1, dtype=np.int32) <= k)
        last = top.shape[1] - 1 - np.argmax(top[:, ::-1], axis=1)
        return cls(order, price, ordered, top, top @ price, last)


def local_prices(pool: Dissolved, *, k: int) -> tuple[Dissolved, Reals]:
    """The pool with the closures near its prices, and the price of every record.

    Prices begin with what the records cost in the clusters as they are.
    """
    cost = np.append(pool.cost[pool.own], pool.price)[pool.cluster]
    price = _raised(pool, cost.astype(np.float64), k=k, steps=ROUGH)
    slack = slacks(pool, price, k=k)
    pool = pool.only(np.argsort(slack, kind="stable")[:NEAREST])
    # Records that may stand for each other are worth the mean of what they are worth.
    price = pool.level(_raised(pool, pool.level(price), k=k, steps=FINE))
    return pool, np.minimum(price, pool.price) if pool.room >= 0 else price


def slacks(pool: Dissolved, price: Reals, *, k: int) -> Reals:
    """What k records at each closure cost at least above their prices [units]."""
    found: Reals = k * pool.cost - _Tops.of(pool.held, price, k=k).total
    return found


def _raised(pool: Dissolved, price: Reals, *, k: int, steps: int) -> Reals:
    """The best prices of some subgradient steps, less what is worth more than it costs."""
    best, found = -np.inf, price
    way = np.zeros(len(price))
    for length in FIRST * (LAST / FIRST) ** (np.arange(steps) / steps):
        excess, votes = _excess(pool, price, k=k)
        price = price - excess
        if price.sum() > best:
            best, found = price.sum(), price
        way = 0.7 * way + 0.3 * np.maximum(1 - votes, -2)
        price = price + length * max(price.mean(), 1e-9) * way
    return found


def _excess(pool: Dissolved, price: Reals, *, k: int) -> tuple[Reals, Reals]:
    """By how much any k records with each are worth more than they cost, and the votes for each.

    Every record votes for the k records, itself included, for which that is the most.
    """
    tops = _Tops.of(pool.held, price, k=k)
    records = np.arange(len(price))
    mean = tops.total / k - pool.cost
    other = (tops.total - tops.price[tops.last]) / k - pool.cost
    each = np.where(tops.top, mean[:, None], other[:, None] + tops.price / k)
    # A record that no closure holds stays left out, at what that costs.
    nowhere = tops.price - pool.price
    each = np.where(tops.held, each, np.where(tops.held.any(axis=0), -np.inf, nowhere))
    best = each.argmax(axis=0)
    votes = tops.top[best].sum(axis=0).astype(np.float64)
    joins = np.flatnonzero(~tops.top[best, records])
    np.subtract.at(votes, tops.last[best[joins]], 1)
    votes[joins] += 1
    excess, voted = np.empty(len(price)), np.empty(len(price))
    excess[tops.order] = each[best, records]
    voted[tops.order] = votes / k
    return excess, voted
