"""Integer program of rows that share instances, solved with HiGHS.

Models of sensitive columns are met by cuts: the program is solved without them, a cut is added for
each class that fails one (`search.patterns.cuts`), and it is solved again until none does. Each
round rules an assignment out, and there are finitely many; as cuts hold for every assignment that
satisfies the models, the bound of each round is one of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.methods.patterns.problem import PatternProblem
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.patterns.cuts import Cut, cut
from sqlanon.search.patterns.greedy import Placed

INFEASIBLE = 2.0**53
"""The bound where there is no solution: above the cost of any."""
BUILDING = 6e-5
"""Time that a place takes to be written into a program, where the machine is busy [seconds]."""


@dataclass(frozen=True, slots=True)
class Places:
    """Pairs of a row and an instance that can have k records, where the row may go.

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


class Component:
    """The integer program of rows that share instances.

    Variables are the x of each place, then the y of each instance, then per row the records that
    are left over.

    Args:
        table: The table and its patterns.
        places: Where its rows may go.
        first: An assignment to start from.
    """

    def __init__(self, table: PatternProblem, places: Places, *, first: Placed) -> None:
        self.rows, self.row = np.unique(places.row, return_inverse=True)
        instances, self.instance = np.unique(places.instance, return_inverse=True)
        self.instances = len(instances)
        self.sizes = table.rows.sizes[self.rows]
        self.k, self.cost = table.k, places.cost
        self.full = table.cost(self.rows, table.tops)
        self.start = np.where(first.pattern[places.row] == places.pattern, self.sizes[self.row], 0)
        demands = table.rows.demands
        self.demands = () if demands is None else demands.every
        self.values = None if demands is None else demands.values[places.row]
        self.cuts: dict[tuple[int, Cut], None] = {}

    def _filled(self, counts: Numbers) -> Numbers:
        """The records of each instance."""
        return np.bincount(self.instance, counts, self.instances).astype(np.int64)

    def _placed(self, counts: Numbers) -> Numbers:
        """The records of each row that are not left over."""
        return np.bincount(self.row, counts, len(self.rows)).astype(np.int64)

    def _cheapest(self) -> Numbers | None:
        """Every row to its cheapest place, where that makes classes of k records."""
        order = np.lexsort((np.arange(len(self.cost)), self.cost, self.row))
        first = order[np.unique(self.row[order], return_index=True)[1]]
        counts = np.zeros(len(self.cost), np.int64)
        counts[first] = self.sizes
        filled = self._filled(counts)
        if not ((filled == 0) | (filled >= self.k)).all() or self._failing(counts):
            return None
        return counts

    def _failing(self, counts: Numbers) -> list[tuple[int, Cut]]:
        """A cut for each class and model that it fails."""
        used, found = np.flatnonzero(self._filled(counts)), []
        for demand in self.demands:
            assert self.values is not None
            own, width = self.values[:, demand.attribute], len(demand.table)
            some = own >= 0
            held = np.bincount(
                self.instance[some] * width + own[some],
                weights=counts[some],
                minlength=self.instances * width,
            )
            classes = held.astype(np.int64).reshape(self.instances, width)[used]
            fails = np.flatnonzero(~demand.holds(classes))
            found += [(int(used[n]), cut(demand, classes[n])) for n in fails]
        return found

    def _total(self, counts: Numbers) -> int:
        """The cost of all records, with those left over suppressed [units]."""
        return int(counts @ self.cost + (self.sizes - self._placed(counts)) @ self.full)

    def run(self, start: Numbers, most_left: int, *, deadline: Deadline) -> tuple[Numbers, int]:
        """Solves for least cost with at most so many records left over.

        Returns:
            The counts, and the least that any can cost.
        """
        cheapest = self._cheapest()
        if cheapest is not None:
            return cheapest, int(cheapest @ self.cost)
        least = self.full.copy()
        np.minimum.at(least, self.row, self.cost)
        x_cost, left_cost = self.cost - least[self.row], self.full - least
        base, reached = int(least @ self.sizes), self._total(start)
        divisor = int(np.gcd.reduce(np.concatenate([x_cost, left_cost]))) or 1
        objective = np.concatenate(
            [x_cost // divisor, np.zeros(self.instances, np.int64), left_cost // divisor]
        )
        bound = base
        while deadline.left() > len(self.cost) * BUILDING:
            counts, low = _highs(self, objective, given=(start, most_left), deadline=deadline)
            bound = max(bound, base + divisor * max(0, math.ceil(low - 1e-6)))
            value = self._total(counts)
            cuts = self._failing(counts)
            if not cuts and value <= reached:
                return counts, min(bound, value)
            known = len(self.cuts)
            self.cuts |= dict.fromkeys(cuts)
            if len(self.cuts) == known:
                break  # the time was over before the start was looked at, or a cut is too fine
        return start, min(bound, reached)

    def model(self, highspy: Any, objective: Numbers, *, most_left: int) -> Any:
        """The program as the solver takes it."""
        places, rows, cuts = len(self.cost), len(self.rows), len(self.cuts)
        at, variable, value = self._entries()
        lp = highspy.HighsLp()
        lp.num_col_ = places + self.instances + rows
        lp.num_row_ = rows + self.instances + places + cuts + 1
        lp.col_cost_ = objective.astype(float)
        lp.col_lower_ = np.zeros(lp.num_col_)
        most = self.sizes.astype(float) if most_left != 0 else np.zeros(rows)
        lp.col_upper_ = np.concatenate(
            [self.sizes[self.row].astype(float), np.ones(self.instances), most]
        )
        infinite = highspy.kHighsInf
        below = np.full(places + cuts + 1, -infinite)
        high = [self.sizes, np.full(self.instances, infinite), np.zeros(places + cuts)]
        lp.row_lower_ = np.concatenate([self.sizes, np.zeros(self.instances), below]).astype(float)
        lp.row_upper_ = np.concatenate([*high, [most_left]]).astype(float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.searchsorted(at, np.arange(lp.num_row_ + 1))
        lp.a_matrix_.index_ = variable
        lp.a_matrix_.value_ = value
        lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
        return lp

    def _entries(self) -> tuple[Numbers, Numbers, Reals]:
        """The coefficients by row of the program and variable.

        Its rows are: what becomes of each row of the table, k of each instance, which x needs which
        y, the cuts, and how many records are left.
        """
        places, rows = len(self.cost), len(self.rows)
        x, y = np.arange(places), places + np.arange(self.instances)
        left = places + self.instances + np.arange(rows)
        link = rows + self.instances + x
        entries = [
            (self.row, x, np.ones(places)),
            (np.arange(rows), left, np.ones(rows)),
            (rows + self.instance, x, np.ones(places)),
            (rows + np.arange(self.instances), y, np.full(self.instances, -float(self.k))),
            (link, x, np.ones(places)),
            (link, places + self.instance, -self.sizes[self.row].astype(float)),
        ]
        last = rows + self.instances + places
        for number, (instance, own) in enumerate(self.cuts):
            assert self.values is not None
            members = np.flatnonzero(self.instance == instance)
            values = self.values[members, own.attribute]
            factors = np.append(own.factors, 0.0)[values]  # the last one for no value, -1
            entries.append((np.full(len(members), last + number), members, factors))
            entries.append((np.array([last + number]), y[[instance]], np.array([own.least])))
        entries.append((np.full(rows, last + len(self.cuts)), left, np.ones(rows)))
        at, variable, value = (np.concatenate(each) for each in zip(*entries, strict=True))
        order = np.lexsort((variable, at))
        return at[order], variable[order], value[order]

    def solution(self, counts: Numbers) -> Reals:
        """Counts as values of all variables."""
        left = self.sizes - self._placed(counts)
        return np.concatenate([counts, self._filled(counts) > 0, left]).astype(float)


def _highs(
    program: Component, objective: Numbers, *, given: tuple[Numbers, int], deadline: Deadline
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
    solver.passModel(program.model(highspy, objective, most_left=most_left))
    if deadline.is_limited:
        solver.setOptionValue("time_limit", max(deadline.left(), 0.0))
    first = highspy.HighsSolution()
    first.col_value = program.solution(start).tolist()
    solver.setSolution(first)
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return start, INFEASIBLE
    info = solver.getInfo()
    values = np.array(solver.getSolution().col_value)
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return start, 0.0
    counts = np.rint(values[: len(start)]).astype(np.int64)
    bound = info.mip_dual_bound
    return counts, bound if math.isfinite(bound) else 0.0
