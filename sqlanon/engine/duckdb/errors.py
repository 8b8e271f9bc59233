"""DuckDB's errors in our own words: its messages quote cell values and are never shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from sqlanon.engine.locked_folders import HIDDEN, VISIBLE
from sqlanon.errors import EngineError, HierarchyError, SourceError, SqlanonError

T = TypeVar("T")

# The first entry whose class and marker both fit decides; the marker is a part of DuckDB's text.
_REASONS: tuple[tuple[type[Exception], str, type[SqlanonError], str], ...] = (
    (duckdb.Error, "Disk quota exceeded", EngineError,
     "a quota of the disk is used up; make room, or write to another disk"),
    (duckdb.Error, "File too large", EngineError,
     "a file would be larger than this process may write; raise that limit (ulimit -f)"),
    (duckdb.OutOfMemoryException, "max_temp_directory_size", EngineError,
     "it needs more temporary space than there is or --temp-limit allows; raise that or "
     "--memory-limit, lower --threads, or name a larger disk with --temp-directory"),
    (duckdb.OutOfMemoryException, "", EngineError,
     "it ran out of memory or of temporary space; raise --memory-limit, or --temp-limit where it "
     "is given, lower --threads, or name a larger disk with --temp-directory"),
    (duckdb.ConversionException, "", EngineError,
     "a value does not fit the type it is converted to"),
    (duckdb.OutOfRangeException, "", EngineError, "a value is out of its type's range"),
    (duckdb.InvalidInputException, "read-only mode", SourceError,
     "the database is open read-only; open it for writing"),
    (duckdb.CatalogException, "main key table", SourceError,
     "a foreign key of another table refers to it; write into another table, "
     "or drop the foreign key first"),
    # Errors without a class of their own before DuckDB 2.0 are told by how their text begins.
    (duckdb.Error, "Dependency Error", SourceError, "another object of the database depends on it"),
    (duckdb.ConstraintException, "foreign key", EngineError, "a foreign key forbids it"),
    (duckdb.ConstraintException, "", EngineError, "a constraint of the table forbids it"),
    (duckdb.CatalogException, "already exists", SourceError,
     "something of that name exists already"),
    (duckdb.CatalogException, "not exist", SourceError,
     "a table, schema or function that it names does not exist"),
    (duckdb.BinderException, "not found in FROM", SourceError,
     "a column that it names does not exist"),
    (duckdb.Error, "Unique file handle conflict", SourceError,
     "this process has it open already; close that connection first"),
    (duckdb.Error, "Resource In Use Error", SourceError,
     "this process has it open already; close that connection first"),
    (duckdb.BinderException, "", EngineError, "a column or a type does not fit"),
    (duckdb.TransactionException, "can only write to a single attached database", SourceError,
     "the open transaction has written to another database already, and may write to one only; "
     "commit it first"),
    (duckdb.TransactionException, "aborted", EngineError,
     "the open transaction has failed already; roll it back first"),
    (duckdb.TransactionException, "Cannot open file", SourceError,
     "the folder of the database cannot be written, where its log belongs"),
    (duckdb.TransactionException, "Failed to commit", EngineError,
     "the database could not be written to the end"),
    (duckdb.TransactionException, "", EngineError, "another transaction is in its way"),
    (duckdb.IOException, "lock", SourceError, "another process holds the database"),
    (duckdb.IOException, "not a valid DuckDB database", SourceError,
     "the file is not a DuckDB database"),
    (duckdb.IOException, "Read-only file system", SourceError,
     "its file system is read-only"),
    (duckdb.IOException, "ermission denied", SourceError, "the rights of a file forbid it"),
    (duckdb.IOException, "", EngineError, "a file cannot be read or written"),
    (duckdb.InterruptException, "", EngineError, "it was interrupted"),
    (duckdb.ConnectionException, "", EngineError, "the connection is closed"),
    (duckdb.FatalException, "", EngineError, "the database is no longer usable; reopen it"),
    (duckdb.InvalidInputException, "pytz", EngineError,
     "Python needs the package pytz to read timestamps with a time zone"),
    (duckdb.InvalidInputException, "", EngineError, "an input is not valid"),
    (duckdb.ParserException, "", EngineError, "the statement is not valid"),
    (duckdb.NotImplementedException, "", EngineError, "DuckDB lacks a feature that it needs"),
)  # fmt: skip

# A statement on a table, up to the last part of its name.
_OF_TABLE = re.compile(
    r"(CREATE|INSERT INTO|DROP|ALTER|DELETE FROM|UPDATE)\b[A-Z ]*"
    r'(?:"(?:[^"]|"")*"\.)*"((?:[^"]|"")*)"'
)


def doing(statement: str) -> str:
    """A statement in a few words, for a message.

    >>> doing('CREATE TEMPORARY TABLE "temp"."main"."people" AS SELECT 1')
    "create 'people'"
    """
    if made := _OF_TABLE.match(statement):
        table = made[2].replace('""', '"')
        return f"{made[1].lower()} {called(table)}"
    if statement.startswith("ATTACH"):
        return "open the database"
    return "run a query" if statement.startswith(("SELECT", "WITH", "(")) else "run a statement"


def called(table: str) -> str:
    """A table's name for a message; those that sqlanon makes for itself have none."""
    return "a working table" if table.startswith("_sqlanon_") else repr(table)


