"""Patterns under the whole policy: levels, persons, limits and models, against every assignment."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import product

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import (
    AlphaAnonymity,
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    QuasiIdentifier,
    TCloseness,
)
from sqlanon.errors import UnsatisfiableError

AGES = Hierarchy.from_rows([("0", "low", "*"), ("1", "low", "*"), ("2", "high", "*")])
TOWNS = Hierarchy.from_rows([("a", "*"), ("b", "*")])
HEIGHTS = {"age": 2, "town": 1}
LABELS = {
    "age": {"0": ("0", "low", "*"), "1": ("1", "low", "*"), "2": ("2", "high", "*")},
    "town": {"a": ("a", "*"), "b": ("b", "*")},
}
# Leaves of a node less one, over those of the top less one.
LM = {"0": 0, "1": 0, "2": 0, "a": 0, "b": 0, "low": 1 / 2, "high": 0, "*": 1}
METHODS = ("pattern-greedy", "pattern-exact")


def table_of(records):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age TEXT, town TEXT, person INT, ill TEXT)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", records)
    return connection


def policy_of(levels, *models, k=2, entity=None, limit=0.0, weight=1.0, **more):
    return Policy(
        {
            "age": QuasiIdentifier(AGES, weight, *levels["age"]),
            "town": QuasiIdentifier(TOWNS, 1.0, *levels["town"]),
        },
        ["ill"],
        models=[KAnonymity(k), *models],
        entity=entity,
        others="drop",
        suppression_limit=limit,
        **more,
    )


def node_of(kept, levels):
    """The levels of a pattern: the lowest allowed of what it keeps, else the highest."""
    return {name: levels[name][0 if name in kept else 1] for name in HEIGHTS}


def satisfies(members, policy, published):
    """Whether records make a class: by persons where they count, and models by records, too."""
    persons = {person for *_, person, _ in members} if policy.entity else None
    if (len(members) if persons is None else len(persons)) < policy.k:
        return False
    ways = [by_person, by_record] if policy.entity else [by_record]
    return all(
        fits(demand.model, count(members), count(published))
        for demand in policy.demands
        for count in ways
    )


def by_record(members):
    return Counter(record[3] for record in members)


def by_person(members):
    return Counter(value for _, value in {record[2:] for record in members})


def fits(model, counts, whole):
    size, every = sum(counts.values()), sum(whole.values())
    if isinstance(model, TCloseness):
        return sum(abs(counts[v] / size - whole[v] / every) for v in whole) / 2 <= model.t + 1e-9
    if isinstance(model, AlphaAnonymity):
        return max(counts.values()) <= model.threshold * size
    if model.kind == "entropy":
        found = -sum(n / size * math.log(n / size) for n in counts.values())
        return found >= math.log(model.l) - 1e-9
    return len(counts) >= model.l


def brute_force(records, patterns, policy, levels, weight=1.0):
    """The least LM of all that may be published; None where nothing may be."""
    nodes = [node_of(kept, levels) for kept in {*map(frozenset, patterns), frozenset()}]
    room = min(policy.allowance(len(records)), len(records) - 1)
    least = None
    for choice in product([*nodes, None], repeat=len(records)):
        if choice.count(None) > room:
            continue
        classes, cost = defaultdict(list), 0.0
        for record, node in zip(records, choice, strict=True):
            if node is None:
                cost += 1
                if policy.suppressed == "keep":
                    classes["*", "*"].append(record)
                continue
            cells = tuple(
                LABELS[name][record[c]][node[name]] for c, name in enumerate(("age", "town"))
            )
            classes[cells].append(record)
            cost += (weight * LM[cells[0]] + LM[cells[1]]) / (weight + 1)
        published = [record for members in classes.values() for record in members]
        if (least is None or cost < least) and all(
            satisfies(members, policy, published) for members in classes.values()
        ):
            least = cost
    return None if least is None else least / len(records)


levels_of_age = st.sampled_from([(0, 2), (0, 1), (1, 1), (1, 2), (0, 0)])
levels_of_town = st.sampled_from([(0, 1), (0, 1), (0, 0), (1, 1)])
tables = st.lists(
    st.tuples(
        st.sampled_from("012"),
        st.sampled_from("ab"),
        st.sampled_from([1, 2, 3, None]),
        st.sampled_from(["flu", "gout"]),
    ),
    min_size=2,
    max_size=5,
)
asked = st.lists(
    st.sampled_from([["age"], ["town"], ["age", "town"], ["none"]]),
    min_size=1,
    max_size=3,
    unique_by=tuple,
)


def found_by(method, connection, policy, patterns):
    """The report of a method, or None where nothing can be published."""
    try:
        return sqlanon.anonymize(
            connection,
            "people",
            policy,
            into="safe",
            overwrite=True,
            method=method,
            patterns=patterns,
        )
    except UnsatisfiableError:
        return None


@settings(max_examples=20, deadline=None)
@given(
    tables,
    st.fixed_dictionaries({"age": levels_of_age, "town": levels_of_town}),
    asked,
    st.sampled_from([None, "person"]),
    st.sampled_from([0.0, 0.34]),
    st.sampled_from([(), (LDiversity(2),), (LDiversity(1.5, "entropy"),), (AlphaAnonymity(0.7),)]),
    st.sampled_from([1.0, 3.0]),
)
def test_exact_is_the_least_of_all_that_the_policy_allows(
    records, levels, patterns, entity, limit, models, weight
):
    policy = policy_of(levels, *models, entity=entity, limit=limit, weight=weight)
    kept = [[] if own == ["none"] else own for own in patterns]
    least = brute_force(records, kept, policy, levels, weight)
    with table_of(records) as connection:
        greedy, exact = (found_by(name, connection, policy, patterns) for name in METHODS)
    if least is None:
        assert (greedy, exact) == (None, None)
        return
    assert exact.loss["lm"] == pytest.approx(least)
    assert exact.lower_bound <= least + 1e-9
    assert exact.search["proven"]
    if greedy is not None:
        assert greedy.lower_bound <= least + 1e-9
        assert greedy.loss["lm"] >= least - 1e-9


@settings(max_examples=12, deadline=None)
@given(
    tables,
    st.fixed_dictionaries({"age": levels_of_age, "town": levels_of_town}),
    asked,
    st.sampled_from([None, "person"]),
    st.sampled_from([(TCloseness(0.2),), (), (LDiversity(2),)]),
    st.sampled_from(["drop", "keep"]),
)
def test_whatever_is_left_out_or_kept_is_within_the_limit_and_the_bound_holds(
    records, levels, patterns, entity, models, suppressed
):
    policy = policy_of(levels, *models, entity=entity, limit=0.5, suppressed=suppressed)
    kept = [[] if own == ["none"] else own for own in patterns]
    least = brute_force(records, kept, policy, levels)
    with table_of(records) as connection:
        found = [found_by(name, connection, policy, patterns) for name in METHODS]
    for report in found:
        if report is not None:
            assert report.holds
            assert report.lower_bound <= least + 1e-9 <= report.loss["lm"] + 2e-9
            if report.search.get("proven"):
                assert report.loss["lm"] == pytest.approx(least)
