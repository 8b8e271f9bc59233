"""Encode: from the records of a table to packed codes and class sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from sqlanon.query.syntax import (
    added,
    alias,
    bigint,
    column,
    count_all,
    masked,
    named,
    nested,
    select,
    total,
)
from sqlanon.query.text import TEXT, text_of, varchar

ATTRIBUTE = "attribute"
LEAF = "leaf"
VALUE = "value"
SIZE = "size"
RANK = "rank"
WHOLE = exp.DataType.INTEGER_TYPES - {exp.DataType.Type.BIT}


def word(number: int) -> str:
    """Name of the column that holds a word of the packed code."""
    return f"word_{number}"


def _names(words: int) -> list[str]:
    return [word(w) for w in range(words)]


def words_of(number: int) -> list[exp.Expr]:
    """The words of a packed code."""
    return [column(own) for own in _names(number)]


def presence(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """Records of a table, and per column how many of them are not NULL."""
    counts = [bigint(exp.Count(this=column(name))) for name in columns]
    return select([bigint(count_all()), *counts], source)


def confused(source: exp.Table, columns: Sequence[str]) -> exp.Select:
    """Per text column whether it takes a letter for another of its case or accent, in one row.

    A column's collation is not in its type; what it does to a letter that is added to it shows it.
    """
    none = select(map(column, columns), source).where(exp.false(), copy=False)
    letters = exp.Select(expressions=[exp.Literal.string("a") for _ in columns])
    taken = [exp.or_(*(column(name).eq(other) for other in ("A", "á"))) for name in columns]
    return select(taken, nested(union_all([none, letters]), "probe"))


def distinct_values(source: exp.Table, name: str) -> exp.Select:
    """The distinct values of a column: rows of VALUE."""
    return select([alias(column(name), VALUE)], source).distinct(copy=False)


def distinct_paths(
    source: exp.Table, name: str, *, labels: Sequence[exp.Expr], kind: exp.DataType = TEXT
) -> exp.Select:
    """Per distinct value of a column its text, its labels of `value` from level 1 up, its records.

    The number of records comes last.
    """
    figures = [alias(column(name), VALUE), alias(bigint(count_all()), SIZE)]
    values = nested(select(figures, source, by=[column(name)]), "v")
    query = select([text_of(column(VALUE), kind), *labels, column(SIZE)], values)
    return query.order_by(exp.Ordered(this=column(VALUE)), copy=False)


def leaf_map(
    leaves: exp.Table, number: int, *, column_type: exp.DataType, words: Sequence[int]
) -> exp.Select:
    """The codes of the leaves of column `number` by value: rows of `value` and some words."""
    query = values_of(leaves, column_type, carried=[word(w) for w in words])
    return query.where(column(ATTRIBUTE).eq(number), copy=False)


def values_of(
    leaves: exp.Table | exp.Values, column_type: exp.DataType, *, carried: Sequence[str]
) -> exp.Select:
    """Leaf texts turned into values of the column's type, with what they carry.

    A text that is no value of the type stands for a value that the column cannot hold, and so does
    one that would only be rounded to a value.
    """
    value: exp.Expr = column(LEAF)
    fits: exp.Expr | None = None
    if needs_cast(column_type):
        value = exp.TryCast(this=column(LEAF), to=column_type)
        fits = exp.or_(column(LEAF).is_(exp.null()), _is_exact(value, column_type))
    query = select([alias(value, VALUE), *map(column, carried)], leaves)
    return query if fits is None else query.where(fits, copy=False)


def _is_exact(value: exp.Expr, column_type: exp.DataType) -> exp.Expr:
    """Whether a leaf's text means a value of the type, and not one that it is rounded to."""
    wide = {
        **dict.fromkeys((*WHOLE, exp.DataType.Type.DECIMAL), "DECIMAL(38, 10)"),
        exp.DataType.Type.DATE: "TIMESTAMP",
    }.get(column_type.this)
    if wide is None:
        return value.is_(exp.null()).not_()
    kind = exp.DataType.build(wide, dialect="duckdb")
    text, exact = (exp.TryCast(this=each, to=kind) for each in (column(LEAF), value))
    return exp.or_(
        exp.EQ(this=text, expression=exact),
        exp.EQ(this=varchar(value), expression=column(LEAF)),
    )


def needs_cast(column_type: exp.DataType) -> bool:
    """Whether a column's values are anything but text."""
    return column_type.this not in (*exp.DataType.TEXT_TYPES, exp.DataType.Type.ENUM)


def repeated_values(leaves: exp.Select) -> exp.Select:
    """Number of values of a leaf map that come from more than one leaf."""
    repeated = select([column(VALUE)], nested(leaves, "leaves"), by=[column(VALUE)])
    repeated.having(count_all() > 1, copy=False)
    return select([bigint(count_all())], nested(repeated, "repeated"))


