"""Intermediates: written once, private, gone at the end, and after a killed run with the next."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from spark_kind import IS_SAIL, KIND

from sqlanon.engine.locked_folders import LockedFolder
from sqlanon.engine.spark import intermediates
from sqlanon.engine.spark.calls import Calls
from sqlanon.engine.spark.intermediates import RemoteFiles, cluster
from sqlanon.engine.spark.remote import SparkRemote
from sqlanon.errors import EngineError, SourceError

pytestmark = pytest.mark.slow
WAYS = ["parquet", "table", *([] if IS_SAIL else ["checkpoint"])]
RANDOM = "SELECT id, rand() AS x FROM range(100)"


def left():
    """What lies in the temporary folder of ours."""
    return [path.name for path in Path(tempfile.gettempdir()).glob("*sqlanon*")]


def tables(session):
    return [each.name for each in session.catalog.listTables() if "_sqlanon" in each.name]


@pytest.mark.parametrize("way", WAYS)
def test_stored_rows_are_not_worked_out_again(session, way):
    remote = SparkRemote(session, materialize=way)
    assert remote.store("drawn", RANDOM, most=0) == 100
    asked = [remote.answer("SELECT id, x FROM drawn ORDER BY id").to_pylist() for _ in range(2)]
    brought = sorted(remote.brought("drawn").read_all().to_pylist(), key=lambda row: row["id"])
    remote.close()
    assert asked[0] == asked[1] == brought


@pytest.mark.parametrize("way", WAYS)
def test_stored_rows_are_gone_at_the_end(session, way):
    remote = SparkRemote(session, materialize=way)
    remote.store("drawn", RANDOM, most=0)
    remote.close()
    assert (left(), tables(session)) == ([], [])
    assert not session.catalog.tableExists("drawn")


@pytest.mark.parametrize("way", WAYS)
def test_stored_rows_are_gone_once_dropped(session, way):
    remote = SparkRemote(session, materialize=way)
    remote.store("drawn", RANDOM, most=0)
    remote.drop("drawn")
    remote.drop("drawn")
    assert tables(session) == []
    assert not list(Path(tempfile.gettempdir()).rglob("*.parquet"))
    remote.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_query_that_fails_leaves_nothing(session, way):
    remote = SparkRemote(session, materialize=way)
    with pytest.raises(EngineError):
        remote.store("drawn", "SELECT CAST(concat('a', id) AS INT) AS x FROM range(9)", most=0)
    remote.close()
    assert (left(), tables(session)) == ([], [])


def test_files_are_for_their_owner_alone(session):
    remote = SparkRemote(session)
    remote.store("drawn", RANDOM, most=0)
    (folder,) = (Path(tempfile.gettempdir()) / name for name in left())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.parquet"))
    remote.close()


def test_files_lie_in_the_scratch_folder(session, tmp_path):
    remote = SparkRemote(session, scratch=str(tmp_path))
    remote.store("drawn", RANDOM, most=0)
    assert list(tmp_path.rglob("*.parquet"))
    remote.close()
    assert list(tmp_path.iterdir()) == []


def test_tables_lie_in_the_scratch_schema(session):
    session.sql("CREATE SCHEMA secluded").collect()
    remote = SparkRemote(session, materialize="table", scratch="secluded")
    remote.store("drawn", RANDOM, most=0)
    names = [each.name for each in session.catalog.listTables("secluded")]
    remote.close()
    session.sql("DROP SCHEMA secluded").collect()
    assert any(name.startswith("_sqlanon_") for name in names)


def test_files_of_a_store_are_cleared(session, tmp_path):
    files = RemoteFiles(session, Calls(session), scratch=f"file://{tmp_path}")
    files.write("drawn", session.sql(RANDOM))
    assert files.files("drawn").count_rows() == files.frame("drawn").count() == 100
    files.close()
    assert (list(tmp_path.iterdir()), left()) == ([], [])


def test_files_of_a_store_that_a_killed_run_left_are_cleared_by_the_next(session, tmp_path):
    files = RemoteFiles(session, Calls(session), scratch=f"file://{tmp_path}")
    files.write("drawn", session.sql(RANDOM))
    SparkRemote(session).close()
    assert len(list(tmp_path.iterdir())) == 1  # of a run that lives
    os.close(files._noted.lock)  # as the system does once it is dead
    SparkRemote(session).close()
    assert (list(tmp_path.iterdir()), left()) == ([], [])


def test_tables_that_a_killed_run_left_are_dropped_by_the_next(session):
    remote = SparkRemote(session, materialize="table")
    remote.store("drawn", RANDOM, most=0)
    SparkRemote(session).close()
    assert len(tables(session)) == 1  # of a run that lives
    os.close(remote._kept._noted.lock)
    SparkRemote(session).close()
    session.catalog.dropTempView("drawn")
    assert (tables(session), left()) == ([], [])


def test_tables_of_a_killed_run_on_another_cluster_stay_noted(session, monkeypatch):
    monkeypatch.setattr(intermediates, "cluster", lambda *_: "another")
    remote = SparkRemote(session, materialize="table")
    remote.store("drawn", RANDOM, most=0)
    monkeypatch.setattr(intermediates, "cluster", cluster)
    os.close(remote._kept._noted.lock)
    SparkRemote(session).close()
    assert len(left()) == 1
    monkeypatch.setattr(intermediates, "cluster", lambda *_: "another")
    SparkRemote(session).close()
    session.catalog.dropTempView("drawn")
    assert (tables(session), left()) == ([], [])


@pytest.mark.skipif(not IS_SAIL, reason="another Java is not begun for it")
def test_files_that_a_killed_process_left_are_cleared_by_the_next(session):
    program = """
        import os, signal
        from pysail.spark import SparkConnectServer
        from pyspark.sql.connect.session import SparkSession
        from sqlanon.engine.spark.remote import SparkRemote
        server = SparkConnectServer()
        server.start(background=True)
        address = f"sc://localhost:{server.listening_address[1]}"
        remote = SparkRemote(SparkSession.builder.remote(address).create())
        remote.store("drawn", "SELECT id FROM range(100)", most=0)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(left()) == 1
    remote = SparkRemote(session)
    remote.close()
    assert left() == []
    assert [note for note in remote.notes if "killed run" in note]


