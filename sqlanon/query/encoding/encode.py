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
)
from sqlanon.query.text import TEXT, text_of, varchar
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

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


def presence(source: exp.Table, columns: Sequence[str]) -> Sql:
    """Records of a table, and per column how many of them are not NULL."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT){% for column in columns %},"
        " CAST(COUNT({{ column }}) AS BIGINT){% endfor %} FROM {{ source }}",
        columns=names(columns),
        source=source,
    )


def confused(source: exp.Table, columns: Sequence[str]) -> Sql:
    """Per text column whether it takes a letter for another of its case or accent, in one row."""
    return render("encoding/confused", source=source, columns=names(columns))


def distinct_values(source: exp.Table, attribute: str) -> exp.Select:
    """The distinct values of a column: rows of VALUE."""
    return select([alias(column(attribute), VALUE)], source).distinct(copy=False)


def distinct_paths(
    source: exp.Table, attribute: str, *, labels: Sequence[exp.Expr], kind: exp.DataType = TEXT
) -> Sql:
    """Per distinct value of a column its text, its labels of `value` from level 1 up, its records.

    The number of records comes last.
    """
    return expression(
        "SELECT {{ shown }}, size FROM (SELECT {{ attribute }} AS value,"
        " CAST(COUNT(*) AS BIGINT) AS size FROM {{ source }} GROUP BY {{ attribute }}) AS held"
        " ORDER BY value",
        shown=listed([text_of(column(VALUE), kind), *labels]),
        attribute=name(attribute),
        source=source,
    )


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


def repeated_values(leaves: Fragment) -> Sql:
    """Number of values of a leaf map that come from more than one leaf."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT value FROM {{ leaves }} AS leaves"
        " GROUP BY value HAVING COUNT(*) > 1) AS repeated",
        leaves=leaves,
    )


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
    maps, joins = _leaf_joins(leaves, nullable)
    held = {each: _words_of(rows) for each, rows in zip(maps, leaves.values(), strict=True)}
    parts = [[column(own, each) for each in maps if own in held[each]] for own in _names(words)]
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
    maps, joins = _leaf_joins(leaves, nullable)
    parts: dict[str, list[exp.Expr]] = {own: [column(own, "source")] for own in begun}
    for map_, leaf_rows in zip(maps, leaves.values(), strict=True):
        for own in _words_of(leaf_rows):
            parts.setdefault(own, []).append(column(own, map_))
    figures = [alias(added(each), own) for own, each in parts.items()]
    figures += [alias(column(origin, "source"), own) for own, origin in kept.items()]
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
    maps, joins = [f"map_{number}" for number in range(len(leaves))], []
    for own, (origin, leaf_rows) in zip(maps, leaves.items(), strict=True):
        same = same_value(column(origin, "source"), column(VALUE, own), origin in nullable)
        joins.append(exp.Join(this=nested(leaf_rows, own), side="LEFT", on=same))
    return maps, joins


def _words_of(leaf_rows: exp.Select) -> list[str]:
    """The words that a leaf map has: those where its column has bits."""
    return leaf_rows.named_selects[1:]


def _grouped(
    source: exp.Table, codes: Sequence[exp.Expr], *, carried: Mapping[str, Carried]
) -> exp.Select:
    """Codes, what is carried, and the records that have them."""
    details = {
        own: column(item.origin, "source") if item.ranks is None else column(RANK, own)
        for own, item in carried.items()
    }
    figures = [
        *(alias(code, word(w)) for w, code in enumerate(codes)),
        *(alias(value, own) for own, value in details.items()),
        alias(bigint(count_all()), SIZE),
    ]
    query = select(figures, named(source, "source"), by=[*codes, *details.values()])
    for own, item in carried.items():
        if item.ranks is not None:
            same = same_value(column(item.origin, "source"), column(VALUE, own), item.nulls)
            query.join(named(item.ranks, own), on=same, join_type="left", copy=False)
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


def uncovered(source: exp.Table, attribute: str, *, leaves: Fragment) -> Sql:
    """Distinct values of a column that its leaf map misses, and the records that hold them."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('size') }} FROM {{ missed }} AS missed",
        missed=_missed(source, attribute, leaves),
    )


def unlisted(source: exp.Table, attribute: str, *, leaves: Fragment) -> Sql:
    """The texts of the values but NULL that a leaf map misses, in their order."""
    return expression(
        "SELECT CAST(value AS VARCHAR) FROM {{ missed }} AS missed"
        " WHERE value IS NOT NULL ORDER BY value",
        missed=_missed(source, attribute, leaves),
    )


def missed(source: exp.Table, attribute: str, *, leaves: Fragment, most: int) -> Sql:
    """The values that a leaf map misses, as texts, the most frequent first, and their records."""
    return expression(
        "SELECT CAST(value AS VARCHAR), size FROM {{ missed }} AS missed"
        " ORDER BY size DESC, value LIMIT {{ most }}",
        missed=_missed(source, attribute, leaves),
        most=most,
    )


def _missed(source: exp.Table, attribute: str, leaves: Fragment) -> Sql:
    return render("encoding/missed_values", source=source, attribute=name(attribute), leaves=leaves)


def marginals(encoded_table: exp.Table, masks: Mapping[int, Sequence[int]]) -> Sql:
    """Records per value of columns: rows of column number, words, records.

    Args:
        encoded_table: Codes and sizes.
        masks: Per number of a column its bits of each word.
    """
    columns = [
        (number, own, [(w, bits) for w, bits in enumerate(own) if bits] or [(0, 0)])
        for number, own in masks.items()
    ]
    return render("encoding/marginals", encoded=encoded_table, columns=columns)


def union_all(parts: Sequence[exp.Select]) -> exp.Query:
    """The rows of several queries."""
    first: exp.Query = parts[0]
    return reduce(
        lambda one, part: exp.Union(this=one, expression=part, distinct=False), parts[1:], first
    )


def extent(encoded_table: exp.Table, words: int = 1) -> Sql:
    """Combinations and records of an encoded table, those that lack one of the words left out."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('size') }} FROM {{ encoded }} WHERE"
        "{% for w in range(words) %}{% if not loop.first %} AND{% endif %}"
        " word_{{ w }} IS NOT NULL{% endfor %}",
        encoded=encoded_table,
        words=words,
    )


def value() -> exp.Column:
    """The column under which `distinct_paths` hands a value to its labels."""
    return column(VALUE)
