"""Transactions, time limits and Ctrl-C, and that the caller's connection stays what it was."""

import logging
import signal
import sys
import threading
import time

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from conftest import REMOTE, store
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from sqlglot import exp

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.deadline import Deadline
from sqlanon.engine.base import Use
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.postgres.opening import connected, open_postgres, recognised, shown
from sqlanon.errors import (
    EngineError,
    SourceError,
    SqlanonError,
    StalePlanError,
    TimeLimitError,
)

pytestmark = pytest.mark.slow

MARKER = "4242424242"
PEOPLE = qualified("postgres", "public", "people")
ENDLESS = "SELECT count(*) FROM generate_series(1, 100000000000) AS v(x)"


@pytest.fixture
def people(connection):
    connection.execute("CREATE TABLE people AS SELECT x AS age FROM generate_series(1, 10) v(x)")
    return connection


def count(remote):
    return remote.rows("SELECT count(*) FROM people")[0][0]


def together(remote, *texts):
    """Carries statements out in one transaction."""
    with remote.transaction():
        for text in texts:
            remote.run(text)


def test_a_transaction_of_ours_sees_one_moment(people, connect, remote):
    with remote.transaction():
        assert count(remote) == "10"
        connect(autocommit=True).execute("DELETE FROM people")
        assert count(remote) == "10"
        with remote.transaction():
            assert count(remote) == "10"
    assert count(remote) == "0"


def test_a_stricter_transaction_stays_so(people, connect):
    connection = connect()
    connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    remote = REMOTE(connection)
    with remote.transaction():
        assert remote.rows("SHOW transaction_isolation") == [("serializable",)]


def test_what_a_transaction_did_is_undone_together(people, remote):
    with pytest.raises(SourceError):
        together(remote, "DELETE FROM people", "CREATE TABLE new AS SELECT 1", "DROP TABLE nothing")
    assert remote.rows("SELECT to_regclass('new')") == [(None,)]
    assert count(remote) == "10"
    together(remote, "DELETE FROM people")
    assert count(remote) == "0"


def test_an_error_within_a_transaction_ends_that_statement_alone(people, remote):
    with remote.transaction():
        remote.run("DELETE FROM people WHERE age = 1")
        with pytest.raises(SourceError):
            remote.run("DROP TABLE nothing")
        assert count(remote) == "9"
    assert count(remote) == "9"


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_transaction_of_the_callers_is_joined_and_left_open(people, connect, autocommit):
    connection = connect(autocommit=autocommit, row_factory=dict_row)
    connection.execute("BEGIN" if autocommit else "SELECT 1")
    connection.execute("DELETE FROM people WHERE age = 1")
    remote = REMOTE(connection)
    with remote.transaction():
        remote.run("DELETE FROM people WHERE age = 2")
    with pytest.raises(SourceError):
        together(remote, "DELETE FROM people", "DROP TABLE nothing")
    assert store(remote, "kept", "SELECT * FROM people") == 8
    assert list(remote.columns(PEOPLE)) == ["age"]
    remote.close()
    assert connection.info.transaction_status is TransactionStatus.INTRANS
    assert people.execute("SELECT count(*) FROM people").fetchone() == (10,)
    connection.execute("COMMIT")
    assert people.execute("SELECT count(*) FROM people").fetchone() == (8,)
    assert any("READ COMMITTED" in note for note in remote.notes)


def test_a_transaction_that_sees_one_moment_has_no_note(connect):
    connection = connect(autocommit=True)
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert REMOTE(connection).notes == []
    assert REMOTE(connect()).notes == []


def test_a_connection_without_transaction_is_left_without_one(people, connect):
    connection = connect()
    remote = REMOTE(connection)
    remote.answer("SELECT * FROM people")
    store(remote, "kept", "SELECT * FROM people")
    assert remote.brought("kept").read_all().num_rows == 10
    assert connection.info.transaction_status is TransactionStatus.IDLE
    remote.close()
    assert connection.info.transaction_status is TransactionStatus.IDLE
    assert not connection.closed


