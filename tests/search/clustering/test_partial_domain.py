"""Partial domain: valid groups, each cut and the first node the best of all by brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace
from itertools import product
from math import inf
from unittest import mock

import numpy as np
import pytest
from deadlines import until
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import closure_of, cost_of, least_loss, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.search.clustering import partial_domain as partial
from sqlanon.search.clustering.clustering_problem import members
from sqlanon.search.clustering.partial_domain import (
    best_classes,
    children,
    partial_domain,
    purity_squares,
    standing,
)

FEW = settings(max_examples=25)


@st.composite
def cases(draw, demanding=False):
    """A table to cluster, with no, one or two sensitive attributes."""
    problem = draw(problems(demanding=demanding))
    width = draw(st.integers(0, 2))
    values = [[draw(st.integers(-1, 2)) for _ in range(width)] for _ in range(problem.records)]
    held = np.array(values, np.int64).reshape(problem.records, width)
    return replace(problem, values=held), held


def purity_of(groups, values):
    """Records times purity: the mean over attributes of squared counts over sizes."""
    total = 0.0
    for own in values.T:
        for records in groups:
            held = [value for value in own[records].tolist() if value >= 0]
            if held:
                total += sum(held.count(value) ** 2 for value in set(held)) / len(held)
    return total / values.shape[1] if values.shape[1] else 0.0


def utility(groups, values, cost):
    """E, and the cost."""
    if not values.shape[1] or not cost:
        return cost, cost
    gain = purity_of(groups, values) - purity_of([np.arange(len(values))], values)
    return (cost / gain if gain > 1e-9 else inf), cost


def groups_of(label):
    return [np.flatnonzero(label == number) for number in range(int(label.max()) + 1)]


def published(problem, groups):
    """What groups cost as their closures."""
    return sum(len(records) * cost_of(problem, records) for records in groups)


def full_domain(problem, values):
    """The groups and the worth of each node whose classes all satisfy the policy."""
    for node in product(*(range(len(t.ancestors)) for t in problem.taxonomies)):
        cells = np.stack(
            [
                t.ancestors[level, problem.leaves[:, j]]
                for j, (t, level) in enumerate(zip(problem.taxonomies, node, strict=True))
            ],
            axis=1,
        )
        groups = groups_of(np.unique(cells, axis=0, return_inverse=True)[1].ravel())
        if all(problem.satisfies(records) for records in groups):
            yield utility(groups, values, int(problem.cost(cells).sum()))


@FEW
@given(cases(), st.data())
def test_the_purity_of_groups_is_the_mean_of_their_squared_shares(case, data):
    problem, values = case
    label = np.array([data.draw(st.integers(0, 2)) for _ in range(problem.records)])
    found = purity_squares(values, label)
    assert found == pytest.approx(purity_of([np.flatnonzero(label == n) for n in range(3)], values))


@FEW
@given(cases(demanding=True))
def test_groups_satisfy_the_policy_and_are_no_worse_than_the_best_node(case):
    problem, values = case
    assume(problem.satisfies(np.arange(problem.records)))
    found = partial_domain(problem)
    groups = members(found)
    assert all(problem.satisfies(records) for records in groups)
    assert sum(map(len, groups)) == problem.records
    assert [closure_of(problem, records) for records in groups] == list(map(tuple, found.nodes))
    cost = published(problem, groups)
    assert found.loss(problem) == cost >= least_loss(problem)
    worth = utility(groups, values, cost)[0]
    assert worth <= min(full_domain(problem, values))[0] * (1 + 1e-9)


@FEW
@given(cases(demanding=True))
def test_the_first_node_is_the_best_of_all(case):
    problem, values = case
    assume(problem.satisfies(np.arange(problem.records)))
    groups = groups_of(best_classes(problem, values))
    assert all(problem.satisfies(records) for records in groups)
    # Classes of several nodes can be the same; of those the cheapest node was meant.
    gain = purity_of(groups, values) - purity_of([np.arange(problem.records)], values)
    best, cost = min(full_domain(problem, values))
    if values.shape[1] and cost and gain > 1e-9:
        assert cost / gain == pytest.approx(best)
    assert published(problem, groups) <= cost


@FEW
@given(cases(demanding=True))
def test_a_large_lattice_is_descended_as_far_as_the_policy_allows(case):
    problem, values = case
    assume(problem.satisfies(np.arange(problem.records)))
    with mock.patch.object(partial, "MAX_NODES", 0):
        lattice = partial._Lattice(problem, values)
        node = lattice.descended()
        groups = members(partial_domain(problem))
    assert lattice._satisfies(lattice.classes(node))
    for column, level in enumerate(node):
        below = (*node[:column], level - 1, *node[column + 1 :])
        assert level == 0 or not lattice._satisfies(lattice.classes(below))
    assert all(problem.satisfies(records) for records in groups)


@FEW
@given(cases(demanding=True))
def test_a_cut_is_the_best_of_all_columns(case):
    problem, values = case
    assume(problem.satisfies(np.arange(problem.records)))
    every = np.arange(problem.records)
    least = purity_of([every], values)
    release = partial._Release(
        float(published(problem, [every])), least, least, values.shape[1] > 0
    )
    before = release.worth()
    parts = partial._best_parts(problem, values, release=release, records=every)
    columns = children(problem, every) if len(every) >= 2 * problem.k else ()
    ways = [way for each in columns if (way := standing(each, problem.satisfies))]
    worths = [utility(way, values, published(problem, way)) for way in ways]
    if not parts:
        assert all(worth >= before for worth in worths)
        return
    assert utility(parts, values, published(problem, parts)) == pytest.approx(min(worths))
    assert release.worth() == pytest.approx(min(worths))
    assert release.worth() < before


def test_groups_go_down_as_far_as_each_can():
    """Old people live in one town, young ones in several: each group keeps what it has alike."""
    rows = [("1", "a"), ("2", "a"), ("1", "a"), ("2", "a"), ("3", "b"), ("3", "c"), ("3", "b")]
    problem = problem_of(rows, 2)
    found = partial_domain(problem)
    assert sorted(map(len, members(found))) == [2, 2, 3]
    assert found.loss(problem) == 3


def test_purity_decides_between_cuts_of_equal_cost():
    """Both columns can be cut; by the second the sensitive values are told apart."""
    rows = [(str(n % 2), str(n // 2 % 2)) for n in range(8)]
    problem = problem_of(rows, 3)
    values = np.array([n // 2 % 2 for n in range(8)])[:, np.newaxis]
    groups = members(partial_domain(replace(problem, values=values)))
    assert sorted(records.tolist() for records in groups) == [[0, 1, 4, 5], [2, 3, 6, 7]]


def test_without_time_the_highest_node_remains():
    problem = problem_of([(str(n),) for n in range(8)], 2)
    late = replace(problem, deadline=Deadline(0, lambda: 1))
    lattice = partial._Lattice(late, np.zeros((8, 0), np.int64))
    assert lattice.best() == lattice.descended() == lattice.top == (1,)


@FEW
@given(cases(demanding=True), st.integers(0, 30))
def test_whenever_the_time_is_over_the_best_node_satisfies_the_policy(case, looks):
    problem, values = case
    whole, node = (partial._Lattice(each, values) for each in (problem, until(problem, looks)))
    best = node.best()
    assert best == whole.top or whole._satisfies(whole.classes(best))


def test_no_group_is_above_the_highest_levels():
    rows = [("1", "a"), ("2", "b"), ("1", "b"), ("2", "a"), ("1", "c"), ("2", "c")]
    problem = replace(problem_of(rows, 3), highest=(0, 1))
    found = partial_domain(problem)
    assert sorted(records.tolist() for records in members(found)) == [[0, 2, 4], [1, 3, 5]]
    assert not problem.forbids(problem.cost(found.nodes)).any()


def sizes(counts):
    """Groups of so many records."""
    return np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])


@FEW
@given(problems())
def test_records_are_told_apart_right_below_their_closure(problem):
    every = np.arange(problem.records)
    columns = [own for own in problem.leaves.T if len(set(own.tolist())) > 1]
    taxonomies = [t for t, own in zip(problem.taxonomies, problem.leaves.T, strict=True)
                  if len(set(own.tolist())) > 1]  # fmt: skip
    found = list(children(problem, every))
    for groups, own, taxonomy in zip(found, columns, taxonomies, strict=True):
        assert sorted(np.concatenate(groups).tolist()) == every.tolist()
        group = np.empty(problem.records, np.int64)
        for number, records in enumerate(groups):
            group[records] = number
        top = taxonomy.closure(own.min(), own.max())
        for one, two in itertools.combinations(every.tolist(), 2):
            low, high = sorted((own[one], own[two]))
            assert (group[one] == group[two]) == (taxonomy.closure(low, high) != top)


@FEW
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 8), st.integers(1, 3))
def test_what_stands_holds_every_record_once_or_nothing_is_cut(counts, least, multiple):
    def holds(records):
        return len(records) >= least and len(records) % multiple == 0

    groups = sizes(counts)
    found = standing(groups, holds)
    assert len(found) != 1
    assert all(map(holds, found))
    if found:
        assert sorted(np.concatenate(found).tolist()) == list(range(sum(counts)))
    else:
        assert sum(map(holds, groups)) < 2 or not all(map(holds, groups))


def test_the_smallest_group_joins_those_that_are_too_small():
    found = standing(sizes([1, 5, 3, 3, 1]), lambda records: len(records) >= 3)
    assert [part.tolist() for part in found] == [[1, 2, 3, 4, 5], [6, 7, 8], [0, 9, 10, 11, 12]]


def test_more_groups_join_until_the_rest_may_stand():
    found = standing(sizes([4, 6, 8, 1]), lambda records: len(records) % 2 == 0 or len(records) > 9)
    assert [len(part) for part in found] == [8, 11]


def test_one_column_of_one_value_tells_nobody_apart():
    assert not list(children(problem_of([("a",)] * 4, 2), np.arange(4)))
