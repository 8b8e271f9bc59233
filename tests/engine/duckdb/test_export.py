"""Writing files: what is in them, who sees them when, and what is refused."""

import gzip
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest
from pyarrow import ipc
from sqlglot import exp

from sqlanon.engine.base import Row
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.export import ExportedFile, export
from sqlanon.engine.duckdb.source import open_source
from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.engine.endings import WRITTEN
from sqlanon.errors import EngineError, SourceError

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
def engine() -> Iterator[DuckDB]:
    with duckdb.connect() as connection:
        connection.execute(QUERY)
        connection.execute(
            "ALTER TABLE people ALTER label TYPE ENUM ('SECRET', 'x') USING label::VARCHAR"
        )
        yield DuckDB(connection)


def content(engine: DuckDB, table: exp.Table) -> list[Row]:
    # NaN is not equal to itself; its text is.
    return [tuple(map(str, row)) for row in engine.rows(exp.select("*").from_(table))]


@pytest.mark.parametrize("ending", WRITTEN)
def test_what_is_written_is_read_back_the_same(engine: DuckDB, tmp_path: Path, ending: str) -> None:
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
def test_what_is_written_opens_as_a_source(engine: DuckDB, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    export(engine, PEOPLE, path=path).publish()
    with open_source(path) as source:
        assert source.table.name == "out"
        found = source.engine.rows(exp.select("zip", exp.column("a\"b", quoted=True)).from_(
            source.table))  # fmt: skip
        assert found == [("01234", None), (None, ""), ("*", " padded ")]


@pytest.mark.parametrize("ending", WRITTEN)
def test_nobody_else_sees_it_before_it_is_published(
    engine: DuckDB, tmp_path: Path, ending: str
) -> None:
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
def test_no_label_of_an_enum_that_is_not_in_the_table(
    engine: DuckDB, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"out{ending}"
    export(engine, PEOPLE, path=path).publish()
    data = path.read_bytes()
    assert b"SECRET" not in (gzip.decompress(data) if ending.endswith("gz") else data)


def test_csv_tells_null_from_empty_text(engine: DuckDB, tmp_path: Path) -> None:
    table = engine.load_rows("t", {"a": [None, "", "x"], "b": [1, 2, None]}, {"a": TEXT})
    export(engine, table, path=tmp_path / "t.csv").publish()
    assert (tmp_path / "t.csv").read_text() == 'a,b\n,1\n"",2\nx,\n'


def test_csv_of_one_column_keeps_its_nulls(engine: DuckDB, tmp_path: Path) -> None:
    values = [None, "x", None, "", None]
    table = engine.load_rows("t", {"a": values}, {"a": TEXT})
    exported = export(engine, table, path=tmp_path / "t.csv")
    with exported.opened() as (reader, written):
        assert [row[0] for row in reader.rows(exp.select("*").from_(written))] == values


def test_parquet_and_arrow_hold_no_metadata(engine: DuckDB, tmp_path: Path) -> None:
    for ending in (".parquet", ".arrow"):
        export(engine, PEOPLE, path=tmp_path / f"t{ending}").publish()
    parquet = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet")
    assert not parquet.metadata.metadata
    assert parquet.schema_arrow.names == list(engine.columns(PEOPLE))
    with ipc.open_file(str(tmp_path / "t.arrow")) as reader:
        assert reader.schema.metadata is None
        assert not any(pyarrow.types.is_dictionary(kind) for kind in reader.schema.types)


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITTEN)
def test_rows_keep_the_tables_order(engine: DuckDB, tmp_path: Path, ending: str) -> None:
    numbers = list(range(300_000))
    table = engine.load_rows("ordered", {"i": numbers})
    exported = export(engine, table, path=tmp_path / f"out{ending}")
    with exported.opened() as (reader, written):
        assert [row[0] for row in reader.rows(exp.select("*").from_(written))] == numbers


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".duckdb"])
def test_wide_and_nested_types_survive(engine: DuckDB, tmp_path: Path, ending: str) -> None:
    engine.connection.execute(
        "CREATE TABLE odd AS SELECT 7::UTINYINT AS u, [1, NULL] AS l, "
        "{'a': 'x'::ENUM ('SECRET', 'x'), 'b': 2} AS s, TIMESTAMP '2020-01-02 03:04:05.678' AS t"
    )
    table = qualified("memory", "main", "odd")
    exported = export(engine, table, path=tmp_path / f"odd{ending}")
    with exported.opened() as (reader, written):
        assert content(reader, written) == content(engine, table)
    assert b"SECRET" not in exported.written.read_bytes()


