"""Patterns under the whole policy: levels, persons, limits and models, against every assignment."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import pytest
from databases import empty_database, insert
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.models import fails

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

pytestmark = pytest.mark.slow

AGES = Hierarchy.from_rows([("0", "low", "*"), ("1", "low", "*"), ("2", "high", "*")])
TOWNS = Hierarchy.from_rows([("a", "*"), ("b", "*")])
LABELS = [{row[0]: row for row in tree.rows} for tree in (AGES, TOWNS)]
HEIGHTS = {"age": 2, "town": 1}
# Leaves of a node less one, over those of the top less one.
LM = {"0": 0, "1": 0, "2": 0, "a": 0, "b": 0, "low": 1 / 2, "high": 0, "*": 1}
METHODS = ("pattern-greedy", "pattern-exact")


def table_of(records):
    connection = empty_database()
    connection.execute("CREATE TABLE people (age TEXT, town TEXT, person INT, ill TEXT)")
    insert(connection, "people", records)
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
    return not any(
        fails(
            demand.model,
            *(values(rows, once) for rows in (members, published)),
            order=["flu", "gout"],
            members=[persons_in(rows) if once else None for rows in (members, published)],
        )
        for demand in policy.demands
        for once in ([True, False] if policy.entity else [False])
    )


def persons_in(records):
    """How many persons the records are of; shares of values are of these."""
    return len({person for *_, person, _ in records})


def values(records, once):
    """The sensitive values of every record, or once of each person."""
    return [ill for *_, ill in ({record[2:] for record in records} if once else records)]


def brute_force(records, patterns, policy, levels, weight=1.0):
    """The least LM of all that may be published; None where nothing may be."""
    nodes = [node_of(kept, levels) for kept in {*map(frozenset, patterns), frozenset()}]
    room = min(policy.allowance(len(records)), len(records) - 1)
    left_out = [(None, 1.0)] if room else []
    ways = [left_out + [published(record, node, weight) for node in nodes] for record in records]
    for choice in sorted(product(*ways), key=lambda choice: sum(cost for _, cost in choice)):
        classes = defaultdict(list)
        for record, (cells, _) in zip(records, choice, strict=True):
            classes[cells].append(record)
        suppressed = classes.pop(None, [])
        if suppressed and policy.suppressed == "keep":
            classes["*", "*"] += suppressed
        whole = [record for members in classes.values() for record in members]
        if len(suppressed) <= room and all(
            satisfies(members, policy, whole) for members in classes.values()
        ):
            return sum(cost for _, cost in choice) / len(records)
    return None


def published(record, node, weight):
    """The cells of a record at a node, and what they lose."""
    cells = tuple(LABELS[c][record[c]][node[name]] for c, name in enumerate(("age", "town")))
    return cells, (weight * LM[cells[0]] + LM[cells[1]]) / (weight + 1)


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
            policy,
            table="people",
            into="safe",
            overwrite=True,
            method=method,
            patterns=patterns,
        )
    except UnsatisfiableError:
        return None


@settings(max_examples=20)
@given(
    tables,
    st.fixed_dictionaries({"age": levels_of_age, "town": levels_of_town}),
    asked,
    st.sampled_from([None, "person"]),
    st.sampled_from([0.0, 0.34]),
    st.sampled_from([(), (LDiversity(2),), (LDiversity(1.5, "entropy"),), (AlphaAnonymity(0.7),)]),
    st.sampled_from([1.0, 3.0]),
)
@example(
    [("0", "a", 1, "flu"), ("0", "a", 1, "gout"), ("0", "a", 2, "flu")],
    {"age": (0, 2), "town": (0, 1)},
    [["age"]],
    "person",
    0.34,
    (AlphaAnonymity(0.7),),
    1.0,
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
    assert exact.search.proven
    if greedy is not None:
        assert greedy.lower_bound <= least + 1e-9
        assert greedy.loss["lm"] >= least - 1e-9


@settings(max_examples=5)
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
            if report.search.proven:
                assert report.loss["lm"] == pytest.approx(least)


FREE = {"age": (0, 2), "town": (0, 1)}
FLAT = {"age": (0, 1), "town": (0, 1)}
ALIKE = [("0", "a", 1, "flu"), ("0", "a", 1, "flu"), ("1", "a", 2, "flu"), ("1", "b", 3, "flu")]


def cells_of(connection, policy, patterns, method="pattern-greedy"):
    """What is published, and the notes on records that no pattern has a place for."""
    report = found_by(method, connection, policy, patterns)
    rows = connection.execute("SELECT age, town FROM safe ORDER BY ALL").fetchall()
    return rows, [note for note in report.notes if "place" in note or "suppressed" in note]


@pytest.mark.parametrize("method", METHODS)
def test_one_person_with_many_records_is_no_class(method):
    policy = policy_of(FREE, entity="person")
    with table_of(ALIKE[:3]) as connection:
        assert (
            cells_of(connection, policy, [["age", "town"], ["town"]], method)[0] == [("*", "a")] * 3
        )
        plan = sqlanon.plan(connection, policy, table="people", method=method, patterns=[["town"]])
    assert plan.report.statistics.smallest == 2
    assert plan.report.statistics.records == 3
    assert plan.report.entity == "person"


@pytest.mark.parametrize("method", METHODS)
def test_more_persons_than_there_are_satisfy_no_pattern(method):
    policy = policy_of(FREE, k=3, entity="person")
    with (
        table_of(ALIKE[:3]) as connection,
        pytest.raises(UnsatisfiableError, match="k is 3 and the table has 2 persons"),
    ):
        sqlanon.plan(connection, policy, table="people", method=method, patterns="all")


def test_records_without_a_place_are_at_the_highest_levels_allowed():
    with table_of([*ALIKE[:3], ("2", "b", 4, "flu"), ("2", "b", 5, "flu")]) as connection:
        rows, notes = cells_of(connection, policy_of(FLAT, k=3, limit=0.4), [["town"]])
    assert rows == [("low", "a")] * 3
    assert notes == ["no pattern has a place for 2 records with enough others; they are left out"]


def test_a_record_without_a_place_joins_others_where_that_loses_less_than_leaving_it_out():
    records = [*ALIKE[:2], ("0", "b", 4, "flu")]
    patterns = [["age", "town"]]
    with table_of(records) as connection:
        rows, notes = cells_of(connection, policy_of(FLAT, limit=0.4, weight=3.0), patterns)
        assert rows == [("0", "a")] * 2  # one record costs 1, three that keep nothing 3 x 5/8
        rows, notes = cells_of(connection, policy_of(FLAT, weight=3.0), patterns)
    assert rows == [("low", "*")] * 3
    assert notes == [
        "no pattern has a place for 1 record with enough others, too few for a class of their "
        "own: 2 other records of the cheapest classes are published at the highest levels allowed "
        "with them; a suppression limit of 0.3334 would leave them out"
    ]


@pytest.mark.parametrize("method", METHODS)
def test_what_no_class_within_the_levels_holds_is_told(method):
    policy = policy_of({"age": (0, 0), "town": (0, 1)})
    with (
        table_of([*ALIKE, ("2", "b", 4, "flu")]) as connection,
        pytest.raises(UnsatisfiableError, match=r"levels 1 of 5 records .* raise max_level"),
    ):
        sqlanon.plan(connection, policy, table="people", method=method, patterns="all")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("suppressed", "kept"), [("drop", []), ("keep", [("*", "*")] * 2)])
def test_suppressed_records_are_dropped_or_kept_beyond_the_highest_levels(method, suppressed, kept):
    records = [*ALIKE[:2], ("1", "b", 4, "flu"), ("2", "b", 4, "flu")]
    policy = policy_of({"age": (0, 0), "town": (0, 1)}, limit=0.5, suppressed=suppressed)
    with table_of(records) as connection:
        assert cells_of(connection, policy, "all", method)[0] == [*kept, *[("0", "a")] * 2]


@pytest.mark.parametrize("method", METHODS)
def test_too_few_records_to_be_kept_are_kept_with_the_smallest_class(method):
    records = [*ALIKE[:2], *[("1", "b", 4, "flu")] * 3, ("2", "b", 4, "flu")]
    policy = policy_of({"age": (0, 0), "town": (0, 1)}, limit=0.5, suppressed="keep")
    with table_of(records) as connection:
        rows, notes = cells_of(connection, policy, "all", method)
    assert rows == [*[("*", "*")] * 3, *[("1", "b")] * 3]
    assert notes[0].startswith("3 records are kept with every quasi-identifier suppressed")


@pytest.mark.parametrize("method", METHODS)
def test_the_distribution_that_classes_are_near_to_is_that_of_what_is_published(method):
    """Of five flu and five gout age 1 is far; without age 2, of too few records, it is all."""
    records = [*[("1", "a", 1, "flu")] * 5, ("1", "b", 1, "gout"), *[("2", "b", 1, "gout")] * 4]
    policy = policy_of({"age": (0, 0), "town": (0, 1)}, TCloseness(0.2), k=5, limit=0.4)
    with table_of(records) as connection:
        rows, _ = cells_of(connection, policy, "all", method)
    assert rows == [("1", "*")] * 6


@pytest.mark.parametrize("method", METHODS)
def test_of_classes_that_are_too_far_from_each_other_the_smallest_goes(method):
    records = [*[("1", "a", 1, "flu")] * 4, *[("2", "a", 1, "gout")] * 3]
    policy = policy_of({"age": (0, 0), "town": (0, 1)}, TCloseness(0.1), limit=0.45)
    with table_of(records) as connection:
        report = found_by(method, connection, policy, "all")
        assert connection.execute("SELECT DISTINCT age FROM safe").fetchall() == [("1",)]
    assert report.suppressed_records == 3
    assert "3 records are left out within the suppression limit" in report.notes[-1]


@pytest.mark.parametrize(("looked_at", "bound"), [(1_000, 1.0), (0, 0.6)])
def test_greedy_tells_a_bound_by_its_patterns_or_by_each_column(looked_at, bound, monkeypatch):
    """Its pattern keeps nothing; of the columns town is suppressed, and so is the age 2."""
    monkeypatch.setattr("sqlanon.methods.patterns.pattern_problem.MAX_BOUND_PLACES", looked_at)
    monkeypatch.setattr("sqlanon.methods.patterns.pattern_problem.MAX_PRICED_PLACES", 0)
    records = [*ALIKE[:2], *[("1", "a", 4, "flu")] * 2, ("2", "b", 4, "flu")]
    levels = {"age": (0, 2), "town": (1, 1)}
    with table_of(records) as connection:
        report = found_by("pattern-greedy", connection, policy_of(levels, k=2), [["none"]])
    assert report.lower_bound == pytest.approx(bound)
    assert report.ratio == pytest.approx(report.loss["lm"] / report.lower_bound)


@pytest.mark.parametrize(
    ("limits", "bound"),
    [
        ({"MAX_PRICED_PLACES": 1_000, "MAX_PRICED_RECORDS": 4}, 0.25),
        ({"MAX_PRICED_PLACES": 0}, 0.125),
        ({"MAX_PRICED_RECORDS": 3}, 0.125),
    ],
)
def test_greedy_proves_that_a_class_needs_k_takers(limits, bound, monkeypatch):
    """The age 2 is suppressed, and so is the age of one of the others."""
    for name, value in limits.items():
        monkeypatch.setattr(f"sqlanon.methods.patterns.pattern_problem.{name}", value)
    records = [*[("1", "a", 1, "flu")] * 3, ("2", "a", 1, "flu")]
    with table_of(records) as connection:
        policy = policy_of({"age": (0, 2), "town": (0, 1)}, k=2)
        report = found_by("pattern-greedy", connection, policy, "all")
    assert report.lower_bound == pytest.approx(bound)
    assert report.lower_bound <= report.loss["lm"]