@dataclass(frozen=True, slots=True)
class Carried:
    """A column that the details carry beside the codes.

    Args:
        origin: The column of the table.
        ranks: Rows of VALUE and RANK, where its values are carried as ranks.
        nulls: Whether NULL has a rank; else it stays NULL.
    """

    origin: str
    ranks: exp.Table | None = None
    nulls: bool = True


def encoded(
    source: exp.Table,
    leaves: Mapping[str, exp.Select],
    *,
    nullable: set[str],
    words: int,
    carried: Mapping[str, Carried] | None = None,
) -> exp.Select:
    """One row per distinct combination of quasi-identifier values: its code and its size.

    Records with a value that no leaf covers have no code. The joins are outer ones, which DuckDB
    takes as they stand: looking for a better order of more than ten takes it longer than they do.

    Args:
        source: The table.
        leaves: Per column its leaf map: rows of `value` and the words.
        nullable: Columns that hold NULLs, which plain equality would lose.
        words: Number of words of the code.
        carried: Other columns that tell rows apart, by their names in the result.
    """
    names, joins = _leaf_joins(leaves, nullable)
    held = {name: _words_of(rows) for name, rows in zip(names, leaves.values(), strict=True)}
    parts = [[column(own, name) for name in names if own in held[name]] for own in _names(words)]
    # A number in GROUP BY would be the place of a column.
    codes = [added(each) if each else bigint(exp.Literal.number(0)) for each in parts]
    query = _grouped(source, codes, carried=carried or {})
    query.set("joins", [*joins, *query.args.get("joins", [])])
    return query


def joined(
    source: exp.Table,
    leaves: Mapping[str, exp.Select],
    *,
    nullable: set[str],
    begun: Sequence[str],
    kept: Mapping[str, str],
) -> exp.Select:
    """The records with some of their columns encoded, and others as they are.

    Args:
        source: The table, or one of such records.
        leaves: Per column to encode its leaf map.
        nullable: Columns that hold NULLs.
        begun: The words that the source holds; what these columns add to them is added.
        kept: Columns to carry on, by their new names.
    """
    names, joins = _leaf_joins(leaves, nullable)
    parts: dict[str, list[exp.Expr]] = {own: [column(own, "source")] for own in begun}
    for name, leaf_rows in zip(names, leaves.values(), strict=True):
        for own in _words_of(leaf_rows):
            parts.setdefault(own, []).append(column(own, name))
    figures = [alias(added(each), own) for own, each in parts.items()]
    figures += [alias(column(origin, "source"), name) for name, origin in kept.items()]
    query = select(figures, named(source, "source"))
    query.set("joins", joins)
    return query


def grouped(
    joined_rows: exp.Table, words: int, *, carried: Mapping[str, Carried] | None = None
) -> exp.Select:
    """As `encoded`, of records whose columns are all encoded."""
    codes = [column(own, "source") for own in _names(words)]
    return _grouped(joined_rows, codes, carried=carried or {})


def _leaf_joins(
    leaves: Mapping[str, exp.Select], nullable: set[str]
) -> tuple[list[str], list[exp.Join]]:
    """Names for the leaf maps of columns, and the outer joins with them."""
    names, joins = [f"map_{number}" for number in range(len(leaves))], []
    for name, (origin, leaf_rows) in zip(names, leaves.items(), strict=True):
        same = same_value(column(origin, "source"), column(VALUE, name), origin in nullable)
        joins.append(exp.Join(this=nested(leaf_rows, name), side="LEFT", on=same))
    return names, joins


def _words_of(leaf_rows: exp.Select) -> list[str]:
    """The words that a leaf map has: those where its column has bits."""
    return leaf_rows.named_selects[1:]


def _grouped(
    source: exp.Table, codes: Sequence[exp.Expr], *, carried: Mapping[str, Carried]
) -> exp.Select:
    """Codes, what is carried, and the records that have them."""
    details = {
        name: column(item.origin, "source") if item.ranks is None else column(RANK, name)
        for name, item in carried.items()
    }
    figures = [
        *(alias(code, word(w)) for w, code in enumerate(codes)),
        *(alias(value, name) for name, value in details.items()),
        alias(bigint(count_all()), SIZE),
    ]
    query = select(figures, named(source, "source"), by=[*codes, *details.values()])
    for name, item in carried.items():
        if item.ranks is not None:
            same = same_value(column(item.origin, "source"), column(VALUE, name), item.nulls)
            query.join(named(item.ranks, name), on=same, join_type="left", copy=False)
    return query


def leaf_map_at(leaves: exp.Select, masks: Sequence[int]) -> exp.Select:
    """A leaf map with the codes of a lattice node, which are the bits of the masks."""
    bits, held = dict(zip(_names(len(masks)), masks, strict=True)), _words_of(leaves)
    words = [alias(masked(own, bits[own]), own) for own in held]
    return select([column(VALUE), *words], nested(leaves, "leaves"))


