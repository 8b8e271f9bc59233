"""Columns of texts, and their conversion to types without a loss; others read as NULL or as hashes.

A column of which the values alone count is converted where no two of its texts become one value.
One that is published as it is, only where every text is also how the type itself is written. So the
policy, which says which columns are which, is made from the header, before the file is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex

from sqlglot import exp

from sqlanon.engine.base import Row, Use
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.syntax import create_temporary, selected
from sqlanon.engine.duckdb.text_layout import TextFormat
from sqlanon.errors import EngineError, SourceError
from sqlanon.sqltext import Sql, Statement, expression, name, value, word
from sqlanon.wording import counted


def home(engine: DuckDB, table: exp.Table, *, names: Sequence[str], use: Use) -> exp.Table:
    """Where the columns that are loaded go: the table itself where that is all of them."""
    return table if len(use.kept(names)) == len(names) else engine.temporary("file")


def complete(
    engine: DuckDB, loaded: exp.Table, *, table: exp.Table, names: Sequence[str], use: Use
) -> None:
    """Makes the table whole again, where only some of its columns were loaded."""
    if loaded != table:
        query = selected(projections(names, use), loaded)
        engine.run(create_temporary(table, query, kind="VIEW"))


def projections(names: Sequence[str], use: Use) -> dict[str, Sql]:
    """All columns of a table that holds those loaded, the others as NULL."""
    there = {*use.read(names)}
    null = expression("CAST(NULL AS VARCHAR)")
    return {column: name(column) if column in there else null for column in names}


def loading(names: Sequence[str], use: Use, nulls: Sequence[str] = ()) -> dict[str, Sql]:
    """What is loaded of a table that holds all columns: those kept, and hashes of some others.

    Those kept still have the texts that stand for NULL.
    """
    kept = set(use.kept(names))
    return {
        column: name(column) if column in kept else _hashed(name(column), nulls)
        for column in use.read(names)
    }


def _present(text: Sql, nulls: Sequence[str]) -> Sql:
    """A text, without what stands for NULL."""
    if not nulls:
        return text
    # DuckDB takes time exponential in how many calls of NULLIF are within one another.
    present = "CASE WHEN {{ text }} NOT IN ({{ listed(nulls) }}) THEN {{ text }} END"
    return expression(present, text=text, nulls=[value(null) for null in nulls])


# What DuckDB may read as a time by itself. To try a text takes twice as long as to hash it.
_MAY_BE_TIME = "(?i)[0-9][^0-9][0-9]|infinity|epoch"


def _hashed(cell: Sql, nulls: Sequence[str]) -> Sql:
    """A number for each value; NULL and what DuckDB reads as a time by itself become NULL.

    It is an MD5 with a key that nobody keeps, so that nobody can tell which value it stands for.
    DuckDB's own `hash` could be computed backwards.
    """
    text = _present(expression("CAST({{ cell }} AS VARCHAR)", cell=cell), nulls)
    return expression(
        """
        CASE
          WHEN NOT {{ may_be_time }} THEN {{ number }}
          WHEN TRY_CAST({{ text }} AS TIMESTAMP) IS NULL THEN {{ number }}
        END
        """,
        may_be_time=_matches(text, _MAY_BE_TIME),
        text=text,
        number=expression(
            "MD5_NUMBER({{ key }} || {{ text }})", key=value(token_hex(16)), text=text
        ),
    )


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

    def bare(self, text: Sql) -> Sql:
        """The text without the blanks around it, where these are no part of the value."""
        return text if self.exact else expression("TRIM({{ text }})", text=text)

    def converted(self, text: Sql, *, safe: bool) -> Sql:
        """The value of a text; with `safe`, NULL where it has none."""
        cast = word("TRY_CAST" if safe else "CAST")
        if self.form is None:
            plain = "{{ cast }}({{ text }} AS {{ kind }})"
            return expression(plain, cast=cast, text=text, kind=word(self.type))
        read = expression(
            "{{ parse }}({{ text }}, {{ form }})",
            parse=word("try_strptime" if safe else "strptime"),
            text=text,
            form=value(self.form),
        )
        return expression(
            "CAST(CASE WHEN YEAR({{ read }}) >= {{ first }} THEN {{ read }} END AS {{ kind }})",
            read=read,
            # %Y reads 63 and 7, too: years of two digits, and numbers that are no years.
            first=_FIRST_YEAR,
            kind=word(self.type),
        )

    def guarded(self, text: Sql) -> Sql:
        """The value; the query fails where a text is not spelt as all others are."""
        converted = self.converted(text, safe=False)
        return expression(
            "CASE WHEN {{ spelt }} IS DISTINCT FROM {{ text }} THEN error('guard') "
            "ELSE {{ converted }} END",
            spelt=self._spelt(converted),
            text=text,
            converted=converted,
        )

    def fits(self, text: Sql) -> Sql:
        """An aggregate: the type holds every value of the column; NULL where there is none."""
        source = self.bare(text)
        converted = self.converted(source, safe=True)
        return expression(
            "BOOL_AND(CASE WHEN {% if is_exact %}{{ text }} IS NOT NULL{% else %}{{ text }} <> ''"
            "{% endif %} THEN {{ converted }} IS NOT NULL AND NOT {{ changed }} END)",
            is_exact=self.exact,
            text=text,
            converted=converted,
            changed=self._changed(source, converted),
        )

    def _changed(self, text: Sql, converted: Sql) -> Sql:
        """True where a converted text is not the same value any more."""
        if self.form is not None:
            return value(False)
        if not self.exact and self.type == "DOUBLE":
            return _matches(text, _NO_NUMBER)
        if not self.exact and self.type == "TIMESTAMP":
            return expression("NOT {{ matches }}", matches=_matches(text, _ISO_TIME))
        spelt = "CAST({{ converted }} AS VARCHAR) <> {{ text }}"
        return expression(spelt, converted=converted, text=text)

    def _spelt(self, converted: Sql) -> Sql:
        """The one text that a value is written as: texts that have it are as many as values."""
        if self.form is not None:
            form = value(self.form)
            return expression("strftime({{ value }}, {{ form }})", value=converted, form=form)
        text = expression("CAST({{ value }} AS VARCHAR)", value=converted)
        if self.exact or self.type != "DOUBLE" or self.decimals is None:
            return text
        if self.decimals:
            form = value(f"{{:.{self.decimals}f}}")
            return expression("format({{ form }}, {{ value }})", form=form, value=converted)
        without_point = (
            "CASE WHEN suffix({{ text }}, '.0') THEN left({{ text }}, -2) ELSE {{ text }} END"
        )
        return expression(without_point, text=text)


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


def _matches(text: Sql, pattern: str) -> Sql:
    regular = value(pattern)
    return expression("regexp_matches({{ text }}, {{ pattern }})", text=text, pattern=regular)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Columns of a table or of a scan that are text, and the types that each may get.

    Args:
        rows: The table, or a query.
        kinds: By the name of each column, the types that its texts may have, the first that fits
            first; none where it stays as it is.
        nulls: Texts that stand for NULL.
        counted: Columns of which only the hashes of texts are wanted.
    """

    rows: exp.Table | Sql
    kinds: Mapping[str, Sequence[Kind]]
    nulls: Sequence[str] = ()
    counted: Collection[str] = ()

    @property
    def _convertible(self) -> list[str]:
        return [name for name, kinds in self.kinds.items() if kinds]

    def texts(self) -> Sql:
        """All columns as they are, without what stands for NULL."""
        return selected({name: self._text(name) for name in self.kinds}, self.rows)

    def guarded(self, kinds: Mapping[str, Kind]) -> Sql:
        """All columns in these types; the query fails where a value is not spelt as others are."""
        return self._with(kinds, lambda kind, text: kind.guarded(text))

    def converted(self, kinds: Mapping[str, Kind]) -> Sql:
        """All columns in these types, which every value is known to have."""
        return self._with(kinds, lambda kind, text: _value(text, kind))

    def _with(self, kinds: Mapping[str, Kind], value_of: Callable[[Kind, Sql], Sql]) -> Sql:
        """All columns, those that have a kind as what is made of their texts."""
        columns = {column: name(column) for column in self.kinds}
        columns |= {column: value_of(kind, columns[column]) for column, kind in kinds.items()}
        return selected(columns, self.texts())

    def fitting(self, ask: Callable[[Sql], list[Row]], rows: int | None = None) -> dict[str, Kind]:
        """The first type of each column that all its values have.

        Args:
            ask: Carries a query out.
            rows: How many of the first rows count; None for all.
        """
        # How many decimals are written matters to no value.
        asked = list(
            dict.fromkeys(
                replace(kind, decimals=None) for kinds in self.kinds.values() for kind in kinds
            )
        )
        if not asked:
            return {}
        names = self._convertible
        # Conversions take longer than to find equal texts, of which a sample has few others.
        query = expression(
            """
            SELECT place, {{ listed(questions) }}
            FROM (
              SELECT {% if rows is not None %}DISTINCT{% endif %}
                UNNEST([{{ listed(places) }}]) AS place, UNNEST([{{ listed(columns) }}]) AS text
              FROM (SELECT * FROM {{ texts }} {% if rows is not None %}LIMIT {{ rows }}{% endif %})
            )
            GROUP BY place
            """,
            questions=[kind.fits(word("text")) for kind in asked],
            # One below the other: a query of each column would be long to plan.
            places=range(len(names)),
            columns=[name(column) for column in names],
            texts=self.texts(),
            rows=rows,
        )
        fits: dict[str, set[Kind]] = {}
        for number, *answers in ask(query):
            fits[names[number]] = {
                kind for kind, is_fit in zip(asked, answers, strict=True) if is_fit
            }
        candidates = {
            name: [kind for kind in kinds if replace(kind, decimals=None) in fits.get(name, ())]
            for name, kinds in self.kinds.items()
        }
        return {name: kinds[0] for name, kinds in candidates.items() if kinds}

    def loaded(self, engine: DuckDB, table: exp.Table) -> dict[str, Kind]:
        """Makes a table of these by a look at every value.

        Returns:
            The type of each column that is text no more.
        """
        kinds = self.fitting(engine.rows)
        merging = self._merging(engine, kinds)
        kept = {name: kind for name, kind in kinds.items() if name not in merging}
        engine.run(create_temporary(table, self.converted(kept)))
        return kept

    def _merging(self, engine: DuckDB, kinds: Mapping[str, Kind]) -> set[str]:
        """The columns in which two texts would become one value; an empty one would become NULL."""
        if not kinds:
            return set()
        merges = {
            column: expression(
                "COUNT(DISTINCT NULLIF({{ text }}, '')) <> COUNT(DISTINCT {{ value }}) "
                "OR BOOL_OR({{ text }} = '') AND BOOL_OR({{ text }} IS NULL)",
                text=name(column),
                value=_value(name(column), kind),
            )
            for column, kind in kinds.items()
        }
        [row] = engine.rows(selected(merges, self.texts()))
        return {column for column, merged in zip(kinds, row, strict=True) if merged}

    def _text(self, column: str) -> Sql:
        if column in self.counted:
            return _hashed(name(column), self.nulls)
        return _present(name(column), self.nulls if self.kinds[column] else ())


