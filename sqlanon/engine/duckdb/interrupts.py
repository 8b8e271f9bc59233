"""Ctrl-C and time limits during a long statement.

DuckDB looks for signals only between its own steps, and often not at all until the end. So what
the main thread asks of it runs in one other thread, while the main thread waits, notices Ctrl-C
at once and interrupts the connection. The way there and back takes some 20 microseconds. A time
limit that comes meanwhile interrupts it likewise. DuckDB looks for interrupts while it runs a
statement, not while it plans one, so statements must be such that planning takes no time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import duckdb

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError

T = TypeVar("T")

_PATIENCE = 0.1
Answer = tuple[Any, BaseException | None]
Task = tuple[Callable[[], Any], "SimpleQueue[Answer]"]


# The tasks of the one thread that runs them, once there is one.
_queues: list[SimpleQueue[Task]] = []
if hasattr(os, "register_at_fork"):
    # A forked child has no thread but its own.
    os.register_at_fork(after_in_child=_queues.clear)


def _work(tasks: SimpleQueue[Task]) -> None:
    while True:
        action, answer = tasks.get()
        try:
            answer.put((action(), None))
        except BaseException as error:
            # It is raised again by whoever waits for the answer, and would else be lost.
            answer.put((None, error))
        del action, answer


def _hand_over(action: Callable[[], Any]) -> SimpleQueue[Answer]:
    """Gives an action to the thread; the answer comes through the queue."""
    if not _queues:
        tasks: SimpleQueue[Task] = SimpleQueue()
        threading.Thread(target=_work, args=(tasks,), name="sqlanon", daemon=True).start()
        _queues.append(tasks)
    answer: SimpleQueue[Answer] = SimpleQueue()
    _queues[0].put((action, answer))
    return answer


def interruptible(
    connection: duckdb.DuckDBPyConnection, action: Callable[[], T], *, deadline: Deadline = NEVER
) -> T:
    """Runs an action on a connection; Ctrl-C and the deadline end it within moments.

    Args:
        connection: What the action uses, and nothing else uses meanwhile.
        action: Calls DuckDB.
        deadline: When to interrupt it.

    Raises:
        TimeLimitError: The deadline came before the action was done.
    """
    if threading.current_thread() is not threading.main_thread():
        return _watched(connection, action, deadline=deadline) if deadline.is_limited else action()
    answer = _hand_over(action)
    try:
        value, error = _awaited(answer, deadline)
    except KeyboardInterrupt:
        _stop(connection)
        raise
    except Empty:
        _stop(connection)
        value, error = answer.get()
    if isinstance(error, duckdb.InterruptException) and deadline.is_limited:
        raise TimeLimitError
    if error is not None:
        raise error
    result: T = value
    return result


def _awaited(answer: SimpleQueue[Answer], deadline: Deadline) -> Answer:
    """An answer; raises `Empty` where the deadline comes first, by its own clock."""
    if not deadline.is_limited:
        return answer.get()
    while True:
        try:
            return answer.get(timeout=_timeout(deadline))
        except Empty:
            if deadline.expired:
                raise


def _timeout(deadline: Deadline) -> float:
    """How long to wait until looking at the deadline [seconds]."""
    return min(max(deadline.left(), 0.0), threading.TIMEOUT_MAX)


def _watched(
    connection: duckdb.DuckDBPyConnection, action: Callable[[], T], *, deadline: Deadline
) -> T:
    """Runs an action in a thread that no signal reaches; another one keeps the time."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_timeout(deadline)):
            if deadline.expired:
                connection.interrupt()
                done.wait(_PATIENCE)

    watcher = threading.Thread(target=watch, name="sqlanon-deadline", daemon=True)
    watcher.start()
    try:
        return action()
    except duckdb.InterruptException:
        pass
    finally:
        done.set()
        watcher.join()
    raise TimeLimitError


def _stop(connection: duckdb.DuckDBPyConnection) -> None:
    """Interrupts whatever the thread is at, and waits until it has let go."""
    idle = _hand_over(lambda: None)
    while True:
        # Again and again: an interrupt just before a query starts is forgotten by DuckDB.
        connection.interrupt()
        try:
            idle.get(timeout=_PATIENCE)
        except Empty:
            continue
        return
