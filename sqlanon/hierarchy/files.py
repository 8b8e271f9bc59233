"""Hierarchy files: lines `leaf;level 1;…;top`, read and written.

They are CSV, where quotes also mean something: what is empty is NULL, and in quotes the empty text;
a leaf `*` stands for all values without a row, and in quotes for itself.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.rules import Path as Labels


@dataclass(frozen=True, slots=True)
class _Others:
    """What stands in a file for all values without a row."""

    text: str = "*"


OTHERS = _Others()


def read_rows(
    path: Path, name: str, *, delimiter: str | None = None
) -> list[tuple[int, tuple[Any, ...]]]:
    """The rows of a file with the lines that they end on, without a header.

    The leaf of a row for all other values is OTHERS.

    Args:
        path: The file.
        name: How messages call the hierarchy.
        delimiter: One character; left out, `;` where the first line has one, else `,`.

    Raises:
        SourceError: The file cannot be read.
        HierarchyError: The file is not UTF-8 or not CSV.
    """
    taken: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            first = re.sub(r'"[^"]*("|$)', "", stream.readline())
            stream.seek(0)
            separator = delimiter or (";" if ";" in first else ",")
            reader = csv.reader(_kept(stream, taken), delimiter=separator)
            records = [(reader.line_num, _read(row, taken, delimiter=separator)) for row in reader]
    except OSError as error:
        raise SourceError(f"hierarchy file '{path}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise HierarchyError(f"hierarchy {name!r} is not a UTF-8 file") from None
    except csv.Error:
        where = f" from line {reader.line_num} on"
        raise HierarchyError(f"hierarchy {name!r} is not a CSV file{where}") from None
    rows = [(line, row) for line, row in records if row]
    return rows[1:] if rows and _is_header(rows[0][1]) else rows


def line_of(path: Labels) -> str:
    """A path as a line of a file.

    >>> line_of(("", "none", "*")), line_of(("*", "a;b", "*")), line_of((None, None, "*"))
    ('"";none;*', '"*";"a;b";*', ';;*')
    """
    leaf, *labels = path
    return ";".join([f'"{leaf}"' if leaf == OTHERS.text else _field(leaf), *map(_field, labels)])


def _field(text: str | None) -> str:
    if text is None:
        return ""
    plain = text and not set(text) & set(';"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'


def _is_header(row: Sequence[object]) -> bool:
    return list(row) == ["leaf", *(f"level{level}" for level in range(1, len(row)))]


def _kept(stream: Iterable[str], taken: list[str]) -> Iterator[str]:
    """The lines of a stream, noted as they are taken."""
    for line in stream:
        taken.append(line)
        yield line


def _read(row: list[str], taken: list[str], *, delimiter: str) -> tuple[Any, ...]:
    """The path of a record: an empty field is NULL, or the empty text in quotes.

    The lines that it was read from are done with.
    """
    text = "".join(taken)
    taken.clear()
    if not row or (all(row) and row[0] != OTHERS.text):
        return tuple(row)
    quoted = _quoted(text, delimiter)
    path: list[Any] = [
        field or ("" if is_quoted else None) for field, is_quoted in zip(row, quoted, strict=True)
    ]
    if row[0] == OTHERS.text and not quoted[0]:
        path[0] = OTHERS
    return tuple(path)


def _quoted(text: str, delimiter: str) -> list[bool]:
    """Whether each field of a record is in quotes."""
    quoted, is_inside, at_start = [], False, True
    for letter in text.rstrip("\r\n"):
        if at_start:
            quoted.append(letter == '"')
            at_start, is_inside = letter == delimiter, letter == '"'
        elif letter == '"' and quoted[-1]:
            is_inside = not is_inside
        elif letter == delimiter and not is_inside:
            at_start = True
    return [*quoted, *([False] if at_start else [])]
