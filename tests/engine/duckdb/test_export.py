"""Writing files: what is in them, who sees them when, and what is refused."""

import gzip
import os
import stat

import duckdb
import pyarrow.parquet
import pytest
from pyarrow import ipc
from sqlglot import exp

from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.export import ExportedFile, export
from sqlanon.engine.duckdb.source import open_source
from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.engine.endings import WRITTEN
from sqlanon.errors import EngineError, SourceError

pytestmark = pytest.mark.slow

TEXT = type_of("VARCHAR")
PEOPLE = qualified("memory", "main", "people")
QUERY = """
CREATE TABLE people AS SELECT * FROM (VALUES
  ('01234', 41, NULL,       'a"b,c',  DATE '2020-02-29', 1.10::DECIMAL(5,2), 0.1::DOUBLE, 'x'),
  (NULL,    -1, '',         E'l\nm',  NULL,              NULL,               'nan',       NULL),
  ('*',      7, ' padded ', '#NULL',  DATE '1900-01-01', 0,                  1e300,       'x')
) AS t(zip, "select", "a""b", "n\nl", "Ünï çode", price, ratio, label)
"""


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        connection.execute(QUERY)
        connection.execute(
            "ALTER TABLE people ALTER label TYPE ENUM ('SECRET', 'x') USING label::VARCHAR"
        )
        yield DuckDB(connection)


def content(engine, table):
    # NaN is not equal to itself; its text is.
    return [tuple(map(str, row)) for row in engine.rows(exp.select("*").from_(table))]


@pytest.mark.parametrize("ending", WRITTEN)
def test_what_is_written_is_read_back_the_same(engine, tmp_path, ending):
    exported = export(engine, PEOPLE, path=tmp_path / f"o'ut[1]{ending}")
    with exported.opened() as (reader, written):
        assert content(reader, written) == content(engine, PEOPLE)
        columns = dict(engine.columns(PEOPLE), label=TEXT)
        assert reader.columns(written) == columns
    exported.publish()
    with exported.opened() as (reader, written):
        assert content(reader, written) == content(engine, PEOPLE)
    assert [one.name for one in tmp_path.iterdir()] == [f"o'ut[1]{ending}"]


@pytest.mark.parametrize("ending", WRITTEN)
def test_nobody_else_sees_it_before_it_is_published(engine, tmp_path, ending):
    target = tmp_path / f"out{ending}"
    mask = os.umask(0o022)
    try:
        exported = export(engine, PEOPLE, path=target)
        assert not target.exists()
        assert stat.S_IMODE(exported.written.stat().st_mode) == 0o600
        assert stat.S_IMODE(exported.written.parent.stat().st_mode) == 0o700
        exported.publish()
        assert stat.S_IMODE(target.stat().st_mode) == 0o644
    finally:
        os.umask(mask)


