"""Opening sources: databases, files of data, connections, and what is wrong with them."""

import os
import stat
import subprocess
import sys
from threading import Event, Thread, current_thread, main_thread
from typing import Any

import duckdb
import polars
import pyarrow
import pytest
from pyarrow import feather, ipc
from reading import all_rows, file, types
from sqlglot import exp

from sqlanon.engine.duckdb import source as source_module
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.source import open_source
from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.sqlglot_version import drop


def database(path, *statements):
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.slow
def test_arrow_files_of_both_formats_and_parquet(tmp_path):
    table = pyarrow.table({"i": [1, 2], "t": pyarrow.array(["a", "b"]).dictionary_encode()})
    file, stream, parquet = (tmp_path / name for name in ("a.arrow", "b.arrow", "c.parquet"))
    with ipc.new_file(str(file), table.schema) as writer:
        writer.write_table(table)
    with ipc.new_stream(str(stream), table.schema) as writer:
        writer.write_table(table)
    feather.write_feather(table, str(tmp_path / "d.feather"), compression="zstd")
    polars.DataFrame({"i": [1, 2], "t": ["a", "b"]}).write_parquet(parquet)
    for path in (file, stream, tmp_path / "d.feather", parquet):
        with open_source(path) as source:
            assert types(source) == ["BIGINT", "TEXT"]
            assert all_rows(source) == [(1, "a"), (2, "b")]


def test_a_database_is_told_by_its_content(tmp_path):
    path = database(tmp_path / "data.csv", "CREATE TABLE t AS SELECT 1 AS i")
    with open_source(path) as source:
        assert source.kind == "duckdb"
        assert source.path == path
        assert all_rows(source) == [(1,)]


def test_several_tables_need_a_name(tmp_path):
    path = database(
        tmp_path / "d.duckdb", *(f"CREATE TABLE t{i:02} AS SELECT {i} AS i" for i in range(12))
    )
    with (
        pytest.raises(SourceError, match=r"12 tables; name one of 't00', .*'t09', \.\.\."),
        open_source(path),
    ):
        pass
    with open_source(path, "t07") as source:
        assert all_rows(source) == [(7,)]


def test_views_count_only_without_tables(tmp_path):
    both = database(
        tmp_path / "b.duckdb", "CREATE TABLE t AS SELECT 1 AS i", "CREATE VIEW v AS FROM t"
    )
    view = database(tmp_path / "v.duckdb", "CREATE VIEW v AS SELECT 2 AS i")
    for path, name in ((both, "t"), (view, "v")):
        with open_source(path) as source:
            assert source.table.name == name


def test_read_only_allows_temporary_tables_and_nothing_else(tmp_path):
    path = database(tmp_path / "d.duckdb", "CREATE TABLE t AS SELECT 1 AS i")
    with open_source(path, read_only=True) as source:
        source.engine.load_rows("x", {"a": [1]})
        with pytest.raises(SourceError, match="read-only"):
            source.engine.run(drop(source.table))


def newer(folder):
    """A database whose header names a storage version that does not exist yet."""
    path = database(folder / "newer.duckdb", "CREATE TABLE t AS SELECT 1 AS i")
    data = bytearray(path.read_bytes())
    data[12:20] = (100_000).to_bytes(8, "little")
    value = 5381
    for start in range(8, 4096, 8):
        word = int.from_bytes(data[start : start + 8], "little")
        value ^= word * 0xBF58476D1CE4E5B9 % 2**64
    data[:8] = value.to_bytes(8, "little")
    path.write_bytes(data)
    return path


def damaged(folder):
    path = database(folder / "damaged.duckdb", "CREATE TABLE t AS SELECT 'Alice' AS i")
    path.write_bytes(path.read_bytes()[:5000])
    return path


def otherwise(name, data=b"something else altogether"):
    """Makes a file of that name whose content is of another kind."""

    def make(folder):
        (folder / name).write_bytes(data)
        return folder / name

    return make


def pipe(folder):
    os.mkfifo(folder / "people.csv")
    return folder / "people.csv"


