"""Hierarchies that suit a quasi-identifier, from its type, its name and its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import GRID_DIGITS
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.query.syntax import column
from sqlanon.suggestion.profile import ColumnProfile, Form
from sqlanon.suggestion.roles import NEAR_UNIQUE
from sqlanon.suggestion.vocabulary import CODES, POSTCODE, concept_of, words_of

MAX_KEPT_VALUES = 6
"""Values up to which a column without an order is kept or suppressed as it is."""
MAX_KEPT_NUMBERS = 4
"""The same of numbers."""
MAX_LEAVES = 10_000
"""Values up to which a hierarchy file is worth filling in."""
MAX_LISTED_UNIQUENESS = 0.5
"""Distinct values over values below which a file may list them."""
MIN_SHRINKING = 1.5
"""How many times fewer groups a shorter prefix must make to be a level."""
MAX_PREFIXES = 3
"""Levels of prefixes, at most."""
DAYS_PER_YEAR = 365
"""Days."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A hierarchy, and what is to be said of it.

    Args:
        hierarchy: The hierarchy; suppression where a file is to be filled in.
        remark: A sentence without its full stop; empty where nothing needs to be said.
        is_listed: Whether a file that lists the values is to take its place.
    """

    hierarchy: Hierarchy
    remark: str = ""
    is_listed: bool = False


def draft_hierarchy(profile: ColumnProfile) -> Draft:
    """How a quasi-identifier may be generalized; it fits the column's type."""
    draft = _by_form(profile)
    try:
        level_labels(draft.hierarchy, column(profile.name), column_type=profile.kind)
    except HierarchyError:
        return Draft(Hierarchy.suppression(), "a value is kept or suppressed")
    return draft


def _by_form(profile: ColumnProfile) -> Draft:
    match profile.form:
        case Form.NUMBER:
            return _of_numbers(profile)
        case Form.DATE:
            return _of_dates(profile)
        case Form.INSTANT:
            return _of_instants()
        case Form.TIME:
            return Draft(Hierarchy.prefix(5, 2), "to the minute, then to the hour")
        case Form.TEXT:
            return _of_texts(profile)
    return _suppressed()


def _suppressed() -> Draft:
    return Draft(Hierarchy.suppression(), "few values: each is kept or suppressed")


def _of_numbers(profile: ColumnProfile) -> Draft:
    concept = concept_of(profile.name)
    is_code = (concept is not None and concept.nominal) or CODES & {*words_of(profile.name)}
    if profile.distinct <= (MAX_KEPT_VALUES if is_code else MAX_KEPT_NUMBERS):
        return _suppressed()
    if concept is POSTCODE and (lengths := _lengths(profile)):
        return _prefixes(lengths)
    if is_code and profile.is_whole:
        return _listed(profile)
    assert profile.numbers is not None
    bounds = grid(profile.numbers.quantiles, is_whole=profile.numbers.is_nearly_whole)
    if bounds is None:
        return Draft(
            Hierarchy.suppression(),
            "nearly all numbers are alike: each is kept or suppressed; intervals may serve, too",
        )
    if profile.uniqueness >= NEAR_UNIQUE:
        # An end, round as it is, could be the value of a record.
        bounds = replace(bounds, low=None, high=None)
    hierarchy = Hierarchy.intervals(*bounds.widths, low=bounds.low, high=bounds.high)
    widths = ", ".join(f"{width:f}" for width in bounds.widths)
    remark = f"intervals of {widths} on round borders"
    if bounds.low is not None and bounds.high is not None:
        remark += f"; below {_plain(bounds.low)} and from {_plain(bounds.high)} on one group each"
    return Draft(hierarchy, remark)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _of_dates(profile: ColumnProfile) -> Draft:
    days = profile.days
    if days is None:
        return _suppressed()
    units: list[str] = ["day"] if profile.timed else []
    if days <= DAYS_PER_YEAR // 4:
        units.append("week")
    else:
        units += ["month", "quarter"]
        units += ["year"] if days > DAYS_PER_YEAR else []
        units += ["decade"] if days > 15 * DAYS_PER_YEAR else []
    return Draft(Hierarchy.dates(*units), f"{', '.join(units)}, as the span of the dates suggests")


