"""Pools parted anew: as good as the best partition of small ones, never worse, always allowed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import Distinct, candidates_of, check, optimum, problem_of, random_table
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.search.clustering import repartition as search
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering
from sqlanon.search.clustering.direct_cover import direct_cover
from sqlanon.search.clustering.repartition import repartitioned
from sqlanon.search.clustering.repartition_programs import (
    assignment_program,
    column_program,
    dissolve,
    local_prices,
    solved,
)

pytestmark = pytest.mark.slow

FEW = settings(max_examples=12)


def improved(problem, clusters, *, pools=2, seed=0, price=None):
    return repartitioned(problem, clusters, price=price, pools=pools, seed=seed).clusters


@FEW
@given(problems(most=7), st.booleans(), st.integers(0, 2))
def test_a_pool_is_parted_as_well_as_its_closures_allow(problem, by_columns, allowance):
    problem = replace(problem, allowance=allowance)
    whole = np.arange(problem.records)
    pool = dissolve(
        *(problem, Joins(problem.taxonomies)),
        clusters=[whole],
        outside=whole[:0],
        room=allowance or -1,
        random=np.random.default_rng(0),
    )
    pool, price = local_prices(pool, k=problem.k)

    def cost_in_pool(_, group):
        return pool.cost[pool.contains[:, group].all(axis=1)].min()

    best = optimum(problem, cost=cost_in_pool)
    assert price.sum() <= best * (1 + 1e-9)
    made = (
        column_program(problem, pool, price)
        if by_columns
        else assignment_program(pool, price, k=problem.k)
    )
    found = pool.loss
    if made is not None:
        program, parts_of = made
        clusters = Clustering.of(problem, parts_of(solved(program, math.inf)))
        check(problem, clusters)
        found = clusters.loss(problem)
    assert optimum(problem) <= found <= best


@FEW
@given(problems(most=14, demanding=True), st.integers(0, 2), st.integers(0, 2))
def test_clusters_never_lose_more_and_stay_allowed(problem, seed, allowance):
    assume(problem.satisfies(np.arange(problem.records)))
    problem = replace(problem, allowance=allowance)
    before = direct_cover(problem, candidates_of(problem))
    found = improved(problem, before, seed=seed)
    check(problem, found)
    assert found.loss(problem) <= before.loss(problem)


@FEW
@given(problems(most=14), st.integers(0, 2))
def test_highest_levels_hold(problem, allowance):
    tops = tuple(int(taxonomy.level.max()) - 1 for taxonomy in problem.taxonomies)
    problem = replace(problem, highest=tops, allowance=allowance)
    label = problem.division
    few = np.flatnonzero(np.bincount(label)[label] < problem.k)
    assume(len(few) <= allowance < problem.records)
    label[few] = NOWHERE
    assume((label >= 0).any())
    before = Clustering.of(problem, label)
    found = improved(problem, before)
    check(problem, found)
    assert found.loss(problem) <= before.loss(problem)


@pytest.mark.parametrize("k", [3, 12])
def test_groups_of_few_and_of_many_records_lose_less(k):
    """Those of 3 records are columns of the program, those of 12 are assigned to closures."""
    problem = random_table(10 * k, k)
    before = Clustering.of(problem, np.arange(10 * k) // k)
    found = improved(problem, before, pools=6)
    check(problem, found)
    assert found.loss(problem) < before.loss(problem)


def test_a_demand_holds_where_less_is_lost():
    problem = random_table(96, 3, demand=Distinct(np.arange(96) % 4, 2))
    before = Clustering.of(problem, np.arange(96) // 3)
    found = improved(problem, before, pools=6)
    check(problem, found)
    assert found.loss(problem) < before.loss(problem)


def test_a_record_that_costs_others_much_is_left_out_within_the_limit():
    rows = [("a", "b", "c", "d")] * 4 + [("e", "f", "g", "h")] * 4 + [("i", "j", "k", "l")]
    problem = replace(problem_of(rows, 4), allowance=1)
    before = Clustering.of(problem, np.array([0] * 4 + [1] * 5))
    found = improved(problem, before)
    assert found.loss(problem) == problem.suppressed < before.loss(problem)
    kept = improved(replace(problem, allowance=0), before)
    assert kept.loss(problem) == before.loss(problem)


def test_equal_seeds_give_equal_clusters():
    problem = random_table(36, 3)
    before = direct_cover(problem, candidates_of(problem))
    found = [improved(problem, before, seed=5).label.tolist() for _ in range(2)]
    assert found[0] == found[1]


def test_the_number_of_pools_and_the_deadline_end_a_search():
    problem = random_table(24, 3)
    before = direct_cover(problem, candidates_of(problem))
    told = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "POOLS_BETWEEN_REPORTS", 2)
        done = repartitioned(
            problem, before, price=None, pools=3, tell=lambda *now: told.append(now)
        )
    assert done.pools == 3
    assert [pools for pools, _ in told] == [2]
    assert told[0][1] >= done.clusters.loss(problem)
    ticks = iter(range(1_000))
    late = replace(problem, deadline=Deadline(30, lambda: next(ticks)))
    ended = repartitioned(late, before, price=None, pools=math.inf)
    assert 0 < ended.pools < 30
    assert ended.clusters.loss(problem) <= before.loss(problem)
    over = replace(problem, deadline=Deadline(0))
    assert repartitioned(over, before, price=None, pools=3).clusters is before


def test_a_search_that_gains_nothing_ends():
    problem = problem_of([("a",), ("b",), ("c",)], 2)
    before = Clustering.of(problem, np.zeros(3, np.int64))
    done = repartitioned(problem, before, price=None, pools=math.inf)
    assert (done.pools, done.better, done.clusters) == (search.MAX_IDLE, 0, before)


@pytest.mark.parametrize("k", [3, 12])
def test_a_search_ends_where_nothing_can_lose_less(k):
    alike = problem_of([("a",)] * (3 * k + 1), k)
    before = Clustering.of(alike, np.minimum(np.arange(3 * k + 1) // k, 2))
    done = repartitioned(alike, before, price=None, pools=math.inf)
    assert (done.pools, done.clusters) == (0, before)
    problem = random_table(6 * k, k, columns=2)
    before = Clustering.of(problem, np.arange(6 * k) // k)
    best = repartitioned(problem, before, price=None, pools=4)
    assert best.better
    least = best.clusters.loss(problem)
    done = repartitioned(problem, before, price=None, pools=math.inf, least=least)
    assert done.pools <= best.pools
    assert done.clusters.loss(problem) == best.clusters.loss(problem)


@pytest.mark.parametrize("seed", range(3))
def test_other_clusters_than_before_that_lose_as_much_change_nothing(seed):
    """Fewer clusters than before, too: of records that are alike it takes no more than one."""
    problem = problem_of([("a",)] * 20 + [("b",), ("c",)], 3)
    before = Clustering.of(problem, np.minimum(np.arange(22) // 3, 6))
    done = repartitioned(problem, before, price=None, pools=10, seed=seed)
    check(problem, done.clusters)
    assert done.clusters.loss(problem) <= before.loss(problem)
    assert done.better <= 1  # of the two that are alone, and never for as much


def two_far_apart(hopeless):
    """Pairs that nothing betters, and two that exchange records for the better, far from them.

    The first are of records that differ by values that only they have, so they lose more.
    """
    rows = [("x", "p", *3 * (f"{n:03}",)) for n in range(2 * hopeless)]
    rows += [("y", "q", "a", "m", "s"), ("y", "q", "b", "m", "t")]
    rows += [("y", "q", "a", "n", "s"), ("y", "q", "b", "n", "t")]
    problem = problem_of(rows, 2)
    return problem, Clustering.of(problem, np.arange(len(rows)) // 2)


@pytest.fixture
def pools_of_two(monkeypatch):
    monkeypatch.setattr(search, "POOL_RECORDS", (4, 4))


def test_pools_begin_where_most_is_lost_above_what_records_are_worth(pools_of_two):
    problem, before = two_far_apart(60)
    price = problem.cost(before.nodes)[before.label].astype(float)
    price[-4:] /= 2
    for seed in range(3):
        found = improved(problem, before, pools=1, seed=seed, price=price)
        assert found.loss(problem) == price.sum() < before.loss(problem)


def test_a_cluster_that_gains_nothing_is_drawn_less_and_less(pools_of_two):
    problem, before = two_far_apart(2)
    # As if a million records could be saved by the hopeless ones.
    price = np.append(np.full(4, -1e6 * problem.suppressed), np.zeros(4))
    for seed in range(3):
        found = improved(problem, before, pools=40, seed=seed, price=price)
        assert found.loss(problem) < before.loss(problem)


def test_pools_of_large_k_are_no_larger_than_the_most(monkeypatch):
    """Three clusters of k = 60, not four to nine; where two are too large, nothing is parted."""
    problem = random_table(480, 60, columns=2)
    before = Clustering.of(problem, np.arange(480) % 8)
    sizes = []

    def noted(*args, clusters, **more):
        sizes.append(sum(map(len, clusters)))
        return dissolve(*args, clusters=clusters, **more)

    monkeypatch.setattr(search, "dissolve", noted)
    monkeypatch.setattr(search, "MAX_POOL_RECORDS", 200)
    done = repartitioned(problem, before, price=None, pools=2)
    assert 0 < max(sizes) <= 200
    assert done.pools
    assert done.clusters.loss(problem) < before.loss(problem)
    monkeypatch.setattr(search, "MAX_POOL_RECORDS", 100)
    none = repartitioned(problem, before, price=None, pools=2)
    assert (none.pools, none.better) == (0, 0)
