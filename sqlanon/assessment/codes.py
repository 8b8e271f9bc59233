"""Codes: the values of columns as numbers, packed into words, and a table's frequency set of these.

One query with a join for each of a hundred columns takes the database longer to plan than all the
rest. So the records of a wide table are numbered, some columns at a time become words beside the
number, and the words are put together by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.hierarchy.layout import WORD_BITS, Field, field_masks, packed
from sqlanon.microdata.tables import CHANGED, change_fault, refuse_unsteady
from sqlanon.query import encode
from sqlanon.query.assess import risk
from sqlanon.query.classes import table_classes
from sqlanon.query.classes.table_classes import Coding, coded_rows
from sqlanon.query.syntax import rows_of
from sqlanon.sqltext import Sql

MAX_COLUMNS_AT_ONCE = 32
"""Columns above which a table is written in parts."""
COLUMNS_OF_A_PART = 16
Subset = int
"""A set of columns: a bit for each, by its number."""


@dataclass(frozen=True, slots=True)
class _ColumnCodes:
    """Columns whose values are numbered, their numbers packed into words.

    Args:
        coding: Rows of VALUE and the words per column, and which columns hold NULLs.
        values: Per column the number of distinct values, NULL among them; an entity column last.
        fields: Per column the bits of the code that hold it.
    """

    coding: Coding
    values: tuple[int, ...]
    fields: tuple[Field, ...]


def _code_columns(
    engine: Engine, table: exp.Table, *, names: Sequence[str], entity: str | None = None
) -> _ColumnCodes:
    """Numbers the values of columns; the entity column comes last, in a word of its own."""
    columns = [*names, *([] if entity is None else [entity])]
    records, *present = engine.rows(encode.presence(table, columns))[0]
    nullable = {name for name, count in zip(columns, present, strict=True) if count < records}
    made = [
        engine.materialize_counted("values", risk.numbered_values(table, name)) for name in columns
    ]
    tables, counts = zip(*made, strict=True)
    fields = packed(counts[: len(names)])
    if entity is not None:
        fields.append(Field(1 + max((field.word for field in fields), default=-1), 0, WORD_BITS))
    words = 1 + max(field.word for field in fields)
    maps = {
        name: risk.code_map(values, field)
        for name, values, field in zip(columns, tables, fields, strict=True)
    }
    return _ColumnCodes(Coding(maps, frozenset(nullable), words), counts, tuple(fields))


@dataclass(frozen=True, slots=True)
class _Parts:
    """Columns of numbered records, some at a time.

    Args:
        numbered: The numbered records.
        tables: Per part rows of the record's number and the words, and how many words.
        values: As of `_ColumnCodes`, of all parts.
        fields: As of `_ColumnCodes`, the words of all parts one after the other.
    """

    numbered: exp.Table
    tables: list[tuple[exp.Table, int]]
    values: tuple[int, ...]
    fields: tuple[Field, ...]


def _write_parts(
    engine: Engine,
    table: exp.Table,
    *,
    names: Sequence[str],
    entity: str | None = None,
    carried: Sequence[str] = (),
) -> _Parts:
    """The columns in parts, the entity as the last one; those carried are only numbered."""
    columns = [*names, *([] if entity is None else [entity]), *carried]
    numbered = engine.materialize("numbered", risk.numbered_records(table, columns))
    cells = list(map(risk.cell, range(len(columns))))
    starts = range(0, len(names), COLUMNS_OF_A_PART)
    ends = [*starts[1:], len(names)]
    codes = [
        _code_columns(engine, numbered, names=cells[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]
    if entity is not None:
        codes.append(_code_columns(engine, numbered, names=[], entity=cells[len(names)]))
    tables, fields, words = [], list[Field](), 0
    for part in codes:
        query = coded_rows(numbered, replace(part.coding, entity=risk.RECORD))
        tables.append((engine.materialize("words", query), part.coding.words))
        fields += [replace(field, word=field.word + words) for field in part.fields]
        words += part.coding.words
    values = tuple(chain.from_iterable(part.values for part in codes))
    return _Parts(numbered, tables, values, tuple(fields))


def code_rows(
    engine: Engine,
    table: exp.Table,
    *,
    names: Sequence[str],
    ranks: Mapping[str, exp.Table],
    entity: str | None,
) -> tuple[exp.Table, int]:
    """The rows of `table_classes.coded_rows`, and the number of words.

    `ranks` holds per sensitive attribute rows of VALUE and RANK. The temporary tables stay until
    the engine's workspace ends.

    Raises:
        SourceError: The table changed while it was read.
    """
    if len(names) > MAX_COLUMNS_AT_ONCE:
        carried = [*ranks, *([] if entity is None else [entity])]
        parts = _write_parts(engine, table, names=names, carried=carried)
        first = len(names)
        query = risk.wide_rows(
            parts.numbered,
            parts.tables,
            ranks={first + place: values for place, values in enumerate(ranks.values())},
            entity=None if entity is None else first + len(ranks),
        )
        words = sum(number for _, number in parts.tables)
    else:
        coding = _code_columns(engine, table, names=names).coding
        query = coded_rows(table, replace(coding, ranks=dict(ranks), entity=entity))
        words = coding.words
    rows, written = engine.materialize_counted("rows", query)
    _refuse_changed(engine, table, records=written, coded=(rows, words))
    refuse_unsteady(engine, table, [*names, *ranks, *([] if entity is None else [entity])])
    return rows, words


def _refuse_changed(
    engine: Engine, table: exp.Table, *, records: int, coded: tuple[exp.Table, int]
) -> None:
    """Refuses a table that has other records, or values that had no code, when it is read again."""
    missed = engine.rows(table_classes.without_code(*coded))[0][0]
    if missed or records != engine.rows(rows_of(table))[0][0]:
        raise SourceError(change_fault(engine, table, otherwise=CHANGED))


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
    codes: _ColumnCodes | _Parts
    query: Sql | exp.Select
    if len(names) > MAX_COLUMNS_AT_ONCE:
        codes = _write_parts(engine, table, names=names, entity=entity)
        query = risk.wide_rows(codes.numbered, codes.tables)
    else:
        codes = _code_columns(engine, table, names=names, entity=entity)
        coding = codes.coding
        query = encode.encoded(
            table, coding.maps, nullable=set(coding.nullable), words=coding.words
        )
    base, numbers, fields = engine.materialize("frequency", query), codes.values, codes.fields
    fields = fields[: len(names)]
    words = 1 + max(field.word for field in fields)
    rows, records = engine.rows(encode.extent(base))[0]
    _refuse_changed(engine, table, records=records, coded=(base, words))
    total, person, of_persons = records, None, None if entity is None else base
    if entity is not None:
        total, person = numbers[-1], encode.word(words)
        if rows == total:
            # Nobody is in two classes: persons per class add up in every roll-up, as records do.
            base = engine.materialize("frequency", risk.single_class_persons(base, words))
            person = None
            rows = engine.rows(encode.extent(base))[0][0]
    return SubsetCodes(
        table=base,
        rows=rows,
        names=tuple(names),
        values=numbers[: len(names)],
        fields=fields,
        words=words,
        person=person,
        records=records,
        total=total,
        of_persons=of_persons,
    )