def test_a_database_keeps_types_that_arrow_lacks(engine: DuckDB, tmp_path: Path) -> None:
    engine.connection.execute(
        "CREATE TABLE odd AS SELECT 170141183460469231731687303715884105727::HUGEINT AS h, "
        "'550e8400-e29b-41d4-a716-446655440000'::UUID AS u, '101'::BIT AS b, "
        "INTERVAL '1 month 2 days' AS v"
    )
    table = qualified("memory", "main", "odd")
    exported = export(engine, table, path=tmp_path / "odd.duckdb")
    with exported.opened() as (reader, written):
        assert reader.columns(written) == engine.columns(table)
        text = [exp.cast(exp.column(name), "VARCHAR") for name in "hub"]
        assert reader.rows(exp.select(*text).from_(written)) == engine.rows(
            exp.select(*text).from_(table)
        )


@pytest.mark.parametrize("ending", WRITTEN)
def test_export_inside_an_open_transaction_of_a_read_only_database(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
    with open_source(path, read_only=True) as source, source.engine.transaction():
        staged = source.engine.load_rows("staged", {"i": [5]})
        export(source.engine, staged, path=tmp_path / f"out{ending}").publish()
    with open_source(tmp_path / f"out{ending}") as source:
        assert source.engine.rows(exp.select("*").from_(source.table)) == [(5,)]


@pytest.mark.parametrize("ending", WRITTEN)
def test_an_existing_target_needs_overwrite_and_keeps_its_rights(
    engine: DuckDB, tmp_path: Path, ending: str
) -> None:
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


def test_a_target_that_appears_meanwhile_is_not_replaced(engine: DuckDB, tmp_path: Path) -> None:
    exported = export(engine, PEOPLE, path=tmp_path / "out.csv")
    exported.target.write_text("theirs")
    with pytest.raises(SourceError, match="exists already"):
        exported.publish()
    assert exported.target.read_text() == "theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_target_that_appears_in_the_last_step_is_not_replaced(
    engine: DuckDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
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


def _no_links(*_: object) -> None:
    raise PermissionError


def test_a_disk_without_links_gets_the_file(
    engine: DuckDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _no_links)
    export(engine, PEOPLE, path=tmp_path / "out.csv").publish()
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_published_file_has_one_name_even_where_its_folder_cannot_be_synced(
    engine: DuckDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    def fail(path: Path) -> None:
        if path.is_dir():
            raise OSError(5, "no such thing")

    monkeypatch.setattr("sqlanon.engine.duckdb.export.sync", fail)
    exported = export(engine, PEOPLE, path=tmp_path / "out.csv", overwrite=overwrite)
    exported.publish()
    assert exported.target.stat().st_nlink == 1
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_is_never_replaced(engine: DuckDB, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match="is a pipe or a device"):
        export(engine, PEOPLE, path=tmp_path / "pipe.csv", overwrite=True)
    assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)


def test_discard_leaves_nothing(engine: DuckDB, tmp_path: Path) -> None:
    export(engine, PEOPLE, path=tmp_path / "out.duckdb").discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out", "out.xlsx", "out.json", ".csv", "out.csv.bz2"])
def test_unknown_endings_are_refused(engine: DuckDB, tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="no known ending"):
        export(engine, PEOPLE, path=tmp_path / name)


def test_missing_folder_and_folder_as_target(engine: DuckDB, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no folder"):
        export(engine, PEOPLE, path=tmp_path / "none" / "out.csv")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(SourceError, match="is a folder"):
        export(engine, PEOPLE, path=tmp_path / "dir.csv", overwrite=True)


def test_the_source_is_never_the_target(tmp_path: Path) -> None:
    database, file = tmp_path / "d.duckdb", tmp_path / "f.csv"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
    file.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(file)
    for path, target in ((database, database), (file, file), (file, tmp_path / "link.csv")):
        with open_source(path) as source, pytest.raises(SourceError, match="holds the original"):
            export(source.engine, source.table, path=target, overwrite=True)


def test_a_stray_log_is_not_read_into_a_new_database(engine: DuckDB, tmp_path: Path) -> None:
    (tmp_path / "out.duckdb.wal").write_bytes(b"stale")
    with pytest.raises(SourceError, match=r"out\.duckdb\.wal"):
        export(engine, PEOPLE, path=tmp_path / "out.duckdb")


@pytest.mark.parametrize("ending", WRITTEN)
def test_a_failure_while_writing_leaves_nothing(
    engine: DuckDB, tmp_path: Path, ending: str
) -> None:
    engine.connection.execute(
        "CREATE VIEW failing AS SELECT CASE WHEN i = 250000 THEN CAST('Alice ' || i AS INT) END "
        "AS i FROM range(300000) AS t(i)"
    )
    with pytest.raises(EngineError) as raised:
        export(engine, qualified("memory", "main", "failing"), path=tmp_path / f"out{ending}")
    assert "Alice" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_publish_twice_is_an_error_and_keeps_the_target(engine: DuckDB, tmp_path: Path) -> None:
    exported: ExportedFile = export(engine, PEOPLE, path=tmp_path / "out.csv")
    exported.publish()
    before = exported.target.read_bytes()
    with pytest.raises(SourceError):
        exported.publish()
    assert exported.target.read_bytes() == before
