"""Widths of intervals that nest, on round borders between the outer quantiles."""

from decimal import Decimal
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Hierarchy
from sqlanon.suggestion.hierarchies import FIRST_GROUPS, LAST_GROUPS, grid

numbers = st.decimals(-(10**9), 10**9, places=3, allow_nan=False)


def made(*quantiles, whole=True):
    return grid([Decimal(str(each)) for each in quantiles], is_whole=whole)


@settings(max_examples=40)
@given(st.lists(numbers, min_size=2, max_size=5).map(sorted), st.booleans())
def test_intervals_nest_and_their_ends_lie_between_the_quantiles(quantiles, whole):
    if whole:
        quantiles = sorted(map(Decimal, map(int, quantiles)))
    found = grid(quantiles, is_whole=whole)
    if found is None:
        return
    for width, wider in pairwise(found.widths):
        assert wider % width == 0
        assert wider > width
    assert Hierarchy.intervals(*found.widths, low=found.low, high=found.high)
    for end in filter(None, (found.low, found.high)):
        assert end % found.widths[0] == 0
        assert quantiles[0] < end < quantiles[-1]
    assert not whole or all(width % 1 == 0 for width in found.widths)


@settings(max_examples=40)
@given(st.integers(20, 10**6), st.integers(0, 10**6))
def test_a_wide_range_has_many_groups_at_first_and_few_at_last(spread, start):
    found = made(start, start + spread)
    first, last = (spread / int(width) for width in (found.widths[0], found.widths[-1]))
    assert 0.6 * FIRST_GROUPS[0] <= first <= 1.4 * FIRST_GROUPS[1]
    assert last <= LAST_GROUPS[1] + 1
    assert all(str(int(width)).rstrip("0") in ("1", "2", "4", "5", "25") for width in found.widths)


def test_ages_get_widths_that_people_use():
    found = made(17, 28, 37, 48, 74)
    assert [int(width) for width in found.widths] == [5, 10, 20]
    assert (found.low, found.high) == (20, 70)


def test_numbers_that_are_alike_have_no_intervals():
    assert made(3, 3) is None
    assert made() is None
    assert made(1, 2) is None