def _value(text: Sql, kind: Kind) -> Sql:
    return kind.converted(kind.bare(text), safe=True)


_DATES = {"DATE", "TIMESTAMP"}
MIN_DATE_SHARE = 0.5
"""Share of a column's values from which it is meant to be dates."""


def refuse_date_format(engine: DuckDB, form: TextFormat) -> None:
    """Refuses a format of dates that DuckDB does not know.

    Raises:
        SourceError: One of its directives is none of strptime.
    """
    if form.date_format is None:
        return
    read = "SELECT strptime(strftime(TIMESTAMP '2000-12-31', {{ form }}), {{ form }})"
    with suppress(EngineError):
        engine.rows(expression(read, form=value(form.date_format)))
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
        return MIN_DATE_SHARE * self.filled <= self.fitting < self.filled

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
    rows: Sql,
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
    loaded = _dated(engine, table, form, names, place=word("rowid"))
    unfit = [one for one in loaded if one.name in dated and one.fitting < one.filled]
    if unfit:
        raise SourceError(f"{'; '.join(one.text(where) for one in unfit)}; {_WAY_OUT}")
    meant = [one for one in loaded if one.is_meant]
    is_read = any(one.is_whole for one in loaded) or any(kind.form for kind in kinds.values())
    count = expression("SELECT COUNT(*) FROM {{ table }}", table=table)
    if not is_read and engine.rows(count)[0][0]:
        given = dict.fromkeys(left_out, dates_as_given(form, exact=False))
        unread = TextColumns(rows, given, form.nulls).texts()
        others = _dated(engine, unread, form, left_out, place=value(None))
        if not any(one.is_whole for one in others):
            best = max([*loaded, *others], key=lambda one: one.likeness, default=None)
            nearly = f"; {best.text(where)}" if best is not None and best.likeness else ""
            raise SourceError(
                f"no column of {path.name!r} has nothing but dates of the format that is given "
                f"(--date-format); a single value that is none makes a column text{nearly}"
            )
    return [f"{one.text(where)}, so the column is text; {_WAY_OUT}" for one in meant]


