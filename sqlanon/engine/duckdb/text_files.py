"""Reading CSV files once, into a temporary table, without changing a value.

What is wrong with one is told by the line; no line is ever quoted.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.engine.base import Row, Use
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.syntax import create_temporary, selected
from sqlanon.engine.duckdb.text_columns import (
    Kind,
    TextColumns,
    complete,
    csv_kinds,
    date_notes,
    home,
    refuse_date_format,
)
from sqlanon.engine.duckdb.text_layout import (
    SPACED,
    TextFormat,
    TextLayout,
    is_gzip,
    layout_of,
    opened_text,
)
from sqlanon.engine.locked_folders import locked_folder
from sqlanon.errors import EngineError, SourceError, SqlanonError
from sqlanon.sqltext import Sql, expression, value, word
from sqlanon.sqltext import name as quoted
from sqlanon.wording import counted

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
    notes = engine.opened.notes
    notes += [note for note in layout.notes(valued) if note not in notes]
    refuse_date_format(engine, how.form)
    kinds: dict[str, Sequence[Kind]] = dict.fromkeys(use.read(layout.columns), ())
    for name in use.kept(layout.columns):
        decimals = layout.decimals.get(name)
        kinds[name] = csv_kinds(
            how.form, decimals, exact=use.is_exact(name), like=use.types.get(name)
        )
    loaded = home(engine, table, names=layout.columns, use=use)
    with _native(engine, layout) as (readable, encoding):
        types = dict.fromkeys(layout.columns, "VARCHAR")

        def scanned(more: Mapping[str, Sql]) -> Sql:
            if layout.line_break is not None:
                more = {"new_line": _line_break(layout.line_break), **more}
            return _scan(readable, layout.delimiter, types=types, encoding=encoding, more=more)

        scan = scanned({})
        typed = {name: () if use.types.get(name) == "TEXT" else kinds[name] for name in kinds}
        texts = TextColumns(scan, typed, how.form.nulls, use.counted)
        column_kinds = _load(engine, layout, columns=texts, table=loaded, scanned=scanned)
        _refuse_left_out(engine, layout, path=readable, table=loaded, scanned=scanned)
        engine.opened.notes += date_notes(
            engine,
            loaded,
            path=path,
            form=how.form,
            dated=use.dated,
            texts=replace(texts, kinds=kinds),
            kinds=column_kinds,
            rows=scan,
            left_out=[name for name in layout.columns if name not in use.kept(layout.columns)],
            where=lambda record: f"line {line_of(layout, record)}",
        )
    complete(engine, loaded, table=table, names=layout.columns, use=use)


def read_typed_csv(
    engine: DuckDB, path: Path, *, table: exp.Table, types: Mapping[str, str]
) -> None:
    """Reads a CSV file that sqlanon has written, with the types that it was written from."""
    scan = _scan(path, ",", types=types, more={"new_line": _line_break("\n")})
    engine.run(create_temporary(table, scan))


def scan_file(function: str, path: Path, **options: Sql) -> Sql:
    """The rows of exactly one file, whose name may hold the signs of a pattern."""
    return expression(
        "SELECT * FROM {{ function }}({{ path }}"
        "{% for option, given in options %}, {{ option }} = {{ given }}{% endfor %})",
        function=word(function),
        path=value(re.sub(r"([*?\[])", r"[\1]", str(path))),
        options=[(word(option), given) for option, given in options.items()],
    )


def columns_as(types: Mapping[str, str]) -> Sql:
    """Columns with their types, as an option of a scan."""
    return expression(
        "{ {% for column, kind in types %}{{ column }}: {{ kind }}, {% endfor %} }",
        types=[(value(column), value(kind)) for column, kind in types.items()],
    )


def _load(
    engine: DuckDB, layout: TextLayout, *, columns: TextColumns, table: exp.Table, scanned: Scan
) -> dict[str, Kind]:
    """Converts a scan into a table: by a guess of the first rows, or by a look at every value.

    Returns:
        The type of each column that is text no more.
    """

    def ask(query: Sql) -> list[Row]:
        return engine.asked(query, lambda error: csv_fault(error, layout, scanned))

    guess = columns.fitting(ask, _SAMPLE_ROWS)
    layout.refuse_headless(list(guess))
    try:
        engine.run(create_temporary(table, columns.guarded(guess)))
        created = True
    except EngineError:
        created = False
    if created and not _late(
        engine, table, texts=[n for n, kinds in columns.kinds.items() if kinds and n not in guess]
    ):
        return guess
    if created:
        engine.tables.drop(table)
    raw = engine.temporary("text")
    ask(create_temporary(raw, columns.texts()))
    kinds = TextColumns(raw, columns.kinds).loaded(engine, table)
    engine.tables.drop(raw)
    return kinds


def _refuse_left_out(
    engine: DuckDB, layout: TextLayout, *, path: Path, table: exp.Table, scanned: Scan
) -> None:
    """Refuses a file of which DuckDB left lines out without a word.

    DuckDB 1.4 to 2.0 cuts a file in pieces for its threads, and leaves a piece out, good lines and
    all, where the first line that begins in it is broken. One thread reads the whole, but takes no
    offence at a last quote that is not closed, as several do. So where lines and records are not
    as many (a text over several lines, a blank line), one thread counts again.

    Args:
        engine: Where the table is.
        layout: Of the file.
        path: The file, in an encoding that DuckDB reads.
        table: What was loaded of it.
        scanned: Makes a scan of it.

    Raises:
        SourceError: A record of the file is missing from the table.
    """
    count = "SELECT COUNT(*) FROM {{ rows }}"
    [(records,)] = engine.rows(expression(count, rows=table))
    if _count_lines(path) == records + 1:  # the header
        return
    query = expression(count, rows=scanned({"parallel": value(False)}))
    [(all_records,)] = engine.asked(query, lambda error: csv_fault(error, layout, scanned))
    if all_records != records:
        raise csv_fault(duckdb.InvalidInputException(), layout, scanned)


def _line_break(ending: str) -> Sql:
    """A line break as DuckDB's option takes it."""
    return value(ending.encode("unicode_escape").decode())


