"""The full-domain search against brute force over random lattices held in memory."""

import itertools
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import pytest
from deadlines import deadline_after
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from search.lattice.test_bounds import falling, rising

from sqlanon.errors import TimeLimitError
from sqlanon.search.lattice import incognito
from sqlanon.search.lattice.bounds import Box, Check, at_node, combine, minimal, spread
from sqlanon.search.lattice.incognito import UNKNOWN, Lattice, best_node

RECORDS = 20


@dataclass(frozen=True)
class Sums:
    """An objective whose parts add up, as far as a search asks it."""

    floor: tuple[tuple[int, ...], ...]
    additive: ClassVar[bool] = True

    def expected_down(self, up, share):
        return share * 30.0

    def needed_down(self, up, best):
        return float(best - up)


@dataclass(frozen=True)
class Largest:
    """An objective of which the larger part counts."""

    floor: tuple[tuple[int, ...], ...]
    additive: ClassVar[bool] = False

    def expected_down(self, up, share):
        return share * 30.0

    def needed_down(self, up, best):
        return float(best)


@dataclass
class Case:
    """A lattice, the truth of all its nodes, and what a search asked."""

    lattice: Lattice
    truth: dict[tuple[int, ...], Check]
    asked: list[tuple[int, ...]]

    def ask(self, nodes):
        self.asked += nodes
        return [self.truth[node] for node in nodes]

    def minimal_nodes(self):
        """The nodes within the allowance that have none of them below."""
        within = [c.node for c in self.truth.values() if c.suppressed <= self.lattice.allowance]
        return tuple(minimal(within))

    def best(self, checks=None):
        """The least node by loss, suppressed records and levels, None where none is accepted."""
        accepted = [c for c in checks or self.truth.values() if self.accepts(c.suppressed)]
        return min(accepted, key=lambda c: (c.value, c.suppressed, c.node[::-1]), default=None)

    def accepts(self, suppressed):
        smallest, allowance = self.lattice.smallest, self.lattice.allowance
        if suppressed == self.lattice.records and not smallest:
            return False  # nothing would be left
        return suppressed == 0 or smallest <= suppressed <= allowance


@st.composite
def cases(draw, axes=(1, 4), sizes=(1, 5)):
    """Random monotone suppression and a random loss of two monotone parts."""
    shape = tuple(draw(st.lists(st.integers(*sizes), min_size=axes[0], max_size=axes[1])))
    low = tuple(draw(st.integers(0, 1)) for _ in shape)
    high = tuple(bottom + side - 1 for bottom, side in zip(low, shape, strict=True))
    box, levels = Box(low, high), [range(top + 1) for top in high]
    objective_type = draw(st.sampled_from([Sums, Largest]))
    additive, small = objective_type.additive, st.integers(0, draw(st.sampled_from([2, 9, 30])))
    floor = tuple(tuple(sorted(draw(small) for _ in column)) for column in levels)
    figures = arrays.arrays(np.int64, shape, elements=small)
    least = spread(box, floor, additive=additive).reshape(shape)
    suppressed = falling(draw(arrays.arrays(np.int64, shape, elements=st.integers(0, RECORDS))))
    up = rising(draw(figures) * draw(st.integers(0, 1)) + least)
    down = falling(draw(figures))
    slack = draw(figures) * draw(st.integers(0, 1))
    value = combine(up, down, additive=additive) + slack
    lattice = Lattice(
        low,
        high,
        [
            [float(top - level) for level in column]
            for top, column in zip(high, levels, strict=True)
        ],
        RECORDS,
        draw(st.sampled_from([0, 3, 10, RECORDS - 1, RECORDS])),
        objective_type(floor),
        smallest=draw(st.sampled_from([0, 0, 2, 6, RECORDS])),
    )
    nodes = itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
    parts = zip(suppressed.flat, up.flat, down.flat, value.flat, strict=True)
    truth = {
        node: Check(node, *map(int, figures)) for node, figures in zip(nodes, parts, strict=True)
    }
    return Case(lattice, truth, [])


@contextmanager
def boxes_of(nodes):
    """Searches within hold at most so many nodes in arrays at a time."""
    with patch.object(incognito, "LARGEST_BOX", nodes):
        yield


largest_boxes = st.sampled_from([1, 2, 7, 2**18])


@settings(max_examples=200)
@given(cases(), largest_boxes)
def test_best_node_equals_brute_force_and_its_order_of_ties(case, largest):
    with boxes_of(largest):
        outcome = best_node(case.lattice, case.ask)
    assert outcome.best == case.best()
    assert outcome.proven
    assert outcome.bound == (UNKNOWN if outcome.best is None else outcome.best.value)


