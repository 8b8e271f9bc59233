"""What checks prove of a box of the lattice, against the truth of random lattices."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sqlanon.search.lattice.bounds import (
    Box,
    Check,
    Forecast,
    Knowledge,
    combine,
    count_above,
    count_below,
    spread,
)

RECORDS = 20


@st.composite
def boxes(draw, low=0):
    """A box of one to four axes; its lowest levels are `low` or above."""
    axes = draw(st.integers(1, 4))
    corner = [draw(st.integers(low, low + 2)) for _ in range(axes)]
    return Box(tuple(corner), tuple(level + draw(st.integers(0, 4)) for level in corner))


@st.composite
def nodes_beside(draw, box):
    """A node in a box or up to two levels outside it."""
    return tuple(
        draw(st.integers(max(low - 2, 0), high + 2))
        for low, high in zip(box.low, box.high, strict=True)
    )


def nodes_of(box):
    levels = (range(low, high + 1) for low, high in zip(box.low, box.high, strict=True))
    return list(itertools.product(*levels))


def is_below(one, other):
    return all(a <= b for a, b in zip(one, other, strict=True))


def selected(box, part):
    """The nodes of a part of a box, as `below` and `above` give them."""
    flags = np.zeros(box.shape, np.bool_)
    if part is not None:
        flags[part] = True
    return [box.node(flat) for flat in np.flatnonzero(flags)]


def rising(values):
    """The least array that is at least the given one and never shrinks on the way up."""
    for axis in range(values.ndim):
        values = np.maximum.accumulate(values, axis=axis)
    return values


def falling(values):
    """The least array that is at least the given one and never grows on the way up."""
    backwards = (slice(None, None, -1),) * values.ndim
    return rising(values[backwards])[backwards]


@given(st.data())
def test_box_preceding_counts_the_nodes_before_a_node(data):
    box = data.draw(boxes())
    node = data.draw(nodes_beside(box))
    assert box.preceding(node) == sum(other[::-1] < node[::-1] for other in nodes_of(box))


def test_box_of_more_columns_than_an_array_has_axes_is_held_where_few_have_a_choice():
    box = Box((0,) * 100, (1,) * 3 + (0,) * 97)
    assert (box.size, box.shape) == (8, (2, 2, 2))
    assert box.node(5) == (1, 0, 1) + (0,) * 97


def test_box_halves_cut_the_longest_side():
    assert Box((1, 0), (2, 4)).halves() == (Box((1, 0), (2, 2)), Box((1, 3), (2, 4)))


@settings(max_examples=50)
@given(st.data())
def test_counts_of_flagged_nodes_below_and_above(data):
    box = data.draw(boxes())
    flags = data.draw(arrays.arrays(np.bool_, box.shape))
    nodes = nodes_of(box)
    flagged = [node for node, flag in zip(nodes, flags.ravel(), strict=True) if flag]
    below, above = count_below(flags).ravel(), count_above(flags).ravel()
    assert below.tolist() == [sum(is_below(f, node) for f in flagged) for node in nodes]
    assert above.tolist() == [sum(is_below(node, f) for f in flagged) for node in nodes]


@pytest.mark.parametrize("additive", [True, False])
@settings(max_examples=100)
@given(data=st.data())
def test_knowledge_is_never_beyond_the_truth(additive, data):
    """Checks lie inside and outside the box; the truth is a random pair of monotone parts."""
    box = data.draw(boxes())
    lattice = Box(tuple(0 for _ in box.low), tuple(level + 1 for level in box.high))
    figures = arrays.arrays(np.int64, lattice.sides, elements=st.integers(0, RECORDS))
    suppressed = falling(data.draw(figures))
    floor = [
        sorted(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
        for n in lattice.sides
    ]
    least = spread(lattice, floor, additive=additive).reshape(lattice.sides)
    up = rising(data.draw(figures) + least)
    down = falling(data.draw(figures))
    if not additive:
        down = down - 10
    value = combine(up, down, additive=additive) + data.draw(figures)
    truth = {
        node: Check(node, *(int(array[node]) for array in (suppressed, up, down, value)))
        for node in nodes_of(lattice)
    }
    checked = data.draw(st.lists(st.sampled_from(nodes_of(lattice)), max_size=5))
    knowledge = Knowledge(box, floor, records=RECORDS, additive=additive)
    for node in checked:
        knowledge.learn(truth[node])
    inside = [truth[node] for node in nodes_of(box)]
    assert (knowledge.fewest.ravel() <= [check.suppressed for check in inside]).all()
    assert (knowledge.most.ravel() >= [check.suppressed for check in inside]).all()
    assert (knowledge.up.ravel() <= [check.up for check in inside]).all()
    assert (knowledge.down.ravel() <= [check.down for check in inside]).all()
    assert (knowledge.bound().ravel() <= [check.value for check in inside]).all()
    assert selected(box, knowledge.checked) == sorted(set(checked) & set(nodes_of(box)))


def test_knowledge_of_one_check_bounds_all_below_and_all_above():
    knowledge = Knowledge(
        Box((0, 0), (2, 2)), [[0, 1, 2], [0, 1, 2]], records=RECORDS, additive=True
    )
    knowledge.learn(Check((1, 1), 5, 2, 7, 9))
    assert knowledge.fewest.tolist() == [[5, 5, 0], [5, 5, 0], [0, 0, 0]]
    assert knowledge.most.tolist() == [[20, 20, 20], [20, 5, 5], [20, 5, 5]]
    assert knowledge.bound().tolist() == [[7, 8, 2], [8, 9, 3], [2, 3, 4]]


learned = st.lists(st.tuples(st.floats(0, 30), st.floats(0, 1)), max_size=20)
entropies = st.lists(st.floats(0, 30), min_size=1, max_size=20).map(np.array)


def forecast(highest, seen):
    result = Forecast(highest)
    for entropy, figure in seen:
        result.learn(entropy, figure)
    return result


@given(st.floats(0, 30), learned, entropies)
def test_forecast_lies_between_0_and_1(highest, seen, asked):
    figures = forecast(highest, seen).at(asked)
    assert (figures >= 0).all()
    assert (figures <= 1 + 1e-12).all()


@given(st.floats(0, 30), learned, entropies)
def test_forecast_ascends_with_the_entropy(highest, seen, asked):
    assert (np.diff(forecast(highest, seen).at(np.sort(asked))) >= 0).all()


def test_forecast_without_checks_is_a_straight_line():
    assert forecast(8.0, []).at(np.array([0.0, 2.0, 8.0])) == pytest.approx([0, 0.25, 1])


def test_forecast_follows_the_checks():
    figures = forecast(8.0, [(2.0, 0.0), (6.0, 1.0)]).at(np.array([2.0, 6.0]))
    assert figures == pytest.approx([0, 1], abs=0.05)
