"""Anytime search: never worse, never against the models, and below no optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from deadlines import until
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import (
    Distinct,
    candidates_of,
    check,
    closure_of,
    held_by,
    itemsets,
    least_loss,
    optimum,
    problem_of,
    random_table,
)
from strategies import bounded, problems

from sqlanon.deadline import Deadline
from sqlanon.errors import UnsatisfiableError
from sqlanon.search.clustering import refinement
from sqlanon.search.clustering.anytime import crossed, improved
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering
from sqlanon.search.clustering.direct_cover import direct_cover
from sqlanon.search.clustering.dual_bound import dual_bound
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.reduced_cost_cover import reduced_cost_cover
from sqlanon.search.clustering.refinement import ClosuresMet, parts_of_k, refine

pytestmark = pytest.mark.slow

FEW = settings(max_examples=40)


def covered(problem):
    """Clusters of a table that has any."""
    try:
        clusters = direct_cover(problem, candidates_of(problem))
    except UnsatisfiableError:
        assume(False)
    assume(len(clusters.nodes))
    return clusters


@FEW
@given(problems(), st.integers(0, 3), st.integers(1, 3))
def test_clusters_lose_no_more_than_the_start_and_no_less_than_the_optimum(problem, seed, turns):
    start = Clustering.of(problem, np.zeros(problem.records, np.int64))
    found = improved(problem, start, passes=4, turns=turns, seed=seed)
    check(problem, found)
    assert least_loss(problem) <= found.loss(problem) <= start.loss(problem)


@FEW
@given(problems(most=16, demanding=True), st.integers(0, 3))
def test_clusters_keep_the_demand(problem, seed):
    assume(problem.satisfies(np.arange(problem.records)))
    start = direct_cover(problem, candidates_of(problem))
    found = improved(problem, start, passes=4, seed=seed)
    check(problem, found)
    assert found.loss(problem) <= start.loss(problem)


@FEW
@given(bounded(demanding=True), st.integers(0, 3))
def test_clusters_keep_highest_levels_and_the_allowance(problem, seed):
    start = covered(problem)
    found = improved(problem, start, passes=4, seed=seed)
    check(problem, found)
    assert optimum(problem) <= found.loss(problem) <= start.loss(problem)


def test_what_it_covers_anew_loses_less_than_refinement_alone(monkeypatch):
    """Both look at each record as often."""
    problem = random_table(300, 5)
    start, turns, passes = cut_clusters(problem), 3, 8
    found = improved(problem, start, passes=passes, turns=turns)
    alone = improved(problem, start, passes=(turns + 0.5) * passes, turns=0)
    assert found.loss(problem) < alone.loss(problem) < start.loss(problem)


def test_no_turns_are_refinement_alone():
    problem = random_table(80, 3)
    start = cut_clusters(problem)
    found = improved(problem, start, passes=5, turns=0, seed=7)
    assert found.label.tolist() == refine(problem, start, passes=5, seed=7).label.tolist()


@pytest.mark.parametrize("demand", [None, Distinct(np.arange(80) % 3, 3)])
def test_equal_seeds_give_equal_clusters(demand):
    problem = random_table(80, 3, demand=demand)
    start = direct_cover(problem, candidates_of(problem))
    first, again, other = (
        improved(problem, start, passes=1, seed=seed).label.tolist() for seed in (7, 7, 8)
    )
    assert first == again != other


@pytest.mark.parametrize("rows", [[("a",), ("b",)], [("a",), ("a",)], [("a",)]])
def test_a_table_of_one_cluster_stays_as_it_is(rows):
    problem = problem_of(rows, len(rows))
    start = Clustering.of(problem, np.zeros(len(rows), np.int64))
    assert improved(problem, start, passes=4).label.tolist() == start.label.tolist()


def test_records_that_are_all_left_out_stay_so():
    problem = problem_of([("a",), ("b",), ("a",)], 2)
    start = Clustering.of(problem, np.full(3, NOWHERE))
    assert improved(problem, start, passes=4).label.tolist() == start.label.tolist()


def test_no_time_returns_the_start():
    problem = random_table(80, 3)
    start = cut_clusters(problem)
    assert improved(replace(problem, deadline=Deadline(0)), start, passes=5) is start


def test_whenever_the_time_is_over_clusters_are_valid_and_lose_no_more():
    problem = random_table(120, 4, demand=Distinct(np.arange(120) % 3, 2))
    start, losses = direct_cover(problem, candidates_of(problem)), set()
    for looks in (1, 2, 3, 5, 8, 20, 60, 150, 400, 1000):
        found = improved(until(problem, looks), start, passes=5)
        check(problem, found)
        losses.add(found.loss(problem))
    assert len(losses) > 2
    assert max(losses) == start.loss(problem)


@FEW
@given(problems(most=14), st.integers(0, 3))
def test_closures_met_are_closures_of_k_records_each_once(problem, seed):
    met = ClosuresMet(problem.taxonomies)
    every = {nodes for nodes, _ in itemsets(problem)}
    start = Clustering.of(problem, np.zeros(problem.records, np.int64))
    refine(problem, start, passes=8, seed=seed, met=met)
    if len(met):
        nodes = list(map(tuple, met.candidates(problem).nodes.tolist()))
        assert len(nodes) == len(set(nodes)) == len(met)
        assert set(nodes) <= every


@pytest.mark.parametrize("waiting", [2**18, 3])
def test_the_boxes_of_small_tables_are_all_closures_of_two_records_and_unions(waiting, monkeypatch):
    """For k = 2 and as few records as a pool has, no closure of two records is missed."""
    monkeypatch.setattr(refinement, "MAX_WAITING", waiting)
    problem = random_table(10, 2, seed=3)
    pairs = {
        nodes
        for first in range(10)
        for other in range(first)
        if len(held_by(problem, nodes := closure_of(problem, [first, other]))) >= 2
    }
    met = ClosuresMet(problem.taxonomies)
    refine(problem, cut_clusters(problem), passes=60, met=met)
    assert set(map(tuple, met.candidates(problem).nodes.tolist())) >= pairs


@FEW
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_what_is_met_again_is_kept_once(drawn):
    problem = problem_of([("a", "x"), ("b", "y")] * 2, 2)
    met = ClosuresMet(problem.taxonomies)
    for start in range(0, len(drawn), 4):
        met.add(np.array(drawn[start : start + 4]))
    candidates = met.candidates(problem)
    assert sorted(map(tuple, candidates.nodes.tolist())) == sorted(set(drawn))
    assert set(candidates.support.tolist()) == {problem.k}


@FEW
@given(problems(most=14), st.integers(0, 3))
def test_a_cover_keeps_the_clusters_that_it_is_given(problem, seed):
    candidates = candidates_of(problem)
    label = parts_of_k(problem, cut_clusters(problem))
    random = np.random.default_rng(seed)
    kept = np.flatnonzero(random.random(int(label.max()) + 1) < 0.5)
    number = np.full(int(label.max()) + 2, NOWHERE)
    number[kept] = np.arange(len(kept))
    duals = dual_bound(problem, candidates)
    found = reduced_cost_cover(problem, candidates, duals=duals, label=number[label])
    check(problem, found)
    assert (found.label != NOWHERE).all()
    for cluster in kept:
        assert len(set(found.label[label == cluster].tolist())) == 1


def test_crossed_clusters_are_the_better_ones_of_each_part():
    problem = problem_of([(value,) for value in "aabbccdd"], 2)
    one = Clustering.of(problem, np.array([0, 0, 1, 1, 2, 2, 2, 2]))
    other = Clustering.of(problem, np.array([0, 0, 0, 0, 1, 1, 2, 2]))
    assert crossed(problem, one, other).label.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_crossed_clusters_leave_out_no_more_than_one_of_them():
    problem = replace(problem_of([(value,) for value in "aaaabccccd"], 2), allowance=1)
    one = Clustering.of(problem, np.array([0, 0, 0, 0, NOWHERE, 1, 1, 1, 1, 1]))
    other = Clustering.of(problem, np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, NOWHERE]))
    check(problem, crossed(problem, one, other))


@FEW
@given(bounded(demanding=True), st.integers(0, 3))
def test_crossed_clusters_lose_no_more_than_either(problem, seed):
    one = covered(problem)
    other = refine(problem, one, passes=2, seed=seed)
    found = crossed(problem, one, other)
    check(problem, found)
    assert optimum(problem) <= found.loss(problem) <= min(one.loss(problem), other.loss(problem))
    assert found.loss(problem) == crossed(problem, other, one).loss(problem)
