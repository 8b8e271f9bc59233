"""Columns of texts, and their conversion to types without a loss; others read as NULL or as hashes.

A column of which the values alone count is converted where no two of its texts become one value.
One that is published as it is, only where every text is also how the type itself is written. So the
policy, which says which columns are which, is made from the header, before the file is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from secrets import token_hex

from sqlglot import exp

from sqlanon.engine.base import Row, Use
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.syntax import create_temporary
from sqlanon.engine.duckdb.text_layout import TextFormat
from sqlanon.errors import EngineError, SourceError
from sqlanon.wording import counted


def home(engine: DuckDB, table: exp.Table, *, names: Sequence[str], use: Use) -> exp.Table:
    """Where the columns that are loaded go: the table itself where that is all of them."""
    return table if len(use.kept(names)) == len(names) else engine.temporary("file")


def complete(
    engine: DuckDB, loaded: exp.Table, *, table: exp.Table, names: Sequence[str], use: Use
) -> None:
    """Makes the table whole again, where only some of its columns were loaded."""
    if loaded != table:
        query = exp.select(*projections(names, use)).from_(loaded.copy())
        engine.run(create_temporary(table.copy(), query, kind="VIEW"))


def projections(names: Sequence[str], use: Use) -> list[exp.Expr]:
    """All columns of a table that holds those loaded, the others as NULL."""
    there = {*use.read(names)}
    return [
        exp.column(name, quoted=True)
        if name in there
        else exp.cast(exp.Null(), "VARCHAR").as_(name, quoted=True)
        for name in names
    ]


def loading(names: Sequence[str], use: Use) -> list[exp.Expr]:
    """What is loaded of a table that holds all columns: those kept, and hashes of some others."""
    kept = set(use.kept(names))
    return [
        exp.column(name, quoted=True) if name in kept else hashed(exp.column(name, quoted=True))
        for name in use.read(names)
    ]


def hashed(column: exp.Column, value: exp.Expr | None = None) -> exp.Expr:
    """A number for each value of a column, or of what is made of it; NULL and dates become NULL.

    It is made with a key that nobody keeps, so that nobody can tell which value it stands for.
    """
    text = exp.cast((column if value is None else value).copy(), "VARCHAR")
    keyed = exp.DPipe(this=exp.Literal.string(token_hex(16)), expression=text, safe=True)
    number = exp.Anonymous(this="md5_number_lower", expressions=[keyed])
    date = exp.TryCast(this=text.copy(), to=exp.DataType.build("TIMESTAMP"))
    is_no_date = exp.Is(this=date, expression=exp.Null())
    return exp.Case().when(is_no_date, number).as_(column.name, quoted=True)


# Digits that a DOUBLE would lose, or that are no quantity: 007, +49, 1234567890123456.
_NO_NUMBER = r"^[+-]?0[0-9]|^\+|^-?[0-9]{16,}$"
# A time without a zone as ISO 8601 writes it; DuckDB would also read 2020/1/2 and drop a zone.
_ISO_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?$"

# A DECIMAL of 18 digits, the widest that is as fast as a number, then has some before the point.
_MOST_DECIMALS = 15

# The first year that a date of a format given may have.
_FIRST_YEAR = 1000


@dataclass(frozen=True, slots=True)
class Kind:
    """A type that a column of texts may get.

    Args:
        type: As DuckDB writes it.
        exact: Whether every text must be how the type writes its value.
        form: Format of strptime and strftime; None is the type's own way to write.
        decimals: Digits behind the point of a DOUBLE, where the first rows all have as many; 0
            where some have no point.
    """

    type: str
    exact: bool
    form: str | None = None
    decimals: int | None = None

    def bare(self, text: exp.Expr) -> exp.Expr:
        """The text without the blanks around it, where these are no part of the value."""
        return text.copy() if self.exact else exp.Trim(this=text.copy())

    def converted(self, text: exp.Expr, *, safe: bool) -> exp.Expr:
        """The value of a text; with `safe`, NULL where it has none."""
        if self.form is not None:
            function = "try_strptime" if safe else "strptime"
            form = exp.Literal.string(self.form)
            read = exp.Anonymous(this=function, expressions=[text.copy(), form])
            # %Y reads 63 and 7, too: years of two digits, and numbers that are no years.
            late = exp.GTE(this=exp.Year(this=read), expression=exp.convert(_FIRST_YEAR))
            return exp.cast(exp.Case().when(late, read.copy()), self.type)
        built = exp.TryCast if safe else exp.Cast
        return built(this=text.copy(), to=_type(self.type).copy())

    def guarded(self, text: exp.Expr) -> exp.Expr:
        """The value; the query fails where a text is not spelt as all others are."""
        value = self.converted(text, safe=False)
        stop = exp.Anonymous(this="error", expressions=[exp.Literal.string("guard")])
        respelt = exp.NullSafeNEQ(this=self._spelt(value), expression=text.copy())
        return exp.Case().when(respelt, stop).else_(value.copy())

    def fits(self, text: exp.Expr) -> exp.Expr:
        """An aggregate: the type holds every value of the column; NULL where there is none."""
        source = self.bare(text)
        value = self.converted(source, safe=True)
        valid = exp.Not(this=exp.Is(this=value, expression=exp.Null()))
        same = exp.and_(valid, exp.Not(this=self._changed(source, value)))
        present: exp.Expr = exp.NEQ(this=text.copy(), expression=exp.Literal.string(""))
        if self.exact:
            present = exp.Not(this=exp.Is(this=text.copy(), expression=exp.Null()))
        return exp.LogicalAnd(this=exp.Case().when(present, same))

    def _changed(self, text: exp.Expr, value: exp.Expr) -> exp.Expr:
        """True where a converted text is not the same value any more."""
        if self.form is not None:
            return exp.false()
        if not self.exact and self.type == "DOUBLE":
            return _matches(text, _NO_NUMBER)
        if not self.exact and self.type == "TIMESTAMP":
            return exp.Not(this=_matches(text, _ISO_TIME))
        return exp.NEQ(this=exp.cast(value.copy(), _type("VARCHAR")), expression=text.copy())

    def _spelt(self, value: exp.Expr) -> exp.Expr:
        """The one text that a value is written as: texts that have it are as many as values."""
        text = exp.cast(value.copy(), _type("VARCHAR"))
        if self.form is not None:
            form = exp.Literal.string(self.form)
            return exp.Anonymous(this="strftime", expressions=[value.copy(), form])
        if self.exact or self.type != "DOUBLE" or self.decimals is None:
            return text
        if self.decimals:
            form = exp.Literal.string(f"{{:.{self.decimals}f}}")
            return exp.Anonymous(this="format", expressions=[form, value.copy()])
        whole = exp.Literal.string(".0")
        return (
            exp.Case()
            .when(
                exp.Anonymous(this="suffix", expressions=[text, whole]),
                exp.Anonymous(this="left", expressions=[text.copy(), exp.convert(-2)]),
            )
            .else_(text.copy())
        )


def csv_kinds(
    form: TextFormat, decimals: int | None, *, exact: bool, like: str | None = None
) -> list[Kind]:
    """The types that a column of a CSV file may get, the first that fits first.

    Args:
        form: What is said of how the file is written.
        decimals: Digits behind the point that the first rows have in common.
        exact: Whether the texts count, not the values alone.
        like: The type of a column that it is compared with, which comes first then.
    """
    numbers = [Kind("BIGINT", exact), Kind("DOUBLE", exact, decimals=decimals)]
    if exact and decimals and decimals <= _MOST_DECIMALS:
        numbers.append(Kind(f"DECIMAL(18, {decimals})", exact))
    kinds = [*dates_as_given(form, exact=exact), *numbers, *_dates_of_iso(exact=exact)]
    return sorted(kinds, key=lambda kind: kind.type != like)


def json_kinds(form: TextFormat, *, exact: bool) -> list[Kind]:
    """The types that a text of a JSON file may get: a number would have been written as one."""
    return [*dates_as_given(form, exact=exact), *_dates_of_iso(exact=exact)]


def dates_as_given(form: TextFormat, *, exact: bool) -> list[Kind]:
    """The type of what the format of dates that is given reads; none where none is."""
    if exact or form.date_format is None:
        return []
    return [Kind(form.date_type, exact, form.date_format)]


def _dates_of_iso(*, exact: bool) -> list[Kind]:
    return [Kind("DATE", exact), Kind("TIMESTAMP", exact)]


@cache
def _type(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect="duckdb")


def _matches(text: exp.Expr, pattern: str) -> exp.Expr:
    return exp.Anonymous(
        this="regexp_matches", expressions=[text.copy(), exp.Literal.string(pattern)]
    )


_PLACE = "place"
_TEXT = "text"


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Columns of a table or of a scan that are text, and the types that each may get.

    Args:
        rows: The table or scan.
        kinds: By the name of each column, the types that its texts may have, the first that fits
            first; none where it stays as it is.
        nulls: Texts that stand for NULL.
        counted: Columns of which only the hashes of texts are wanted.
    """

    rows: exp.Table
    kinds: Mapping[str, Sequence[Kind]]
    nulls: Sequence[str] = ()
    counted: Collection[str] = ()

    @property
    def columns(self) -> dict[str, exp.Column]:
        """The columns by their names."""
        return {name: exp.column(name, quoted=True) for name in self.kinds}

    @property
    def _convertible(self) -> list[str]:
        return [name for name, kinds in self.kinds.items() if kinds]

    def texts(self) -> exp.Select:
        """All columns as they are, without what stands for NULL."""
        return exp.select(*map(self._text, self.kinds)).from_(self.rows.copy())

    def guarded(self, kinds: Mapping[str, Kind]) -> exp.Select:
        """All columns in these types; the query fails where a value is not spelt as others are."""
        values = (
            kinds[name].guarded(text).as_(name, quoted=True) if name in kinds else text
            for name, text in self.columns.items()
        )
        return exp.select(*values).from_(self.texts().subquery("texts"))

    def converted(self, kinds: Mapping[str, Kind]) -> exp.Select:
        """All columns in these types, which every value is known to have."""
        values = (
            _value(text, kinds[name]).as_(name, quoted=True) if name in kinds else text
            for name, text in self.columns.items()
        )
        return exp.select(*values).from_(self.texts().subquery("texts"))

    def fitting(
        self, ask: Callable[[exp.Expr], list[Row]], rows: int | None = None
    ) -> dict[str, Kind]:
        """The first type of each column that all its values have.

        Args:
            ask: Carries a query out.
            rows: How many of the first rows count; None for all.
        """
        texts = self.texts() if rows is None else self.texts().limit(rows)
        # How many decimals are written matters to no value.
        asked = list(
            dict.fromkeys(
                replace(kind, decimals=None) for kinds in self.kinds.values() for kind in kinds
            )
        )
        if not asked:
            return {}
        place = exp.column(_PLACE, quoted=True)
        text = exp.column(_TEXT, quoted=True)
        questions = [kind.fits(text) for kind in asked]
        cells = self._one_below_the_other(texts)
        if rows is not None:
            # Conversions take longer than to find equal texts, of which a sample has few others.
            cells = cells.distinct()
        query = exp.select(place, *questions).from_(cells.subquery("cells"))
        fits: dict[str, set[Kind]] = {}
        names = self._convertible
        for number, *answers in ask(query.group_by(place.copy())):
            fits[names[number]] = {
                kind for kind, is_fit in zip(asked, answers, strict=True) if is_fit
            }
        candidates = {
            name: [kind for kind in kinds if replace(kind, decimals=None) in fits.get(name, ())]
            for name, kinds in self.kinds.items()
        }
        return {name: kinds[0] for name, kinds in candidates.items() if kinds}

    def _one_below_the_other(self, texts: exp.Select) -> exp.Select:
        """The columns as rows, with the place of each: a query of each would be long to plan."""
        columns = [exp.column(name, quoted=True) for name in self._convertible]
        places = [exp.convert(place) for place in range(len(columns))]
        rows = exp.select(
            exp.Unnest(expressions=[exp.array(*places)]).as_(_PLACE, quoted=True),
            exp.Unnest(expressions=[exp.array(*columns)]).as_(_TEXT, quoted=True),
        )
        return rows.from_(texts.subquery("texts"))

    def loaded(self, engine: DuckDB, table: exp.Table) -> dict[str, Kind]:
        """Makes a table of these by a look at every value, and drops the one that they are in.

        Returns:
            The type of each column that is text no more.
        """
        kinds = self.fitting(engine.rows)
        merging = self._merging(engine, kinds)
        kept = {name: kind for name, kind in kinds.items() if name not in merging}
        engine.run(create_temporary(table.copy(), self.converted(kept)))
        engine.tables.drop(self.rows)
        return kept

    def _merging(self, engine: DuckDB, kinds: Mapping[str, Kind]) -> set[str]:
        """The columns in which two texts would become one value; an empty one would become NULL."""
        merges = []
        for name, kind in kinds.items():
            text = exp.column(name, quoted=True)
            filled = exp.func("NULLIF", text.copy(), exp.Literal.string(""))
            fewer = exp.NEQ(this=_distinct(filled), expression=_distinct(_value(text, kind)))
            empty = exp.EQ(this=text.copy(), expression=exp.Literal.string(""))
            null = exp.Is(this=text.copy(), expression=exp.Null())
            both = exp.and_(exp.LogicalOr(this=empty), exp.LogicalOr(this=null))
            merges.append(exp.or_(fewer, both))
        if not merges:
            return set()
        row = engine.rows(exp.select(*merges).from_(self.texts().subquery("texts")))[0]
        return {name for name, merged in zip(kinds, row, strict=True) if merged}

    def _text(self, name: str) -> exp.Expr:
        column = exp.column(name, quoted=True)
        text: exp.Expr = column
        for null in self.nulls if self.kinds[name] or name in self.counted else ():
            text = exp.func("NULLIF", text, exp.Literal.string(null))
        if name in self.counted:
            return hashed(column, text)
        return column if text is column else text.as_(name, quoted=True)


