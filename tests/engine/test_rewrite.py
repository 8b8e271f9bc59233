"""The rewrite of a database file: what goes, what stays, what happens when it fails."""

import stat
from pathlib import Path

import duckdb
import pytest

from sqlanon.engine.catalog import qualified
from sqlanon.engine.duckdb import DuckDB
from sqlanon.engine.rewrite import leftovers, rewrite
from sqlanon.errors import SourceError, SqlanonError

MARKERS = 200_000


def contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def replace_marked_table(path: Path) -> None:
    connection = duckdb.connect(str(path))
    # Compressed pages would hide the markers from the scan, not from a reader.
    connection.execute("SET force_compression = 'uncompressed'")
    connection.execute(
        "CREATE TABLE people AS SELECT i AS id, 'MARKER' || md5(i::VARCHAR) AS name "
        f"FROM range({MARKERS}) AS t(i)"
    )
    connection.execute("CHECKPOINT")
    connection.execute("CREATE TABLE fresh AS SELECT '*' AS name FROM people")
    connection.execute("DROP TABLE people")
    connection.execute("ALTER TABLE fresh RENAME TO people")
    connection.close()


def rich_database(path: Path) -> None:
    connection = duckdb.connect(str(path))
    for statement in (
        "CREATE SCHEMA other",
        "CREATE TYPE other.mood AS ENUM ('MARK_LABEL', 'ok')",
        "CREATE SEQUENCE numbers START 7",
        "CREATE TABLE parent (i INTEGER PRIMARY KEY, u INTEGER UNIQUE)",
        "INSERT INTO parent VALUES (1, 1)",
        "CREATE TABLE a_child (i INTEGER REFERENCES parent (i))",
        "INSERT INTO a_child VALUES (1)",
        "CREATE TABLE other.made (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL)",
        "INSERT INTO other.made VALUES (4)",
        "CREATE TABLE numbered (i INTEGER DEFAULT nextval('numbers'), m other.mood, "
        "n VARCHAR DEFAULT 'MARK_DEFAULT' CHECK (n <> 'MARK_CHECK'))",
        "INSERT INTO numbered (m) VALUES ('ok')",
        "COMMENT ON TABLE numbered IS 'MARK_COMMENT'",
        "COMMENT ON COLUMN numbered.n IS 'MARK_COLUMN'",
        "CREATE INDEX by_name ON numbered (n)",
        "CREATE VIEW plain AS SELECT * FROM numbered",
        "CREATE VIEW other.aged AS SELECT * FROM main.plain WHERE n = 'MARK_VIEW'",
        "CREATE MACRO marked(a) AS a || 'MARK_MACRO'",
        'CREATE TABLE "we""ird; name" ("sel""ect" INTEGER, "n\nl" DECIMAL(5,2)[])',
    ):
        connection.execute(statement)
    connection.close()


def test_rewrite_leaves_no_byte_of_the_original(tmp_path: Path) -> None:
    path = tmp_path / "census.duckdb"
    replace_marked_table(path)
    assert contents(tmp_path).count(b"MARKER") >= MARKERS, "positive control"
    before = path.stat().st_size
    rewrite(path)
    assert contents(tmp_path).count(b"MARKER") == 0
    assert path.stat().st_size < before / 5
    assert [entry.name for entry in tmp_path.iterdir()] == ["census.duckdb"]
    with duckdb.connect(str(path)) as connection:
        rows = connection.execute("SELECT count(*), min(name) FROM people").fetchall()
    assert rows == [(MARKERS, "*")]


def test_rewrite_removes_the_log_with_originals(tmp_path: Path) -> None:
    path = tmp_path / "census.duckdb"
    connection = duckdb.connect(str(path), config={"wal_autocheckpoint": "1TB"})
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("CREATE TABLE people AS SELECT 'MARKER' || i AS n FROM range(9) t(i)")
    connection.execute("CREATE OR REPLACE TABLE people AS SELECT '*' AS n FROM people")
    connection.close()
    assert b"MARKER" in (tmp_path / "census.duckdb.wal").read_bytes()
    rewrite(path)
    assert b"MARKER" not in contents(tmp_path)
    assert not (tmp_path / "census.duckdb.wal").exists()


