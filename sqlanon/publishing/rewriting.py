"""Rewriting a database file, so that no byte of what it once held remains in it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from sqlanon.arguments import checked, path_of
from sqlanon.engine import files
from sqlanon.engine.base import Limits
from sqlanon.reports.document import Provenance, SelfShown, ShownTable


@dataclass(frozen=True, slots=True, repr=False)
class Rewritten(SelfShown):
    """Sizes and notes of a database that was rewritten.

    Args:
        database: The file.
        bytes_before: Its size, and that of its log, before [bytes].
        bytes_after: Its size now [bytes].
        notes: What it keeps that may quote values: see `leftovers`.
        seconds: How long it took.
        provenance: The file, and when it was rewritten.
    """

    database: str
    bytes_before: int
    bytes_after: int
    notes: tuple[str, ...]
    seconds: float
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `rewrite --json`."""
        return {
            **self.provenance.head(),
            "database": self.database,
            "bytes_before": self.bytes_before,
            "bytes_after": self.bytes_after,
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """The sizes."""
        return f"{self.bytes_after:,} bytes, before {self.bytes_before:,}"

    def shown_tables(self) -> list[ShownTable]:
        """The sizes."""
        sizes = [["before", f"{self.bytes_before:,}"], ["now", f"{self.bytes_after:,}"]]
        return [ShownTable(sizes, ["database", "bytes"])]

    def to_text(self) -> str:
        """A page for a reader."""
        sizes = f"{self.bytes_after:,} bytes, before {self.bytes_before:,}"
        return "\n".join([f"{self.database} rewritten: {sizes}", *(f"  {n}" for n in self.notes)])


@checked
def rewrite(path: str | Path, **limits: Unpack[Limits]) -> Rewritten:
    """Copies a database into a fresh file and puts that in the old one's place.

    DuckDB leaves the pages of dropped tables in its file, where anybody who has the file can read
    them; a fresh file holds what the database holds, and the write-ahead log goes too. Values that
    are quoted in a view, a macro, a comment or the labels of an ENUM stay: the notes count those.
    Blocks that the disk has freed are out of reach.

    Args:
        path: A database file that no connection of this process holds.
        limits: `threads`, `memory_limit`, `temp_directory` and `temp_limit`, as for `check`.

    Raises:
        EngineError: The copy failed or differs; the old file is as it was.
        SourceError: The file is missing, has a second name, or another process holds it.
    """
    started = time.monotonic()
    file = path_of(path, "the database")
    before, after, notes = files.rewrite(file, **limits)
    return Rewritten(
        database=str(path),
        bytes_before=before,
        bytes_after=after,
        notes=notes,
        seconds=time.monotonic() - started,
        provenance=Provenance(str(path)),
    )
