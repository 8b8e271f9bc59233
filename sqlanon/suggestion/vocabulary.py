"""Vocabulary: what the name of a column says, by known concepts and by single words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from sqlanon.suggestion.concepts import BIRTH, CONCEPTS, FILE, NAME, PERSON, STAFF, Concept


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ID_WORDS = _set("id ids uuid guid identifier ident identifiant identificador kennung")
COUNTING = _set("number num no numero nb")
"""Words that stand for a number of persons, too, where those are plural: number of clients."""
NUMBER_WORDS = ID_WORDS | COUNTING | _set("nr nummer key ref reference zeichen schluessel")
"""Words that numbers of somebody or something are called by."""
RECORD_WORDS = NUMBER_WORDS | _set(
    "code rowid index idx rownum row seq sequence lfdnr lfd pk record case unnamed"
)
"""Words that numbers of records are called by; a name that ends in ID_WORDS is one, too."""
PERSONS = _set(
    "person* patient* paciente* pat pt subject participant* proband* respondent* resp panelist "
    "customer* cust client* cliente* kunde* kd member* mitglied* user* usuario* utilisateur* "
    "nutzer* employee* emp empl staff mitarbeiter* salarie empleado* worker student* "
    "etudiant* estudiante* alumno* eleve pupil schueler* insured versichert* assure* asegurado* "
    "citizen voter taxpayer donor borrower debtor applicant candidate visitor passenger guest "
    "subscriber abonne* personal"
)
"""Whom records are about. A word that ends in `*` stands for compounds that begin so."""
FILES = _set(
    "account acct konto compte cuenta case fall akte* vorgang* dossier expediente chart historia "
    "contract vertrag* contrat* contrato policy police poliza household* haushalt* hh"
)
"""What is kept for a person, or for few."""
BESIDE = _set(
    "physician doctor surgeon nurse therapist medecin medico arzt hausarzt aerztin pfleger* "
    "manager supervisor vorgesetzt* teacher lehrer* professor advisor adviser berater* betreuer* "
    "contact kontaktperson ansprechpartner* sachbearbeiter* responsable encargado agent clerk"
)
"""Persons beside those whom records are about."""
KINDS = {PERSON: PERSONS, FILE: FILES, STAFF: BESIDE}
"""What concepts of numbers are about."""
LABELS = _set(
    "class label target outcome result response y klasse ziel zielvariable ergebnis classe "
    "etiquette cible resultat clase etiqueta objetivo resultado survived default churn"
)
"""Names that say, each as a whole, that the column is what others are to predict."""
CODES = _set("code codes recode coded cod kode codigo category cat type typ kategorie")
"""Words that say that numbers are codes, without an order."""
NAMING = _set("name nom nombre")
_PARTING = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
# A number, a group or the contrary of something, written as one word: nbenfants, agegrp, nonsmoker.
_WITHIN = (
    re.compile(r"(?:nb|num|anz|non|n)([a-z]{4,})"),
    re.compile(r"([a-z]{3,})(?:grp|group|gruppe|cat|code|status|level|lvl)"),
)
YEAR_WORDS = _set("year yr jahr annee ano")
"""Words that say that numbers are years of the calendar, where they look so."""
_ITEM = re.compile(r"(?![vxy])[a-z][0-9]{1,3}[a-z]?", re.IGNORECASE)
_FILLERS = _set(
    "of the a an in on at by for to de la le les du des d l el los las del y et und der die das "
    "von im am zur zum s self"
)


@cache
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case, without accents, digits and small words between.

    >>> words_of("DateOfBirth"), words_of("capital-gains_2"), words_of("Número de hijos")
    (('date', 'birth'), ('capital', 'gains'), ('numero', 'hijos'))
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    found = [word.lower() for word in _PARTING.findall(plain)]
    kept = [word for word in found if word not in _FILLERS]
    return tuple(kept or found)


@cache
def concept_of(name: str) -> Concept | None:
    """What a name is about; None where the vocabulary does not know it."""
    words = words_of(name)
    found = _concept(words)
    if found is not None:
        return found
    whole = "".join(words)
    within = [each[1] for pattern in _WITHIN if (each := pattern.fullmatch(whole))]
    return next(filter(None, (_concept((word,)) for word in within)), None)


def _concept(words: Sequence[str]) -> Concept | None:
    whole = "".join(words)
    for concept, names, phrases in _index():
        if whole in names or any(_stands_in(phrase, words) for phrase in phrases):
            return concept
        if concept is NAME and _is_name(words):
            return concept
        if concept in KINDS and _numbers(words, KINDS[concept]):
            return concept
    return None


def is_record_number(name: str) -> bool:
    """Whether a name says that the column numbers records, or is empty, as that of row numbers."""
    words = words_of(name)
    if not words:
        return not name.strip() or name.strip().isdigit() or name.startswith(("_", "#"))
    return words[-1] in ID_WORDS or words[0] in ID_WORDS or set(words) <= RECORD_WORDS


def numbers_something(name: str) -> bool:
    """Whether a name ends in a word for a number, as store_no and StoreNr do, or begins with id."""
    words = words_of(name)
    return len(words) > 1 and (words[-1] in NUMBER_WORDS or words[0] in ID_WORDS)


def is_of_staff(name: str) -> bool:
    """Whether a name has a word for somebody beside the person whom records are about."""
    return any(_is_one_of(BESIDE, word) for word in words_of(name))


def names_staff(name: str) -> bool:
    """Whether a name ends in such a word, and so is that of somebody."""
    return any(_is_one_of(BESIDE, word) for word in words_of(name)[-1:])


def _numbers(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether a name is that of the number of somebody or something.

    A word for it stands beside one for a number, before or behind it, or is written together with
    one. Plurals beside a word that also counts are no numbers of one.
    """
    if len(words) == 1:
        [word] = words
        return any(
            word.endswith(end) and _is_one_of(kinds, word.removesuffix(end)) for end in NUMBER_WORDS
        )
    return any(
        number in NUMBER_WORDS | {"code", "codigo"}
        and _is_one_of(kinds, kind)
        and not (number in COUNTING and kind.endswith("s"))
        for pair in pairwise(words)
        for number, kind in (pair, pair[::-1])
    )


