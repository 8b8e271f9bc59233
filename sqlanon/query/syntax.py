"""Small pieces of syntax trees: quoted names, literals, counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from sqlglot import exp

from sqlanon.sqlglot_version import FROM

# A tree may stand in several places: no builder changes one that it was given, and `render` copies
# each statement once, 3 % of the time of a run of the demo. Builders of sqlglot copy all of a query
# at every step unless told not to: 6 % of that run, up to 20 % of a plan with privacy models.


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column, of a quoted table alias where one is given."""
    return exp.Column(
        this=exp.Identifier(this=name, quoted=True),
        table=None if table is None else exp.Identifier(this=table, quoted=True),
    )


def alias(expression: exp.Expr, name: str) -> exp.Expr:
    """An expression under a quoted name."""
    return exp.Alias(this=expression, alias=exp.Identifier(this=name, quoted=True))


def named(relation: exp.Table, name: str) -> exp.Table:
    """A table under a quoted alias."""
    result = relation.copy()
    result.set("alias", exp.TableAlias(this=exp.Identifier(this=name, quoted=True)))
    return result


def nested(query: exp.Query, name: str) -> exp.Subquery:
    """A query as a relation under a quoted alias."""
    return query.subquery(exp.Identifier(this=name, quoted=True), copy=False)


def select(
    figures: Iterable[exp.Expr], rows: exp.Expr, *, by: Sequence[exp.Expr] = ()
) -> exp.Select:
    """SELECT figures FROM rows GROUP BY by."""
    group = exp.Group(expressions=list(by)) if by else None
    parts = {"expressions": list(figures), FROM: exp.From(this=rows), "group": group}
    return exp.Select(**parts)


def star(of: str | None = None) -> exp.Expr:
    """All columns, of one relation where it is given."""
    every = exp.Star()
    return every if of is None else exp.Column(this=every, table=exp.to_identifier(of, quoted=True))


def table(name: str) -> exp.Table:
    """A quoted table name without schema."""
    return exp.Table(this=exp.Identifier(this=name, quoted=True))


def bigint(expression: exp.Expr) -> exp.Cast:
    """A count as BIGINT: sums of BIGINT are wider and arrive as decimals."""
    return exp.Cast(this=expression, to=exp.DataType(this=exp.DataType.Type.BIGINT))


def count_all() -> exp.Count:
    """COUNT(*)."""
    return exp.Count(this=exp.Star())


def when(condition: exp.Expr, value: exp.Expr, *, default: exp.Expr | None = None) -> exp.Case:
    """CASE WHEN condition THEN value ELSE default END."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=default)


def added(expressions: Sequence[exp.Expr]) -> exp.Expr:
    """The sum of one or more expressions within a row, 0 for none."""
    if not expressions:
        return exp.Literal.number(0)
    return reduce(lambda left, right: exp.Add(this=left, expression=right), expressions)


def masked(name: str, mask: int, *, table: str | None = None) -> exp.BitwiseAnd:
    """The bits of a word that a mask lets through."""
    return exp.BitwiseAnd(this=column(name, table), expression=exp.Literal.number(mask))


def rows_of(name: exp.Table) -> exp.Select:
    """Number of rows of a table."""
    return select([bigint(count_all())], name)


def is_same(one: exp.Table, other: exp.Table) -> bool:
    """Whether two fully qualified names are a table's, in whatever case."""
    own, others = ([part.name.lower() for part in table.parts] for table in (one, other))
    return own == others
