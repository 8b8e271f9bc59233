"""Spark's types as DuckDB calls them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import SourceError
from sqlanon.sqltext import name as quoted
from sqlanon.wording import listed

_SAME = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}
_WRITTEN = "__CHAR_VARCHAR_TYPE_STRING"
"""The key under which Spark keeps the type of a text that has a width."""


def type_of_field(name: str, kind: Any) -> exp.DataType:
    """A column's type.

    Args:
        name: The column, for the error.
        kind: Its type of pyspark.

    Raises:
        SourceError: DuckDB or Arrow lacks it, or it compares texts otherwise.
    """
    try:
        return type_of(_text(kind))
    except KeyError:
        written = kind.simpleString()
    raise SourceError(
        f"column {name!r} has the type {written}, which sqlanon does not read; leave it out in a "
        "view, or convert it there"
    )


def with_one_zero(frame: Any) -> Any:
    """A data frame with 0.0 for -0.0, which Sail groups as one value and tells apart in arrays.

    It is the one that was given where no column is of real numbers.
    """
    cells, has_real = [], False
    for field in frame.schema.fields:
        cell, kind = exp.to_identifier(field.name, quoted=True).sql("spark"), field.dataType
        if kind.simpleString() in ("float", "double"):
            cell, has_real = f"CAST({cell} + 0.0D AS {kind.simpleString()}) AS {cell}", True
        cells.append(cell)
    return frame.selectExpr(*cells) if has_real else frame


def padded(fields: Sequence[Any]) -> Iterator[str]:
    """What to know of columns of a fixed width."""
    names = [field.name for field in fields if field.metadata.get(_WRITTEN, "").startswith("char")]
    if names:
        yield (
            f"values of {listed(names)} have blanks up to the width of their type CHAR, "
            "as Spark reads them"
        )


def _text(kind: Any) -> str:
    """A type in DuckDB's words; a `KeyError` where there is none."""
    name = kind.simpleString()
    if hasattr(kind, "elementType"):
        return f"{_text(kind.elementType)}[]"
    if hasattr(kind, "keyType"):
        return f"MAP({_text(kind.keyType)}, {_text(kind.valueType)})"
    if hasattr(kind, "fields"):
        parts = (f"{quoted(field.name).text} {_text(field.dataType)}" for field in kind.fields)
        return f"STRUCT({', '.join(parts)})"
    if name.startswith(("char(", "varchar(")):
        return "VARCHAR"
    if name.startswith("decimal("):
        return str(name)
    # Those of months, which Arrow does not bring, have years or months in their names.
    if name.startswith(("interval day", "interval hour", "interval minute", "interval second")):
        return "INTERVAL"
    return _SAME[name]
