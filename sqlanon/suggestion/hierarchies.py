"""Hierarchies that suit a quasi-identifier, from its type, its name and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.query.syntax import column
from sqlanon.suggestion.forms import Form
from sqlanon.suggestion.profile import ColumnProfile
from sqlanon.suggestion.roles import NEAR_UNIQUE
from sqlanon.suggestion.vocabulary import CODES, POSTCODE, concept_of, words_of
from sqlanon.suggestion.widths import grid

FEW = 6
"""Values up to which a column without an order is kept or suppressed as it is."""
FEW_NUMBERS = 4
"""The same of numbers."""
MOST_LEAVES = 10_000
"""Values up to which a hierarchy file is worth filling in."""
REPEATED = 0.5
"""Distinct values over values below which a file may list them."""
SHRUNK = 1.5
"""How many times fewer groups a shorter prefix must make to be a level."""
LEVELS = 3
"""Levels of prefixes, at most."""
YEAR = 365
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
    found = _by_form(profile)
    try:
        level_labels(found.hierarchy, column(profile.name), column_type=profile.kind)
    except HierarchyError:
        return Draft(Hierarchy.suppression(), "a value is kept or suppressed")
    return found


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
    if profile.distinct <= (FEW if is_code else FEW_NUMBERS):
        return _suppressed()
    if concept is POSTCODE and (lengths := _lengths(profile)):
        return _prefixes(lengths)
    if is_code and profile.is_whole:
        return _listed(profile)
    assert profile.numbers is not None
    found = grid(profile.numbers.quantiles, is_whole=profile.numbers.is_nearly_whole)
    if found is None:
        return Draft(
            Hierarchy.suppression(),
            "nearly all numbers are alike: each is kept or suppressed; intervals may serve, too",
        )
    if profile.uniqueness >= NEAR_UNIQUE:
        # An end, round as it is, could be the value of a record.
        found = replace(found, low=None, high=None)
    hierarchy = Hierarchy.intervals(*found.widths, low=found.low, high=found.high)
    widths = ", ".join(f"{width:f}" for width in found.widths)
    remark = f"intervals of {widths} on round borders"
    if found.low is not None and found.high is not None:
        remark += f"; below {_plain(found.low)} and from {_plain(found.high)} on one group each"
    return Draft(hierarchy, remark)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _of_dates(profile: ColumnProfile) -> Draft:
    days = profile.days
    if days is None:
        return _suppressed()
    units: list[str] = ["day"] if profile.timed else []
    if days <= YEAR // 4:
        units.append("week")
    else:
        units += ["month", "quarter"]
        units += ["year"] if days > YEAR else []
        units += ["decade"] if days > 15 * YEAR else []
    return Draft(Hierarchy.dates(*units), f"{', '.join(units)}, as the span of the dates suggests")


def _of_instants() -> Draft:
    forms = ("%Y-%m-%d", "%Y-%m", "%Y")
    texts = [f"strftime(value AT TIME ZONE 'UTC', '{form}')" for form in forms]
    return Draft(Hierarchy.expressions(*texts), "day, month and year in UTC; name another zone")


def _of_texts(profile: ColumnProfile) -> Draft:
    if profile.distinct <= FEW:
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
    found: list[int] = []
    groups = profile.distinct
    by_length: Mapping[int, int] = dict(enumerate(profile.prefixes, start=1))
    for length in range(longest - 1, 0, -1):
        held = by_length.get(length, 1)
        if held > 1 and held * SHRUNK <= groups:
            found.append(length)
            groups = held
    return found[:LEVELS] if len(found) <= LEVELS else [*found[: LEVELS - 1], found[-1]]


def _listed(profile: ColumnProfile) -> Draft:
    if profile.uniqueness < REPEATED and profile.distinct <= MOST_LEAVES:
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
