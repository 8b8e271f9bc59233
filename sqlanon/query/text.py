"""Small pieces of syntax trees that make labels: casts to text, texts joined, NULL kept."""

from __future__ import annotations

import re
from functools import reduce

from sqlglot import exp

from sqlanon.hierarchy.number_ranges import HYPHEN, TO
from sqlanon.sqlglot_version import type_id

TEXT = exp.DataType(this=exp.DataType.Type.TEXT)
_Type = exp.DataType.Type
NESTED_TYPES = {_Type.LIST, _Type.ARRAY, _Type.STRUCT, _Type.MAP, _Type.UNION}
_ZONED_TYPES = {"TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPTZ_NS"}
_PLAIN_TYPES = {"BIGNUM", "TIME_NS"}
"""Names of types that not every version of sqlglot knows, and of which no part is hidden."""
_NAMES = {"INT128": "HUGEINT", "UINT128": "UHUGEINT"}
"""Types that DuckDB calls otherwise."""
NOT_FINITE = "not finite"
"""The label of NaN and of infinite numbers and dates."""


def varchar(value: exp.Expr) -> exp.Expr:
    """The value as text."""
    return exp.cast(value, exp.DataType.Type.VARCHAR)


def is_nested(kind: exp.DataType) -> bool:
    """Whether values of a type hold others: a VARIANT may, and a TUPLE's parts are not known."""
    return kind.this in (*NESTED_TYPES, _Type.VARIANT) or (
        kind.this == _Type.USERDEFINED and any(sign in kind.sql("duckdb") for sign in "([")
    )


def is_zoned(kind: exp.DataType) -> bool:
    """Whether values are instants, which become text or a date by the session's time zone."""
    return type_id(kind) in _ZONED_TYPES


def is_unknown(kind: exp.DataType) -> bool:
    """Whether it is a type of which only the name is known."""
    is_plain = is_zoned(kind) or type_id(kind) in _PLAIN_TYPES
    return kind.this == _Type.USERDEFINED and not is_plain


def text_of(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """A value as a text that is the same in every session.

    Instants are written in UTC, and what a VARIANT holds as JSON, which tells 1 from '1'.
    """
    if kind.this == _Type.VARIANT:
        return varchar(exp.cast(value, _Type.JSON))
    if not is_zoned(kind):
        return varchar(value)
    utc = varchar(exp.Paren(this=exp.AtTimeZone(this=value, zone=exp.Literal.string("UTC"))))
    endless = exp.Like(this=utc, expression=exp.Literal.string("%infinity"))
    return exp.Case(ifs=[case(endless, utc)], default=joined(utc, "+00"))


def joined(*parts: exp.Expr | str) -> exp.Expr:
    """Texts one after the other; NULL where one of them is."""
    texts = [exp.Literal.string(part) if isinstance(part, str) else part for part in parts]
    return reduce(lambda left, right: exp.DPipe(this=left, expression=right), texts)


def case(condition: exp.Expr, label: exp.Expr | str) -> exp.If:
    """WHEN condition THEN label."""
    text = exp.Literal.string(label) if isinstance(label, str) else label
    return exp.If(this=condition, true=text)


def between(first: exp.Expr) -> exp.Expr:
    """Separator of the two numbers of a label: a hyphen, or a word if the first has a minus."""
    return exp.Case(ifs=[case(first < 0, TO)], default=exp.Literal.string(HYPHEN))


def not_null(column: exp.Expr, label: exp.Expr, *cases: exp.If) -> exp.Expr:
    """The label, but NULL where the value is: GREATEST and user expressions skip NULL."""
    null = case(exp.Is(this=column, expression=exp.Null()), exp.Null())
    return exp.Case(ifs=[null, *cases], default=label)


def type_name(kind: exp.DataType) -> str:
    """The name of a type for messages: without its arguments, since those of an enum are values."""
    if kind.this in (_Type.LIST, _Type.ARRAY):
        return "LIST"
    name = re.split(r"[(<\[]", kind.sql("duckdb"), maxsplit=1)[0].strip()
    return _NAMES.get(name, name)
