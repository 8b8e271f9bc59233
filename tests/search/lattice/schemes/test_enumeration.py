"""Systematic searches of all columns against every recoding, by the schemes' definitions."""

import itertools
from unittest.mock import patch

import pytest
from deadlines import deadline_after
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.schemes import Table
from search.lattice.schemes.columns import line, problem_of, prunings, tables

from benchmarks.prunings import NONE, FoundFirst, Prunings, bottom_up, top_down
from sqlanon.methods.registry import METHODS
from sqlanon.progress import following
from sqlanon.search.lattice.schemes import enumeration
from sqlanon.search.lattice.schemes.branch_and_bound import best_recoding
from sqlanon.search.lattice.schemes.enumeration import Frontier, Least, Opened

SEARCHES = [enumeration.bottom_up, enumeration.top_down]
searches = st.sampled_from(SEARCHES)
pruned_searches = st.sampled_from([bottom_up, top_down])
losses = st.sampled_from(METHODS["scheme"].losses)


def brute_force(problem, recodings):
    """The best of some recodings: least cost, fewest suppressed, greatest partitions."""
    found = [(problem.evaluate(own), own) for own in recodings]
    within = [
        (-own.cost, -own.suppressed, recoding)
        for own, recoding in found
        if own.suppressed <= problem.allowance
    ]
    return max(within, default=None)


def told(outcome):
    """An outcome as `brute_force` says it."""
    if outcome.partitions is None:
        return None
    return (-outcome.value, -outcome.suppressed, outcome.partitions)


@settings(max_examples=300)
@given(tables(), losses, pruned_searches, prunings)
def test_search_equals_brute_force_and_its_order_of_ties(table, loss, search, left_out):
    problem = problem_of(table, loss)
    outcome = search(problem, left_out)
    assert told(outcome) == brute_force(problem, table.recodings())
    assert outcome.proven


@settings(max_examples=40)
@given(tables(), losses)
def test_classes_are_judged_alike_a_few_at_a_time(table, loss):
    """Classes times sensitive values can be far more than fit into memory."""
    problem, every = problem_of(table, loss), list(itertools.islice(table.recodings(), 20))
    at_once = [problem.evaluate(own) for own in every]
    with patch("sqlanon.search.privacy.COUNTS_AT_ONCE", 1):
        assert [problem.evaluate(own) for own in every] == at_once


@settings(max_examples=100)
@given(tables(), losses, searches)
def test_search_finds_the_least_loss_by_its_definition(table, loss, search):
    problem = problem_of(table, loss)
    outcome, least = search(problem), table.least(loss)
    assert (outcome.partitions is None) == (least is None)
    if least is not None:
        unit = 1 if problem.prices is None else problem.prices.whole
        assert outcome.value / unit == pytest.approx(float(least), rel=1e-9, abs=1e-9)


@settings(max_examples=100)
@given(tables(), pruned_searches)
def test_search_without_prunings_looks_at_every_recoding_once(table, search):
    problem = problem_of(table, "discernibility")
    recodings = len([*table.recodings()])
    assert search(problem, NONE).checked == recodings + 1  # the coarsest comes first


@settings(max_examples=100)
@given(tables(), losses, pruned_searches, prunings, st.integers(1, 5000), st.integers(1, 4))
def test_search_in_little_room_finds_the_same(table, loss, search, left_out, room, chunk):
    problem = problem_of(table, loss)
    with patch.object(enumeration, "_CHILDREN_AT_ONCE", chunk):
        outcome = search(problem, left_out, room=room)
    assert told(outcome) == told(search(problem, left_out))


@settings(max_examples=60)
@given(tables(), losses, pruned_searches, prunings)
def test_search_that_is_given_its_result_returns_it_at_once(table, loss, search, left_out):
    problem = problem_of(table, loss)
    found = search(problem, left_out)
    if found.partitions is not None:
        start = Prunings(start=found.partitions)
        assert told(search(problem, start)) == told(found)
        assert told(search(problem, start, deadline=deadline_after(0))) == told(found)


