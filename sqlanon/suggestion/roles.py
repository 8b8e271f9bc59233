"""Roles: what a column is taken for, and why, from its name, its type and its figures.

Rules are tried in their order, and the first that has something to say decides. What none of them
decides is left to what columns tell together (`suggestion.suggesting`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from sqlanon.suggestion.profile import IDENTIFYING_SHAPES, ColumnProfile, Form
from sqlanon.suggestion.vocabulary import (
    ADDRESS,
    CODES,
    FAMILY,
    FULL_NAME,
    IDS,
    NAME,
    PERSON,
    RECORD_WORDS,
    STAFF,
    YEAR_NAMES,
    Concept,
    Hint,
    concept_of,
    is_item,
    is_label,
    is_of_staff,
    is_of_thing,
    is_record_number,
    names_staff,
    numbers_something,
    words_of,
)
from sqlanon.wording import percent


class Role(Enum):
    """What becomes of a column."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    KEEP = "keep"
    DROP = "drop"
    WEIGHT = "weight"
    UNDECIDED = "undecided"


class Naming(Enum):
    """How a column says whose record it is."""

    NOT = "not at all"
    ASKED = "perhaps"
    NAMED = "by what names a person, or by a number of a case or an account"
    NUMBERED = "by the number of a person"


@dataclass(frozen=True, slots=True)
class Advice:
    """A role and why.

    Args:
        role: The role.
        reason: A sentence without its full stop, which holds no value of the table.
        naming: How the column says whose record it is, whether or not persons have several.
        is_entity: Whether persons have several records, and are counted by it.
    """

    role: Role
    reason: str
    naming: Naming = Naming.NOT
    is_entity: bool = False


NEAR_UNIQUE = 0.9
"""Distinct values over values from which nearly every record has its own."""
NEAR_UNIQUE_TEXTS = 0.5
"""The same of texts, which nobody can group by hand then."""
MAX_REPEATING = 0.8
"""Distinct numbers of persons over records, up to which persons have several records."""
MIN_TELLING = 0.01
"""Share of distinct values from which to know a measurement leaves few records."""
MIN_ROUNDED = 0.1
"""The same from which sensitive figures are to be rounded first."""
MAX_SPARSE = 0.05
"""Share of the records with a value up to which having one is what tells records apart."""
MAX_REPEATING_FIGURES = 0.5
"""The same of numbers that may as well be measurements, so that each has two records or more."""
MAX_KINDS = 10
"""Values up to which a column that is named like an identifier is rather a kind of it."""
MAX_LABELS = 50
"""Values of what others are to predict, at most."""
MAX_FRACTIONS = 20
"""Numbers with fractions up to which they are no measurements."""
MAX_WHOLE_NUMBERS = 100
"""Whole numbers up to which they are none."""
MAX_AGE = 120
"""The largest of whole numbers that look like ages, hours and the like."""
CALENDAR_YEARS = (1800, 2100)
"""Between which whole numbers look like years."""
MIN_CODE_DIGITS = 4
"""Digits from which whole numbers that all have as many look like codes."""
MIN_PERSONS = 50
"""Texts like names from which they are taken for those of persons, whatever their column."""
MIN_LAST_WORDS = 0.8
"""Last words over first words of texts from which they are like names: those of titles, illnesses
and streets end in few words."""


def advise(profile: ColumnProfile) -> Advice | None:
    """The role of a column by itself; None where the other columns must tell."""
    concept = concept_of(profile.name)
    for rule in _RULES:
        advice = rule(profile, concept)
        if advice is not None:
            return advice
    return None


def advise_row_names(profile: ColumnProfile) -> Advice | None:
    """The role of a first column that is called as one without a name; None where it is a kind."""
    if not profile.present or is_kind(profile):
        return None
    return Advice(
        Role.IDENTIFIER,
        "it is called as a first column without a name is, into which R and pandas write the "
        f"numbers or names of records; it holds {_distinct(profile)}",
    )


