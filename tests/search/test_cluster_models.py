"""Demands: clusters judged by their counts of values, against ten lines of Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.lattice import demand_of, fails
from strategies import models

from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.search.privacy import Demands, ValueDemand

clusters = st.lists(st.sampled_from(["nurse", "clerk", "boss", None]), max_size=6)


@settings(max_examples=150, deadline=None)
@given(models, st.lists(clusters, min_size=1, max_size=4))
def test_demands_are_what_brute_force_says(model, groups):
    whole = [value for group in groups for value in group]
    if not whole:
        return
    demand, present = demand_of(model, whole)
    counts = np.array([[group.count(value) for value in present] for group in groups])
    held = demand.holds(counts).tolist()
    assert held == [not fails(model, group, whole) for group in groups]


@settings(max_examples=150, deadline=None)
@given(models, clusters, clusters)
def test_a_small_cluster_of_many_values_is_judged_as_one_of_all(model, group, others):
    whole = [*group, *others]
    if not any(whole):
        return
    demand, present = demand_of(model, whole)
    values = [[present.index(value) if value in present else -1] for value in whole]
    found = Demands(np.array(values), (demand,)).holds(np.arange(len(group)))
    counts = np.array([[group.count(value) for value in present]])
    assert found == demand.holds(counts)[0]


def test_values_that_a_small_cluster_lacks_take_no_time(monkeypatch):
    widths = []

    def holds(_, counts):
        widths.append(counts.shape[1])
        return np.ones(1, bool)

    monkeypatch.setattr(ValueDemand, "holds", holds)
    demand = ValueDemand(0, LDiversity(2), np.ones(1000, np.int64))
    assert Demands(np.arange(1000).reshape(-1, 1), (demand,)).holds(np.arange(4))
    assert widths == [4]


@pytest.mark.parametrize("number", range(2, 51))
def test_a_uniform_cluster_of_exactly_l_values_passes_entropy_l(number):
    demand = ValueDemand(0, LDiversity(number, "entropy"), np.ones(number, np.int64))
    assert demand.holds(np.full((1, number), 3)).tolist() == [True]


PERSONS = np.array([0, 0, 1, 1, 2])


def test_persons_are_counted_once_for_each_value_and_k_counts_them():
    """Two records of person 0 with one value are one of that value."""
    demand = ValueDemand(0, LDiversity(2, "entropy"), np.array([2, 2]), of_persons=True)
    values = np.array([[0], [0], [1], [1], [-1]])
    demands = Demands(values, (demand,), PERSONS, 2)
    assert demands.holds(np.array([0, 1, 2]))
    assert not demands.holds(np.array([0, 1]))
    assert not Demands(values, (), PERSONS, 3).holds(np.array([0, 1, 2, 3]))
    assert not demands.union_closed


def test_what_is_left_out_leaves_the_reference_and_the_values_with_it():
    demand = ValueDemand(0, TCloseness(0.1), np.array([1, 2, 2]))
    whole = Demands(np.array([[0], [1], [1], [2], [2]]), (demand,))
    published = np.array([1, 2, 3, 4])
    own = whole.referring(published).part(published)
    assert own.every[0].table.tolist() == [2, 2]
    assert own.values.T.tolist() == [[0, 0, 1, 1]]
    assert own.holds(np.array([0, 2]))
    assert not whole.holds(np.array([1, 3]))


@pytest.mark.parametrize("kind", [LDiversity(1, "recursive", 2), TCloseness(0.1, "hierarchical")])
def test_a_column_without_any_value_that_counts_is_judged(kind):
    nodes = (np.zeros(0, np.int64),)
    demand = ValueDemand(0, kind, np.zeros(0, np.int64), nodes)
    found = Demands(np.full((2, 1), -1), (demand,)).holds(np.arange(2))
    assert found == kind.holds_without_values
