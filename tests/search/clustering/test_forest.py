"""Forest: trees of near records, no heavier than the optimum, and components of bounded size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracles.covers import cost_of, least_loss, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.clustering import neighbours
from sqlanon.search.clustering.clustering_problem import Clustering, members
from sqlanon.search.clustering.forest import ROOT, SpanningForest, decomposed, forest, grown
from sqlanon.search.clustering.neighbours import Neighbours

FEW = settings(max_examples=30)


def trees_of(problem):
    return grown(problem, Neighbours.of(problem))


def root_of(parent, record):
    while parent[record] != ROOT:
        record = parent[record]
    return record


@st.composite
def shapes(draw, most=80):
    """Random trees by their parents, bushy or long, each record after its parent."""
    size, reach = draw(st.integers(1, most)), draw(st.sampled_from([1, 2, 5, most]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    parent = [ROOT] + [int(random.integers(max(0, n - reach), n)) for n in range(1, size)]
    return parent, draw(st.integers(1, 7))


def pieces(parent, held):
    """The roots of the connected pieces of some records of a forest."""
    return [record for record in held if parent[record] not in held]


def around(parent, piece, held):
    """Records outside that an edge joins to a piece of some records."""
    inside = [record for record in held if root_within(parent, record, held) == piece]
    up = {parent[piece]} - {ROOT}
    return up | {r for r, above in enumerate(parent) if above in inside and r not in held}


def root_within(parent, record, held):
    while parent[record] in held:
        record = parent[record]
    return record


@FEW
@given(problems(most=8))
def test_a_forest_weighs_no_more_than_the_optimum_and_every_tree_has_k_records(problem):
    trees = trees_of(problem)
    sizes = Counter(root_of(trees.parent, record) for record in range(problem.records))
    assert min(sizes.values()) >= problem.k
    for record, above in enumerate(trees.parent):
        weight = 0 if above == ROOT else cost_of(problem, [record, above])
        assert trees.cost[record] == weight
    assert trees.cost.sum() <= least_loss(problem)


@FEW
@given(problems(most=8))
def test_a_forest_loses_at_most_3_times_k_less_1_times_the_optimum(problem):
    assume(problem.k > 1)
    trees = trees_of(problem)
    found = Clustering.of(problem, decomposed(trees, problem.k))
    most = 3 * (problem.k - 1)
    assert found.loss(problem) <= most * trees.cost.sum() <= most * least_loss(problem)


@settings(max_examples=100)
@given(shapes())
@example(([ROOT, *[0] * 30], 4))  # one star: forests of leaves
@example(([ROOT, *range(30)], 4))  # one path: trees
@example(([ROOT, 0, 0, 1, 1, 2, 2], 3))  # what is upwards goes with a subtree
def test_components_are_trees_or_subtrees_of_one_vertex_and_of_bounded_size(shape):
    parent, k = shape
    assume(len(parent) >= k)
    label = decomposed(SpanningForest(np.array(parent), np.arange(len(parent))), k)
    edges = Counter()
    for number in set(label.tolist()):
        held = set(np.flatnonzero(label == number).tolist())
        assert k <= len(held) <= max(3 * (k - 1), 1)
        tops = pieces(parent, held)
        if len(tops) > 1:
            assert len(held) <= 2 * (k - 1)
            common = set.intersection(*(around(parent, top, held) for top in tops))
            assert common
            joint = common.pop()
            edges.update(top if parent[top] == joint else joint for top in tops)
        edges.update(record for record in held if parent[record] in held)
    assert max(edges.values(), default=1) == 1  # each edge serves one component


def test_a_long_path_and_a_wide_star_are_cut_in_linear_time():
    size = 30_000
    for parent in (np.arange(size) - 1, np.r_[ROOT, np.zeros(size - 1, np.int64)]):
        label = decomposed(SpanningForest(parent, np.zeros(size, np.int64)), 5)
        sizes = np.bincount(label)
        assert (sizes.min(), sizes.max() <= 12) == (5, True)


def test_a_forest_is_the_same_however_few_neighbours_are_kept(monkeypatch):
    random = np.random.default_rng(1)
    problem = problem_of([tuple(map(str, r)) for r in random.integers(0, 3, (80, 4))], 9)
    found = trees_of(problem)
    monkeypatch.setattr(neighbours, "MAX_NEIGHBOURS", 1)
    again = trees_of(problem)
    assert (found.parent == again.parent).all()
    assert (found.cost == again.cost).all()


def test_copies_stay_together_while_others_are_joined_to_them():
    rows = [("a", "a")] * 6 + [("a", "b"), ("a", "c"), ("b", "a")]
    problem = problem_of(rows, 3)
    trees = trees_of(problem)
    assert (trees.parent == 0).sum() == 8
    found = Clustering.of(problem, decomposed(trees, 3))
    assert found.label.tolist() == [0] * 6 + [1] * 3


@FEW
@given(problems(most=12, demanding=True))
def test_clusters_satisfy_the_demand_and_are_the_same_for_the_same_table(problem):
    assume(problem.satisfies(np.arange(problem.records)))
    near = Neighbours.of(problem)
    found = forest(problem, near)
    assert (found.label >= 0).all()
    assert all(problem.satisfies(records) for records in members(found))
    assert found.label.tolist() == forest(problem, near).label.tolist()


def test_growth_ends_at_the_deadline():
    problem = problem_of([(str(n),) for n in range(400)], 2)
    near = Neighbours.of(problem)
    with pytest.raises(TimeLimitError):
        grown(replace(problem, deadline=Deadline.after(0)), near)