def _unfit(profile: ColumnProfile, _: Concept | None) -> Advice | None:
    if profile.is_collated:
        return Advice(
            Role.UNDECIDED,
            "its collation takes different spellings for one value; write it in one spelling into "
            "a column without, or drop it",
        )
    if profile.form is not Form.OTHER:
        return None
    return Advice(
        Role.UNDECIDED,
        f"type {profile.type} cannot be generalized; put what is needed of it into columns of "
        "their own, or drop it",
    )


def _saying_nothing(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    if not profile.present:
        return Advice(Role.UNDECIDED, "no record has a value, so nobody misses it (drop)")
    is_one = profile.values == 1
    if is_one and profile.records > 1 and concept is not None and concept.hint is Hint.SENSITIVE:
        return Advice(
            Role.SENSITIVE,
            f"its name suggests {concept.title}{_category(concept)}, and all records have the same "
            "value: to publish it tells it of everybody in the table, which no group hides. Is it "
            "what must not become known of a person? Then drop it",
        )
    if is_one:
        return Advice(
            Role.UNDECIDED, "all records have the same value, so it tells nobody apart (keep, drop)"
        )
    return None


def _weight(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    if concept is None or concept.hint is not Hint.WEIGHT or profile.form is not Form.NUMBER:
        return None
    reason = f"its name suggests {concept.title}"
    numbers = profile.numbers
    if numbers is None or not numbers.quantiles or numbers.quantiles[0] < 1:
        return Advice(
            Role.UNDECIDED,
            f"{reason}, but it has values below 1, as those that are scaled: such weights do not "
            f"say how many people a record stands for, and with {_distinct(profile)} they single "
            "records out; round it and keep it, or drop it",
        )
    return Advice(
        Role.WEIGHT,
        f"{reason}, how many people a record stands for: risk counts by it. It is not published, "
        f"for with {_distinct(profile)} it singles records out; round it and keep it if it is "
        "needed",
    )


def second_weight(first: str) -> Advice:
    """Advice on a survey weight beside another one, as that of a household."""
    return Advice(
        Role.UNDECIDED,
        f"its name suggests a survey weight, and {first!r} is taken for that; name this one "
        "instead (weight), or drop it",
    )


def _sensitive(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    if concept is None or concept.hint is not Hint.SENSITIVE or _is_when(profile):
        return None
    if profile.form is Form.TEXT and (_is_prose(profile) or profile.uniqueness >= NEAR_UNIQUE):
        return Advice(
            Role.IDENTIFIER,
            f"its name suggests {concept.title}, and nearly every record has a text of its own, "
            "which singles it out; put the texts into groups to publish them as sensitive",
        )
    reason = f"its name suggests {concept.title}{_category(concept)}"
    if _is_near(profile):
        reason += (
            f"; with {_distinct(profile)}, whoever knows a value finds the record: round it first"
        )
    elif is_telling(profile):
        reason += f"; whoever knows a value, {_reach(profile)}: round it first"
    return Advice(
        Role.SENSITIVE, f"{reason}. Is it something that nobody should learn about a person?"
    )


def _category(concept: Concept) -> str:
    return ", a special category of personal data (GDPR article 9)" if concept.special else ""


def _known(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    if concept is None or concept.hint is not Hint.KNOWN:
        return None
    if _is_sparse(profile):
        return _sparse(profile)
    is_text = profile.form is Form.TEXT and not profile.prefixes
    if is_text and (_is_near(profile) or _is_prose(profile)) and not _is_when(profile):
        return None
    special = (
        "; it is a special category of personal data (GDPR article 9), which others see or know, "
        "so it is generalized rather than published as it is"
        if concept.special
        else ", which others know or can find out"
    )
    return Advice(Role.QUASI_IDENTIFIER, f"its name suggests {concept.title}{special}")


def _measured(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    is_named = concept is not None and concept.hint is Hint.MEASURE
    is_number = profile.form is Form.NUMBER or profile.is_numeric_text
    if not is_number or is_record_number(profile.name) or not (is_named or _is_fine(profile)):
        return None
    what = f"its name suggests {concept.title}" if concept and is_named else "it holds figures"
    return Advice(
        Role.UNDECIDED,
        f"{what}, which others seldom know exactly{_finding(profile)}. Is it what nobody should "
        "learn about a person (sensitive, rounded first), may others know it (quasi-identifier, in "
        "intervals), or is it not needed (drop)?",
    )


def _finding(profile: ColumnProfile) -> str:
    """What somebody who does know a measurement finds by it; nothing where many share each."""
    if profile.uniqueness < MIN_TELLING:
        return ""
    return f"; whoever does, {_reach(profile)}"


def _reach(profile: ColumnProfile) -> str:
    """What a value of a column leads to."""
    reach = (
        f"finds the record, with {_distinct(profile)}"
        if profile.uniqueness >= NEAR_UNIQUE
        else f"is left with {1 / profile.uniqueness:.3g} records on average"
    )
    return f"as from another file of the same source, {reach}"


def is_telling(profile: ColumnProfile) -> bool:
    """Whether it holds figures of which few records share each, so that one leads to its record."""
    is_number = profile.form is Form.NUMBER or profile.is_numeric_text
    is_spread = _is_fine(profile) and profile.uniqueness >= MIN_ROUNDED
    return is_number and (is_spread or _is_near(profile))


def _is_fine(profile: ColumnProfile) -> bool:
    """Whether numbers are many, and neither years, ages nor codes."""
    numbers = profile.numbers
    if numbers is None or not numbers.quantiles:
        return profile.distinct > MAX_WHOLE_NUMBERS
    least, most = numbers.quantiles[0], numbers.quantiles[-1]
    if not numbers.is_nearly_whole:
        return profile.distinct > MAX_FRACTIONS
    shortest, _, longest = profile.lengths
    is_age = least >= 0 and most <= MAX_AGE
    is_year = least >= CALENDAR_YEARS[0] and most <= CALENDAR_YEARS[1]
    is_code = shortest == longest >= MIN_CODE_DIGITS
    is_every = numbers.is_whole and profile.uniqueness >= NEAR_UNIQUE
    return profile.distinct > MAX_WHOLE_NUMBERS and not (is_age or is_year or is_code or is_every)


def _near_unique(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    if _is_when(profile) or not _is_near(profile):
        return None
    if is_record_number(profile.name):
        return Advice(Role.IDENTIFIER, f"it numbers the records, with {_distinct(profile)}")
    return Advice(
        Role.IDENTIFIER,
        f"nearly every record has its own value ({_distinct(profile)})",
        Naming.NOT if _is_prose(profile) else Naming.ASKED,
    )


def _prose(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    is_named = concept is not None and concept.hint is Hint.TEXT and not is_kind(profile)
    if profile.form is not Form.TEXT or not (is_named or _is_prose(profile)):
        return None
    return Advice(
        Role.IDENTIFIER, "it holds free text, which may name people, and nobody can check it all"
    )


def _sparse(profile: ColumnProfile, _: Concept | None = None) -> Advice | None:
    if not _is_sparse(profile):
        return None
    return Advice(
        Role.UNDECIDED,
        f"only {percent(profile.filled)} of the records have a value, so that to have one singles "
        "out; drop it, or make it a quasi-identifier",
    )


def _dated(profile: ColumnProfile, _: Concept | None) -> Advice | None:
    if not _is_when(profile):
        return None
    return Advice(
        Role.QUASI_IDENTIFIER, "it is a date, and others may know when something happened"
    )


def _label(profile: ColumnProfile, _: Concept | None) -> Advice | None:
    if not is_label(profile.name) or profile.distinct > MAX_LABELS or _is_near(profile):
        return None
    return Advice(
        Role.SENSITIVE,
        "its name suggests that it is what others are to predict. Is it something that nobody "
        "should learn about a person?",
    )


def _item(profile: ColumnProfile, _: Concept | None) -> Advice | None:
    if not is_item(profile.name):
        return None
    return Advice(
        Role.UNDECIDED,
        "its name is that of an item of a questionnaire or a form and does not say what was asked; "
        "may others know the answer (quasi-identifier), is it sensitive, or is it not needed "
        "(drop)?",
    )


def _is_when(profile: ColumnProfile) -> bool:
    """Whether it says when something happened: dates, texts like them, or numbers of years."""
    if profile.form in (Form.DATE, Form.INSTANT):
        return True
    return profile.looks_like("day") or profile.looks_like("month") or _is_year(profile)


def _is_year(profile: ColumnProfile) -> bool:
    """Whether it holds numbers as years are, and its name says so."""
    numbers = profile.numbers
    if numbers is None or not (numbers.is_whole and numbers.quantiles):
        return False
    is_range = (
        CALENDAR_YEARS[0] <= numbers.quantiles[0] and numbers.quantiles[-1] <= CALENDAR_YEARS[1]
    )
    return is_range and not YEAR_NAMES.isdisjoint(words_of(profile.name))


def _is_near(profile: ColumnProfile) -> bool:
    """Whether nearly every record has its own value."""
    is_text = profile.form in (Form.TEXT, Form.UUID) and not profile.is_numeric_text
    least = NEAR_UNIQUE_TEXTS if is_text else NEAR_UNIQUE
    return profile.uniqueness >= least and profile.distinct > 2


def _is_prose(profile: ColumnProfile) -> bool:
    """Whether many of its texts are sentences, and most are different."""
    is_long = profile.looks_like("prose", 0.5) or profile.lengths[1] > 60
    return profile.form is Form.TEXT and is_long and profile.uniqueness >= 1 / MAX_KINDS


def _is_sparse(profile: ColumnProfile) -> bool:
    return profile.filled <= MAX_SPARSE


def _distinct(profile: ColumnProfile) -> str:
    if profile.uniqueness == 1:
        return "a different value in every record"
    return f"{percent(profile.uniqueness)} of its values distinct"


def _naming(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    """The advice for what names persons, by the shape of its values or by its name."""
    for shape, what in IDENTIFYING_SHAPES.items():
        if profile.looks_like(shape) or (shape == "uuid" and profile.form is Form.UUID):
            return Advice(Role.IDENTIFIER, f"its values look like {what}", Naming.NAMED)
    if _holds_names(profile, concept):
        naming = Naming.NAMED if concept in (FULL_NAME, NAME, PERSON) else Naming.ASKED
        is_of_other = concept is FAMILY or is_of_staff(profile.name)
        naming = Naming.NOT if is_of_other else naming
        return Advice(Role.IDENTIFIER, "its values look like names of persons", naming)
    if is_kind(profile):
        return None
    if names_staff(profile.name) and profile.form is Form.TEXT and not profile.looks_like("digit"):
        return Advice(Role.IDENTIFIER, "its name suggests that it names somebody")
    if concept is None or concept.hint is not Hint.NAMES:
        return None
    is_other = concept in (ADDRESS, NAME, STAFF)
    naming = Naming.ASKED if concept is FULL_NAME else Naming.NAMED
    naming = Naming.NOT if is_other else naming
    return Advice(Role.IDENTIFIER, f"its name suggests {concept.title}", naming)


def _holds_names(profile: ColumnProfile, concept: Concept | None) -> bool:
    """Whether texts are like full names, in a column of them or one that is not known by its name.

    Many other things look so, too: titles of jobs, illnesses, cities.
    """
    if not profile.looks_like("name"):
        return False
    if concept in (FULL_NAME, NAME, PERSON) or is_of_staff(profile.name):
        return True
    is_open = concept is FAMILY or (concept is None and not is_of_thing(profile.name))
    first, last = profile.words
    return is_open and profile.distinct >= MIN_PERSONS and last >= MIN_LAST_WORDS * first


def is_kind(profile: ColumnProfile) -> bool:
    """Whether a column that is named like an identifier rather holds a kind, as has_email does."""
    is_few = profile.distinct <= MAX_KINDS and profile.uniqueness < 1 / MAX_KINDS
    return profile.form is Form.BOOLEAN or is_few


def _person(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    """The advice for numbers of persons, of what is kept for them, or of records."""
    words = {*words_of(profile.name)}
    is_plain = bool(words) and words <= RECORD_WORDS - CODES
    is_number = concept is not None and concept.hint is Hint.PERSON
    if not (is_number or is_plain) or is_kind(profile):
        return None
    title = concept.title if concept is not None and is_number else "a number"
    reason = f"its name suggests {title}"
    is_texts = profile.form is Form.TEXT and not profile.looks_like("digit")
    if is_texts and repeats(profile) and not numbers_something(profile.name):
        return _asked(profile, reason)
    if is_plain and repeats(profile) and not is_number:
        # What repeats may number persons, or the visits of each.
        naming = Naming.ASKED if words.isdisjoint(IDS) else Naming.NUMBERED
    else:
        naming = Naming.NUMBERED if concept is PERSON else Naming.NAMED
    return Advice(Role.IDENTIFIER, reason, naming)


def repeats(profile: ColumnProfile) -> bool:
    """Whether a column has clearly fewer values than records."""
    return 0 < profile.uniqueness <= MAX_REPEATING


def records_per_value(profile: ColumnProfile) -> str:
    """How many records a value of a column has."""
    return f"{1 / profile.uniqueness:.3g} records on average"


def _asked(profile: ColumnProfile, reason: str) -> Advice:
    """Advice on what may say whose record it is, or not."""
    return Advice(
        Role.UNDECIDED,
        f"{reason}, and each value has {records_per_value(profile)}. Does each stand for one "
        "person (entity: models then count persons instead of records), or for something else, as "
        "a product or a place (quasi-identifier or drop)?",
        Naming.ASKED,
    )


def _numbering(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    """The advice for numbers of which nobody but the user knows what they are of.

    Whatever else the name says, of health, of money or of a family, these are numbers of it.
    """
    is_level = concept is not None and concept.hint is Hint.KNOWN and profile.distinct <= MAX_LABELS
    is_few = profile.uniqueness < (1 / MAX_KINDS if is_level else MIN_TELLING) or is_kind(profile)
    is_fit = profile.is_whole or profile.form is Form.TEXT
    if is_few or not is_fit or not numbers_something(profile.name) or _is_when(profile):
        return None
    reason = "its name suggests that it numbers something"
    if repeats(profile):
        return _asked(profile, reason)
    is_of_records = concept is None and _is_near(profile)
    return None if is_of_records else Advice(Role.IDENTIFIER, reason, Naming.ASKED)


def _owned(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    """The advice for values that are too many to count or to sort a family, or what it owns."""
    is_fit = profile.is_whole or profile.form is Form.TEXT
    is_many = profile.distinct > MAX_LABELS and profile.uniqueness >= MIN_TELLING
    if concept is not FAMILY or not (is_fit and is_many) or _is_when(profile):
        return None
    reason = f"its name suggests {concept.title}, but it has {profile.distinct} values"
    return _asked(profile, reason) if repeats(profile) else Advice(Role.IDENTIFIER, reason)


def asked_about_key(profile: ColumnProfile, beside: str) -> Advice:
    """Advice on what tells records apart beside another column, as the number of a person does."""
    return _asked(profile, f"together with {beside!r} it tells nearly all records apart")


def may_be_key(profile: ColumnProfile) -> bool:
    """Whether nothing but its values tells what it is, and they are many that repeat."""
    is_fit = profile.is_whole or (profile.form is Form.TEXT and not _is_prose(profile))
    is_open = concept_of(profile.name) is None and not is_of_thing(profile.name)
    is_many = profile.distinct > MAX_LABELS and profile.uniqueness >= MIN_TELLING
    return is_open and is_fit and is_many and repeats(profile) and not _is_when(profile)


_RULES: Sequence[Callable[[ColumnProfile, Concept | None], Advice | None]] = (
    _unfit,
    _saying_nothing,
    _naming,
    _person,
    _weight,
    _numbering,
    _owned,
    _sensitive,
    _known,
    _measured,
    _near_unique,
    _prose,
    _sparse,
    _dated,
    _label,
    _item,
)
