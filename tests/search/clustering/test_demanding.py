"""Pools under a demand: what fails is united, and coarse clusters are parted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.covers import Distinct, least_loss, problem_of

from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.pilot_method import Pools
from sqlanon.search.clustering.pools_under_demand import Satisfying, by_node, mixed, slices
from sqlanon.search.clustering.problem import Clustering, members
from sqlanon.search.clustering.refinement import refine


def table(records, values, *, k=2, least=2, seed=0):
    """Random records whose clusters need some distinct values of so many."""
    random = np.random.default_rng(seed)
    rows = sorted((str(a), str(b)) for a, b in random.integers(0, 3, (records, 2)))
    value = random.integers(0, values, records)
    problem = problem_of(rows, k, demand=Distinct(value, least))
    return replace(problem, values=value[:, np.newaxis])


@pytest.mark.slow
def test_one_cluster_of_all_records_is_parted_nearly_as_well_as_can_be():
    losses, least = [], []
    for seed in range(6):
        problem = table(9, 3, seed=seed)
        found = refine(problem, Clustering.of(problem, np.zeros(9, np.int64)))
        assert all(problem.satisfies(records) for records in members(found))
        losses.append(found.loss(problem))
        least.append(least_loss(problem))
    assert sum(losses) <= 1.1 * sum(least)
    assert sum(one == other for one, other in zip(losses, least, strict=True)) >= 4


def satisfying(problem, now):
    every = np.arange(problem.records)[np.newaxis]
    pools = Pools(every, problem.leaves[every], problem.root[np.newaxis, np.newaxis])
    joins = Joins(problem.taxonomies)
    return Satisfying(problem, joins, pools=pools, now=np.array([now]), price=0)


def test_groups_that_fail_are_united_with_those_that_make_up_for_them():
    rows = [("a",), ("a",), ("a",), ("a",), ("b",), ("b",)]
    problem = problem_of(rows, 2, demand=Distinct(np.array([0, 0, 1, 1, 0, 1]), 2))
    best = satisfying(problem, problem.suppressed * 6)
    best.offer(np.array([0]), np.array([[0, 0, 1, 1, 2, 2]]))
    assert best.found[0]
    assert best.loss[0] == 0
    assert [len(set(best.parts[0, own])) for own in ([0, 1, 2, 3], [4, 5], range(6))] == [1, 1, 2]


def test_groups_that_come_to_lose_more_are_not_taken():
    rows = [("a",), ("a",), ("b",), ("b",)]
    problem = problem_of(rows, 2, demand=Distinct(np.array([0, 0, 1, 1]), 2))
    best = satisfying(problem, 4 * problem.suppressed - 1)
    best.offer(np.array([0]), np.array([[0, 0, 1, 1]]))
    assert not best.found[0]
    assert best.loss[0] == 4 * problem.suppressed - 1


def test_slices_have_as_many_records_of_every_value():
    problem, random = table(60, 3, k=5), np.random.default_rng(1)
    for _ in range(20):
        part = slices(problem, np.arange(60), random=random)
        for value in range(3):
            counts = np.bincount(part[problem.values[:, 0] == value], minlength=part.max() + 1)
            assert counts.max() - counts.min() <= 1


def test_records_are_mixed_whole_and_parted_by_the_nodes_of_one_column():
    problem, random = table(30, 3, k=5), np.random.default_rng(2)
    records = np.arange(4, 24)
    for _ in range(10):
        ordered = mixed(problem, records, random=random)
        assert sorted(ordered.tolist()) == records.tolist()
        assert len(set(problem.values[ordered[:3], 0].tolist())) == 3
        part = by_node(problem, records, random=random)
        columns = problem.leaves[records].T
        assert any(len(set(zip(part, own, strict=True))) == len(set(own)) for own in columns)
