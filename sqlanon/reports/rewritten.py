"""Report of a database file that was rewritten."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlanon.reports.document import Provenance
from sqlanon.reports.shown import SelfShown, ShownTable


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
