"""Set partitioning by columns: groups of a few more than k records that may become clusters.

The price of a pool's records bounds what it can lose, so of all groups of the dearest records of a
closure only those matter that cost little more than they are worth; where no more of them are
within the gap than `MOST`, and clusters have few records more than k, a best partition is one of
the program's solutions.

Source: Balas and Padberg 1976 (set partitioning); Dantzig and Wolfe 1960 (columns by their reduced
cost).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.search.clustering.repartition.dissolved import Dissolved
from sqlanon.search.clustering.repartition.local_prices import slacks
from sqlanon.search.clustering.repartition.programs import (
    RepartitionProgram,
    coefficients,
    handed_out,
)

MOST = 1_500
"""Most columns, beside the clusters as they are."""
GROUPS, SPARE, MORE = 400, 8, 2
"""Most groups of a closure, records beyond k that they are drawn from, and records more than k that
a group has, at most."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Groups of as many records each.

    Args:
        units: The units of each group, ascending, shape `(groups, records)`.
        cost: What each costs [units].
        above: By how much that is more than they are worth [units].
    """

    units: Numbers
    cost: Numbers
    above: Reals

    def of(self, chosen: Flags | Numbers) -> _Columns:
        """Some of them."""
        return _Columns(self.units[chosen], self.cost[chosen], self.above[chosen])

    def cheapest(self) -> _Columns:
        """Each group once, at its cheapest closure."""
        if not len(self.units):
            return self
        keys = np.column_stack([self.units, self.cost])
        order = np.lexsort(keys.T[::-1])
        fresh = np.ones(len(order), np.bool_)
        fresh[1:] = (self.units[order][1:] != self.units[order][:-1]).any(axis=1)
        return self.of(order[fresh])


def spare(k: int) -> int:
    """From how many records more than k of a closure groups are drawn."""
    able = (more for more in range(SPARE, 0, -1) if _number(k, k + more) <= GROUPS)
    return next(able, 0)


def _sizes(k: int, records: int) -> range:
    """The sizes of groups that are drawn from so many records."""
    return range(k, min(records, k + MORE) + 1)


def _number(k: int, records: int) -> int:
    return sum(comb(records, size) for size in _sizes(k, records))


@cache
def _choices(records: int, size: int) -> Numbers:
    """The groups of a size among so many records, shape `(groups, size)`."""
    return np.array(list(combinations(range(records), size)), np.int64)


def column_program(
    problem: ClusteringProblem, pool: Dissolved, price: Reals
) -> tuple[RepartitionProgram, Callable[[Reals], Numbers]] | None:
    """The program of a pool at its prices, and what a solution makes of each record.

    None where no group but those that there are may be in a better partition. Of a solution each
    record gets the number of its group, -1 where it is left out.
    """
    gap = pool.loss - float(price.sum())
    found = [each.cheapest() for each in _near(pool, price, k=problem.k, gap=gap)]
    above = np.concatenate([each.above for each in found] or [np.zeros(0)])
    if len(above) > MOST:
        gap = float(np.partition(above, MOST)[MOST])
    found = [_allowed(problem, pool, each.of(each.above <= gap)) for each in found]
    if not sum(len(each.cost) for each in found):
        return None
    found += _as_they_are(pool)
    sizes = [each.units.shape[1] for each in found for _ in each.cost]
    unit = np.concatenate([each.units.ravel() for each in found])
    group = np.repeat(np.arange(len(sizes)), sizes)
    key, count = np.unique(group * len(pool.sizes) + unit, return_counts=True)
    group, unit = np.divmod(key, len(pool.sizes))
    cost = np.concatenate([each.cost for each in found])

    def parts(solution: Reals) -> Numbers:
        times = np.rint(solution[: len(cost)]).astype(np.int64)
        copy = np.repeat(np.arange(len(group)), times[group])
        # A group that is taken twice is two clusters.
        turn = np.arange(len(copy)) - np.searchsorted(copy, copy)
        number = group[copy] + turn * len(cost)
        return handed_out(pool, unit[copy], number, count[copy])

    return _program(pool, unit, group, count=count, cost=cost), parts


def _near(pool: Dissolved, price: Reals, *, k: int, gap: float) -> Iterator[_Columns]:
    """Groups of the dearest records of near closures, within the gap, by their size."""
    near = np.flatnonzero(slacks(pool, price, k=k) <= gap)
    looked = np.minimum(pool.held[near].sum(axis=1), k + spare(k))
    for records in np.unique(looked).tolist():
        if records < k:
            continue
        closures = near[looked == records]
        dear = np.where(pool.held[closures], -price, np.inf)
        top = np.argpartition(dear, records - 1, axis=1)[:, :records]
        for size in _sizes(k, records):
            choices = _choices(records, size)
            worth = price[top][:, choices].sum(axis=2)
            above = size * pool.cost[closures, None] - worth
            closure, choice = np.nonzero(above <= gap)
            members = top[closure[:, None], choices[choice]]
            units = np.sort(pool.unit[members], axis=1)
            yield _Columns(units, size * pool.cost[closures[closure]], above[closure, choice])


def _allowed(problem: ClusteringProblem, pool: Dissolved, columns: _Columns) -> _Columns:
    """Those that satisfy the demand, where every record is a unit."""
    if problem.demand is None:
        return columns
    holds = [problem.meets(pool.records[units]) for units in columns.units]
    return columns.of(np.array(holds, np.bool_))


def _as_they_are(pool: Dissolved) -> list[_Columns]:
    """The clusters as they are."""
    found = []
    for cluster, closure in enumerate(pool.own):
        units = np.sort(pool.unit[pool.cluster == cluster])[np.newaxis]
        cost = units.shape[1] * pool.cost[[closure]]
        found.append(_Columns(units, cost, np.zeros(1)))
    return found


def _program(
    pool: Dissolved, unit: Numbers, group: Numbers, *, count: Numbers, cost: Numbers
) -> RepartitionProgram:
    """How often each group is taken, and how many records of each unit are left out."""
    sizes, groups, start = pool.sizes.astype(np.float64), len(cost), np.zeros(len(cost))
    most = np.full(groups, np.inf)
    np.minimum.at(most, group, sizes[unit] // count)
    start[groups - len(pool.own) :] = 1
    parts = [(unit, group, count.astype(np.float64))]
    if pool.room < 0:
        whole = np.ones(groups, np.bool_)
        entries = coefficients(*parts)
        return RepartitionProgram(
            cost.astype(np.float64), most, whole, sizes, sizes, *entries, start
        )
    every = np.arange(len(sizes))
    out = groups + every
    parts += [
        (every, out, np.ones(len(out))),
        (np.full(len(out), len(sizes)), out, np.ones(len(out))),
    ]
    left = np.bincount(pool.unit[pool.cluster < 0], minlength=len(sizes))
    return RepartitionProgram(
        np.append(cost, np.full(len(out), pool.price)).astype(np.float64),
        np.append(most, sizes),
        np.ones(groups + len(out), np.bool_),
        np.append(sizes, 0.0),
        np.append(sizes, float(pool.room)),
        *coefficients(*parts),
        np.append(start, left),
    )
