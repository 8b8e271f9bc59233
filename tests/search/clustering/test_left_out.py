"""Records left out: highest levels and a limit, against every partition of small tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import Distinct, candidates_of, limited, optimum, problem_of
from strategies import bounded

from sqlanon.errors import UnsatisfiableError
from sqlanon.policy.privacy import LDiversity
from sqlanon.search.clustering.assign import assign_rest, mend, returned, unplaceable
from sqlanon.search.clustering.blocks import cut_blocks
from sqlanon.search.clustering.direct_cover import direct_cover
from sqlanon.search.clustering.lower_bound import column_bounds, record_bounds
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.problem import NOWHERE, Clustering, members
from sqlanon.search.clustering.refinement import Effort, refine
from sqlanon.search.privacy import Demands, ValueDemand

FEW = settings(max_examples=25, deadline=None)


def placed(problem):
    """The problem of the records that some cluster may hold, with what is left of the allowance."""
    gone = unplaceable(problem)
    if gone.sum() > problem.allowance or gone.all():
        return None
    own = problem.part(np.flatnonzero(~gone))
    return replace(own, allowance=problem.allowance - int(gone.sum()))


def is_valid(problem, clusters):
    held = members(clusters)
    return (
        all(map(problem.satisfies, held))
        and int(clusters.sizes.sum()) == (clusters.label != NOWHERE).sum()
    )


@FEW
@given(bounded())
def test_what_is_unplaceable_no_clusters_can_hold_and_the_bound_is_below_the_optimum(problem):
    least, own = optimum(problem), placed(problem)
    assert (own is None) == (least is None)
    if own is None:
        return
    gone = problem.records - own.records
    candidates = candidates_of(own)
    every = record_bounds(own, candidates, uncovered=own.suppressed)
    assert (column_bounds(own) <= every).all()
    assert every.sum() + gone * own.suppressed <= least


@FEW
@given(bounded(), st.integers(0, 3))
def test_refined_clusters_keep_to_levels_and_limit_and_never_lose_more(problem, seed):
    least, own = optimum(problem), placed(problem)
    if own is None:
        return
    first = direct_cover(own, candidates_of(own))
    found = returned(own, refine(own, first, effort=Effort(seed=seed)))
    assert is_valid(own, first)
    assert is_valid(own, found)
    assert (found.label == NOWHERE).sum() <= own.allowance
    lost = (problem.records - own.records) * problem.suppressed
    assert least <= found.loss(own) + lost <= first.loss(own) + lost


def as_model(problem):
    """The same problem, its demand of distinct values as the model that it is."""
    values = np.array(problem.demand.values)
    asked = ValueDemand(0, LDiversity(problem.demand.least), np.bincount(values, minlength=1))
    return replace(problem, demand=Demands(values[:, np.newaxis], (asked,)))


@FEW
@given(bounded(demanding=True))
def test_clusters_of_every_start_satisfy_the_demand_within_their_division(problem):
    own = placed(problem)
    if own is None:
        return
    nobody, alone = np.full(own.records, NOWHERE), np.arange(own.records)
    starts = (
        lambda: assign_rest(own, nobody),
        lambda: mend(own, Clustering.of(own, alone)),
        lambda: cut_clusters(as_model(own)),
    )
    for start in starts:
        try:
            found = start()
        except UnsatisfiableError:
            continue
        assert is_valid(own, found)


@FEW
@given(bounded(), st.integers(1, 4))
def test_blocks_part_no_division_into_what_cannot_stand(problem, most):
    own = placed(problem)
    if own is None:
        return
    blocks = cut_blocks(own, most)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(own.records))
    assert not any(unplaceable(own.part(block)).any() for block in blocks)


def test_a_record_that_spoils_a_cluster_is_left_out_once_that_gains():
    """Without the stranger three records keep two cells each, which its own two do not outweigh."""
    rows = [("a", "x")] * 3 + [("b", "y")]
    problem = replace(problem_of(rows, 3), allowance=1)
    whole = Clustering.of(problem, np.zeros(4, np.int64))
    assert whole.loss(problem) == 4 * problem.suppressed
    found = refine(problem, whole)
    assert found.label.tolist() == [0, 0, 0, NOWHERE]
    assert found.loss(problem) == problem.suppressed


def test_a_record_comes_back_where_it_adds_less_than_it_costs_outside():
    problem = replace(problem_of([("a", "x")] * 3, 2), allowance=1)
    found = returned(problem, Clustering.of(problem, np.array([0, 0, NOWHERE])))
    assert found.label.tolist() == [0, 0, 0]


def test_a_division_whose_records_fail_the_demand_together_is_unplaceable():
    problem = limited(problem_of([("a",), ("a",), ("b",), ("b",)], 2), (0,), 2)
    problem = replace(problem, demand=Distinct([1, 2, 1, 1], 2))
    assert unplaceable(problem).tolist() == [False, False, True, True]


@pytest.mark.parametrize("allowance", [0, 1])
def test_what_nothing_can_be_merged_with_is_left_out_as_far_as_that_is_allowed(allowance):
    problem = limited(problem_of([("a",), ("a",), ("b",)], 2), (0,), allowance)
    if allowance:
        assert assign_rest(problem, np.full(3, NOWHERE)).label.tolist() == [0, 0, NOWHERE]
        return
    with pytest.raises(UnsatisfiableError, match="highest levels allow"):
        assign_rest(problem, np.full(3, NOWHERE))
