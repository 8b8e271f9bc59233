"""The search column by column against every recoding, by the schemes' definitions."""

import numpy as np
import pytest
from deadlines import deadline_after
from hypothesis import given, settings
from hypothesis import strategies as st
from search.lattice.schemes.columns import flat, problem_of, tables
from search.lattice.schemes.test_enumeration import brute_force

from sqlanon import AlphaAnonymity
from sqlanon.deadline import NEVER
from sqlanon.methods.registry import METHODS
from sqlanon.search.lattice.schemes import branch_and_bound, siblings
from sqlanon.search.lattice.schemes.branch_and_bound import best_recoding, quick_recoding
from sqlanon.search.lattice.schemes.scheme_problem import SchemeProblem
from sqlanon.search.privacy import Demands, ValueDemand

losses = st.sampled_from(METHODS["scheme"].losses)


def is_what_it_says(problem, outcome):
    """Whether the recoding of an outcome is allowed, and costs and suppresses what it says."""
    found = problem.evaluate(outcome.partitions)
    pairs = zip(problem.domains, outcome.partitions, strict=True)
    return (
        (found.cost, found.suppressed) == (outcome.value, outcome.suppressed)
        and found.suppressed <= problem.allowance
        and all(domain.is_valid(partition) for domain, partition in pairs)
    )


@settings(max_examples=240)
@given(tables(), losses)
def test_best_recoding_equals_brute_force(table, loss):
    problem = problem_of(table, loss)
    outcome, best = best_recoding(problem), brute_force(problem, table.recodings())
    assert outcome.proven
    if best is None:
        assert outcome.partitions is None
    else:
        assert outcome.value == -best[0]
        assert is_what_it_says(problem, outcome)


@settings(max_examples=100)
@given(tables(), losses)
def test_best_recoding_has_the_least_loss_by_its_definition(table, loss):
    problem = problem_of(table, loss)
    outcome, least = best_recoding(problem), table.least(loss)
    if least is not None:
        unit = 1 if problem.prices is None else problem.prices.whole
        assert outcome.value / unit == pytest.approx(float(least), rel=1e-9, abs=1e-9)


@settings(max_examples=100)
@given(tables(most=6, columns_most=1, schemes=("sps", "gsps")), losses)
def test_best_of_one_unordered_column_equals_brute_force(table, loss):
    problem = problem_of(table, loss)
    outcome, best = best_recoding(problem), brute_force(problem, table.recodings())
    assert (None if best is None else -best[0]) == (outcome.partitions and outcome.value)


@settings(max_examples=100)
@given(tables(), losses, st.one_of(st.none(), st.integers(0, 40)))
def test_a_quick_recoding_is_what_it_says_and_no_better_than_the_best(table, loss, looks):
    problem = problem_of(table, loss)
    deadline = NEVER if looks is None else deadline_after(looks)
    quick, best = quick_recoding(problem, deadline=deadline), best_recoding(problem)
    assert quick.bound <= best.value <= quick.value
    if quick.partitions is not None:
        assert is_what_it_says(problem, quick)
    assert all(step.value >= best.value for step in quick.steps)


@settings(max_examples=100)
@given(tables(), losses, st.integers(0, 40))
def test_time_limit_leaves_a_recoding_and_a_bound_that_holds(table, loss, looks):
    problem = problem_of(table, loss)
    outcome = best_recoding(problem, deadline=deadline_after(looks))
    best = brute_force(problem, table.recodings())
    if outcome.partitions is None:
        # Where a model can be broken by merging, the coarsest recoding may be none to begin with.
        assert best is None or not (problem.is_monotone or outcome.proven)
    else:
        assert outcome.bound <= -best[0] <= outcome.value
        assert is_what_it_says(problem, outcome)


@settings(max_examples=60)
@given(tables(), losses)
def test_columns_too_wide_to_be_listed_get_a_recoding_and_a_bound(table, loss):
    problem = problem_of(table, loss)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "MAX_LISTED_RECODINGS", 1)
        patch.setattr(siblings, "WIDEST", 2)
        outcome = best_recoding(problem)
    best = brute_force(problem, table.recodings())
    assert (outcome.partitions is None) == (best is None)
    if best is not None:
        assert outcome.bound <= -best[0] <= outcome.value
        assert is_what_it_says(problem, outcome)


def test_a_wide_column_keeps_to_the_allowance_where_the_coarsest_recoding_does_not():
    """A class that fails may be made of some that do not; moves begin with what is allowed."""
    units = np.array([[unit] for unit in range(6)])
    values = np.array([[0], [0], [0], [0], [0], [1]])
    domain = flat("sps", 6)
    demands = Demands(values, (ValueDemand(0, AlphaAnonymity(0.5), np.array([5, 1])),))
    problem = SchemeProblem((domain,), units, np.ones(6, np.int64), 1, 1, None, demands)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "MAX_LISTED_RECODINGS", 1)
        patch.setattr(siblings, "WIDEST", 2)
        outcome = best_recoding(problem)
    assert outcome.partitions is None
