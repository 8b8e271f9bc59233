"""Column codes: the values of columns as numbers, packed into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.hierarchy.layout import WORD_BITS, Field, packed
from sqlanon.query.assess import risk
from sqlanon.query.classes.table_classes import Coding
from sqlanon.query.encoding import encode

CHANGED = "the table changed while it was read; try again"


@dataclass(frozen=True, slots=True)
class ColumnCodes:
    """Columns whose values are numbered, their numbers packed into words.

    Args:
        coding: Rows of VALUE and the words per column, and which columns hold NULLs.
        values: Per column the number of distinct values, NULL among them.
        fields: Per column the bits of the code that hold it.
    """

    coding: Coding
    values: tuple[int, ...]
    fields: tuple[Field, ...]


def code_columns(
    engine: Engine, table: exp.Table, *, names: Sequence[str], entity: str | None = None
) -> ColumnCodes:
    """Numbers the values of quasi-identifiers and packs the numbers into words.

    The entity column comes last, in a word of its own. The temporary tables stay until the
    engine's workspace ends.
    """
    columns = [*names, *([] if entity is None else [entity])]
    held, counts, nullable = [], [], set()
    for name in columns:
        values = engine.materialize("values", risk.numbered_values(table, name))
        distinct, present = engine.rows(encode.presence(values, [encode.VALUE]))[0]
        held.append(values)
        counts.append(distinct)
        if present < distinct:
            nullable.add(name)
    fields = packed(counts[: len(names)])
    if entity is not None:
        fields.append(Field(1 + max(field.word for field in fields), 0, WORD_BITS))
    words = 1 + max(field.word for field in fields)
    maps = {
        name: risk.code_map(values, field, words=words)
        for name, values, field in zip(columns, held, fields, strict=True)
    }
    return ColumnCodes(Coding(maps, frozenset(nullable), words), tuple(counts), tuple(fields))
