"""Covers, conversions and bounds: published examples, and brute force on small tables."""

from __future__ import annotations

import math
import random
from unittest import mock

import numpy as np
import pytest
from deadlines import until
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import (
    FIGURE_1,
    FIGURE_2,
    Balanced,
    Distinct,
    candidates_of,
    closure_of,
    cost_of,
    held_by,
    least_loss,
    problem_of,
)
from strategies import problems

from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.search.clustering import set_cover as cover
from sqlanon.search.clustering.assign import assign_rest
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering, column_bounds, members
from sqlanon.search.clustering.direct_cover import Cheapest, direct_cover, published_direct_cover
from sqlanon.search.clustering.set_cover import (
    convert,
    converted,
    cover_by_subsets,
    greedy_cover,
    set_cover,
    within,
)

FEW = settings(max_examples=40)


def sets(found):
    return [records.tolist() for records in found]


# Park and Shim 2007


def test_figure_1_is_anonymized_with_six_stars():
    problem = problem_of(FIGURE_1, 2)
    clusters, uncovered = set_cover(problem, candidates_of(problem))
    assert (clusters.loss(problem), uncovered) == (6, 0)


@pytest.mark.parametrize("closed", [True, False])
def test_example_4_15_takes_two_sets_that_are_a_partition(closed):
    problem = problem_of(FIGURE_1, 2)
    made = greedy_cover(problem, candidates_of(problem, closed=closed))
    assert sets(made.sets) == [[0, 2], [1, 3]]
    assert sets(convert(problem, made.sets)) == [[0, 2], [1, 3]]


@pytest.mark.parametrize("kind", ["all", "closed", "frequent"])
def test_figure_2_is_anonymized_with_24_stars(kind):
    problem = problem_of(FIGURE_2, 4)
    if kind == "all":
        clusters, _ = converted(problem, cover_by_subsets(problem))
    else:
        clusters, _ = set_cover(problem, candidates_of(problem, closed=kind == "closed"))
    assert clusters.loss(problem) == 24 == least_loss(problem)


def test_example_4_6_first_takes_six_records_at_four_sixths():
    problem = problem_of(FIGURE_2, 4)
    first = cover_by_subsets(problem).sets[0]
    assert (len(first), cost_of(problem, first)) == (6, 4)


def test_example_4_6_then_takes_four_records_with_the_last_two():
    problem = problem_of(FIGURE_2, 4)
    first, second = cover_by_subsets(problem).sets
    assert (len(second), len(set(second) - set(first)), cost_of(problem, second)) == (4, 2, 3)


# Greedy cover


def covered_slowly(problem, candidates):
    """GEN-COVER as it is written: every ratio anew for every choice.

    Candidates of which no records that come into question satisfy the demand are never looked at
    again.
    """
    most, uncovered, found = 2 * problem.k - 1, set(range(problem.records)), []
    held = [held_by(problem, nodes).tolist() for nodes in candidates.nodes]
    dropped = set()
    while uncovered:
        fresh = [[r for r in records if r in uncovered] for records in held]
        ratio, best = min(
            (
                (int(candidates.cost[n]) / min(len(records), most), n)
                for n, records in enumerate(fresh)
                if records and n not in dropped
            ),
            default=(0, None),
        )
        assert ratio >= 0
        if best is None:
            break
        if len(held[best]) <= most:
            chosen = held[best]
        elif len(fresh[best]) > most:
            chosen = fresh[best][:most]
        else:
            covered = [r for r in held[best] if r not in uncovered]
            chosen = (fresh[best] + covered)[: max(problem.k, len(fresh[best]))]
        if not problem.satisfies(np.array(chosen)):
            chosen = held[best]
        if not problem.satisfies(np.array(chosen)):
            dropped.add(best)
            continue
        uncovered -= set(chosen)
        found.append(sorted(chosen))
    return found


@FEW
@given(problems(), st.booleans())
def test_the_lazy_queue_covers_as_looking_at_every_candidate_does(problem, closed):
    candidates = candidates_of(problem, closed=closed)
    with mock.patch.multiple(cover, WINDOW_CANDIDATES=2, NEXT_CANDIDATES=5):
        found = greedy_cover(problem, candidates)
    assert sets(found.sets) == covered_slowly(problem, candidates)
    assert sets(greedy_cover(problem, candidates).sets) == sets(found.sets)


