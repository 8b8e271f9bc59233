"""Profiles: how the columns of a table look, from the whole of it or from a sample.

No profile holds a value of the table but quantiles of numbers, which never leave this package:
widths and round borders are made of them. How many distinct values a column of a large table has is
asked of one part of its values, not of a sample, in which a value of four records is mostly alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.microdata.binding import column_types
from sqlanon.query.assess import profile as figures
from sqlanon.query.encoding import encode
from sqlanon.query.syntax import rows_of
from sqlanon.query.text import type_name
from sqlanon.suggestion.concepts import POSTCODE
from sqlanon.suggestion.forms import SHAPES, Form, form_of
from sqlanon.suggestion.vocabulary import concept_of

WHOLE_TABLE = 200_000
"""Records up to which every figure is of the whole table."""
SAMPLE = 100_000
"""About how many records a sample of a larger table has."""
LEAST_SAMPLE = 10_000
"""Records of a sample below which the whole table is looked at: its records are mostly alike."""
READ = 10_000
"""About how many texts are held against SHAPES."""
BATCH = 25
"""Columns of one query."""
MANY = 1_000
"""Values of a column in a sample from which the whole table is asked how many there are."""
TAIL = 0.02
"""Share of the numbers that lie beyond the outer quantiles, at least."""
NEARLY = 0.9
"""Share of whole numbers from which a column counts by whole numbers."""
NAMED = 0.9
"""Share of texts that look like names from which their words are counted."""
LONGEST = 16
"""Characters of the longest texts that count as codes."""


@dataclass(frozen=True, slots=True)
class NumberFigures:
    """Numbers of a column.

    Args:
        finite: How many there are.
        whole: How many of them are whole.
        quantiles: The quantiles at TAIL (or more), 1/4, 1/2, 3/4 and 1 - TAIL; where half of them
            are one number, those of the others.
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
        return self.whole >= NEARLY * self.finite


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
    suited = [name for name, kind in kinds.items() if form_of(kind) is not Form.OTHER]
    records = engine.rows(rows_of(table))[0][0]
    if not records:
        raise SourceError("the table is empty; there is nothing to suggest a policy from")
    source = _sampled(engine, table, suited, records=records)
    looked_at = records if source is table else engine.rows(rows_of(source))[0][0]
    look = _Look(engine, source, looked_at, kinds)
    present = look.counts(suited)
    unique = {name: held[1] / held[0] for name, held in present.items() if held[0]}
    if source is not table:
        open_ones = [name for name in unique if present[name][1] > MANY]
        unique |= _whole_uniqueness(engine, table, open_ones, parts=max(records // SAMPLE, 1))
    parts = look.all_of(k)
    collated = _collated(engine, table, kinds)
    columns = tuple(
        ColumnProfile(
            name,
            kind,
            looked_at,
            *present.get(name, (0, 0)),
            uniqueness=unique.get(name, 0.0),
            is_collated=name in collated,
            **parts.get(name, {}),
        )
        for name, kind in kinds.items()
    )
    return TableProfile(records, looked_at, columns, source)


def _sampled(
    engine: Engine, table: exp.Table, columns: Sequence[str], *, records: int
) -> exp.Table:
    """The table itself, or a sample of a large one."""
    if records <= WHOLE_TABLE or not columns:
        return table
    parts = max(records // SAMPLE, 1)
    sample = engine.materialize("sample", figures.sample(table, columns, parts=parts))
    return sample if engine.rows(rows_of(sample))[0][0] >= LEAST_SAMPLE else table


def _collated(
    engine: Engine, table: exp.Table, kinds: Mapping[str, exp.DataType]
) -> frozenset[str]:
    """The columns of texts whose collation takes different spellings for one value."""
    texts = [name for name, kind in kinds.items() if form_of(kind) is Form.TEXT]
    confused = engine.rows(encode.confused(table, texts))[0] if texts else ()
    return frozenset(name for name, is_one in zip(texts, confused, strict=True) if is_one)


def _whole_uniqueness(
    engine: Engine, table: exp.Table, names: Sequence[str], *, parts: int
) -> dict[str, float]:
    """Distinct values over values of columns of a large table."""
    found = {}
    for batch in _batches(names):
        row = engine.rows(figures.parted_counts(table, batch, parts=parts))[0]
        for name, (held, distinct) in zip(batch, _tuples(row, 2), strict=True):
            if held:
                found[name] = distinct / held
    return found


@dataclass(frozen=True, slots=True)
class _Look:
    """Looks at the columns of a table, or of a sample."""

    engine: Engine
    table: exp.Table
    records: int
    kinds: Mapping[str, exp.DataType]

    def counts(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Per column the records that hold a value, and distinct values."""
        found: dict[str, tuple[int, int]] = {}
        for batch in _batches(names):
            _, *row = self.engine.rows(figures.counts(self.table, batch))[0]
            found |= dict(zip(batch, _tuples(row, 2), strict=True))
        return found

    def all_of(self, k: int) -> dict[str, dict[str, Any]]:
        """Per column what its form tells of it."""
        texts, numbers, dates = (
            [name for name, kind in self.kinds.items() if form_of(kind) is form]
            for form in (Form.TEXT, Form.NUMBER, Form.DATE)
        )
        found: dict[str, dict[str, Any]] = {name: {} for name in self.kinds}
        for name, figures_of in self._numbers(numbers, k=k):
            found[name]["numbers"] = figures_of
        whole = [name for name in numbers if found[name]["numbers"].is_whole]
        for batch in _batches([*texts, *whole]):
            row = self.engine.rows(figures.lengths(self.table, batch))[0]
            for name, held in zip(batch, _tuples(row, 3), strict=True):
                found[name]["lengths"] = tuple(figure or 0 for figure in held)
        for name, shapes in self._shapes(texts):
            found[name]["shapes"] = shapes
        named = [name for name in texts if found[name]["shapes"]["name"] >= NAMED]
        for batch in _batches(named):
            row = self.engine.rows(figures.outer_words(self.table, batch))[0]
            for name, words in zip(batch, _tuples(row, 2), strict=True):
                found[name]["words"] = words
        for batch in _batches(dates):
            row = self.engine.rows(figures.spans(self.table, batch, share=TAIL))[0]
            for name, (days, timed) in zip(batch, _tuples(row, 2), strict=True):
                found[name] |= {"days": days, "timed": timed > 0}
        for name, held in found.items():
            if self._is_code(name, held):
                longest = held["lengths"][2]
                query = figures.prefix_counts(self.table, name, length=longest)
                held["prefixes"] = self.engine.rows(query)[0]
        return found

    def _numbers(self, names: Sequence[str], *, k: int) -> Iterator[tuple[str, NumberFigures]]:
        share = min(max(TAIL, k / self.records), 0.25)
        shares = (share, 0.25, 0.5, 0.75, 1 - share)
        floats = [name for name in names if self.kinds[name].is_type(*exp.DataType.FLOAT_TYPES)]
        for batch in _batches(names):
            query = figures.quantiles(self.table, batch, shares=shares, floats=floats)
            row = self.engine.rows(query)[0]
            for name, (finite, whole, values) in zip(batch, _tuples(row, 3), strict=True):
                found = _decimals(values)
                if found and found[1] == found[3]:
                    beside = figures.quantiles_beside(
                        self.table, name, shares=shares, is_float=name in floats
                    )
                    found = _outer(*self.engine.rows(beside)[0], share=share, k=k)
                yield name, NumberFigures(finite, whole, found)

    def _shapes(self, names: Sequence[str]) -> Iterator[tuple[str, dict[str, float]]]:
        table = self.table
        if self.records > 2 * READ and names:
            parts = self.records // READ
            table = self.engine.materialize("read", figures.sample(table, names, parts=parts))
        for batch in _batches(names):
            counts = self.engine.rows(figures.counts(table, batch))[0][1::2]
            patterns = list(SHAPES.values())
            row = self.engine.rows(figures.shapes(table, batch, patterns=patterns))[0]
            for name, held, matched in zip(batch, counts, _tuples(row, len(SHAPES)), strict=True):
                shares = (count / held if held else 0.0 for count in matched)
                yield name, dict(zip(SHAPES, shares, strict=True))

    def _is_code(self, name: str, held: Mapping[str, Any]) -> bool:
        """Whether a column may be generalized to the first characters of its values."""
        if "lengths" not in held or not 1 < held["lengths"][2] <= LONGEST:
            return False
        return concept_of(name) is POSTCODE or held.get("shapes", {}).get("code", 0.0) >= 0.95


def _outer(held: int, values: Sequence[Any] | None, *, share: float, k: int) -> tuple[Decimal, ...]:
    """Quantiles of few numbers: beyond the outer ones are k of them, or there are none."""
    found = _decimals(values)
    if held * share >= k or not found:
        return found
    return (found[1], *found[1:4], found[3]) if held >= 4 * k else ()


def _decimals(values: Sequence[Any] | None) -> tuple[Decimal, ...]:
    return tuple(Decimal(str(value)) for value in values or ())


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def _tuples(row: Sequence[Any], width: int) -> Iterator[Any]:
    return zip(*(iter(row),) * width, strict=True)