def _count_lines(path: Path) -> int:
    """Lines of a file, of which the last may have no line break."""
    lines, last = 0, b"\n"
    with readable(path), opened_text(path) as file:
        while part := file.read(_BYTES_AT_ONCE):
            lines, last = lines + part.count(b"\n"), part[-1:]
    return lines + (last != b"\n")


def _late(engine: DuckDB, table: exp.Table, *, texts: Sequence[str]) -> bool:
    """Whether a column taken for text is empty in the first rows, and only there."""
    if not texts:
        return False
    head = expression("SELECT * FROM {{ table }} LIMIT {{ rows }}", table=table, rows=_SAMPLE_ROWS)
    [row] = engine.rows(selected(_counts(texts), head))
    empty = [column for column, filled in zip(texts, row, strict=True) if not filled]
    return bool(empty) and any(engine.rows(selected(_counts(empty), table))[0])


def _counts(columns: Sequence[str]) -> dict[str, Sql]:
    """How many values columns have."""
    return {column: expression("COUNT({{ column }})", column=quoted(column)) for column in columns}


@contextmanager
def _native(engine: DuckDB, layout: TextLayout) -> Iterator[tuple[Path, str]]:
    """A file in an encoding that DuckDB reads, and what DuckDB calls it.

    Any other is written as UTF-8 to a folder of its own, which stays no longer than it is read.
    DuckDB takes no notice of quotes behind a byte order mark where it passes over the header, so a
    file with both and line breaks within the quotes is such a one, too.
    """
    codec = layout.form.codec
    if layout.has_mark and layout.line_break is not None:
        codec = "utf-8-sig"
    if codec in _NATIVE:
        yield layout.path, _NATIVE[codec]
        return
    spill = engine.setting("temp_directory")
    with locked_folder(spill if Path(spill).is_dir() else None) as folder:
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
    more: Mapping[str, Sql] | None = None,
) -> Sql:
    """A CSV file with these columns; told all this, DuckDB need not try, and sees no comments."""
    options: dict[str, str | int] = {
        "delim": delimiter,
        "quote": '"',
        "escape": '"',
        "comment": "",
        "hive_partitioning": False,
        "auto_detect": False,
        "header": True,
        "allow_quoted_nulls": False,
        "buffer_size": _BUFFER,
        "compression": "gzip" if is_gzip(path) else "none",
        "encoding": encoding,
    }
    given = {option: value(setting) for option, setting in options.items()}
    return scan_file("read_csv", path, **given, columns=columns_as(types), **(more or {}))


