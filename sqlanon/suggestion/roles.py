"""Roles: what a column is taken for, and why, from its name, its type and its figures.

Rules are tried in their order, and the first that has something to say decides. What none of them
decides is left to the sets of columns that make records unique (`suggestion.separating`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlanon.suggestion.advice import Advice, Naming, Role
from sqlanon.suggestion.forms import Form
from sqlanon.suggestion.naming import (
    FEW,
    TOLD,
    is_kind,
    naming_rule,
    numbering_rule,
    person_rule,
)
from sqlanon.suggestion.profile import ColumnProfile
from sqlanon.suggestion.vocabulary import (
    YEAR_NAMES,
    Concept,
    Hint,
    concept_of,
    is_item,
    is_label,
    is_record_number,
    words_of,
)
from sqlanon.wording import percent

NEAR_UNIQUE = 0.9
"""Distinct values over values from which nearly every record has its own."""
UNIQUE_TEXT = 0.5
"""The same of texts, which nobody can group by hand then."""
MOSTLY_NULL = 0.05
"""Share of the records with a value up to which having one is what tells records apart."""
CLASSES = 50
"""Most values of what others are to predict."""
FINE = 20
"""Values above which numbers with fractions count as measurements."""
MANY = 100
"""Values above which whole numbers do."""
LARGEST_AGE = 120
"""The largest of whole numbers that are looked at as ages, hours and the like are."""
YEARS = (1800, 2100)
"""Whole numbers that are looked at as years are."""
CODE = 4
"""Digits from which whole numbers that all have as many are looked at as codes are."""
TELLING = 0.1
"""The same from which sensitive figures are to be rounded first."""


def advise(profile: ColumnProfile) -> Advice | None:
    """The role of a column by itself; None where the other columns must tell."""
    concept = concept_of(profile.name)
    for rule in _RULES:
        found = rule(profile, concept)
        if found is not None:
            return found
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
    return Advice(
        Role.UNDECIDED,
        f"its name suggests {concept.title}: it tells nothing about a person by itself, but "
        f"with {_distinct(profile)} it singles records out; round it and keep it, or drop it",
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
        reason += f"; whoever knows a value, {_found(profile)}: round it first"
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
    if profile.uniqueness < TOLD:
        return ""
    return f"; whoever does, {_found(profile)}"


def _found(profile: ColumnProfile) -> str:
    """What a value of a column leads to."""
    found = (
        f"finds the record, with {_distinct(profile)}"
        if profile.uniqueness >= NEAR_UNIQUE
        else f"is left with {1 / profile.uniqueness:.3g} records on average"
    )
    return f"as from another file of the same source, {found}"


def is_telling(profile: ColumnProfile) -> bool:
    """Whether it holds figures of which few records share each, so that one leads to its record."""
    is_number = profile.form is Form.NUMBER or profile.is_numeric_text
    is_spread = _is_fine(profile) and profile.uniqueness >= TELLING
    return is_number and (is_spread or _is_near(profile))


def _is_fine(profile: ColumnProfile) -> bool:
    """Whether numbers are many, and neither years, ages nor codes."""
    numbers = profile.numbers
    if numbers is None or not numbers.quantiles:
        return profile.distinct > MANY
    least, most = numbers.quantiles[0], numbers.quantiles[-1]
    if not numbers.is_nearly_whole:
        return profile.distinct > FINE
    shortest, _, longest = profile.lengths
    is_age = least >= 0 and most <= LARGEST_AGE
    is_year = least >= YEARS[0] and most <= YEARS[1]
    is_code = shortest == longest >= CODE
    is_every = numbers.is_whole and profile.uniqueness >= NEAR_UNIQUE
    return profile.distinct > MANY and not (is_age or is_year or is_code or is_every)


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
    if not is_label(profile.name) or profile.distinct > CLASSES or _is_near(profile):
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


_RULES: Sequence[Callable[[ColumnProfile, Concept | None], Advice | None]] = (
    _unfit,
    _saying_nothing,
    naming_rule,
    person_rule,
    _weight,
    _sensitive,
    _known,
    numbering_rule,
    _measured,
    _near_unique,
    _prose,
    _sparse,
    _dated,
    _label,
    _item,
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
    is_range = YEARS[0] <= numbers.quantiles[0] and numbers.quantiles[-1] <= YEARS[1]
    return is_range and not YEAR_NAMES.isdisjoint(words_of(profile.name))


def _is_near(profile: ColumnProfile) -> bool:
    """Whether nearly every record has its own value."""
    is_text = profile.form in (Form.TEXT, Form.UUID) and not profile.is_numeric_text
    least = UNIQUE_TEXT if is_text else NEAR_UNIQUE
    return profile.uniqueness >= least and profile.distinct > 2


def _is_prose(profile: ColumnProfile) -> bool:
    """Whether many of its texts are sentences, and most are different."""
    is_long = profile.looks_like("prose", 0.5) or profile.lengths[1] > 60
    return profile.form is Form.TEXT and is_long and profile.uniqueness >= 1 / FEW


def _is_sparse(profile: ColumnProfile) -> bool:
    return profile.filled <= MOSTLY_NULL


def _distinct(profile: ColumnProfile) -> str:
    if profile.uniqueness == 1:
        return "a different value in every record"
    return f"{percent(profile.uniqueness)} of its values distinct"
