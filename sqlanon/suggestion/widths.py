"""Widths of intervals that nest, on a grid of round numbers that suits a distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise

from sqlanon.hierarchy.rules import DIGITS

FIRST = (10, 30)
"""Groups of the first level, wished for."""
LAST = (2, 4)
"""Groups of the last level below the top, wished for."""
_ROUND = {Decimal(1): 0.0, Decimal(5): 0.0, Decimal(2): 0.1, Decimal(4): 0.6, Decimal("2.5"): 0.4}
"""Leading digits of a width, and how unusual each is."""
_STEPS = {2: 0.0, 4: 0.25, 5: 0.3, 10: 0.8}
"""How many times as wide a level may be as the one below, and how unwelcome each is."""
_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Grid:
    """Intervals of a column.

    Args:
        widths: One for each level; each divides the next.
        low: All below it is one group; None for no such end.
        high: All from it on is one group; None for no such end.
    """

    widths: tuple[Decimal, ...]
    low: Decimal | None = None
    high: Decimal | None = None


def grid(quantiles: Sequence[Decimal], *, is_whole: bool) -> Grid | None:
    """Widths and open ends for numbers between two outer quantiles; None where they are too close.

    Some numbers lie below the first quantile or are it, and some above the last or are it. The low
    end is above the first and the high end below the last, so neither is the least nor the greatest
    of the numbers.

    >>> grid([Decimal(n) for n in (17, 28, 37, 48, 74)], is_whole=True)
    Grid(widths=(Decimal('5'), Decimal('10'), Decimal('20')), low=Decimal('20'), high=Decimal('70'))
    """
    if not quantiles:
        return None
    first, last = quantiles[0], quantiles[-1]
    chains = list(_chains(first, last, is_whole=is_whole))
    if not chains:
        return None
    widths = min(chains, key=lambda chain: (_badness(chain, first, last), chain))
    low = _border(first, widths[0], ROUND_FLOOR) + widths[0]
    high = _border(last, widths[0], ROUND_CEILING) - widths[0]
    if high <= low:
        return Grid(widths)
    return Grid(widths, low, high)


def _border(number: Decimal, width: Decimal, rounding: str) -> Decimal:
    """The border of the grid at a number or beside it."""
    return (number / width).to_integral_value(rounding) * width


def _groups(first: Decimal, last: Decimal, width: Decimal) -> int:
    """Intervals of a width that hold numbers between two."""
    ends = ((end / width).to_integral_value(ROUND_FLOOR) for end in (first, last))
    lower, upper = ends
    return int(upper - lower) + 1


def _chains(first: Decimal, last: Decimal, *, is_whole: bool) -> Iterator[tuple[Decimal, ...]]:
    """Chains of round widths between two numbers, finest first, each of which divides the next."""
    spread = last - first
    if spread <= 0 or max(abs(first), abs(last)) >= Decimal(10) ** DIGITS:
        return
    finest = (spread / 60).adjusted()
    for exponent in range(finest, spread.adjusted() + 1):
        for digits in _ROUND:
            width = (digits * Decimal(10) ** exponent).normalize()
            if width >= spread or (is_whole and (width < 2 or width % 1)):
                continue
            if -width.adjusted() < DIGITS and abs(last) / width < Decimal(10) ** (DIGITS - 1):
                yield from _continued((width,), spread)


def _continued(chain: tuple[Decimal, ...], spread: Decimal) -> Iterator[tuple[Decimal, ...]]:
    yield chain
    if len(chain) == _LEVELS:
        return
    for step in _STEPS:
        wider = chain[-1] * step
        if wider < spread and _leading(wider) in _ROUND:
            yield from _continued((*chain, wider), spread)


def _leading(width: Decimal) -> Decimal:
    """The width as a number from 1 to 10."""
    return (width / Decimal(10) ** width.adjusted()).normalize()


def _badness(chain: Sequence[Decimal], first: Decimal, last: Decimal) -> float:
    """How far a chain is from what is wished for."""
    finest, coarsest = (_groups(first, last, width) for width in (chain[0], chain[-1]))
    steps = [int(wider / width) for width, wider in pairwise(chain)]
    return (
        _outside(finest, FIRST)
        + _outside(coarsest, LAST)
        + sum(_STEPS[step] for step in steps)
        + sum(_ROUND[_leading(width)] for width in chain)
        + abs(len(chain) - 3) * 0.2
    )


def _outside(groups: int, wished: tuple[int, int]) -> float:
    """How far a number of groups is from a range, in doublings and more."""
    low, high = wished
    if low <= groups <= high:
        return 0.0
    return 1.5 * (low / groups if groups < low else groups / high)
