"""Demands: clusters judged by their counts of values, and what they lack where they fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.lattice import demand_of, fails
from oracles.models import DRAWN

from sqlanon.policy.privacy import AlphaAnonymity, DeltaDisclosure, LDiversity, TCloseness
from sqlanon.search.privacy import Demands, ValueDemand, figures, shortfalls, worst_alone

clusters = st.lists(st.sampled_from(["nurse", "clerk", "boss", None]), max_size=6)


@settings(max_examples=150)
@given(DRAWN, st.lists(clusters, min_size=1, max_size=4))
def test_demands_are_what_brute_force_says(model, groups):
    whole = [value for group in groups for value in group]
    if not whole:
        return
    demand, present = demand_of(model, whole)
    counts = np.array([[group.count(value) for value in present] for group in groups])
    held = demand.holds(counts).tolist()
    assert held == [not fails(model, group, whole) for group in groups]


@settings(max_examples=150)
@given(DRAWN, clusters, clusters)
def test_a_small_cluster_of_many_values_is_judged_as_one_of_all(model, group, others):
    whole = [*group, *others]
    if not any(whole):
        return
    demand, present = demand_of(model, whole)
    values = [[present.index(value) if value in present else -1] for value in whole]
    found = Demands(np.array(values), (demand,)).holds(np.arange(len(group)))
    counts = np.array([[group.count(value) for value in present]])
    assert found == demand.holds(counts)[0]


@settings(max_examples=150)
@given(DRAWN, st.lists(clusters, min_size=1, max_size=4), st.booleans(), st.data())
def test_clusters_are_judged_together_as_each_by_itself(model, groups, counts_persons, data):
    whole = [value for group in groups for value in group]
    if not any(whole):
        return
    demand, present = demand_of(model, whole)
    values = np.array([[present.index(value) if value in present else -1] for value in whole])
    group = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    persons = None
    if counts_persons:
        drawn = data.draw(st.lists(st.integers(0, 4), min_size=len(whole), max_size=len(whole)))
        persons = np.array(drawn)
    own = replace(demand, persons=5 if counts_persons else None)
    demands = Demands(values, (own,), persons, k=2)
    records = np.arange(len(whole))
    each = [demands.holds(records[group == number]) for number in range(len(groups))]
    assert demands.hold_per_group(records, group, groups=len(groups)).tolist() == each


@settings(max_examples=100)
@given(DRAWN, st.lists(clusters, min_size=1, max_size=4), st.data())
def test_rows_that_stand_for_several_records_are_judged_as_these(model, groups, data):
    whole = [value for group in groups for value in group]
    if not any(whole):
        return
    drawn = data.draw(st.lists(st.integers(1, 3), min_size=len(whole), max_size=len(whole)))
    demand, present = demand_of(
        model, [v for v, n in zip(whole, drawn, strict=True) for _ in [0] * n]
    )
    values = np.array([[present.index(value) if value in present else -1] for value in whole])
    group, sizes = np.repeat(np.arange(len(groups)), list(map(len, groups))), np.array(drawn)
    rows = np.arange(len(whole))
    found = Demands(values, (demand,)).models_hold(rows, group, groups=len(groups), sizes=sizes)
    every = Demands(values.repeat(sizes, axis=0), (demand,))
    records = np.arange(sizes.sum())
    alone = every.models_hold(records, group.repeat(sizes), groups=len(groups))
    assert found.tolist() == alone.tolist()


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
    demand = ValueDemand(0, LDiversity(2, "entropy"), np.array([2, 2]), persons=2)
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


def demand(model, table):
    return ValueDemand(0, model, np.array(table))


@settings(max_examples=150)
@given(DRAWN, st.lists(clusters, min_size=1, max_size=4))
def test_nothing_is_lacking_exactly_where_a_model_holds(model, groups):
    whole = [value for group in groups for value in group]
    if not whole:
        return
    own, present = demand_of(model, whole)
    counts = np.array([[group.count(value) for value in present] for group in groups])
    lacking = shortfalls(own, counts)
    assert (lacking >= 0).all()
    assert ((lacking == 0) == own.holds(counts)).all()


@pytest.mark.parametrize(
    ("model", "counts", "lacking"),
    [
        (LDiversity(3), [4, 0, 0], 2),
        (LDiversity(3, "entropy"), [2, 2, 0], math.log(3) - math.log(2)),
        (LDiversity(2, "recursive", c=1.0), [3, 1, 0], 0.5),
        (AlphaAnonymity(0.5), [3, 1, 0], 0.25),
        (TCloseness(0.2), [4, 0, 0], 2 / 3 - 0.2),
        (TCloseness(0.2, "ordered"), [4, 0, 0], 0.5 - 0.2),
        (DeltaDisclosure(math.log(2)), [3, 3, 0], 1 / 6),
    ],
)
def test_what_is_lacking_is_in_the_units_of_the_model(model, counts, lacking):
    found = shortfalls(demand(model, [5, 5, 5]), np.array([counts]))
    assert found[0] == pytest.approx(lacking)


@pytest.mark.parametrize(
    ("model", "worst", "mean"),
    [
        (LDiversity(3), 1, 1.5),
        (LDiversity(3, "entropy"), 1, 1.5),
        (AlphaAnonymity(0.5), 1, 0.75),
        (TCloseness(0.2), 0.5, 0.25),
        (LDiversity(2, "recursive", c=1.0), 1, 0.5),
    ],
)
def test_figures_are_the_worst_and_the_mean(model, worst, mean):
    """A cluster of one value, and one of two as often as in the table."""
    found = figures(demand(model, [5, 5]), np.array([[4, 0], [2, 2]]))
    assert found[1:] == (pytest.approx(worst), pytest.approx(mean))


def test_the_unit_is_what_a_cluster_of_the_rarest_value_lacks():
    assert worst_alone(demand(TCloseness(0.2), [1, 9])) == pytest.approx(0.9 - 0.2)


def test_a_model_that_one_value_satisfies_has_the_unit_one():
    assert worst_alone(demand(LDiversity(1), [3, 3])) == 1.0
    assert worst_alone(demand(LDiversity(1), [])) == 1.0  # no value counts
