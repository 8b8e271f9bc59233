"""Every measure against brute force on random tables: of plans, and of any released table."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from databases import empty_database
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.measures import (
    STAR,
    cell,
    create,
    every_measure,
    full_domain,
    label,
    released_rows,
    values_under,
)
from strategies import policy_of, tables

import sqlanon
from sqlanon import (
    LDiversity,
    UnsatisfiableError,
)
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.loss.cells import LOSSES
from sqlanon.loss.measures import measured
from sqlanon.methods.fulldomain.node_release import node_release
from sqlanon.microdata.binding import bind
from sqlanon.microdata.encoding import encode_subject

SETTINGS = settings(max_examples=8)


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if math.isinf(value):
            assert found[name] == value, name
        else:
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


def nodes_of(table):
    return list(itertools.product(*(range(len(tree[0])) for tree in table["trees"])))


def connection_of(table):
    connection = empty_database()
    create(connection, "original", table, table["records"])
    return connection


@SETTINGS
@given(table=tables(), draw=st.data())
def test_measures_of_a_node_are_those_of_the_formulas(table, draw):
    node = draw.draw(st.sampled_from(nodes_of(table)))
    policy = policy_of(table)
    with connection_of(table) as connection:
        engine = DuckDB(connection)
        subject = bind(engine, engine.tables.resolve("original"), policy=policy)
        encoded = encode_subject(engine, subject, policy)
        found = node_release(engine, subject, encoded=encoded, policy=policy, node=node)
    levels = full_domain(table, node)
    expected = every_measure(table, levels)
    del expected["classification"]
    same(measured(found), expected)
    assert found.suppressed == levels.count(None)
    assert found.statistics.records == len(levels) - levels.count(None)


@SETTINGS
@given(table=tables(), draw=st.data(), suppressed=st.sampled_from(["drop", "keep"]))
def test_measures_of_an_anonymized_table_are_those_of_its_plan(table, draw, suppressed):
    node = draw.draw(st.sampled_from(nodes_of(table)))
    levels = full_domain(table, node)
    lost = levels.count(None)
    # A table whose every record is suppressed cannot be told from one generalized to the top.
    assume(lost < len(levels))
    assume(suppressed == "drop" or lost == 0 or lost >= table["k"])
    policy = policy_of(table, node, suppressed=suppressed)
    with connection_of(table) as connection:
        report = sqlanon.anonymize(connection, policy, table="original", into="released")
        found = sqlanon.measure(connection, "released", policy, table="original")
    top = all(level == len(tree[0]) - 1 for level, tree in zip(node, table["trees"], strict=True))
    assert found.suppressed_records == report.suppressed_records == lost
    assert len(found.notes) == top  # which nobody can tell from suppressed records that are kept
    assert top or found.statistics.records == len(levels) - lost
    same(found.loss, report.loss)


@SETTINGS
@given(
    table=tables(repeats=False),
    draw=st.data(),
    suppressed=st.sampled_from(["drop", "keep"]),
    loss=st.sampled_from(["lm", "utility"]),
)
def test_measures_of_a_plan_with_models_beyond_k_are_those_of_its_table(
    table, draw, suppressed, loss
):
    assume(table["sensitive"])
    node = draw.draw(st.sampled_from(nodes_of(table)))
    policy = policy_of(table, node, suppressed=suppressed)
    column = draw.draw(st.sampled_from(list(policy.sensitive)))
    attribute = replace(policy.sensitive[column], models=[LDiversity(2)])
    policy = replace(policy, sensitive={**policy.sensitive, column: attribute})
    with connection_of(table) as connection:
        try:
            report = sqlanon.anonymize(
                connection, policy, table="original", into="released", loss=loss
            )
        except UnsatisfiableError:
            assume(False)
        assume(report.suppressed_records < len(table["records"]))
        found = sqlanon.measure(connection, "released", policy_of(table), table="original")
    assert found.suppressed_records == report.suppressed_records
    same(found.loss, report.loss)


def told(table, levels):
    """Per column whether each value can have become one node only."""
    result = []
    for column, tree in enumerate(table["trees"]):
        nodes = {
            values_under(tree, record[column], place[column])
            for record, place in zip(table["records"], levels, strict=True)
            if place is not None
        }
        labels = {
            label(tree, record[column], place[column])
            for record, place in zip(table["records"], levels, strict=True)
            if place is not None
        }
        result.append(
            all(a.isdisjoint(b) for a, b in itertools.combinations(nodes, 2))
            and len(labels) == len(nodes)
        )
    return result


def expected_penalty(table, levels):
    """What a cell loses by hdm as far as the release tells: the mean over what it can have been."""
    known = told(table, levels)
    complete = None not in levels
    rows = [
        None
        if place is None
        else tuple(
            values_under(t, v, n) for t, v, n in zip(table["trees"], record, place, strict=True)
        )
        for record, place in zip(table["records"], levels, strict=True)
    ]

    def penalty(number, column):
        row = rows[number]
        if complete and known[column]:
            possible = [table["records"][number]]
        elif not complete and all(known):
            possible = [
                record
                for record in table["records"]
                if all(v in under for v, under in zip(record, row, strict=True))
            ]
        else:
            possible = [record for record in table["records"] if record[column] in row[column]]
        losses = [
            cell(
                table, "hdm", column, table_value, level_of(table, column, row[column], table_value)
            )
            for table_value in (record[column] for record in possible)
        ]
        return sum(losses) / len(losses)

    return penalty


def level_of(table, column, under, value):
    """A level at which a value's node has these values."""
    tree = table["trees"][column]
    return next(n for n in range(len(tree[0])) if values_under(tree, value, n) == under)


