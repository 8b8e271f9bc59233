"""Layout of a CSV file: its delimiter and column names, from its first lines."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlanon.engine.duckdb.catalog import fold
from sqlanon.engine.duckdb.text_format import TextFormat
from sqlanon.errors import SourceError

_DECIMAL_LINES = 200
_HEAD_BYTES = 65_536
_DELIMITERS = (",", ";", "\t", "|")
# What no column is called where its values are numbers or dates: a figure itself.
_FIGURE = re.compile(r"\s*[-+]?[0-9][0-9.,:/ T-]*(e[-+]?[0-9]+)?\s*", re.IGNORECASE)
_SHOWN = 5
ROW_NAMES = "column0"
"""What a first column without a name is called, as R and pandas write the names of rows.

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
    """

    path: Path
    form: TextFormat
    delimiter: str
    columns: tuple[str, ...]
    decimals: dict[str, int]
    has_row_names: bool = False

    def notes(self) -> list[str]:
        """What to know of the names of its columns."""
        if not self.has_row_names:
            return []
        return [
            f"the header of {self.path.name!r} has no name for its first column, which is called "
            f"{ROW_NAMES!r} here"
        ]

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
    given = _header(text, delimiter)
    has_row_names = _has_row_names(given)
    columns = (ROW_NAMES, *given[1:]) if has_row_names else given
    _refuse_names(path, columns, has_row_names=has_row_names)
    decimals = _decimals(text, delimiter, names=columns)
    return TextLayout(path, form, delimiter, columns, decimals, has_row_names)


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


def _header(text: str, delimiter: str) -> tuple[str, ...]:
    """The column names: those in quotes as they are written, others without blanks around them."""
    mark = re.escape(delimiter)
    field = rf'[ ]*(?:"((?:[^"]|"")*)"[ ]*|([^{mark}\r\n]*))({mark}|\r|\n|$)'
    names = []
    for found in re.finditer(field, text):
        quoted, plain, end = found.groups()
        names.append(plain.strip() if quoted is None else quoted.replace('""', '"'))
        if end != delimiter:
            break
    return tuple(names)


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
        more = ", ..." if len(blank) > _SHOWN else ""
        faults.append(f"no name for column {', '.join(blank[:_SHOWN])}{more}")
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
    more = ", ..." if len(twice) > _SHOWN else ""
    return [f"several columns called {', '.join(map(repr, twice[:_SHOWN]))}{more}"]


def _decimals(text: str, delimiter: str, *, names: Sequence[str]) -> dict[str, int]:
    lines = text.splitlines(keepends=True)
    rows = list(csv.reader(lines[:_DECIMAL_LINES], delimiter=delimiter))[1:]
    decimals = {}
    for number, name in enumerate(names):
        texts = [row[number] for row in rows if len(row) > number and row[number]]
        digits = {len(text.partition(".")[2]) for text in texts}
        if len(digits) == 1 or 0 in digits:
            decimals[name] = min(digits)
    return decimals
