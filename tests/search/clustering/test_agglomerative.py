"""Agglomerative clustering: always the two closest clusters, of sizes that the source promises."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import cost_of, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.clustering import agglomerative as linked
from sqlanon.search.clustering import closure_costs
from sqlanon.search.clustering.agglomerative import (
    DISTANCES,
    StackedTaxonomies,
    agglomerative,
    ripe_parts,
    shrunk,
)
from sqlanon.search.clustering.closure_costs import NodeCosts
from sqlanon.search.clustering.clustering_problem import members
from sqlanon.search.clustering.neighbours import Neighbours

FEW = settings(max_examples=25)
FORMULAS = {
    "growth": lambda n, u, a, b: n * u - a[0] * a[1] - b[0] * b[1],
    "closure": lambda n, u, a, b: u - a[1] - b[1],
    "closure-log": lambda n, u, a, b: (u - a[1] - b[1]) / math.log(n),
}


def near(problem):
    return Neighbours.of(problem)


def parts_of(problem, distance, shrinks):
    own = {"distance": DISTANCES[distance], "modified": shrinks}
    return ripe_parts(problem, near(problem), **own).tolist()


def by_hand(problem, distance, shrinks):
    """The same by comparing every two clusters at every step."""

    def far(first, second):
        parts = [(len(part), cost_of(problem, part)) for part in (first, second)]
        both = first + second
        return FORMULAS[distance](len(both), cost_of(problem, both), *parts)

    k, done, left = problem.k, [], []
    for alike in grouped(problem, range(problem.records)):
        ripe = len(alike) // k * k
        done += [alike[start : start + k] for start in range(0, ripe, k)]
        left += [alike[ripe:]] if alike[ripe:] else []
    while len(left) > 1:
        pairs = ((a, b) for b in range(len(left)) for a in range(b))
        a, b = min(pairs, key=lambda pair: (far(left[pair[0]], left[pair[1]]), pair))
        union = left[a] + left.pop(b)
        if len(union) < k:
            left[a] = union
            continue
        left.pop(a)
        kept = sorted(union)
        while shrinks and len(kept) > k:
            rests = [[other for other in kept if other != record] for record in kept]
            kept = min(rests, key=lambda rest: cost_of(problem, rest))
        done.append(kept if shrinks else union)
        left += grouped(problem, sorted(set(union) - set(kept)))
    for record in sorted(left[0] if left else []):
        min(done, key=lambda part: far([record], part)).append(record)
    label = [None] * problem.records
    for number, part in enumerate(done):
        for record in part:
            label[record] = number
    return label


def grouped(problem, records):
    found = {}
    for record in records:
        found.setdefault(tuple(problem.leaves[record].tolist()), []).append(record)
    return list(found.values())


@settings(max_examples=50)
@given(
    problems(most=12),
    st.sampled_from([*DISTANCES]),
    st.booleans(),
    st.sampled_from([0.01, 0.25]),
    st.integers(1, 4),
)
def test_the_two_closest_clusters_become_one(problem, distance, shrinks, crowded, looked_at):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linked, "MAX_LOOKED_AT", looked_at)
        patch.setattr(linked, "MAX_SHARE_GONE", crowded)
        found = parts_of(problem, distance, shrinks)
    assert found == by_hand(problem, distance, shrinks)


@pytest.mark.slow
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("shrinks", [False, True])
def test_a_larger_table_is_clustered_as_by_hand(distance, shrinks):
    random = np.random.default_rng(3)
    rows = [tuple(map(str, row)) for row in random.integers(0, 4, (28, 3))]
    problem = problem_of(rows, 4)
    assert parts_of(problem, distance, shrinks) == by_hand(problem, distance, shrinks)


@FEW
@given(st.integers(2, 9), st.integers(0, 2**32), st.sampled_from([*DISTANCES]))
def test_clusters_have_the_sizes_of_the_source_but_for_what_is_left_over(k, seed, distance):
    random = np.random.default_rng(seed)
    rows = [tuple(map(str, row)) for row in random.integers(0, 5, (40, 3))]
    for shrinks, most in ((False, 2 * k - 2), (True, k)):
        sizes = np.bincount(parts_of(problem_of(rows, k), distance, shrinks))
        assert sizes.min() >= k
        assert (sizes - np.minimum(sizes, max(most, k))).sum() < k


@FEW
@given(problems(most=12, demanding=True), st.booleans())
def test_clusters_satisfy_the_demand(problem, modified):
    assume(problem.satisfies(np.arange(problem.records)))
    found = agglomerative(problem, near(problem), modified=modified)
    assert (found.label >= 0).all()
    assert all(problem.satisfies(records) for records in members(found))


def test_a_ripe_cluster_keeps_those_that_cost_least_together():
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("a", "x")]
    assert shrunk(problem_of(rows, 3), [0, 1, 2, 3, 4]) == [0, 3, 4]


@FEW
@given(problems(), st.sampled_from([0, 2**20]), st.sampled_from([1, 2**11]), st.data())
def test_node_costs_are_those_of_joins_with_and_without_tables(problem, largest, longest, data):
    nodes = np.array(
        [[data.draw(st.integers(0, len(t.cost) - 1)) for t in problem.taxonomies] for _ in range(3)]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure_costs, "MAX_NODE_PAIRS", largest)
        patch.setattr(closure_costs, "MAX_ROW_TUPLES", longest)
        costs = NodeCosts(problem.taxonomies)
    for own in nodes:
        columns = enumerate(problem.taxonomies)
        joined = [t.join(np.broadcast_to(own[j], 3), nodes[:, j]) for j, t in columns]
        found = costs.joined(own, costs.codes(nodes)).tolist()
        assert found == problem.cost(np.stack(joined, axis=1)).tolist()
        stacked = StackedTaxonomies(problem.taxonomies)
        assert [stacked.join(own, each).tolist() for each in nodes] == np.stack(
            joined, axis=1
        ).tolist()


@pytest.mark.parametrize("modified", [False, True])
def test_clusters_end_at_the_deadline(modified):
    problem = problem_of([("a",), ("b",)], 2)
    late = replace(problem, deadline=Deadline.after(0))
    with pytest.raises(TimeLimitError):
        agglomerative(late, near(problem), modified=modified)
