"""Encode: from the records of a table to packed codes and class sizes, and what tells it apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.syntax import (
    TEXT,
    alias,
    column,
    is_nested,
    is_zoned,
    select,
    text_of,
    varchar,
)
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render, value
from sqlanon.sqltext import word as type_word

ATTRIBUTE = "attribute"
LEAF = "leaf"
VALUE = "value"
SIZE = "size"
RANK = "rank"
PEOPLE = "people"
WHOLE = exp.DataType.INTEGER_TYPES - {exp.DataType.Type.BIT}


def word(number: int) -> str:
    """Name of the column that holds a word of the packed code."""
    return f"word_{number}"


def word_names(count: int) -> list[str]:
    """Names of the columns of a packed code of so many words."""
    return [word(w) for w in range(count)]


def set_words(bits: Sequence[int]) -> list[tuple[int, int]]:
    """The words in which bits are set, by number."""
    return [(w, mask) for w, mask in enumerate(bits) if mask]


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


def distinct_rows(sources: Sequence[exp.Table], columns: Sequence[str]) -> Sql:
    """The distinct combinations of some columns, of several tables."""
    return expression(
        "{% for source in sources %}{% if not loop.first %} UNION {% endif %}"
        "SELECT {{ columns }} FROM {{ source }}{% endfor %}",
        sources=sources,
        columns=listed(names(columns)),
    )


def present(encoded: exp.Table, people: exp.Table, *, words: int) -> Sql:
    """The combinations of a table and of its population: the words, SIZE and PEOPLE.

    The first are the records of the table, the other those of the population.
    """
    keys = names(word_names(words))
    return render("encoding/present", encoded=encoded, people=people, words=keys)


def crowded(presence: exp.Table) -> Sql:
    """Combinations with more records than people, and the records and people of these."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('size') }}, {{ total('people') }}"
        " FROM {{ presence }} WHERE size > people",
        presence=presence,
    )


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
        " ORDER BY held.value",
        shown=listed([text_of(column(VALUE), kind), *labels]),
        attribute=name(attribute),
        source=source,
    )


@dataclass(frozen=True, slots=True)
class LeafMap:
    """The codes of a column's values.

    Args:
        rows: Rows of VALUE and some words.
        words: Names of these.
    """

    rows: Fragment
    words: Sequence[str]

    def at(self, masks: Sequence[int]) -> LeafMap:
        """The codes of a lattice node, which are the bits of the masks, one for each word."""
        bits = dict(zip(word_names(len(masks)), masks, strict=True))
        masked = expression(
            "SELECT value{% for word, mask in words %}, {{ word }} & {{ mask }} AS {{ word }}"
            "{% endfor %} FROM {{ rows }} AS leaves",
            words=[(name(word), bits[word]) for word in self.words],
            rows=self.rows,
        )
        return LeafMap(masked, self.words)


def leaf_map(
    leaves: exp.Table, number: int, *, column_type: exp.DataType, words: Sequence[int]
) -> LeafMap:
    """The codes of the leaves of column `number` by value."""
    carried = [word(w) for w in words]
    rows = values_of(leaves, column_type, carried=carried, among=of_column(number))
    return LeafMap(rows, carried)


def of_column(number: int) -> Sql:
    """Whether a row with an ATTRIBUTE is of column `number`."""
    return expression("attribute = {{ number }}", number=number)


def values_of(
    leaves: exp.Table | exp.Values,
    column_type: exp.DataType,
    *,
    carried: Sequence[str],
    among: Sql | None = None,
) -> Sql:
    """Leaf texts turned into values of the column's type, with what they carry.

    A text that is no value of the type stands for a value that the column cannot hold, and so does
    one that would only be rounded to a value.

    Args:
        leaves: Rows of LEAF and what they carry.
        column_type: The type.
        carried: Names of what they carry.
        among: A condition on the rows that count; all do without.
    """
    return render(
        "encoding/leaf_values",
        leaves=leaves,
        carried=names(carried),
        kind=column_type if needs_cast(column_type) else None,
        wide=_wide(column_type),
        among=among,
    )


def _wide(column_type: exp.DataType) -> Sql | None:
    """A type in which what rounding to a column's type does to a value shows."""
    if column_type.this in (*WHOLE, exp.DataType.Type.DECIMAL):
        return type_word("DECIMAL(38, 10)")
    return type_word("TIMESTAMP") if column_type.this == exp.DataType.Type.DATE else None


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
    leaves: Mapping[str, LeafMap],
    *,
    nullable: Collection[str],
    words: int,
    carried: Mapping[str, Carried] | None = None,
) -> Sql:
    """One row per distinct combination of quasi-identifier values: its code and its size.

    Records with a value that no leaf covers have no code.

    Args:
        source: The table.
        leaves: Per column its leaf map.
        nullable: Columns that hold NULLs, which plain equality would lose.
        words: Number of words of the code.
        carried: Other columns that tell rows apart, by their names in the result.
    """
    return coded_rows(
        source, leaves, word_names(words), nullable=nullable, carried=carried or {}, is_sized=True
    )


