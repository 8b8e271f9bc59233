"""The method pattern-exact: integer program of Bredereck, Nichterlein and Niedermeier 2013.

The program is that of the source, over distinct rows. Per row and instance of a pattern, x counts
the records of the row that are published by it; per instance, y says whether it is used. An
instance that is used has k records. Beyond the source, which places every record, a record may lose
all its cells, in a class of such records or left out as the policy allows: so the loss that is
minimized is that of what is published. The program is tightened: instances that cannot have k
records are left out, x is at most y times the records of its row, and rows that share no instance
are solved apart. The greedy assignment is the first solution. Models of sensitive columns are met
by cuts (`Component`); rows that differ in a sensitive value are rows apart.

The fixed-parameter algorithm of the source (Theorem 2) takes 2^(rows x patterns) steps before any
polynomial; the program has as many variables as that exponent, and its bounds cut off nearly all of
the choices that the algorithm would try. So it stands in for it, as it did in the source's own
experiments.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", section 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.methods.options import PatternOptions
from sqlanon.methods.patterns.method import decide_patterns
from sqlanon.methods.patterns.pattern_problem import (
    NOTHING,
    Parts,
    PatternProblem,
    droppable,
    greedy_parts,
    is_shifting,
    published_cost,
)
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.patterns import LEFT, Cut, Placed, cut, inseparable, instance_keys
from sqlanon.search.privacy import Demands, ValueDemand
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True)
class Presence:
    """Persons in instances, each there where any of some places has a record.

    Args:
        place: Places, each with a person it tells of.
        number: The number of that person in that instance.
        instance: Per number the instance.
        value: Per number the sensitive value that the person has there; empty for any.
    """

    place: Numbers
    number: Numbers
    instance: Numbers
    value: Numbers

    def __len__(self) -> int:
        return len(self.instance)

    def there(self, counts: Numbers) -> Flags:
        """Which of them are there, by the records of each place."""
        some: Flags = np.bincount(self.number, counts[self.place], len(self)) > 0
        return some

    def among(self, counts: Numbers) -> Numbers:
        """The instances of those that are there."""
        return self.instance[self.there(counts)]


def persons_of(instance: Numbers, persons: Numbers) -> Presence:
    """The persons of instances, from the instance and the person of each place."""
    keys, number = np.unique(np.stack([instance, persons]), axis=1, return_inverse=True)
    every = np.arange(len(instance))
    return Presence(every, number.ravel(), keys[0], np.empty(0, np.int64))


def values_of(instance: Numbers, persons: Numbers, *, values: Numbers, anything: int) -> Presence:
    """The persons of instances with each of their values, and with `anything`; -1 is none."""
    some = np.flatnonzero(values >= 0)
    place, value = np.tile(some, 2), np.append(values[some], np.full(len(some), anything))
    keys = np.stack([instance[place], persons[place], value])
    distinct, number = np.unique(keys, axis=1, return_inverse=True)
    return Presence(place, number.ravel(), distinct[0], distinct[2])


INFEASIBLE = 2.0**53
"""The bound where there is no solution: above the cost of any."""
BUILDING = 6e-5
"""Time that a place takes to be written into a program, where the machine is busy [seconds]."""


class Places(NamedTuple):
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
        return Places(*(figures[chosen] for figures in self))


@dataclass(frozen=True, slots=True)
class ClassCut:
    """A cut for a class that fails a model.

    Args:
        instance: The instance.
        of_persons: Whether the cut is about persons, once for each value, instead of records.
        cut: The cut.
    """

    instance: int
    of_persons: bool
    cut: Cut


Entry = tuple[Numbers, Numbers, Reals]
"""Coefficients: of which row of the program, of which variable, and their values."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints of the program: what is added up, and between which numbers it lies."""

    entries: list[Entry]
    low: Reals
    high: Reals


