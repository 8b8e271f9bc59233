"""What is wrong with a text file, and in which line; no line is ever quoted."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.text_layout import SPACED, TextLayout, opened_text
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.wording import counted

_WIDEST_FIELD = 2**31 - 1
_CHUNK = 1 << 20
_FIRST_ROW = 2
_ROW_NAMES = (
    '; if its first field is the name of a row, as write.table of R writes it, put ""{} in front '
    "of the header"
)
# What stands in a text for bytes that are no letters, and control characters of latin-1.
_NO_LETTERS = re.compile("[\ufffd\x80-\x9f]")
# What DuckDB raises where a file is not what its name says.
BAD_INPUT = duckdb.InvalidInputException | duckdb.ConversionException


def csv_fault(error: Exception, layout: TextLayout) -> SqlanonError:
    """The error for a file that is no CSV: which line is at fault, and what is wrong with it."""
    path = layout.path
    if not isinstance(error, BAD_INPUT):
        return cut_off(path) or fault(error, f"read {path.name!r}")
    undecodable = undecodable_line(path, layout.form.codec)
    if undecodable is not None:
        return encoding_fault(layout, undecodable)
    found = _broken_line(layout) or _other_ending(layout)
    if found is None:
        told = re.match(r"\D*CSV Error on Line: (\d+)\n", str(error))
        where = f" at line {told.group(1)}" if told else ""
        found = f"{where}: every line needs as many fields as the header, and quotes must be closed"
    spaced = SPACED if layout.is_spaced else ""
    return SourceError(f"{path.name!r} is not a regular CSV file{found}{spaced}")


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
    """The error for a file that ends too soon."""
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


def _broken_line(layout: TextLayout) -> str | None:
    """Where a line has other fields than the header, or a quote is wrong."""
    width = len(layout.columns)
    old = csv.field_size_limit(_WIDEST_FIELD)
    try:
        with _lines(layout) as lines:
            rows = csv.reader(lines, delimiter=layout.delimiter, strict=True, skipinitialspace=True)
            while True:
                line = rows.line_num + 1
                try:
                    row = next(rows)
                except StopIteration:
                    return None
                except csv.Error:
                    return f" at line {line}: a quote is not closed, or something follows it"
                # DuckDB takes a delimiter at the end of a line for no field.
                if row and len(row) != width and not (len(row) == width + 1 and not row[-1]):
                    fields = counted(len(row), "field")
                    found = f" at line {line}: it has {fields} where the header has {width}"
                    is_named = line == _FIRST_ROW and len(row) == width + 1
                    return found + (_ROW_NAMES.format(layout.delimiter) if is_named else "")
    finally:
        csv.field_size_limit(old)


def line_of(layout: TextLayout, record: int) -> int:
    """The line of a file that a record begins in; records count from 0 on, lines from 1 on."""
    old = csv.field_size_limit(_WIDEST_FIELD)
    try:
        with _lines(layout) as lines:
            rows = csv.reader(lines, delimiter=layout.delimiter, skipinitialspace=True)
            line, before = 1, record + 1  # the header is before all records
            for row in rows:
                # A blank line is a record of a single column, and none of several.
                if row or len(layout.columns) == 1:
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