_WIDEST_FIELD = 2**31 - 1
_BYTES_AT_ONCE = 1 << 20
# What stands in a text for bytes that are no letters, and control characters of latin-1.
_NO_LETTERS = re.compile("[\ufffd\x80-\x9f]")
Scan = Callable[["Mapping[str, Sql]"], Sql]
"""Makes a scan of a file with options besides those that it was read with."""
# What DuckDB raises where a file is not what its name says.
BAD_INPUT = duckdb.InvalidInputException | duckdb.ConversionException


def csv_fault(error: Exception, layout: TextLayout, scan: Scan) -> SqlanonError:
    """The error for a file that is no CSV: which line is at fault, and what is wrong with it.

    Args:
        error: What DuckDB raised.
        layout: Of the file.
        scan: Makes a scan of it with more options.
    """
    path = layout.path
    if damaged := cut_off(path):
        return damaged
    if not isinstance(error, BAD_INPUT):
        return fault(error, f"read {path.name!r}")
    if layout.form.codec != "utf-8":
        # DuckDB does not tell the line of letters that an encoding lacks.
        undecodable = undecodable_line(path, layout.form.codec)
        if undecodable is not None:
            return encoding_fault(layout, undecodable)
    number, kind, fields = _rejected(layout, scan)
    line = None if number is None else line_of(layout, number - 2, with_blank=True)
    if line is not None and kind == "INVALID ENCODING":
        return encoding_fault(layout, line)
    reason = _reason(kind, fields, len(layout.columns))
    where = _other_ending(layout) if line is None else f" at line {line}: {reason}"
    spaced = SPACED if layout.is_spaced else ""
    return SourceError(f"{path.name!r} is not a regular CSV file{where or f': {reason}'}{spaced}")


def _rejected(layout: TextLayout, scan: Scan) -> tuple[int | None, str, int | None]:
    """The first line that DuckDB refuses, the kind of its fault, and the last field that it read.

    A text over several lines counts as one line there. The tables of rejects, which quote lines,
    are in a database of their own that is gone at once; it has one thread, so that the first is
    the first. Pieces of a file tell quotes that are not closed; the whole tells all else.
    """
    rejected = expression("SELECT line, error_type, column_idx FROM reject_errors")
    for in_pieces in (True, False):
        options = {"store_rejects": True, "rejects_limit": 1, "parallel": in_pieces}
        rows = scan({option: value(given) for option, given in options.items()})
        with suppress(SqlanonError), closing(duckdb.connect(config={"threads": 1})) as connection:
            other = DuckDB(connection)
            other.rows(selected(_counts(layout.columns), rows))
            for line, kind, fields in other.rows(rejected):
                return line, kind, fields
    return None, "", None


def _reason(kind: str, fields: int | None, width: int) -> str:
    """What is wrong with a line, by what DuckDB calls it."""
    match kind:
        case "MISSING COLUMNS":
            return f"it has {counted(fields or 0, 'field')} where the header has {width}"
        case "TOO MANY COLUMNS":
            return f"it has more fields than the header, which has {width}"
        case "UNQUOTED VALUE":
            return "a quote is not closed, or something follows it"
        case "LINE SIZE OVER MAXIMUM":
            return "it is too long, or a quote is not closed"
    return "every line needs as many fields as the header, and quotes must be closed"