def together(parts: Sequence[Constraints]) -> Entry:
    """The coefficients of rows one after the other, by row and variable."""
    before = np.cumsum([0, *(len(part.low) for part in parts)])
    entries = [
        (at + first, variable, value)
        for first, part in zip(before.tolist(), parts, strict=False)
        for at, variable, value in part.entries
    ]
    at, variable, value = (np.concatenate(arrays) for arrays in zip(*entries, strict=True))
    order = np.lexsort((variable, at))
    return at[order], variable[order], value[order]


class Component:
    """The integer program of rows that share instances, solved with HiGHS.

    Models of sensitive columns are met by cuts: the program is solved without them, a cut is added
    for each class that fails one (`search.patterns`), and it is solved again until none does.
    Each round rules an assignment out, and there are finitely many; as cuts hold for every
    assignment that satisfies the models, the bound of each round is one of the whole.

    Where persons are counted, a class's counts are no sums of its records. So a person in an
    instance, and a person with a sensitive value there, is a variable of its own that is 1 where
    any of its records is (`Presence`); k of the former make a class, and cuts are about the latter.

    Variables are the x of each place, then the y of each instance, then per row the records that
    are left over, then those of persons.

    Args:
        table: The table and its patterns.
        places: Where its rows may go.
        first: An assignment to start from.
        left: What a record of each row of the table costs that is left over [units].
    """

    def __init__(
        self, table: PatternProblem, places: Places, *, first: Placed, left: Numbers
    ) -> None:
        self.rows, self.row = np.unique(places.row, return_inverse=True)
        instances, self.instance = np.unique(places.instance, return_inverse=True)
        self.instances = len(instances)
        self.sizes = table.rows.sizes[self.rows]
        self.k, self.cost = table.k, places.cost
        self.full = left[self.rows]
        self.start = np.where(first.pattern[places.row] == places.pattern, self.sizes[self.row], 0)
        demands = table.rows.demands
        self.demands = () if demands is None else demands.every
        self.values = None if demands is None else demands.values[places.row]
        self.cuts: dict[ClassCut, None] = {}
        self.persons: Presence | None = None
        self.present: dict[int, Presence] = {}
        if demands is not None and demands.persons is not None:
            persons = demands.persons[places.row]
            self.persons = persons_of(self.instance, persons)
            self.present = {
                demand.attribute: values_of(
                    self.instance,
                    persons,
                    values=demands.values[places.row, demand.attribute],
                    anything=len(demand.table),
                )
                for demand in self.demands
                if demand.of_persons
            }

    def _filled(self, counts: Numbers) -> Numbers:
        """The records of each instance."""
        return np.bincount(self.instance, counts, self.instances).astype(np.int64)

    def _counted(self, counts: Numbers) -> Numbers:
        """The records, or persons, of each instance."""
        if self.persons is None:
            return self._filled(counts)
        return np.bincount(self.persons.among(counts), minlength=self.instances)

    def _placed(self, counts: Numbers) -> Numbers:
        """The records of each row that are not left over."""
        return np.bincount(self.row, counts, len(self.rows)).astype(np.int64)

    def _cheapest(self) -> Numbers | None:
        """Every row to its cheapest place, where that makes classes of k records."""
        order = np.lexsort((np.arange(len(self.cost)), self.cost, self.row))
        first = order[np.unique(self.row[order], return_index=True)[1]]
        counts = np.zeros(len(self.cost), np.int64)
        counts[first] = self.sizes
        filled = self._counted(counts)
        if not ((filled == 0) | (filled >= self.k)).all() or self._failing(counts):
            return None
        return counts

    def _failing(self, counts: Numbers) -> list[ClassCut]:
        """A cut for each class and model that it fails."""
        used, cuts = np.flatnonzero(self._filled(counts)), []
        for demand in self.demands:
            width = demand.width
            totals = self._value_counts(demand, counts)
            classes = totals.astype(np.int64).reshape(self.instances, width)[used]
            fails = np.flatnonzero(~demand.holds(classes))
            cuts += [
                ClassCut(int(used[n]), demand.of_persons, cut(demand, classes[n])) for n in fails
            ]
        return cuts

    def _value_counts(self, demand: ValueDemand, counts: Numbers) -> Numbers:
        """The records, or persons, of each value in each instance, one value after the other."""
        width = demand.width
        if demand.of_persons:
            present = self.present[demand.attribute]
            keys = present.among(counts) * width + present.value[present.there(counts)]
            return np.bincount(keys, minlength=self.instances * width)
        assert self.values is not None
        values = self.values[:, demand.attribute]
        some = values >= 0
        return np.bincount(
            self.instance[some] * width + values[some],
            weights=counts[some],
            minlength=self.instances * width,
        )

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

    @property
    def _presences(self) -> list[tuple[int, Presence]]:
        """The variables of persons, each set with the number of its first one."""
        sets = [*([self.persons] if self.persons is not None else []), *self.present.values()]
        first = len(self.cost) + self.instances + len(self.rows)
        before = np.cumsum([first, *(len(presence) for presence in sets)])
        return list(zip(before.tolist(), sets, strict=False))

    def model(self, highspy: Any, objective: Numbers, *, most_left: int) -> Any:
        """The program as the solver takes it."""
        places, rows, infinite = len(self.cost), len(self.rows), highspy.kHighsInf
        of_persons = sum(len(presence) for _, presence in self._presences)
        constraints = self._constraints(most_left, infinite=infinite)
        lp = highspy.HighsLp()
        lp.num_col_ = places + self.instances + rows + of_persons
        lp.num_row_ = sum(len(part.low) for part in constraints)
        lp.col_cost_ = np.append(objective.astype(float), np.zeros(of_persons))
        lp.col_lower_ = np.zeros(lp.num_col_)
        most = self.sizes.astype(float) if most_left != 0 else np.zeros(rows)
        lp.col_upper_ = np.concatenate(
            [self.sizes[self.row].astype(float), np.ones(self.instances), most, np.ones(of_persons)]
        )
        lp.row_lower_ = np.concatenate([part.low for part in constraints])
        lp.row_upper_ = np.concatenate([part.high for part in constraints])
        at, variable, value = together(constraints)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.searchsorted(at, np.arange(lp.num_row_ + 1))
        lp.a_matrix_.index_ = variable
        lp.a_matrix_.value_ = value
        lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
        return lp

    def _constraints(self, most_left: int, *, infinite: float) -> list[Constraints]:
        """What becomes of each row, k of each instance, which x needs which y, cuts, and the rest.

        The rest is how many records are left, and what the variables of persons are.
        """
        places, rows = len(self.cost), len(self.rows)
        x, y = np.arange(places), places + np.arange(self.instances)
        left, numbers = places + self.instances + np.arange(rows), np.arange(rows)
        minus = -self.sizes[self.row].astype(float)
        sizes = self.sizes.astype(float)
        becoming = Constraints(
            [(self.row, x, np.ones(places)), (numbers, left, np.ones(rows))], sizes, sizes
        )
        low, high = np.zeros(self.instances), np.full(self.instances, infinite)
        needed = (np.arange(self.instances), y, np.full(self.instances, -float(self.k)))
        if self.persons is None:
            of_class = self.instance, x, np.ones(places)
        else:
            first = self._presences[0][0]
            members = first + np.arange(len(self.persons))
            of_class = self.persons.instance, members, np.ones(len(members))
        bound = np.full(places, -infinite), np.zeros(places)
        links = Constraints([(x, x, np.ones(places)), (x, y[self.instance], minus)], *bound)
        last = (np.zeros(rows, np.int64), left, np.ones(rows))
        return [
            becoming,
            Constraints([of_class, needed], low, high),
            links,
            self._cut_rows(y, infinite=infinite),
            Constraints([last], np.array([-infinite]), np.array([float(most_left)])),
            *(
                rows_of
                for first, presence in self._presences
                for rows_of in self._presence_rows(first, presence, infinite=infinite)
            ),
        ]

    def _cut_rows(self, y: Numbers, *, infinite: float) -> Constraints:
        """The cuts that were found."""
        entries = []
        firsts = {id(presence): first for first, presence in self._presences}
        for number, class_cut in enumerate(self.cuts):
            terms = class_cut.cut
            if class_cut.of_persons:
                present = self.present[terms.attribute]
                members = np.flatnonzero(present.instance == class_cut.instance)
                values, variables = present.value[members], firsts[id(present)] + members
            else:
                assert self.values is not None
                variables = np.flatnonzero(self.instance == class_cut.instance)
                values = self.values[variables, terms.attribute]
            factors = np.append(terms.factors, 0.0)[values]  # the last one for no value, -1
            entries.append((np.full(len(values), number), variables, factors))
            entries.append((np.array([number]), y[[class_cut.instance]], np.array([terms.least])))
        cuts = len(self.cuts)
        return Constraints(entries, np.full(cuts, -infinite), np.zeros(cuts))

    def _presence_rows(
        self, first: int, present: Presence, *, infinite: float
    ) -> tuple[Constraints, Constraints]:
        """A variable of a person is 0 where none of its records is, and 1 where any is."""
        number, place = present.number, present.place
        rows = np.arange(len(present))
        none = [(number, place, np.ones(len(place))), (rows, first + rows, -np.ones(len(rows)))]
        place_rows = np.arange(len(place))
        minus = -self.sizes[self.row[place]].astype(float)
        any_ = [(place_rows, place, np.ones(len(place))), (place_rows, first + number, minus)]
        return (
            Constraints(none, np.zeros(len(rows)), np.full(len(rows), infinite)),
            Constraints(any_, np.full(len(place), -infinite), np.zeros(len(place))),
        )

    def solution(self, counts: Numbers) -> Reals:
        """Counts as values of all variables."""
        left = self.sizes - self._placed(counts)
        there = [presence.there(counts) for _, presence in self._presences]
        return np.concatenate([counts, self._filled(counts) > 0, left, *there]).astype(float)


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


