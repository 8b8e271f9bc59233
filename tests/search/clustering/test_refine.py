"""Refinement: never worse, never against the models, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import Distinct, candidates_of, check, least_loss, problem_of, random_table
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering
from sqlanon.search.clustering.direct_cover import Cheapest, direct_cover
from sqlanon.search.clustering.refinement import cut_groups, parts_of_k, refine
from sqlanon.search.clustering.set_cover import set_cover

FEW = settings(max_examples=30)
SHORT = 30


@FEW
@given(problems(), st.integers(0, 3))
def test_refinement_never_raises_the_loss_and_keeps_k(problem, seed):
    clusters = direct_cover(problem, candidates_of(problem))
    found = refine(problem, clusters, passes=8, seed=seed)
    check(problem, found)
    assert (found.label >= 0).all()
    assert least_loss(problem) <= found.loss(problem) <= clusters.loss(problem)


@settings(max_examples=40)
@given(problems(most=16, demanding=True), st.integers(0, 3), st.booleans())
def test_refinement_keeps_the_demand_of_random_tables(problem, seed, direct):
    assume(problem.satisfies(np.arange(problem.records)))
    candidates = candidates_of(problem)
    clusters = direct_cover(problem, candidates) if direct else set_cover(problem, candidates)[0]
    found = refine(problem, clusters, passes=8, seed=seed)
    check(problem, found)
    assert (found.label >= 0).all()
    assert found.loss(problem) <= clusters.loss(problem)


def test_a_cluster_stays_whole_where_the_deadline_comes_before_it_is_cut():
    problem = random_table(12, 2)
    whole = Clustering.of(problem, np.zeros(12, np.int64))
    assert len(set(parts_of_k(problem, whole).tolist())) == 6
    late = replace(problem, deadline=Deadline(0, lambda: 1))
    assert set(parts_of_k(late, whole).tolist()) == {0}


def test_a_round_whose_pools_all_lose_more_changes_nothing():
    """Neighbouring clusters that satisfy the demand, and that nothing cheaper can replace."""
    rows = [(str(n % 10), str(n % 7)) for n in range(200)]
    problem = problem_of(rows, 5, demand=Distinct(np.arange(200) % 4, 2))
    before = direct_cover(problem, candidates_of(problem))
    found = refine(problem, before, passes=SHORT)
    check(problem, found)
    assert found.loss(problem) <= before.loss(problem)


@pytest.mark.parametrize("demand", [None, Distinct(np.arange(120) % 3, 3)])
@pytest.mark.parametrize("is_bounded", [False, True])
def test_refinement_gains_on_a_direct_cover(demand, is_bounded):
    problem = random_table(120, 4, demand=demand)
    candidates = candidates_of(problem)
    before, least = direct_cover(problem, candidates), Cheapest.of(problem, candidates).cost
    found = refine(problem, before, passes=SHORT, bounds=least if is_bounded else None)
    check(problem, found)
    assert least.sum() <= found.loss(problem) < before.loss(problem)


def test_equal_seeds_give_equal_clusters():
    problem = random_table(80, 3)
    before = direct_cover(problem, candidates_of(problem))
    labels = [refine(problem, before, passes=5, seed=7).label.tolist() for _ in range(2)]
    assert labels[0] == labels[1]


def test_no_time_is_no_search():
    problem = random_table(80, 3)
    before = direct_cover(problem, candidates_of(problem))
    assert refine(replace(problem, deadline=Deadline(0)), before, passes=5) is before


def test_a_table_of_one_cluster_stays_as_it_is():
    problem = problem_of([("a",), ("b",)], 2)
    before = Clustering.of(problem, np.zeros(2, np.int64))
    assert refine(problem, before).label.tolist() == [0, 0]


@FEW
@given(problems(), st.integers(0, 3))
def test_suppressed_records_stay_suppressed(problem, seed):
    label = np.zeros(problem.records, np.int64)
    label[problem.k :] = NOWHERE
    before = Clustering.of(problem, label)
    found = refine(problem, before, passes=4, seed=seed)
    assert (found.label == NOWHERE).tolist() == (before.label == NOWHERE).tolist()
    assert found.loss(problem) <= before.loss(problem)


@FEW
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 4))
def test_groups_are_cut_into_parts_of_k_to_2k_minus_1(members, k):
    group = np.unique(members, return_inverse=True)[1]
    parts = cut_groups(group, k)
    assert set(parts.tolist()) == set(range(parts.max() + 1))
    for part in range(parts.max() + 1):
        own = group[parts == part]
        whole = int((group == own[0]).sum())
        assert (own == own[0]).all()
        assert k <= len(own) <= 2 * k - 1 or len(own) == whole < k
