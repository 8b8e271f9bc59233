"""Files held while tables are read from them, so that one that changes meanwhile is noticed.

Text, JSON and Arrow files are read once. A Parquet file may be larger than any memory, so it is
read where it lies, more than once, and its device, number, size and times are compared before
anything is published; a digest of its content would cost a scan each time and tell less. What a
connection's own program may change (a view, a frame) is fingerprinted instead. A file that a
database has open is never opened a second time: closing it would give up the database's lock.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import SourceError

Figures = tuple[int, ...]
# What a clock of a file system may lag behind: a second write this soon leaves no later time.
_TICK = 20_000_000


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A file as it was when it was opened.

    Size and times tell whether it was written to, device and number whether another file has its
    name. The time of the last change of its entry is among them: a file that was put aside and
    brought back has a later one, and no program can set it.

    Args:
        path: The file, links resolved.
        before: Its figures then.
        descriptor: Open for as long as the file is held, so that no other one gets its number;
            None where the database has it open, since closing a second descriptor would give up
            the database's lock.
        is_written: Whether sqlanon writes to it by itself, so that only its place counts.
    """

    path: Path
    before: Figures
    descriptor: int | None
    is_written: bool

    def refuse_changed(self) -> None:
        """Raises a `SourceError` where the file is not what it was."""
        kept = 2 if self.is_written else None
        try:
            same = _figures(self.path.stat())[:kept] == self.before[:kept]
        except OSError:
            same = False
        if not same:
            raise SourceError(
                f"{self.path.name!r} was replaced or changed while it was read, so that results "
                "would be of two tables; once it stays as it is, start again"
            )

    def close(self) -> None:
        """Lets go of the file."""
        if self.descriptor is not None:
            os.close(self.descriptor)


def watched_data(path: Path) -> WatchedFile:
    """Holds a file of data, until `close`.

    Raises:
        SourceError: It cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    before = os.fstat(descriptor)
    # Whoever writes within the same tick of the clock would leave the same time behind.
    if 0 <= time.time_ns() - before.st_mtime_ns < _TICK:
        time.sleep(_TICK / 1e9)
        before = os.fstat(descriptor)
    return WatchedFile(path, _figures(before), descriptor, is_written=False)


def watched_database(path: Path, *, read_only: bool) -> WatchedFile:
    """Holds a database file that is open already."""
    return WatchedFile(path, _figures(path.stat()), None, is_written=not read_only)


def _figures(status: os.stat_result) -> Figures:
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip
