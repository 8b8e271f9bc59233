"""Deadlines of statements: an interrupt ends one of them and leaves the connection usable."""

from __future__ import annotations

from threading import Thread

import duckdb
import pytest
from deadlines import deadline_after
from sqlglot import exp, parse_one

from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import TimeLimitError

LONG = parse_one(
    "SELECT COUNT(*) FROM range(1000000) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 3",
    dialect="duckdb",
)
ONE = exp.select(exp.Literal.number(1))


@pytest.fixture
def engine():
    return DuckDB(duckdb.connect())


def soon():
    return Deadline.after(0.05)


def test_a_statement_ends_at_the_deadline_and_the_next_one_runs(engine):
    with engine.limited(soon()), pytest.raises(TimeLimitError):
        engine.rows(LONG)
    assert engine.rows(ONE) == [(1,)]


@pytest.mark.slow
def test_a_statement_runs_on_until_the_deadline_comes_by_its_own_clock(engine):
    query = parse_one(
        "SELECT COUNT(*) FROM range(10000) a(i), range(10000) b(j) WHERE (i * j) % 7 = 3",
        dialect="duckdb",
    )
    still, counted = Deadline(0.01, lambda: 0.0), []
    with engine.limited(still):
        counted.append(engine.rows(query))
        thread = Thread(target=lambda: counted.append(engine.rows(query)))
        thread.start()
        thread.join()
    assert counted[0] == counted[1]


def test_a_working_table_that_is_cut_short_is_not_there(engine):
    with engine.workspace(), engine.limited(soon()), pytest.raises(TimeLimitError):
        engine.materialize("long", LONG)
    assert engine.rows(exp.select("table_name").from_(exp.Anonymous(this="duckdb_tables"))) == []


def test_working_tables_are_dropped_after_the_deadline(engine):
    def made_and_cut_short():
        with engine.limited(soon()), engine.workspace():
            engine.materialize("short", ONE.copy())
            engine.rows(LONG)

    with pytest.raises(TimeLimitError):
        made_and_cut_short()
    assert engine.rows(exp.select("table_name").from_(exp.Anonymous(this="duckdb_tables"))) == []


def test_a_deadline_interrupts_in_any_thread(engine):
    raised = []

    def ask():
        try:
            with engine.limited(soon()):
                engine.rows(LONG)
        except TimeLimitError as error:
            raised.append(error)
        raised.append(engine.rows(ONE))

    thread = Thread(target=ask)
    thread.start()
    thread.join()
    assert isinstance(raised[0], TimeLimitError)
    assert raised[1] == [(1,)]


def test_no_statement_starts_after_the_deadline(engine):
    with engine.limited(deadline_after(3)):
        assert engine.rows(ONE) == [(1,)]
        with pytest.raises(TimeLimitError):
            engine.rows(ONE)


def test_a_limit_is_lifted_and_comes_back(engine):
    over = Deadline(0)
    with engine.limited(over):
        with engine.limited(NEVER):
            assert engine.rows(ONE) == [(1,)]
        assert engine.deadline is over
    assert engine.deadline is NEVER


def test_an_open_transaction_is_not_ended_by_a_deadline(engine):
    engine.connection.execute("BEGIN")
    engine.connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    some = parse_one("SELECT COUNT(*) FROM range(30000) a, range(30000) b", dialect="duckdb")
    # Whoever waits for the answer as long as there is time looks at the clock, and has none left.
    with engine.limited(deadline_after(2)):
        engine.rows(some)
        with pytest.raises(TimeLimitError):
            engine.rows(ONE)
    engine.connection.execute("COMMIT")
    assert engine.connection.execute("FROM kept").fetchall() == [(1,)]
