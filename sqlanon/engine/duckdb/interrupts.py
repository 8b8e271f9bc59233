"""Ctrl-C during a long statement.

DuckDB looks for signals only between its own steps, and often not at all until the end. So what
the main thread asks of it runs in one other thread, while the main thread waits, notices Ctrl-C
at once and interrupts the connection. The way there and back takes some 20 microseconds.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import duckdb

T = TypeVar("T")

_PATIENCE = 0.1
Answer = tuple[Any, BaseException | None]
Task = tuple[Callable[[], Any], "SimpleQueue[Answer]"]


class _Worker:
    """One thread that runs one task after the other."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        threading.Thread(target=self._work, name="sqlanon", daemon=True).start()

    def put(self, action: Callable[[], Any]) -> SimpleQueue[Answer]:
        answer: SimpleQueue[Answer] = SimpleQueue()
        self._tasks.put((action, answer))
        return answer

    def _work(self) -> None:
        while True:
            action, answer = self._tasks.get()
            try:
                answer.put((action(), None))
            except BaseException as error:
                # It is raised again by whoever waits for the answer, and would else be lost.
                answer.put((None, error))
            del action, answer


_workers: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    # A forked child has no thread but its own.
    os.register_at_fork(after_in_child=_workers.clear)


def interruptible(connection: duckdb.DuckDBPyConnection, action: Callable[[], T]) -> T:
    """Runs an action on a connection; Ctrl-C ends it within moments.

    Args:
        connection: What the action uses, and nothing else uses meanwhile.
        action: Calls DuckDB.
    """
    if threading.current_thread() is not threading.main_thread():
        return action()
    if not _workers:
        _workers.append(_Worker())
    worker = _workers[0]
    try:
        value, error = worker.put(action).get()
    except KeyboardInterrupt:
        _stop(connection, worker)
        raise
    if error is not None:
        raise error
    result: T = value
    return result


def _stop(connection: duckdb.DuckDBPyConnection, worker: _Worker) -> None:
    """Interrupts whatever the worker is at, and waits until it has let go."""
    idle = worker.put(lambda: None)
    while True:
        # Again and again: an interrupt just before a query starts is forgotten by DuckDB.
        connection.interrupt()
        try:
            idle.get(timeout=_PATIENCE)
        except Empty:
            continue
        return
