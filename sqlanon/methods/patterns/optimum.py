"""The method pattern-exact: integer program of Bredereck, Nichterlein and Niedermeier 2013.

The program is that of the source, over distinct rows. Per row and instance of a pattern, x counts
the records of the row that are published by it; per instance, y says whether it is used. An
instance that is used has k records. Beyond the source, which places every record, a record may lose
all its cells, in a class of such records or left out as the policy allows: so the loss that is
minimized is that of what is published. The program is tightened: instances that
cannot have k records are left out, x is at most y times the records of its row, a pattern that
another one replaces at no cost is left out, and rows that share no instance are solved apart. The
greedy assignment is the first solution. Models of sensitive columns are met by cuts
(`integer_program`); rows that differ in a sensitive value are rows apart.

The fixed-parameter algorithm of the source (Theorem 2) takes 2^(rows x patterns) steps before any
polynomial; the program has as many variables as that exponent, and its bounds cut off nearly all of
the choices that the algorithm would try. So it stands in for it, as it did in the source's own
experiments.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", section 2.
"""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.methods.options import PatternOptions
from sqlanon.methods.patterns.integer_program import BUILDING, Component, Places
from sqlanon.methods.patterns.method import decide_patterns
from sqlanon.methods.patterns.problem import (
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
from sqlanon.search.arrays import Numbers
from sqlanon.search.patterns.cuts import inseparable
from sqlanon.search.patterns.greedy import LEFT, Placed, instance_keys
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted

MOST_PLACES = 5_000_000
"""Rows times patterns beyond which neither the memory nor the time of a program is in reach."""

LATER = 2
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
    if rows * patterns > MOST_PLACES:
        raise PolicyError(
            f"{counted(rows, 'distinct row')} by {counted(patterns, 'pattern')} are too many for "
            "pattern-exact; give fewer patterns, or use pattern-greedy"
        )
    began = table.deadline.left()
    try:
        places = places_of(table)
        # Never so without a limit: infinity less infinity compares with nothing.
        if table.deadline.left() < LATER * (began - table.deadline.left()):
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
    found = [
        greedy_parts(table, first),
        _parts(table, places, counts=relaxed),
        _as_one_class(table),
    ]
    cost, best = _cheapest(table, found, policy=policy)
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


def _cheapest(table: PatternProblem, found: list[Parts], *, policy: Policy) -> tuple[float, Parts]:
    """The first of those that cost least as they are published, and that cost [units]."""
    costs = [published_cost(table, parts, policy=policy) for parts in found]
    least = min(costs)
    return least, found[costs.index(least)]


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
    for number, own in enumerate(apart):
        if table.deadline.left() < len(own) * BUILDING:
            rest = np.concatenate(apart[number:])
            some = places.of(rest)
            rows, place = np.unique(some.row, return_inverse=True)
            least = left_cost[rows]
            np.minimum.at(least, place, some.cost)
            kept = first.pattern[some.row] == some.pattern
            counts[rest] = np.where(kept, table.rows.sizes[some.row], 0)
            return counts, bound + int(least @ table.rows.sizes[rows])
        part = Component(table, places.of(own), first=first, left=left_cost)
        records = int(part.sizes.sum())
        # From a start that leaves too many the best that is allowed may be no improvement.
        is_start = records - int(part.start.sum()) <= most_left
        start = part.start if is_start else np.zeros_like(part.start)
        counts[own], low = part.run(start, min(records, most_left), deadline=table.deadline)
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
    found, instances = [], 0
    costs = [table.cost(rows, node) for node in table.nodes]
    for pattern in undominated(table, costs):
        table.deadline.check()
        _, group = np.unique(
            instance_keys(table.rows.codes[rows].T, table.masks[pattern]), return_inverse=True
        )
        sizes = table.rows.counted(rows, group, groups=int(group.max()) + 1)
        own = np.flatnonzero(sizes[group] >= table.k)
        where = instances + group[own]
        found.append((rows[own], np.full(len(own), pattern), where, costs[pattern][own]))
        instances += len(sizes)
    return Places(*map(np.concatenate, zip(*found, strict=True)))


def undominated(table: PatternProblem, costs: list[Numbers]) -> list[int]:
    """The patterns without those that a coarser one replaces without losing more.

    The records of an instance all share one instance of the coarser pattern, so they can move
    there together: the models that are not refused hold for the union of classes that satisfy them.
    Of patterns that tell the same records apart and lose the same the first one stays. Where
    persons are counted, models that more records can break need not hold for the union of classes
    that share a person: then all patterns stay.
    """
    if not table.rows.union_closed:
        return list(range(len(table.nodes)))
    sizes = table.rows.sizes
    totals = np.array([cost @ sizes[sizes > 0] for cost in costs])
    codes, kept = table.rows.codes, []
    masks = table.masks & np.bitwise_or.reduce(codes ^ codes[0])  # other bits tell nobody apart
    for number, mask in enumerate(masks):
        table.deadline.check()
        coarser = ((masks & mask) == masks).all(axis=1) & (totals <= totals[number])
        coarser[number] = False
        replaced = any(
            (costs[other] <= costs[number]).all()
            and (other < number or (masks[other] != mask).any())
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