def fault(error: Exception, action: str) -> SqlanonError:
    """The error to raise for one of DuckDB's.

    Args:
        error: What DuckDB raised. Only its class and known phrases are looked at.
        action: What was tried, in our words, without a value of the table.
    """
    text = str(error)
    if "No space left" in text:
        return EngineError(f"DuckDB could not {action}: {_full(text)} ({type(error).__name__})")
    for kind, marker, raised, reason in _REASONS:
        if isinstance(error, kind) and marker in text:
            return raised(f"DuckDB could not {action}: {reason} ({type(error).__name__})")
    return EngineError(f"DuckDB could not {action} ({type(error).__name__})")


def _full(text: str) -> str:
    """Which disk is full, from the path in a message, and the way out."""
    match = re.search(r'file \\*"([^"\\]+)', text)
    if match is None:
        return "a disk is full; make room on it"
    folder = Path(match.group(1)).absolute().parent
    if folder.name.startswith(VISIBLE):
        return (
            f"the disk of the temporary directory {str(folder.parent)!r} is full; make room "
            "there, or name a larger one with --temp-directory"
        )
    return full_disk(folder.parent if folder.name.startswith(HIDDEN) else folder)


def full_disk(folder: Path) -> str:
    """That the disk of a folder is full, and the way out."""
    return f"the disk of {str(folder)!r} is full; make room there"


def with_rollback(error: SqlanonError) -> SqlanonError:
    """An error that also says what became of the caller's transaction."""
    note = "your open transaction has failed with it; end it with ROLLBACK"
    if isinstance(error, HierarchyError):
        return HierarchyError([*error.faults, note])
    return type(error)(f"{error}; {note}")


def is_aborted(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a statement of the open transaction has failed, after which none can run."""
    try:
        connection.execute("SELECT 1")
    except duckdb.TransactionException:
        return True
    return False


def holder(error: Exception) -> str | None:
    """The process that holds a database locked; None where no lock was met."""
    text = str(error)
    if not isinstance(error, duckdb.IOException) or "Could not set lock" not in text:
        return None
    match = re.search(r"\(PID (\d+)\)", text)
    return f"process {match.group(1)}" if match else "unknown"


def attempt(action: Callable[[], T], failure: Callable[[Exception], SqlanonError]) -> T:
    """Runs an action on DuckDB; its errors come out translated, interrupts as they are.

    The translated error is raised outside the handler, so that it does not carry DuckDB's own
    error, and the values in it, as its context.

    Args:
        action: Calls DuckDB and nothing else.
        failure: Makes the error to raise from DuckDB's.
    """
    try:
        return action()
    except duckdb.Error as error:
        translated: BaseException = failure(error)
    except RuntimeError as error:
        # DuckDB turns Ctrl-C into a plain RuntimeError.
        if "interrupted" not in str(error).lower():
            raise
        translated = KeyboardInterrupt()
    raise translated
