"""Small pieces of syntax trees that make labels: casts to text, texts joined, NULL kept."""

from __future__ import annotations

import re
from functools import reduce

from sqlglot import exp

TEXT = exp.DataType(this=exp.DataType.Type.TEXT)
NESTED_TYPES = {
    getattr(exp.DataType.Type, name) for name in ("LIST", "ARRAY", "STRUCT", "MAP", "UNION")
}
NOT_FINITE = "not finite"
"""The label of NaN and of infinite numbers and dates."""


def varchar(value: exp.Expr) -> exp.Expr:
    """The value as text."""
    return exp.cast(value, exp.DataType.Type.VARCHAR)


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
    return exp.Case(ifs=[case(first < 0, " to ")], default=exp.Literal.string("-"))


def not_null(column: exp.Expr, label: exp.Expr, *cases: exp.If) -> exp.Expr:
    """The label, but NULL where the value is: GREATEST and user expressions skip NULL."""
    null = case(exp.Is(this=column, expression=exp.Null()), exp.Null())
    return exp.Case(ifs=[null, *cases], default=label)


def type_name(kind: exp.DataType) -> str:
    """The name of a type for messages: without its arguments, since those of an enum are values."""
    return re.split(r"[(<\[]", kind.sql("duckdb"), maxsplit=1)[0].strip()
