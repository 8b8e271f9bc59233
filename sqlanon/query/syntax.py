"""Small pieces of syntax trees with quoted names, for what is no file of `sql/`.

A tree may stand in several places: no builder changes one that it was given. Builders of sqlglot
copy all of a query at every step unless told not to.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.sqlglot_version import FROM
from sqlanon.sqltext import Sql, expression


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


def is_same(one: exp.Table, other: exp.Table) -> bool:
    """Whether two fully qualified names are a table's, in whatever case."""
    parts, others = ([part.name.lower() for part in table.parts] for table in (one, other))
    return parts == others