def _of_instants() -> Draft:
    forms = ("%Y-%m-%d", "%Y-%m", "%Y")
    texts = [f"strftime(value AT TIME ZONE 'UTC', '{form}')" for form in forms]
    return Draft(Hierarchy.expressions(*texts), "day, month and year in UTC; name another zone")


def _of_texts(profile: ColumnProfile) -> Draft:
    if profile.distinct <= MAX_KEPT_VALUES:
        return _suppressed()
    if profile.looks_like("day"):
        return Draft(
            Hierarchy.expressions("right(value, 4)", "left(right(value, 4), 3) || '0s'"),
            "texts that look like dates: their year, then their decade",
        )
    if profile.looks_like("month"):
        return Draft(
            Hierarchy.expressions("left(value, 4)", "left(value, 3) || '0s'"),
            "texts that look like months: their year, then their decade",
        )
    if profile.is_numeric_text:
        return Draft(
            Hierarchy.suppression(),
            "numbers beside a mark for no value: name the mark with --nullstr, and they get "
            "intervals",
        )
    lengths = _lengths(profile)
    return _prefixes(lengths) if lengths else _listed(profile)


def _prefixes(lengths: Sequence[int]) -> Draft:
    letters = ", ".join(map(str, lengths))
    return Draft(Hierarchy.prefix(*lengths), f"codes: their first {letters} characters")


def _lengths(profile: ColumnProfile) -> list[int]:
    """Lengths of prefixes that make ever fewer groups; none where codes have no common length."""
    shortest, _, longest = profile.lengths
    if concept_of(profile.name) is not POSTCODE and shortest != longest:
        return []
    lengths: list[int] = []
    groups = profile.distinct
    by_length: Mapping[int, int] = dict(enumerate(profile.prefixes, start=1))
    for length in range(longest - 1, 0, -1):
        prefixes = by_length.get(length, 1)
        if prefixes > 1 and prefixes * MIN_SHRINKING <= groups:
            lengths.append(length)
            groups = prefixes
    return lengths if len(lengths) <= MAX_PREFIXES else [*lengths[: MAX_PREFIXES - 1], lengths[-1]]


def _listed(profile: ColumnProfile) -> Draft:
    if profile.uniqueness < MAX_LISTED_UNIQUENESS and profile.distinct <= MAX_LEAVES:
        return Draft(
            Hierarchy.suppression(),
            "many values without an order: write into its level1 which group each belongs to",
            True,
        )
    return Draft(
        Hierarchy.suppression(),
        "so many values that each is kept or suppressed; a file of groups would lose less "
        "(sqlanon hierarchy make writes one to fill in)",
    )


FIRST_GROUPS = (10, 30)
"""Groups of the first level, wished for."""
LAST_GROUPS = (2, 4)
"""Groups of the last level below the top, wished for."""
_ROUND = {10: 0.0, 50: 0.0, 20: 0.1, 40: 0.6, 25: 0.4}
"""Two leading digits of a width, and how unusual each is."""
_STEPS = {2: 0.0, 4: 0.4, 5: 0.6, 10: 1.0}
"""How many times as wide a level may be as the one below, and how unwelcome each is."""
MAX_LEVELS = 4
_FINEST_GROUPS = 60
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
    if spread <= 0 or max(abs(first), abs(last)) >= Decimal(10) ** GRID_DIGITS:
        return None
    # Widths have two digits that are not zero, so they are whole numbers of such units.
    exponent = (spread / _FINEST_GROUPS).adjusted() - 1
    unit = Decimal(10) ** (max(exponent, -1) if is_whole else exponent)
    if max(abs(first), abs(last)) / unit >= Decimal(10) ** GRID_DIGITS:
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
        if len(chain) == MAX_LEVELS or self._groups(chain[-1]) <= LAST_GROUPS[0]:
            return
        for step in _STEPS:
            wider = chain[-1] * step
            if wider < self.last - self.first and _leading(wider) in _ROUND:
                yield from self.chains((*chain, wider))

    def badness(self, chain: Sequence[int]) -> float:
        """How far a chain is from what is wished for."""
        return (
            3 * _outside(self._groups(chain[0]), FIRST_GROUPS)
            + 1.5 * _outside(self._groups(chain[-1]), LAST_GROUPS)
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
