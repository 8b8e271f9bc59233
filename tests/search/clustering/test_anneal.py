"""Annealing: feasible where exchanges can be, never a smaller cluster, the same for a seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import Distinct, cost_of, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.hierarchy.tree import Tree
from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.search.clustering import annealing
from sqlanon.search.clustering.annealing import (
    Energy,
    NearestOthers,
    anneal,
    drawn_number,
    states,
)
from sqlanon.search.clustering.clustering_problem import NOWHERE, records_of
from sqlanon.search.clustering.effort import Schedule
from sqlanon.search.privacy import Demands, ValueDemand

pytestmark = pytest.mark.slow

FEW = settings(max_examples=25)
MODELS = [
    LDiversity(3),
    LDiversity(3, "entropy"),
    LDiversity(3, "recursive", c=2.0),
    TCloseness(0.3),
    TCloseness(0.2, "ordered"),
    TCloseness(0.4, "kl"),
    TCloseness(0.2, "scaled"),
]


def demands_of(values, *models):
    counts = np.bincount(values)
    every = tuple(ValueDemand(0, model, counts) for model in models)
    return Demands(np.asarray(values)[:, np.newaxis], every)


def planted(clusters=20, k=6, values=6):
    """Clusters of one value each, among near ones of other values, and their problem."""
    label = np.repeat(np.arange(clusters), k)
    rows = [(str(cluster), str(cluster // 2)) for cluster in label]
    return problem_of(rows, k), label, label % values


# The number generator


def test_a_number_is_drawn_with_probability_one_over_its_product_with_the_next():
    drawn = Counter(drawn_number((x + 0.5) / 100_000, below=10**6) for x in range(100_000))
    for number in range(1, 20):
        assert drawn[number] / 100_000 == pytest.approx(1 / (number * (number + 1)), abs=2e-5)


@pytest.mark.parametrize(
    ("x", "below", "number"),
    [(1.0, 10, 1), (0.5, 10, 2), (0.34, 10, 2), (0.1, 10, 1), (0.1, 11, 10), (0.0, 10, 1)],
)
def test_a_number_that_is_too_large_is_one(x, below, number):
    assert drawn_number(x, below=below) == number


# Neighbours


@FEW
@given(problems(), st.data())
def test_neighbours_are_the_nearest_records_of_other_values_in_other_clusters(problem, data):
    records = problem.records
    values = np.array([data.draw(st.integers(0, 2)) for _ in range(records)])
    label = np.array([data.draw(st.integers(-1, 2)) for _ in range(records)])
    found = NearestOthers(
        problem, values[:, np.newaxis], among=label >= 0, random=np.random.default_rng(0)
    )
    for record in np.flatnonzero(label >= 0):
        far = sorted(
            (cost_of(problem, [record, other]), other)
            for other in range(records)
            if label[other] not in (NOWHERE, label[record]) and values[other] != values[record]
        )
        own = [found.of(record, place, label=label) for place in range(1, len(far) + 1)]
        assert [cost_of(problem, [record, other]) for other in own] == [cost for cost, _ in far]
        assert sorted(own) == sorted(other for _, other in far)


def test_neighbours_beyond_those_that_are_kept_are_found(monkeypatch):
    monkeypatch.setattr(annealing, "MAX_NEAREST", 3)
    problem = problem_of([(str(n // 4),) for n in range(40)], 2)
    label = np.arange(40) // 2
    found = NearestOthers(
        problem, np.arange(40)[:, np.newaxis], among=label >= 0, random=np.random.default_rng(0)
    )
    costs = [cost_of(problem, [0, found.of(0, n, label=label)]) for n in range(1, 39)]
    assert costs == sorted(costs)
    assert costs[:3] == [0, 0, max(costs)]
    assert {len(near) for near in found._near.values()} == {3}


# Exchanges


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.describe())
def test_clusters_of_one_value_become_those_of_several(model):
    problem, label, values = planted()
    found = anneal(problem, demands_of(values, model), label=label, schedule=Schedule(weight=0.0))
    before, after = (states(demands_of(values, model), each)[0] for each in (label, found.label))
    assert before.failing == 20
    assert after.failing == 0
    assert found.iterations < Schedule().limit(120) == 600
    assert np.bincount(found.label).tolist() == [6] * 20


def test_several_models_are_reached_at_once():
    problem, label, values = planted()
    demands = demands_of(values, LDiversity(4), TCloseness(0.25, "ordered"))
    found = anneal(problem, demands, label=label, schedule=Schedule(weight=0.0))
    assert [state.failing for state in states(demands, found.label)] == [0, 0]


def test_exchanges_are_with_near_records():
    """Each cluster of a pair needs nothing but the other's values."""
    problem, label, values = planted()
    found = anneal(
        problem, demands_of(values, LDiversity(2)), label=label, schedule=Schedule(weight=0.0)
    )
    moved = np.flatnonzero(found.label != label)
    near = (found.label[moved] // 2 == label[moved] // 2).mean()
    assert near > 0.5


def test_equal_seeds_give_equal_clusters_and_others_do_not():
    problem, label, values = planted()
    demands = demands_of(values, LDiversity(3, "entropy"))
    labels = [
        anneal(problem, demands, label=label, schedule=Schedule(weight=0.0, seed=seed))
        for seed in (7, 7, 8)
    ]
    one, two, other = (found.label.tolist() for found in labels)
    assert one == two != other
    assert label.tolist() == planted()[1].tolist()


@FEW
@given(problems(), st.data())
def test_the_energy_told_is_that_of_the_clusters_and_never_rises(problem, data):
    values = np.array([data.draw(st.integers(0, 2)) for _ in range(problem.records)])
    label = np.arange(problem.records) // problem.k
    label = np.minimum(label, problem.records // problem.k - 1)
    label = np.unique(label, return_inverse=True)[1]
    demands = demands_of(values, LDiversity(2), TCloseness(0.2))
    schedule = Schedule(40, temperature=5.0, cooling=1.0, weight=data.draw(st.sampled_from([0, 1])))
    found = anneal(problem, demands, label=label, schedule=schedule)
    own = Energy(problem, demands, weight=schedule.weight)
    for each, told in zip((label, found.label), found.energies, strict=True):
        held = records_of(each)
        assert sum(own.lacking(held)) + sum(own.losing(held)) == pytest.approx(told)
    done = not any(own.lacking(records_of(found.label)))
    assert done or found.energies[1] <= found.energies[0] + 1e-9
    assert np.bincount(found.label).tolist() == np.bincount(label).tolist()


def test_the_best_state_never_gets_worse_with_more_iterations():
    """As hot as this a search walks at random, and the first iterations of all are the same."""
    problem, label, values = planted(clusters=8)
    demands = demands_of(values, LDiversity(6))
    best = [
        anneal(problem, demands, label=label, schedule=Schedule(n, 3.0, 1.0, 0.0)).energies[1]
        for n in range(0, 120, 6)
    ]
    assert best == sorted(best, reverse=True)
    assert best[-1] < best[0]


def test_at_temperature_zero_no_exchange_that_raises_the_energy_is_accepted():
    problem, label, values = planted(clusters=8)
    demands = demands_of(values, LDiversity(6))
    cold, hot = (
        anneal(problem, demands, label=label, schedule=Schedule(300, heat, 1.0, 1.0))
        for heat in (0.0, 1e9)
    )
    assert cold.accepted < hot.accepted == hot.iterations


def test_cooling_ends_what_is_accepted():
    problem, label, values = planted(clusters=8)
    demands = demands_of(values, LDiversity(6))
    cooled, hot = (
        anneal(problem, demands, label=label, schedule=Schedule(300, 2.0, cooling, 1.0))
        for cooling in (1e-6, 1.0)
    )
    assert cooled.accepted < hot.accepted


def test_the_weight_of_the_loss_keeps_it_low():
    """Other values are as near as the next cluster, and numbers drawn are sometimes large."""
    paths = [(str(n), f"<{n // 24}>", f"[{n // 48}]", "*") for n in range(240)]
    tree = Tree.grow("age", paths)
    rows, label = [(path[0],) for path in paths], np.arange(240) // 6
    problem = problem_of(rows, 6, [tree], "lm")
    demands = demands_of(label % 6, LDiversity(2))

    def lost(weight):
        own = anneal(problem, demands, label=label, schedule=Schedule(weight=weight)).label
        assert states(demands, own)[0].failing == 0
        return sum(len(records) * cost_of(problem, records) for records in records_of(own))

    assert lost(1.0) < 0.8 * lost(0.0)


def feasible(values, label, holds):
    """Whether any way to fill clusters of these sizes satisfies a model."""
    sizes = np.bincount(label)
    for order in set(permutations(values.tolist())):
        if all(holds(part) for part in np.split(np.array(order), np.cumsum(sizes)[:-1])):
            return True
    return False


@settings(max_examples=12)
@given(st.lists(st.integers(0, 2), min_size=4, max_size=6), st.integers(2, 3), st.booleans())
def test_annealing_satisfies_what_some_exchanges_of_tiny_tables_do(drawn, least, close):
    values = np.unique(drawn, return_inverse=True)[1]
    label = (np.arange(len(values)) >= len(values) // 2).astype(np.int64)
    problem = problem_of([(str(n),) for n in range(len(values))], 2)
    demands = demands_of(values, TCloseness(0.2) if close else LDiversity(least))

    def holds(part):
        counts = np.bincount(part, minlength=values.max() + 1)
        return bool(demands.every[0].holds(counts[np.newaxis])[0])

    schedule = Schedule(1000, temperature=1.0, cooling=1.0, weight=0.0)
    found = anneal(problem, demands, label=label, schedule=schedule)
    assert (states(demands, found.label)[0].failing == 0) == feasible(values, label, holds)


def test_what_clusters_satisfy_already_is_kept():
    """Two persons in each, who come one after the other."""
    label, values = np.arange(24) // 4, np.arange(24) // 4 % 2
    problem = problem_of([(str(n),) for n in range(24)], 4, demand=Distinct(np.arange(24) % 2, 2))
    found = anneal(
        problem, demands_of(values, LDiversity(2)), label=label, schedule=Schedule(weight=0.0)
    )
    assert (found.label != label).any()
    assert all(problem.satisfies(records) for records in records_of(found.label))


def test_what_is_nowhere_stays_there():
    problem, label, values = planted()
    label = np.where(np.arange(len(label)) % 7 == 0, NOWHERE, label)
    smaller = replace(problem, k=5)
    found = anneal(
        smaller, demands_of(values, LDiversity(3)), label=label, schedule=Schedule(weight=0.0)
    )
    assert ((found.label == NOWHERE) == (label == NOWHERE)).all()
    assert found.accepted > 0


def test_one_value_has_nothing_to_be_exchanged_with():
    problem, label, values = planted(values=1)
    found = anneal(problem, demands_of(values, LDiversity(2)), label=label, schedule=Schedule(50))
    assert (found.iterations, found.accepted) == (50, 0)
    assert found.label.tolist() == label.tolist()


def test_no_time_is_no_exchange():
    problem, label, values = planted()
    late = replace(problem, deadline=Deadline(0, lambda: 1))
    found = anneal(late, demands_of(values, LDiversity(2)), label=label, schedule=Schedule())
    assert (found.iterations, found.ended) == (0, True)


@FEW
@given(problems(), st.data())
def test_the_part_of_the_loss_is_that_of_closures(problem, data):
    label = np.array([data.draw(st.integers(0, 2)) for _ in range(problem.records)])
    label = np.unique(label, return_inverse=True)[1]
    demands = demands_of(np.zeros(problem.records, np.int64), LDiversity(1))
    top = max(int(problem.cost(problem.root)), 1)
    held = records_of(label)
    lost = [2.0 * len(own) * cost_of(problem, own) / top for own in held]
    assert Energy(problem, demands, weight=2.0).losing(held) == pytest.approx(lost)


def test_records_of_other_divisions_are_no_neighbours():
    """The first column may not be generalized, so its values never mix."""
    problem = problem_of([(str(n % 2), str(n // 2 % 3)) for n in range(24)], 4)
    problem = replace(problem, highest=(0, 1))
    division = np.arange(24) % 2
    label = division + 2 * (np.arange(24) // 12)
    found = anneal(
        problem, demands_of(np.arange(24) // 12, LDiversity(2)), label=label,
        schedule=Schedule(weight=0.0),
    )  # fmt: skip
    assert found.accepted > 0
    assert (found.label % 2 == division).all()
    assert states(demands_of(np.arange(24) // 12, LDiversity(2)), found.label)[0].failing == 0


def test_states_are_not_worked_out_when_the_time_is_over():
    _, label, values = planted()
    with pytest.raises(TimeLimitError):
        states(demands_of(values, LDiversity(2)), label, deadline=Deadline(0, lambda: 1))


def test_clusters_are_counted_so_many_at_a_time(monkeypatch):
    problem, label, values = planted()
    demands = demands_of(np.where(label < 19, values, 5), LDiversity(2), TCloseness(0.1))
    whole = states(demands, label), Energy(problem, demands, weight=0.0).lacking(records_of(label))
    monkeypatch.setattr(annealing, "COUNTS_AT_ONCE", 20)
    parts = states(demands, label), Energy(problem, demands, weight=0.0).lacking(records_of(label))
    assert parts[1] == whole[1]
    for one, other in zip(parts[0], whole[0], strict=True):
        assert (one.failing, one.worst) == (other.failing, other.worst)
        assert one.mean == pytest.approx(other.mean)
