"""Calls of Spark that a deadline or Ctrl-C ends, and with them what runs there.

A client that is interrupted while it waits leaves its query running. So a thread of its own waits
for the answer, and while it does Spark can still be told to end the query.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar

from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.spark.errors import attempt
from sqlanon.errors import EngineError, SqlanonError

T = TypeVar("T")
_LOOK_SECONDS = 0.5
"""Longest wait before the deadline is looked at again [seconds]."""
_PLANNED_SECONDS = 1.0
"""Age of a query that is told to end: one that is still planned may run all the same [seconds]."""
_END_SECONDS = 1.0
"""Longest wait for a query that was told to end [seconds]."""
_SETTLED_SECONDS = 10.0
"""Longest wait before what such queries may have written is cleared [seconds]."""


class Calls:
    """The calls of a session.

    Args:
        session: Classic, or through Spark Connect.
    """

    def __init__(self, session: Any) -> None:
        self._session, self._deadline = session, NEVER
        self._tag = f"sqlanon-{uuid.uuid4().hex}"
        self._left = list[threading.Event]()

    def __call__(self, action: Callable[[], T], what: str) -> T:
        """The result of an action; its error in our words.

        Args:
            action: Calls Spark.
            what: What it does, for the error.

        Raises:
            TimeLimitError: The deadline came first, or `end`.
            SourceError: A table, column or path is missing, or may not be used.
            EngineError: Any other refusal.
        """
        self._deadline.check()
        done, results, errors = threading.Event(), list[T](), list[BaseException]()
        session, connect = self._session, is_connect(self._session)
        start = time.monotonic()
        tags = {self._tag, *session.getTags()} if connect else set[str]()

        def work() -> None:
            try:
                for tag in tags:
                    session.addTag(tag)
                if not connect:
                    session.sparkContext.addJobTag(self._tag)
                results.append(attempt(action, what))
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        threading.Thread(target=work if connect else _inheriting(work), daemon=True).start()
        try:
            self._wait(done)
        except BaseException:
            threading.Thread(target=self._end, args=(done, start), daemon=True).start()
            self._left.append(done)
            done.wait(_END_SECONDS)
            raise
        if errors:
            raise errors[0]
        return results[0]

    def settle(self) -> None:
        """Waits a while for what was told to end, which could write after its place is cleared."""
        end = time.monotonic() + _SETTLED_SECONDS
        while self._left:
            self._left.pop().wait(max(end - time.monotonic(), 0.0))

    @cached_property
    def is_sail(self) -> bool:
        """Whether it is Sail that answers, which tells a number alone for its version."""
        asked = "SELECT version() AS `version`"
        rows = self(lambda: self._session.sql(asked).toArrow(), "tell its version")
        return " " not in rows["version"][0].as_py()

    def described(self, name: str, word: str) -> str:
        """What the catalog tells of a table under a word; "" for nothing.

        Args:
            name: Quoted for Spark.
            word: Such as "Location".
        """
        text = f"DESCRIBE EXTENDED {name}"
        rows = self(lambda: self._session.sql(text).collect(), "describe a table")
        return next((str(row[1]) for row in rows if row[0] == word), "")

    def drop_table(self, name: str, *, mark: str = "") -> None:
        """Drops a table with its files, whatever the deadline; it may be gone.

        Args:
            name: Quoted for Spark.
            mark: What its properties have, else it is somebody else's and stays.
        """
        with self.limited(NEVER):
            if mark:
                is_there = self(lambda: self._session.catalog.tableExists(name), "look for a table")
                if not is_there or mark not in self.described(name, "Table Properties"):
                    return
            if self.is_sail:  # it leaves the files of dropped tables, not those written over
                empty = f"INSERT OVERWRITE {name} SELECT * FROM {name} WHERE false"
                with suppress(SqlanonError):
                    self(lambda: self._session.sql(empty).toArrow(), "empty a table")
            dropped = f"DROP TABLE IF EXISTS {name}"
            self(lambda: self._session.sql(dropped).toArrow(), "drop a table")

    @contextmanager
    def limited(self, deadline: Deadline) -> Iterator[None]:
        """Calls inside end at a deadline, by a `TimeLimitError`."""
        before, self._deadline = self._deadline, deadline
        try:
            yield
        finally:
            self._deadline = before

    def end(self) -> None:
        """Ends every call, those of other threads, too; no other one is begun."""
        self._deadline = Deadline(-math.inf)

    def _wait(self, done: threading.Event) -> None:
        while not done.wait(min(max(self._deadline.left(), 0.0), _LOOK_SECONDS)):
            self._deadline.check()

    def _end(self, done: threading.Event, start: float) -> None:
        """Tells Spark to end the query asked at a time, again where it had not begun to run.

        The tags of a classic session are known to the thread alone that set them, those of its jobs
        everywhere.
        """
        interrupt = (
            self._session.interruptTag
            if is_connect(self._session)
            else self._session.sparkContext.cancelJobsWithTag
        )
        done.wait(start + _PLANNED_SECONDS - time.monotonic())
        while not done.is_set():
            with suppress(EngineError):
                attempt(lambda: interrupt(self._tag), "end a query")
            done.wait(_LOOK_SECONDS)


def is_connect(session: Any) -> bool:
    """Whether a session is reached through Spark Connect."""
    return type(session).__module__.startswith(("pyspark.sql.connect", "databricks.connect"))


def _inheriting(work: Callable[[], None]) -> Callable[[], None]:
    """A thread's work with what the caller set for its own thread, such as a pool of Spark."""
    from pyspark.util import inheritable_thread_target

    wrapped: Callable[[], None] = inheritable_thread_target(work)
    return wrapped