def test_closing_leaves_nothing(connection, connect):
    connection.execute("SET client_min_messages = 'log'")
    remote = REMOTE(connection)
    store(remote, "kept", "SELECT 1 AS x")
    remote.ship("sent", pa.table({"x": [1]}))
    remote.drop("kept")
    remote.drop("kept")
    remote.close()
    left = (
        "SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relname IN ('kept', 'sent')"
    )
    assert connection.execute(left).fetchone() == (0,)
    assert connection.execute("SHOW client_min_messages").fetchone() == ("log",)


def test_a_large_temporary_has_statistics(remote):
    for most, known in ((9, "10"), (10, "-1")):
        assert remote.store(f"kept_{most}", "SELECT generate_series(1, 10) AS x", most=most) == 10
        query = f"SELECT reltuples FROM pg_class WHERE oid = 'pg_temp.kept_{most}'::regclass"
        assert remote.rows(query) == [(known,)]


def test_an_idle_transaction_is_not_ended_by_the_server(connection):
    connection.execute("SET idle_in_transaction_session_timeout = 100")
    remote = REMOTE(connection)
    with remote.transaction():
        time.sleep(0.4)
        assert remote.rows("SELECT 1") == [("1",)]
    remote.close()
    left = connection.execute("SHOW idle_in_transaction_session_timeout").fetchone()
    assert left == ("100ms",)


def test_temporaries_are_seen_by_nobody_else(connect, remote):
    store(remote, "kept", "SELECT 1 AS x")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connect().execute("SELECT * FROM kept")


def test_a_statement_ends_at_the_deadline(people, remote):
    started = time.monotonic()
    with remote.limited(Deadline.after(0.3)), remote.transaction():
        remote.run("DELETE FROM people WHERE age = 1")
        with pytest.raises(TimeLimitError):
            remote.answer(ENDLESS)
        with pytest.raises(TimeLimitError):
            remote.rows("SELECT 1")
        remote.drop("kept")
    assert time.monotonic() - started < 10
    assert count(remote) == "9"


def test_a_time_limit_of_the_server_is_not_ours(connection, remote):
    connection.execute("SET statement_timeout = 50")
    with pytest.raises(EngineError, match="cancelled"):
        remote.answer(ENDLESS)
    with remote.limited(Deadline.after(60)), pytest.raises(EngineError, match="cancelled"):
        store(remote, "kept", ENDLESS)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
@pytest.mark.parametrize("ask", ["answer", "store", "brought", "ship"])
def test_ctrl_c_ends_a_statement_soon(people, remote, ask):
    if ask == "brought":
        store(remote, "large", "SELECT x FROM generate_series(1, 3000000) AS v(x)")
    rows = pa.table({"x": np.arange(10_000_000)})
    waits = {
        "answer": lambda: remote.answer(ENDLESS),
        "store": lambda: store(remote, "kept", ENDLESS),
        "brought": lambda: [remote.brought("large").read_all() for _ in range(100)],
        "ship": lambda: [remote.ship(f"sent_{n}", rows) for n in range(100)],
    }
    main = threading.main_thread().ident
    interrupts = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))

    def wait():
        interrupts.start()  # before this is awaited it would end the run of the tests
        waits[ask]()

    with remote.transaction():
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            wait()
        assert time.monotonic() - started < 10
        assert count(remote) == "10"


def test_a_reader_that_is_left_leaves_the_connection_usable(remote, monkeypatch):
    monkeypatch.setattr("sqlanon.engine.postgres.connection.BYTES_AT_ONCE", 1000)
    store(remote, "large", "SELECT x FROM generate_series(1, 1000000) AS v(x)")
    reader = remote.brought("large")
    assert reader.read_next_batch().num_rows > 0
    del reader
    assert remote.rows("SELECT count(*) FROM large") == [("1000000",)]


def test_a_reader_that_is_not_read_to_its_end_says_so(remote, monkeypatch):
    monkeypatch.setattr("sqlanon.engine.postgres.connection.BYTES_AT_ONCE", 1000)
    store(remote, "large", "SELECT x FROM generate_series(1, 100000) AS v(x)")
    begun, idle, done = (remote.brought("large") for _ in range(3))
    assert done.read_all().num_rows == 100000
    begun = remote.brought("large")
    begun.read_next_batch()
    with remote.transaction():
        assert remote.rows("SELECT count(*) FROM large") == [("100000",)]
    for reader in (begun, idle):
        with pytest.raises(EngineError, match="before the next statement"):
            reader.read_all()
    assert done.read_all().num_rows == 0


