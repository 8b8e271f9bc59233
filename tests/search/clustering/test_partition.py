"""Partitions in memory against the published algorithm, and what every part must be."""

from __future__ import annotations

import numpy as np
import pytest
from deadlines import until
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import mondrian
from oracles.covers import problem_of
from strategies import hierarchies, problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.loss.cells import CellCosts
from sqlanon.policy.privacy import AlphaAnonymity, LDiversity, TCloseness
from sqlanon.search.clustering.clustering_problem import ClusteringProblem, members
from sqlanon.search.clustering.mondrian import (
    RULES,
    Dimension,
    Judge,
    PartRows,
    Rule,
    cut_clusters,
    may_halve,
    partition,
)
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.privacy import Sparse, ValueDemand


@st.composite
def tables(draw):
    """Trees, records as leaves, and k."""
    trees = [Tree.grow("", rows) for rows in draw(st.lists(hierarchies(), min_size=1, max_size=3))]
    record = st.tuples(*(st.integers(0, len(tree.leaves) - 1) for tree in trees))
    records = draw(st.lists(record, min_size=1, max_size=40))
    return trees, sorted(records), draw(st.integers(1, 4))


def rule_of(trees, records, judge, **more):
    costs = CellCosts.of("lm", trees, weights=[1.0] * len(trees), records=len(records))
    taxonomies = [Taxonomy.of(tree, own) for tree, own in zip(trees, costs.costs, strict=True)]
    return Rule(tuple(map(Dimension.of, taxonomies)), judge, costs.unit, **more)


def rows_of(records, **more):
    leaves = np.array(records, np.int32)
    columns = tuple(np.ascontiguousarray(own) for own in leaves.T)
    return PartRows(columns, np.ones(len(records), np.int64), **more)


def cut(records, rule, rows=None):
    rows = rows_of(records) if rows is None else rows
    return partition(rows, np.zeros(len(rows), np.int64), rule=rule)


def parts_of(found):
    return sorted(np.flatnonzero(found.part == part).tolist() for part in range(found.parts))


@settings(max_examples=60)
@given(tables(), st.sampled_from(("median", "nodes")))
def test_strict_partitions_are_those_of_the_published_algorithm(case, cuts):
    trees, records, k = case
    found = cut(records, rule_of(trees, records, Judge(k), cuts=cuts))
    expected = mondrian.parts(records, [tree.nodes for tree in trees], k, cuts)
    assert parts_of(found) == expected


@settings(max_examples=40)
@given(tables(), st.sampled_from(RULES), st.data())
def test_parts_are_large_enough_and_split_no_combination(case, cuts, data):
    trees, records, k = case
    rule = rule_of(trees, records, Judge(k), cuts=cuts)
    found = cut(records, rule)
    if len(records) >= k:
        assert np.bincount(found.part).min() >= k
    assert len({*zip(records, found.part.tolist(), strict=True)}) == len(set(records))
    # Records that are alike may as well be one row of a size.
    distinct, sizes = np.unique(np.array(records), axis=0, return_counts=True)
    leaves = tuple(own.astype(np.int32) for own in distinct.T)
    alike = cut(records, rule, PartRows(leaves, sizes))
    order = data.draw(st.permutations(range(len(records))))
    shuffled = cut(records, rule, rows_of([records[at] for at in order]))
    whole = {frozenset(records[at] for at in part) for part in parts_of(found)}
    assert {
        frozenset(tuple(distinct[at].tolist()) for at in part) for part in parts_of(alike)
    } == whole
    assert {frozenset(records[order[at]] for at in part) for part in parts_of(shuffled)} == whole


