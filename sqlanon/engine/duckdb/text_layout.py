"""How a text file is written: what is said of it, and what its first lines tell."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO

from sqlanon.engine.duckdb.catalog import fold
from sqlanon.errors import SourceError
from sqlanon.wording import listed

_TAB = frozenset({"\\t", "tab"})
_NO_DELIMITER = frozenset('"\r\n\0')
# Directives of strptime that tell a time of day, and those that tell a time zone.
_TIME = re.compile(r"%-?[HIpMSfgnTXc]")
_ZONE = re.compile(r"%[zZ]")


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text file is written; None leaves it to what the file itself says.

    Args:
        date_format: Format of strptime by which texts are dates, such as `%d/%m/%Y`; None takes
            those of ISO 8601 alone for dates.
        nullstr: A text that stands for NULL, or several, besides the empty field.
        delimiter: What stands between two fields of a CSV file; `tab` is the tabulator.
        encoding: The encoding of a CSV file, such as `latin-1`; None is UTF-8.

    Raises:
        SourceError: One of them cannot be.
    """

    date_format: str | None = None
    nullstr: str | Sequence[str] | None = None
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        wrong = [name for name in self.given if not _is_text(getattr(self, name), name)]
        if wrong:
            raise SourceError(f"{', '.join(wrong)} must be given as text")
        if self.date_format is not None and "%" not in self.date_format:
            raise SourceError(
                f"date format {self.date_format!r} names no part of a date; "
                "write it like '%d/%m/%Y'"
            )
        if self.date_format is not None and _ZONE.search(self.date_format):
            raise SourceError(
                f"date format {self.date_format!r} has a time zone, which dates here have none"
            )
        mark = self.mark
        if mark is not None and (len(mark) != 1 or mark in _NO_DELIMITER):
            raise SourceError(f"delimiter {self.delimiter!r} is not one character; write it like ;")
        _ = self.codec

    @property
    def given(self) -> list[str]:
        """The names of what is said."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]

    @property
    def mark(self) -> str | None:
        """The delimiter itself."""
        return "\t" if self.delimiter in _TAB else self.delimiter

    @property
    def nulls(self) -> tuple[str, ...]:
        """The texts that stand for NULL."""
        if self.nullstr is None:
            return ()
        return (self.nullstr,) if isinstance(self.nullstr, str) else tuple(self.nullstr)

    @property
    def codec(self) -> str:
        """Python's name of the encoding."""
        try:
            codec = codecs.lookup(self.encoding or "utf-8")
            "".encode(codec.name)
        except (LookupError, ValueError):
            raise SourceError(
                f"encoding {self.encoding!r} is not known; name one such as latin-1, "
                "windows-1252 or utf-16"
            ) from None
        return "utf-8" if codec.name == "utf-8-sig" else codec.name

    @property
    def date_type(self) -> str:
        """The type of what the date format reads."""
        return "TIMESTAMP" if _TIME.search(self.date_format or "") else "DATE"

    def refuse(self, name: str, kind: str, *names: str) -> None:
        """Raises a `SourceError` where something of these is said of a source that has it not."""
        said = [option for option in self.given if option in (names or self.given)]
        if said:
            flags = ", ".join(f"--{option.replace('_', '-')}" for option in said)
            raise SourceError(
                f"{name} is {kind}, which says by itself how it is written; leave {flags} out"
            )


def _is_text(value: object, name: str) -> bool:
    if isinstance(value, str):
        return True
    if name != "nullstr" or not isinstance(value, Sequence):
        return False
    return all(isinstance(text, str) for text in value)