def test_a_reader_is_read_by_duckdb(remote):
    store(remote, "large", "SELECT x, 'text ' || x AS y FROM generate_series(1, 300000) AS v(x)")
    near = duckdb.connect()
    near.register("brought", remote.brought("large"))
    near.execute("CREATE TABLE rows AS SELECT * FROM brought")
    total = near.execute("SELECT count(*), sum(x), count(DISTINCT y) FROM rows").fetchone()
    assert total == (300000, 45000150000, 300000)


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"SELECT '{MARKER}x'::int", "InvalidTextRepresentation|NumericValueOutOfRange"),
        (f"SELECT {MARKER}::int", "NumericValueOutOfRange"),
        ("INSERT INTO unique_ages SELECT * FROM unique_ages", "UniqueViolation"),
        (f"SELECT 1 / 0, '{MARKER}'", "DivisionByZero"),
        (f"SELECT nothing('{MARKER}')", "UndefinedFunction"),
        (f"DO $$ BEGIN RAISE EXCEPTION '{MARKER}' USING DETAIL = '{MARKER}'; END $$", "Raise"),
    ],
)
def test_no_value_is_told(connection, remote, text, told, caplog, capfd):
    connection.execute(f"CREATE TABLE unique_ages AS SELECT {MARKER} AS age")
    connection.execute("CREATE UNIQUE INDEX ON unique_ages (age)")
    with caplog.at_level(logging.DEBUG), pytest.raises(SqlanonError, match=told) as caught:
        remote.run(text)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert MARKER not in str(caught.value)
    out, err = capfd.readouterr()
    assert MARKER not in caplog.text + out + err


def test_an_error_of_a_commit_is_told_without_values(connection, remote):
    connection.execute("CREATE TABLE deferred (age bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    connection.execute(f"INSERT INTO deferred VALUES ({MARKER})")
    with pytest.raises(EngineError, match=r"could not commit .*UniqueViolation") as caught:
        together(remote, "INSERT INTO deferred SELECT * FROM deferred")
    assert caught.value.__context__ is None
    assert count_of(connection, "deferred") == 1


def count_of(connection, table):
    return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_notices_are_not_passed_on(connection):
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    remote = REMOTE(connection)
    remote.run(f"DO $$ BEGIN RAISE WARNING '{MARKER}'; END $$")
    remote.drop("nothing")
    assert told == []
    remote.close()
    connection.execute(f"DO $$ BEGIN RAISE WARNING '{MARKER}'; END $$")
    assert told == [MARKER]


def test_a_read_only_connection_is_told(connect):
    connection = connect()
    connection.read_only = True
    remote = REMOTE(connection)
    assert remote.answer("SELECT 1 AS x").num_rows == 1
    with pytest.raises(SourceError, match="read-only"):
        remote.run("CREATE TABLE new AS SELECT 1 AS x")


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("setting", "told"),
    [("client_encoding = 'LATIN1'", "client_encoding"),
     ("standard_conforming_strings = off", "standard_conforming_strings")],
)  # fmt: skip
def test_a_connection_that_reads_otherwise_is_refused(connection, setting, told):
    connection.execute(f"SET {setting}")
    with pytest.raises(EngineError, match=f"{told} of the connection is not"):
        REMOTE(connection)


def test_a_connection_that_has_failed_is_refused(connect):
    connection = connect()
    with pytest.raises(psycopg.Error):
        connection.execute("SELECT nothing")
    with pytest.raises(EngineError, match="roll it back first"):
        REMOTE(connection)
    connection.close()
    with pytest.raises(EngineError, match="closed"):
        REMOTE(connection)


def test_a_connection_in_a_pipeline_is_refused(connection):
    with connection.pipeline(), pytest.raises(EngineError, match="in a pipeline"):
        REMOTE(connection)


def test_what_failed_first_is_told_of_a_read_only_connection(people, connect):
    connection = connect()
    connection.read_only = True
    policy = Policy(quasi_identifiers={"age": Hierarchy.suppression()}, models=[KAnonymity(2)])
    with pytest.raises(SourceError, match=r"could not (store|make) .* read-only"):
        sqlanon.anonymize(connection, policy, table="people", into="public_people")


