"""Pools: their closures and boxes, and what covering them anew loses, against slow versions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from oracles.covers import Distinct, closure_of, held_by, least_loss, problem_of, random_table
from strategies import problems

from sqlanon.search.clustering import closure_costs as closures
from sqlanon.search.clustering.bitmaps import flags
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.clustering_problem import Clustering, members
from sqlanon.search.clustering.pilot_method import NO_LOSS, Pools, boxes_of, replay, try_all
from sqlanon.search.clustering.refinement import Satisfying, by_node, mixed, refine, slices


@pytest.mark.parametrize("most", [closures.MAX_JOINS, 9, 0], ids=["all", "leaves", "none"])
@settings(max_examples=40)
@given(problem=problems())
def test_closures_and_their_costs_are_those_of_the_taxonomies(most, problem):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closures, "MAX_JOINS", most)
        joins = Joins(problem.taxonomies)
    for column, taxonomy in enumerate(problem.taxonomies):
        first, second = (each.ravel() for each in np.indices((taxonomy.leaves, taxonomy.leaves)))
        low, high = np.minimum(first, second), np.maximum(first, second)
        found = joins.of(column, first, second=second)
        assert found.tolist() == taxonomy.closure(low, high).tolist()
    first, second = np.arange(problem.records), np.arange(problem.records)[::-1]
    columns = list(enumerate(problem.leaves.T))
    joined = [joins.of(column, own[first], second=own[second]) for column, own in columns]
    keys = sum(joins.keys(column, own, first=first, second=second) for column, own in columns)
    assert keys.tolist() == joins.keys_of(np.stack(joined, axis=1)).tolist()
    sizes = [len(taxonomy.cost) for taxonomy in problem.taxonomies]
    nodes = np.stack([each.ravel() for each in np.indices(sizes)], axis=1)
    expected = sum(
        taxonomy.cost[taxonomy.join(nodes[:, None, column], nodes[None, :, column])]
        for column, taxonomy in enumerate(problem.taxonomies)
    )
    assert np.allclose(joins.costs(nodes, nodes), expected, rtol=1e-6)


FEW = settings(max_examples=30)


def random_pools(problem, count, seed):
    """Pools of all records in random order, with the root as a box of each."""
    records = np.random.default_rng(seed).permutation(problem.records).reshape(count, -1)
    return Pools(records, problem.leaves[records], np.tile(problem.root, (count, 1, 1)))


def random_boxes(problem, pools, seed):
    return boxes_of(
        problem, pools, joins=Joins(problem.taxonomies), random=np.random.default_rng(seed)
    )


def held_boxes(problem, records, k):
    """The different sets of places, at least k, that closures of two records or one hold."""
    closures = {closure_of(problem, [a, b]) for a in records for b in records}
    closures.add(tuple(problem.root.tolist()))
    held = {}
    for nodes in closures:
        places = np.flatnonzero(np.isin(records, held_by(problem, nodes)))
        if len(places) >= k:
            held.setdefault(tuple(places.tolist()), []).append(int(problem.cost(np.array(nodes))))
    return held


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_the_closures_of_pairs_that_hold_k_records(seed):
    problem = random_table(24, 3, seed)
    pools = random_pools(problem, 2, seed)
    boxes = random_boxes(problem, pools, seed)
    for pool, records in enumerate(pools.records):
        expected = held_boxes(problem, records, 3)
        real = boxes.cost[pool] < NO_LOSS
        held = flags(boxes.bits[pool][real], len(records))
        found = {}
        for row, cost in zip(held, boxes.cost[pool][real].tolist(), strict=True):
            found.setdefault(tuple(np.flatnonzero(row).tolist()), []).append(cost)
        assert {places: sorted(costs) for places, costs in found.items()} == {
            places: sorted(costs) for places, costs in expected.items()
        }
        assert (np.diff(boxes.cost[pool]) >= 0).all()


def tried_slowly(held, costs, forced, k):
    """What forcing a box and covering the rest directly loses.

    Args:
        held: Per box the places that it holds.
        costs: Per box what a record costs, ascending.
        forced: The box that opens first.
        k: Smallest cluster allowed.
    """
    first = sorted(held[forced])[:k]
    taken, left = {forced: set(first)}, set().union(*held) - set(first)
    last = forced
    for box, places in enumerate(held):
        fresh = places & left
        if len(fresh) >= k or box == forced:
            taken.setdefault(box, set()).update(fresh)
            left -= fresh
            last = box
    loss = sum(costs[box] * len(places) for box, places in taken.items())
    if left:
        need = taken[last] | left
        fits = [cost for places, cost in zip(held, costs, strict=True) if need <= places]
        loss += (min(fits) * len(need) - costs[last] * len(taken[last])) if fits else NO_LOSS
    return loss


@pytest.mark.parametrize("seed", range(6))
def test_trials_lose_what_covering_slowly_does(seed):
    problem = random_table(30, 3, seed)
    pools = random_pools(problem, 2, seed)
    boxes = random_boxes(problem, pools, seed)
    trials = try_all(pools, boxes, k=3, now=np.full(2, NO_LOSS))
    for pool in range(2):
        real = np.flatnonzero(boxes.cost[pool] < NO_LOSS)
        held = [
            set(np.flatnonzero(row).tolist())
            for row in flags(boxes.bits[pool][real], pools.records.shape[1])
        ]
        costs = boxes.cost[pool][real].tolist()
        for trial in range(len(held)):
            slowly = tried_slowly(held, costs, trial, 3)
            assert min(slowly, NO_LOSS) == min(trials.loss[pool, trial], NO_LOSS)


@pytest.mark.parametrize("seed", range(4))
def test_trials_are_given_up_only_where_they_lose_as_much_as_now(seed):
    problem = random_table(60, 3, seed)
    pools = random_pools(problem, 4, seed)
    boxes = random_boxes(problem, pools, seed)
    every = try_all(pools, boxes, k=3, now=np.full(4, NO_LOSS)).loss
    now = np.sort(every, axis=1)[:, 5]
    some = try_all(pools, boxes, k=3, now=now).loss
    cheap = every < now[:, None]
    assert some[cheap].tolist() == every[cheap].tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_trial_loses_no_less_than_its_clusters(seed):
    problem = random_table(60, 3, seed)
    pools = random_pools(problem, 4, seed)
    boxes = random_boxes(problem, pools, seed)
    trials = try_all(pools, boxes, k=problem.k, now=np.full(4, NO_LOSS))
    for pool, trial in zip(*np.nonzero(trials.loss < NO_LOSS), strict=True):
        parts = replay(pools, boxes, trials=trials, chosen=np.full(4, trial))[pool]
        order = pools.records[pool]
        sizes = np.bincount(parts)
        assert (sizes[sizes > 0] >= problem.k).all()
        sub = problem_of([tuple(map(str, row)) for row in problem.leaves[order]], problem.k)
        assert Clustering.of(sub, parts).loss(sub) <= trials.loss[pool, trial]


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
    assert best.is_better[0]
    assert best.loss[0] == 0
    assert [len(set(best.parts[0, own])) for own in ([0, 1, 2, 3], [4, 5], range(6))] == [1, 1, 2]


def test_groups_that_come_to_lose_more_are_not_taken():
    rows = [("a",), ("a",), ("b",), ("b",)]
    problem = problem_of(rows, 2, demand=Distinct(np.array([0, 0, 1, 1]), 2))
    best = satisfying(problem, 4 * problem.suppressed - 1)
    best.offer(np.array([0]), np.array([[0, 0, 1, 1]]))
    assert not best.is_better[0]
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
