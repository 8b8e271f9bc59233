"""The rewrite of a database file: what goes, what stays, what happens when it fails."""

from __future__ import annotations

import os
import stat

import duckdb
import pytest
from databases import has_triggers

from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.database_objects import leftovers, table_parts
from sqlanon.errors import EngineError, SourceError
from sqlanon.publishing.rewriting import rewrite

pytestmark = pytest.mark.slow

MARKERS = 200_000
STEPS = ("_storage", "_copy_schema", "_copy_rows", "_take_place", "sync")


def contents(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def replace_marked_table(path):
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


@pytest.fixture
def rich(tmp_path):
    """A database with an object of every kind."""
    path = tmp_path / "rich.duckdb"
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
        "CREATE MACRO today() AS current_date",
        "CREATE TABLE calling (day DATE DEFAULT today())",
        'CREATE TABLE "we""ird; name" ("sel""ect" INTEGER, "n\nl" DECIMAL(5,2)[])',
    ):
        connection.execute(statement)
    connection.close()
    return path


def test_rewrite_leaves_no_byte_of_the_original(tmp_path):
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


def test_rewrite_removes_the_log_with_originals(tmp_path):
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


def test_rewrite_carries_everything_over(rich):
    rewrite(rich)
    with duckdb.connect(str(rich)) as connection:
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


def test_rewrite_keeps_mode_storage_version_and_block_size(tmp_path):
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


def test_rewrite_follows_a_link(tmp_path):
    real = tmp_path / "real" / "a.duckdb"
    real.parent.mkdir()
    replace_marked_table(real)
    link = tmp_path / "link.duckdb"
    link.symlink_to(real)
    rewrite(link)
    assert link.is_symlink()
    assert b"MARKER" not in real.read_bytes()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_untouched(rich, tmp_path, monkeypatch, step, failure):
    before = rich.read_bytes()

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(f"sqlanon.engine.duckdb.rewrite.{step}", fail)
    raised = KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else EngineError
    with pytest.raises(raised) as caught:
        rewrite(rich)
    if raised is EngineError:
        assert "No space left" in str(caught.value)
        assert "it is as it was" in str(caught.value)
    assert rich.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["rich.duckdb"]


def test_a_folder_that_cannot_be_synced_is_no_failure(tmp_path, monkeypatch):
    path = tmp_path / "census.duckdb"
    replace_marked_table(path)

    def sync(synced):
        if synced.is_dir():
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr("sqlanon.engine.locked_folders.sync", sync)
    rewrite(path)
    assert b"MARKER" not in contents(tmp_path)


def test_a_copy_with_a_row_less_is_refused(rich, monkeypatch):
    run = DuckDB.run

    def lossy(self, statement, parameters=()):
        run(self, statement, parameters)
        if statement.text.startswith("INSERT") and "a_child" in statement.text:
            self.connection.execute("DELETE FROM sqlanon_old_fresh.a_child")

    monkeypatch.setattr(DuckDB, "run", lossy)
    with pytest.raises(EngineError, match="'a_child' has another number of rows"):
        rewrite(rich)


def test_a_copy_without_a_comment_is_refused(rich, monkeypatch):
    run = DuckDB.run

    def lossy(self, statement, parameters=()):
        run(self, statement, parameters)
        if statement.text.startswith("COPY"):
            self.connection.execute("COMMENT ON COLUMN sqlanon_old_fresh.numbered.n IS NULL")

    monkeypatch.setattr(DuckDB, "run", lossy)
    with pytest.raises(EngineError, match="does not copy 1 of its columns"):
        rewrite(rich)


@pytest.mark.skipif(not has_triggers(), reason="this DuckDB knows no triggers")
def test_triggers_which_duckdb_does_not_copy_are_refused(tmp_path):
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS i")
        connection.execute("CREATE TABLE seen (i INTEGER)")
        connection.execute(
            "CREATE TRIGGER watch AFTER INSERT ON a FOR EACH STATEMENT INSERT INTO seen VALUES (1)"
        )
    before = path.read_bytes()
    with pytest.raises(EngineError, match="does not copy 1 of its triggers"):
        rewrite(path)
    assert path.read_bytes() == before


def test_tables_are_filled_after_those_they_refer_to(tmp_path):
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE TABLE "Zebra" (i INTEGER PRIMARY KEY)')
        connection.execute("CREATE TABLE middle (i INTEGER PRIMARY KEY REFERENCES zebra (i))")
        connection.execute("CREATE TABLE ant (i INTEGER REFERENCES MIDDLE (i))")
        for table in ("zebra", "middle", "ant"):
            connection.execute(f"INSERT INTO {table} VALUES (1), (2)")
    rewrite(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("FROM ant").fetchall() == [(1,), (2,)]


def test_a_table_that_refers_to_itself_is_named(tmp_path):
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE staff (i INTEGER PRIMARY KEY, chief INTEGER REFERENCES staff (i))"
        )
        connection.execute("INSERT INTO staff VALUES (1, NULL)")
        connection.execute("INSERT INTO staff VALUES (2, 1)")
    before = path.read_bytes()
    with pytest.raises(EngineError, match=r"'staff'.*foreign key"):
        rewrite(path)
    assert path.read_bytes() == before


