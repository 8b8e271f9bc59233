"""Lower bounds: of columns and of itemsets, whole or cut short; covers that are cut short."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import candidates_of, least_loss, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.clustering.direct_cover import Cheapest, direct_cover
from sqlanon.search.clustering.problem import column_bounds
from sqlanon.search.clustering.set_cover import set_cover

FEW = settings(max_examples=40, deadline=None)


def until(problem, looks):
    return replace(problem, deadline=Deadline(looks, itertools.count(1).__next__))


@FEW
@given(problems())
def test_what_columns_cost_is_no_more_than_what_itemsets_cost(problem):
    every = Cheapest.of(problem, candidates_of(problem)).cost
    assert (column_bounds(problem) <= every).all()


@FEW
@given(problems(), st.integers(0, 3))
def test_a_bound_that_is_cut_short_is_one(problem, looks):
    candidates = candidates_of(problem)
    cut = Cheapest.of(until(problem, looks), candidates).cost
    assert (cut <= Cheapest.of(problem, candidates).cost).all()


def test_a_cover_that_is_cut_short_raises():
    problem = problem_of([("a",)] * 3 + [("b",)] * 3, 3)
    candidates = candidates_of(problem)
    for cover in (set_cover, direct_cover):
        with pytest.raises(TimeLimitError):
            cover(until(problem, 0), candidates)


def test_the_bound_of_columns_is_below_the_least_loss():
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("a", "x")]
    problem = problem_of(rows, 2)
    assert int(np.sum(column_bounds(problem))) <= least_loss(problem)
