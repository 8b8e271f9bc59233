"""A wide table in packed codes, written a few columns at a time.

One query with a join for each of a hundred columns takes the database longer to plan than all the
rest. So records are numbered, some columns at a time become words beside the number, and the words
are put together by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from sqlglot import exp

from sqlanon.assessment.column_codes import code_columns
from sqlanon.engine.base import Engine
from sqlanon.hierarchy.layout import WORD_BITS, Field, packed
from sqlanon.query.assess import risk
from sqlanon.query.classes import table_classes

WIDE = 32
"""Columns above which a table is written in parts."""
TOGETHER = 16
"""Columns of a part."""
RANKED = 100_000
"""Records up to which ranks are had sooner by sorting each column than by joining its values."""


class CodedColumns(NamedTuple):
    """Rows of the words of a code and `size`, with what the words hold.

    Args:
        table: The rows.
        values: Per column the number of distinct values, NULL among them; an entity column last.
        fields: Per column the bits of the code that hold it.
    """

    table: exp.Table
    values: tuple[int, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """Some columns of every record: rows of its number and their words."""

    table: exp.Table
    values: tuple[int, ...]
    fields: tuple[Field, ...]

    @property
    def words(self) -> int:
        """Number of words."""
        return 1 + max(field.word for field in self.fields)


@dataclass(frozen=True, slots=True)
class _Parts:
    """All columns in parts, and the numbered records that they were written from."""

    numbered: exp.Table
    parts: tuple[_Part, ...]

    @property
    def words(self) -> int:
        """Number of words of all parts."""
        return sum(part.words for part in self.parts)

    @property
    def tables(self) -> list[tuple[exp.Table, int]]:
        """The table of every part, and its number of words."""
        return [(part.table, part.words) for part in self.parts]


def wide_frequency_set(
    engine: Engine, table: exp.Table, *, names: Sequence[str], entity: str | None
) -> CodedColumns:
    """The frequency set of many columns; a word of its own holds the entity, and comes last.

    The temporary tables stay until the engine's workspace ends.
    """
    written = _written(engine, table, names=names, carried=[] if entity is None else [entity])
    if entity is not None:
        person = _ranked(engine, written.numbered, [len(names)])
        person = replace(person, fields=(Field(0, 0, WORD_BITS),))
        written = replace(written, parts=(*written.parts, person))
    fields: list[Field] = []
    words = 0
    for part in written.parts:
        fields += [replace(field, word=field.word + words) for field in part.fields]
        words += part.words
    query = risk.sized(written.numbered, written.tables)
    values = tuple(chain.from_iterable(part.values for part in written.parts))
    return CodedColumns(engine.materialize("frequency", query), values, tuple(fields))


def wide_rows(
    engine: Engine,
    table: exp.Table,
    *,
    names: Sequence[str],
    ranks: Mapping[str, exp.Table],
    entity: str | None,
) -> tuple[exp.Table, int]:
    """The rows of `table_classes.coded_rows` for many columns, and the number of words.

    The temporary tables stay until the engine's workspace ends.
    """
    carried = [*ranks, *([] if entity is None else [entity])]
    written = _written(engine, table, names=names, carried=carried)
    first = len(names)
    places = {first + place: held for place, held in enumerate(ranks.values())}
    person = None if entity is None else first + len(ranks)
    query = risk.carrying(written.numbered, written.tables, ranks=places, entity=person)
    return engine.materialize("rows", query), written.words


def _written(
    engine: Engine, table: exp.Table, *, names: Sequence[str], carried: Sequence[str]
) -> _Parts:
    """The columns in parts; those carried are only numbered, behind them."""
    query = risk.numbered_records(table, [*names, *carried])
    numbered, records = engine.materialize_counted("numbered", query)
    write = _ranked if records <= RANKED else _joined
    starts = range(0, len(names), TOGETHER)
    divided = (range(start, min(start + TOGETHER, len(names))) for start in starts)
    return _Parts(numbered, tuple(write(engine, numbered, part) for part in divided))


def _ranked(engine: Engine, numbered: exp.Table, part: Sequence[int]) -> _Part:
    """Columns as the ranks of their values, which need no join."""
    ranks = engine.materialize("ranks", risk.ranked_columns(numbered, part))
    values = engine.rows(risk.highest_ranks(ranks, part))[0]
    fields = tuple(packed(values))
    words = engine.materialize("words", risk.packed_ranks(ranks, part, fields=fields))
    engine.drop(ranks)
    return _Part(words, values, fields)


def _joined(engine: Engine, numbered: exp.Table, part: Sequence[int]) -> _Part:
    """Columns as the numbers of their values, joined by value."""
    codes = code_columns(engine, numbered, names=[risk.cell(number) for number in part])
    coding = replace(codes.coding, entity=risk.RECORD)
    words = engine.materialize("words", table_classes.coded_rows(numbered, coding))
    return _Part(words, codes.values, codes.fields)