@pytest.mark.parametrize(
    "model", [LDiversity(3), LDiversity(2, "entropy"), LDiversity(2, "recursive", c=2.0),
              AlphaAnonymity(0.4), TCloseness(0.2)]
)  # fmt: skip
def test_groups_of_many_values_are_judged_as_those_of_few(monkeypatch, model):
    chance = np.random.default_rng(3)
    group, value = np.sort(chance.integers(0, 40, 300)), chance.integers(0, 30, 300)
    group = np.append(group, [41] * 60)  # one that holds many, after one that holds nothing
    value = np.append(value, np.arange(60) // 2)
    held = Sparse(group, value, chance.integers(1, 3, 360))
    demand = ValueDemand(0, model, np.bincount(value, minlength=30))
    whole = held.holds(demand, groups=42)
    monkeypatch.setattr("sqlanon.search.privacy.COUNTS_AT_ONCE", 64)
    assert held.holds(demand, groups=42).tolist() == whole.tolist()
    assert 0 < whole.sum() < 42
    with pytest.raises(TimeLimitError):
        held.holds(demand, groups=42, deadline=Deadline(0.0))


def test_a_deadline_leaves_parts_as_they_are():
    tree = Tree.grow("", [(str(n), "*") for n in range(8)])
    records = [(n,) for n in range(8)]
    ended = Deadline(0.0)
    found = cut(records, rule_of([tree], records, Judge(2), deadline=ended))
    assert (found.parts, found.ended) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("cuts", RULES)
def test_whenever_the_time_is_over_parts_without_a_turn_stay_as_they_are(monkeypatch, cuts):
    """Between the columns of some parts, or between these and the next ones of a round."""
    trees = [Tree.grow(name, [(f"{n}", f"{n // 3}", "*") for n in range(9)]) for name in "ab"]
    records = [(n % 9, n * n % 7) for n in range(60)]
    rule = rule_of(trees, records, Judge(3), cuts=cuts)
    whole = cut(records, rule)
    monkeypatch.setattr("sqlanon.search.clustering.mondrian.ROWS_AT_ONCE", 8)
    assert parts_of(cut(records, rule)) == parts_of(whole)
    made = []
    for looks in range(60):
        found = cut(records, until(rule, looks))
        assert np.bincount(found.part).min() >= 3
        assert len(set(zip(whole.part, found.part, strict=True))) == whole.parts
        assert found.ended or found.parts == whole.parts
        made.append(found.parts)
    assert made == sorted(made)
    assert len(set(made)) > 6


def test_the_cut_that_tells_least_for_what_it_saves_comes_first():
    """Both columns save all that they cost, b with half the bits of a."""
    wide = Tree.grow("a", [(str(n), "*") for n in range(4)])
    narrow = Tree.grow("b", [(str(n), "*") for n in range(2)])
    records = [(n % 4, n % 2) for n in range(4)]
    found = cut(records, rule_of([wide, narrow], records, Judge(2)))
    assert parts_of(found) == [[0, 2], [1, 3]]


@pytest.mark.parametrize(("cuts", "sizes"), [("best", [3, 3]), ("nodes", [6]), ("median", [3, 3])])
def test_halves_are_cut_where_no_node_is_large_enough(cuts, sizes):
    tree = Tree.grow("", [(str(n), "*") for n in range(6)])
    records = [(n,) for n in range(6)]
    found = cut(records, rule_of([tree], records, Judge(3), cuts=cuts))
    assert np.bincount(found.part).tolist() == sizes


@settings(max_examples=20)
@given(st.integers(1, 6), st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_relaxed_parts_of_one_ordered_column_hold_fewer_than_twice_k(k, values):
    """Parts of one value are not cut any more, as nothing can be told apart in them."""
    tree = Tree.grow("", [(str(n), "*") for n in range(10)])
    records = sorted((value,) for value in values)
    found = cut(records, rule_of([tree], records, Judge(k), cuts="median", relaxed=True))
    for part in parts_of(found):
        alike = len({records[at] for at in part}) == 1
        assert len(records) < k or (k <= len(part) and (alike or len(part) < 2 * k))


def test_cut_clusters_keep_apart_what_the_highest_levels_do():
    tree = Tree.grow("", [(str(n), "low" if n < 3 else "high", "*") for n in range(6)])
    costs = CellCosts.of("lm", [tree], weights=[1.0], records=24)
    leaves = np.repeat(np.arange(6), 4)[:, np.newaxis]
    problem = ClusteringProblem((Taxonomy.of(tree, costs.costs[0]),), leaves, 5, highest=(1,))
    found = cut_clusters(problem, cuts="median", relaxed=True)
    assert found.sizes.min() >= 5
    assert not set(found.label[:12]) & set(found.label[12:])
    # Two values of three are cut in six records each; clusters that close alike are one.
    assert found.sizes.tolist() == [12, 12]


@pytest.mark.parametrize(
    ("models", "persons", "holds"),
    [
        ([], True, True),
        ([LDiversity(2, "entropy"), TCloseness(0.2)], False, True),
        ([LDiversity(2)], True, False),
        ([TCloseness(0.2)], True, False),
        ([LDiversity(2), TCloseness(0.2, "scaled")], False, False),
    ],
)
def test_parts_that_close_alike_are_halved_where_models_hold_of_unions(models, persons, holds):
    every = [ValueDemand(0, model, np.array([2, 2])) for model in models]
    assert may_halve(every, persons=persons) == holds


FEW = settings(max_examples=40)


@FEW
@given(problems(), st.integers(0, 30))
def test_every_cluster_stands_whenever_it_is_stopped(problem, looks):
    for stopped in (problem, until(problem, looks)):
        found = cut_clusters(stopped)
        assert (found.label >= 0).all()
        assert all(problem.satisfies(each) for each in members(found)) or len(found.nodes) == 1


def test_records_alike_are_parted():
    problem = problem_of([("a", "x")] * 3 + [("a", "y")] * 3 + [("b", "x")] * 3, 3)
    assert cut_clusters(problem).loss(problem) == 0


def test_no_time_is_one_cluster():
    problem = problem_of([("a",)] * 3 + [("b",)] * 3, 3)
    assert len(cut_clusters(until(problem, 0)).nodes) == 1
