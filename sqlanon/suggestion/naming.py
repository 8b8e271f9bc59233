"""Naming: rules for columns that say whose record it is, by what names or numbers a person."""

from __future__ import annotations

from sqlanon.suggestion.advice import Advice, Naming, Role
from sqlanon.suggestion.forms import Form
from sqlanon.suggestion.profile import ColumnProfile
from sqlanon.suggestion.vocabulary import (
    ADDRESS,
    CODES,
    NAME,
    PERSON,
    RECORD_WORDS,
    STAFF,
    Concept,
    Hint,
    is_of_staff,
    names_staff,
    numbers_something,
    words_of,
)

REPEATED = 0.8
"""Distinct numbers of persons over records, up to which persons have several records."""
FEW = 10
"""Values up to which a column that is named like an identifier is rather a kind of it."""
TOLD = 0.01
"""Share of distinct values from which to know a measurement leaves few records."""
NAMES = 50
"""Texts like names from which they are taken for those of persons, whatever their column."""
LAST_WORDS = 0.8
"""Last words over first words of texts from which they are like names: those of titles, illnesses
and streets end in few words."""


def naming_rule(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    """The advice for what names persons, by the shape of its values or by its name."""
    looks = {
        "email": "e-mail addresses",
        "url": "addresses of web pages",
        "ip": "internet addresses",
        "uuid": "universally unique identifiers",
        "phone": "telephone numbers",
        "iban": "account numbers",
    }
    for shape, what in looks.items():
        if profile.looks_like(shape) or (shape == "uuid" and profile.form is Form.UUID):
            return Advice(Role.IDENTIFIER, f"its values look like {what}", Naming.NAMED)
    if _holds_names(profile, concept):
        naming = Naming.NAMED if concept in (NAME, PERSON) else Naming.ASKED
        naming = Naming.NOT if is_of_staff(profile.name) else naming
        return Advice(Role.IDENTIFIER, "its values look like names of persons", naming)
    if is_kind(profile):
        return None
    if names_staff(profile.name) and profile.form is Form.TEXT and not profile.looks_like("digit"):
        return Advice(Role.IDENTIFIER, "its name suggests that it names somebody")
    if concept is None or concept.hint is not Hint.NAMES:
        return None
    is_persons = concept not in (ADDRESS, NAME, STAFF)
    naming = Naming.NAMED if is_persons else Naming.NOT
    return Advice(Role.IDENTIFIER, f"its name suggests {concept.title}", naming)


def _holds_names(profile: ColumnProfile, concept: Concept | None) -> bool:
    """Whether texts are like full names, in a column of them or one that is not known by its name.

    Many other things look so, too: titles of jobs, illnesses, cities.
    """
    if not profile.looks_like("name"):
        return False
    if concept in (NAME, PERSON) or is_of_staff(profile.name):
        return True
    first, last = profile.words
    return concept is None and profile.distinct >= NAMES and last >= LAST_WORDS * first


def is_kind(profile: ColumnProfile) -> bool:
    """Whether a column that is named like an identifier rather holds a kind, as has_email does."""
    is_few = profile.distinct <= FEW and profile.uniqueness < 1 / FEW
    return profile.form is Form.BOOLEAN or is_few


def person_rule(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
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
    # A plain number of which every record has its own is one of records.
    is_person = concept is PERSON or (is_plain and repeats(profile))
    naming = Naming.NUMBERED if is_person else Naming.NAMED
    return Advice(Role.IDENTIFIER, reason, naming)


def repeats(profile: ColumnProfile) -> bool:
    """Whether a column has clearly fewer values than records."""
    return 0 < profile.uniqueness <= REPEATED


def each_has(profile: ColumnProfile) -> str:
    """How many records a value of a column has."""
    return f"{1 / profile.uniqueness:.3g} records on average"


def _asked(profile: ColumnProfile, reason: str) -> Advice:
    """Advice on what may say whose record it is, or not."""
    return Advice(
        Role.UNDECIDED,
        f"{reason}, and each value has {each_has(profile)}. Does each stand for one person "
        "(entity: models then count persons instead of records), or for something else, as a "
        "product or a place (quasi-identifier or drop)?",
        Naming.ASKED,
    )


def numbering_rule(profile: ColumnProfile, concept: Concept | None) -> Advice | None:
    """The advice for numbers of which nobody but the user knows what they are of."""
    is_few = profile.uniqueness < TOLD or is_kind(profile)
    if concept is not None or is_few or not repeats(profile):
        return None
    if not numbers_something(profile.name) or not (profile.is_whole or profile.form is Form.TEXT):
        return None
    return _asked(profile, "its name suggests that it numbers something")
