"""The lower bound: below the least loss of every recoding that a policy allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.fuzzed import Case, least_loss
from strategies import hierarchies, level_bounds, records_of, weights

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.clustering import pricing
from sqlanon.methods.clustering.first import Priced
from sqlanon.search.clustering.dual_bound import Duals, dual_bound

AGES = [("1", "1-2", "*"), ("2", "1-2", "*"), ("3", "3-4", "*"), ("4", "3-4", "*")]


@st.composite
def bounded(draw):
    """Trees, level bounds, weights, records with a person each, k, and a suppression limit."""
    trees = draw(st.lists(hierarchies(), min_size=1, max_size=2))
    records = draw(records_of(trees, st.integers(0, 3), least=2, most=7))
    bounds = [draw(level_bounds(rows)) for rows in trees]
    k = draw(st.integers(1, min(3, len(records))))
    limit = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    return trees, bounds, [draw(weights) for _ in trees], records, k, limit


def opened(trees, bounds, weighing, records, k, limit, **more):
    """A connection to the table, and the policy."""
    connection, names = empty_database(), [f"q{number}" for number in range(len(trees))]
    listed = ", ".join(f"{name} VARCHAR" for name in names)
    connection.execute(f"CREATE TABLE people ({listed}, person INTEGER)")
    insert(connection, "people", records)
    quasi = {
        name: QuasiIdentifier(Hierarchy.from_rows(rows), weight, *levels)
        for name, rows, weight, levels in zip(names, trees, weighing, bounds, strict=True)
    }
    policy = Policy(quasi, models=[KAnonymity(k)], suppression_limit=limit, others="drop", **more)
    return connection, policy


def least(policy, records):
    """The least Loss Metric of any clusters that a policy of `opened` allows; None for none."""
    kinds = dict.fromkeys(policy.attributes, "VARCHAR")
    return least_loss(Case(kinds, records, policy, {"loss": "lm"}))


@settings(max_examples=30)
@given(bounded(), st.sampled_from([10**6, 1, 2, 4]), st.sampled_from([None, 60]))
def test_no_recoding_within_levels_and_limit_loses_less_than_the_bound(case, most, seconds):
    connection, policy = opened(*case)
    possible = least(policy, case[3])
    with connection:
        if possible is None:
            with pytest.raises(UnsatisfiableError):
                sqlanon.plan(connection, policy, table="people")
            return
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("sqlanon.methods.clustering.bound.MOST_ITEMSETS", most)
            patched.setattr("sqlanon.methods.clustering.bound.FIRST_ITEMSETS", 1)
            report = sqlanon.bound(connection, policy, table="people", time_limit=seconds)
    assert report.single_records <= report.lower_bound
    assert report.lower_bound <= possible + 1e-9


@settings(max_examples=25)
@given(
    bounded(),
    st.sampled_from(["lm", "tree", "suppressed-cells", "monotone-entropy"]),
    st.sampled_from([{}, {"entity": "person"}]),
)
def test_no_node_of_the_lattice_loses_less_than_the_bound(case, loss, entity):
    connection, policy = opened(*case, **entity)
    with connection:
        try:
            found = sqlanon.plan(connection, policy, table="people", loss=loss).report
        except UnsatisfiableError:
            return
        report = sqlanon.bound(connection, policy, table="people", loss=loss)
    assert report.lower_bound <= found.loss[loss.replace("-", "_")] + 1e-9


def table_of(ages):
    return opened([AGES], [(0, 2)], [1.0], [(age, 0) for age in ages], 2, 0.0)


def test_a_bound_looks_at_the_lowest_and_highest_level():
    connection, policy = table_of("1122")
    assert sqlanon.bound(connection, policy, table="people").lower_bound == 0
    raised = Policy(
        {"q0": QuasiIdentifier(Hierarchy.from_rows(AGES), 1, 1, 1)}, models=policy.models
    )
    report = sqlanon.bound(connection, raised, table="people")
    assert report.lower_bound == pytest.approx(1 / 3)
    assert report.to_dict()["levels"] == {"q0": (1, 1)}
    assert "records within the levels allowed that suppresses no record" in report.to_text()


@pytest.mark.slow
def test_records_that_fit_no_class_within_the_levels_are_suppressed_or_refused():
    connection, _ = table_of("11123")
    quasi = {"q0": QuasiIdentifier(Hierarchy.from_rows(AGES), 1, 0, 1)}
    policy = Policy(quasi, models=[KAnonymity(2)])
    with pytest.raises(UnsatisfiableError, match="1 of 5 records is in classes of fewer than 2"):
        sqlanon.bound(connection, policy, table="people")
    allowed = Policy(quasi, models=[KAnonymity(2)], suppression_limit=0.2)
    report = sqlanon.bound(connection, allowed, table="people")
    assert report.lower_bound == pytest.approx((2 / 3 + 1) / 5)
    assert report.to_dict()["single_record_bound"] == pytest.approx((1 / 3 + 1) / 5)
    assert "with up to 1 record suppressed" in report.to_text()


@pytest.mark.slow
def test_a_bound_says_what_it_is_for_persons_and_other_models():
    connection, _ = table_of("11223344")
    policy = Policy(
        {"q0": Hierarchy.from_rows(AGES)},
        sensitive=["person"],
        models=[KAnonymity(2), LDiversity(1)],
    )
    [note] = sqlanon.bound(connection, policy, table="people").notes
    assert "distinct 1-diversity of 'person' can only raise the loss" in note
    persons = Policy({"q0": Hierarchy.from_rows(AGES)}, entity="person", models=[KAnonymity(2)])
    report = sqlanon.bound(connection, persons, table="people")
    assert report.to_dict()["entity"] == "person"
    assert "a class of 2 persons by 'person' has as many records or more" in report.to_text()


@pytest.mark.slow
def test_a_bound_without_k_or_of_a_loss_that_can_shrink_is_refused():
    connection, policy = table_of("1122")
    with pytest.raises(PolicyError, match="no lower bound"):
        sqlanon.bound(connection, policy, table="people", loss="discernibility")
    policy = Policy(["q0"], sensitive=["person"], models=[LDiversity(2)])
    with pytest.raises(PolicyError, match="no k is given"):
        sqlanon.bound(connection, policy, table="people")


def test_a_cluster_needs_as_many_takers_as_k_says():
    connection, policy = table_of("1112")
    report = sqlanon.bound(connection, policy, table="people")
    assert report.lower_bound == pytest.approx(2 / 3 / 4)
    document = report.to_dict()
    assert document["single_record_bound"] == pytest.approx(1 / 3 / 4)
    assert document["effort"] == "quick"
    assert "the cheapest itemset of each record alone proves 0.0833333" in report.to_text()


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"effort": "full"}, {"time_limit": 60}], ids=["full", "limit"])
def test_effort_is_as_asked_for_or_full_under_a_time_limit(asked):
    connection, policy = table_of("111233344")
    quick = sqlanon.bound(connection, policy, table="people")
    report = sqlanon.bound(connection, policy, table="people", **asked)
    assert report.to_dict()["effort"] == "full"
    assert report.single_records < quick.lower_bound <= report.lower_bound
    assert not report.notes


@pytest.mark.slow
def test_a_bound_by_the_cheapest_itemsets_says_what_the_others_count(monkeypatch):
    connection, policy = table_of("11123")
    whole = sqlanon.bound(connection, policy, table="people")
    monkeypatch.setattr("sqlanon.methods.clustering.bound.MOST_ITEMSETS", 1)
    report = sqlanon.bound(connection, policy, table="people")
    assert 0 < report.lower_bound < whole.lower_bound
    assert "a record loses 0.333 or more count as that much" in " ".join(report.notes)


@pytest.mark.slow
def test_with_a_time_limit_prices_are_raised_until_that_helps_no_more(monkeypatch):
    connection, policy = table_of("111233344")
    full = sqlanon.bound(connection, policy, table="people", effort="full")
    calls = []

    def weak(self, problem, every, *, effort, **more):
        return Priced(Duals(np.zeros(problem.records), 0, np.zeros(0, np.int64)), effort, False)

    def counted(*given, start, **more):
        calls.append(start.total)
        return dual_bound(*given, start=start, **more)

    monkeypatch.setattr(pricing.Mine, "priced", weak)
    monkeypatch.setattr("sqlanon.methods.clustering.bound.dual_bound", counted)
    report = sqlanon.bound(connection, policy, table="people", time_limit=60)
    assert report.lower_bound == full.lower_bound
    assert calls[0] == 0 < calls[-1]


@pytest.mark.slow
def test_an_effort_that_the_time_limit_ends_is_not_told(monkeypatch):
    connection, policy = table_of("111233344")
    quick = sqlanon.bound(connection, policy, table="people")
    priced = pricing.Mine.priced

    def ended(*given, **more):
        return replace(priced(*given, **more), is_cut=True)

    monkeypatch.setattr(pricing.Mine, "priced", ended)
    report = sqlanon.bound(connection, policy, table="people", effort="full", time_limit=60)
    assert report.to_dict()["effort"] is None
    assert report.lower_bound >= quick.lower_bound


@pytest.mark.slow
def test_a_node_that_a_branch_repeats_costs_what_the_lowest_level_says():
    connection, policy = opened([[("1", "*")]], [(1, 1)], [1.0], [("1", 0)] * 3, 2, 0.0)
    asked = {"loss": "suppressed-cells"}
    report = sqlanon.plan(connection, policy, table="people", method="direct-cover", **asked).report
    assert report.search.proven
    assert report.to_dict()["loss"]["value"] == 3 == report.lower_bound
    assert sqlanon.bound(connection, policy, table="people", **asked).lower_bound == 3