_DECIMAL_LINES = 200
_HEAD_BYTES = 65_536
_DELIMITERS = (",", ";", "\t", "|")
# What no column is called where its values are numbers or dates: a figure itself.
_FIGURE = re.compile(r"\s*[-+]?[0-9][0-9.,:/ T-]*(e[-+]?[0-9]+)?\s*", re.IGNORECASE)
# A number whose fraction stands behind a comma, and one without a fraction.
_COMMA_NUMBER = re.compile(r"\s*[-+]?[0-9]+(?:,([0-9]+))?\s*")
_MAX_NAMED = 5
ROW_NAMES = "column0"
"""What a first column without a name is called, as programs of statistics write the names of rows.

DuckDB calls it so, too, where a table has at most ten columns; with more, it puts more zeros there.
"""


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Delimiter, column names and formats of a CSV file.

    Args:
        path: The file.
        form: What is said of how it is written.
        delimiter: Between two fields.
        columns: The names in its first line.
        decimals: By column name the number of digits behind the point, where the first rows all
            have as many; 0 where some have no point.
        has_row_names: Whether the first column has no name there, and is called ROW_NAMES.
        is_spaced: Whether it has no delimiter, and blanks part its first lines alike.
        comma_numbers: Columns whose first texts are numbers with a comma for the point.
        line_break: The end of the first line, where a name in it has line breaks of its own, which
            DuckDB would take for the end of every line; None where it finds that by itself.
        has_mark: Whether a byte order mark of UTF-8 comes before it.
    """

    path: Path
    form: TextFormat
    delimiter: str
    columns: tuple[str, ...]
    decimals: dict[str, int]
    has_row_names: bool = False
    is_spaced: bool = False
    comma_numbers: tuple[str, ...] = ()
    line_break: str | None = None
    has_mark: bool = False

    def notes(self, names: Sequence[str]) -> list[str]:
        """What to know of how its columns are read, of those of which the values count."""
        notes = []
        if self.has_row_names:
            notes.append(
                f"the header of {self.path.name!r} has no name for its first column, which is "
                f"called {ROW_NAMES!r} here"
            )
        if self.is_spaced:
            notes.append(f"{self.path.name!r} is read as a single column{SPACED}")
        numbers = [repr(name) for name in self.comma_numbers if name in names]
        if numbers:
            columns = "column" if len(numbers) == 1 else "columns"
            notes.append(
                f"{columns} {listed(numbers)} of {self.path.name!r}: numbers with a comma are read "
                "as text; write them with a decimal point to have them generalized as numbers"
            )
        return notes

    def refuse_headless(self, typed: Sequence[str]) -> None:
        """Refuses a file whose first line looks like data.

        Args:
            typed: The columns whose values are numbers or dates: no word of a name is either.

        Raises:
            SourceError: All of these are called by a figure.
        """
        given = typed if not self.has_row_names else [name for name in typed if name != ROW_NAMES]
        if given and all(_FIGURE.fullmatch(name) for name in given):
            raise SourceError(
                f"{self.path.name!r} has no header: its first line looks like data; "
                "put the column names there"
            )


SPACED = "; if blanks part its fields, say so with --delimiter ' '"
"""What to do about a file whose delimiter is a blank."""


def layout_of(path: Path, form: TextFormat) -> TextLayout:
    """The layout of a CSV file.

    Raises:
        SourceError: Its first line names no columns, or two alike.
    """
    head = _head(path)
    if form.encoding is None and head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(
            f"{path.name!r} is written in UTF-16; read it with --encoding utf-16, or save it as "
            "UTF-8"
        )
    text = head.decode("utf-8-sig" if form.codec == "utf-8" else form.codec, errors="replace")
    if not text.strip():
        raise SourceError(f"{path.name!r} is empty")
    if text[0] in "\r\n":
        raise SourceError(f"the first line of {path.name!r} is blank; it must name the columns")
    delimiter = form.mark or _delimiter(text)
    given, end = _header(text, delimiter)
    has_row_names = _has_row_names(given)
    columns = (ROW_NAMES, *given[1:]) if has_row_names else given
    _refuse_names(path, columns, has_row_names=has_row_names)
    rows = _rows(text, delimiter)
    return TextLayout(
        path=path,
        form=form,
        delimiter=delimiter,
        columns=columns,
        decimals=_decimals(rows[1:], columns),
        has_row_names=has_row_names,
        is_spaced=form.mark is None and len(columns) == 1 and _is_spaced(_rows(text, " ")),
        comma_numbers=_comma_numbers(rows[1:], columns, nulls=form.nulls),
        line_break=end if end and any({*name} & {*"\r\n"} for name in columns) else None,
        has_mark=head.startswith(codecs.BOM_UTF8),
    )


def refuse_alike(path: Path, names: Sequence[str]) -> None:
    """Refuses a file with columns that DuckDB takes for one, or renames.

    Raises:
        SourceError: Two names are alike, or differ only in the case of letters.
    """
    for several in _several(names):
        raise SourceError(f"{path.name!r} has {several}; give each column a name of its own there")


def opened_text(path: Path) -> IO[bytes]:
    """The bytes of a file, also of one that is compressed with gzip."""
    return gzip.open(path) if is_gzip(path) else path.open("rb")  # type: ignore[return-value]


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed with gzip, by its first bytes."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _head(path: Path) -> bytes:
    try:
        with opened_text(path) as file:
            return file.read(_HEAD_BYTES)
    except (OSError, EOFError):
        raise SourceError(f"{path.name!r} is not a valid gzip file") from None


def _delimiter(text: str) -> str:
    """The delimiter of the header line: the candidate that stands most often outside quotes."""
    plain = re.sub(r'"(?:[^"]|"")*"', "", text)
    line = re.split(r"[\r\n]", plain, maxsplit=1)[0]
    return max(_DELIMITERS, key=line.count)


def _header(text: str, delimiter: str) -> tuple[tuple[str, ...], str]:
    """The column names, those in quotes as they are written, others stripped; the line's end."""
    mark = re.escape(delimiter)
    field = rf'[ ]*(?:"((?:[^"]|"")*)"[ ]*|([^{mark}\r\n]*))({mark}|\r\n?|\n|$)'
    names, end = [], ""
    for match in re.finditer(field, text):
        quoted, plain, end = match.groups()
        names.append(plain.strip() if quoted is None else quoted.replace('""', '"'))
        if end != delimiter:
            break
    return tuple(names), end