@st.composite
def recodings(draw, table):
    """Levels per record: one per column, one per value, or any; some records suppressed."""
    kind = draw(st.sampled_from(["column", "value", "record"]))
    heights = [len(tree[0]) - 1 for tree in table["trees"]]
    if kind == "record":
        places = [tuple(draw(st.integers(0, h)) for h in heights) for _ in table["records"]]
    elif kind == "column":
        places = [tuple(draw(st.integers(0, h)) for h in heights)] * len(table["records"])
    else:
        cuts = [
            {path[0]: level for path, level in cut} for cut in map(draw, map(cut, table["trees"]))
        ]
        places = [
            tuple(c[v] for c, v in zip(cuts, record, strict=True)) for record in table["records"]
        ]
    gone = draw(st.lists(st.booleans(), min_size=len(places), max_size=len(places)))
    if draw(st.booleans()):
        gone = [False] * len(places)
    return [None if lost else place for place, lost in zip(places, gone, strict=True)]


@st.composite
def cut(draw, tree):
    """A level per value so that every value of a node has the node's."""
    height = len(tree[0]) - 1
    chosen = {}

    def descend(paths, level):
        if level == 0 or draw(st.booleans()):
            chosen.update(dict.fromkeys(paths, level))
            return
        groups = {}
        for path in paths:
            groups.setdefault(path[level - 1], []).append(path)
        for group in groups.values():
            descend(group, level - 1)

    descend(tree, height)
    return list(chosen.items())


def as_measured(levels, table, keep):
    """What a reader of the release sees.

    Records without any label are suppressed, unless the table is nothing but these.
    """
    heights = tuple(len(tree[0]) - 1 for tree in table["trees"])
    if all(place == heights or (keep and place is None) for place in levels):
        return [heights] * len(levels)
    return [None if place == heights else place for place in levels]


@SETTINGS
@given(table=tables(repeats=False), draw=st.data(), keep=st.booleans())
def test_measures_of_any_release_are_those_of_the_formulas(table, draw, keep):
    levels = draw.draw(recodings(table))
    stars = (STAR,) * len(table["trees"])
    rows = [row or (stars if keep else None) for row in released_rows(table, levels)]
    with connection_of(table) as connection:
        create(connection, "released", table, rows)
        found = sqlanon.measure(
            connection, "released", policy_of(table), table="original", class_attribute="class"
        )
    levels = as_measured(levels, table, keep)
    same(found.loss, every_measure(table, levels, expected_penalty(table, levels)))
    assert found.suppressed_records == levels.count(None)


@SETTINGS
@given(
    table=tables(),
    name=st.sampled_from(LOSSES),
    limit=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_a_plan_has_the_least_loss_of_all_nodes(table, name, limit):
    loss = name.replace("-", "_")
    allowed = []
    for node in nodes_of(table):
        levels = full_domain(table, node)
        lost = levels.count(None)
        if lost <= limit * len(levels) and lost < len(levels):
            allowed.append(every_measure(table, levels)[loss])
    assume(allowed)
    policy = replace(policy_of(table), suppression_limit=limit)
    with connection_of(table) as connection:
        report = sqlanon.plan(connection, policy, table="original", loss=name).report
    assert report.search.proven
    assert report.loss[loss] == report.lower_bound
    assert report.loss[loss] == pytest.approx(min(allowed), rel=1e-9, abs=1e-9)