def _value(text: exp.Expr, kind: Kind) -> exp.Expr:
    return kind.converted(kind.bare(text), safe=True)


def _distinct(value: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[value.copy()]))


_DATES = {"DATE", "TIMESTAMP"}
MOSTLY = 0.5
"""Share of a column's values from which it is meant to be dates."""


def refuse_date_format(engine: DuckDB, form: TextFormat) -> None:
    """Refuses a format of dates that DuckDB does not know.

    Raises:
        SourceError: One of its directives is none of strptime.
    """
    if form.date_format is None:
        return
    day = exp.cast(exp.Literal.string("2000-12-31"), "TIMESTAMP")
    shown = exp.Anonymous(this="strftime", expressions=[day, exp.Literal.string(form.date_format)])
    with suppress(EngineError):
        [(text,)] = engine.rows(exp.select(shown))
        read = exp.Anonymous(
            this="strptime",
            expressions=[exp.Literal.string(text), exp.Literal.string(form.date_format)],
        )
        engine.rows(exp.select(read))
        return
    raise SourceError(
        f"date format {form.date_format!r} is none that strptime reads; write it like '%d/%m/%Y'"
    )


@dataclass(frozen=True, slots=True)
class _DatedColumn:
    """A column of texts, by how many are written in the format of dates that is given.

    Args:
        name: The column.
        filled: Values that are not empty.
        fitting: Those of them that are such dates.
        first: The first record with one that is none, from 0 on; None where all are, or where the
            rows are in no order.
        early: Values that would be dates of years before 1000.
    """

    name: str
    filled: int
    fitting: int
    first: int | None
    early: int

    @property
    def likeness(self) -> float:
        """Share of the values that are such dates, of whatever year."""
        return (self.fitting + self.early) / max(1, self.filled)

    @property
    def is_whole(self) -> bool:
        """Whether there are values, and all are such dates."""
        return 0 < self.filled == self.fitting

    @property
    def is_meant(self) -> bool:
        """Whether most are such dates, but not all."""
        return MOSTLY * self.filled <= self.fitting < self.filled

    def text(self, where: Callable[[int], str]) -> str:
        """How many values are none, and where the first is."""
        others = self.filled - self.fitting
        are = "is no date" if others == 1 else "are no dates"
        first = "" if self.first is None else f", the first in {where(self.first)}"
        early = "; years before 1000 are none, and those of two digits are %y" if self.early else ""
        return (
            f"column {self.name!r}: {others:,} of {counted(self.filled, 'value')} {are} of the "
            f"format that is given (--date-format){first}{early}"
        )


