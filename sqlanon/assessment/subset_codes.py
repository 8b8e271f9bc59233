"""Coded: a table as one frequency set of packed codes, from which any set of columns is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.hierarchy.layout import WORD_BITS, Field, field_masks, packed
from sqlanon.query.assess import risk
from sqlanon.query.encoding import encode

Subset = int
"""A set of columns: a bit for each, by its number."""


def members(subset: Subset) -> list[int]:
    """The columns of a set, in order."""
    return [number for number in range(subset.bit_length()) if subset >> number & 1]


@dataclass(frozen=True, slots=True)
class SubsetCodes:
    """A table as the frequency set of all its quasi-identifiers.

    Args:
        table: Words of the code and sizes, one row per class, and per person where one is in
            several classes.
        rows: Number of rows.
        names: The quasi-identifiers.
        values: Per quasi-identifier its distinct values, NULL among them.
        fields: Per quasi-identifier the bits of the code that hold it.
        words: Number of words that hold quasi-identifiers.
        person: The word that says whose record a row is; None where sizes add up, since records
            are counted, or persons who are in one class each.
        records: Records of the table.
        total: What is counted: records, or persons.
    """

    table: exp.Table
    rows: int
    names: tuple[str, ...]
    values: tuple[int, ...]
    fields: tuple[Field, ...]
    words: int
    person: str | None
    records: int
    total: int

    @property
    def whole(self) -> Subset:
        """All quasi-identifiers."""
        return (1 << len(self.names)) - 1

    def masks(self, subset: Subset) -> tuple[int, ...]:
        """Per word the bits that tell the classes of a subset apart."""
        return field_masks((self.fields[number] for number in members(subset)), self.words)


def code_table(
    engine: Engine, table: exp.Table, names: Sequence[str], entity: str | None
) -> SubsetCodes:
    """Numbers the values of every column and writes the frequency set of them all.

    Args:
        engine: Where the table lives; the temporary tables stay until its workspace ends.
        table: The table.
        names: The quasi-identifiers.
        entity: A column that says whose record it is; None where records are counted.

    Raises:
        SourceError: The table changed while it was read.
    """
    columns = [*names, *([] if entity is None else [entity])]
    held = {name: _numbered(engine, table, name) for name in columns}
    values = tuple(held[name].distinct for name in names)
    fields = tuple(packed(values))
    words = 1 + max(place.word for place in fields)
    places = [*fields, *([] if entity is None else [Field(words, 0, WORD_BITS)])]
    width = 1 + max(place.word for place in places)
    maps = {
        name: risk.code_map(held[name].table, place, width)
        for name, place in zip(columns, places, strict=True)
    }
    nullable = {name for name in columns if held[name].has_null}
    base = engine.materialize("frequency", encode.encoded(table, maps, nullable, width))
    rows, records = engine.rows(encode.extent(base))[0]
    if records != engine.rows(encode.presence(table, []))[0][0]:
        raise SourceError("the table changed while it was read; try again")
    total, person = records, None
    if entity is not None:
        total, person = held[entity].distinct, encode.word(words)
        if rows == total:
            base, person = _settled(engine, base, words), None
            rows = engine.rows(encode.extent(base))[0][0]
    return SubsetCodes(base, rows, tuple(names), values, fields, words, person, records, total)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """The distinct values of a column with their numbers."""

    table: exp.Table
    distinct: int
    has_null: bool


def _numbered(engine: Engine, table: exp.Table, name: str) -> _Numbered:
    values = engine.materialize("values", risk.numbered_values(table, name))
    distinct, present = engine.rows(encode.presence(values, [encode.VALUE]))[0]
    return _Numbered(values, distinct, present < distinct)


def _settled(engine: Engine, base: exp.Table, words: int) -> exp.Table:
    """Persons per class where nobody is in two: these add up in every roll-up, as records do."""
    return engine.materialize("frequency", risk.settled_persons(base, words))
