"""Which sources are Spark's, and how a table of it is opened and left."""

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pytest
from spark_kind import IS_SAIL, KIND
from sqlglot import exp

import sqlanon
from sqlanon.engine.open import open_source
from sqlanon.engine.spark.source import is_spark
from sqlanon.errors import EngineError, SourceError

pytestmark = pytest.mark.slow


def test_a_session_is_recognised(session):
    assert is_spark(session, None)
    assert is_spark("schema.people", "spark")
    assert not is_spark("schema.people", None)
    assert not is_spark(session.sql("SELECT 1 AS x"), None)


def test_nothing_of_spark_is_loaded_to_recognise_it():
    program = """
import sys
from sqlanon.engine.open import is_elsewhere
assert not is_elsewhere("people.csv")
sys.exit(any(name.startswith(("pyspark", "pysail")) for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_what_cannot_be_opened_is_told_at_once(session):
    policy = {"quasi_identifiers": ["id"], "k": 2}
    with pytest.raises(
        SourceError, match=r"no server of Spark Connect answers at sc://127.0.0.1:1;"
    ):
        sqlanon.check("people", policy, engine="spark", remote="sc://127.0.0.1:1")
    frame = session.sql("SELECT id FROM range(50)")
    with pytest.raises(EngineError, match="local_rows must be at least 0, not -1"):
        sqlanon.check(session, policy, table=frame, local_rows=-1)
    if IS_SAIL:
        how = {"engine": "spark", "remote": "sail"}
        config = {"spark.sql.session.timeZone": "nowhere"}
        with pytest.raises(EngineError, match="time zone of the session, 'nowhere'"):
            sqlanon.check("people", policy, spark_config=config, **how)


def test_a_session_stays_open_and_nothing_is_left(session):
    frame = session.sql("SELECT id, CAST(id AS STRING) AS name FROM range(50)")
    with open_source(session, frame, local_rows=10) as opened:
        kept, rows = opened.engine.materialize_counted("kept", _all(opened.table))
        assert rows == 50
        assert opened.engine.rows(_all(kept).limit(1))
    assert session.sql("SELECT 1 AS x").toArrow().num_rows == 1
    assert not list(Path(tempfile.gettempdir()).glob("*sqlanon*"))
    assert not [each for each in session.catalog.listTables() if "_sqlanon" in each.name]


def test_a_failure_inside_leaves_nothing(session):
    def fail():
        with open_source(session, frame, local_rows=10) as opened:
            opened.engine.materialize("kept", _all(opened.table))
            raise ZeroDivisionError

    frame = session.sql("SELECT id FROM range(50)")
    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(Path(tempfile.gettempdir()).glob("*sqlanon*"))
    assert not [each for each in session.catalog.listTables() if "_sqlanon" in each.name]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "name one with table"),
        ({"table": "people", "remote": "sail"}, "a session is open already"),
        ({"table": "people", "spark_config": {"a": "b"}}, "a session is open already"),
        ({"table": "nothing"}, "no table 'nothing'"),
    ],
)
def test_what_contradicts_a_session_is_refused(session, given, reason):
    with pytest.raises(SourceError, match=reason), open_source(session, **given):
        pass


@pytest.mark.skipif(not IS_SAIL, reason="begins Sail")
def test_sail_is_begun_and_stopped_for_a_path(session, tmp_path):
    session.sql("SELECT id FROM range(7)").write.parquet(str(tmp_path / "data"))
    how = {"engine": "spark", "remote": "sail", "spark_config": {"spark.sql.ansi.enabled": "true"}}
    with open_source(str(tmp_path / "data"), **how) as opened:
        assert len(opened.engine.rows(_all(opened.table))) == 7


def _all(table):
    return exp.select("*").from_(table.copy())


@pytest.mark.slow
@pytest.mark.skipif(not IS_SAIL, reason="begins a session of Sail's")
def test_no_table_is_published_where_it_would_end_with_the_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        rows = "SELECT i % 3 AS age, i AS id FROM range(60) AS r (i)"
        options = "FORMAT parquet, PER_THREAD_OUTPUT"
        connection.execute(f"COPY ({rows}) TO '{tmp_path / 'people'}' ({options})")
    policy = {"k": 5, "quasi_identifiers": {"age": {}}, "drop": ["id"]}
    how = {"engine": "spark", "remote": "sail"}
    with pytest.raises(SourceError, match=r"ends with it.*--into \./FOLDER"):
        sqlanon.anonymize(str(tmp_path / "people"), policy, into="out", **how)
    assert [path.name for path in tmp_path.iterdir()] == ["people"]
    output = tmp_path / "out.parquet"
    report = sqlanon.anonymize(str(tmp_path / "people"), policy, output=output, **how)
    assert report.holds
    assert duckdb.read_parquet(str(output)).fetchall() == [(n // 20,) for n in range(60)]


@pytest.mark.skipif(KIND != "connect", reason="Sail's sessions are through Spark Connect")
def test_no_session_is_begun_beside_an_open_one(session):
    """It would be the same one, with our settings, and stopped at the end."""
    for remote in (None, "local[1]"):
        with pytest.raises(SourceError, match="is open in this process; pass it as the source"):
            sqlanon.check("people", {"quasi_identifiers": ["id"]}, engine="spark", remote=remote)
    assert session.sql("SELECT 1 AS x").toArrow().num_rows == 1


@pytest.mark.slow
@pytest.mark.skipif(not IS_SAIL, reason="begins a session of Sail's")
def test_a_plan_of_a_path_is_applied_to_it(tmp_path):
    rows = duckdb.sql("SELECT i % 3 AS age FROM range(60) AS r (i)")
    rows.write_parquet(str(tmp_path / "people"), per_thread_output=True)
    source, output = str(tmp_path / "people"), tmp_path / "out.parquet"
    how = {"engine": "spark", "remote": "sail"}
    plan = sqlanon.plan(source, {"k": 5, "quasi_identifiers": {"age": {}}}, **how)
    assert sqlanon.apply(source, plan, output=output, **how).holds
    assert duckdb.read_parquet(str(output)).fetchall() == [(n // 20,) for n in range(60)]
