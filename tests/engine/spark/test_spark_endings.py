"""That a deadline and Ctrl-C end what runs in Spark, and that no error or log tells a value."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import duckdb
import pytest
from spark_kind import IS_SAIL

from sqlanon.deadline import Deadline
from sqlanon.engine.spark.calls import Calls
from sqlanon.engine.spark.remote import SparkRemote
from sqlanon.errors import EngineError, MissingTableError, SourceError, SqlanonError, TimeLimitError

pytestmark = pytest.mark.slow
# Of many seconds: a slow Spark may go on with what was told to end while it was planned.
ROWS = 2_000_000_000
ENDLESS = f"SELECT count(*) AS n FROM range(0, {ROWS}) WHERE hash(id) % 1000003 = 7"
# Not of minutes: Spark goes on writing a range whatever it is told, and all that comes after waits.
WRITTEN = ROWS if IS_SAIL else 100_000_000
SECRET = "Wagner77"


class Seen:
    """A call of an endless query that tells how it ends."""

    def __init__(self, session):
        self._session, self.ended = session, threading.Event()

    def __call__(self):
        try:
            return self._session.sql(ENDLESS).toArrow()
        finally:
            self.ended.set()


def test_a_deadline_ends_a_query_in_spark_too(session):
    calls, asked, start = Calls(session), Seen(session), time.monotonic()
    with calls.limited(Deadline.after(2)), pytest.raises(TimeLimitError):
        calls(asked, "count")
    assert time.monotonic() - start < 2 + 6
    assert asked.ended.wait(10)


def test_a_query_after_its_deadline_is_not_begun(session):
    calls, asked = Calls(session), Seen(session)
    with calls.limited(Deadline.after(-1)), pytest.raises(TimeLimitError):
        calls(asked, "count")
    assert not asked.ended.wait(0.2)


def test_ctrl_c_ends_a_query_in_spark_too(session):
    calls, asked = Calls(session), Seen(session)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    timer = threading.Timer(2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            calls(asked, "count")
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 2 + 6
    assert asked.ended.wait(10)


def test_what_was_told_to_end_writes_nothing_after_its_place_is_cleared(session, tmp_path):
    remote = SparkRemote(session, scratch=str(tmp_path))
    with remote.limited(Deadline.after(2)), pytest.raises(TimeLimitError):
        remote.store("endless", f"SELECT id FROM range(0, {WRITTEN})", most=0)
    remote.close()
    time.sleep(0.5)
    assert list(tmp_path.iterdir()) == []


def test_a_limit_ends_no_other_query_of_the_session(session):
    other, calls = [], Calls(session)
    # Of seconds: Spark may go on with what was told to end while it was planned.
    rows, seconds = (30_000_000, 0.3) if IS_SAIL else (100_000_000, 1)
    text = f"SELECT count(*) AS n FROM range(0, {rows}) WHERE hash(id) % 1000003 = 7"
    thread = threading.Thread(target=lambda: other.append(session.sql(text).collect()))
    thread.start()
    with calls.limited(Deadline.after(seconds)), pytest.raises(TimeLimitError):
        calls(Seen(session), "count")
    thread.join(300)
    assert len(other) == 1


def test_a_remote_forgets_its_limit(remote):
    with remote.limited(Deadline.after(0)), pytest.raises(TimeLimitError):
        remote.answer("SELECT 1 AS x")
    assert remote.answer("SELECT 1 AS x").to_pylist() == [{"x": 1}]


def test_an_intermediate_is_dropped_after_the_deadline_too(remote):
    remote.store("stored", "SELECT 1 AS x", most=0)
    with remote.limited(Deadline.after(0)):
        remote.drop("stored")
    with pytest.raises(MissingTableError):
        remote.answer("SELECT * FROM stored")


FAILING = {
    f"SELECT CAST('{SECRET}' AS INT)": EngineError,
    f"SELECT CAST(concat('{SECRET}', id) AS INT) FROM range(9)": EngineError,
    f"SELECT raise_error('{SECRET}')": EngineError,
    f"SELEC '{SECRET}'": EngineError,
    f"SELECT nothing, '{SECRET}' FROM range(3)": SqlanonError,
    f"SELECT '{SECRET}' FROM nothing": MissingTableError,
}


@pytest.mark.parametrize("text", FAILING)
def test_no_failure_tells_a_value(remote, text, caplog, capfd):
    with caplog.at_level(logging.DEBUG), pytest.raises(FAILING[text]) as raised:
        remote.answer(text)
    error = raised.value
    assert (error.__cause__, error.__context__) == (None, None)
    captured = capfd.readouterr()
    assert SECRET not in "".join((str(error), caplog.text, captured.out, captured.err))


@pytest.mark.skipif(IS_SAIL, reason="Sail has no names of errors")
def test_a_failure_tells_the_name_of_its_kind(remote):
    with pytest.raises(
        EngineError, match=r"^Spark cannot carry out a statement \(DIVIDE_BY_ZERO\)"
    ):
        remote.answer("SELECT 1 / 0")
    with pytest.raises(SourceError, match="a column that it names does not exist"):
        remote.answer("SELECT nothing FROM range(3)")


@pytest.mark.slow
@pytest.mark.skipif(not IS_SAIL, reason="begins Sail with little memory")
def test_memory_that_is_used_up_is_told_with_the_way_out(tmp_path):
    program = f"""
from sqlanon.engine.open import open_source
with open_source({str(tmp_path / "data")!r}, engine="spark", remote="sail") as opened:
    rows = "SELECT id % 7 AS a, uuid() AS b FROM range(2000000) ORDER BY b LIMIT 2000000"
    opened.engine.far.answer(rows)
"""
    duckdb.sql("SELECT 1 AS x").write_parquet(str(tmp_path / "data"), per_thread_output=True)
    pool = {"TYPE": "greedy", "GREEDY__MAX_SIZE": "20000000"}
    settings = {f"SAIL_RUNTIME__MEMORY_POOL__{name}": value for name, value in pool.items()}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    told = ended.stderr.rstrip().splitlines()[-1]
    assert "Spark cannot carry out a statement: its memory is used up" in told


def test_loggers_are_as_they_were(remote):
    names = ("pyspark.sql.connect.logging", "SQLQueryContextLogger")
    before = [(list(logging.getLogger(n).filters), logging.getLogger(n).disabled) for n in names]
    with pytest.raises(EngineError):
        remote.answer("SELEC 1")
    after = [(list(logging.getLogger(n).filters), logging.getLogger(n).disabled) for n in names]
    assert before == after