def same_value(left: exp.Expr, right: exp.Expr, nullable: bool) -> exp.Expr:
    """Equality that also pairs NULL with NULL, where there are any."""
    kind = exp.NullSafeEQ if nullable else exp.EQ
    return kind(this=left, expression=right)


def same_words(masks: Sequence[int], relation: str, *, other: str) -> list[exp.Expr]:
    """Equality of a relation's masked words and another's words, a condition per word."""
    return [
        exp.EQ(
            this=exp.Paren(this=masked(word(w), mask, table=relation)),
            expression=column(word(w), other),
        )
        for w, mask in enumerate(masks)
    ]


def same_columns(one: str, other: str, *, names: Sequence[str], nullable: bool = False) -> exp.Expr:
    """Equality of two relations in some columns, which may be `nullable`."""
    pairs = [same_value(column(name, one), column(name, other), nullable) for name in names]
    return exp.and_(*pairs, copy=False)


def uncovered(source: exp.Table, name: str, *, leaves: exp.Select) -> exp.Select:
    """Distinct values of a column that its leaf map misses, and the records that hold them."""
    counts = [alias(column(name), VALUE), alias(count_all(), SIZE)]
    values = nested(select(counts, source, by=[column(name)]), "held")
    same = same_value(column(VALUE, "held"), column(VALUE, "leaves"), nullable=True)
    known = select([exp.Literal.number(1)], nested(leaves, "leaves")).where(same, copy=False)
    query = select([bigint(count_all()), total(column(SIZE))], values)
    return query.where(exp.Exists(this=known).not_(), copy=False)


def unlisted(source: exp.Table, name: str, *, leaves: exp.Select) -> exp.Select:
    """The texts of the values but NULL that a leaf map misses, in their order."""
    values = nested(distinct_values(source, name), "held")
    same = exp.EQ(this=column(VALUE, "held"), expression=column(VALUE, "leaves"))
    known = select([exp.Literal.number(1)], nested(leaves, "leaves")).where(same, copy=False)
    query = select([varchar(column(VALUE))], values).where(
        exp.Exists(this=known).not_(), copy=False
    )
    query.where(column(VALUE).is_(exp.null()).not_(), copy=False)
    return query.order_by(exp.Ordered(this=column(VALUE)), copy=False)


def missed(source: exp.Table, name: str, *, leaves: exp.Select, most: int) -> exp.Select:
    """The values that a leaf map misses, as texts, the most frequent first, and their records."""
    counts = [alias(column(name), VALUE), alias(count_all(), SIZE)]
    values = nested(select(counts, source, by=[column(name)]), "held")
    same = same_value(column(VALUE, "held"), column(VALUE, "leaves"), nullable=True)
    known = select([exp.Literal.number(1)], nested(leaves, "leaves")).where(same, copy=False)
    query = select([varchar(column(VALUE)), column(SIZE)], values)
    query.where(exp.Exists(this=known).not_(), copy=False)
    order = exp.Ordered(this=column(SIZE), desc=True), exp.Ordered(this=column(VALUE))
    return query.order_by(*order, copy=False).limit(most, copy=False)


def marginals(encoded_table: exp.Table, masks: Mapping[int, Sequence[int]]) -> exp.Query:
    """Records per value of columns: rows of column number, words, records.

    Args:
        encoded_table: Codes and sizes.
        masks: Per number of a column its bits of each word.
    """
    parts = []
    for number, words in masks.items():
        # A word without bits is no key: nine of ten are none where columns are many.
        keys: list[exp.Expr] = [
            masked(word(w), mask) if mask else exp.Literal.number(0) for w, mask in enumerate(words)
        ]
        by = [key for key in keys if not isinstance(key, exp.Literal)]
        figures = [exp.Literal.number(number), *keys, total(column(SIZE))]
        parts.append(select(figures, encoded_table, by=by or [masked(word(0), 0)]))
    return union_all(parts)


def union_all(parts: Sequence[exp.Select]) -> exp.Query:
    """The rows of several queries."""
    first: exp.Query = parts[0]
    return reduce(
        lambda one, part: exp.Union(this=one, expression=part, distinct=False), parts[1:], first
    )


def extent(encoded_table: exp.Table, words: int = 1) -> exp.Select:
    """Combinations and records of an encoded table, those that lack one of the words left out."""
    query = select([bigint(count_all()), total(column(SIZE))], encoded_table)
    there = [own.is_(exp.null()).not_() for own in words_of(words)]
    return query.where(*there, copy=False)


def value() -> exp.Column:
    """The column under which `distinct_paths` hands a value to its labels."""
    return column(VALUE)
