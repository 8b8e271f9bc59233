"""Rewriting a database file, so that no byte of what it once held remains in it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Unpack

from sqlanon.arguments import checked, path_of
from sqlanon.engine import files
from sqlanon.engine.base import Limits
from sqlanon.reports.document import Provenance
from sqlanon.reports.rewritten import Rewritten


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
