"""Instances: which patterns have enough records that agree on what they keep."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.classes.frequency import NODES, NUMBER, Selected, class_rows, with_nodes
from sqlanon.query.encoding.encode import SIZE, union_all, words_of
from sqlanon.query.syntax import alias, column, least, nested, select, star, table


def among(units: exp.Table, words: int, *, unit: str, records: str, k: int) -> exp.Select:
    """Words and SIZE of the distinct combinations whose bit a parameter sets, counted up to k.

    `units` has rows of the words, and in the columns `unit` and `records` the number of a
    combination, from 0, and its records.
    """
    whole = exp.cast(column(unit), exp.DataType.Type.INT)
    bits = exp.Cast(this=exp.Placeholder(), to=exp.DataType.build("BIT", dialect="duckdb"))
    size = least(column(records), exp.Literal.number(k))
    query = select([*words_of(words), alias(size, SIZE)], units)
    is_set = exp.Anonymous(this="GET_BIT", expressions=[bits, whole]).eq(1)
    return query.where(is_set, copy=False)


def frequent(rows: exp.Table, words: int, *, k: int, parts: int) -> exp.Select:
    """The NUMBER of each pattern of the query that has an instance of k records."""
    enough = exp.GTE(this=exp.Sum(this=column(SIZE, "source")), expression=exp.Literal.number(k))
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