def encoding_fault(layout: TextLayout, line: int) -> SourceError:
    """The error for a line with bytes that are no letters in the file's encoding."""
    name, encoding = layout.path.name, layout.form.encoding
    if encoding is None:
        return SourceError(
            f"{name!r} is not encoded in UTF-8 at line {line}; name its encoding with --encoding, "
            "such as latin-1 or windows-1252, or save it as UTF-8"
        )
    return SourceError(
        f"{name!r} is not encoded in {encoding} at line {line}; name another with --encoding"
    )


def refuse_undecodable_names(layout: TextLayout) -> None:
    """Refuses a file whose header is written in another encoding: DuckDB does not read its names.

    Raises:
        SourceError: Bytes of it are no letters.
    """
    if not any(_NO_LETTERS.search(name) for name in layout.columns):
        return
    line = undecodable_line(layout.path, layout.form.codec)
    if line is not None:
        raise encoding_fault(layout, line)


def undecodable_line(path: Path, codec: str) -> int | None:
    """The first line with bytes that are no letters in an encoding; None where there is none."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(codec)(), translate=True)
    line = 1
    with readable(path), opened_text(path) as file:
        data = b"more"
        while data:
            data = file.read(_BYTES_AT_ONCE)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(codec, errors="ignore")
                return line + len(re.findall(r"\r\n|\r|\n", before))
            # Control characters of latin-1 are letters elsewhere, and DuckDB refuses them.
            control = re.search("[\x80-\x9f]", text) if codec == "iso8859-1" else None
            if control is not None:
                return line + text.count("\n", 0, control.start())
            line += text.count("\n")
    return None


def cut_off(path: Path) -> SourceError | None:
    """The error for a compressed file that is damaged or ends too soon, which DuckDB may miss."""
    if not is_gzip(path):
        return None
    try:
        with readable(path), opened_text(path) as file:
            while file.read(_BYTES_AT_ONCE):
                pass
    except SourceError as error:
        return error
    return None


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Names a file that is damaged instead of what its reader says."""
    with suppress(OSError, EOFError, zlib.error):
        yield
        return
    raise SourceError(f"{path.name!r} cannot be read to its end: it is damaged, or cut off")


def line_of(layout: TextLayout, record: int, *, with_blank: bool = False) -> int:
    """The line of a file that a record begins in; records count from 0 on, lines from 1 on.

    Args:
        layout: Of the file.
        record: Its number.
        with_blank: Whether every blank line counts as a record.
    """
    old = csv.field_size_limit(_WIDEST_FIELD)
    try:
        with _lines(layout) as lines:
            rows = csv.reader(lines, delimiter=layout.delimiter, skipinitialspace=True)
            line, before = 1, record + 1  # the header is before all records
            for row in rows:
                # A blank line is a record of a single column, and none of several.
                if row or with_blank or len(layout.columns) == 1:
                    if not before:
                        break
                    before -= 1
                line = rows.line_num + 1
            return line
    finally:
        csv.field_size_limit(old)


def _other_ending(layout: TextLayout) -> str | None:
    """Where a line ends with other characters than the first one."""
    with _lines(layout) as lines:
        first = None
        for number, line in enumerate(lines, 1):
            ending = line[len(line.rstrip("\r\n")) :][-2:]
            first = first or ending
            if ending and ending != first:
                return f" at line {number}: it ends with another line break than the first line"
    return None


@contextmanager
def _lines(layout: TextLayout) -> Iterator[io.TextIOWrapper]:
    """The lines of a file, with their endings."""
    codec = "utf-8-sig" if layout.form.codec == "utf-8" else layout.form.codec
    with readable(layout.path), opened_text(layout.path) as file:
        yield io.TextIOWrapper(file, encoding=codec, errors="replace", newline="")
