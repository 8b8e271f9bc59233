"""A table as one frequency set of packed codes, from which any set of columns is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assessment.column_codes import CHANGED, code_columns
from sqlanon.assessment.wide_codes import WIDE, CodedColumns, wide_frequency_set
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.hierarchy.layout import Field, field_masks
from sqlanon.microdata.tables import change_fault
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
        of_persons: Words, the person and sizes, one row per class and person; None where records
            are counted.
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
    of_persons: exp.Table | None = None

    @property
    def whole(self) -> Subset:
        """All quasi-identifiers."""
        return (1 << len(self.names)) - 1

    def masks(self, subset: Subset) -> tuple[int, ...]:
        """Per word the bits that tell the classes of a subset apart."""
        return field_masks((self.fields[number] for number in members(subset)), self.words)


def code_table(
    engine: Engine, table: exp.Table, *, names: Sequence[str], entity: str | None
) -> SubsetCodes:
    """Numbers the values of every column and writes the frequency set of them all.

    Persons are counted where an entity column is given. The temporary tables stay until the
    engine's workspace ends.

    Raises:
        SourceError: The table changed while it was read.
    """
    base, numbers, places = (
        wide_frequency_set(engine, table, names=names, entity=entity)
        if len(names) > WIDE
        else _frequency_set(engine, table, names=names, entity=entity)
    )
    fields = places[: len(names)]
    words = 1 + max(field.word for field in fields)
    rows, records = engine.rows(encode.extent(base))[0]
    if records != engine.rows(encode.presence(table, []))[0][0]:
        raise SourceError(change_fault(engine, table, otherwise=CHANGED))
    total, person, of_persons = records, None, None if entity is None else base
    if entity is not None:
        total, person = numbers[-1], encode.word(words)
        if rows == total:
            # Nobody is in two classes: persons per class add up in every roll-up, as records do.
            base = engine.materialize("frequency", risk.single_class_persons(base, words))
            person = None
            rows = engine.rows(encode.extent(base))[0][0]
    values = numbers[: len(names)]
    counts = words, person, records, total, of_persons
    return SubsetCodes(base, rows, tuple(names), values, fields, *counts)


def _frequency_set(
    engine: Engine, table: exp.Table, *, names: Sequence[str], entity: str | None
) -> CodedColumns:
    """The frequency set of few columns, in one query."""
    codes = code_columns(engine, table, names=names, entity=entity)
    coding = codes.coding
    query = encode.encoded(table, coding.maps, nullable=set(coding.nullable), words=coding.words)
    return CodedColumns(engine.materialize("frequency", query), codes.values, codes.fields)
