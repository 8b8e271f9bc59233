"""Exact: the best assignment of patterns to records, by integer programming.

The program is that of the source, over distinct rows. Per row and instance of a pattern, x counts
the records of the row that are published by it; per instance, y says whether it is used. Every
record is placed, and an instance that is used has k records. It is tightened: instances that
cannot have k records are left out, x is at most y times the records of its row, a pattern that
another one replaces at no cost is left out, and rows that share no instance are solved apart. The
greedy assignment is the first solution.

The fixed-parameter algorithm of the source (Theorem 2) takes 2^(rows x patterns) steps before any
polynomial; the program has as many variables as that exponent, and its bounds cut off nearly all of
the choices that the algorithm would try. So it stands in for it, as it did in the source's own
experiments.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", section 2.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import PolicyError
from sqlanon.patterned import Parts, Patterned
from sqlanon.search.patterns import LEFT, Placed, instance_keys
from sqlanon.wording import counted

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
MOST_PLACES = 5_000_000
"""Rows times patterns beyond which neither the memory nor the time of a program is in reach."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where rows may go: pairs of a row and an instance that can have k records.

    Args:
        row: The row of each place.
        pattern: Its pattern.
        instance: Its instance; instances of all patterns are numbered together.
        cost: What a record of the row loses there [units].
    """

    row: Numbers
    pattern: Numbers
    instance: Numbers
    cost: Numbers

    def of(self, chosen: Flags | Numbers) -> Places:
        """Some of them."""
        return Places(
            self.row[chosen], self.pattern[chosen], self.instance[chosen], self.cost[chosen]
        )


@dataclass(frozen=True, slots=True)
class Solved:
    """How many records of each row go to each of its places.

    Args:
        counts: Per place [records].
        left: Records that go nowhere.
        bound: What all of them cost at least, where fewer cannot be left [units].
        proven: Whether no other solution is better.
    """

    counts: Numbers
    left: int
    bound: int
    proven: bool


def optimal(table: Patterned, first: Placed, seconds: float | None) -> Parts:
    """The assignment that leaves as few records over as possible, and then loses least.

    Args:
        table: The table and its patterns.
        first: An assignment to start from.
        seconds: After which the best so far is returned; None for no limit.

    Raises:
        PolicyError: There is no solver, or the program would be too large.
    """
    refuse_without_solver()
    rows, patterns = len(table.rows.sizes), len(table.nodes)
    if rows * patterns > MOST_PLACES:
        raise PolicyError(
            f"{counted(rows, 'distinct row')} by {counted(patterns, 'pattern')} are too many for "
            "pattern-exact; give fewer patterns, or use pattern-greedy"
        )
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    places = places_of(table)
    parts = components(places, len(table.rows.sizes))
    counts = np.zeros(len(places.row), np.int64)
    bound, proven, number = 0, True, 0
    for own in parts:
        solved = _Component(table, places.of(own), first).solve(deadline)
        counts[own] = solved.counts
        bound += solved.bound
        proven &= solved.proven
        number += 1
    return _parts(table, places, counts, _Proof(bound, proven, number))


def refuse_without_solver() -> None:
    """Says how to install the solver where it is missing.

    Raises:
        PolicyError: It is.
    """
    if find_spec("highspy") is None:
        raise PolicyError(
            "pattern-exact needs the solver HiGHS; install it with "
            "pip install 'sqlanon[exact]', or use pattern-greedy"
        )


def places_of(table: Patterned) -> Places:
    """All places where rows may go, cheapest pattern first."""
    rows = np.arange(len(table.rows.sizes))
    found, instances = [], 0
    costs = [table.cost(rows, node) for node in table.nodes]
    for pattern in undominated(table, costs):
        _, group = np.unique(
            instance_keys(table.rows.codes.T, table.masks[pattern]), return_inverse=True
        )
        sizes = np.bincount(group, weights=table.rows.sizes)
        own = np.flatnonzero(sizes[group] >= table.k)
        found.append((own, np.full(len(own), pattern), instances + group[own], costs[pattern][own]))
        instances += len(sizes)
    row, pattern_of, instance, cost = map(np.concatenate, zip(*found, strict=True))
    return Places(row, pattern_of, instance, cost)


def undominated(table: Patterned, costs: list[Numbers]) -> list[int]:
    """The patterns without those that a coarser one replaces without losing more.

    The records of an instance all share one instance of the coarser pattern, so they can move
    there together.
    """
    totals = np.array([cost @ table.rows.sizes for cost in costs])
    kept = []
    for number, mask in enumerate(table.masks):
        coarser = ((table.masks & mask) == table.masks).all(axis=1) & (totals <= totals[number])
        coarser[number] = False
        replaced = any(
            (costs[other] <= costs[number]).all()
            and (other < number or (table.masks[other] != mask).any())
            for other in np.flatnonzero(coarser)
        )
        if not replaced:
            kept.append(number)
    return kept


def components(places: Places, rows: int) -> list[Numbers]:
    """The places in groups, so that rows and instances of two groups have nothing in common."""
    label = np.arange(rows)
    if not len(places.row):
        return []
    lowest = np.full(int(places.instance.max()) + 1, rows)
    while True:
        np.minimum.at(lowest, places.instance, label[places.row])
        before = label.copy()
        np.minimum.at(label, places.row, lowest[places.instance])
        if (label == before).all():
            break
    order = np.argsort(label[places.row], kind="stable")
    borders = np.flatnonzero(np.diff(label[places.row[order]])) + 1
    return np.split(order, borders)


class _Component:
    """The integer program of rows that share instances.

    Variables are the x of each place, then the y of each instance, then per row the records that
    are left over.
    """

    def __init__(self, table: Patterned, places: Places, first: Placed) -> None:
        self.rows, self.row = np.unique(places.row, return_inverse=True)
        instances, self.instance = np.unique(places.instance, return_inverse=True)
        self.instances = len(instances)
        self.sizes = table.rows.sizes[self.rows]
        self.k, self.cost = table.k, places.cost
        self.full = table.cost(self.rows, table.tops)
        self.start = np.where(first.pattern[places.row] == places.pattern, self.sizes[self.row], 0)

    def solve(self, deadline: float) -> Solved:
        """The best assignment of its rows."""
        cheapest = self._cheapest()
        if cheapest is not None:
            return cheapest
        counts, proven, least = self.start, True, self._left(self.start)
        if least:
            # Half of the time, so that some is left to lose less.
            half = (time.monotonic() + deadline) / 2
            counts, low, proven = self._run(counts, None, half)
            least = self._left(counts)
            if least > low:
                proven = False
        counts, low, best = self._run(counts, least, deadline)
        return Solved(counts, self._left(counts), low, proven and best)

    def _cheapest(self) -> Solved | None:
        """Every row to its cheapest place, where that makes classes of k records."""
        order = np.lexsort((np.arange(len(self.cost)), self.cost, self.row))
        first = order[np.unique(self.row[order], return_index=True)[1]]
        counts = np.zeros(len(self.cost), np.int64)
        counts[first] = self.sizes
        filled = np.bincount(self.instance, weights=counts, minlength=self.instances)
        if not ((filled == 0) | (filled >= self.k)).all():
            return None
        return Solved(counts, 0, int(counts @ self.cost), True)

    def _left(self, counts: Numbers) -> int:
        return int(self.sizes.sum() - counts.sum())

    def _total(self, counts: Numbers) -> int:
        """What all records cost, with those left over suppressed."""
        placed = np.bincount(self.row, weights=counts, minlength=len(self.rows)).astype(np.int64)
        return int(counts @ self.cost + (self.sizes - placed) @ self.full)

    def _run(
        self, start: Numbers, most_left: int | None, deadline: float
    ) -> tuple[Numbers, int, bool]:
        """Solves for least cost with so many records left over, or for fewest left over.

        Returns:
            The counts, the least that any can have of what is minimized, and whether these do.
        """
        places, rows = len(self.cost), len(self.rows)
        if most_left is None:
            x_cost, left_cost, base = np.zeros(places, np.int64), np.ones(rows, np.int64), 0
            reached = self._left(start)
        else:
            least = self.full.copy()
            np.minimum.at(least, self.row, self.cost)
            x_cost, left_cost = self.cost - least[self.row], self.full - least
            base, reached = int(least @ self.sizes), self._total(start)
        divisor = int(np.gcd.reduce(np.concatenate([x_cost, left_cost]))) or 1
        objective = np.concatenate(
            [x_cost // divisor, np.zeros(self.instances, np.int64), left_cost // divisor]
        )
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return start, base, False
        counts, low = _highs(self, objective, (start, most_left), remaining)
        bound = base + divisor * max(0, math.ceil(low - 1e-6))
        value = self._left(counts) if most_left is None else self._total(counts)
        if value > reached:  # the time was over before the start was looked at
            counts, value = start, reached
        return counts, min(bound, value), value <= bound

    def model(self, highspy: Any, objective: Numbers, most_left: int | None) -> Any:
        """The program as the solver takes it."""
        places, rows = len(self.cost), len(self.rows)
        width = places + self.instances + rows
        x, y = np.arange(places), places + np.arange(self.instances)
        left = places + self.instances + np.arange(rows)
        link = rows + self.instances + x
        some_left = 0 if most_left is None else 1
        entries = [  # row of the program, variable, coefficient
            (self.row, x, np.ones(places)),
            (np.arange(rows), left, np.ones(rows)),
            (rows + self.instance, x, np.ones(places)),
            (rows + np.arange(self.instances), y, np.full(self.instances, -float(self.k))),
            (link, x, np.ones(places)),
            (link, places + self.instance, -self.sizes[self.row].astype(float)),
        ]
        if some_left:
            entries.append((np.full(rows, link[-1] + 1), left, np.ones(rows)))
        at, variable, value = (np.concatenate(each) for each in zip(*entries, strict=True))
        order = np.lexsort((variable, at))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = width, rows + self.instances + places + some_left
        lp.col_cost_ = objective.astype(float)
        lp.col_lower_ = np.zeros(width)
        most = self.sizes.astype(float) if most_left != 0 else np.zeros(rows)
        lp.col_upper_ = np.concatenate(
            [self.sizes[self.row].astype(float), np.ones(self.instances), most]
        )
        infinite = highspy.kHighsInf
        low = [self.sizes, np.zeros(self.instances), np.full(places + some_left, -infinite)]
        high = [self.sizes, np.full(self.instances, infinite), np.zeros(places)]
        lp.row_lower_ = np.concatenate(low).astype(float)
        lp.row_upper_ = np.concatenate([*high, [most_left] * some_left]).astype(float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.searchsorted(at[order], np.arange(lp.num_row_ + 1))
        lp.a_matrix_.index_ = variable[order]
        lp.a_matrix_.value_ = value[order]
        lp.integrality_ = [highspy.HighsVarType.kInteger] * width
        return lp

    def solution(self, counts: Numbers) -> Reals:
        """Counts as values of all variables."""
        filled = np.bincount(self.instance, weights=counts, minlength=self.instances)
        placed = np.bincount(self.row, weights=counts, minlength=len(self.rows))
        return np.concatenate([counts, filled > 0, self.sizes - placed]).astype(float)


def _highs(
    program: _Component, objective: Numbers, given: tuple[Numbers, int | None], seconds: float
) -> tuple[Numbers, float]:
    """Solves a program from a start; returns its counts and the bound of the objective."""
    highspy: Any = import_module("highspy")  # heavy, and an extra
    start, most_left = given
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)  # the same result on every machine
    # Costs are whole, so a bound within one proves the best; ties are settled by the solver.
    solver.setOptionValue("mip_abs_gap", 0.99)
    solver.setOptionValue("mip_rel_gap", 0.0)
    if seconds < math.inf:
        solver.setOptionValue("time_limit", seconds)
    solver.passModel(program.model(highspy, objective, most_left))
    first = highspy.HighsSolution()
    first.col_value = program.solution(start).tolist()
    solver.setSolution(first)
    solver.run()
    info = solver.getInfo()
    values = np.array(solver.getSolution().col_value)
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return start, 0.0
    counts = np.rint(values[: len(start)]).astype(np.int64)
    bound = info.mip_dual_bound
    return counts, bound if math.isfinite(bound) else 0.0


@dataclass(frozen=True, slots=True)
class _Proof:
    bound: int
    proven: bool
    components: int


def _parts(table: Patterned, places: Places, counts: Numbers, proof: _Proof) -> Parts:
    """The records that go to the same place, and those that go nowhere, by row."""
    sizes = table.rows.sizes
    used = counts > 0
    placed = np.bincount(places.row, weights=counts, minlength=len(sizes)).astype(np.int64)
    over = np.flatnonzero(placed < sizes)
    _, group = np.unique(places.instance[used], return_inverse=True)
    nowhere = np.full(len(over), LEFT)
    row = np.concatenate([places.row[used], over])
    count = np.concatenate([counts[used], (sizes - placed)[over]])
    pattern = np.concatenate([places.pattern[used], nowhere])
    classes = np.concatenate([group, nowhere])
    order = np.lexsort((pattern, row))
    cost = int(counts @ places.cost)
    gap = None if len(over) else (cost - proof.bound) / cost if cost else 0.0
    return Parts(
        row[order],
        count[order],
        pattern[order],
        classes[order],
        None if len(over) else proof.bound,
        (("proven", proof.proven), ("gap", gap), ("components", proof.components)),
    )
