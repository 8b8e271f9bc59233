"""Spellings: values that are one for people and several for a database."""

from __future__ import annotations

import unicodedata
from collections import Counter

from sqlglot import exp

from sqlanon.microdata.binding import Subject
from sqlanon.wording import counted

DIGITS = 12  # significant ones; sums such as 0.1 + 0.2 differ from 0.3 in the 17th
_REAL = {exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE}


def spelling_notes(subject: Subject) -> list[str]:
    """Notes on quasi-identifiers with values that look alike but count as different.

    Texts that differ in case, blanks or Unicode form alone, and numbers that differ after `DIGITS`
    digits. Each spelling has classes of its own, so more is generalized than need be, and who is
    told apart by a spelling is told apart by an accident.
    """
    notes = []
    for name, tree in zip(subject.names, subject.trees, strict=True):
        key = _number if subject.columns[name].this in _REAL else _text
        spelt = Counter(key(leaf) for leaf in tree.leaves if leaf is not None)
        several = sum(1 for spellings in spelt.values() if spellings > 1)
        if several:
            notes.append(
                f"column {name!r} has {counted(several, 'value')} in several spellings (case, "
                "blanks, Unicode form or last digits), which count as different; make them one "
                "in the table before it is anonymized"
            )
    return notes


def _text(value: str) -> str:
    if value.isascii():
        return " ".join(value.lower().split())
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def _number(value: str) -> str:
    try:
        return f"{float(value):.{DIGITS}g}"
    except ValueError:
        return value  # a leaf that the column cannot hold
