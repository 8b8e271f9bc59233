"""Covers by reduced cost: the sets that looking at all closures finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import Balanced, candidates_of, held_by, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.clustering import reduced_cost_cover as reduced_cost
from sqlanon.search.clustering.clustering_problem import NOWHERE, members
from sqlanon.search.clustering.dual_bound import Duals, dual_bound
from sqlanon.search.clustering.reduced_cost_cover import (
    MAX_REDUCED_COST,
    chosen_sets,
    reduced_cost_cover,
)

FEW = settings(max_examples=20)


def naive(problem, candidates, duals):
    """The sets of the greedy rule, by a look at all closures each time."""
    left, found = set(range(problem.records)), []
    while True:
        best = None
        for number, candidate in enumerate(duals.near):
            held = [i for i in held_by(problem, candidates.nodes[candidate]) if i in left]
            held.sort(key=lambda i: (-duals.price[i], i))
            if len(held) >= problem.k:
                cost, first = candidates.cost[candidate], held[: problem.k]
                own = (cost - sum(duals.price[i] for i in first) / problem.k, number)
                worth = [i for i in held[problem.k :] if duals.price[i] > cost]
                best = min(best or (own, []), (own, first + worth), key=lambda each: each[0])
                best = (best[0], best[1] or first + worth)
        if best is None or best[0][0] > MAX_REDUCED_COST * duals.price.mean():
            return found
        found.append(sorted(best[1]))
        left -= set(best[1])


@st.composite
def priced(draw, **options):
    """A table with its candidates, some of them as near, and whole prices."""
    problem = draw(problems(**options))
    candidates = candidates_of(problem)
    most = 2 * int(candidates.cost.max()) + 1
    prices = draw(
        st.lists(st.integers(-2, most), min_size=problem.records, max_size=problem.records)
    )
    some = draw(st.sets(st.integers(0, len(candidates) - 1), min_size=1))
    price = np.array(prices, np.float64)
    return problem, candidates, Duals(price, 0, np.array(sorted(some), np.int64))


@pytest.mark.slow
@pytest.mark.parametrize("remembered", [1024, 3])
def test_sets_are_those_that_looking_at_all_closures_finds(remembered, monkeypatch):
    monkeypatch.setattr(reduced_cost, "LEAST_REMEMBERED", remembered)
    monkeypatch.setattr(reduced_cost, "REMEMBERED", 1)

    @FEW
    @given(priced())
    def check(case):
        problem, candidates, duals = case
        label = chosen_sets(problem, candidates, duals=duals)
        found = [np.flatnonzero(label == one).tolist() for one in range(label.max() + 1)]
        wanted = naive(problem, candidates, duals)
        if remembered == 1024:
            assert found == wanted
        else:  # a set takes no more than is remembered, and the closure comes again
            assert all(len(each) >= problem.k for each in found)

    check()


@FEW
@given(priced(most=12, demanding=True))
def test_covers_by_reduced_cost_may_be_published(case):
    problem, candidates, duals = case
    assume(problem.satisfies(np.arange(problem.records)))
    found = reduced_cost_cover(problem, candidates, duals=duals)
    assert (found.label != NOWHERE).all()
    assert all(problem.satisfies(records) for records in members(found))


def test_a_set_that_fails_the_demand_grows_until_it_holds():
    rows = [("a",)] * 4 + [("b",)]
    problem = problem_of(rows, 2, demand=Balanced([0, 0, 1, 1, 0]))
    duals = Duals(np.array([4.0, 3.0, 2.0, 1.0, 0.0]) / 100, 0, np.array([0]))
    candidates = candidates_of(problem)
    free = replace(problem, demand=None)
    dear = replace(candidates, cost=candidates.cost + 1)
    price = replace(duals, price=duals.price + 1)
    assert chosen_sets(free, dear, duals=price).tolist()[:2] == [0, 0]
    assert chosen_sets(problem, dear, duals=price).tolist() == [0, 0, 0, 0, NOWHERE]


def test_a_cover_by_reduced_cost_ends_with_the_time():
    problem = problem_of([("a",), ("b",)] * 3, 2)
    candidates = candidates_of(problem)
    late = replace(problem, deadline=Deadline.after(0.0))
    with pytest.raises(TimeLimitError):
        chosen_sets(late, candidates, duals=dual_bound(problem, candidates))
