"""Small pieces of syntax trees for what is no file of `sql/`: quoted names, types, label texts.

A tree may stand in several places: no builder changes one that it was given. Builders of sqlglot
copy all of a query at every step unless told not to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce

from sqlglot import exp

from sqlanon.hierarchy.number_ranges import HYPHEN, TO
from sqlanon.sqlglot_version import FROM, type_id
from sqlanon.sqltext import Sql, expression, name

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


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column, of a quoted table alias where one is given."""
    return exp.Column(
        this=exp.Identifier(this=name, quoted=True),
        table=None if table is None else exp.Identifier(this=table, quoted=True),
    )


def alias(expression: exp.Expr, name: str) -> exp.Expr:
    """An expression under a quoted name."""
    return exp.Alias(this=expression, alias=exp.Identifier(this=name, quoted=True))


def nested(query: exp.Query, name: str) -> exp.Subquery:
    """A query as a relation under a quoted alias."""
    return query.subquery(exp.Identifier(this=name, quoted=True), copy=False)


def select(figures: Iterable[exp.Expr], rows: exp.Expr) -> exp.Select:
    """SELECT figures FROM rows."""
    return exp.Select(**{"expressions": list(figures), FROM: exp.From(this=rows)})


def table(name: str) -> exp.Table:
    """A quoted table name without schema."""
    return exp.Table(this=exp.Identifier(this=name, quoted=True))


def bigint(expression: exp.Expr) -> exp.Cast:
    """A whole number as BIGINT."""
    return exp.Cast(this=expression, to=exp.DataType(this=exp.DataType.Type.BIGINT))


def rows_of(table: exp.Table) -> Sql:
    """Number of rows of a table."""
    return expression("SELECT CAST(COUNT(*) AS BIGINT) FROM {{ table }}", table=table)


def rows_and_sum(table: exp.Table, summed: str) -> Sql:
    """Number of rows of a table, and the sum of a column of whole numbers."""
    query = "SELECT CAST(COUNT(*) AS BIGINT), {{ total(summed) }} FROM {{ table }}"
    return expression(query, table=table, summed=name(summed))


def is_same(one: exp.Table, other: exp.Table) -> bool:
    """Whether two fully qualified names are a table's, in whatever case."""
    parts, others = ([part.name.lower() for part in table.parts] for table in (one, other))
    return parts == others


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