def date_notes(
    engine: DuckDB,
    table: exp.Table,
    *,
    path: Path,
    form: TextFormat,
    dated: Collection[str],
    texts: TextColumns,
    kinds: Mapping[str, Kind],
    rows: exp.Table,
    left_out: Sequence[str],
    where: Callable[[int], str],
) -> list[str]:
    """Notes of columns that are read as text for values that are no dates of the given format.

    Args:
        engine: Where the table is.
        table: What was loaded, in the order of the file.
        path: The file.
        form: How it is written.
        dated: Columns that must be dates.
        texts: The columns that were loaded, as texts.
        kinds: The types that these got.
        rows: The columns that were not loaded, as texts.
        left_out: Their names.
        where: Says in words where a record stands in the file.

    Raises:
        SourceError: No column of the file is such dates, or some that must be are not.
    """
    if form.date_format is None:
        return []
    numbers = {name for name in dated if name in kinds and kinds[name].type not in _DATES}
    names = [
        name
        for name, possible in texts.kinds.items()
        if possible and (name not in kinds or name in numbers)
    ]
    loaded = _dated(engine, table, form, names, place=exp.column("rowid"))
    unfit = [one for one in loaded if one.name in dated and one.fitting < one.filled]
    if unfit:
        raise SourceError(f"{'; '.join(one.text(where) for one in unfit)}; {_WAY_OUT}")
    meant = [one for one in loaded if one.is_meant]
    is_read = any(one.is_whole for one in loaded) or any(kind.form for kind in kinds.values())
    count = exp.select(exp.Count(this=exp.Star())).from_(table.copy())
    if not is_read and engine.rows(count)[0][0]:
        given = dict.fromkeys(left_out, dates_as_given(form, exact=False))
        unread = TextColumns(rows, given, form.nulls).texts().subquery("texts")
        others = _dated(engine, unread, form, left_out, place=exp.Null())
        if not any(one.is_whole for one in others):
            best = max([*loaded, *others], key=lambda one: one.likeness, default=None)
            nearly = f"; {best.text(where)}" if best is not None and best.likeness else ""
            raise SourceError(
                f"no column of {path.name!r} has nothing but dates of the format that is given "
                f"(--date-format); a single value that is none makes a column text{nearly}"
            )
    return [f"{one.text(where)}, so the column is text; {_WAY_OUT}" for one in meant]


