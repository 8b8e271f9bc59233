"""Reading CSV files once, into a temporary table, without changing a value."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engine.base import Row, Use, render
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.narrowing import complete, home
from sqlanon.engine.duckdb.syntax import create_temporary
from sqlanon.engine.duckdb.text_columns import TextColumns
from sqlanon.engine.duckdb.text_dates import GivenDates, refuse_date_format
from sqlanon.engine.duckdb.text_faults import (
    Scan,
    csv_fault,
    encoding_fault,
    line_of,
    refuse_undecodable_names,
    undecodable_line,
)
from sqlanon.engine.duckdb.text_format import TextFormat
from sqlanon.engine.duckdb.text_layout import TextLayout, is_gzip, layout_of, opened_text
from sqlanon.engine.duckdb.text_types import Kind, csv_kinds, dates_as_given
from sqlanon.engine.own_folders import own_folder
from sqlanon.errors import EngineError

_SAMPLE_ROWS = 2048
# Small buffers let decompression and parsing overlap; twice as fast as one large buffer.
_BUFFER = 4_000_000
# What DuckDB calls the encodings that it reads well, by Python's names: its UTF-16 lacks letters.
_NATIVE = {"utf-8": "utf-8", "iso8859-1": "latin-1"}


def every_column(_columns: Sequence[str]) -> Use:
    """The use of a file of which nothing is known: all columns, by their values."""
    return Use()


@dataclass(frozen=True, slots=True)
class TextReading:
    """How a file is read.

    Args:
        form: How it is written, where it is text.
        use: What use is made of its columns, once these are known.
        is_shared: Whether `form` is said of another file, so that one which says by itself how it
            is written is no fault.
    """

    form: TextFormat = field(default_factory=TextFormat)
    use: Callable[[Sequence[str]], Use] = every_column
    is_shared: bool = False

    def refusing(self, path: Path, kind: str, *names: str) -> TextReading:
        """This without what no file of a kind is told, all or these.

        Raises:
            SourceError: Something of it is said of this very file.
        """
        if not self.is_shared:
            self.form.refuse(repr(path.name), kind, *names)
        return replace(self, form=replace(self.form, **dict.fromkeys(names or self.form.given)))


def read_csv(engine: DuckDB, path: Path, *, table: exp.Table, how: TextReading) -> None:
    """Reads a CSV file with a header line into a temporary table.

    A column becomes BIGINT, DOUBLE, DATE or TIMESTAMP only where every value of the file says so,
    none is changed by it and no two of them become one: postcodes with leading zeros, long
    numbers, yes/no, and 1.0 beside 1.00 stay text, in whatever row they stand. So a text column
    that was written to a file has the classes and values that it had before. One that is published
    as it is becomes such a type, or a DECIMAL, only where the type writes every value as the file
    does. Dates are those of ISO 8601 and of the format that is given; which of two numbers is the
    month is never guessed. An empty field is NULL; "" in quotes is an empty text.

    DuckDB's own reader decides by the first 20,480 rows and from there on turns 01234 into 1234
    and 1.5 into 1 without a word. So all is read as text, and converted in the same pass under a
    guard; where a guard stops that, a second, slower way looks at every value before it decides.

    Raises:
        SourceError: The file is no CSV file with a header; the message quotes none of it.
    """
    layout = layout_of(path, how.form)
    refuse_undecodable_names(layout)
    use = how.use(layout.columns)
    valued = [name for name in use.kept(layout.columns) if not use.is_exact(name)]
    engine.notes += [note for note in layout.notes(valued) if note not in engine.notes]
    refuse_date_format(engine, how.form)
    kinds: dict[str, Sequence[Kind]] = dict.fromkeys(use.read(layout.columns), ())
    for name in use.kept(layout.columns):
        decimals = layout.decimals.get(name)
        kinds[name] = csv_kinds(how.form, decimals, exact=use.is_exact(name))
    loaded = home(engine, table, names=layout.columns, use=use)
    with _native(engine, layout) as (readable, encoding):
        types = dict.fromkeys(layout.columns, "VARCHAR")

        def scanned(more: Mapping[str, exp.Expr]) -> exp.Table:
            return _scan(readable, layout.delimiter, types=types, encoding=encoding, more=more)

        scan = scanned({})
        texts = TextColumns(scan, kinds, how.form.nulls, use.counted)
        found = _load(engine, layout, columns=texts, table=loaded, scanned=scanned)
        left_out = [name for name in layout.columns if name not in use.kept(layout.columns)]
        given = dict.fromkeys(left_out, dates_as_given(how.form, exact=False))
        others = TextColumns(scan, given, how.form.nulls)
        dates = GivenDates(
            path, how.form, use.dated, found, lambda record: f"line {line_of(layout, record)}"
        )
        engine.notes += dates.notes(engine, loaded, texts=texts, others=others)
    complete(engine, loaded, table=table, names=layout.columns, use=use)


def read_typed_csv(
    engine: DuckDB, path: Path, *, table: exp.Table, types: Mapping[str, str]
) -> None:
    """Reads a CSV file that sqlanon has written, with the types that it was written from."""
    scan = _scan(path, ",", types=types)
    engine.run(create_temporary(table.copy(), exp.select("*").from_(scan)))


def scan_file(function: str, path: Path, *, options: Mapping[str, exp.Expr]) -> exp.Table:
    """A table function over exactly one file, whose name may hold the signs of a pattern."""
    plain = re.sub(r"([*?\[])", r"[\1]", str(path))
    arguments = [
        exp.EQ(this=exp.column(name, quoted=True), expression=value)
        for name, value in options.items()
    ]
    call = exp.Anonymous(this=function, expressions=[exp.Literal.string(plain), *arguments])
    return exp.Table(this=call)


def _load(
    engine: DuckDB, layout: TextLayout, *, columns: TextColumns, table: exp.Table, scanned: Scan
) -> dict[str, Kind]:
    """Converts a scan into a table: by a guess of the first rows, or by a look at every value.

    Returns:
        The type of each column that is text no more.
    """

    def ask(query: exp.Expr) -> list[Row]:
        text = render(query, engine.dialect)
        return engine.attempt(
            lambda: engine.connection.execute(text).fetchall(),
            lambda error: csv_fault(error, layout, scanned),
        )

    guess = columns.fitting(ask, _SAMPLE_ROWS)
    layout.refuse_headless(list(guess))
    try:
        engine.run(create_temporary(table.copy(), columns.guarded(guess)))
        created = True
    except EngineError:
        created = False
    if created and not _late(
        engine, table, texts=[n for n, kinds in columns.kinds.items() if kinds and n not in guess]
    ):
        return guess
    if created:
        engine.drop(table)
    raw = engine.temporary("text")
    ask(create_temporary(raw, columns.texts()))
    texts = TextColumns(raw, columns.kinds)
    kinds = texts.fitting(engine.rows)
    merging = texts.merging(engine.rows, kinds)
    kept = {name: kind for name, kind in kinds.items() if name not in merging}
    engine.run(create_temporary(table.copy(), texts.converted(kept)))
    engine.drop(raw)
    return kept


def _late(engine: DuckDB, table: exp.Table, *, texts: Sequence[str]) -> bool:
    """Whether a column taken for text is empty in the first rows, and only there."""
    if not texts:
        return False
    counts = [exp.Count(this=exp.column(name, quoted=True)) for name in texts]
    head = exp.select("*").from_(table.copy()).limit(_SAMPLE_ROWS).subquery("head")
    found = engine.rows(exp.select(*counts).from_(head))[0]
    empty = [count for count, filled in zip(counts, found, strict=True) if not filled]
    return bool(empty) and any(engine.rows(exp.select(*empty).from_(table.copy()))[0])


@contextmanager
def _native(engine: DuckDB, layout: TextLayout) -> Iterator[tuple[Path, str]]:
    """A file in an encoding that DuckDB reads, and what DuckDB calls it.

    Any other is written as UTF-8 to a folder of its own, which stays no longer than it is read.
    """
    codec = layout.form.codec
    if codec in _NATIVE:
        yield layout.path, _NATIVE[codec]
        return
    spill = engine.setting("temp_directory")
    with own_folder(spill if Path(spill).is_dir() else None) as folder:
        copy = folder / "text.csv"
        try:
            with (
                opened_text(layout.path) as file,
                io.TextIOWrapper(file, encoding=codec, newline="") as letters,
                copy.open("w", encoding="utf-8", newline="") as written,
            ):
                shutil.copyfileobj(letters, written)
            failed = False
        except UnicodeError:
            failed = True
        if failed:
            raise encoding_fault(layout, undecodable_line(layout.path, codec) or 1)
        yield copy, "utf-8"


def _scan(
    path: Path,
    delimiter: str,
    *,
    types: Mapping[str, str],
    encoding: str = "utf-8",
    more: Mapping[str, exp.Expr] | None = None,
) -> exp.Table:
    """A CSV file with these columns; told all this, DuckDB need not try, and sees no comments."""
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string(kind))
            for name, kind in types.items()
        ]
    )
    options: dict[str, exp.Expr] = {
        "delim": exp.Literal.string(delimiter),
        "quote": exp.Literal.string('"'),
        "escape": exp.Literal.string('"'),
        "comment": exp.Literal.string(""),
        "hive_partitioning": exp.false(),
        "auto_detect": exp.false(),
        "header": exp.true(),
        "columns": columns,
        "allow_quoted_nulls": exp.false(),
        "buffer_size": exp.convert(_BUFFER),
        "compression": exp.Literal.string("gzip" if is_gzip(path) else "none"),
        "encoding": exp.Literal.string(encoding),
        **(more or {}),
    }
    return scan_file("read_csv", path, options=options)