def _dated(
    engine: DuckDB, source: Statement, form: TextFormat, names: Sequence[str], *, place: Sql
) -> list[_DatedColumn]:
    """How many texts of some columns are dates of the format that is given."""
    if not names:
        return []
    [kind] = dates_as_given(form, exact=False)
    texts = [expression("CAST({{ text }} AS VARCHAR)", text=name(column)) for column in names]
    figures = expression(
        """
        SELECT
          {% for text, bare, read in columns %}
          COUNT(CASE WHEN {{ text }} <> '' THEN 1 END),
          COUNT(CASE WHEN {{ text }} <> '' AND {{ read }} IS NULL THEN 1 END),
          MIN(CASE WHEN {{ text }} <> '' AND {{ read }} IS NULL THEN {{ place }} END),
          COUNT(CASE WHEN {{ text }} <> '' AND {{ read }} IS NULL
            AND try_strptime({{ bare }}, {{ form }}) IS NOT NULL THEN 1 END),
          {% endfor %}
        FROM {{ source }}
        """,
        columns=[(text, kind.bare(text), _value(text, kind)) for text in texts],
        place=place,
        form=value(form.date_format),
        source=source,
    )
    [row] = engine.rows(figures)
    parts = zip(names, row[::4], row[1::4], row[2::4], row[3::4], strict=True)
    return [
        _DatedColumn(column, filled, filled - none, first, early)
        for column, filled, none, first, early in parts
    ]


_WAY_OUT = "correct what is none, or say what stands for a missing date with nullstr (--nullstr)"
