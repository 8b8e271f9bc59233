"""Patterns: the heuristic and the integer program, against every assignment and the source."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.patterns import assignment, brute_force, covering, table_of, tight

from sqlanon import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from sqlanon.deadline import Deadline
from sqlanon.methods.patterns import optimum
from sqlanon.methods.patterns.optimum import components, optimal, places_of
from sqlanon.methods.patterns.pattern_problem import Parts, published_cost
from sqlanon.policy.policy import Policy, Sensitive
from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.policy.sizes import KAnonymity
from sqlanon.search.patterns import LEFT, Placed, greedy, pattern_order

SEARCH = settings(max_examples=40)
masks = st.sets(st.frozensets(st.integers(0, 2), min_size=0, max_size=3), min_size=1, max_size=3)
tables = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=8)


def greedily(table):
    placed = greedy(table.rows, table.masks, k=table.k)
    return Parts(np.arange(len(table.rows.sizes)), table.rows.sizes, placed.pattern, placed.group)


def policy_of(k, limit=0.0, demands=None):
    models = [KAnonymity(k), *(each.model for each in (demands.every if demands else ()))]
    sensitive = {"ill": Sensitive(order=["0", "1", "2"])} if demands else ()
    return Policy(["a"], sensitive, models=models, suppression_limit=limit)


def exactly(table, seconds=None, limit=0.0):
    first = greedy(table.rows, table.masks, k=table.k)
    timed = replace(table, deadline=Deadline.after(seconds))
    return optimal(timed, first, policy=policy_of(table.k, limit, table.rows.demands))


def cost(parts, table, limit=0.0):
    """The suppressed cells as published; None where nothing may be."""
    found = published_cost(table, parts, policy=policy_of(table.k, limit, table.rows.demands))
    return None if found == math.inf else found


def classes(parts, table):
    """The size of each class, with the pattern and the kept values that its records share."""
    found = {}
    for row, count, pattern in zip(parts.row, parts.count, parts.pattern, strict=True):
        if pattern >= 0:
            kept = table.nodes[pattern] == 0
            key = (int(pattern), tuple(table.leaves[row][kept].tolist()))
            found[key] = found.get(key, 0) + int(count)
    return found


@SEARCH
@given(tables, masks, st.integers(1, 3), st.sampled_from([0.0, 0.2, 0.5]))
def test_exact_is_the_least_that_may_be_published(rows, kept, k, limit):
    table = table_of(rows, sorted(kept, key=sorted), k)
    found = exactly(table, limit=limit)
    dropped = policy_of(k, limit).allowance(len(rows))
    assert cost(found, table, limit) == brute_force(rows, kept, k, limit=dropped)
    if found.bound is not None:
        assert found.bound == cost(found, table, limit)


@pytest.mark.parametrize(("taken", "components"), [(3, 2), (4, 0)])
def test_no_program_is_begun_that_would_be_judged_too_late(monkeypatch, taken, components):
    """Of ten seconds the places take some; what follows takes twice as long."""
    now = [0]

    def slowly(table):
        now[0] += taken
        return places_of(table)

    monkeypatch.setattr(optimum, "places_of", slowly)
    table = table_of([(0, 0), (0, 1), (1, 0), (1, 1)], [{0}], 2)
    timed = replace(table, deadline=Deadline(10, lambda: now[0]))
    first = greedy(table.rows, table.masks, k=2)
    found = optimal(timed, first, policy=policy_of(2))
    assert found.components == components
    assert cost(found, table) == 4


MODELS = [
    LDiversity(2),
    LDiversity(1.7, "entropy"),
    LDiversity(2, "recursive", c=2.0),
    TCloseness(0.3),
    TCloseness(0.2, "ordered"),
    TCloseness(0.25, "kl"),
    AlphaAnonymity(0.6),
    BetaLikeness(0.6),
    DeltaDisclosure(0.8),
    BetaLikeness(0.9, "enhanced"),
]


@SEARCH
@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 2, st.integers(0, 2)), min_size=2, max_size=8),
    st.sets(st.frozensets(st.integers(0, 1)), min_size=1, max_size=3),
    st.integers(1, 2),
    st.sets(st.sampled_from(MODELS), min_size=1, max_size=2),
)
def test_exact_is_what_brute_force_finds_under_models(records, kept, k, models):
    rows, values = [record[:2] for record in records], [record[2] for record in records]
    parts = sorted(kept, key=sorted)
    table = table_of(rows, parts, k, values, models)
    found = exactly(table)
    least = brute_force(rows, parts, k, values, models)
    assert cost(found, table) == least
    assert least is None or found.proven


@SEARCH
@given(tables, masks, st.integers(1, 3))
def test_every_class_of_either_search_has_k_records(rows, kept, k):
    table = table_of(rows, sorted(kept, key=sorted), k)
    for parts in (greedily(table), exactly(table)):
        found = classes(parts, table)
        assert all(size >= k for size in found.values())
        assert len(found) == len(set(parts.group[parts.pattern >= 0].tolist()))
        assert np.bincount(parts.row, weights=parts.count).tolist() == table.rows.sizes.tolist()


@settings(max_examples=25)
@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=4, max_size=25),
    masks,
    st.integers(1, 4),
    st.sampled_from([0.0, 0.2]),
)
def test_greedy_is_never_published_better_than_exact(rows, kept, k, limit):
    table = table_of(rows, sorted(kept, key=sorted), k)
    found = exactly(table, limit=limit)
    assert cost(greedily(table), table, limit) >= cost(found, table, limit) >= found.bound


@pytest.mark.parametrize("m", [3, 4, 5])
def test_greedy_is_as_bad_as_its_bound_on_the_tight_example(m):
    table = table_of(*tight(m), m)
    assert assignment(greedily(table), table) == (0, (m - 1) * m**2)


@pytest.mark.parametrize(("m", "cells"), [(4, 2 * 12), (6, 2 * 30)])
def test_two_suppressed_columns_do_on_the_tight_example_where_all_patterns_may_be(m, cells):
    rows, _ = tight(m)
    kept = [frozenset(own) for width in range(m + 1) for own in combinations(range(m), width)]
    table = table_of(rows, kept, m)
    assert assignment(greedily(table), table) == (0, cells)


@pytest.mark.parametrize("m", [3, 4, 5])
def test_exact_suppresses_one_cell_a_record_on_the_tight_example(m):
    table = table_of(*tight(m), m)
    assert assignment(exactly(table), table) == (0, m**2)


@pytest.mark.parametrize(
    ("sets", "fewest"),
    [
        ([(0, 1, 2), (1, 2, 3), (3, 4, 5)], 2),
        ([(0, 1, 2), (2, 3, 4), (3, 4, 5), (0, 4, 5)], 2),
        ([(0, 1, 2), (2, 3, 4), (4, 5, 6), (1, 3, 5)], 3),
        ([(0, 1, 2), (0, 3, 4), (1, 3, 5), (2, 4, 5)], 3),
    ],
)
def test_exact_decides_set_cover(sets, fewest):
    """Theorem 1: within 4 |U| + 3 |F| + 3 h suppressed cells exactly where h sets cover U."""
    universe = sorted(set().union(*sets))
    rows, kept = covering(sets, universe)
    left, cells = assignment(exactly(table_of(rows, kept, 3)), table_of(rows, kept, 3))
    assert left == 0
    for h in range(1, len(sets) + 1):
        allowed = 4 * len(universe) + 3 * len(sets) + 3 * h
        assert (cells <= allowed) == (h >= fewest)


def test_exact_decides_set_cover_where_losing_all_cells_never_pays():
    """Four sets are needed, of which three could be spared by suppressing records: by weight."""
    sets = [(0, 1, 2), (0, 1, 3), (0, 1, 4), (0, 1, 5)]
    table = table_of(*covering(sets, range(6)), 3)
    weights = (3, 2, 2)
    costs = tuple(w * c for w, c in zip(weights, table.costs, strict=True))
    table = replace(table, costs=costs, suppressed=7, dropped=7)
    assert exactly(table).bound == cost(exactly(table), table) == 6 * 8 + 12 * 3 + 4 * 3


def algorithm_1(table):
    """Per row its pattern: the records that are left are grouped anew for every pattern."""
    found = [LEFT] * len(table.rows.sizes)
    for number, node in enumerate(table.nodes):
        instances = defaultdict(list)
        for row, leaves in enumerate(table.leaves):
            if found[row] == LEFT:
                instances[tuple(leaves[node == 0])].append(row)
        for rows in instances.values():
            if table.rows.sizes[rows].sum() >= table.k:
                for row in rows:
                    found[row] = number
    return found


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 9), min_size=1, max_size=30),
    st.sets(st.frozensets(st.integers(0, 8)), min_size=1, max_size=30),
    st.integers(1, 8),
)
def test_greedy_is_algorithm_1(rows, kept, k):
    table = table_of(rows, kept, k)
    assert greedy(table.rows, table.masks, k=k).pattern.tolist() == algorithm_1(table)


@given(st.lists(st.frozensets(st.integers(0, 20)), unique=True), st.integers(1, 2))
def test_patterns_of_one_cost_come_by_their_kept_columns(kept, cost):
    nodes = [[int(column not in own) for column in range(21)] for own in kept]
    costs = np.array([cost * (len(own) > 5) for own in kept], np.int64)
    order = pattern_order(np.array(nodes, np.int64).reshape(-1, 21), costs, tops=[1] * 21)
    expected = sorted(range(len(kept)), key=lambda n: (costs[n], -len(kept[n]), sorted(kept[n])))
    assert order.tolist() == expected


def test_greedy_takes_cheap_patterns_first_and_ties_by_kept_columns():
    table = table_of([(0, 0), (0, 1), (1, 1)], [{1}, {0}, {0, 1}], 2)
    assert table.nodes.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert greedy(table.rows, table.masks, k=2).pattern.tolist() == [1, 1, LEFT]


def test_greedy_stops_where_fewer_than_k_records_are_left():
    """Five a are published as they are; what is left of the batch is for three b, too few of 5."""
    table = table_of([(0, 0)] * 5 + [(1, 0), (1, 1), (1, 2)], [{0, 1}, {0}, {1}], 5)
    assert greedy(table.rows, table.masks, k=5).pattern.tolist() == [0, LEFT, LEFT, LEFT]


def test_greedy_reads_codes_of_several_words():
    rows = [(1, *[0] * 7, 2), (1, *[1] * 7, 2), (1, *[2] * 7, 0)]
    table = table_of(rows, [{0, 8}], 2)
    assert table.masks.shape == (1, 2)
    assert greedy(table.rows, table.masks, k=2).pattern.tolist() == [0, 0, LEFT]


def test_rows_that_share_no_instance_are_solved_apart():
    table = table_of([(0, 0), (0, 1), (1, 2), (1, 3)], [{0}, {1}], 2)
    assert [own.tolist() for own in components(places_of(table), 4)] == [[0, 1], [2, 3]]


def test_exact_returns_the_start_when_time_is_over():
    rows, kept = tight(4)
    table = table_of(rows, kept, 4)
    parts = exactly(table, 1e-9)
    assert assignment(parts, table) == (0, 3 * 16)
    assert parts.proven is False
    assert parts.bound < 3 * 16


def test_exact_starts_from_nothing_as_well():
    rows, kept = tight(3)
    table = table_of(rows, kept, 3)
    none = np.full(len(table.rows.sizes), LEFT)
    assert assignment(optimal(table, Placed(none, none), policy=policy_of(3)), table) == (0, 9)
