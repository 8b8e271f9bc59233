"""Refinement: never worse, never against the models, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from cover_oracle import Distinct, candidates_of, least_loss, problem_of, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.search.clusters import Clusters, check
from sqlanon.search.direct import direct_cover
from sqlanon.search.joins import Joins
from sqlanon.search.pools import FAR, Pools, boxes_of
from sqlanon.search.refine import Effort, refine
from sqlanon.search.trials import replay, try_all

FEW = settings(max_examples=30, deadline=None)
SHORT = Effort(passes=30)


def random_table(records, k, seed=1, demand=None):
    random = np.random.default_rng(seed)
    rows = [tuple(map(str, row)) for row in random.integers(0, 4, (records, 4))]
    return problem_of(sorted(rows), k, demand=demand)


@FEW
@given(problems(), st.integers(0, 3))
def test_refinement_never_raises_the_loss_and_keeps_k(problem, seed):
    clusters = direct_cover(problem, candidates_of(problem))
    found = refine(problem, clusters, Effort(passes=8, seed=seed))
    check(problem, found)
    assert (found.label >= 0).all()
    assert least_loss(problem) <= found.loss(problem) <= clusters.loss(problem)


def test_refinement_gains_on_a_random_table():
    problem = random_table(120, 4)
    before = Clusters.of(problem, np.arange(120) // 4)
    found = refine(problem, before, SHORT)
    check(problem, found)
    assert found.loss(problem) < 0.95 * before.loss(problem)


def test_refinement_gains_on_a_direct_cover():
    problem = random_table(120, 4)
    before = direct_cover(problem, candidates_of(problem))
    assert refine(problem, before, SHORT).loss(problem) < before.loss(problem)


def test_refinement_respects_the_demand():
    demand = Distinct(np.arange(120) % 3, 3)
    problem = random_table(120, 4, demand=demand)
    before = direct_cover(problem, candidates_of(problem))
    found = refine(problem, before, SHORT)
    check(problem, found)
    assert found.loss(problem) < before.loss(problem)


def test_equal_seeds_give_equal_clusters():
    problem = random_table(80, 3)
    before = direct_cover(problem, candidates_of(problem))
    labels = [refine(problem, before, Effort(5, seed=7)).label.tolist() for _ in range(2)]
    assert labels[0] == labels[1]


def test_no_time_is_no_search():
    problem = random_table(80, 3)
    before = direct_cover(problem, candidates_of(problem))
    assert refine(problem, before, Effort(5, seconds=0.0)) is before


def test_a_table_of_one_cluster_stays_as_it_is():
    problem = problem_of([("a",), ("b",)], 2)
    before = Clusters.of(problem, np.zeros(2, np.int64))
    assert refine(problem, before).label.tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_a_trial_loses_no_less_than_its_clusters(seed):
    problem, random = random_table(60, 3, seed), np.random.default_rng(seed)
    records = random.permutation(60).reshape(4, 15)
    pools = Pools(records, problem.leaves[records], np.tile(problem.root, (4, 1, 1)))
    boxes = boxes_of(problem, pools, Joins(problem.taxonomies), random)
    trials = try_all(pools, boxes, problem.k, np.full(4, FAR))
    for pool, trial in zip(*np.nonzero(trials.loss < FAR), strict=True):
        parts = replay(pools, boxes, trials, np.full(4, trial))[pool]
        label = np.full(60, -1)
        label[records[pool]] = parts
        order = records[pool]
        sizes = np.bincount(parts)
        assert (sizes[sizes > 0] >= problem.k).all()
        sub = problem_of([tuple(map(str, row)) for row in problem.leaves[order]], problem.k)
        assert Clusters.of(sub, parts).loss(sub) <= trials.loss[pool, trial]
