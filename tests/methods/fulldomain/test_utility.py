"""The loss utility: what Khaitan's E is worth, its bounds, and what it cannot do."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from databases import empty_database, insert
from hypothesis import given
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier, TCloseness
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.search.lattice.bounds import INFINITE, UNITS_PER_GAIN, Ratio

CITIES = Hierarchy.from_rows([(f"{a}{b}", f"{a}*", "*") for a in "ab" for b in "123"])
AGES = Hierarchy.from_rows([("20", "2-", "*"), ("25", "2-", "*"), ("31", "3-", "*")])


def connected(records, threads=1):
    connection = empty_database(threads)
    connection.execute("CREATE TABLE people (city TEXT, age TEXT, s TEXT, t TEXT)")
    insert(connection, "people", records)
    return connection


def policy_of(k, **more):
    return Policy({"city": CITIES, "age": AGES}, ["s", "t"], models=[KAnonymity(k)], **more)


@pytest.mark.slow
def test_purity_can_be_worth_a_higher_cost():
    """Ages tell nothing of the diagnosis; cities tell all, and cost more to keep apart.

    Keeping the cities generalizes the age twice and costs 1 of 2 cells' levels; generalizing the
    city alone would cost less but leave every class with the table's own distribution.
    """
    ages = Hierarchy.from_rows([("young", "any", "*"), ("old", "any", "*")])
    cities = Hierarchy.from_rows([("oslo", "*"), ("rome", "*")])
    records = [
        (city, age, "flu" if city == "oslo" else "cold", "")
        for city in ("oslo", "rome")
        for age in ("young", "old")
    ]
    weighted = {
        "city": QuasiIdentifier(cities, weight=1),
        "age": QuasiIdentifier(ages, weight=3),
    }
    policy = Policy(weighted, sensitive=["s"], models=[KAnonymity(2)])
    with connected(records) as connection:
        cheapest = sqlanon.plan(connection, policy, table="people", loss="tree").report
        purest = sqlanon.plan(connection, policy, table="people", loss="utility").report
    assert cheapest.levels == {"city": 1, "age": 0}
    assert cheapest.loss["tree"] == 0.25
    assert cheapest.loss["utility"] == math.inf
    assert purest.levels == {"city": 0, "age": 1}
    assert purest.loss["tree"] == 0.375
    assert purest.loss["utility"] == 0.375 / (1 - 0.5)


def test_a_higher_limit_is_told_by_the_loss_that_is_asked_for():
    tops = dict.fromkeys(("city", "age"), Hierarchy.suppression())
    policy = Policy(tops, ["s"], models=[KAnonymity(3)], others="drop", suppression_limit=0.02)
    records = [
        *[("a1", "20", "flu", "")] * 30,
        *[("b1", "31", "cold", "")] * 30,
        ("a2", "20", "flu", ""),
        ("b1", "25", "cold", ""),
    ]
    with connected(records) as connection:
        report = sqlanon.plan(connection, policy, table="people", loss="utility").report
        [*_, row] = report.suppression_tradeoff
        allowed = replace(policy, suppression_limit=row["suppression_limit"])
        plan = sqlanon.plan(connection, allowed, table="people", loss="utility")
    assert plan.report.loss["utility"] == row["loss"] < report.loss["utility"]


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing():
    records = [
        (f"{'ab'[i % 2]}{1 + i % 3}", ("20", "25", "31")[i * i % 7 % 3], "xyz"[i % 11 % 3], "p")
        for i in range(3000)
    ]
    policy, found = policy_of(40, suppression_limit=0.2), []
    for threads in (1, 2, 8):
        with connected(records, threads) as connection:
            report = sqlanon.plan(connection, policy, table="people", loss="utility").report
            found.append((report.levels, report.loss, report.lower_bound, report.search))
    assert found[0] == found[1] == found[2]


def test_a_time_limit_leaves_a_bound_below_the_loss():
    records = [(f"{a}{b}", age, a, b) for a in "ab" for b in "123" for age in ("20", "25", "31")]
    asked = {"loss": "utility", "time_limit": 1e-9}
    with connected(records) as connection:
        report = sqlanon.plan(connection, policy_of(2), table="people", **asked).report
    assert not report.search.proven
    assert 0 <= report.lower_bound <= report.loss["utility"]


def test_an_unsatisfiable_policy_within_highest_levels_is_told():
    """Nodes that are looked at for the ways out are counted besides others that are known."""
    tree = Hierarchy.from_rows([(f"x{i}", f"g{i}", "*") for i in (1, 2, 3)])
    policy = Policy(
        {"city": QuasiIdentifier(tree, max_level=1)},
        ["s"],
        models=[KAnonymity(3), TCloseness(0.3)],
        others="drop",
    )
    records = zip(("x1", "x1", "x1", "x2", "x2", "x3"), "456789", "ppqpqq", "......", strict=True)
    with connected(list(records)) as connection, pytest.raises(UnsatisfiableError, match="no"):
        sqlanon.plan(connection, policy, table="people", loss="utility")


def test_utility_without_a_sensitive_attribute_is_one_clear_error():
    policy = Policy({"city": CITIES}, models=[KAnonymity(2)])
    with (
        connected([("a1", "20", "x", "p")] * 3) as connection,
        pytest.raises(PolicyError, match=r"needs a sensitive attribute; .*--sensitive COLUMN"),
    ):
        sqlanon.plan(connection, policy, table="people", loss="utility")


costs, gains = st.integers(0, 10**9), st.integers(0, UNITS_PER_GAIN)


@given(costs, gains, costs, gains)
def test_values_ascend_with_the_ratio(cost, gain, other_cost, other_gain):
    of = Ratio(10**9, UNITS_PER_GAIN)
    one = Fraction(cost, max(gain, 1))
    other = Fraction(other_cost, max(other_gain, 1))
    if gain and other_gain and one <= other:
        assert of.value(cost, gain) <= of.value(other_cost, other_gain)


@given(costs, gains, costs, gains)
def test_a_bound_is_never_above_the_value_of_more_cost_or_less_gain(cost, gain, more, less):
    of = Ratio(10**9, UNITS_PER_GAIN)
    assert of.bound(cost, gain) <= of.value(cost + more, max(gain - less, 0))


def test_a_ratio_is_infinite_where_something_is_lost_and_nothing_gained():
    of = Ratio(100, UNITS_PER_GAIN)
    assert of.value(1, 0) == of.bound(1, 0) == INFINITE
    assert of.value(0, 0) == of.bound(0, 0) == 0
    assert of.loss(INFINITE) == math.inf
    assert of.loss(of.value(50, UNITS_PER_GAIN // 4)) == 2.0
