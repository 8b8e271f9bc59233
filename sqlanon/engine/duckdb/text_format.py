"""How a text file is written, where its first lines do not tell or its user knows better."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from sqlanon.errors import SourceError

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
        return [each.name for each in fields(self) if getattr(self, each.name) is not None]

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
            found = codecs.lookup(self.encoding or "utf-8")
            "".encode(found.name)
        except (LookupError, ValueError):
            raise SourceError(
                f"encoding {self.encoding!r} is not known; name one such as latin-1, "
                "windows-1252 or utf-16"
            ) from None
        return "utf-8" if found.name == "utf-8-sig" else found.name

    @property
    def date_type(self) -> str:
        """The type of what the date format reads."""
        return "TIMESTAMP" if _TIME.search(self.date_format or "") else "DATE"

    def refuse(self, name: str, kind: str, *names: str) -> None:
        """Raises a `SourceError` where something of these is said of a source that has it not."""
        said = [each for each in self.given if each in (names or self.given)]
        if said:
            flags = ", ".join(f"--{each.replace('_', '-')}" for each in said)
            raise SourceError(
                f"{name} is {kind}, which says by itself how it is written; leave {flags} out"
            )


def _is_text(value: object, name: str) -> bool:
    if isinstance(value, str):
        return True
    if name != "nullstr" or not isinstance(value, Sequence):
        return False
    return all(isinstance(each, str) for each in value)
