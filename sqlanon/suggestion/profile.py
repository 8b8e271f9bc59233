"""Profiles: how the columns of a table look, from the whole of it or from a sample.

No profile holds a value of the table but quantiles of numbers, which never leave this package:
widths and round borders are made of them. How many distinct values a column of a large table has is
asked of one part of its values, not of a sample, in which a value of four records is mostly alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.microdata.binding import column_types
from sqlanon.query import encode
from sqlanon.query.assess import profile as figures
from sqlanon.query.syntax import is_nested, is_zoned, rows_of, type_name
from sqlanon.suggestion.vocabulary import POSTCODE, concept_of

MAX_WHOLE_RECORDS = 200_000
"""Records up to which every figure is of the whole table."""
SAMPLE_RECORDS = 100_000
"""About how many records a sample of a larger table has."""
MIN_SAMPLE_RECORDS = 10_000
"""Records of a sample below which the whole table is looked at: its records are mostly alike."""
TEXTS_READ = 10_000
"""About how many texts are compared with SHAPES."""
COLUMNS_PER_QUERY = 25
"""Columns of one query."""
MIN_VALUES_COUNTED = 1_000
"""Values of a column in a sample from which the whole table is asked how many there are."""
TAIL_SHARE = 0.02
"""Share of the numbers that lie beyond the outer quantiles, at least."""
NEARLY_WHOLE = 0.9
"""Share of whole numbers from which a column counts by whole numbers."""
NAMES_SHARE = 0.9
"""Share of texts that look like names from which their words are counted."""
MAX_CODE_LENGTH = 16
"""Characters of the longest texts that count as codes."""
CODES_SHARE = 0.95
"""Share of texts that look like codes from which their first characters are counted."""

_T = TypeVar("_T")


_Type = exp.DataType.Type

SHAPES: Mapping[str, str] = {
    "email": r"^[^@\s]+@[^@\s]+[.][^@\s]+$",
    "url": r"^(https?|ftp)://",
    "ip": r"^([0-9]{1,3}[.]){3}[0-9]{1,3}$|^[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){5,7}$",
    "uuid": r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    "phone": r"^([+(]|00)[0-9][0-9 ()/.-]{6,}[0-9]$|^[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}$",
    "iban": r"^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,}",
    "number": r"^\s*[-+]?[0-9]+([.,][0-9]+)?\s*$",
    "mark": r"^(NA|N/A|n/a|na|NaN|nan|NULL|null|None|none|missing|unknown|[?.]|-+)$",
    "day": r"^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}$",
    "month": r"^[0-9]{4}[-/.](0[1-9]|1[0-2])$",
    "code": r"^[A-Za-z]{0,4}[0-9][0-9A-Za-z.\-/]*$",
    "name": r"^\p{Lu}[\p{L}'’.-]*(,? (\p{Lu}[\p{L}'’.-]*|d[aeiu]|del|den|der|dos|l[ae]|v[ao]n))*,? "
    r"\p{Lu}[\p{L}'’-]+$",
    "digit": r"[0-9]",
    "prose": r"\S+\s+\S+\s+\S+\s+\S+",
}
"""What texts look like, as regular expressions."""
IDENTIFYING_SHAPES = {
    "email": "e-mail addresses",
    "url": "addresses of web pages",
    "ip": "internet addresses",
    "uuid": "universally unique identifiers",
    "phone": "telephone numbers",
    "iban": "account numbers",
}
"""Shapes that make a column an identifier, in a reader's words."""


class Form(Enum):
    """What the type of a column holds."""

    NUMBER = "numbers"
    TEXT = "texts"
    DATE = "dates"
    INSTANT = "moments in a time zone"
    TIME = "times of day"
    BOOLEAN = "yes or no"
    UUID = "universally unique identifiers"
    OTHER = "values that cannot be generalized"


_FORMS: Mapping[Form, Collection[exp.DType]] = {
    Form.NUMBER: exp.DataType.NUMERIC_TYPES,
    Form.TEXT: exp.DataType.TEXT_TYPES,
    Form.TIME: {_Type.TIME, _Type.TIMETZ},
    Form.DATE: exp.DataType.TEMPORAL_TYPES,
    Form.BOOLEAN: {_Type.BOOLEAN},
    Form.UUID: {_Type.UUID},
}


