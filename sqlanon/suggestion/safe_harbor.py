"""Safe Harbor: identifiers that the HIPAA Privacy Rule has removed, in a release and in a draft.

A column is judged by the concept of its name and by its published values, up to MAX_READ_VALUES of
them. What the rule asks beside its list of identifiers is told, not judged: whether the holder
knows of a way to identify somebody, what free text says, and whether a code is derived from a
person.

Source: 45 CFR 164.514(b)(2); HHS 2012, which has the ZIP codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.number_ranges import NumberRange
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import SUPPRESSED
from sqlanon.query.assess.profile import shapes
from sqlanon.query.encode import distinct_values
from sqlanon.reports.findings import RULES, Finding
from sqlanon.resources import toml_document
from sqlanon.suggestion.profile import SHAPES, ColumnProfile, Form, form_of
from sqlanon.suggestion.roles import Role
from sqlanon.suggestion.suggestion import ColumnSuggestion
from sqlanon.suggestion.vocabulary import BIRTH, CONCEPTS, POSTCODE, Concept, Hint, concept_of
from sqlanon.wording import counted, did_you_mean

HIPAA = "hipaa-safe-harbor"
PROFILES = (HIPAA,)
"""Rules that drafts and releases can be held against."""
MAX_AGE = 89
"""The greatest age that is told [years]."""
MAX_READ_VALUES = 100_000
"""Values of a column that are read, at most; no code, year or age that is allowed has as many."""
_FLAGS = frozenset(["yes", "no", "true", "false", "y", "n", "t", "f", "0", "1"])
"""Values of a column that is named like an identifier and says whether there is one."""
_DOCUMENT = toml_document("sqlanon.suggestion", "safe_harbor.toml")
SMALL_ZIP3 = frozenset(_DOCUMENT["zip3"]["small"])
"""Three-digit ZIP codes of areas of 20,000 people or fewer."""
_NAMED = {CONCEPTS[key]: says for key, says in _DOCUMENT["named"].items()}
_PLACES = {CONCEPTS[key]: says for key, says in _DOCUMENT["places"].items()}
_SHAPES = {
    SHAPES.get(key) or shape["pattern"]: shape["says"] for key, shape in _DOCUMENT["shapes"].items()
}
_ZIP_PLUS = r"^[0-9]{5}-[0-9]{4}$"
_DAY = r"^[0-9]{4}-(Q[1-4]|W?[0-9]{2})([-T ].*)?$"
"""A month, a quarter, a week, a day or a moment, as labels write them."""
_AGE, _EVENT = CONCEPTS["age"], CONCEPTS["event"]
_DIGITS, _NUMBER = re.compile(r"[0-9]"), re.compile(r"[0-9]+")
_YEARS = (1800, 2100)  # between which numbers are years
UNJUDGED = (
    f"{_DOCUMENT['rule']} also asks what no program can judge: (ii) whether you know that what is "
    "left could identify somebody, alone or with other data; names, dates and places within free "
    "text and pictures; (R) characteristics and codes that are unique or derived from a person; "
    "whether columns that are named otherwise hold what is listed; and whether the areas of ZIP "
    f"codes have grown or shrunk since the list of {_DOCUMENT['zip3']['published']}"
)


def refuse_profile(name: str | None) -> None:
    """Refuses a profile that is not known, by a `PolicyError`."""
    if name is not None and name not in PROFILES:
        raise PolicyError(
            f"profile {name!r} is not known{did_you_mean(str(name), PROFILES)}; choose from "
            f"{', '.join(PROFILES)}"
        )


def safe_harbor_findings(
    engine: Engine, table: exp.Table, *, suppressed: str = SUPPRESSED
) -> Iterator[Finding]:
    """What of a release Safe Harbor does not allow, and what it leaves to people.

    Args:
        engine: Where it is.
        table: The release.
        suppressed: The label of suppressed values, which tells nothing.
    """
    for name, kind in column_types(engine, table).items():
        concept, form = concept_of(name), form_of(kind)
        if form is Form.BOOLEAN:
            continue
        rows = engine.rows(distinct_values(table, name).limit(MAX_READ_VALUES))
        texts = [str(value) for (value,) in rows if value is not None and str(value) != suppressed]
        if not rows or (texts and not _FLAGS.issuperset(map(str.lower, texts))):
            yield from _by_name(name, concept)
        if texts:
            yield from _by_values(name, concept, form, texts)
            if form is Form.TEXT:
                yield from _by_shape(engine, table, name, concept)
    yield RULES["safe-harbor-unjudged"].finding(UNJUDGED)


def _by_name(name: str, concept: Concept | None) -> Iterator[Finding]:
    rule, says = "", ""
    if concept in _NAMED:
        rule, says = "safe-harbor-identifier", _NAMED[concept]
    elif concept in _PLACES:
        rule, says = "safe-harbor-place", _PLACES[concept]
    elif concept is not None and concept.hint is Hint.TEXT:
        rule, says = "safe-harbor-text", "free text"
    if rule:
        yield RULES[rule].finding(f"column {name!r} is named like {says}", column=name)


def _by_values(
    name: str, concept: Concept | None, form: Form, texts: Sequence[str]
) -> Iterator[Finding]:
    """Findings about the values of a column whose concept or type says what they are."""
    if form is Form.UUID:
        yield RULES["safe-harbor-identifier"].finding(
            f"column {name!r} holds universally unique identifiers (R)", column=name
        )
    matches: Callable[[str], bool] | None = None
    rule, what = "safe-harbor-date", ""
    if form in (Form.DATE, Form.INSTANT):
        matches, what = bool, "finer than a year"
    elif concept is POSTCODE:
        matches, what = _is_small_area, "of ZIP codes: more than three digits, or a small area"
        rule = "safe-harbor-place"
    elif concept is _AGE:
        matches, what = _is_old, f"of ages above {MAX_AGE} that are told apart"
    elif concept is BIRTH:
        matches, what = _tells_birth, f"finer than a year, or of an age above {MAX_AGE}"
    elif concept is _EVENT and form is Form.NUMBER:
        matches, what = _is_no_year, "that are no years"
    number = 0 if matches is None else sum(map(matches, texts))
    if number:
        yield RULES[rule].finding(
            f"column {name!r} has {counted(number, 'value')} {what}", column=name
        )


def _is_small_area(text: str) -> bool:
    """Whether a ZIP code tells a place of 20,000 people or fewer, or has more than three digits.

    >>> [_is_small_area(label) for label in ("02139", "021**", "036", "36", "000")]
    [True, False, True, True, False]
    """
    digits = "".join(_DIGITS.findall(text))
    # A number has lost the zeros that it began with.
    area = digits.zfill(3) if text.isdecimal() else digits
    return len(digits) > 3 or area in SMALL_ZIP3


def _is_old(text: str) -> bool:
    """Whether a label of ages parts those above 89, or tells one: 90 stands for all of them.

    >>> [_is_old(label) for label in ("90", "91", "80-99", "80-89", ">=90", "[85, 90)", "90+")]
    [False, True, True, False, False, False, False]
    >>> [_is_old(label) for label in ("91+", "95 years", "88 years", "unknown")]
    [True, True, False, False]
    """
    read = NumberRange.of_interval(text)
    if read is None:
        return any(int(number) > MAX_AGE + 1 for number in _NUMBER.findall(text))
    above = Decimal(MAX_AGE + 1)
    if read.high is not None:
        return Decimal(read.high) > above or (
            read.low != read.high and read.has_high and Decimal(read.high) == above
        )
    return read.low is not None and Decimal(read.low) + (not read.has_low) > above


def _tells_birth(text: str) -> bool:
    """Whether a label of births is no year, or one of those who are 90 or older by now."""
    if _is_no_year(text):
        return True
    read = NumberRange.of_interval(text)
    last = datetime.now(UTC).year - MAX_AGE - 1
    return read is not None and read.low is not None and Decimal(read.low) <= last


def _is_no_year(text: str) -> bool:
    """Whether a label is neither a year nor a range of years.

    >>> [_is_no_year(label) for label in ("1990", "<=1936", "1990-1999", "1990-05", "5")]
    [False, False, False, True, True]
    >>> [_is_no_year(label) for label in ("1990s", "(1990, 2000]")]
    [False, False]
    """
    match = re.fullmatch(r"(?:[<>]=?|[\[(])?([0-9]{4})(?:s|[^0-9]+[0-9]{4}[\])]?)?", text)
    return match is None or not _YEARS[0] <= int(match[1]) <= _YEARS[1]


def _by_shape(
    engine: Engine, table: exp.Table, name: str, concept: Concept | None
) -> Iterator[Finding]:
    """Findings about what the texts of a column look like."""
    patterns = [*_SHAPES, _ZIP_PLUS, _DAY, SHAPES["day"], SHAPES["prose"]]
    *counts, extended, labelled, days, prose = engine.rows(
        shapes(table, [name], patterns=patterns)
    )[0]
    for number, says in zip(counts, _SHAPES.values(), strict=True):
        if number:
            yield RULES["safe-harbor-identifier"].finding(
                f"{counted(number, 'text')} of column {name!r} look like {says}", column=name
            )
    if extended and concept is not POSTCODE:
        yield RULES["safe-harbor-place"].finding(
            f"{counted(extended, 'text')} of column {name!r} look like ZIP codes of nine digits",
            column=name,
        )
    if (labelled or days) and concept is not BIRTH:
        yield RULES["safe-harbor-date"].finding(
            f"{counted(labelled + days, 'text')} of column {name!r} look like dates finer than a "
            "year",
            column=name,
        )
    if prose and concept not in _NAMED and (concept is None or concept.hint is not Hint.TEXT):
        yield RULES["safe-harbor-text"].finding(
            f"{counted(prose, 'text')} of column {name!r} have four words or more", column=name
        )


def drafted(column: ColumnSuggestion, profile: ColumnProfile) -> ColumnSuggestion:
    """What is suggested for a column, as Safe Harbor allows it at most."""
    concept = concept_of(column.name)
    rule = "Safe Harbor (45 CFR 164.514(b)(2)(i))"
    says_whether = profile.form is Form.BOOLEAN or profile.distinct == 2
    if not profile.present or (concept in _NAMED and says_whether):
        return column
    if concept in _NAMED:
        if column.role is Role.IDENTIFIER:
            return column
        return _left_out(column, Role.IDENTIFIER, f"{rule} removes {_NAMED[concept]}")
    if concept in _PLACES:
        return _left_out(column, Role.DROP, f"{rule} removes {_PLACES[concept]}")
    hierarchy = _hierarchy(concept, profile)
    if hierarchy is not None:
        return replace(
            column,
            role=Role.QUASI_IDENTIFIER,
            reason=f"{rule} allows {hierarchy[1]}",
            hierarchy=hierarchy[0],
            remark="the lowest level is what the rule allows",
            file=None,
            l=None,
            min_level=1,
        )
    if concept in (_AGE, BIRTH) and profile.form is not Form.BOOLEAN:
        reason = f"{rule} allows ages up to 89 and years of birth (C): put them into numbers"
        return _left_out(column, Role.DROP, reason)
    if profile.form is Form.INSTANT or profile.looks_like("day") or profile.looks_like("month"):
        reason = f"{rule} removes dates but for years (C): put years into a column of their own"
        return _left_out(column, Role.DROP, reason)
    return column


def _are_years(profile: ColumnProfile) -> bool:
    """Whether a column has whole numbers, and its outer quantiles are years."""
    numbers = profile.numbers
    if numbers is None or not profile.is_whole:
        return False
    return _YEARS[0] <= numbers.quantiles[0] <= numbers.quantiles[-1] <= _YEARS[1]


def _left_out(column: ColumnSuggestion, role: Role, reason: str) -> ColumnSuggestion:
    return replace(column, role=role, reason=reason, hierarchy=None, remark="", file=None, l=None)


def _hierarchy(concept: Concept | None, profile: ColumnProfile) -> tuple[Hierarchy, str] | None:
    """How a column of dates, ages or ZIP codes may be published at most, and what that is."""
    if concept is POSTCODE and (profile.is_whole or profile.form is Form.TEXT):
        width = 3 if profile.lengths[2] <= 3 else 5  # of numbers, whose first zeros are lost
        padded = f"LPAD(CAST(value AS VARCHAR), {width}, '0')"
        text = "value" if profile.form is Form.TEXT else padded
        small = ", ".join(f"'{area}'" for area in sorted(SMALL_ZIP3))
        area = f"CASE WHEN LEFT({text}, 3) IN ({small}) THEN '000' ELSE LEFT({text}, 3) END"
        allowed = "three digits of a ZIP code, and 000 where 20,000 people live or fewer (B)"
        return Hierarchy.expressions(area), allowed
    if concept is BIRTH and (profile.form is Form.DATE or _are_years(profile)):
        last, year = datetime.now(UTC).year - MAX_AGE - 1, "value"
        if profile.form is Form.DATE:
            year = "YEAR(value)"
        label = f"CASE WHEN {year} <= {last} THEN '<={last}' ELSE CAST({year} AS VARCHAR) END"
        return Hierarchy.expressions(label), "years of birth, those of 90 and older as one (C)"
    if profile.form is Form.DATE:
        return Hierarchy.dates("year", "decade"), "years (C)"
    if concept is _AGE and profile.form is Form.NUMBER:
        allowed = "ages up to 89, and one category of 90 or older (C)"
        return Hierarchy.intervals(1, 5, 10, high=MAX_AGE + 1), allowed
    return None
