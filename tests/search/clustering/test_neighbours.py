"""Nearest neighbours: exact for any taxonomy, in the order of their numbers among equals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import cost_of, least_loss, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.search.clustering import closure_costs
from sqlanon.search.clustering import neighbours as module
from sqlanon.search.clustering.closure_costs import PairCosts
from sqlanon.search.clustering.neighbours import Copies, Neighbours, refuse_blocks

FEW = settings(max_examples=30)


def near(problem):
    return Neighbours.of(problem)


@FEW
@given(problems(), st.sampled_from([1, 3, 2048]))
def test_pair_costs_are_those_of_closures_however_columns_are_grouped(problem, widest):
    copies = Copies.of(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure_costs, "MAX_GROUP_VALUES", widest)
        pairs = PairCosts(problem.taxonomies, copies.leaves)
    for combination, first in enumerate(copies.first):
        assert pairs.row(combination).tolist() == [
            cost_of(problem, [first, other]) for other in copies.first
        ]


@FEW
@given(problems(most=14), st.booleans(), st.sampled_from([1, 64]))
def test_neighbours_are_the_nearest_that_make_k_records(problem, packed, kept):
    copies = Copies.of(problem)
    with pytest.MonkeyPatch.context() as patch:
        if not packed:  # as where costs are too large
            problem = replace(problem, suppressed=module.FARTHEST // 2)
        patch.setattr(module, "MAX_NEIGHBOURS", kept)
        found = near(problem)
    for own, first in enumerate(copies.first):
        others = [
            (cost_of(problem, [first, other]), number, copies.sizes[number])
            for number, other in enumerate(copies.first)
            if number != own
        ]
        wanted, records = [], copies.sizes[own]
        for cost, number, size in sorted(others):
            if records < problem.k:
                wanted.append((number, cost))
                records += size
        assert [*zip(found.near[own], found.cost[own], strict=True)] == wanted[:kept]
        more, costs = found.search.of(own)
        assert [*zip(more, costs, strict=True)] == wanted


@FEW
@given(problems(most=8))
def test_bounds_are_the_distance_of_the_last_of_k_records_and_no_more_than_the_optimum(problem):
    bounds = near(problem).record_bounds
    for record in range(problem.records):
        distances = sorted(cost_of(problem, [record, other]) for other in range(problem.records))
        own = cost_of(problem, [record])
        distances.remove(own)
        assert bounds[record] == [own, *distances][problem.k - 1]
    assert bounds.sum() <= least_loss(problem)


def test_combinations_are_numbered_by_their_first_records():
    copies = Copies.of(problem_of([("b",), ("a",), ("b",), ("c",)], 2))
    assert copies.combination.tolist() == [0, 1, 0, 2]
    assert copies.sizes.tolist() == [2, 1, 1]
    assert copies.first.tolist() == [0, 1, 3]


def test_more_combinations_than_a_method_takes_are_refused_with_the_ways_out():
    problem = problem_of([("a", "x"), ("a", "y"), ("a", "x"), ("b", "x")], 2)
    every, said = np.arange(4), {"method": "forest", "instead": "mondrian"}
    refuse_blocks(problem, [every], most=3, **said)
    with pytest.raises(PolicyError, match=r"every two of 3 .* at most 2 .* Use mondrian, or cut"):
        refuse_blocks(problem, [every], most=2, **said)
    # Only what is compared at once counts: blocks, and the divisions of each.
    refuse_blocks(problem, [every[:2], every[2:]], most=2, **said)
    refuse_blocks(replace(problem, highest=(0, 1)), [every], most=2, **said)
    with pytest.raises(PolicyError, match="every two of 2"):
        refuse_blocks(problem, [every[:1], every[1:3], every[3:]], most=1, **said)


def test_neighbours_end_at_the_deadline():
    problem = problem_of([("a",), ("b",)], 2)
    with pytest.raises(TimeLimitError):
        near(replace(problem, deadline=Deadline.after(0)))
