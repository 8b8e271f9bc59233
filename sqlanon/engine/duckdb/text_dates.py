"""Dates of text files by a format that is given: which columns are written in it, and which not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.text_columns import TextColumns
from sqlanon.engine.duckdb.text_format import TextFormat
from sqlanon.engine.duckdb.text_types import Kind, dates_as_given
from sqlanon.errors import EngineError, SourceError
from sqlanon.wording import counted

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
    try:
        [(text,)] = engine.rows(exp.select(shown))
        read = exp.Anonymous(
            this="strptime",
            expressions=[exp.Literal.string(text), exp.Literal.string(form.date_format)],
        )
        engine.rows(exp.select(read))
        return
    except EngineError:
        pass
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
    """

    name: str
    filled: int
    fitting: int
    first: int | None

    @property
    def is_whole(self) -> bool:
        """Whether there are values, and all are such dates."""
        return 0 < self.filled == self.fitting

    @property
    def is_meant(self) -> bool:
        """Whether most are such dates, but not all."""
        return MOSTLY * self.filled <= self.fitting < self.filled

    def told(self, where: Callable[[int], str]) -> str:
        """How many values are none, and where the first is."""
        others = self.filled - self.fitting
        are = "is no date" if others == 1 else "are no dates"
        first = "" if self.first is None else f", the first in {where(self.first)}"
        return (
            f"column {self.name!r}: {others:,} of {counted(self.filled, 'value')} {are} of the "
            f"format that is given (--date-format){first}"
        )


@dataclass(frozen=True, slots=True)
class GivenDates:
    """A format of dates that a file is said to be written in, and what became of its columns.

    Args:
        path: The file.
        form: How it is written.
        dated: Columns that must be dates.
        kinds: The types that its columns of texts got.
        where: Says in words where a record stands in it.
    """

    path: Path
    form: TextFormat
    dated: frozenset[str]
    kinds: Mapping[str, Kind]
    where: Callable[[int], str]

    def notes(
        self, engine: DuckDB, table: exp.Table, *, texts: TextColumns, others: TextColumns
    ) -> list[str]:
        """Notes of columns that are read as text for values that are no such dates.

        Args:
            engine: Where the table is.
            table: What was loaded, in the order of the file.
            texts: The columns that were loaded, as texts.
            others: The columns that were not.

        Raises:
            SourceError: No column of the file is such dates, or one that must be is not.
        """
        if self.form.date_format is None:
            return []
        names = [name for name, kinds in texts.kinds.items() if kinds and name not in self.kinds]
        loaded = _dated(engine, table, self.form, names, place=exp.column("rowid"))
        meant = [one for one in loaded if one.is_meant]
        is_read = any(one.is_whole for one in loaded)
        if not (is_read or any(kind.form for kind in self.kinds.values())):
            self._refuse_none(engine, table, meant=meant, others=others)
        for one in meant:
            if one.name in self.dated:
                raise SourceError(f"{one.told(self.where)}; {_WAY_OUT}")
        return [f"{one.told(self.where)}, so the column is text; {_WAY_OUT}" for one in meant]

    def _refuse_none(
        self,
        engine: DuckDB,
        table: exp.Table,
        *,
        meant: Sequence[_DatedColumn],
        others: TextColumns,
    ) -> None:
        """Refuses a file with records where no column that is left out is such dates, either."""
        if not engine.rows(exp.select(exp.Count(this=exp.Star())).from_(table.copy()))[0][0]:
            return
        rows = others.texts().subquery("texts")
        dropped = _dated(engine, rows, self.form, list(others.kinds), place=exp.Null())
        if any(one.is_whole for one in dropped):
            return
        told = [f"; {one.told(self.where)}" for one in [*meant, *dropped] if one.is_meant]
        raise SourceError(
            f"no column of {self.path.name!r} has nothing but dates of the format that is given "
            f"(--date-format); a single value that is none makes a column text{''.join(told)}"
        )


def _dated(
    engine: DuckDB, source: exp.Expr, form: TextFormat, names: Sequence[str], *, place: exp.Expr
) -> list[_DatedColumn]:
    """How many texts of some columns are dates of the format that is given."""
    [kind] = dates_as_given(form, exact=False)
    figures: list[exp.Expr] = []
    for name in names:
        text = exp.column(name, quoted=True)
        filled = exp.NEQ(this=text, expression=exp.Literal.string(""))
        read = kind.converted(kind.bare(text), safe=True)
        none = exp.and_(filled.copy(), exp.Is(this=read, expression=exp.Null()))
        figures += [_count(filled), _count(none)]
        figures.append(exp.Min(this=exp.Case().when(none.copy(), place.copy())))
    if not names:
        return []
    [found] = engine.rows(exp.select(*figures).from_(source.copy()))
    parts = zip(names, found[::3], found[1::3], found[2::3], strict=True)
    return [_DatedColumn(name, filled, filled - none, first) for name, filled, none, first in parts]


def _count(condition: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Case().when(condition.copy(), exp.convert(1)))


_WAY_OUT = "correct what is none, or say what stands for a missing date with nullstr (--nullstr)"
