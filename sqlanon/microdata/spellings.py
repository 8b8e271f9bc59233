"""Spellings: values that are one for people and several for a database."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.microdata.binding import Subject
from sqlanon.query.encode import distinct_values, spelling_counts
from sqlanon.query.syntax import column, nested, select, varchar
from sqlanon.reports.findings import RULES, Finding
from sqlanon.wording import counted

SIGNIFICANT_DIGITS = 12  # sums such as 0.1 + 0.2 differ from 0.3 in the 17th
COLUMNS_PER_QUERY = 8  # columns that a query looks at
VALUES_PER_LOOK = 10_000  # values between two looks at the time limit
_REAL = {exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE}
_TEXT = exp.DataType.TEXT_TYPES
_MEANING = {
    "sensitive": "; a class that holds one value in several spellings counts as diverse",
    "entity": "; a person with several counts as several",
}


def spelling_notes(subject: Subject) -> list[str]:
    """Notes on quasi-identifiers with values that look alike but count as different.

    Texts that differ in case, blanks or Unicode form alone, and numbers that differ after
    `SIGNIFICANT_DIGITS`. Each spelling has classes of its own, so more is generalized than need be,
    and who is told apart by a spelling is told apart by an accident.
    """
    notes = []
    for name, tree in zip(subject.names, subject.trees, strict=True):
        key = _number if subject.columns[name].this in _REAL else _text
        several = _several(map(key, (leaf for leaf in tree.leaves if leaf is not None)))
        notes += [finding.note for finding in _findings(name, several, role="quasi-identifier")]
    return notes


def spelling_findings(
    engine: Engine,
    table: exp.Table,
    *,
    columns: Mapping[str, exp.DataType],
    roles: Mapping[str, Sequence[str]],
) -> list[Finding]:
    """The same as findings about the columns of some roles, from the table alone.

    Args:
        engine: Where the table lives.
        table: The table.
        columns: Its columns and their types.
        roles: Columns by what they are: `quasi-identifier`, `sensitive` or `entity`.
    """
    named = [name for names in roles.values() for name in names]
    texts = [name for name in named if columns[name].this in _TEXT]
    reals = [name for name in named if columns[name].this in _REAL]
    counts: dict[str, int] = {}
    for start in range(0, len(texts) + len(reals), COLUMNS_PER_QUERY):
        batch = [*texts, *reals][start : start + COLUMNS_PER_QUERY]
        text_columns, real_columns = ([n for n in batch if n in kind] for kind in (texts, reals))
        query = spelling_counts(table, text_columns, reals=real_columns, digits=SIGNIFICANT_DIGITS)
        for place, several, foreign in engine.rows(query):
            name = batch[place]
            # Only Python knows which forms of a letter are one.
            counts[name] = (
                _several(map(_text, _values(engine, table, name=name))) if foreign else several
            )
    return [
        finding
        for role, names in roles.items()
        for name in names
        for finding in _findings(name, counts.get(name, 0), role=role)
    ]


def _values(engine: Engine, table: exp.Table, *, name: str) -> Iterator[str]:
    values = nested(distinct_values(table, name), "held")
    rows = engine.rows(select([varchar(column("value"))], values))
    for place, (value,) in enumerate(rows):
        if place % VALUES_PER_LOOK == 0:
            engine.deadline.check()
        if value is not None:
            yield str(value)


def _several(keys: Iterable[str]) -> int:
    """How many values have several spellings."""
    return sum(1 for spellings in Counter(keys).values() if spellings > 1)


def _findings(name: str, several: int, *, role: str) -> list[Finding]:
    if not several:
        return []
    what = "column" if role == "quasi-identifier" else f"{role} column"
    message = (
        f"{what} {name!r} has {counted(several, 'value')} in several spellings (case, blanks, "
        f"Unicode form, digits), which count as different{_MEANING.get(role, '')}"
    )
    return [RULES["spellings"].finding(message, column=name)]


def _text(value: str) -> str:
    if value.isascii():
        return " ".join(value.lower().split())
    plain = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    return "".join(str(unicodedata.decimal(letter, letter)) for letter in plain)


def _number(value: str) -> str:
    try:
        return f"{float(value):.{SIGNIFICANT_DIGITS}g}"
    except ValueError:
        return value  # a leaf that the column cannot hold
