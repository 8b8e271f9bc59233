"""Workers: who carries out independent jobs of a search, other processes or a cluster.

What the jobs are and what they come to never depends on who does them, nor on how many there are.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from sqlanon.deadline import Deadline

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """Something to do, of a class that another process imports; it can be pickled."""

    def run(self) -> T_co:
        """Does it."""
        ...


class Worker(Protocol):
    """Does one job after the other in place of this process."""

    def run(self, job: Job[T]) -> T | None:
        """The result of a job, which is not None; None where it was not done."""
        ...

    def kill(self) -> None:
        """Ends it, whatever it does; it does no other job."""
        ...


class Workers(Protocol):
    """Where workers come from."""

    def __call__(self, most: int, until: Deadline) -> AbstractContextManager[Sequence[Worker]]:
        """Workers, none after a deadline or where there are none; on leaving they are ended.

        Args:
            most: How many are of use.
            until: When their jobs end.
        """
        ...


class Process:
    """Another process of this machine.

    A job goes to it and the result comes back by pipes; nothing of either is written to a disk. It
    is started by a command of its own, since a copy of this process would have the locks of threads
    that it has not, and another start of the user's program would run that again.
    """

    def __init__(self) -> None:
        # It imports what this process does, and nothing from the folder that it is started in.
        path = os.pathsep.join(filter(None, sys.path))
        self._asked = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )

    def run(self, job: Job[T]) -> T | None:
        """The result of a job; None where the process has died, or is ended by what it says."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked += 1
        # Whatever comes in place of an answer, as where others print there, too, ends it: the next
        # answer would be that to this job.
        with suppress(Exception):
            pickle.dump((self._asked, job), self._process.stdin)
            self._process.stdin.flush()
            number, result = pickle.load(self._process.stdout)
            if number == self._asked:
                done: T = result
                return done
        self.kill()
        return None

    def kill(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()

    def end(self) -> None:
        """Ends it, and leaves nothing of it behind."""
        self.kill()
        self._process.communicate()


@contextmanager
def processes(most: int) -> Iterator[list[Process]]:
    """So many processes; none where they are of no use or cannot be started."""
    started = list[Process]()
    try:
        if most > 1 and _is_python(sys.executable):
            with suppress(OSError):
                for _ in range(most):
                    started.append(Process())
        yield started
    finally:
        for process in started:
            process.end()


def _is_python(program: str | None) -> bool:
    """Whether this program is Python itself, neither frozen nor one that has Python in it."""
    name = Path(program or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def serve(jobs: BinaryIO, results: BinaryIO) -> None:
    """Does jobs one after the other, until there are no more."""
    with suppress(EOFError):
        while True:
            number, job = pickle.load(jobs)
            pickle.dump((number, job.run()), results)
            results.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)
