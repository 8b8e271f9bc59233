"""Errors of Spark in our own words: its messages quote cell values, and it logs them, too.

What the Java side of a classic session writes to its own log is by the user's log level.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlanon.errors import EngineError, MissingTableError, SourceError, SqlanonError

T = TypeVar("T")
_MISSING = "TABLE_OR_VIEW_NOT_FOUND"
_FULL = "Failed to allocate additional"
_UNSIGNED = "Unsupported data type in hasher"
_REASONS = {
    _MISSING: (MissingTableError, "a table that it names does not exist"),
    "PATH_NOT_FOUND": (SourceError, "a path that it names does not exist"),
    "SCHEMA_NOT_FOUND": (SourceError, "a schema that it names does not exist"),
    "TABLE_OR_VIEW_ALREADY_EXISTS": (SourceError, "something of that name exists already"),
    "UNRESOLVED_COLUMN": (SourceError, "a column that it names does not exist"),
    "INSUFFICIENT_PERMISSIONS": (SourceError, "your rights forbid it"),
    "CAST_INVALID_INPUT": (EngineError, "a value does not fit the type it is converted to"),
    "ARITHMETIC_OVERFLOW": (EngineError, "a number is out of its type's range"),
    _UNSIGNED: (
        SourceError,
        "Sail reads no whole numbers without a sign; write the files with BIGINT or DECIMAL",
    ),
    _FULL: (
        EngineError,
        "its memory is used up; Sail takes as many bytes as the MAX_SIZE of its "
        "SAIL_RUNTIME__MEMORY_POOL says where it is started",
    ),
}
# What of pyspark logs failed queries with their messages: by its own class of loggers, and others.
_PYSPARK_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_LOGGERS = (
    "SparkConnectClient",
    "pyspark.sql.connect.logging",
    "pyspark.sql.connect.client.core",
    "py4j.clientserver",
    "py4j.java_gateway",
)


def attempt(action: Callable[[], T], what: str) -> T:
    """The result of an action; its error in our words.

    Args:
        action: Calls Spark.
        what: What it does, for the error.

    Raises:
        SourceError: A table, column or path is missing, or may not be used.
        EngineError: Any other refusal.
    """
    try:
        with _quiet():
            return action()
    except Exception as error:
        fault = _fault(error, what)
    raise fault


def _fault(error: Exception, what: str) -> SqlanonError:
    """The error for one of Spark's, of which only its class is told."""
    if isinstance(error, SqlanonError):
        return error
    condition = _condition(error)
    kind, reason = _REASONS.get(condition.partition(".")[0], (EngineError, ""))
    if reason:
        return kind(f"Spark cannot {what}: {reason}")
    return EngineError(f"Spark cannot {what} ({condition or type(error).__name__})")


def _condition(error: Exception) -> str:
    """The name of an error's kind, which holds no value; empty where it has none."""
    ask = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    condition = ask() if ask is not None else None
    if not condition:  # Sail tells it in the message alone
        if f"[{_MISSING}]" in str(error):
            return _MISSING
        for prefix in (_FULL, _UNSIGNED):
            if str(error).startswith(prefix):
                return prefix
    return str(condition or "")


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is logged of what fails in this thread; others log as before."""
    from pyspark.logger import PySparkLogger

    thread = threading.get_ident()

    def is_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    # Whoever asks for a logger first says of which class it is.
    loggers: list[logging.Logger] = [PySparkLogger.getLogger(name) for name in _PYSPARK_LOGGERS]
    loggers += map(logging.getLogger, _LOGGERS)
    for logger in loggers:
        logger.addFilter(is_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_others)
