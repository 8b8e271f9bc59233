"""Vocabulary: what the name of a column says, by the concepts and words of `vocabulary.toml`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

from sqlanon.resources import toml_document

LANGUAGES = ("en", "de", "fr", "es")


class Hint(Enum):
    """What a name says of its column."""

    NAMES = "names a person"
    PERSON = "numbers persons"
    TEXT = "free text"
    WEIGHT = "survey weight"
    SENSITIVE = "sensitive"
    MEASURE = "score or measurement"
    KNOWN = "known to others"


@dataclass(frozen=True)
class Concept:
    """Something that columns are about.

    Args:
        hint: What follows from it.
        title: It, as part of a sentence.
        phrases: Its names, as `vocabulary.toml` writes them.
        nominal: Whether numbers in such a column are codes, without an order.
        special: Whether it is of a special category (GDPR article 9).
        lasting: Whether it stays the same of a person for life.
    """

    hint: Hint
    title: str
    phrases: tuple[str, ...]
    nominal: bool = False
    special: bool = False
    lasting: bool = False

    @cached_property
    def whole_names(self) -> frozenset[str]:
        """Its phrases written as one word."""
        return frozenset(p.strip("=").replace(" ", "") for p in self.phrases if "*" not in p)

    @cached_property
    def parts_of_names(self) -> tuple[tuple[str, ...], ...]:
        """The words of its phrases that may be a part of a name."""
        return tuple(tuple(p.split()) for p in self.phrases if not p.startswith("="))


def read_concepts(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Concept]:
    """The concepts of a vocabulary, in its order."""
    concepts = {}
    for key, table in tables.items():
        plain = {name: value for name, value in table.items() if name not in LANGUAGES}
        plain["hint"] = Hint(plain["hint"])
        concepts[key] = Concept(**plain, phrases=_of_all_languages(table))
    return concepts


def read_words(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """The lists of single words of a vocabulary."""
    return {key: frozenset(_of_all_languages(table)) for key, table in tables.items()}


def _of_all_languages(table: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(phrase for language in LANGUAGES for phrase in table.get(language, ()))


_DOCUMENT = toml_document("sqlanon.suggestion", "vocabulary.toml")
CONCEPTS = read_concepts(_DOCUMENT["concepts"])
"""By their keys; of those that both fit a name, the earlier one counts."""
_WORDS = read_words(_DOCUMENT["words"])

ADDRESS, NAME, FULL_NAME, BIRTH, POSTCODE, FAMILY = (
    CONCEPTS[key] for key in ("address", "name", "full_name", "birth", "postcode", "family")
)
PERSON, FILE, STAFF = (CONCEPTS[key] for key in ("person", "file", "staff"))
_PERSONS, _STAFF = _WORDS["persons"], _WORDS["staff"]
_NUMBERED = {PERSON.title: _PERSONS, FILE.title: _WORDS["files"], STAFF.title: _STAFF}
"""What concepts of numbers are about."""

CODES = _WORDS["codes"]
IDS = _WORDS["ids"]
YEAR_NAMES = _WORDS["years"]
RECORD_WORDS = _WORDS["ids"] | _WORDS["counts"] | _WORDS["numbers"] | _WORDS["records"]
"""Words that numbers of records are called by."""
_NUMBER_WORDS = _WORDS["ids"] | _WORDS["counts"] | _WORDS["numbers"]

_PARTING = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
# A number, a group or the contrary of something, written as one word: nbenfants, agegrp, nonsmoker.
_WITHIN = (
    re.compile(r"(?:nb|num|anz|non|n)([a-z]{4,})"),
    re.compile(r"([a-z]{3,})(?:grp|group|gruppe|cat|code|status|level|lvl)"),
)
_ITEM = re.compile(r"(?![vxy])[a-z][0-9]{1,3}[a-z]?", re.IGNORECASE)


@cache
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case, without accents, digits and small words between.

    >>> words_of("DateOfBirth"), words_of("capital-gains_2"), words_of("Número de hijos")
    (('date', 'birth'), ('capital', 'gains'), ('numero', 'hijos'))
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = [word.lower() for word in _PARTING.findall(plain)]
    return tuple([word for word in words if word not in _WORDS["small"]] or words)


@cache
def concept_of(name: str) -> Concept | None:
    """What a name is about; None where the vocabulary does not know it."""
    words = words_of(name)
    whole = "".join(words)
    within = [(match[1],) for pattern in _WITHIN if (match := pattern.fullmatch(whole))]
    is_person = any(whole == pattern.rstrip("*") for pattern in _PERSONS)
    known = next(filter(None, map(_concept, (words, *within))), None)
    return PERSON if known is None and is_person else known


def _concept(words: Sequence[str]) -> Concept | None:
    for concept in CONCEPTS.values():
        if "".join(words) in concept.whole_names:
            return concept
        if any(_stands_in(phrase, words) for phrase in concept.parts_of_names):
            return concept
        if concept is FULL_NAME and _is_name(words, _PERSONS):
            return concept
        if concept is NAME and (_is_name(words, _STAFF) or _is_birth_name(words)):
            return concept
        if concept.title in _NUMBERED and _numbers(words, _NUMBERED[concept.title]):
            return concept
    return None


def is_record_number(name: str) -> bool:
    """Whether a name says that the column numbers records, or is empty, as that of row numbers."""
    words = words_of(name)
    if not words:
        return not name.strip() or name.strip().isdigit() or name.startswith(("_", "#"))
    return not _WORDS["ids"].isdisjoint((words[0], words[-1])) or set(words) <= RECORD_WORDS


def numbers_something(name: str) -> bool:
    """Whether a name is that of the number of something, or of somebody.

    It ends in a word for a number or for a person, as store_no, StoreNr and next_patient do, or
    begins with id. Plurals before a word that also counts are no numbers of one.
    """
    words = words_of(name)
    is_glued = any(word.endswith(end) for word in words[-1:] for end in _WORDS["endings"])
    if len(words) < 2 or is_glued:
        return is_glued
    if words[-1] in _WORDS["counts"]:
        return not words[-2].endswith("s")
    return (
        words[-1] in _NUMBER_WORDS
        or words[0] in _WORDS["ids"]
        or any(words[-1] == pattern.rstrip("*") for pattern in _PERSONS)
    )


def is_of_thing(name: str) -> bool:
    """Whether a name has a word for something that is no person and has a name, too."""
    return any(_is_one_of(_WORDS["things"], word) for word in words_of(name))


def is_of_staff(name: str) -> bool:
    """Whether a name has a word for somebody beside the person whom records are about."""
    return any(_is_one_of(_STAFF, word) for word in words_of(name))


def names_staff(name: str) -> bool:
    """Whether a name ends in such a word, and so is that of somebody."""
    return any(_is_one_of(_STAFF, word) for word in words_of(name)[-1:])


def is_item(name: str) -> bool:
    """Whether a name is that of an item of a questionnaire, as b12 or e2b.

    That of a variable without a meaning, as x1, is none.
    """
    return _ITEM.fullmatch(name) is not None


def is_label(name: str) -> bool:
    """Whether the whole name says that the column is what others are to predict."""
    words = words_of(name)
    return len(words) == 1 and words[0] in _WORDS["labels"]


def _numbers(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether a name is that of the number of somebody or something.

    A word for it stands beside one for a number, before or behind it, or is written together with
    one. Plurals beside a word that also counts are no numbers of one.
    """
    if len(words) == 1:
        [word] = words
        return any(
            word.endswith(end) and _is_one_of(kinds, word.removesuffix(end))
            for end in _NUMBER_WORDS
        )
    return any(
        number in _NUMBER_WORDS | {"code", "codigo"}
        and _is_one_of(kinds, kind)
        and not (number in _WORDS["counts"] and kind.endswith("s"))
        for pair in pairwise(words)
        for number, kind in (pair, pair[::-1])
    )


def _is_name(words: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether a word for a name stands beside one for somebody."""
    return any(
        name in _WORDS["names"] and not kind.endswith("s") and _is_one_of(kinds, kind)
        for pair in pairwise(words)
        for name, kind in (pair, pair[::-1])
    )


def _is_birth_name(words: Sequence[str]) -> bool:
    """Whether a word for a name stands beside one for a birth, and nothing else does."""
    return len(words) == 2 and any(
        name in _WORDS["names"] and _concept((kind,)) is BIRTH
        for name, kind in (words, words[::-1])
    )


def _stands_in(phrase: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a phrase stand among others one after the other."""
    return any(
        all(_is(pattern, words[start + place]) for place, pattern in enumerate(phrase))
        for start in range(len(words) - len(phrase) + 1)
    )


def _is_one_of(patterns: frozenset[str], word: str) -> bool:
    return any(_is(pattern, word) for pattern in patterns)


def _is(pattern: str, word: str) -> bool:
    """Whether a word is one of the vocabulary, or its plural."""
    if pattern.endswith("*"):
        return word.startswith(pattern[:-1])
    if pattern.startswith("*"):
        return word.endswith(pattern[1:])
    return word in (pattern, f"{pattern}s")
