"""Opening what a user names: a DuckDB connection, a database file, or a file of data."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import duckdb
from sqlglot import exp

from sqlanon.arguments import is_whole_number, kind_of, path_of
from sqlanon.engine.base import Limits
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import attempt, fault, holder
from sqlanon.engine.duckdb.syntax import create_temporary
from sqlanon.engine.duckdb.text_files import is_gzip, read_csv, read_json, scan_file
from sqlanon.errors import EngineError, SourceError, SqlanonError

if TYPE_CHECKING:
    import pyarrow

Kind = Literal["duckdb", "file", "connection"]

_CSV = frozenset({".csv", ".tsv", ".txt"})
_JSON = frozenset({".json", ".jsonl", ".ndjson"})
_ARROW = frozenset({".arrow", ".arrows", ".feather", ".ipc"})
_MOST_THREADS = 1024
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]i?B)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that a database opened by sqlanon may use.

    Args:
        threads: At least 1; None leaves the choice to DuckDB.
        memory_limit: A size such as "2GB".
        temp_directory: An existing folder; spilled data goes to a folder in it that only its
            owner can read and that is removed at the end. None is the system's.

    Raises:
        SourceError: A limit that is none, or a folder that is not there.
    """

    threads: int | None = None
    memory_limit: str | None = None
    temp_directory: str | Path | None = None

    def __post_init__(self) -> None:
        for name, value, fits in (
            ("threads", self.threads, is_whole_number),
            ("memory_limit", self.memory_limit, lambda given: isinstance(given, str)),
        ):
            if value is not None and not fits(value):
                raise SourceError(f"{name} cannot be {kind_of(value)}")
        if self.temp_directory is not None:
            path_of(self.temp_directory, "temp_directory")
        if self.threads is not None and not 1 <= self.threads <= _MOST_THREADS:
            raise SourceError(
                f"threads must be at least 1 and at most {_MOST_THREADS}, not {self.threads}"
            )
        if self.memory_limit is not None:
            size = _SIZE.fullmatch(self.memory_limit.strip())
            if size is None or float(size.group(1)) == 0:
                raise SourceError(
                    f"memory limit {self.memory_limit!r} is not a size; write it like '2GB'"
                )
        folder = self.temp_directory
        if folder is not None and not Path(folder).is_dir():
            raise SourceError(f"temporary directory {str(folder)!r} does not exist")
        if folder is not None and not os.access(folder, os.W_OK | os.X_OK):
            raise SourceError(f"temporary directory {str(folder)!r} cannot be written")

    @property
    def memory(self) -> int | None:
        """The memory limit [bytes]; None where there is none."""
        size = None if self.memory_limit is None else _SIZE.fullmatch(self.memory_limit.strip())
        if size is None:
            return None
        base = 1024 if "i" in size.group(2).lower() else 1000
        return int(float(size.group(1)) * base ** ("KMGT".index(size.group(2)[0].upper()) + 1))

    @property
    def given(self) -> list[str]:
        """The names of the resources that are limited."""
        return [each.name for each in fields(self) if getattr(self, each.name) is not None]

    @contextmanager
    def connect(self, database: Path | None = None, *, read_only: bool = False) -> Iterator[DuckDB]:
        """A connection of our own, closed on leaving, and nothing that it spilled stays.

        Args:
            database: A database file; None is a database in memory.
            read_only: Whether the file is opened for reading only.
        """
        try:
            spill = tempfile.TemporaryDirectory(
                prefix="sqlanon-", dir=self.temp_directory, ignore_cleanup_errors=True
            )
        except OSError as error:
            where = str(self.temp_directory or tempfile.gettempdir())
            raise SourceError(f"temporary directory {where!r}: {error.strerror}") from None
        with spill as folder:
            config: dict[str, str | bool | int | float | list[str]] = {
                "temp_directory": folder,
                "autoinstall_known_extensions": "false",
            }
            if self.threads is not None:
                config["threads"] = self.threads
            if self.memory_limit is not None:
                config["memory_limit"] = self.memory_limit.strip()
            connection = attempt(
                lambda: duckdb.connect(str(database or ":memory:"), read_only, config),
                lambda error: _not_opened(error, database),
            )
            try:
                engine = DuckDB(connection)
                # DuckDB's own progress bar goes to stdout, where results go.
                off = exp.EQ(this=exp.column("enable_progress_bar"), expression=exp.false())
                engine.run(exp.Set(expressions=[exp.SetItem(this=off)]))
                yield engine
            finally:
                connection.close()


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A table of an open database.

    Args:
        engine: Where the table lives.
        table: The table, fully qualified.
        path: The file that sqlanon opened; None where the connection is the caller's.
        kind: "duckdb" for a database file, "file" for a file of data, "connection" for the
            caller's own connection.
    """

    engine: DuckDB
    table: exp.Table
    path: Path | None
    kind: Kind


@contextmanager
def open_source(
    source: object,
    table: object = None,
    *,
    read_only: bool = False,
    **limits: Unpack[Limits],
) -> Iterator[OpenedSource]:
    """A source with one of its tables, until temporaries are dropped and what was opened closes.

    A text file is read once, into a temporary table; a Parquet file is read where it lies.

    Args:
        source: An open DuckDB connection or an engine, which stay open; or a path to a DuckDB
            database (told by its content, not its name) or to a CSV, TSV, JSON, Parquet or Arrow
            IPC file, the text ones also compressed with gzip.
        table: A name, or a frame where `source` is a connection; None where there is only one.
        read_only: Whether a database file is opened for reading only.
        limits: The arguments of `Resources`, only for what sqlanon opens itself.

    Raises:
        SourceError: There is no such file or table, or it cannot be read.
    """
    resources = Resources(**limits)
    if isinstance(source, duckdb.DuckDBPyConnection | DuckDB):
        if resources.given:
            raise SourceError(
                f"{', '.join(resources.given)} cannot be set for an open connection; "
                "set them where it is opened"
            )
        engine = source if isinstance(source, DuckDB) else DuckDB(source)
        with _released(engine):
            yield OpenedSource(engine, _choose(engine, table), None, "connection")
        return
    if not isinstance(source, str | Path):
        raise SourceError(f"a {type(source).__name__} is no source; give a connection or a path")
    path = _existing(Path(source))
    if is_database(path):
        with resources.connect(path, read_only=read_only) as engine, _released(engine):
            yield OpenedSource(engine, _choose(engine, table), path, "duckdb")
        return
    with resources.connect() as engine, _released(engine):
        engine.keep_file(path)
        found = read_file(engine, path)
        if table is not None and not _is_same(engine, found, table):
            raise SourceError(
                f"{path.name!r} holds one table, called {found.name!r}; leave the name out"
            )
        yield OpenedSource(engine, found, path, "file")


def read_file(engine: DuckDB, path: Path, table: exp.Table | None = None) -> exp.Table:
    """A file of data as a temporary table or view, named like the file where no name is given.

    Raises:
        SourceError: The file is of no known kind, or not what its name says.
    """
    name, ending = _stem(path)
    table = qualified("temp", "main", name) if table is None else table
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"PAR1") or ending == ".parquet":
        _view_parquet(engine, path, table)
    elif start.startswith(b"ARROW1") or ending in _ARROW:
        _read_arrow(engine, path, table)
    elif ending in _CSV:
        read_csv(engine, path, table)
    elif ending in _JSON:
        read_json(engine, path, table)
    else:
        raise SourceError(
            f"{path.name!r} is neither a DuckDB database nor a .csv, .csv.gz, .tsv, .json, "
            ".jsonl, .parquet, .arrow or .feather file"
        )
    return table


@contextmanager
def _released(engine: DuckDB) -> Iterator[None]:
    try:
        yield
    finally:
        engine.release()


def _choose(engine: DuckDB, table: object) -> exp.Table:
    """The named table, or the only one."""
    return engine.catalog().only_table() if table is None else engine.resolve(table)


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, not a file")
    if not path.exists():
        raise SourceError(f"there is no file {str(path)!r}")
    if path.is_file() and path.stat().st_size == 0:
        raise SourceError(f"{str(path)!r} is empty")
    try:
        with path.open("rb"):
            return path.resolve()
    except OSError as error:
        reason = error.strerror
    raise SourceError(f"{str(path)!r} cannot be read: {reason}")


def is_database(path: Path) -> bool:
    """Whether a file is a DuckDB database, by its content.

    Raises:
        SourceError: Its name says so and its content does not.
    """
    with path.open("rb") as file:
        head = file.read(12)
    if head[8:12] == b"DUCK":
        return True
    if path.suffix.lower() in {".duckdb", ".ddb", ".db"}:
        raise SourceError(f"{path.name!r} is not a DuckDB database")
    return False


def _is_same(engine: DuckDB, table: exp.Table, named: object) -> bool:
    try:
        return engine.resolve(named) == table
    except SourceError:
        return False


def _stem(path: Path) -> tuple[str, str]:
    """The name of a file without its endings, and the ending that tells its kind."""
    inner = Path(path.stem) if path.suffix.lower() == ".gz" else path
    if inner != path and not is_gzip(path):
        raise SourceError(f"{path.name!r} is not a valid gzip file")
    return inner.stem or path.name, inner.suffix.lower()


def _view_parquet(engine: DuckDB, path: Path, table: exp.Table) -> None:
    scan = scan_file("read_parquet", path, {"hive_partitioning": exp.false()})
    try:
        engine.run(create_temporary(table.copy(), exp.select("*").from_(scan), kind="VIEW"))
        readable = bool(engine.columns(table))
    except EngineError:
        readable = False
    if not readable:
        raise SourceError(f"{path.name!r} is not a readable Parquet file")


def _read_arrow(engine: DuckDB, path: Path, table: exp.Table) -> None:
    import pyarrow

    try:
        with pyarrow.OSFile(str(path)) as file:
            # Dictionaries come out as text: their unused values are no part of the table.
            frame = engine.register(_arrow_batches(file))
            engine.run(create_temporary(table.copy(), exp.select("*").from_(frame)))
            return
    except (pyarrow.ArrowException, OSError, EngineError):
        pass
    raise SourceError(f"{path.name!r} is not a readable Arrow IPC file")


def _arrow_batches(file: pyarrow.NativeFile) -> pyarrow.RecordBatchReader:
    from pyarrow import RecordBatchReader, ipc

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    if not is_file:
        return ipc.open_stream(file)
    opened = ipc.open_file(file)
    batches = (opened.get_batch(number) for number in range(opened.num_record_batches))
    return RecordBatchReader.from_batches(opened.schema, batches)


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
        (isinstance(error, duckdb.OutOfMemoryException),
         "cannot be opened within the memory limit; raise --memory-limit"),
        (True, "is damaged or no DuckDB database"),
    )  # fmt: skip
    if database is None and not isinstance(error, duckdb.OutOfMemoryException):
        return fault(error, "open a database in memory")
    return SourceError(next(f"database {name!r} {reason}" for holds, reason in reasons if holds))