@pytest.mark.parametrize("seed", [*range(20), 68, 83, 186])
def test_the_lazy_queue_covers_likewise_where_candidates_fail_a_demand(seed):
    """What fails is never looked at again, though other records of it would do later."""
    rng = random.Random(seed)
    k = rng.randint(1, 3)
    number, columns = rng.randint(max(k, 4), 12), rng.randint(2, 3)
    rows = [[f"v{rng.randrange(3)}" for _ in range(columns)] for _ in range(number)]
    values = [rng.randrange(rng.choice([2, 3])) for _ in range(number)]
    problem = problem_of(rows, k, demand=Balanced(values))
    candidates = candidates_of(problem)
    assert sets(greedy_cover(problem, candidates).sets) == covered_slowly(problem, candidates)


@FEW
@given(problems())
def test_a_cover_has_sets_of_k_to_2k_minus_1_records_that_hold_all(problem):
    made = greedy_cover(problem, candidates_of(problem))
    assert all(problem.k <= len(records) <= 2 * problem.k - 1 for records in made.sets)
    assert set(np.concatenate(made.sets).tolist()) == set(range(problem.records))
    assert not len(made.uncovered)


@FEW
@given(problems(), st.sampled_from(["closed", "frequent", "all"]))
def test_set_cover_is_within_its_guarantee(problem, kind):
    if kind == "all":
        clusters, _ = converted(problem, cover_by_subsets(problem))
    else:
        clusters, _ = set_cover(problem, candidates_of(problem, closed=kind == "closed"))
    assert all(problem.satisfies(records) for records in members(clusters))
    least = least_loss(problem)
    assert least <= clusters.loss(problem) <= 2 * (1 + math.log(2 * problem.k)) * least


def test_candidates_below_a_share_of_the_cost_leave_records_uncovered():
    problem = problem_of([*FIGURE_1, ("40~49", "Widowed", "Peru", "Male")], 2)
    cheap = within(problem, candidates_of(problem), beta=1.8)
    assert [int(cost) for cost in cheap.cost] == [1, 2]
    clusters, uncovered = set_cover(problem, cheap)
    assert (uncovered, clusters.label.tolist()) == (1, [0, 1, 0, 1, 1])


def test_no_candidates_at_all_make_one_cluster():
    problem = problem_of(FIGURE_1, 2)
    clusters, uncovered = set_cover(problem, within(problem, candidates_of(problem), beta=100))
    assert (clusters.label.tolist(), uncovered) == ([0, 0, 0, 0], 4)


def test_beta_limits_subsets_as_it_limits_itemsets():
    """(a, a) costs nothing; b is alone, and with another its cells are suppressed."""
    problem = problem_of([("a",), ("a",), ("b",)], 2)
    assert [each.tolist() for each in cover_by_subsets(problem, 1.0).sets] == [[0, 1]]
    clusters, uncovered = converted(problem, cover_by_subsets(problem, 1.0))
    assert (uncovered, clusters.label.tolist()) == (1, [0, 0, 0])


def test_too_many_subsets_are_refused_with_their_number():
    problem = problem_of([(str(n),) for n in range(40)], 4)
    with pytest.raises(PolicyError, match="40 records have 23231338 subsets of 4 to 7 records"):
        cover_by_subsets(problem)


def test_fewer_than_k_records_cannot_be_clustered():
    with pytest.raises(UnsatisfiableError, match="k is 5, but there are 4 records"):
        problem_of(FIGURE_1, 5)


# Conversion


@FEW
@given(problems(), st.randoms(use_true_random=False))
def test_conversion_makes_disjoint_sets_at_no_higher_cost(problem, random):
    k, every = problem.k, list(range(problem.records))
    given_sets, left = [], set(every)
    while left:
        size = min(random.randint(k, 2 * k - 1), problem.records)
        chosen = sorted({*random.sample(sorted(left), min(size, len(left)))})
        others = [record for record in every if record not in chosen]
        chosen += random.sample(others, max(0, k - len(chosen)))
        given_sets.append(np.array(sorted(chosen)))
        left -= set(chosen)
    found = convert(problem, given_sets)
    assert sorted(np.concatenate(found).tolist()) == every
    assert all(k <= len(records) <= 2 * k - 1 for records in found)
    assert sum(cost_of(problem, r) for r in found) <= sum(cost_of(problem, r) for r in given_sets)


# Direct cover and bound