def test_search_tells_how_far_it_is():
    lines = []
    columns = [line(3, [2, 2, 2]), line(2, [3, 3])]
    records = [*itertools.product(range(3), range(2), [0])]
    table = Table(columns, ["sps", "sps"], records, 2, 0, diverse=1, share=1)
    with patch.object(enumeration, "_TELL_EVERY", 5), following(lines.append):
        bottom_up(problem_of(table, "discernibility"), NONE)
    assert lines[0].endswith("recodings evaluated")


@pytest.mark.every_row
@pytest.mark.parametrize("search", [*SEARCHES, best_recoding])
def test_model_that_fails_of_all_records_may_hold_of_some(search):
    """Five of nine have one value; without the first of them it is half of each class."""
    records = [(0, 0), *[(1, 0)] * 4, *[(2, 1)] * 4]
    table = Table([line(3, [1, 4, 4])], ["ops"], records, 1, 1, diverse=1, share=0.5)
    outcome = search(problem_of(table, "discernibility"))
    assert (outcome.partitions, outcome.suppressed, outcome.value) == (((0, 1, 1),), 1, 73)


@pytest.mark.every_row
@pytest.mark.parametrize("search", SEARCHES)
def test_of_recodings_that_cost_the_same_the_least_general_is_best(search):
    records = [(0, 0, 0), (0, 0, 0), (1, 1, 0), (1, 1, 0)]
    columns = [line(2, [2, 2]), line(2, [2, 2])]
    table = Table(columns, ["ops", "ops"], records, 2, 0, diverse=1, share=1)
    outcome = search(problem_of(table, "discernibility"))
    assert (outcome.partitions, outcome.value) == (((0, 1), (0, 1)), 8)


@settings(max_examples=150)
@given(tables(), losses, pruned_searches, prunings, st.integers(0, 40))
def test_time_limit_leaves_the_best_so_far_and_a_bound_that_holds(
    table, loss, search, left_out, looks
):
    problem = problem_of(table, loss)
    outcome = search(problem, left_out, deadline=deadline_after(looks))
    best = brute_force(problem, table.recodings())
    if best is None:
        assert outcome.partitions is None
        return
    assert outcome.bound <= -best[0]
    if outcome.partitions is not None:
        found = problem.evaluate(outcome.partitions)
        assert (outcome.value, outcome.suppressed) == (found.cost, found.suppressed)
        assert outcome.suppressed <= problem.allowance
    if outcome.proven:
        assert outcome.value == -best[0]


@settings(max_examples=30)
@given(tables(), searches)
def test_time_that_is_over_leaves_the_coarsest_where_it_satisfies_the_policy(table, search):
    problem = problem_of(table, "discernibility")
    coarsest = problem.evaluate(problem.coarsest)
    outcome = search(problem, deadline=deadline_after(0))
    if coarsest.suppressed <= problem.allowance:
        assert outcome.value <= coarsest.cost
        assert outcome.partitions is not None


def opened(cost):
    return Opened((), (), (), Least(cost, 0))


def popped(frontier):
    found = []
    while (own := frontier.pop()) is not None:
        found.append(own.least.cost)
    return found


def filled(frontier, *costs):
    for cost in costs:
        frontier.push(opened(cost))
    return frontier


def test_queue_takes_the_least_bound_first():
    assert popped(filled(Frontier(9), 5, 3, 4)) == [3, 4, 5]


def test_queue_by_time_takes_what_was_found_first():
    assert popped(filled(FoundFirst(9), 5, 3, 4)) == [5, 3, 4]


def test_full_queue_goes_depth_first():
    assert popped(filled(Frontier(2), 5, 3, 4, 1, 6)) == [6, 1, 4, 3, 5]


def test_bounds_are_those_of_queue_and_stack():
    assert sorted(filled(Frontier(1), 5, 3, 4).bounds()) == [3, 4, 5]
