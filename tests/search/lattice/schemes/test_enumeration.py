"""Systematic searches of all columns against every recoding, by the schemes' definitions."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search.lattice.schemes.columns import problem_of, prunings, tables

from sqlanon.deadline import Deadline
from sqlanon.search.lattice.schemes.enumeration import bottom_up, top_down
from sqlanon.search.lattice.schemes.problem import LOSSES
from sqlanon.search.lattice.schemes.prunings import NONE

SEARCHES = [bottom_up, top_down]
searches = st.sampled_from(SEARCHES)
losses = st.sampled_from(LOSSES)


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


def deadline_after(looks):
    """A deadline that comes after so many looks at the clock."""
    return Deadline(looks, itertools.count(1).__next__)


@settings(max_examples=300, deadline=None)
@given(tables(), losses, searches, prunings)
def test_search_equals_brute_force_and_its_order_of_ties(table, loss, search, left_out):
    problem = problem_of(table, loss)
    outcome = search(problem, left_out)
    assert told(outcome) == brute_force(problem, table.recodings())
    assert outcome.proven


@settings(max_examples=100, deadline=None)
@given(tables(), st.sampled_from(["discernibility", "hdm", "suppressed-cells"]), searches)
def test_search_finds_the_least_loss_by_its_definition(table, loss, search):
    problem = problem_of(table, loss)
    outcome, least = search(problem), table.least(loss)
    assert (outcome.partitions is None) == (least is None)
    if least is not None:
        unit = 1 if problem.prices is None else problem.prices.whole
        assert outcome.value / unit == pytest.approx(float(least), rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(tables(), searches)
def test_search_without_prunings_looks_at_every_recoding_once(table, search):
    problem = problem_of(table, "discernibility")
    recodings = len([*table.recodings()])
    assert search(problem, NONE).checked == recodings + 1  # the coarsest comes first


@settings(max_examples=100, deadline=None)
@given(tables(), losses, searches, prunings, st.integers(1, 5000))
def test_search_in_little_room_finds_the_same(table, loss, search, left_out, room):
    problem = problem_of(table, loss)
    assert told(search(problem, left_out, room=room)) == told(search(problem, left_out))


@settings(max_examples=150, deadline=None)
@given(tables(), losses, searches, prunings, st.integers(0, 40))
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


@settings(max_examples=30, deadline=None)
@given(tables(), searches)
def test_time_that_is_over_leaves_the_coarsest_where_it_satisfies_the_policy(table, search):
    problem = problem_of(table, "discernibility")
    coarsest = problem.evaluate(problem.coarsest)
    outcome = search(problem, deadline=deadline_after(0))
    if coarsest.suppressed <= problem.allowance:
        assert outcome.value <= coarsest.cost
        assert outcome.partitions is not None