@FEW
@given(problems())
def test_direct_cover_takes_candidates_in_order_while_they_hold_k_records(problem):
    candidates = candidates_of(problem)
    left, found = set(range(problem.records)), []
    for nodes in candidates.nodes:
        records = [r for r in held_by(problem, nodes).tolist() if r in left]
        if len(records) >= problem.k:
            found.append(records)
            left -= set(records)
    label = published_direct_cover(problem, candidates).label
    expected = np.full(problem.records, NOWHERE)
    for number, records in enumerate(found):
        expected[records] = number
    same = Clustering.of(problem, expected)
    assert label.tolist() == same.label.tolist()
    assert (label == NOWHERE).sum() == len(left) < problem.k


@FEW
@given(problems())
def test_direct_cover_assigns_everything_and_loses_no_less_than_the_best(problem):
    clusters = direct_cover(problem, candidates_of(problem))
    assert all(problem.satisfies(records) for records in members(clusters))
    assert (clusters.label >= 0).all()
    assert least_loss(problem) <= clusters.loss(problem)


def test_what_remains_goes_where_it_costs_least():
    problem = problem_of([("a", "x"), ("a", "x"), ("b", "y"), ("b", "y"), ("b", "z")], 2)
    assert direct_cover(problem, candidates_of(problem)).label.tolist() == [0, 0, 1, 1, 1]


@FEW
@given(problems())
def test_the_bound_is_each_records_cheapest_closed_itemset(problem):
    candidates = candidates_of(problem)
    held = [held_by(problem, nodes) for nodes in candidates.nodes]
    expected = [
        min(int(cost) for cost, records in zip(candidates.cost, held, strict=True) if r in records)
        for r in range(problem.records)
    ]
    assert Cheapest.of(problem, candidates).cost.tolist() == expected


@FEW
@given(problems())
def test_what_columns_cost_is_no_more_than_what_itemsets_cost(problem):
    every = Cheapest.of(problem, candidates_of(problem)).cost
    assert (column_bounds(problem) <= every).all()


@FEW
@given(problems(), st.integers(0, 3))
def test_a_bound_that_is_cut_short_is_one(problem, looks):
    candidates = candidates_of(problem)
    cut = Cheapest.of(until(problem, looks), candidates).cost
    assert (cut <= Cheapest.of(problem, candidates).cost).all()


def test_a_cover_that_is_cut_short_raises():
    problem = problem_of([("a",)] * 3 + [("b",)] * 3, 3)
    candidates = candidates_of(problem)
    for method in (set_cover, direct_cover):
        with pytest.raises(TimeLimitError):
            method(until(problem, 0), candidates)


# Demands


@FEW
@given(problems(demanding=True), st.sampled_from([set_cover, direct_cover]))
def test_clusters_satisfy_the_demand_wherever_that_is_possible(problem, method):
    possible = problem.satisfies(np.arange(problem.records))
    try:
        found = method(problem, candidates_of(problem))
    except UnsatisfiableError:
        assert not possible
        return
    clusters = found[0] if isinstance(found, tuple) else found
    assert all(problem.satisfies(records) for records in members(clusters))
    assert possible
    assert clusters.loss(problem) >= least_loss(problem)


def test_clusters_that_fail_are_merged_where_it_costs_least():
    rows = [("a", "x"), ("a", "x"), ("a", "y"), ("a", "y"), ("b", "z"), ("b", "z")]
    problem = problem_of(rows, 2, demand=Distinct([1, 1, 1, 2, 1, 2], 2))
    clusters = assign_rest(problem, np.array([0, 0, 1, 1, 2, 2]))
    assert sets(members(clusters)) == [[0, 1, 2, 3], [4, 5]]


def test_an_error_says_that_the_models_fail_for_all_records():
    problem = problem_of(FIGURE_1, 2, demand=Distinct([1, 1, 1, 1], 2))
    with pytest.raises(UnsatisfiableError, match="all records in one cluster"):
        direct_cover(problem, candidates_of(problem))


# Clusters


def test_clusters_with_one_closure_become_one_cluster():
    problem = problem_of([("a", "x"), ("a", "y"), ("a", "x"), ("a", "y")], 2)
    clusters = Clustering.of(problem, np.array([0, 0, 1, 1]))
    assert clusters.label.tolist() == [0, 0, 0, 0]
    assert clusters.nodes.tolist() == [list(closure_of(problem, [0, 1]))]


def test_suppressed_records_lose_all_their_cells():
    problem = problem_of(FIGURE_1, 2)
    clusters = Clustering.of(problem, np.array([0, NOWHERE, 0, NOWHERE]))
    assert (clusters.loss(problem), clusters.sizes.tolist()) == (2 * 1 + 2 * 4, [2])