def _is_name(words: Sequence[str]) -> bool:
    """Whether a word for a name stands beside one for somebody, or for a birth."""
    return any(
        name in NAMING
        and not kind.endswith("s")
        and (_is_one_of(PERSONS | BESIDE, kind) or (len(words) == 2 and _concept((kind,)) is BIRTH))
        for pair in pairwise(words)
        for name, kind in (pair, pair[::-1])
    )


def _is_one_of(patterns: frozenset[str], word: str) -> bool:
    return any(_is(pattern, word) for pattern in patterns)


def is_item(name: str) -> bool:
    """Whether a name is that of an item of a questionnaire, as b12 or e2b.

    That of a variable without a meaning, as x1, is none.
    """
    return _ITEM.fullmatch(name) is not None


def is_label(name: str) -> bool:
    """Whether the whole name says that the column is what others are to predict."""
    words = words_of(name)
    return len(words) == 1 and words[0] in LABELS


@cache
def _index() -> tuple[tuple[Concept, frozenset[str], tuple[tuple[str, ...], ...]], ...]:
    """Per concept its phrases written as one word, and as words."""
    found = []
    for concept in CONCEPTS:
        given = [phrase.strip() for phrase in concept.phrases.split(",")]
        whole = {phrase.strip("=").replace(" ", "") for phrase in given if "*" not in phrase}
        phrases = tuple(tuple(phrase.split()) for phrase in given if not phrase.startswith("="))
        found.append((concept, frozenset(whole), phrases))
    return tuple(found)


def _stands_in(phrase: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a phrase stand among others one after the other."""
    last = len(words) - len(phrase)
    return any(
        all(_is(own, words[start + place]) for place, own in enumerate(phrase))
        for start in range(last + 1)
    )


def _is(pattern: str, word: str) -> bool:
    """Whether a word is one of the vocabulary, or its plural."""
    if pattern.endswith("*"):
        return word.startswith(pattern[:-1])
    if pattern.startswith("*"):
        return word.endswith(pattern[1:])
    return word in (pattern, f"{pattern}s")
