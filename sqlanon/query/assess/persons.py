"""Persons: how often values of a column repeat, and what they settle; the hashes are DuckDB's."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import ascending, is_null, number, over
from sqlanon.query.encoding.encode import SIZE, VALUE
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, select, when


def estimated_values(table: exp.Table, names: Sequence[str]) -> exp.Select:
    """Two columns for each name: the records that have a value, and about how many are distinct."""
    counts: list[exp.Expr] = []
    for name in names:
        values = exp.Anonymous(this="APPROX_COUNT_DISTINCT", expressions=[column(name)])
        counts += [bigint(exp.Count(this=column(name))), bigint(values)]
    return select(counts, table)


def distinct_values(table: exp.Table, name: str) -> exp.Select:
    """One row: the distinct values of a column, told by their hashes, since texts take longer."""
    value = when(is_null(column(name)).not_(), _hash(name))
    return select([bigint(exp.Count(this=exp.Distinct(expressions=[value])))], table)


def records_of_values(
    table: exp.Table, name: str, *, beside: Sequence[str], parts: int
) -> exp.Select:
    """All records of one of so many parts of the values of a column, as hashes.

    Those of the column as `value`, which also say which part it is in, and NULL is in none; those
    of the columns beside it, of which NULL is a value, by their place.
    """
    others = [alias(_hash(other), placed(place)) for place, other in enumerate(beside)]
    query = select([alias(_hash(name), VALUE), *others], table)
    chosen = exp.Mod(this=_hash(name), expression=number(parts)).eq(0)
    return query.where(is_null(column(name)).not_(), chosen, copy=False)


def one_of_each(records: exp.Table, others: int) -> exp.Select:
    """A row for each `value`, with the least that the other columns hold beside it."""
    names = map(placed, range(others))
    least = [alias(exp.Min(this=column(name)), name) for name in names]
    return select([column(VALUE), *least], records, by=[column(VALUE)])


def differing(records: exp.Table, *, by: str, of: Sequence[str]) -> exp.Select:
    """Two shares for each column of `of`, which hold hashes.

    Of the values of `by` with several records those whose records differ in the column, NULL where
    there is no such value; and of neighbouring values of `by`, which are in no order, those that
    differ from each other.
    """
    low, high = ({name: f"{end}_{name}" for name in of} for end in ("low", "high"))
    ends = [alias(exp.Min(this=column(name)), low[name]) for name in of]
    ends += [alias(exp.Max(this=column(name)), high[name]) for name in of]
    size = alias(bigint(count_all()), SIZE)
    values = select([column(by), size, *ends], records, by=[column(by)])
    several = column(SIZE) > 1
    shares: list[exp.Expr] = []
    differences: list[exp.Expr] = [column(SIZE)]
    for name in of:
        before = over(exp.Lag(this=column(low[name])), order=[ascending(column(by))])
        differences += [
            alias(_one_if(column(low[name]).neq(column(high[name]))), high[name]),
            alias(_one_if(column(low[name]).neq(before)), low[name]),
        ]
        within = exp.Avg(this=when(several, column(high[name])))
        shares += [within, exp.Avg(this=column(low[name]))]
    return select(shares, nested(select(differences, nested(values, "ends")), "differences"))


def placed(place: int) -> str:
    """What a column is called by its place."""
    return f"column_{place}"


def _hash(name: str) -> exp.Anonymous:
    return exp.Anonymous(this="HASH", expressions=[column(name)])


def _one_if(condition: exp.Expr) -> exp.Case:
    return when(condition, number(1), default=number(0))