@settings(max_examples=80)
@given(cases(), largest_boxes)
def test_minimal_nodes_are_complete(case, largest):
    with boxes_of(largest):
        outcome = best_node(case.lattice, case.ask, minimal_nodes=True)
    assert outcome.minimal_nodes == case.minimal_nodes()
    assert outcome.best == case.best()
    assert len(case.asked) == len(set(case.asked)) == outcome.checked


@settings(max_examples=30)
@given(cases(), largest_boxes)
def test_search_is_deterministic(case, largest):
    with boxes_of(largest):
        once = best_node(case.lattice, case.ask, minimal_nodes=True)
        first, case.asked = case.asked, []
        again = best_node(case.lattice, case.ask, minimal_nodes=True)
    assert once == again
    assert first == case.asked


@settings(max_examples=80)
@given(cases(axes=(2, 4), sizes=(2, 5)), largest_boxes, st.integers(0, 12))
def test_time_limit_returns_the_best_node_checked_and_a_bound_that_holds(case, largest, seconds):
    with boxes_of(largest):
        outcome = best_node(
            case.lattice, case.ask, deadline=deadline_after(seconds), minimal_nodes=True
        )
    best, objective = case.best(), case.lattice.objective
    assert outcome.best == case.best([case.truth[node] for node in case.asked])
    lowest = at_node(case.lattice.low, objective.floor, additive=objective.additive)
    assert lowest <= outcome.bound <= (UNKNOWN if best is None else best.value)
    found = UNKNOWN if outcome.best is None else outcome.best.value
    assert outcome.proven == (outcome.bound == found)
    assert outcome.minimal_nodes is None or outcome.minimal_nodes == case.minimal_nodes()


@pytest.mark.parametrize("largest", [1, 2**18])
def test_search_is_over_after_one_check_where_the_top_exceeds_the_allowance(largest):
    top = Check((1, 1), 3, 5, 0, 5)
    lattice = Lattice((0, 0), (1, 1), [[1.0, 0.0]] * 2, RECORDS, 2, Sums(((0, 1), (0, 1))))
    with boxes_of(largest):
        outcome = best_node(lattice, lambda nodes: [top for _ in nodes], minimal_nodes=True)
    assert (outcome.best, outcome.checked, outcome.minimal_nodes) == (None, 1, ())


def test_search_rules_out_most_nodes_where_a_bound_can():
    """Losses rise with the levels alone: the lowest node within the allowance wins."""
    levels = tuple(range(5))
    lattice = Lattice(
        (0,) * 4, (4,) * 4, [[4.0, 3.0, 2.0, 1.0, 0.0]] * 4, RECORDS, 0, Sums((levels,) * 4)
    )

    def ask(nodes):
        return [Check(n, RECORDS * (sum(n) < 8), sum(n), 0, sum(n)) for n in nodes]

    outcome = best_node(lattice, ask)
    assert outcome.best.node == (4, 4, 0, 0)
    assert outcome.checked < 625


@pytest.mark.slow
def test_search_cuts_a_lattice_of_more_columns_than_an_array_has_axes():
    """Sixty-five columns of two levels: 2^65 nodes, of which those of two tops are the best."""
    lattice = Lattice((0,) * 65, (1,) * 65, [[1.0, 0.0]] * 65, RECORDS, 0, Sums(((0, 1),) * 65))

    def ask(nodes):
        return [Check(n, RECORDS * (n[0] + n[64] < 2), sum(n), 0, sum(n)) for n in nodes]

    with boxes_of(64):
        outcome = best_node(lattice, ask)
    assert outcome.best.node == (1,) + (0,) * 63 + (1,)
    assert outcome.proven


@settings(max_examples=80)
@given(cases(axes=(2, 4), sizes=(2, 5)), largest_boxes, st.integers(1, 12))
def test_a_query_that_is_cut_short_leaves_the_best_so_far_and_a_bound(case, largest, answered):
    answers = itertools.count()

    def ask(nodes):
        if next(answers) >= answered:
            raise TimeLimitError
        return case.ask(nodes)

    with boxes_of(largest):
        outcome = best_node(case.lattice, ask, minimal_nodes=True)
    best = case.best()
    assert outcome.best == case.best([case.truth[node] for node in case.asked])
    assert outcome.bound <= (UNKNOWN if best is None else best.value)
    found = UNKNOWN if outcome.best is None else outcome.best.value
    assert outcome.proven == (outcome.bound == found)
    assert outcome.minimal_nodes is None or outcome.minimal_nodes == case.minimal_nodes()