def _dated(
    engine: DuckDB, source: exp.Expr, form: TextFormat, names: Sequence[str], *, place: exp.Expr
) -> list[_DatedColumn]:
    """How many texts of some columns are dates of the format that is given."""
    [kind] = dates_as_given(form, exact=False)
    figures: list[exp.Expr] = []
    for name in names:
        text = exp.cast(exp.column(name, quoted=True), "VARCHAR")
        filled = exp.NEQ(this=text, expression=exp.Literal.string(""))
        read = kind.converted(kind.bare(text), safe=True)
        none = exp.and_(filled.copy(), exp.Is(this=read, expression=exp.Null()))
        figures += [_count(filled), _count(none)]
        figures.append(exp.Min(this=exp.Case().when(none.copy(), place.copy())))
        parsed = exp.Anonymous(
            this="try_strptime",
            expressions=[kind.bare(text), exp.Literal.string(form.date_format or "")],
        )
        figures.append(
            _count(exp.and_(none, exp.Not(this=exp.Is(this=parsed, expression=exp.Null()))))
        )
    if not names:
        return []
    [row] = engine.rows(exp.select(*figures).from_(source.copy()))
    parts = zip(names, row[::4], row[1::4], row[2::4], row[3::4], strict=True)
    return [
        _DatedColumn(name, filled, filled - none, first, early)
        for name, filled, none, first, early in parts
    ]


def _count(condition: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Case().when(condition.copy(), exp.convert(1)))


_WAY_OUT = "correct what is none, or say what stands for a missing date with nullstr (--nullstr)"