def cut_gzip(folder):
    path = file(folder, "a,b\n" + "1,2\n" * 9, "y.csv.gz")
    path.write_bytes(path.read_bytes()[:-12])
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "none.csv", "there is no file"),
        (lambda folder: folder, "is a folder"),
        (otherwise("x.duckdb"), "is not a DuckDB database"),
        (otherwise("x.docx"), "neither a DuckDB database nor"),
        (pipe, "is a pipe or a device"),
        (newer, "newer version"),
        (damaged, "is damaged"),
        (otherwise("x.csv.gz", b"a,b\n1,2\n"), "gzip"),
        (cut_gzip, "gzip|CSV"),
        (otherwise("bad.parquet", b"PAR1 Alice"), "is not a readable"),
        (otherwise("bad.arrow", b"ARROW1 Alice"), "is not a readable"),
        (otherwise("bad.feather", b"ARROW1 Alice"), "is not a readable"),
    ],
)
def test_bad_files_are_one_clear_error(tmp_path, make, message):
    with pytest.raises(SourceError, match=message) as raised, open_source(make(tmp_path)):
        pass
    assert "\n" not in str(raised.value)
    assert "Alice" not in str(raised.value)


def test_an_unreadable_source_is_not_created(tmp_path):
    with pytest.raises(SourceError), open_source(tmp_path / "none.duckdb"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_database_that_another_process_holds(tmp_path):
    path = database(tmp_path / "d.duckdb", "CREATE TABLE t AS SELECT 1 AS i")
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout is not None
        other.stdout.readline()
        with (
            pytest.raises(SourceError, match=rf"held by another process \(process {other.pid}\)"),
            open_source(path, read_only=True),
        ):
            pass
    finally:
        other.communicate(b"\n")


def test_a_database_open_in_this_process_with_other_settings(tmp_path):
    path = database(tmp_path / "d.duckdb", "CREATE TABLE t AS SELECT 1 AS i")
    with (
        duckdb.connect(str(path)),
        pytest.raises(SourceError, match="open in this process"),
        open_source(path, read_only=True),
    ):
        pass


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"memory_limit": "much"}, "is not a size"),
        ({"memory_limit": "-1GB"}, "is not a size"),
        ({"memory_limit": "0GB"}, "is not a size"),
        ({"memory_limit": "2"}, "is not a size"),
        ({"temp_limit": "2"}, "is not a size"),
        ({"threads": 0}, "at least 1"),
        ({"threads": 1_000_000}, "at most 1024"),
        ({"temp_directory": "/nowhere/at/all"}, "does not exist"),
        ({"memory_limit": "1KB"}, "memory limit|ran out of memory"),
    ],
)
def test_nonsense_limits(tmp_path, limits, message):
    with (
        pytest.raises(SqlanonError, match=message),
        open_source(file(tmp_path, "a\n1\n"), **limits),
    ):
        pass


def test_limits_reach_duckdb(tmp_path):
    with open_source(file(tmp_path, "a\n1\n"), threads=1, memory_limit="1 GiB") as source:
        names = ("threads", "memory_limit", "enable_progress_bar", "autoinstall_known_extensions")
        calls = [
            exp.Anonymous(this="current_setting", expressions=[exp.Literal.string(name)])
            for name in names
        ]
        assert source.engine.rows(exp.select(*calls)) == [(1, "1.0 GiB", False, False)]


@pytest.mark.slow
def test_spilled_data_is_private_and_removed(tmp_path, monkeypatch):
    spill, here = tmp_path / "spill", tmp_path / "here"
    spill.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    path = database(here / "d.duckdb", "CREATE TABLE t AS SELECT 1 AS i")

    def work():
        with open_source(path, memory_limit="100MB", temp_directory=spill, threads=1) as source:
            [folder] = spill.iterdir()
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            source.engine.load_rows("big", {"a": ["x" * 100] * 1000}, {"a": type_of("VARCHAR")})
            source.engine.connection.execute(
                "CREATE TEMP TABLE huge AS SELECT md5(i::VARCHAR) AS m FROM range(6000000) AS t(i)"
            )
            assert list(folder.iterdir()), "it has spilled"
            assert [one.name for one in here.iterdir()] == ["d.duckdb"]
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        work()
    assert list(spill.iterdir()) == []
    assert [one.name for one in here.iterdir()] == ["d.duckdb"]