def form_of(kind: exp.DataType) -> Form:
    """What a type holds."""
    if is_nested(kind) or kind.this in (_Type.INTERVAL, _Type.JSON, _Type.BIT):
        return Form.OTHER
    if is_zoned(kind):
        return Form.INSTANT
    if kind.sql("duckdb") == "TIME_NS":  # not every version of sqlglot knows it
        return Form.TIME
    return next((form for form, kinds in _FORMS.items() if kind.this in kinds), Form.OTHER)


@dataclass(frozen=True, slots=True)
class NumberFigures:
    """Numbers of a column.

    Args:
        finite: How many there are.
        whole: How many of them are whole.
        quantiles: The quantiles at TAIL_SHARE (or more), 1/4, 1/2, 3/4 and 1 - TAIL_SHARE; where
            half of the numbers are one, those of the others.
    """

    finite: int
    whole: int
    quantiles: tuple[Decimal, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all are whole numbers."""
        return self.whole == self.finite

    @property
    def is_nearly_whole(self) -> bool:
        """Whether nearly all are whole, so that no interval needs to be narrower than those."""
        return self.whole >= NEARLY_WHOLE * self.finite


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column.

    Args:
        name: The column.
        kind: Its type.
        records: Records looked at.
        present: How many of them hold a value.
        distinct: How many values they hold.
        uniqueness: Distinct values over values, in [0, 1]; of the whole table.
        lengths: The least, mean and greatest number of characters; of texts and whole numbers.
        shapes: The share of the texts that look like each of SHAPES.
        numbers: Figures of numbers.
        days: Days between the outer quantiles; of dates.
        timed: Whether dates have a time of day.
        prefixes: The number of prefixes of one character, of two, and so on; of codes.
        words: The number of first words, and of last words; of texts that look like names.
        is_collated: Whether texts that are spelt otherwise are one value to the database.
    """

    name: str
    kind: exp.DataType
    records: int
    present: int = 0
    distinct: int = 0
    uniqueness: float = 0.0
    lengths: tuple[int, float, int] = (0, 0.0, 0)
    shapes: Mapping[str, float] = field(default_factory=dict)
    numbers: NumberFigures | None = None
    days: int | None = None
    timed: bool = False
    prefixes: tuple[int, ...] = ()
    words: tuple[int, int] = (0, 0)
    is_collated: bool = False

    @property
    def form(self) -> Form:
        """What its type holds."""
        return form_of(self.kind)

    @property
    def type(self) -> str:
        """The name of its type."""
        return type_name(self.kind)

    @property
    def filled(self) -> float:
        """Share of the records that hold a value, in [0, 1]."""
        return self.present / self.records if self.records else 0.0

    @property
    def values(self) -> int:
        """Distinct values, NULL among them."""
        return self.distinct + (self.present < self.records)

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers alone."""
        return self.numbers is not None and self.numbers.is_whole

    @property
    def is_numeric_text(self) -> bool:
        """Whether it holds numbers as texts, since others among them stand for no value."""
        numbers, marks = (self.shapes.get(shape, 0.0) for shape in ("number", "mark"))
        return numbers > 0.5 and marks > 0 and numbers + marks > 0.99

    def looks_like(self, shape: str, share: float = 0.9) -> bool:
        """Whether so many of its texts look like a shape."""
        return self.shapes.get(shape, 0.0) >= share

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `figures` in the JSON document."""
        return {
            "values": self.distinct,
            "uniqueness": round(self.uniqueness, 6),
            "nulls": round(1 - self.filled, 6),
        }


@dataclass(frozen=True, slots=True)
class TableProfile:
    """A table.

    Args:
        records: Its records.
        looked_at: How many of them figures are of.
        columns: Its columns in order.
        table: What was looked at: the table, or a temporary one that holds the sample.
    """

    records: int
    looked_at: int
    columns: tuple[ColumnProfile, ...]
    table: exp.Table

    @property
    def is_sampled(self) -> bool:
        """Whether figures are of a sample."""
        return self.looked_at < self.records


def profile_table(engine: Engine, table: exp.Table, *, k: int) -> TableProfile:
    """Looks at every column; temporary tables stay until the engine's workspace ends.

    Args:
        engine: Where the table lives.
        table: The table.
        k: How many numbers must lie beyond the outer quantiles, at least.

    Raises:
        SourceError: The table is empty.
    """
    kinds = column_types(engine, table)
    fitting = [name for name, kind in kinds.items() if form_of(kind) is not Form.OTHER]
    records = engine.rows(rows_of(table))[0][0]
    if not records:
        raise SourceError("the table is empty; there is nothing to suggest a policy from")
    source = _sampled(engine, table, fitting, records=records)
    looked_at = records if source is table else engine.rows(rows_of(source))[0][0]
    counts = _counts(engine, source, fitting)
    uniqueness = {name: values / present for name, (present, values) in counts.items() if present}
    if source is not table:
        many = [name for name in uniqueness if counts[name][1] > MIN_VALUES_COUNTED]
        uniqueness |= _whole_uniqueness(
            engine, table, many, parts=max(records // SAMPLE_RECORDS, 1)
        )
    by_form = _figures_by_form(engine, source, kinds, records=looked_at, k=k)
    collated = _collated(engine, table, kinds)
    columns = tuple(
        ColumnProfile(
            name,
            kind,
            looked_at,
            *counts.get(name, (0, 0)),
            uniqueness=uniqueness.get(name, 0.0),
            is_collated=name in collated,
            **by_form[name],
        )
        for name, kind in kinds.items()
    )
    return TableProfile(records, looked_at, columns, source)


def in_batches(columns: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Columns, or sets of them, parted into those of one query each."""
    for start in range(0, len(columns), COLUMNS_PER_QUERY):
        yield columns[start : start + COLUMNS_PER_QUERY]


def _sampled(
    engine: Engine, table: exp.Table, columns: Sequence[str], *, records: int
) -> exp.Table:
    """The table itself, or a sample of a large one."""
    if records <= MAX_WHOLE_RECORDS or not columns:
        return table
    parts = max(records // SAMPLE_RECORDS, 1)
    sample = engine.materialize("sample", figures.sample(table, columns, parts=parts))
    return sample if engine.rows(rows_of(sample))[0][0] >= MIN_SAMPLE_RECORDS else table


def _collated(
    engine: Engine, table: exp.Table, kinds: Mapping[str, exp.DataType]
) -> frozenset[str]:
    """The columns of texts whose collation takes different spellings for one value."""
    texts = [name for name, kind in kinds.items() if form_of(kind) is Form.TEXT]
    confused = engine.rows(encode.confused(table, texts))[0] if texts else ()
    return frozenset(name for name, is_one in zip(texts, confused, strict=True) if is_one)


def _counts(engine: Engine, table: exp.Table, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Per column the records that hold a value, and distinct values."""
    counts: dict[str, tuple[int, int]] = {}
    for batch in in_batches(names):
        _, *row = engine.rows(figures.counts(table, batch))[0]
        counts |= _by_column(batch, row, 2)
    return counts


def _whole_uniqueness(
    engine: Engine, table: exp.Table, names: Sequence[str], *, parts: int
) -> dict[str, float]:
    """Distinct values over values of columns of a large table."""
    uniqueness = {}
    for batch in in_batches(names):
        row = engine.rows(figures.parted_counts(table, batch, parts=parts))[0]
        for name, (present, values) in _by_column(batch, row, 2).items():
            if present:
                uniqueness[name] = values / present
    return uniqueness


def _figures_by_form(
    engine: Engine,
    table: exp.Table,
    kinds: Mapping[str, exp.DataType],
    *,
    records: int,
    k: int,
) -> dict[str, dict[str, Any]]:
    """Per column the figures that only columns of its form have."""
    texts, dates = (
        [name for name, kind in kinds.items() if form_of(kind) is form]
        for form in (Form.TEXT, Form.DATE)
    )
    by_form: dict[str, dict[str, Any]] = {name: {} for name in kinds}
    numbers = dict(_numbers(engine, table, kinds, records=records, k=k))
    for name, number_figures in numbers.items():
        by_form[name]["numbers"] = number_figures
    whole = [name for name, number_figures in numbers.items() if number_figures.is_whole]
    for batch in in_batches([*texts, *whole]):
        row = engine.rows(figures.lengths(table, batch))[0]
        for name, lengths in _by_column(batch, row, 3).items():
            by_form[name]["lengths"] = tuple(length or 0 for length in lengths)
    for name, shapes in _shapes(engine, table, texts, records=records):
        by_form[name]["shapes"] = shapes
    named = [name for name in texts if by_form[name]["shapes"]["name"] >= NAMES_SHARE]
    for batch in in_batches(named):
        row = engine.rows(figures.outer_words(table, batch))[0]
        for name, words in _by_column(batch, row, 2).items():
            by_form[name]["words"] = words
    for batch in in_batches(dates):
        row = engine.rows(figures.spans(table, batch, share=TAIL_SHARE))[0]
        for name, (days, timed) in _by_column(batch, row, 2).items():
            by_form[name] |= {"days": days, "timed": timed > 0}
    for name in [*texts, *whole]:
        longest = by_form[name]["lengths"][2]
        is_code = by_form[name].get("shapes", {}).get("code", 0.0) >= CODES_SHARE
        if 1 < longest <= MAX_CODE_LENGTH and (is_code or concept_of(name) is POSTCODE):
            query = figures.prefix_counts(table, name, length=longest)
            by_form[name]["prefixes"] = engine.rows(query)[0]
    return by_form


def _numbers(
    engine: Engine, table: exp.Table, kinds: Mapping[str, exp.DataType], *, records: int, k: int
) -> Iterator[tuple[str, NumberFigures]]:
    names = [name for name, kind in kinds.items() if form_of(kind) is Form.NUMBER]
    floats = [name for name in names if kinds[name].is_type(*exp.DataType.FLOAT_TYPES)]
    share = min(max(TAIL_SHARE, k / records), 0.25)
    shares = (share, 0.25, 0.5, 0.75, 1 - share)
    for batch in in_batches(names):
        query = figures.quantiles(table, batch, shares=shares, floats=floats)
        row = engine.rows(query)[0]
        for name, (finite, whole, values) in _by_column(batch, row, 3).items():
            quantiles = _decimals(values)
            if quantiles and quantiles[1] == quantiles[3]:
                beside = figures.quantiles_beside(
                    table, name, shares=shares, is_float=name in floats
                )
                count, others = engine.rows(beside)[0]
                quantiles = _decimals(others)
                if quantiles and count * share < k:
                    # Beyond the outer quantiles would be fewer than k of so few numbers.
                    _, low, middle, high, _ = quantiles
                    quantiles = (low, low, middle, high, high) if count >= 4 * k else ()
            yield name, NumberFigures(finite, whole, quantiles)


def _shapes(
    engine: Engine, table: exp.Table, names: Sequence[str], *, records: int
) -> Iterator[tuple[str, dict[str, float]]]:
    if records > 2 * TEXTS_READ and names:
        parts = records // TEXTS_READ
        table = engine.materialize("read", figures.sample(table, names, parts=parts))
    for batch in in_batches(names):
        counts = engine.rows(figures.counts(table, batch))[0][1::2]
        row = engine.rows(figures.shapes(table, batch, patterns=list(SHAPES.values())))[0]
        matches = _by_column(batch, row, len(SHAPES)).items()
        for present, (name, matched) in zip(counts, matches, strict=True):
            shares = (count / present if present else 0.0 for count in matched)
            yield name, dict(zip(SHAPES, shares, strict=True))


def _decimals(values: Sequence[Any] | None) -> tuple[Decimal, ...]:
    return tuple(Decimal(str(value)) for value in values or ())


def _by_column(names: Sequence[str], row: Sequence[Any], width: int) -> dict[str, Any]:
    """Per column its figures: as many as `width` of the row, one column after the other."""
    return dict(zip(names, zip(*(iter(row),) * width, strict=True), strict=True))
