"""The dual bound: never above the optimum, never below the bound it starts from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import candidates_of, least_loss
from strategies import problems

from sqlanon.search.clustering.lower_bound.cheapest import record_bounds
from sqlanon.search.clustering.lower_bound.duals import Ascent, dual_bound

FEW = settings(max_examples=25, deadline=None)


@FEW
@given(problems(), st.sampled_from(Ascent))
def test_the_dual_bound_is_between_the_cheapest_itemsets_and_the_least_loss(problem, effort):
    candidates = candidates_of(problem)
    found = dual_bound(problem, candidates, effort=effort)
    assert record_bounds(problem, candidates).sum() <= found.total <= least_loss(problem)