def test_a_connection_stays_open_and_as_it_was():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
        before = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        with open_source(connection) as source:
            assert (source.kind, source.path) == ("connection", None)
            source.engine.load_rows("x", {"a": [1]})
            source.engine.tables.resolve(pyarrow.table({"i": [1]}))
        after = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        assert before == after
        assert connection.execute("SHOW ALL TABLES").fetchall()[0][2] == "t"
        assert len(connection.execute("SHOW ALL TABLES").fetchall()) == 1


@pytest.mark.parametrize(
    "setting", ["default_order = 'DESC'", "default_null_order = 'nulls_first_on_asc_last_on_desc'"]
)
def test_a_connection_that_sorts_otherwise_is_refused(setting):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age")
        connection.execute(f"SET {setting}")
        with pytest.raises(SourceError, match="RESET default_order"), open_source(connection):
            pass
        connection.execute(f"RESET {setting.partition(' ')[0]}")
        with open_source(connection) as source:
            assert all_rows(source) == [(1,)]


def test_a_connection_takes_frames_engines_and_no_limits():
    with duckdb.connect() as connection:
        with open_source(connection, polars.DataFrame({"i": [5]})) as source:
            assert all_rows(source) == [(5,)]
        with open_source(DuckDB(connection), pyarrow.table({"i": [6]})) as source:
            assert all_rows(source) == [(6,)]
        with (
            pytest.raises(SourceError, match="threads cannot be set"),
            open_source(connection, threads=2),
        ):
            pass
        with pytest.raises(SourceError, match="holds no table"), open_source(connection):
            pass


def test_a_file_takes_its_own_name_only(tmp_path):
    path = file(tmp_path, "a\n1\n")
    with open_source(path, "people") as source:
        assert all_rows(source) == [(1,)]
    with (
        pytest.raises(SourceError, match="holds one table, called 'people'"),
        open_source(path, "other"),
    ):
        pass


@pytest.mark.parametrize(
    ("given", "size"),
    [(None, None), ("300MB", 300_000_000), (" 1.5 GiB", 3 << 29), ("2tb", 2 * 10**12)],
)
def test_a_memory_limit_is_a_number_of_bytes(given, size):
    assert Resources(memory_limit=given).memory == size


BUSY = (
    "another thread uses this connection; give each thread one of its own, such as "
    "connection.cursor()"
)


def is_refused(connection):
    """Whether a connection is refused to another thread."""
    faults = []

    def other():
        try:
            with open_source(connection):
                pass
        except SourceError as error:
            faults.append(str(error))

    thread = Thread(target=other)
    thread.start()
    thread.join()
    assert set(faults) <= {BUSY}
    return bool(faults)


def test_a_connection_is_held_until_the_last_call_of_its_thread_has_ended():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    outer, inner = open_source(connection), open_source(connection)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert is_refused(connection)
    assert not is_refused(connection.cursor())
    inner.__exit__(None, None, None)
    assert not is_refused(connection)


@pytest.mark.slow
def test_a_thread_that_comes_while_another_leaves_does_not_hold_a_connection_for_good(monkeypatch):
    looked, left = Event(), Event()

    class Slow(dict[int, Any]):
        """Waits after a look, until the thread that holds the connection has left or cannot."""

        def get(self, *key):
            found = super().get(*key)
            self.wait()
            return found

        def __contains__(self, key):
            found = super().__contains__(key)
            self.wait()
            return found

        def wait(self):
            if current_thread() is not main_thread():
                looked.set()
                left.wait(0.2)

    monkeypatch.setattr(source_module, "_THREADS", Slow())
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    coming = Thread(target=is_refused, args=(connection,))
    with open_source(connection):
        coming.start()
        looked.wait()
    left.set()
    coming.join()
    with open_source(connection):
        pass