@pytest.mark.skipif(not IS_SAIL, reason="another Java is not begun for it")
def test_files_of_tables_are_cleared_whose_catalog_ended_with_a_killed_process(session, tmp_path):
    program = """
        import os, signal
        from sqlanon.engine.open import open_source
        how = {"engine": "spark", "remote": "sail", "materialize": "table"}
        with open_source("./people", **how) as opened:
            opened.engine.far.store("drawn", "SELECT id FROM range(100)", most=0)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    session.sql(RANDOM).write.parquet(str(tmp_path / "people"))
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert left()
    assert len(list(tmp_path.rglob("_sqlanon_*"))) == 1
    SparkRemote(session).close()
    assert (left(), list(tmp_path.rglob("_sqlanon_*"))) == ([], [])


def test_spark_that_writes_elsewhere_gets_tables_instead_of_files(session, monkeypatch):
    monkeypatch.setattr(intermediates.LocalFiles, "_place", lambda *_: "/proc/nowhere")
    remote = SparkRemote(session)
    remote.store("drawn", RANDOM, most=0)
    assert len(tables(session)) == 1
    remote.close()
    with pytest.raises(SourceError, match="choose table"):
        SparkRemote(session, materialize="parquet")
    assert left() == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"materialize": "view"}, "is one of parquet, table, checkpoint"),
        ({"scratch": "/nowhere/at/all"}, "No such file"),
        ({"scratch": "nothing://there"}, "cannot reach"),
        ({"materialize": "checkpoint", "scratch": "/tmp"}, "leave scratch out"),
    ],
)
def test_what_cannot_be_is_refused(session, given, reason):
    with pytest.raises(SourceError, match=reason):
        SparkRemote(session, **given)
    assert left() == []


@pytest.mark.skipif(not IS_SAIL, reason=f"{KIND} clears its checkpoints")
def test_checkpoints_of_sail_are_refused_since_their_files_stay(session):
    with pytest.raises(SourceError, match="leaves the files of checkpoints"):
        SparkRemote(session, materialize="checkpoint")


def test_dead_notes_are_those_of_ours_alone():
    others = Path(tempfile.gettempdir()) / "sqlanon-far-somebody"
    others.mkdir()
    folder = LockedFolder.make(None, "sqlanon-far-")
    intermediates.reclaimed("sqlanon-far-", lambda _: True)
    assert (folder.path.exists(), others.exists()) == (True, True)
    folder.remove()
    others.rmdir()