def _has_row_names(names: Sequence[str]) -> bool:
    """Whether the first column has no name, and all others have one."""
    first, *others = (name.strip() for name in names)
    return not first and bool(others) and all(others)


def _refuse_names(path: Path, names: Sequence[str], *, has_row_names: bool) -> None:
    """Refuses columns without a name, and columns whose names DuckDB takes for one."""
    if has_row_names and fold(ROW_NAMES) in map(fold, names[1:]):
        raise SourceError(
            f"the first line of {path.name!r} has no name for column 1, which would be called "
            f"{ROW_NAMES!r}, and another column that is called so; give column 1 a name there"
        )
    blank = [str(place) for place, name in enumerate(names, 1) if not name.strip()]
    faults = []
    if blank:
        more = [] if len(blank) <= _MAX_NAMED else [f"{len(blank) - _MAX_NAMED} more"]
        columns = "column" if len(blank) == 1 else "columns"
        faults.append(f"no name for {columns} {listed([*blank[:_MAX_NAMED], *more])}")
    faults += _several([name for name in names if name.strip()])
    if faults:
        raise SourceError(
            f"the first line of {path.name!r} has {' and '.join(faults)}; "
            "give each column a name of its own there"
        )


def _several(names: Sequence[str]) -> list[str]:
    """What is wrong with names that DuckDB takes for one; nothing where it takes none so."""
    folded = Counter(fold(name) for name in names)
    twice = sorted({name for name in names if folded[fold(name)] > 1})
    if not twice:
        return []
    more = ", ..." if len(twice) > _MAX_NAMED else ""
    return [f"several columns called {', '.join(map(repr, twice[:_MAX_NAMED]))}{more}"]


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """The fields of the first lines, that of the names among them."""
    lines = text.splitlines(keepends=True)
    return list(csv.reader(lines[:_DECIMAL_LINES], delimiter=delimiter))


def _texts(rows: Sequence[Sequence[str]], number: int) -> list[str]:
    """What a column holds in some rows, where it is filled."""
    return [row[number] for row in rows if len(row) > number and row[number]]


def _decimals(rows: Sequence[Sequence[str]], names: Sequence[str]) -> dict[str, int]:
    decimals = {}
    for number, name in enumerate(names):
        digits = {len(text.partition(".")[2]) for text in _texts(rows, number)}
        if len(digits) == 1 or 0 in digits:
            decimals[name] = min(digits)
    return decimals


def _comma_numbers(
    rows: Sequence[Sequence[str]], names: Sequence[str], *, nulls: Sequence[str]
) -> tuple[str, ...]:
    """The columns whose texts are numbers, some with a comma."""
    columns = []
    for number, name in enumerate(names):
        texts = (text for text in _texts(rows, number) if text not in nulls)
        read = [_COMMA_NUMBER.fullmatch(text) for text in texts]
        if all(read) and any(match and match[1] for match in read):
            columns.append(name)
    return tuple(columns)


def _is_spaced(rows: Sequence[Sequence[str]]) -> bool:
    """Whether blanks part all lines alike; the names of rows may have no name themselves."""
    header, *others = (len(row) for row in rows if row)
    return header > 1 and set(others) in ({header}, {header + 1})