MAX_PROGRAM_PLACES = 5_000_000
"""Rows times patterns beyond which neither the memory nor the time of a program is in reach."""

PROGRAM_TIMES = 2
"""Times as long as all places took to find until a program of them is written and judged."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[PatternOptions]
) -> Decided:
    """A pattern for every record, such that nothing published by these patterns loses less.

    Raises:
        PolicyError: As `optimal`.
        SqlanonError: As `decide_patterns`.
    """

    def improved(table: PatternProblem, placed: Placed) -> Parts:
        return optimal(table, placed, policy=policy)

    return decide_patterns(engine, subject, policy=policy, options=options, improved=improved)


def optimal(table: PatternProblem, first: Placed, *, policy: Policy) -> Parts:
    """The assignment that is published with the least loss.

    Records that no pattern takes keep nothing, so at first each row may be left over at that cost,
    part by part. What this costs is a bound on all that the policy allows. Where the records left
    over can be published or left out, the bound is met. Else they are too few for a class, and the
    table is solved again with its classes of records that keep nothing as more instances, where
    others are left out. What becomes of records that the highest levels allowed tell apart has
    nothing to do with each other but the limit, so at first each such class is solved by itself.
    Where records may be left out under a model that refers to the published table, none are, and
    the bound is that of k alone.

    Args:
        table: The table and its patterns.
        first: An assignment to start from.
        policy: Whether records that no pattern takes may be left out.

    Raises:
        PolicyError: There is no solver, the program would be too large, or it cannot say a model.
    """
    _refuse_unsolvable(table.rows.demands)
    rows, patterns = len(table.rows.sizes), len(table.nodes)
    if rows * patterns > MAX_PROGRAM_PLACES:
        raise PolicyError(
            f"{counted(rows, 'distinct row')} by {counted(patterns, 'pattern')} are too many for "
            "pattern-exact; give fewer patterns, or use pattern-greedy"
        )
    began = table.deadline.left()
    try:
        places = places_of(table)
        # Never so without a limit: infinity less infinity compares with nothing.
        if table.deadline.left() < PROGRAM_TIMES * (began - table.deadline.left()):
            raise TimeLimitError
    except TimeLimitError:
        parts = greedy_parts(table, first)
        return replace(parts, bound=table.least, proven=False, gap=1.0, components=0, ended=True)
    apart = components(places, rows)
    alone = np.setdiff1d(np.arange(rows), places.row)
    full = table.least_left(np.arange(rows))
    bound = int(full[alone] @ table.rows.sizes[alone]) + table.lost
    relaxed, low = _solved(
        table, places, apart=apart, first=first, left_cost=full, most_left=UNLIMITED
    )
    bound = max(table.at_most(bound + low), table.least)
    pool = [
        greedy_parts(table, first),
        _parts(table, places, counts=relaxed),
        _as_one_class(table),
    ]
    cost, best = _cheapest(table, pool, policy=policy)
    late = table.deadline.left() < len(places.row) * BUILDING
    if not late and cost > bound:
        again, low = _jointly(table, places, first=first, policy=policy)
        cost, best = _cheapest(table, [best, *again], policy=policy)
        bound = max(bound, table.at_most(low))
    if cost == math.inf:
        return best
    if is_shifting(table, policy):
        bound = table.least
    gap = (cost - bound) / cost if cost else 0.0
    return replace(
        best,
        bound=bound,
        proven=bool(cost <= bound),
        gap=gap,
        components=len(apart),
        ended=(late or table.deadline.expired) and cost > bound,
    )


def _cheapest(table: PatternProblem, pool: list[Parts], *, policy: Policy) -> tuple[float, Parts]:
    """The first of those that cost least as they are published, and that cost [units]."""
    costs = [published_cost(table, parts, policy=policy) for parts in pool]
    least = min(costs)
    return least, pool[costs.index(least)]


def _as_one_class(table: PatternProblem) -> Parts:
    """Every record in the class of those that say nothing."""
    rows = np.flatnonzero(table.rows.sizes)
    nowhere = np.full(len(rows), LEFT)
    return Parts(rows, table.rows.sizes[rows], nowhere, nowhere)


UNLIMITED = 2**62
"""Records that may be left over where any number may."""


def _solved(
    table: PatternProblem,
    places: Places,
    *,
    apart: list[Numbers],
    first: Placed,
    left_cost: Numbers,
    most_left: int,
) -> tuple[Numbers, int]:
    """Solves components one after the other.

    Those that the time does not suffice for keep the assignment to start from.

    Args:
        table: The table and its patterns.
        places: Where its rows may go.
        apart: The places of each component.
        first: An assignment to start from.
        left_cost: What a record of each row costs that is left over [units].
        most_left: How many records may be left over.

    Returns:
        The records of each place, and what the rows that have a place cost at least [units].
    """
    counts, bound = np.zeros(len(places.row), np.int64), 0
    for number, component in enumerate(apart):
        if table.deadline.left() < len(component) * BUILDING:
            rest = np.concatenate(apart[number:])
            some = places.of(rest)
            rows, place = np.unique(some.row, return_inverse=True)
            least = left_cost[rows]
            np.minimum.at(least, place, some.cost)
            kept = first.pattern[some.row] == some.pattern
            counts[rest] = np.where(kept, table.rows.sizes[some.row], 0)
            return counts, bound + int(least @ table.rows.sizes[rows])
        part = Component(table, places.of(component), first=first, left=left_cost)
        records = int(part.sizes.sum())
        # From a start that leaves too many the best that is allowed may be no improvement.
        is_start = records - int(part.start.sum()) <= most_left
        start = part.start if is_start else np.zeros_like(part.start)
        counts[component], low = part.run(start, min(records, most_left), deadline=table.deadline)
        bound += low
    return counts, bound


def _jointly(
    table: PatternProblem, places: Places, *, first: Placed, policy: Policy
) -> tuple[list[Parts], int]:
    """The best with classes that keep nothing and with records left out, and a bound [units]."""
    sizes, most = table.rows.sizes, droppable(table, policy)
    fits = table.fits
    alone = int(sizes[~fits].sum())
    if alone > most:
        return [], table.lost
    every = _with_nothing(table, places, rows=np.flatnonzero(fits & (sizes > 0)))
    if not len(every.row):
        return [], alone * table.dropped + table.lost
    left_cost, most_left = np.full(len(sizes), table.dropped), most - alone
    apart, whole = components(every, len(sizes)), [np.arange(len(every.row))]
    for parts in [apart, whole] if len(apart) > 1 else [whole]:
        counts, bound = _solved(
            table, every, apart=parts, first=first, left_cost=left_cost, most_left=most_left
        )
        if int(sizes.sum()) - int(counts.sum()) <= most:
            break
    return [_parts(table, every, counts=counts)], bound + alone * table.dropped + table.lost


def _with_nothing(table: PatternProblem, places: Places, *, rows: Numbers) -> Places:
    """The places, and those of some rows in classes that keep nothing, if no pattern has these."""
    nothing = np.flatnonzero((table.nodes == table.tops).all(axis=1))
    if np.isin(nothing, places.pattern).any():
        return places
    return Places(
        np.concatenate([places.row, rows]),
        np.concatenate([places.pattern, np.full(len(rows), NOTHING)]),
        np.concatenate(
            [places.instance, places.instance.max(initial=-1) + 1 + table.highest[rows]]
        ),
        np.concatenate([places.cost, table.cost(rows, table.tops)]),
    )


def _refuse_unsolvable(demands: Demands | None) -> None:
    """Refuses to go on without a solver, or with models that no inequalities are known for."""
    if find_spec("highspy") is None:
        raise PolicyError(
            "pattern-exact needs the solver HiGHS; install it with "
            "pip install 'sqlanon[exact]', or use pattern-greedy"
        )
    unknown = {} if demands is None else inseparable(demands)
    if unknown:
        why = " and ".join(dict.fromkeys(unknown.values()))
        raise PolicyError(
            f"pattern-exact cannot prove the optimum under {', '.join(unknown)}, which {why}; "
            "use pattern-greedy, or another distance"
        )


def places_of(table: PatternProblem) -> Places:
    """All places where rows may go, cheapest pattern first.

    Raises:
        TimeLimitError: The deadline of the table came first.
    """
    rows = np.flatnonzero(table.rows.sizes)
    places, instances = [], 0
    for pattern, (node, mask) in enumerate(zip(table.nodes, table.masks, strict=True)):
        table.deadline.check()
        keys, cost = instance_keys(table.rows.codes[rows].T, mask), table.cost(rows, node)
        _, group = np.unique(keys, return_inverse=True)
        sizes = table.rows.counted(rows, group, groups=int(group.max()) + 1)
        kept = np.flatnonzero(sizes[group] >= table.k)
        where = instances + group[kept]
        places.append((rows[kept], np.full(len(kept), pattern), where, cost[kept]))
        instances += len(sizes)
    return Places(*map(np.concatenate, zip(*places, strict=True)))


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


def _parts(table: PatternProblem, places: Places, *, counts: Numbers) -> Parts:
    """The records that go to the same place, and those that go nowhere, by row."""
    sizes = table.rows.sizes
    used = counts > 0
    placed = np.bincount(places.row[used], weights=counts[used], minlength=len(sizes))
    placed = placed.astype(np.int64)
    over = np.flatnonzero(placed < sizes)
    _, group = np.unique(places.instance[used], return_inverse=True)
    nowhere = np.full(len(over), LEFT)
    row = np.concatenate([places.row[used], over])
    count = np.concatenate([counts[used], (sizes - placed)[over]])
    pattern = np.concatenate([places.pattern[used], nowhere])
    classes = np.concatenate([group, nowhere])
    order = np.lexsort((pattern, row))
    return Parts(row[order], count[order], pattern[order], classes[order])