def test_a_file_with_a_second_name_is_refused(tmp_path):
    path = tmp_path / "census.duckdb"
    replace_marked_table(path)
    os.link(path, tmp_path / "second.duckdb")
    before = path.read_bytes()
    with pytest.raises(SourceError, match=r"2 names \(hard links\)"):
        rewrite(path)
    assert path.read_bytes() == before


def test_rewrite_tells_sizes_and_what_is_kept(rich, tmp_path):
    before = rich.stat().st_size
    done = rewrite(rich, threads=1, temp_directory=tmp_path)
    assert (done.bytes_before, done.bytes_after) == (before, rich.stat().st_size)
    assert "1 macro with constants: 'marked'" in done.notes
    assert done.to_dict()["schema_version"] == 1
    assert done.to_text().startswith(f"{rich} rewritten: {rich.stat().st_size:,} bytes")


def test_rewrite_spills_where_it_is_told(rich, tmp_path, monkeypatch):
    spill = tmp_path / "spill"
    with pytest.raises(SourceError, match="spill"):
        rewrite(rich, temp_directory=spill)
    spill.mkdir()
    seen = []

    def look(synced):
        seen.append([entry.name[:12] for entry in spill.iterdir()])

    monkeypatch.setattr("sqlanon.engine.duckdb.rewrite.sync", look)
    rewrite(rich, temp_directory=spill)
    assert seen[0] == ["sqlanon-tmp-"]
    assert list(spill.iterdir()) == []


@pytest.mark.parametrize("name", ["a.csv", "a.duckdb"])
def test_a_file_that_is_no_database_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text("zip\n12\n34\n")
    with pytest.raises(SourceError, match="is not a DuckDB database"):
        rewrite(path)
    assert path.read_text() == "zip\n12\n34\n"
    with pytest.raises(SourceError, match="no file"):
        rewrite(tmp_path / "none.duckdb")


@pytest.mark.parametrize("name", ["sqlanon_old", "temp", "main", "we\"ird; na'me", "memory"])
def test_a_database_of_any_name_is_rewritten(rich, tmp_path, name):
    path = rich.rename(tmp_path / f"{name}.duckdb")
    rewrite(path)
    with duckdb.connect() as connection:
        quoted = str(path).replace("'", "''")
        connection.execute(f"ATTACH '{quoted}' AS kept")
        assert connection.execute("FROM kept.other.made").fetchall() == [(4, 8)]


def test_rewrite_of_a_database_open_in_this_process_is_refused(rich, tmp_path):
    before = rich.stat().st_ino
    with duckdb.connect(str(rich)), pytest.raises(SourceError, match="has it open already"):
        rewrite(rich)
    assert rich.stat().st_ino == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["rich.duckdb"]


def test_leftovers_name_objects_and_no_text(rich):
    rewrite(rich)
    with duckdb.connect(str(rich)) as connection:
        told = leftovers(DuckDB(connection), "rich")
    assert told == [
        "1 view with constants: 'aged'",
        "1 macro with constants: 'marked'",
        "1 ENUM type with labels that may be values: 'mood'",
        "2 tables with column defaults or generated columns that hold constants: "
        "'made', 'numbered'",
        "1 table with checks: 'numbered'",
        "1 object with comments: 'numbered'",
    ]
    assert "MARK" not in " ".join(told)


def test_leftovers_do_not_count_the_table_that_goes(rich):
    with duckdb.connect(str(rich)) as connection:
        besides = qualified("rich", "main", "numbered")
        told = leftovers(DuckDB(connection), "rich", besides=besides)
    assert told == [
        "1 view with constants: 'aged'",
        "1 macro with constants: 'marked'",
        "1 ENUM type with labels that may be values: 'mood'",
        "1 table with column defaults or generated columns that hold constants: 'made'",
    ]


def test_a_plain_database_has_no_leftovers(tmp_path):
    path = tmp_path / "plain.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS i")
        connection.execute("CREATE VIEW v AS SELECT i FROM t")
        assert leftovers(DuckDB(connection), "plain") == []
        assert leftovers(DuckDB(connection), "temp") == []


def test_table_parts_are_those_of_the_table_alone():
    with duckdb.connect() as connection:
        for name in ("owner", "other"):
            connection.execute(f"CREATE TABLE {name} (age INT NOT NULL, sex VARCHAR DEFAULT 'f')")
            connection.execute(f"CREATE INDEX {name}_age ON {name} (age)")
            connection.execute(f"COMMENT ON COLUMN {name}.age IS 'years'")
        connection.execute("COMMENT ON TABLE owner IS 'of pets'")
        assert table_parts(DuckDB(connection), qualified("memory", "main", "owner")) == [
            "1 constraint of the original is not carried over: NOT NULL on 'age'",
            "1 column default of the original is not carried over: 'sex'",
            "1 index of the original is not carried over: 'owner_age'",
            "2 comments of the original are not carried over",
        ]
