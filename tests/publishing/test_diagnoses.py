"""What is said of disks that are full or read-only, of rights, and of what is one."""

import errno
import os
import subprocess

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.tables import DuckDBTables
from sqlanon.errors import EngineError, SourceError, VerificationError
from sqlanon.publishing import apply

pytestmark = pytest.mark.slow

POLICY = Policy({"age": Hierarchy.intervals(10)}, others="keep", models=[KAnonymity(5)])


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "inner" / "people.duckdb"
    path.parent.mkdir()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT range % 50 AS age FROM range(500)")
    return path


def test_a_read_only_file_system_is_named(database):
    mounted = ["mount", "--bind", database.parent, database.parent]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", database.parent], check=True)
        for action in (
            lambda: sqlanon.anonymize(database, POLICY, table="people", into="out"),
            lambda: sqlanon.anonymize(database, POLICY, table="people", in_place=True),
            lambda: sqlanon.rewrite(database),
        ):
            with pytest.raises(SourceError, match="its file system is read-only"):
                action()
        assert sqlanon.check(database, POLICY, table="people").statistics.records == 500
    finally:
        subprocess.run(["umount", database.parent], check=True)


def test_a_database_that_rights_forbid_is_refused_before_it_is_opened(database, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != database.parent)
    with pytest.raises(SourceError, match="you may not write to its folder"):
        sqlanon.anonymize(database, POLICY, table="people", into="out")


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        (
            duckdb.IOException,
            'failed: {"exception_message":"Could not write file \\"/a/b.csv\\": No space left',
            "the disk of '/a' is full",
        ),
        (
            duckdb.IOException,
            'Could not write file "/a/.sqlanon-tmp-abcdefgh/b.csv": No space left on device',
            "the disk of '/a' is full; make room there",
        ),
        (
            duckdb.IOException,
            'Could not write file "/t/sqlanon-tmp-abcdefgh/duckdb_temp": No space left on device',
            "the disk of the temporary directory '/t' is full.*--temp-directory",
        ),
        (
            duckdb.TransactionException,
            'Failed to commit: Could not write file "/d/x.duckdb": No space left on device',
            "the disk of '/d' is full",
        ),
        (
            duckdb.TransactionException,
            'Failed to commit: Cannot open file "/d/x.duckdb.wal": Permission denied',
            "the folder of the database cannot be written",
        ),
        (
            duckdb.OutOfMemoryException,
            "This limit was set by the 'max_temp_directory_size' setting.",
            "--temp-limit",
        ),
    ],
)
def test_the_disk_that_is_full_is_the_one_named(kind, text, told):
    found = fault(kind(text), "do something")
    with pytest.raises(type(found), match=told):
        raise found
    assert "another transaction" not in str(found)


def test_an_arrow_file_on_a_full_disk_says_so(database, monkeypatch):
    import pyarrow.ipc

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pyarrow.ipc, "new_file", full)
    output = database.with_name("out.arrow")
    with pytest.raises(EngineError, match=f"the disk of '{database.parent}' is full"):
        sqlanon.anonymize(database, POLICY, table="people", output=output)
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_database_does_not_grow_where_nothing_is_published(tmp_path, monkeypatch):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS "
            "SELECT range % 50 AS age, md5(range::VARCHAR) AS text FROM range(200000)"
        )
    before = path.stat().st_size

    def fail(*_, **__):
        raise VerificationError("no")

    monkeypatch.setattr(apply, "_verified", fail)
    for target in ({"into": "out"}, {"output": tmp_path / "out.csv"}):
        with pytest.raises(VerificationError):
            sqlanon.anonymize(path, POLICY, table="people", **target)
        assert path.stat().st_size == before


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX limits")
def test_no_log_stays_where_a_table_cannot_be_written_to_the_end(database):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(EngineError, match="larger than this process may write"):
            sqlanon.anonymize(database, POLICY, table="people", into="out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    with duckdb.connect(str(database)) as connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("people",)]


def test_a_table_that_arrives_changed_is_not_published(database, monkeypatch):
    real = DuckDBTables.write

    def fewer(own, table, rows):
        real(own, table, rows.where("age <> '0-9'") if rows.is_star else rows)

    monkeypatch.setattr(DuckDBTables, "write", fewer)
    policy = Policy(
        {"age": sqlanon.QuasiIdentifier(Hierarchy.intervals(10), min_level=1)},
        models=[KAnonymity(5)],
    )
    with pytest.raises(VerificationError, match="not the one checked"):
        sqlanon.anonymize(database, policy, table="people", into="out")
    with duckdb.connect(str(database)) as connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("people",)]
