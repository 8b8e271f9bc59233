"""Records assigned to closures: which closures are open, and k records or more in each.

Groups of dozens of records are too many to be columns. Here a variable says whether a closure is
open, and others how many records of a unit go there; with the open ones given the rest is a flow,
so whole of itself. Its linear relaxation is as strong as that of all columns: for one closure what
may be assigned is a box with a least sum, whose corners are whole.

Source: lower-bounded facility location (Karger and Minkoff 2000; Guha, Meyerson and Munagala 2000).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.repartition.dissolved import Dissolved
from sqlanon.search.clustering.repartition.local_prices import slacks
from sqlanon.search.clustering.repartition.programs import (
    RepartitionProgram,
    coefficients,
    handed_out,
)

CLOSURES = 30
"""Most closures of a program, beside those of the clusters."""
ASSIGNED = 3_000
"""Most pairs of a unit and a closure that a program is made of."""


def assignment_program(
    pool: Dissolved, price: Reals, *, k: int
) -> tuple[RepartitionProgram, Callable[[Reals], Numbers]] | None:
    """The program of a pool at its prices, and what a solution makes of each record.

    None where no closure but those that there are may be in a better partition, or where the
    program would be large. Of a solution each record gets the number of its closure, -1 where it is
    left out.
    """
    slack = slacks(pool, price, k=k)
    slack[pool.own] = np.inf
    near = np.argsort(slack, kind="stable")[:CLOSURES]
    near = near[slack[near] <= pool.loss - float(price.sum())]
    if not len(near):
        return None
    pool = pool.only(near)
    closure, unit = np.nonzero(pool.held[:, pool.first])
    if len(unit) > ASSIGNED:
        return None

    def parts(solution: Reals) -> Numbers:
        count = np.rint(solution[: len(unit)]).astype(np.int64)
        return handed_out(pool, unit, closure, count)

    return _program(pool, unit, closure, k=k), parts


def _program(pool: Dissolved, unit: Numbers, closure: Numbers, *, k: int) -> RepartitionProgram:
    """Variables: records of units at closures, which of these are open, and records left out."""
    sizes, units, closures, pairs = pool.sizes, len(pool.sizes), len(pool.cost), len(unit)
    every, open_ = np.arange(pairs), pairs + np.arange(closures)
    rest = pairs + closures + (np.arange(units) if pool.room >= 0 else np.zeros(0, np.int64))
    # Rows: each unit goes somewhere; k records of each open closure; none of a closed one; how many
    # are left out.
    of_closure, of_pair = units + np.arange(closures), units + closures + every
    last = np.full(len(rest), units + closures + pairs)
    entries = coefficients(
        (unit, every, np.ones(pairs)),
        (of_closure[closure], every, np.ones(pairs)),
        (of_closure, open_, np.full(closures, -float(k))),
        (of_pair, every, np.ones(pairs)),
        (of_pair, open_[closure], -sizes[unit].astype(np.float64)),
        (rest - pairs - closures, rest, np.ones(len(rest))),
        (last, rest, np.ones(len(rest))),
    )
    budget = np.full(int(pool.room >= 0), pool.room)
    nothing, endless = np.zeros(closures), np.full(closures, np.inf)
    least = [sizes, nothing, np.full(pairs, -np.inf), np.zeros(len(budget))]
    most = [sizes, endless, np.zeros(pairs), budget]
    cost = [pool.cost[closure], nothing, np.full(len(rest), pool.price)]
    largest = [sizes[unit], np.ones(closures), sizes[rest - pairs - closures]]
    whole = np.zeros(pairs + closures + len(rest), np.bool_)
    whole[open_] = True
    return RepartitionProgram(
        np.concatenate(cost).astype(np.float64),
        np.concatenate(largest).astype(np.float64),
        whole,
        np.concatenate(least).astype(np.float64),
        np.concatenate(most).astype(np.float64),
        *entries,
        _as_it_is(pool, unit, closure, variables=len(whole)),
    )


def _as_it_is(pool: Dissolved, unit: Numbers, closure: Numbers, *, variables: int) -> Reals:
    """The clusters as they are, as a solution."""
    start, pairs, closures = np.zeros(variables), len(unit), len(pool.cost)
    place = np.full(pool.held.shape[:1] + pool.sizes.shape, -1)
    place[closure, unit] = np.arange(pairs)
    inside = pool.cluster >= 0
    own = pool.own[pool.cluster[inside]]
    np.add.at(start, place[own, pool.unit[inside]], 1)
    start[pairs + pool.own] = 1
    if pool.room >= 0:
        np.add.at(start, pairs + closures + pool.unit[~inside], 1)
    return start
