"""Workers on the executors of Spark: a job of a search is a task of Python there.

A job goes there and its result comes back as bytes, which nothing stores. The executors need the
versions of sqlanon and of numpy that this process has; else other code could decide.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from sqlanon.deadline import Deadline
from sqlanon.engine.spark.calls import Calls
from sqlanon.errors import SqlanonError, TimeLimitError
from sqlanon.wording import listed
from sqlanon.workers import Job

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")
_MAX_WORKERS = 10_000
"""Most workers there are."""
_GRACE_SECONDS = 1.0
"""How long after the deadline a result is waited for, which ends its job itself [seconds]."""


class SparkWorkers:
    """Where workers come from: see `sqlanon.workers.Workers`.

    Args:
        session: Open.
        notes: Where a note goes, if there are none.
    """

    def __init__(self, session: Any, notes: list[str]) -> None:
        self._session, self._notes = session, notes
        self._slots: int | None = None

    @contextmanager
    def __call__(self, most: int, until: Deadline) -> Iterator[Sequence[SparkWorker]]:
        """As many as the executors have cores, or as are of use."""
        calls = Calls(self._session)
        with calls.limited(until.earlier(-_GRACE_SECONDS)):
            if self._slots is None:
                with suppress(TimeLimitError):
                    self._slots = self._counted(calls)
            yield [SparkWorker(self._session, calls)] * min(self._slots or 0, most)

    def _counted(self, calls: Calls) -> int:
        """How many jobs can be done at once."""
        asked, versions = self._session.range(_MAX_WORKERS), list[str]()
        with suppress(SqlanonError):
            rows = calls(
                lambda: asked.mapInArrow(_probed, "versions string").toArrow(),
                "start Python on its executors",
            )
            versions = rows["versions"].to_pylist()
        if versions and {*versions} == {_versions()}:
            return len(versions)
        self._notes.append(
            f"the executors of Spark do not all have {_versions()} for the same Python, so "
            "clusters are refined in processes of this machine"
        )
        return 0


class SparkWorker:
    """A core of an executor.

    Args:
        session: Open.
        calls: Its calls, those of all workers, which end together.
    """

    def __init__(self, session: Any, calls: Calls) -> None:
        self._session, self._calls = session, calls

    def run(self, job: Job[T]) -> T | None:
        """The result of a job; None where Spark fails, or does not do it in time."""
        import pyarrow

        jobs = pyarrow.table({"job": pyarrow.array([pickle.dumps(job)], pyarrow.binary())})

        def done() -> pyarrow.Table:
            rows = self._session.createDataFrame(jobs).coalesce(1)
            return rows.mapInArrow(_done, "result binary").toArrow()

        with suppress(SqlanonError):
            (result,) = self._calls(done, "do a job").column("result").to_pylist()
            if result is not None:
                outcome: T = pickle.loads(result)
                return outcome
        return None

    def kill(self) -> None:
        """Ends what all workers do."""
        self._calls.end()


def _versions() -> str:
    """What decides what a job comes to."""
    from importlib.metadata import version  # slow to import, and only this needs it

    return listed([f"{name} {version(name)}" for name in ("sqlanon", "numpy")])


def _probed(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """On an executor: the versions there."""
    import pyarrow

    for _ in batches:
        pass
    yield pyarrow.RecordBatch.from_pydict({"versions": [_versions()]})


def _done(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """On an executor: the results of jobs. An error is none: it would be logged there."""
    import pyarrow

    for batch in batches:
        for job in batch["job"].to_pylist():
            result = None
            with suppress(Exception):
                result = pickle.dumps(pickle.loads(job).run())
            column = pyarrow.array([result], pyarrow.binary())
            yield pyarrow.RecordBatch.from_pydict({"result": column})