def test_a_connection_that_is_lost_is_told(connect, connection):
    lost = connect(autocommit=True)
    remote = REMOTE(lost)
    connection.execute("SELECT pg_terminate_backend(%s)", (lost.info.backend_pid,))
    with pytest.raises(EngineError):
        remote.answer("SELECT 1")
    with pytest.raises(EngineError):
        remote.answer("SELECT 1")
    remote.close()


def test_sources_of_postgres_are_recognised(connection):
    assert recognised(connection)
    assert recognised("postgresql://localhost/x")
    assert recognised("postgres://localhost/x")
    assert not any(map(recognised, ["people.csv", "postgresql.duckdb", None, 7, connection.info]))
    with pytest.raises(SourceError, match="asynchronous"):
        recognised(psycopg.AsyncConnection(connection.pgconn))


def url_of(address):
    words = dict(word.split("=") for word in address.split())
    return f"postgresql://{words['user']}@/{words['dbname']}?host={words['host']}"


def columns_of(names):
    """Wants every column."""
    return Use()


def test_a_url_is_opened_and_closed(people, address):
    for said in ({"source": url_of(address), "table": "people"},
                 {"source": "people", "table": None, "engine": "postgres",
                  "remote": url_of(address)}):  # fmt: skip
        with open_postgres(**said, use=columns_of) as opened:
            engine = opened.engine
            table = exp.to_table(opened.table.sql())
            assert engine.rows(exp.select("count(*)").from_(table)) == [(10,)]
        assert engine.far.connection.closed


def test_a_connection_of_the_callers_stays_open(people):
    people.execute("BEGIN")
    with open_postgres(people, "people", use=columns_of, local_rows=5) as opened:
        query = exp.select("age").from_(opened.table.copy())
        table, rows = opened.engine.materialize_counted("ages", query)
        assert rows == 10
        assert opened.engine.rows(exp.select("sum(age)").from_(table)) == [(55,)]
        assert "READ COMMITTED" in opened.engine.opened.notes[-1]
    assert people.info.transaction_status is TransactionStatus.INTRANS


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("said", "told"),
    [({"table": None}, "many tables; name one"), ({"table": "peopel"}, "near it: 'people'"),
     ({"table": "people", "remote": "postgresql://x"}, "leave remote out"),
     ({"table": "people", "delimiter": ";"}, "delimiter say nothing"),
     ({"table": None, "source": "people", "engine": "postgres"}, "needs the URL"),
     ({"source": "people", "engine": "postgres", "remote": "postgresql://x"}, "name of one table")],
)  # fmt: skip
def test_what_cannot_be_opened_is_told(people, said, told):
    with (
        pytest.raises(SourceError, match=told),
        open_postgres(**{"source": people, "table": "people", "use": columns_of, **said}),
    ):
        pass


def test_a_plan_is_applied_to_the_table_that_is_named(people, address):
    """Not to the one that it was made of, where that is another."""
    people.execute("CREATE TABLE others AS SELECT age + 1 AS age FROM people")
    how = {"engine": "postgres", "remote": url_of(address)}
    policy = {"k": 2, "quasi_identifiers": {"age": "intervals:5"}, "others": "drop"}
    plan = sqlanon.plan("people", policy, **how)
    with pytest.raises(StalePlanError):
        sqlanon.apply("others", plan, into="released", **how)
    assert sqlanon.apply("people", plan, into="released", **how).holds


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("url", "told"),
    [("postgresql://me:geheim@127.0.0.1:1/x?connect_timeout=2", "no server answers"),
     ("postgresql://me:geheim@[::1", "URL"),
     ("postgresql://me:geheim@127.0.0.1:1/x?nonsense=1", "URL")],
)  # fmt: skip
def test_no_password_is_told(url, told):
    with pytest.raises(SourceError, match=told) as caught:
        connected(url)
    assert "geheim" not in str(caught.value)
    assert "me" not in shown(url).split("/")[2]
    assert caught.value.__context__ is None


def test_a_missing_database_is_told(address):
    with pytest.raises(SourceError, match="could not connect"):
        connected(url_of(address).replace("/postgres?", "/nothing?"))


def test_no_psycopg_is_needed_to_recognise():
    import subprocess

    code = (
        "import sys; from sqlanon.engine.postgres.opening import recognised; "
        "assert recognised('postgresql://x'); assert 'psycopg' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
