"""Formats: how a column is written to a file, as itself, as an exact decimal or as text.

What a file's format has no type for, or a narrower one that DuckDB would round or shift values to
without a word, is written as text; so is what other readers take for another value, such as an
infinite date, which they read as a day of the year 5,881,580.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from sqlanon.query.syntax import TEXT, column, is_nested, is_unknown, is_zoned, text_of, varchar
from sqlanon.sqlglot_version import type_id
from sqlanon.sqltext import Sql, name, render

Manner = Literal["itself", "decimal", "text"]

_Type = exp.DataType.Type
_WIDE = {_Type.INT128, _Type.UINT128}
_DECIMAL = exp.DataType.build("DECIMAL(38, 0)", dialect="duckdb")
_NINES = "9" * 38
_FINITE = {
    _Type.DATE,
    _Type.TIMESTAMP,
    _Type.TIMESTAMPNTZ,
    _Type.TIMESTAMP_S,
    _Type.TIMESTAMP_MS,
    _Type.TIMESTAMP_NS,
}
_COARSE = {_Type.TIMESTAMP_S, _Type.TIMESTAMP_MS}
_TIMES = {"TIME", "TIME_NS"}
_ALWAYS_TEXT = {"BIGNUM", "BIT", "TIMETZ", "GEOMETRY", "VARIANT", "NULL"}
_AS_TEXT: Mapping[str, frozenset[str]] = {
    # An INTERVAL of Parquet has no microseconds and no sign; a UNION becomes a STRUCT.
    ".parquet": frozenset({*_ALWAYS_TEXT, "INTERVAL", "UNION"}),
    ".arrow": frozenset({*_ALWAYS_TEXT, "UUID"}),
}
_LONGEST_HOURS = 2_000_000
"""Hours of an INTERVAL that surely fit into the 64 bits of nanoseconds that Arrow has."""
_ENDLESS, _MIDNIGHT = "infinity", "24:00:00"
"""Texts of values of time that other readers take for others."""


@dataclass(frozen=True, slots=True)
class Written:
    """How a column is written.

    Args:
        value: What is written of a record.
        kind: Its type when it is read back.
        manner: What became of it.
    """

    value: exp.Expr
    kind: exp.DataType
    manner: Manner = "itself"


def is_text_file(ending: str) -> bool:
    """Whether every value of a format is text."""
    return ending.startswith(".csv")


def written(name: str, kind: exp.DataType, *, ending: str, fits: bool = True) -> Written:
    """How a column of a type is written to a file, told whether all its values fit: see `fit`.

    Enumerations are text by now. A database keeps every type.
    """
    value, stored = column(name), _stored_type(kind, ending)
    if ending == ".duckdb":
        return Written(value, kind)
    if is_text_file(ending):
        return _written_as_text(value, kind)
    if not fits or _is_text(kind, ending):
        return Written(text_of(value, kind), TEXT, "text")
    if stored == kind:
        return Written(value, kind)
    return Written(exp.cast(value, stored), stored, "decimal" if _is_wide(kind) else "itself")


def _written_as_text(value: exp.Expr, kind: exp.DataType) -> Written:
    """How a column is written where all is text; what is not read back as its type is called so."""
    if may_merge(kind) or is_unknown(kind):
        return Written(text_of(value, kind), TEXT, "text")
    shown = text_of(value, kind) if is_zoned(kind) else value
    return Written(shown, kind, "text" if kind.this == _Type.VARBINARY else "itself")


def fit(name: str, kind: exp.DataType, *, ending: str) -> exp.Expr | None:
    """Whether every value of a column fits the type that a format has for it, as an aggregate.

    None where its type alone says so.
    """
    if ending == ".duckdb" or is_text_file(ending) or _is_text(kind, ending):
        return None
    conditions = _conditions(column(name), kind, ending=ending)
    if not conditions:
        return None
    every = exp.LogicalAnd(this=exp.and_(*conditions))
    return exp.Coalesce(this=every, expressions=[exp.true()])


def _conditions(value: exp.Expr, kind: exp.DataType, *, ending: str) -> list[exp.Expr]:
    """What must hold of each value that a format's own type shall keep."""
    conditions: list[exp.Expr] = []
    if kind.this in _WIDE:
        least = "0" if kind.this == _Type.UINT128 else f"-{_NINES}"
        low, high = (exp.cast(exp.Literal.string(end), kind) for end in (least, _NINES))
        conditions.append(exp.Between(this=value, low=low, high=high))
    elif _is_wide(kind):
        # A failed part of a nested value is NULL in the first cast, and fails the second.
        tried = exp.TryCast(this=exp.TryCast(this=value, to=_stored_type(kind, ending)), to=kind)
        conditions.append(exp.NullSafeEQ(this=tried, expression=value))
    if is_nested(kind):
        conditions += [_lacks(value, sign) for sign in (_ENDLESS, _MIDNIGHT)]
    elif kind.this in _FINITE:
        conditions.append(exp.Anonymous(this="ISFINITE", expressions=[value]))
    elif is_zoned(kind):
        # Not every such type has ISFINITE.
        conditions.append(_lacks(value, _ENDLESS))
    elif type_id(kind) in _TIMES:
        midnight = exp.cast(exp.Literal.string(_MIDNIGHT), kind)
        conditions.append(exp.NEQ(this=value, expression=midnight))
    elif kind.this == _Type.INTERVAL:
        hours = exp.Abs(this=exp.Extract(this=exp.var("HOUR"), expression=value))
        conditions.append(exp.LTE(this=hours, expression=exp.Literal.number(_LONGEST_HOURS)))
    return conditions


def merged(source: exp.Table, attribute: str, *, kind: exp.DataType) -> Sql:
    """Number of texts that stand for more than one value of a column."""
    return render(
        "publish/merged_texts",
        written=text_of(column("value"), kind),
        subject=name(attribute),
        source=source,
    )


def may_merge(kind: exp.DataType) -> bool:
    """Whether values of a type that differ may be one text: 1 and '1' of a VARIANT or a UNION."""
    return is_nested(kind) or kind.this == _Type.GEOMETRY


def _is_text(kind: exp.DataType, ending: str) -> bool:
    """Whether a type is text in a format, or holds a part for which nothing else will do."""
    text_types = _AS_TEXT[ending]
    parts = [part for part in kind.find_all(exp.DataType) if part is not kind]
    return (
        type_id(kind) in text_types
        or any(type_id(part) in {*text_types, "INTERVAL"} for part in parts)
        or any(map(is_unknown, kind.find_all(exp.DataType)))
    )


def _stored_type(kind: exp.DataType, ending: str) -> exp.DataType:
    """The type that a format has in place of a type.

    Wide integers are decimals; Parquet has no arrays, and reads whole seconds as microseconds.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.this in _WIDE:
            return _DECIMAL.copy()
        # DuckDB writes a NULL among arrays so that other readers find the file broken.
        if isinstance(node, exp.DataType) and node.args.get("values") and ending == ".parquet":
            node.set("values", None)
        if isinstance(node, exp.DataType) and node.this in _COARSE and ending == ".parquet":
            return exp.DataType(this=_Type.TIMESTAMP)
        return node

    stored = kind.transform(replaced)
    assert isinstance(stored, exp.DataType)
    return stored


def _is_wide(kind: exp.DataType) -> bool:
    return any(part.this in _WIDE for part in kind.find_all(exp.DataType))


def _lacks(value: exp.Expr, sign: str) -> exp.Expr:
    condition = exp.Like(this=varchar(value), expression=exp.Literal.string(f"%{sign}%"))
    return exp.Not(this=exp.Paren(this=condition))
