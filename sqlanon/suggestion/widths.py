"""Widths of intervals that nest, on a grid of round numbers that suits a distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise

from sqlanon.hierarchy.rules import DIGITS

FIRST = (10, 30)
"""Groups of the first level, wished for."""
LAST = (2, 4)
"""Groups of the last level below the top, wished for."""
_ROUND = {10: 0.0, 50: 0.0, 20: 0.1, 40: 0.6, 25: 0.4}
"""Two leading digits of a width, and how unusual each is."""
_STEPS = {2: 0.0, 4: 0.4, 5: 0.6, 10: 1.0}
"""How many times as wide a level may be as the one below, and how unwelcome each is."""
_LEVELS = 4
_FINEST = 60
"""Groups of the finest width that is looked at, about."""


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
    spread = last - first
    if spread <= 0 or max(abs(first), abs(last)) >= Decimal(10) ** DIGITS:
        return None
    # Widths have two digits that are not zero, so they are whole numbers of such units.
    exponent = (spread / _FINEST).adjusted() - 1
    unit = Decimal(10) ** (max(exponent, -1) if is_whole else exponent)
    if max(abs(first), abs(last)) / unit >= Decimal(10) ** DIGITS:
        return None
    ends = _Ends(*(int((end / unit).to_integral_value(ROUND_FLOOR)) for end in (first, last)))
    starts = [
        width
        for width in ends.widths()
        if not is_whole or (width * unit >= 2 and width * unit % 1 == 0)
    ]
    chains = [chain for width in starts for chain in ends.chains((width,))]
    if not chains:
        return None
    best = min(chains, key=lambda chain: (ends.badness(chain), chain))
    widths = tuple(Decimal(f"{(width * unit).normalize():f}") for width in best)
    low = _border(first, widths[0], ROUND_FLOOR) + widths[0]
    high = _border(last, widths[0], ROUND_CEILING) - widths[0]
    return Grid(widths, low, high) if low < high else Grid(widths)


def _border(number: Decimal, width: Decimal, rounding: str) -> Decimal:
    """The border of the grid at a number or beside it."""
    return (number / width).to_integral_value(rounding) * width


@dataclass(frozen=True, slots=True)
class _Ends:
    """Two outer quantiles in whole units, and the widths between them [units]."""

    first: int
    last: int

    def widths(self) -> Iterator[int]:
        """The round widths of a first level."""
        spread = self.last - self.first
        for digits in _ROUND:
            for zeros in range(-1, len(str(spread))):
                width = digits * 10**zeros if zeros >= 0 else digits // 10
                if width < spread and _leading(width) == digits:
                    yield width

    def chains(self, chain: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """A chain of widths, each of which divides the next, and all that go on from it."""
        yield chain
        if len(chain) == _LEVELS or self._groups(chain[-1]) <= LAST[0]:
            return
        for step in _STEPS:
            wider = chain[-1] * step
            if wider < self.last - self.first and _leading(wider) in _ROUND:
                yield from self.chains((*chain, wider))

    def badness(self, chain: Sequence[int]) -> float:
        """How far a chain is from what is wished for."""
        return (
            3 * _outside(self._groups(chain[0]), FIRST)
            + 1.5 * _outside(self._groups(chain[-1]), LAST)
            + sum(_STEPS[wider // width] for width, wider in pairwise(chain))
            + sum(_ROUND[_leading(width)] for width in chain)
            + abs(len(chain) - 3) * 0.2
        )

    def _groups(self, width: int) -> int:
        """Intervals of a width that hold numbers between the ends."""
        return self.last // width - self.first // width + 1


def _leading(width: int) -> int:
    """The two leading digits of a width; others than zeros behind them make it no round one."""
    text = str(width)
    return int(text[:2].ljust(2, "0")) if not text[2:].strip("0") else 0


def _outside(groups: int, wished: tuple[int, int]) -> float:
    """How far a number of groups is from a range, in doublings."""
    low, high = wished
    return max(0.0, math.log2(low / groups), math.log2(groups / high))
