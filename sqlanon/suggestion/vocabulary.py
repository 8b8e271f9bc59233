"""Vocabulary: what the name of a column says, by known concepts and by single words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from sqlanon.suggestion.concepts import CONCEPTS, Concept


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


RECORD_WORDS = _set(
    "id ids uuid guid key rowid index idx rownum row nr no number num nummer numero ref code "
    "reference kennung schluessel identifier ident identifiant identificador seq sequence lfdnr "
    "lfd pk record case unnamed"
)
"""Words that numbers of records are called by; a name that ends in ID_WORDS is one, too."""
ID_WORDS = _set("id ids uuid guid identifier ident identifiant identificador kennung")
LABELS = _set(
    "class label target outcome result response y klasse ziel zielvariable ergebnis classe "
    "etiquette cible resultat clase etiqueta objetivo resultado survived default churn"
)
"""Names that say, each as a whole, that the column is what others are to predict."""
CODES = _set("code codes recode coded cod kode codigo category cat type typ kategorie")
"""Words that say that numbers are codes, without an order."""
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
    return None


def is_record_number(name: str) -> bool:
    """Whether a name says that the column numbers records, or is empty, as that of row numbers."""
    words = words_of(name)
    if not words:
        return not name.strip() or name.strip().isdigit() or name.startswith(("_", "#"))
    return words[-1] in ID_WORDS or words[0] in ID_WORDS or set(words) <= RECORD_WORDS


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
