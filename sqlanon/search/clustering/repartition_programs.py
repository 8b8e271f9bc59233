"""Set partitioning (Balas and Padberg 1976) and facility location: the integer programs of a pool.

A pool is the records of a few similar clusters, with closures that may hold them anew. Local prices
say what its records are worth together, and which closures that leaves. No k records of a closure
are worth more than they cost there, so the prices of a pool add up to a lower bound of what it can
lose; a closure whose k dearest records are worth less than they cost there by more than the pool
loses above that bound is in no better partition.

*By columns*: groups of a few more than k records that may become clusters. The price of a pool's
records bounds what it can lose, so of all groups of the dearest records of a closure only those
matter that cost little more than they are worth; where no more of them are within the gap than
`MAX_COLUMNS`, and clusters have few records more than k, a best partition is one of the program's
solutions.

*By assignment*: groups of dozens of records are too many to be columns, and a column never finds
the one that completes it. So a variable says whether a closure is open, and others how many records
of a unit go there; with the open ones given the rest is a flow, so whole of itself. Its linear
relaxation is as strong as that of all columns: for one closure what may be assigned is a box with a
least sum, whose corners are whole.

HiGHS, which solves them, spends nearly all of its time on presolving, so the linear relaxation
comes first. Variables that it prices above what is still to be gained are 0 in every better
solution; without them the whole program is a small one. Of those that are left the dearest are cut
off even so where they are many, so the best solution may be missed.

Sources: Dantzig and Wolfe 1960 (columns by their reduced cost); Karger and Minkoff 2000, and Guha,
Meyerson and Munagala 2000 (lower-bounded facility location).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.clustering_problem import ClusteringProblem, closed

MAX_PAIRS = 4096
"""Most pairs of records whose closures are looked at in a pool."""


@dataclass(frozen=True, slots=True)
class Dissolved:
    """The records of a pool, and closures that hold k of them or are those of its clusters.

    Args:
        records: Numbers of its records, shape `(records,)`.
        cluster: Per record the cluster of the pool that it was in; -1 where it was left out.
        closure_of: Per cluster the number of its closure.
        contains: `held[closure, record]`: whether a closure holds a record.
        cost: What a record costs at each closure [units].
        unit: Per record its unit: those of one are in the same closures, and may stand for each
            other where that is all that counts; else each record is a unit.
        alike: Whether that is all that counts, as there is no demand.
        room: How many records may be left out; -1 where none may, and no such is looked at.
        price: What a record costs that is left out [units].
    """

    records: Numbers
    cluster: Numbers
    closure_of: Numbers
    contains: Flags
    cost: Numbers
    unit: Numbers
    alike: bool
    room: int
    price: int

    @property
    def loss(self) -> int:
        """What its records lose as it was [units]."""
        inside = self.cluster >= 0
        kept = self.cost[self.closure_of[self.cluster[inside]]]
        return int(kept.sum()) + int((~inside).sum()) * self.price

    @property
    def sizes(self) -> Numbers:
        """The records of each unit."""
        return np.bincount(self.unit)

    @property
    def first(self) -> Numbers:
        """A record of each unit."""
        records: Numbers = np.unique(self.unit, return_index=True)[1]
        return records

    def only(self, closures: Numbers) -> Dissolved:
        """The same with some of the closures, and those of its clusters."""
        kept = np.union1d(closures, self.closure_of)
        places, contains, unit = (
            np.searchsorted(kept, self.closure_of),
            self.contains[kept],
            self.unit,
        )
        if self.alike:
            signs = np.packbits(contains.T, axis=1)
            unit = np.unique(signs, axis=0, return_inverse=True)[1].ravel()
        return replace(self, closure_of=places, contains=contains, cost=self.cost[kept], unit=unit)

    def level(self, values: Reals) -> Reals:
        """Values of records, replaced by the mean of their units."""
        means: Reals = np.bincount(self.unit, values) / self.sizes
        return means[self.unit]


def dissolve(
    problem: ClusteringProblem,
    joins: Joins,
    *,
    clusters: Sequence[Numbers],
    outside: Numbers,
    room: int,
    random: np.random.Generator,
) -> Dissolved:
    """Dissolves clusters.

    Args:
        problem: The table.
        joins: Closures by tables.
        clusters: The records of each cluster.
        outside: Records that are left out now and may come back.
        room: How many of all these records may be left out; -1 for none at all.
        random: Picks pairs of records where there are too many.
    """
    sizes = [len(outside), *map(len, clusters)]
    cluster = np.repeat(np.arange(-1, len(clusters)), sizes)
    records = np.concatenate([outside, *clusters])
    leaves = problem.leaves[records]
    # Records that are left out come first, before every start.
    closures = closed(problem, leaves, starts=np.searchsorted(cluster, np.arange(len(clusters))))
    pairs = _pair_closures(joins, leaves, random=random)
    first, second = np.triu_indices(len(closures), 1)
    unions = [
        t.join(closures[first, j], closures[second, j]) for j, t in enumerate(problem.taxonomies)
    ]
    nodes = np.concatenate([closures, pairs, np.stack(unions, axis=1)])
    keys, chosen = np.unique(joins.keys_of(nodes), return_index=True)
    nodes = nodes[chosen]
    cost, contains = problem.cost(nodes), _contained(problem, leaves, nodes)
    closure_at = np.searchsorted(keys, joins.keys_of(closures))
    kept = (contains.sum(axis=1) >= problem.k) & ~problem.forbids(cost)
    kept[closure_at] = True
    places = np.cumsum(kept) - 1
    return Dissolved(
        *(
            records,
            cluster,
            places[closure_at],
            contains[kept],
            cost[kept],
            np.arange(len(records)),
        ),
        alike=problem.demand is None,
        room=room,
        price=problem.suppressed,
    )


def _pair_closures(joins: Joins, leaves: Numbers, *, random: np.random.Generator) -> Numbers:
    """The different closures of pairs of records, shape `(closures, columns)`."""
    first, second = np.triu_indices(len(leaves))
    if len(first) > MAX_PAIRS:
        chosen = random.choice(len(first), MAX_PAIRS, replace=False)
        first, second = first[chosen], second[chosen]
    columns = range(leaves.shape[1])
    keys = np.zeros(len(first), np.uint64)
    for column in columns:
        leaf = leaves[:, column]
        keys += joins.keys(column, leaf, first=first, second=second)
    _, chosen = np.unique(keys, return_index=True)
    first, second = first[chosen], second[chosen]
    nodes = [joins.of(j, leaves[first, j], second=leaves[second, j]) for j in columns]
    return np.stack(nodes, axis=1)


def _contained(problem: ClusteringProblem, leaves: Numbers, nodes: Numbers) -> Flags:
    """Which records closures hold."""
    contains = np.ones((len(nodes), len(leaves)), np.bool_)
    for column, taxonomy in enumerate(problem.taxonomies):
        used, row = np.unique(nodes[:, column], return_inverse=True)
        leaf = leaves[:, column]
        inside = (leaf >= taxonomy.low[used, None]) & (leaf <= taxonomy.high[used, None])
        contains &= inside[row.ravel()]
    return contains


ROUGH_STEPS, FINE_STEPS = 3, 40
"""Steps over all closures, and over the nearest of them."""
MAX_NEAREST = 250
"""Closures that are looked at in fine steps, beside those of the clusters."""
FIRST_STEP, LAST_STEP = 0.12, 0.01
"""The length of the first step and the last one [mean prices]."""


def local_prices(pool: Dissolved, *, k: int) -> tuple[Dissolved, Reals]:
    """The pool with the closures near its prices, and the price of every record.

    Prices begin with what the records cost in the clusters as they are.
    """
    cost = np.append(pool.cost[pool.closure_of], pool.price)[pool.cluster]
    price = _raised(pool, cost.astype(np.float64), k=k, steps=ROUGH_STEPS)
    slack = slacks(pool, price, k=k)
    pool = pool.only(np.argsort(slack, kind="stable")[:MAX_NEAREST])
    # Records that may stand for each other are worth the mean of what they are worth.
    price = pool.level(_raised(pool, pool.level(price), k=k, steps=FINE_STEPS))
    return pool, np.minimum(price, pool.price) if pool.room >= 0 else price


def slacks(pool: Dissolved, price: Reals, *, k: int) -> Reals:
    """What k records at each closure cost at least above their prices [units]."""
    order, _, top = _dearest(pool.contains, price, k=k)
    slack: Reals = k * pool.cost - top @ price[order]
    return slack


def _dearest(contains: Flags, price: Reals, *, k: int) -> tuple[Numbers, Flags, Flags]:
    """The k dearest records of every closure.

    Returns:
        The records by price, the dearest first; `held[closure, place]` in this order; and which of
        these are among the k dearest of a closure.
    """
    order = np.argsort(-price, kind="stable")
    contains = contains[:, order]
    return order, contains, contains & (np.cumsum(contains, axis=1, dtype=np.int32) <= k)


def _raised(pool: Dissolved, price: Reals, *, k: int, steps: int) -> Reals:
    """The best prices of some subgradient steps, less what is worth more than it costs."""
    best, best_prices = -np.inf, price
    way = np.zeros(len(price))
    for length in FIRST_STEP * (LAST_STEP / FIRST_STEP) ** (np.arange(steps) / steps):
        excess, votes = _excess(pool, price, k=k)
        price = price - excess
        if price.sum() > best:
            best, best_prices = price.sum(), price
        way = 0.7 * way + 0.3 * np.maximum(1 - votes, -2)
        price = price + length * max(price.mean(), 1e-9) * way
    return best_prices


def _excess(pool: Dissolved, price: Reals, *, k: int) -> tuple[Reals, Reals]:
    """By how much any k records with each are worth more than they cost, and the votes for each.

    Every record votes for the k records, itself included, for which that is the most.
    """
    order, contains, top = _dearest(pool.contains, price, k=k)
    price, records = price[order], np.arange(len(price))
    total, last = top @ price, top.shape[1] - 1 - np.argmax(top[:, ::-1], axis=1)
    mean, other = total / k - pool.cost, (total - price[last]) / k - pool.cost
    gain = np.where(top, mean[:, None], other[:, None] + price / k)
    # A record that no closure holds stays left out, at what that costs.
    nowhere = price - pool.price
    gain = np.where(contains, gain, np.where(contains.any(axis=0), -np.inf, nowhere))
    best = gain.argmax(axis=0)
    votes = top[best].sum(axis=0).astype(np.float64)
    joins = np.flatnonzero(~top[best, records])
    np.subtract.at(votes, last[best[joins]], 1)
    votes[joins] += 1
    excess, voted = np.empty(len(price)), np.empty(len(price))
    excess[order] = gain[best, records]
    voted[order] = votes / k
    return excess, voted


@dataclass(frozen=True, slots=True)
class RepartitionProgram:
    """A program that minimizes a sum over whole variables of at least 0, within ranges of rows.

    Args:
        cost: Per variable what 1 of it adds.
        most: Per variable the most that it may be.
        whole: Which variables must be said to be whole; the others are so of themselves.
        low: Per row the least that its sum may be.
        high: Per row the most.
        row: Per coefficient its row.
        variable: Per coefficient its variable, ascending.
        value: The coefficients.
        start: A solution.
    """

    cost: Reals
    most: Reals
    whole: Flags
    low: Reals
    high: Reals
    row: Numbers
    variable: Numbers
    value: Reals
    start: Reals


def coefficients(*parts: tuple[Numbers, Numbers, Reals]) -> tuple[Numbers, Numbers, Reals]:
    """Rows, variables and values in the order of the variables."""
    row, variable, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort((row, variable))
    return row[order], variable[order], value[order]


def handed_out(pool: Dissolved, unit: Numbers, group: Numbers, count: Numbers) -> Numbers:
    """The group of each record, where so many of each unit go to each group; -1 for the rest."""
    by_unit = np.argsort(pool.unit, kind="stable")
    place = np.argsort(unit, kind="stable")
    sizes = pool.sizes
    given = np.repeat(group[place], count[place])
    taken = np.bincount(unit, count, len(sizes)).astype(np.int64)
    first = np.cumsum(sizes) - sizes
    rank = np.arange(len(given)) - np.repeat(np.cumsum(taken) - taken, taken)
    assigned = np.full(len(pool.unit), -1)
    assigned[by_unit[np.repeat(first, taken) + rank]] = given
    return assigned


MAX_COLUMNS = 1_500
"""Most columns, beside the clusters as they are."""
MAX_GROUPS, MAX_SPARE, MAX_MORE = 400, 8, 2
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
    able = (more for more in range(MAX_SPARE, 0, -1) if _number(k, k + more) <= MAX_GROUPS)
    return next(able, 0)


def _sizes(k: int, records: int) -> range:
    """The sizes of groups that are drawn from so many records."""
    return range(k, min(records, k + MAX_MORE) + 1)


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
    batches = [batch.cheapest() for batch in _near(pool, price, k=problem.k, gap=gap)]
    above = np.concatenate([batch.above for batch in batches] or [np.zeros(0)])
    if len(above) > MAX_COLUMNS:
        gap = float(np.partition(above, MAX_COLUMNS)[MAX_COLUMNS])
    batches = [_allowed(problem, pool, batch.of(batch.above <= gap)) for batch in batches]
    if not sum(len(batch.cost) for batch in batches):
        return None
    batches += _as_they_are(pool)
    sizes = [batch.units.shape[1] for batch in batches for _ in batch.cost]
    unit = np.concatenate([batch.units.ravel() for batch in batches])
    group = np.repeat(np.arange(len(sizes)), sizes)
    key, count = np.unique(group * len(pool.sizes) + unit, return_counts=True)
    group, unit = np.divmod(key, len(pool.sizes))
    cost = np.concatenate([batch.cost for batch in batches])

    def parts(solution: Reals) -> Numbers:
        times = np.rint(solution[: len(cost)]).astype(np.int64)
        copy = np.repeat(np.arange(len(group)), times[group])
        # A group that is taken twice is two clusters.
        turn = np.arange(len(copy)) - np.searchsorted(copy, copy)
        number = group[copy] + turn * len(cost)
        return handed_out(pool, unit[copy], number, count[copy])

    return _column_arrays(pool, unit, group, count=count, cost=cost), parts


def _near(pool: Dissolved, price: Reals, *, k: int, gap: float) -> Iterator[_Columns]:
    """Groups of the dearest records of near closures, within the gap, by their size."""
    near = np.flatnonzero(slacks(pool, price, k=k) <= gap)
    looked = np.minimum(pool.contains[near].sum(axis=1), k + spare(k))
    for records in np.unique(looked).tolist():
        if records < k:
            continue
        closures = near[looked == records]
        dear = np.where(pool.contains[closures], -price, np.inf)
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
    batches = []
    for cluster, closure in enumerate(pool.closure_of):
        units = np.sort(pool.unit[pool.cluster == cluster])[np.newaxis]
        cost = units.shape[1] * pool.cost[[closure]]
        batches.append(_Columns(units, cost, np.zeros(1)))
    return batches


def _column_arrays(
    pool: Dissolved, unit: Numbers, group: Numbers, *, count: Numbers, cost: Numbers
) -> RepartitionProgram:
    """How often each group is taken, and how many records of each unit are left out."""
    sizes, groups = pool.sizes.astype(np.float64), len(cost)
    most = np.full(groups, np.inf)
    np.minimum.at(most, group, sizes[unit] // count)
    every = np.arange(len(sizes) if pool.room >= 0 else 0)
    last, ones = np.full(len(every), len(sizes)), np.ones(len(every))
    entries = coefficients(
        (unit, group, count.astype(np.float64)),
        (every, groups + every, ones),
        (last, groups + every, ones),
    )
    budget = np.full(int(pool.room >= 0), float(pool.room))
    start = np.zeros(groups)
    start[groups - len(pool.closure_of) :] = 1
    left = np.bincount(pool.unit[pool.cluster < 0], minlength=len(sizes))
    return RepartitionProgram(
        np.append(cost, np.full(len(every), pool.price)).astype(np.float64),
        np.append(most, sizes[every]),
        np.ones(groups + len(every), np.bool_),
        np.append(sizes, np.zeros(len(budget))),
        np.append(sizes, budget),
        *entries,
        np.append(start, left[every]),
    )


MAX_CLOSURES = 30
"""Most closures of a program, beside those of the clusters."""
MAX_ASSIGNMENTS = 3_000
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
    slack[pool.closure_of] = np.inf
    near = np.argsort(slack, kind="stable")[:MAX_CLOSURES]
    near = near[slack[near] <= pool.loss - float(price.sum())]
    if not len(near):
        return None
    pool = pool.only(near)
    closure, unit = np.nonzero(pool.contains[:, pool.first])
    if len(unit) > MAX_ASSIGNMENTS:
        return None

    def parts(solution: Reals) -> Numbers:
        count = np.rint(solution[: len(unit)]).astype(np.int64)
        return handed_out(pool, unit, closure, count)

    return _assignment_arrays(pool, unit, closure, k=k), parts


def _assignment_arrays(
    pool: Dissolved, unit: Numbers, closure: Numbers, *, k: int
) -> RepartitionProgram:
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
    place = np.full(pool.contains.shape[:1] + pool.sizes.shape, -1)
    place[closure, unit] = np.arange(pairs)
    inside = pool.cluster >= 0
    record_closure = pool.closure_of[pool.cluster[inside]]
    np.add.at(start, place[record_closure, pool.unit[inside]], 1)
    start[pairs + pool.closure_of] = 1
    if pool.room >= 0:
        np.add.at(start, pairs + closures + pool.unit[~inside], 1)
    return start


MAX_NODES = 50
"""Most nodes of branch and bound."""
MAX_VARIABLES = 400
"""Most variables of a program beside those of its start, those of the least reduced costs."""
MIN_GAIN = 1e-7
"""Smallest part of what is lost whose gain is looked for, and the gap of branch and bound."""


def solved(program: RepartitionProgram, seconds: float) -> Reals:
    """The best solution found within `MAX_NODES` nodes and so many seconds; its start for none.

    It is the same on every machine where the time is infinite.
    """
    highspy: Any = import_module("highspy")  # heavy, and an extra
    every = np.ones(len(program.cost), np.bool_)
    solver = _solver(highspy, program, every, seconds=seconds)
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("solve_relaxation", True)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return program.start
    relaxed = solver.getSolution()
    values, reduced = np.array(relaxed.col_value), np.array(relaxed.col_dual)
    gap = 1 - solver.getInfo().objective_function_value
    if gap < MIN_GAIN:
        return program.start
    if np.abs(values - np.rint(values))[program.whole].max(initial=0) < 1e-6:
        solution: Reals = np.rint(values)
        return solution
    if len(reduced) > MAX_VARIABLES:
        gap = min(gap, float(np.partition(reduced, MAX_VARIABLES)[MAX_VARIABLES]))
    kept = (reduced <= gap) | (program.start > 0)
    solver = _solver(highspy, program, kept, seconds=seconds)
    places = np.flatnonzero(kept).astype(np.int32)
    solver.setSolution(len(places), np.arange(len(places), dtype=np.int32), program.start[kept])
    solver.run()
    if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return program.start
    best = np.zeros(len(program.cost))
    best[places] = solver.getSolution().col_value
    return best


def _solver(highspy: Any, program: RepartitionProgram, kept: Flags, *, seconds: float) -> Any:
    """A solver with some variables of a program, whose start costs 1."""
    solver = highspy.Highs()
    settings: dict[str, bool | int | float] = {
        "output_flag": False,
        "threads": 1,  # the same result on every machine
        "mip_max_nodes": MAX_NODES,
        "mip_rel_gap": MIN_GAIN,
        "mip_abs_gap": MIN_GAIN,  # of a start that costs 1
        "mip_detect_symmetry": False,
        "mip_heuristic_run_feasibility_jump": False,
    }
    if seconds < math.inf:
        settings["time_limit"] = max(seconds, 0.0)
    for name, value in settings.items():
        solver.setOptionValue(name, value)
    scale = max(float(program.cost @ program.start), 1.0)
    kept_entries, place = kept[program.variable], np.cumsum(kept) - 1
    variable = place[program.variable[kept_entries]]
    variables, rows, none = int(kept.sum()), len(program.low), np.zeros(0, np.int32)
    starts = np.searchsorted(variable, np.arange(variables)).astype(np.int32)
    solver.passModel(
        *(variables, rows, len(variable), 0),
        *(1, 1, 1, 0.0),  # by variables, no squares, minimize, from 0
        *(program.cost[kept] / scale, np.zeros(variables), program.most[kept]),
        *(program.low, program.high),
        *(starts, program.row[kept_entries].astype(np.int32), program.value[kept_entries]),
        *(none, none, none.astype(np.float64)),
        program.whole[kept].astype(np.int32),
    )
    return solver
