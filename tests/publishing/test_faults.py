"""What comes from outside in the middle of a run: one clear error, and the target as it was."""

import os
import subprocess
import sys

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import SqlanonError, StalePlanError

pytestmark = pytest.mark.slow

POLICY = Policy(
    {"age": Hierarchy.intervals(5, 10, 20), "zip": Hierarchy.prefix(3, 2)},
    identifiers=["name"],
    keep=["note"],
    models=[KAnonymity(5)],
    suppression_limit=0.1,
)
TARGETS = ["in_place", "into", "out.csv", "out.parquet", "out.arrow", "out.duckdb"]
FULL = r"ulimit -f|limit of the size|File too large"
FILE_LIMIT = 4096  # bytes, less than any release here


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET force_compression = 'uncompressed'")
        connection.execute(
            "CREATE TABLE people AS SELECT 'MARKER' || md5(i::VARCHAR) AS name, i % 90 AS age, "
            "(10000 + i * 7919 % 4000)::VARCHAR AS zip, 'note ' || i AS note FROM range(20000) r(i)"
        )
    return path


def target_of(name, folder):
    named = {"in_place": {"in_place": True}, "into": {"into": "made"}}
    return named.get(name, {"output": folder / name})


def assert_untouched(database, before, fault):
    """The database is the same to the byte, nothing lies beside it, and no value is told."""
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    assert "MARKER" not in str(fault)
    assert "\n" not in str(fault)


@pytest.mark.skipif(os.name == "nt", reason="limits of a process are POSIX")
@pytest.mark.parametrize("target", TARGETS)
def test_a_file_that_cannot_grow_leaves_the_target_as_it_was(database, target):
    import resource

    before, plan = database.read_bytes(), sqlanon.plan(database, POLICY, table="people")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, limits[1]))
    try:
        with pytest.raises(
            SqlanonError, match=r"ulimit -f|limit of the size|File too large"
        ) as caught:
            sqlanon.apply(database, plan, **target_of(target, database.parent))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_untouched(database, before, caught.value)
    sqlanon.apply(database, plan, **target_of(target, database.parent))


@pytest.mark.parametrize("target", ["in_place", "out.parquet"])
def test_memory_that_runs_out_leaves_the_target_as_it_was(database, target):
    before = database.read_bytes()
    with pytest.raises(SqlanonError, match="--memory-limit") as caught:
        sqlanon.anonymize(
            database, POLICY, table="people", memory_limit="2MB", temp_limit="1MB", threads=1,
            **target_of(target, database.parent),
        )  # fmt: skip
    assert_untouched(database, before, caught.value)


@pytest.mark.parametrize("target", ["in_place", "out.csv"])
def test_a_second_run_on_one_database_is_refused_and_the_first_goes_on(database, target):
    call = [sys.executable, "-m", "sqlanon", "anonymize", str(database), "people", "--qi", "age",
            "--k", "2", "--others", "drop"]  # fmt: skip
    call += ["--in-place", "--yes"] if target == "in_place" else ["--output", f"{database}.csv"]
    second = []

    def intrude(_):
        second.append(subprocess.run(call, capture_output=True, text=True, check=False))

    sqlanon.anonymize(database, POLICY, table="people", in_place=True, confirm=intrude)
    [done] = second
    assert done.returncode == 2
    assert f"is held by another process (process {os.getpid()})" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    assert sqlanon.check(database, POLICY, table="people").holds


@pytest.mark.parametrize("target", ["in_place", "into", "out.parquet"])
def test_a_writer_between_plan_and_apply_is_noticed(database, target):
    plan = sqlanon.plan(database, POLICY, table="people")
    with duckdb.connect(str(database)) as writer:
        writer.execute("UPDATE people SET age = age + 1 WHERE note = 'note 7'")
    before = database.read_bytes()
    with pytest.raises(StalePlanError, match="changed after the plan") as caught:
        sqlanon.apply(database, plan, **target_of(target, database.parent))
    assert_untouched(database, before, caught.value)
