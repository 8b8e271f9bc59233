"""What is wrong with a text file, and in which line; no line is ever quoted."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.text_layout import SPACED, TextLayout, is_gzip, opened_text
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.wording import counted

_WIDEST_FIELD = 2**31 - 1
_CHUNK = 1 << 20
# What stands in a text for bytes that are no letters, and control characters of latin-1.
_NO_LETTERS = re.compile("[\ufffd\x80-\x9f]")
Scan = Callable[[Mapping[str, exp.Expr]], exp.Table]
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
    the first.
    """
    options = {"store_rejects": exp.true(), "rejects_limit": exp.convert(1)}
    counts = [exp.Count(this=exp.column(name, quoted=True)) for name in layout.columns]
    parts = map(exp.column, ("line", "error_type", "column_idx"))
    with suppress(SqlanonError), closing(duckdb.connect(config={"threads": 1})) as connection:
        other = DuckDB(connection)
        other.rows(exp.select(*counts).from_(scan(options)))
        for line, kind, fields in other.rows(exp.select(*parts).from_("reject_errors")):
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
            data = file.read(_CHUNK)
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
            while file.read(_CHUNK):
                pass
    except SourceError as error:
        return error
    return None


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Names a file that is damaged instead of what its reader says."""
    try:
        yield
        return
    except (OSError, EOFError, zlib.error):
        pass
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
