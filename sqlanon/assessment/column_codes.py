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
        records: Number of records.
    """

    coding: Coding
    values: tuple[int, ...]
    fields: tuple[Field, ...]
    records: int


def code_columns(
    engine: Engine, table: exp.Table, *, names: Sequence[str], entity: str | None = None
) -> ColumnCodes:
    """Numbers the values of quasi-identifiers and packs the numbers into words.

    The entity column comes last, in a word of its own. The temporary tables stay until the
    engine's workspace ends.
    """
    columns = [*names, *([] if entity is None else [entity])]
    records, *present = engine.rows(encode.presence(table, columns))[0]
    nullable = {name for name, count in zip(columns, present, strict=True) if count < records}
    made = [
        engine.materialize_counted("values", risk.numbered_values(table, name)) for name in columns
    ]
    held, counts = zip(*made, strict=True)
    fields = packed(counts[: len(names)])
    if entity is not None:
        fields.append(Field(1 + max(field.word for field in fields), 0, WORD_BITS))
    words = 1 + max(field.word for field in fields)
    maps = {
        name: risk.code_map(values, field)
        for name, values, field in zip(columns, held, fields, strict=True)
    }
    coding = Coding(maps, frozenset(nullable), words)
    return ColumnCodes(coding, counts, tuple(fields), records)