def joined(
    source: exp.Table,
    leaves: Mapping[str, LeafMap],
    *,
    nullable: Collection[str],
    source_words: Sequence[str],
    kept: Mapping[str, str],
) -> Sql:
    """The records with some of their columns encoded, and others as they are.

    Args:
        source: The table, or one of such records.
        leaves: Per column to encode its leaf map.
        nullable: Columns that hold NULLs.
        source_words: The words that the source holds; what these columns add to them is added.
        kept: Columns to carry on, by their new names.
    """
    carried = {new_name: Carried(origin) for new_name, origin in kept.items()}
    words = [*source_words, *(word for codes in leaves.values() for word in codes.words)]
    return coded_rows(
        source, leaves, words, nullable=nullable, carried=carried, source_words=source_words
    )


def grouped(
    joined_rows: exp.Table, words: int, *, carried: Mapping[str, Carried] | None = None
) -> Sql:
    """As `encoded`, of records whose columns are all encoded."""
    keys = word_names(words)
    return coded_rows(
        joined_rows, {}, keys, carried=carried or {}, source_words=keys, is_sized=True
    )


def coded_rows(
    source: exp.Table,
    leaves: Mapping[str, LeafMap],
    words: Sequence[str],
    *,
    nullable: Collection[str] = (),
    carried: Mapping[str, Carried],
    source_words: Collection[str] = (),
    is_sized: bool = False,
) -> Sql:
    """The records as codes, or where `is_sized` the distinct ones.

    The source has `source_words` already.
    """
    parts = {word: [column(word, "source")] if word in source_words else [] for word in words}
    maps, ranks = [], []
    for number, (origin, codes) in enumerate(leaves.items()):
        relation = f"map_{number}"
        maps.append((name(origin), codes.rows, name(relation), origin in nullable))
        for field in codes.words:
            if field in parts:
                parts[field].append(column(field, relation))
    values = []
    for field, item in carried.items():
        if item.ranks is None:
            values.append((name(field), column(item.origin, "source")))
        else:
            values.append((name(field), column(RANK, field)))
            ranks.append((name(item.origin), item.ranks, name(field), item.nulls))
    return render(
        "encoding/coded_rows",
        source=source,
        maps=maps,
        ranks=ranks,
        words=[(name(word), terms) for word, terms in parts.items()],
        carried=values,
        is_sized=is_sized,
    )


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
        (number, column_masks, set_words(column_masks) or [(0, 0)])
        for number, column_masks in masks.items()
    ]
    return render("encoding/marginals", encoded=encoded_table, columns=columns)


def extent(encoded_table: exp.Table, words: int = 1) -> Sql:
    """Combinations and records of an encoded table, those that lack one of the words left out."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('size') }} FROM {{ encoded }} WHERE"
        "{% for w in range(words) %}{% if not loop.first %} AND{% endif %}"
        " word_{{ w }} IS NOT NULL{% endfor %}",
        encoded=encoded_table,
        words=words,
    )


def labelled_value() -> exp.Column:
    """The column under which `distinct_paths` hands a value to its labels."""
    return column(VALUE)


def spelling_counts(
    source: exp.Table, texts: Sequence[str], *, reals: Sequence[str], digits: int
) -> Sql:
    """Rows of place, values that have several spellings, and values with letters beyond ASCII.

    Texts that differ in case and blanks alone are one value, and real numbers that differ after so
    many digits. Letters beyond ASCII may have several forms, which this does not know.
    """
    columns = list(enumerate(names([*texts, *reals])))
    return render(
        "encoding/spelling_counts",
        source=source,
        texts=columns[: len(texts)],
        reals=columns[len(texts) :],
        form=value(f"%.{digits}g"),
    )


def nan_cells(table: exp.Table, columns: Sequence[str]) -> Sql:
    """How many cells of each of some columns are NaN."""
    return expression(
        "SELECT {% for column in columns %}{% if not loop.first %}, {% endif %}"
        "CAST(COUNT(CASE WHEN {{ column }} = CAST('nan' AS DOUBLE) THEN 1 END) AS BIGINT)"
        "{% endfor %} FROM {{ table }}",
        columns=names(columns),
        table=table,
    )


_REAL = {exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE}


def fingerprint(table: exp.Expr, columns: Mapping[str, exp.DataType]) -> Sql:
    """Records, and one order-free digest of all cells; DuckDB only.

    It has no key, so whoever knows all records but a few can try out what those hold. SHA-256
    keeps the digests of two tables from telling in which records they differ: the exclusive or
    and the sum would. The sum tells apart what the exclusive or alone does not, a record that is
    there twice.
    """
    cells = [
        part for attribute, kind in columns.items() for part in _to_hash(column(attribute), kind)
    ]
    # HASH of several arguments is linear in each; hashed once more, records no longer cancel out.
    digest = expression("HASH(HASH({{ cells }}))", cells=listed(cells or [0]))
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), SHA256(CONCAT_WS(' ', BIT_XOR({{ digest }}),"
        " SUM(CAST({{ digest }} AS INT128)))) FROM {{ table }}",
        digest=digest,
        table=table,
    )


def _to_hash(value: exp.Expr, kind: exp.DataType) -> list[exp.Expr]:
    """A value, with what HASH takes for one: -0.0 and 0.0, 1 month and 30 days, [] and NULL.

    Texts of instants depend on the session's time zone, so nested ones go without.
    """
    if kind.this in _REAL:
        return [value, exp.Anonymous(this="SIGNBIT", expressions=[value.copy()])]
    nested = is_nested(kind) and not any(map(is_zoned, kind.find_all(exp.DataType)))
    if nested or kind.this == exp.DataType.Type.INTERVAL:
        return [value, varchar(value.copy())]
    return [value]
