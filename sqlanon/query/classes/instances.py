"""Instances: which patterns have enough records that agree on what they keep."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.arithmetic import over
from sqlanon.query.classes.frequency import NODES, NUMBER, Selected, class_rows, with_nodes
from sqlanon.query.classes.violations import ENTITY
from sqlanon.query.encoding.encode import SIZE, union_all, words_of
from sqlanon.query.syntax import alias, bigint, column, least, nested, select, star, table


def among(units: exp.Table, words: int, *, unit: str, records: str, k: int) -> exp.Select:
    """Words and SIZE of the distinct combinations whose bit a parameter sets, counted up to k.

    `units` has rows of the words, and in the columns `unit` and `records` the number of a
    combination, from 0, and its records.
    """
    size = least(column(records), exp.Literal.number(k))
    query = select([*words_of(words), alias(size, SIZE)], units)
    return query.where(_is_set(unit), copy=False)


def persons_among(units: exp.Table, words: int, *, unit: str) -> exp.Select:
    """Words and ENTITY, the number of a person, of the combinations whose bit a parameter sets.

    Arguments as of `among`; records without a person are one person's.
    """
    number = over(exp.DenseRank(), order=[exp.Ordered(this=column(ENTITY))])
    figures = [*words_of(words), alias(bigint(number), ENTITY)]
    return select(figures, units).where(_is_set(unit), copy=False).distinct(copy=False)


def _is_set(unit: str) -> exp.Expr:
    """Whether the bit of a combination is set in a parameter."""
    whole = exp.cast(column(unit), exp.DataType.Type.INT)
    bits = exp.Cast(this=exp.Placeholder(), to=exp.DataType.build("BIT", dialect="duckdb"))
    return exp.Anonymous(this="GET_BIT", expressions=[bits, whole]).eq(1)


def frequent(rows: exp.Table, words: int, *, k: int, parts: int) -> exp.Select:
    """The NUMBER of each pattern of the query that has an instance of k records."""
    return _frequent(rows, words, k=k, parts=parts, count=exp.Sum(this=column(SIZE, "source")))


def frequent_persons(rows: exp.Table, words: int, *, k: int, parts: int) -> exp.Select:
    """The NUMBER of each pattern of the query that has an instance of k persons."""
    person = exp.Distinct(expressions=[column(ENTITY, "source")])
    return _frequent(rows, words, k=k, parts=parts, count=exp.Count(this=person))


def _frequent(rows: exp.Table, words: int, *, k: int, parts: int, count: exp.Expr) -> exp.Select:
    enough = exp.GTE(this=count, expression=exp.Literal.number(k))
    found = [
        class_rows(rows, words, selected=Selected({}), nodes=nodes).having(enough, copy=False)
        for nodes in _divided(parts)
    ]
    query = select([column(NUMBER)], nested(union_all(found), "found")).distinct(copy=False)
    return with_nodes(query, words)


def _divided(parts: int) -> list[exp.Expr]:
    """The nodes of the query in so many relations."""
    if parts == 1:
        return [table(NODES)]
    remainder = exp.Mod(this=column(NUMBER), expression=exp.Literal.number(parts))
    return [
        nested(select([star()], table(NODES)).where(remainder.eq(part), copy=False), NODES)
        for part in range(parts)
    ]
