"""Wide tables: queries that turn a few columns at a time into words of a packed code.

Everywhere `numbered` has the rows of `numbered_records`, and a part is the numbers of some of its
columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.hierarchy.layout import Field
from sqlanon.query.arithmetic import ascending, number, or_zero, over, plus, times
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, same_value, word
from sqlanon.query.syntax import added, alias, bigint, column, count_all, named, select

RECORD = "record"
SOURCE = "source"


def cell(place: int) -> str:
    """Name of a numbered column."""
    return f"cell_{place}"


def numbered_records(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """The records of a table with a number each: `record`, `cell_0`, `cell_1`, ..."""
    cells = [alias(column(name), cell(place)) for place, name in enumerate(columns)]
    return select([alias(over(exp.RowNumber()), RECORD), *cells], source)


def ranked_columns(numbered: exp.Table, part: Sequence[int]) -> exp.Select:
    """The columns of a part as ranks from 1 on, values alike of one rank: `entity`, cells."""
    ranks = [
        alias(
            over(exp.DenseRank(), order=[ascending(column(cell(place)), nulls_first=True)]),
            cell(place),
        )
        for place in part
    ]
    return select([alias(column(RECORD), ENTITY), *ranks], numbered)


def highest_ranks(ranks: exp.Table, part: Sequence[int]) -> exp.Select:
    """How many distinct values each column of a part has, in one row."""
    highest = [or_zero(exp.Max(this=column(cell(place)))) for place in part]
    return select(map(bigint, highest), ranks)


def packed_ranks(ranks: exp.Table, part: Sequence[int], *, fields: Sequence[Field]) -> exp.Select:
    """The words of a part: `entity`, the words."""
    held: list[list[exp.Expr]] = [[] for _ in range(1 + max(field.word for field in fields))]
    for place, field in zip(part, fields, strict=True):
        code = plus(column(cell(place)), number(-1))
        held[field.word].append(times(code, number(1 << field.offset)))
    words = [alias(bigint(added(codes)), word(w)) for w, codes in enumerate(held)]
    return select([column(ENTITY), *words], ranks)


def joined_parts(numbered: exp.Table, parts: Sequence[exp.Table]) -> exp.Select:
    """The numbered records with their words, which parts hold; nothing is selected yet."""
    query = exp.Select().from_(named(numbered, SOURCE), copy=False)
    for place, part in enumerate(parts):
        same = column(RECORD, SOURCE).eq(column(ENTITY, _part(place)))
        query.join(named(part, _part(place)), on=same, join_type="left", copy=False)
    return query


def words_of_parts(words: Sequence[int]) -> list[exp.Expr]:
    """The words of parts that have so many each, in order, for `joined_parts`."""
    return [column(word(w), _part(place)) for place, held in enumerate(words) for w in range(held)]


def sized(joined: exp.Select, codes: Sequence[exp.Expr]) -> exp.Select:
    """The frequency set of joined parts: the words and `size`."""
    query = joined.select(*_named_words(codes), alias(bigint(count_all()), SIZE), copy=False)
    return query.group_by(*codes, copy=False)


def carrying(
    joined: exp.Select,
    codes: Sequence[exp.Expr],
    *,
    ranks: Mapping[int, exp.Table],
    entity: int | None,
) -> exp.Select:
    """The words of joined parts, a rank for each of some numbered columns, and the entity.

    Args:
        joined: The parts.
        codes: Their words.
        ranks: Rows of VALUE and RANK by the number of the column.
        entity: The number of the column that says whose record it is.
    """
    carried: list[exp.Expr] = []
    for number_of, (place, held) in enumerate(ranks.items()):
        own = value_of(number_of)
        carried.append(alias(column(RANK, own), own))
        same = same_value(column(cell(place), SOURCE), column(VALUE, own), nullable=True)
        joined.join(named(held, own), on=same, join_type="left", copy=False)
    if entity is not None:
        carried.append(alias(column(cell(entity), SOURCE), ENTITY))
    return joined.select(*_named_words(codes), *carried, copy=False)


def _named_words(codes: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [alias(code, word(w)) for w, code in enumerate(codes)]


def _part(place: int) -> str:
    return f"part_{place}"
