"""The loss utility: Khaitan's E steers the full-domain search, against brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from contextlib import ExitStack
from fractions import Fraction
from unittest.mock import patch

import pytest
from databases import empty_database, insert
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier, TCloseness
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.hierarchy import layout
from sqlanon.methods.fulldomain import frequency_sets, model_checks
from sqlanon.policy.policy import Sensitive
from sqlanon.search.lattice import incognito
from sqlanon.search.lattice.bounds import INFINITE, ONE, Ratio

CITIES = Hierarchy.from_rows([(f"{a}{b}", f"{a}*", "*") for a in "ab" for b in "123"])
AGES = Hierarchy.from_rows([("20", "2-", "*"), ("25", "2-", "*"), ("31", "3-", "*")])
TREES = [CITIES, AGES]
MODELS = [None, LDiversity(2), LDiversity(1.5, kind="entropy"), TCloseness(0.4, distance="equal")]


@st.composite
def cases(draw):
    """A table of two quasi-identifiers and two sensitive attributes, and what is asked of it."""
    columns = [st.sampled_from([row[0] for row in tree.rows]) for tree in TREES]
    values = [st.sampled_from(["x", "y", "y", None]), st.sampled_from("pqr")]
    records = draw(st.lists(st.tuples(*columns, *values), min_size=2, max_size=14))
    return {
        "records": records,
        "k": draw(st.integers(1, min(3, len(records)))),
        "limit": draw(st.sampled_from([0, 0.1, 0.3, 0.5, 1])),
        "suppressed": draw(st.sampled_from(["drop", "keep"])),
        "weights": draw(st.sampled_from([(1, 1), (1, 3), (0.5, 2)])),
        "nulls": draw(st.sampled_from(["value", "none"])),
        "model": draw(st.sampled_from(MODELS)),
    }


def counted(records, place, nulls="value"):
    return Counter(r[place] for r in records if r[place] is not None or nulls == "value")


def fails(model, held, reference):
    if model is None:
        return False
    n = sum(held.values())
    if isinstance(model, TCloseness):
        total = sum(reference.values())
        parts = [Fraction(held[v], n) - Fraction(reference[v], total) for v in reference]
        return sum(map(abs, parts)) / 2 > model.t + 1e-12
    if model.kind == "distinct":
        return len(held) < model.l
    return -sum(c / n * math.log(c / n) for c in held.values()) < math.log(model.l) - 1e-12


def evaluated(case, node):
    """E, suppressed records, and whether a node may be published: from the definitions alone."""
    records, k, model = case["records"], case["k"], case["model"]
    labels = [{row[0]: row[level] for row in t.rows} for t, level in zip(TREES, node, strict=True)]
    classes = defaultdict(list)
    for record in records:
        classes[labels[0][record[0]], labels[1][record[1]]].append(record)
    gone, more = {}, True
    while more:
        left = [r for c in classes.values() for r in c]
        reference = counted(records if case["suppressed"] == "keep" else left, 3)
        more = {
            key: c for key, c in classes.items()
            if len(c) < k or fails(model, counted(c, 3), reference)
        }  # fmt: skip
        gone |= more
        classes = {key: c for key, c in classes.items() if key not in more}
        if case["suppressed"] == "keep":
            break
    lost = [r for c in gone.values() for r in c]
    accepted = not lost or len(lost) <= case["limit"] * len(records)
    if case["suppressed"] == "drop":
        accepted &= bool(classes)
    elif lost:
        accepted &= len(lost) >= k and not fails(model, counted(lost, 3), counted(records, 3))
    return ratio(case, node, list(classes.values())), len(lost), accepted


def ratio(case, node, classes):
    """Cost over gain of the classes that are published."""
    total, published = len(case["records"]), sum(map(len, classes))
    weights = [Fraction(str(weight)) for weight in case["weights"]]
    parts = [w / sum(weights) * Fraction(n, 2) for w, n in zip(weights, node, strict=True)]
    cost = (sum(parts) * published + total - published) / total
    gains = []
    for place, nulls in ((2, case["nulls"]), (3, "value")):
        every = counted(case["records"], place, nulls)
        n = sum(every.values())
        baseline = Fraction(sum(c * c for c in every.values()), n * n) if n else 0
        gain = Fraction(0)
        for held in (counted(c, place, nulls) for c in classes):
            if size := sum(held.values()):
                gain += Fraction(sum(c * c for c in held.values()), size) - size * baseline
        gains.append(gain / n if n else gain)
    gain = sum(gains) / 2
    return 0 if not cost else cost / gain if gain > 0 else math.inf


def connected(records, threads=1):
    connection = empty_database(threads)
    connection.execute("CREATE TABLE people (city TEXT, age TEXT, s TEXT, t TEXT)")
    insert(connection, "people", records)
    return connection


def policy_of(case):
    model = case["model"]
    columns = zip(("city", "age"), TREES, case["weights"], strict=True)
    return Policy(
        {name: QuasiIdentifier(tree, weight=weight) for name, tree, weight in columns},
        sensitive={
            "s": Sensitive(nulls=case["nulls"]),
            "t": Sensitive(models=[] if model is None else [model]),
        },
        models=[KAnonymity(case["k"])],
        suppression_limit=case["limit"],
        suppressed=case["suppressed"],
    )


WAYS = {
    "as it comes": [],
    "one box at a time": [(incognito, "LARGEST_BOX", 2)],
    "side by side": [(module, "LARGE", 0) for module in (frequency_sets, model_checks)],
    "several words": [(layout, "WORD_BITS", 3)],
}


# What the published classes gain decides, not what all classes would.
SUPPRESSED = {
    "records": [
        ("b2", "31", "y", "r"), ("b3", "31", "x", "p"), ("a2", "31", "y", "r"),
        ("b3", "25", None, "p"), ("b1", "31", "y", "r"), ("b3", "31", "y", "q"),
        ("b3", "25", None, "r"), ("a3", "31", "y", "r"), ("b2", "25", "x", "p"),
        ("a2", "20", "x", "r"), ("a3", "20", "y", "r"), ("b3", "25", "y", "r"),
    ],
    "k": 2, "limit": 1, "suppressed": "drop", "weights": (1, 1), "nulls": "value",
    "model": LDiversity(2),
}  # fmt: skip
# Half of what the classes of a node gain is no bound: it would rule the best node out.
PRUNED = {
    "records": [
        ("b2", "25", "y", "r"), ("a2", "25", None, "r"), ("b1", "20", "y", "p"),
        ("b3", "25", None, "r"), ("b3", "31", "x", "q"), ("b2", "25", "y", "r"),
        ("a3", "31", None, "q"), ("a2", "20", "y", "q"), ("a2", "20", "y", "r"),
        ("b1", "31", "y", "r"), ("b2", "25", None, "q"), ("a3", "20", "y", "r"),
        ("b3", "25", None, "p"), ("a1", "31", "x", "p"),
    ],
    "k": 2, "limit": 0.5, "suppressed": "drop", "weights": (1, 3), "nulls": "none",
    "model": LDiversity(2),
}  # fmt: skip
# Suppressed classes gain less than nothing: without them others gain more than all together.
RELIEVED = {
    "records": [
        ("b1", "20", "y", "p"), ("b2", "20", "y", "p"), ("b2", "25", "y", "p"),
        ("a3", "31", "y", "p"), ("a3", "20", "y", "p"), ("b2", "20", "y", "p"),
        ("b1", "20", "y", "p"), ("a1", "31", "y", "p"), ("b1", "31", "y", "q"),
        ("a3", "25", "y", "p"), ("b1", "20", "y", "p"), ("a1", "25", "y", "p"),
        ("b3", "25", "y", "p"), ("b2", "31", "y", "p"),
    ],
    "k": 3, "limit": 0.5, "suppressed": "drop", "weights": (1, 3), "nulls": "value",
    "model": TCloseness(0.4, distance="equal"),
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=14, deadline=None)
@example(SUPPRESSED, "as it comes")
@example(PRUNED, "side by side")
@example(RELIEVED, "as it comes")
@given(cases(), st.sampled_from(sorted(WAYS)))
def test_the_search_finds_the_node_that_brute_force_finds(case, way):
    nodes = list(itertools.product(range(3), range(3)))
    truth = {node: evaluated(case, node) for node in nodes}
    allowed = [node for node in nodes if truth[node][2]]
    with connected(case["records"]) as connection, ExitStack() as stack:
        for module, name, value in WAYS[way]:
            stack.enter_context(patch.object(module, name, value))
        if not allowed:
            with pytest.raises(sqlanon.UnsatisfiableError):
                sqlanon.plan(connection, policy_of(case), table="people", loss="utility")
            return
        plan = sqlanon.plan(connection, policy_of(case), table="people", loss="utility")
    best = min(allowed, key=lambda node: (*truth[node][:2], node[::-1]))
    report = plan.report
    assert tuple(report.levels.values()) == best
    assert report.suppressed_records == truth[best][1]
    assert report.loss["utility"] == pytest.approx(float(truth[best][0]), rel=1e-12)
    assert report.lower_bound == report.loss["utility"]
    assert report.search.proven


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


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing():
    records = [
        (f"{'ab'[i % 2]}{1 + i % 3}", ("20", "25", "31")[i * i % 7 % 3], "xyz"[i % 11 % 3], "p")
        for i in range(3000)
    ]
    case = {"k": 40, "weights": (1, 2), "nulls": "value", "limit": 0.2, "suppressed": "drop"}
    found = []
    for threads in (1, 2, 8):
        with connected(records, threads) as connection:
            policy = policy_of({**case, "model": None})
            report = sqlanon.plan(connection, policy, table="people", loss="utility").report
            found.append((report.levels, report.loss, report.lower_bound, report.search))
    assert found[0] == found[1] == found[2]


def test_a_time_limit_leaves_a_bound_below_the_loss():
    records = [(f"{a}{b}", age, a, b) for a in "ab" for b in "123" for age in ("20", "25", "31")]
    case = {"k": 2, "weights": (1, 1), "nulls": "value", "limit": 0, "suppressed": "drop"}
    with connected(records) as connection:
        policy = policy_of({**case, "model": None})
        report = sqlanon.plan(
            connection, policy, table="people", loss="utility", time_limit=1e-9
        ).report
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


costs, gains = st.integers(0, 10**9), st.integers(0, ONE)


@given(costs, gains, costs, gains)
def test_values_ascend_with_the_ratio(cost, gain, other_cost, other_gain):
    of = Ratio(10**9, ONE)
    one = Fraction(cost, max(gain, 1))
    other = Fraction(other_cost, max(other_gain, 1))
    if gain and other_gain and one <= other:
        assert of.value(cost, gain) <= of.value(other_cost, other_gain)


@given(costs, gains, costs, gains)
def test_a_bound_is_never_above_the_value_of_more_cost_or_less_gain(cost, gain, more, less):
    of = Ratio(10**9, ONE)
    assert of.bound(cost, gain) <= of.value(cost + more, max(gain - less, 0))


def test_a_ratio_is_infinite_where_something_is_lost_and_nothing_gained():
    of = Ratio(100, ONE)
    assert of.value(1, 0) == of.bound(1, 0) == INFINITE
    assert of.value(0, 0) == of.bound(0, 0) == 0
    assert of.loss(INFINITE) == math.inf
    assert of.loss(of.value(50, ONE // 4)) == 2.0
