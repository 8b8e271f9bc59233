"""Resources that a database opened by sqlanon may use, and its connection."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

import duckdb

from sqlanon.arguments import is_whole_number, kind_of, path_of
from sqlanon.engine.base import Limits
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import attempt, fault, holder
from sqlanon.engine.duckdb.syntax import set_option
from sqlanon.engine.locked_folders import LockedFolder, swept
from sqlanon.errors import SourceError, SqlanonError

_MOST_THREADS = 1024
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*((?:[KMGT]i?)?B)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that a database opened by sqlanon may use.

    Args:
        threads: At least 1; None leaves the choice to DuckDB.
        memory_limit: A size such as "2GB".
        temp_directory: An existing folder; spilled data goes to a folder in it that only its
            owner can read and that is removed at the end, or by the next run if this one is
            killed. None is the system's.
        temp_limit: The size that spilled data may take, such as "10GB".

    Raises:
        SourceError: A limit that is none, or a folder that is not there.
    """

    threads: int | None = None
    memory_limit: str | None = None
    temp_directory: str | Path | None = None
    temp_limit: str | None = None

    def __post_init__(self) -> None:
        for name, value, fits in (
            ("threads", self.threads, is_whole_number),
            ("memory_limit", self.memory_limit, lambda given: isinstance(given, str)),
            ("temp_limit", self.temp_limit, lambda given: isinstance(given, str)),
        ):
            if value is not None and not fits(value):
                raise SourceError(f"{name} cannot be {kind_of(value)}")
        if self.temp_directory is not None:
            path_of(self.temp_directory, "temp_directory")
        if self.threads is not None and not 1 <= self.threads <= _MOST_THREADS:
            raise SourceError(
                f"threads must be at least 1 and at most {_MOST_THREADS}, not {self.threads}"
            )
        for name, text in (("memory limit", self.memory_limit), ("temp limit", self.temp_limit)):
            if text is not None and not bytes_of(text):
                raise SourceError(f"{name} {text!r} is not a size; write it like '2GB'")
        folder = self.temp_directory
        if folder is not None and not Path(folder).is_dir():
            raise SourceError(f"temporary directory {str(folder)!r} does not exist")
        if folder is not None and not os.access(folder, os.W_OK | os.X_OK):
            raise SourceError(f"temporary directory {str(folder)!r} cannot be written")

    @property
    def memory(self) -> int | None:
        """The memory limit [bytes]; None where there is none."""
        return None if self.memory_limit is None else bytes_of(self.memory_limit)

    @property
    def temporary(self) -> int | None:
        """The limit of spilled data [bytes]; None where there is none."""
        return None if self.temp_limit is None else bytes_of(self.temp_limit)

    @property
    def settings(self) -> dict[str, str | int]:
        """The limits as DuckDB calls and writes them."""
        threads = {} if self.threads is None else {"threads": self.threads}
        sizes = {"memory_limit": self.memory, "max_temp_directory_size": self.temporary}
        return threads | {name: f"{size}B" for name, size in sizes.items() if size is not None}

    @property
    def given(self) -> list[str]:
        """The names of the resources that are limited."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]

    @contextmanager
    def connect(self, database: Path | None = None, *, read_only: bool = False) -> Iterator[DuckDB]:
        """A connection of our own, closed on leaving, and nothing that it spilled stays.

        What a killed run has left here before goes, too, and the engine's notes say so.

        Args:
            database: A database file; None is a database in memory.
            read_only: Whether the file is opened for reading only.
        """
        beside = [] if database is None else [database.parent]
        if database is not None and not read_only:
            refuse_unwritable(database)
        notes = swept([None, self.temp_directory, *beside])
        with self._spill() as folder:
            config: dict[str, str | bool | int | float | list[str]] = {
                "temp_directory": str(folder),
                "autoinstall_known_extensions": "false",
                **self.settings,
            }
            connection = attempt(
                lambda: duckdb.connect(str(database or ":memory:"), read_only, config),
                lambda error: _not_opened(error, database),
            )
            try:
                engine = DuckDB(connection)
                engine.opened.notes += notes
                engine.limits = cast(Limits, asdict(self))
                # DuckDB's own progress bar goes to stdout, where results go.
                engine.run(set_option("enable_progress_bar", False))
                # DuckDB reports a limit of temporary space that it is opened with, and ignores it.
                for name, value in self.settings.items():
                    engine.run(set_option(name, value))
                with released(engine):
                    yield engine
            finally:
                connection.close()
                if database is not None and not read_only:
                    _drop_empty_log(database)

    @contextmanager
    def _spill(self) -> Iterator[Path]:
        """The folder for what memory does not hold."""
        try:
            folder = LockedFolder.make(self.temp_directory)
        except OSError as error:
            where = str(self.temp_directory or tempfile.gettempdir())
            raise SourceError(f"temporary directory {where!r}: {error.strerror}") from None
        try:
            yield folder.path
        finally:
            folder.remove()


def _drop_empty_log(database: Path) -> None:
    """Removes the empty log that a commit leaves beside a database where its disk was full."""
    log = database.with_name(database.name + ".wal")
    with suppress(OSError, duckdb.Error):
        if not log.stat().st_size:
            # DuckDB does so itself on opening, when nobody else can write to the database.
            duckdb.connect(str(database)).close()


def refuse_unwritable(database: Path) -> None:
    """Refuses a database that cannot be written to, or whose log cannot be made beside it.

    Raises:
        SourceError: Its file system is read-only, or rights forbid it.
    """
    # The file is not opened: to close it would let go of locks that this process has on it.
    for path, what in ((database, "the file"), (database.parent, f"its folder {database.parent}")):
        if path.exists() and not os.access(path, os.W_OK):
            is_read_only = hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY
            why = "its file system is read-only" if is_read_only else f"you may not write to {what}"
            raise SourceError(
                f"database {str(database)!r} cannot be written: {why}; publish to a file elsewhere "
                "with --output FILE, or use a copy"
            )


def bytes_of(text: str) -> int:
    """A size in bytes; 0 for what is none."""
    size = _SIZE.fullmatch(text.strip())
    if size is None:
        return 0
    base = 1024 if "i" in size.group(2).lower() else 1000
    return int(float(size.group(1)) * base ** "BKMGT".index(size.group(2)[0].upper()))


@contextmanager
def released(engine: DuckDB) -> Iterator[None]:
    """Drops the temporaries of an engine and unregisters its frames on leaving."""
    try:
        yield
    finally:
        engine.release()


def _not_opened(error: Exception, database: Path | None) -> SqlanonError:
    """The error for a database that could not be opened."""
    text = str(error)
    name = str(database) if database else "in memory"
    owner = holder(error)
    reasons = (
        (owner is not None, f"is held by another process ({owner})"),
        ("different configuration" in text,
         "is open in this process already, with other settings; give that connection"),
        ("newer version" in text or "storage version" in text.lower(),
         "was written by a newer version of DuckDB; upgrade duckdb"),
        ("ermission denied" in text, "may not be written; open it read-only or change its rights"),
        ("Read-only file system" in text, "cannot be written: its file system is read-only"),
        ("No space left" in text, "cannot be written: its disk is full"),
        ("uota exceeded" in text or "File too large" in text,
         "cannot be written: a quota of the disk or a limit of the size of files is reached"),
        (isinstance(error, duckdb.OutOfMemoryException),
         "cannot be opened within the memory limit; raise --memory-limit"),
        (True, "is damaged or no DuckDB database"),
    )  # fmt: skip
    if database is None and not isinstance(error, duckdb.OutOfMemoryException):
        return fault(error, "open a database in memory")
    return SourceError(next(f"database {name!r} {reason}" for holds, reason in reasons if holds))
