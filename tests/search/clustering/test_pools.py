"""Pools: their boxes, and what covering them anew loses, against slow versions of the same."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from oracles.covers import closure_of, held_by, problem_of
from strategies import problems

from sqlanon.search.clustering import closure_costs as joins
from sqlanon.search.clustering.bitmaps import flags
from sqlanon.search.clustering.closure_costs import Joins
from sqlanon.search.clustering.pilot_method import NO_LOSS, Pools, boxes_of, replay, try_all
from sqlanon.search.clustering.problem import Clustering

FEW = settings(max_examples=30, deadline=None)


def random_table(records, k, seed):
    random = np.random.default_rng(seed)
    rows = [tuple(map(str, row)) for row in random.integers(0, 4, (records, 4))]
    return problem_of(sorted(rows), k)


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


@pytest.mark.parametrize("most", [0, 2**22])
@FEW
@given(problem=problems())
def test_joins_are_closures_with_and_without_tables(problem, most):
    with mock.patch.object(joins, "MOST_JOINS", most):
        made = Joins(problem.taxonomies)
    some, other = problem.leaves, problem.leaves[::-1]
    pairs = list(zip(range(problem.records), reversed(range(problem.records)), strict=True))
    nodes = np.array([closure_of(problem, pair) for pair in pairs])
    for column in range(nodes.shape[1]):
        found = made.of(column, some[:, column], second=other[:, column])
        assert found.tolist() == nodes[:, column].tolist()
    keys = sum(
        made.keys(column, some[:, column], second=other[:, column])
        for column in range(len(some[0]))
    )
    assert keys.tolist() == made.keys_of(nodes).tolist()
    assert made.costs(some, other).diagonal().tolist() == problem.cost(nodes).tolist()


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
