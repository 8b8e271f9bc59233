"""Deadline: the one time limit of a search, which every phase of it looks at.

A phase that may take long looks at it at the head of every loop whose turns take less than 100 ms,
and the engine interrupts a statement that runs when it comes. Whoever holds a result that can be
published catches the `TimeLimitError`.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlanon.errors import TimeLimitError


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time at which a search ends.

    Args:
        end: That point, by the clock [seconds].
        clock: Tells the time [seconds].
    """

    end: float = math.inf
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline so many seconds from now; none at all for None."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @classmethod
    def of_processor(cls, seconds: float) -> Deadline:
        """The deadline after so many seconds of the processor, whatever else the machine does."""
        return cls(time.process_time() + seconds, time.process_time)

    @property
    def is_limited(self) -> bool:
        """Whether it ever comes."""
        return self.end < math.inf

    def __reduce__(self) -> tuple[Callable[..., Deadline], tuple[float, Callable[[], float]]]:
        """In another process it comes after the time that is left: other clocks begin elsewhere."""
        return _from_now, (self.left(), self.clock)

    def left(self) -> float:
        """The time that is left, negative when it is over [seconds]."""
        return self.end - self.clock() if self.is_limited else math.inf

    def timeout(self) -> float:
        """How long to wait until looking at it again, as a lock takes it [seconds]."""
        return min(max(self.left(), 0.0), threading.TIMEOUT_MAX)

    @property
    def expired(self) -> bool:
        """Whether the time is over."""
        return self.is_limited and self.left() <= 0

    def check(self) -> None:
        """Raises `TimeLimitError` when the time is over."""
        if self.expired:
            raise TimeLimitError

    def share(self, part: float) -> Deadline:
        """The end of a part of the time that is left.

        Args:
            part: Share of it, 0 to 1.
        """
        return self.earlier((1 - part) * max(self.left(), 0.0)) if self.is_limited else self

    def reserving(self, seconds: float, most: float = 0.25) -> Deadline:
        """The deadline of a search after which so much time is needed.

        Args:
            seconds: That time [seconds].
            most: Share of the time that is left by which it is earlier at most.
        """
        return self.earlier(min(seconds, max(self.left(), 0.0) * most)) if self.is_limited else self

    def earlier(self, seconds: float) -> Deadline:
        """The deadline so many seconds before this one."""
        return replace(self, end=self.end - seconds)


def _from_now(seconds: float, clock: Callable[[], float]) -> Deadline:
    return Deadline(clock() + seconds, clock)


NEVER = Deadline()
"""No limit."""
REPEAT_SECONDS = 0.1
"""How long what was told to stop has until it is told again [s]."""


@contextmanager
def watched(deadline: Deadline, stop: Callable[[], object]) -> Iterator[None]:
    """Stops what is done inside when the deadline comes, again and again until it ends.

    Args:
        deadline: When.
        stop: Called in another thread; what begins just then may miss it.
    """
    if not deadline.is_limited:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(deadline.timeout()):
            if deadline.expired:
                stop()
                done.wait(REPEAT_SECONDS)

    watcher = threading.Thread(target=watch, name="sqlanon-deadline", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Names the part of a search that a time limit ends inside.

    Args:
        name: The part, as a note says it: "mining".
    """
    try:
        yield
    except TimeLimitError as error:
        if error.phase is not None:
            raise
    else:
        return
    raise TimeLimitError(name)
