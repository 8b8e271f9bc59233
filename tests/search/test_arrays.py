"""Packing: numbers for rows that keep their order, held against sorting the rows themselves."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.search.arrays import numbered, packed, united


@st.composite
def tables(draw):
    """Rows, and per column a width; wide ones need more than one number."""
    widths = draw(st.lists(st.sampled_from([1, 2, 5, 2**31, 2**40]), min_size=1, max_size=5))
    row = st.tuples(*(st.one_of(st.integers(0, min(w, 3) - 1), st.just(w - 1)) for w in widths))
    return np.array(draw(st.lists(row, min_size=1, max_size=8)), np.int64), widths


@settings(max_examples=100)
@given(tables())
def test_packed_rows_are_in_the_order_of_the_rows(table):
    rows, widths = table
    keys = list(zip(*(key.tolist() for key in packed(rows, widths)), strict=True))
    each = [tuple(row) for row in rows.tolist()]
    for one, own in zip(keys, each, strict=True):
        for other, theirs in zip(keys, each, strict=True):
            assert (one < other, one == other) == (own < theirs, own == theirs)


@settings(max_examples=100)
@given(tables())
def test_united_keys_are_in_the_order_of_the_rows(table):
    rows, widths = table
    keys = united(packed(rows, widths)).tolist()
    each = [tuple(row) for row in rows.tolist()]
    for one, own in zip(keys, each, strict=True):
        for other, theirs in zip(keys, each, strict=True):
            assert (one < other, one == other) == (own < theirs, own == theirs)


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(2**40, 2**40 + 3)), max_size=9))
def test_keys_are_numbered_in_their_order_however_far_apart_they_are(keys):
    place = numbered(np.array(keys, np.int64), max(keys, default=0) + 1)
    assert place.tolist() == [sorted(set(keys)).index(key) for key in keys]


def test_no_rows_have_no_keys():
    assert united(packed(np.empty((0, 2), np.int64), [3, 3])).tolist() == []