def test_rewrite_carries_everything_over(tmp_path: Path) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)
    rewrite(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("FROM other.made").fetchall() == [(4, 8)]
        assert connection.execute("FROM a_child").fetchall() == [(1,)]
        made = connection.execute("INSERT INTO numbered (m) VALUES ('ok') RETURNING i, n")
        assert made.fetchall() == [(8, "MARK_DEFAULT")]
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO a_child VALUES (2)")
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO numbered (n) VALUES ('MARK_CHECK')")
        assert connection.execute("SELECT marked('a')").fetchall() == [("aMARK_MACRO",)]
        assert connection.execute("SELECT count(*) FROM other.aged").fetchall() == [(0,)]
        indexes = connection.execute("SELECT index_name FROM duckdb_indexes()").fetchall()
        assert indexes == [("by_name",)]
        assert connection.execute('SELECT count(*) FROM "we""ird; name"').fetchall() == [(0,)]


def test_rewrite_keeps_mode_storage_version_and_block_size(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS a (STORAGE_VERSION 'v1.2.0', BLOCK_SIZE 16384)")
        connection.execute("CREATE TABLE a.t AS SELECT 1 AS i")
    path.chmod(0o640)
    rewrite(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with duckdb.connect(str(path)) as connection:
        tags = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'old'"
        ).fetchone()
        size = connection.execute("SELECT block_size FROM pragma_database_size()").fetchone()
    assert tags == ("v1.2.0+",)
    assert size == (16384,)


def test_rewrite_follows_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real" / "a.duckdb"
    real.parent.mkdir()
    replace_marked_table(real)
    link = tmp_path / "link.duckdb"
    link.symlink_to(real)
    rewrite(link)
    assert link.is_symlink()
    assert b"MARKER" not in real.read_bytes()


@pytest.mark.parametrize("broken", ["_compare", "sync", "_storage"])
def test_failure_leaves_the_old_file_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"sqlanon.engine.rewrite.{broken}", fail)
    with pytest.raises(SqlanonError, match="as it was"):
        rewrite(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["rich.duckdb"]
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("FROM other.made").fetchall() == [(4, 8)]


def test_interrupt_leaves_the_old_file_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sqlanon.engine.rewrite._compare", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rewrite(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["rich.duckdb"]
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("FROM a_child").fetchall() == [(1,)]


def test_a_copy_with_a_row_less_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)
    run = DuckDB.run

    def lossy(self: DuckDB, statement: object, parameters: object = ()) -> None:
        run(self, statement, parameters)  # type: ignore[arg-type]
        if getattr(statement, "this", None) == "COPY":
            self.connection.execute("DELETE FROM sqlanon_new.main.a_child")

    monkeypatch.setattr(DuckDB, "run", lossy)
    with pytest.raises(SqlanonError, match="'a_child' has another number of rows"):
        rewrite(path)


def test_rewrite_of_a_database_open_in_this_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)
    before = path.stat().st_ino
    with duckdb.connect(str(path)), pytest.raises(SourceError, match="has it open already"):
        rewrite(path)
    assert path.stat().st_ino == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["rich.duckdb"]


def test_rewrite_of_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file"):
        rewrite(tmp_path / "none.duckdb")


def test_leftovers_name_objects_and_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)
    rewrite(path)
    with duckdb.connect(str(path)) as connection:
        told = leftovers(DuckDB(connection), qualified("rich", "main", "a_child"))
    assert told == [
        "1 view(s) with constants: 'aged'",
        "1 macro(s) with constants: 'marked'",
        "1 ENUM type(s), whose labels may be values: 'mood'",
        "2 table(s) with column defaults or generated columns that hold constants: "
        "'made', 'numbered'",
        "1 table(s) with checks: 'numbered'",
        "1 object(s) with comments: 'numbered'",
    ]
    assert "MARK" not in " ".join(told)


def test_a_plain_database_has_no_leftovers(tmp_path: Path) -> None:
    path = tmp_path / "plain.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
        connection.execute("CREATE VIEW v AS SELECT i FROM t")
        assert leftovers(DuckDB(connection), qualified("plain", "main", "t")) == []


def test_marks_outside_the_cells_are_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "rich.duckdb"
    rich_database(path)
    rewrite(path)
    kept = {
        mark
        for mark in (b"VIEW", b"MACRO", b"LABEL", b"DEFAULT", b"CHECK", b"COMMENT", b"COLUMN")
        if b"MARK_" + mark in path.read_bytes()
    }
    assert kept == {b"VIEW", b"MACRO", b"LABEL", b"DEFAULT", b"CHECK", b"COMMENT", b"COLUMN"}