@pytest.mark.parametrize("ending", WRITTEN)
def test_no_label_of_an_enum_that_is_not_in_the_table(engine, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    export(engine, PEOPLE, path=path).publish()
    data = path.read_bytes()
    assert b"SECRET" not in (gzip.decompress(data) if ending.endswith("gz") else data)


def test_csv_of_one_column_keeps_its_nulls(engine, tmp_path):
    values = [None, "x", None, "", None]
    table = engine.load_rows("t", {"a": values}, {"a": TEXT})
    exported = export(engine, table, path=tmp_path / "t.csv")
    with exported.opened() as (reader, written):
        assert [row[0] for row in reader.rows(exp.select("*").from_(written))] == values


def test_parquet_and_arrow_hold_no_metadata(engine, tmp_path):
    for ending in (".parquet", ".arrow"):
        export(engine, PEOPLE, path=tmp_path / f"t{ending}").publish()
    parquet = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet")
    assert not parquet.metadata.metadata
    assert parquet.schema_arrow.names == list(engine.columns(PEOPLE))
    with ipc.open_file(str(tmp_path / "t.arrow")) as reader:
        assert reader.schema.metadata is None
        assert not any(pyarrow.types.is_dictionary(kind) for kind in reader.schema.types)


@pytest.mark.parametrize("ending", WRITTEN)
def test_rows_keep_the_tables_order(engine, tmp_path, ending):
    numbers = list(range(300_000))
    table = engine.load_rows("ordered", {"i": numbers})
    exported = export(engine, table, path=tmp_path / f"out{ending}")
    with exported.opened() as (reader, written):
        assert [row[0] for row in reader.rows(exp.select("*").from_(written))] == numbers


@pytest.mark.parametrize("ending", WRITTEN)
def test_export_inside_an_open_transaction_of_a_read_only_database(tmp_path, ending):
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
    with open_source(path, read_only=True) as source, source.engine.transaction():
        staged = source.engine.load_rows("staged", {"i": [5]})
        export(source.engine, staged, path=tmp_path / f"out{ending}").publish()
    with open_source(tmp_path / f"out{ending}") as source:
        assert source.engine.rows(exp.select("*").from_(source.table)) == [(5,)]


@pytest.mark.parametrize("ending", WRITTEN)
def test_an_existing_target_needs_overwrite_and_keeps_its_rights(engine, tmp_path, ending):
    target = tmp_path / f"out{ending}"
    target.write_text("before")
    target.chmod(0o640)
    with pytest.raises(SourceError, match="--overwrite"):
        export(engine, PEOPLE, path=target)
    exported = export(engine, PEOPLE, path=target, overwrite=True)
    assert target.read_text() == "before"
    exported.publish()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with open_source(target) as source:
        assert len(source.engine.rows(exp.select("*").from_(source.table))) == 3


def test_a_target_that_appears_meanwhile_is_not_replaced(engine, tmp_path):
    exported = export(engine, PEOPLE, path=tmp_path / "out.csv")
    exported.target.write_text("theirs")
    with pytest.raises(SourceError, match="exists already"):
        exported.publish()
    assert exported.target.read_text() == "theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_target_that_appears_in_the_last_step_is_not_replaced(
    engine, tmp_path, monkeypatch, has_links
):
    exported = export(engine, PEOPLE, path=tmp_path / "out.csv")
    monkeypatch.setattr(
        "sqlanon.engine.duckdb.export.sync", lambda _: exported.target.write_text("theirs")
    )
    if not has_links:
        monkeypatch.setattr(os, "link", _no_links)
    with pytest.raises(SourceError, match="exists already"):
        exported.publish()
    assert exported.target.read_text() == "theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


def _no_links(*_):
    raise PermissionError


def test_a_disk_without_links_gets_the_file(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", _no_links)
    export(engine, PEOPLE, path=tmp_path / "out.csv").publish()
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_published_file_has_one_name_even_where_its_folder_cannot_be_synced(
    engine, tmp_path, monkeypatch, overwrite
):
    def fail(path):
        if path.is_dir():
            raise OSError(5, "no such thing")

    monkeypatch.setattr("sqlanon.engine.duckdb.export.sync", fail)
    exported = export(engine, PEOPLE, path=tmp_path / "out.csv", overwrite=overwrite)
    exported.publish()
    assert exported.target.stat().st_nlink == 1
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_is_never_replaced(engine, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match="is a pipe or a device"):
        export(engine, PEOPLE, path=tmp_path / "pipe.csv", overwrite=True)
    assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)


def test_discard_leaves_nothing(engine, tmp_path):
    export(engine, PEOPLE, path=tmp_path / "out.duckdb").discard()
    assert list(tmp_path.iterdir()) == []


def test_the_source_is_never_the_target(tmp_path):
    database, file = tmp_path / "d.duckdb", tmp_path / "f.csv"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
    file.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(file)
    for path, target in ((database, database), (file, file), (file, tmp_path / "link.csv")):
        with open_source(path) as source, pytest.raises(SourceError, match="holds the original"):
            export(source.engine, source.table, path=target, overwrite=True)


def test_a_stray_log_is_not_read_into_a_new_database(engine, tmp_path):
    (tmp_path / "out.duckdb.wal").write_bytes(b"stale")
    with pytest.raises(SourceError, match=r"out\.duckdb\.wal"):
        export(engine, PEOPLE, path=tmp_path / "out.duckdb")


@pytest.mark.parametrize("ending", WRITTEN)
def test_a_failure_while_writing_leaves_nothing(engine, tmp_path, ending):
    engine.connection.execute(
        "CREATE VIEW failing AS SELECT CASE WHEN i = 250000 THEN CAST('Alice ' || i AS INT) END "
        "AS i FROM range(300000) AS t(i)"
    )
    with pytest.raises(EngineError) as raised:
        export(engine, qualified("memory", "main", "failing"), path=tmp_path / f"out{ending}")
    assert "Alice" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_publish_twice_is_an_error_and_keeps_the_target(engine, tmp_path):
    exported: ExportedFile = export(engine, PEOPLE, path=tmp_path / "out.csv")
    exported.publish()
    before = exported.target.read_bytes()
    with pytest.raises(SourceError):
        exported.publish()
    assert exported.target.read_bytes() == before
