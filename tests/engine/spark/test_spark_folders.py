"""Releases as folders and as versions: whole or not at all, of one state of their source."""

import json
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import duckdb
import pytest
from spark_kind import IS_SAIL, KIND

import sqlanon
from sqlanon.engine.spark.folders import FolderDraft
from sqlanon.engine.spark.tables import SparkTables
from sqlanon.errors import SourceError, StalePlanError
from sqlanon.publishing import apply

pytestmark = pytest.mark.slow
on_sail = pytest.mark.skipif(not IS_SAIL, reason="a few are enough in Java")
needs_delta = pytest.mark.skipif(not IS_SAIL, reason="Delta is not among the jars of Spark")
POLICY = {"k": 3, "quasi_identifiers": {"age": "intervals:10", "sex": {}}, "keep": ["ill"]}
PEOPLE = """
    SELECT CAST(id % 40 AS INT) AS `age`, IF(id % 3 = 0, 'f', 'm') AS `sex`,
           concat('ill ', id % 7) AS `ill`
    FROM range({})
"""


@pytest.fixture
def source(session, tmp_path):
    """Makes a folder of 200 people, in which nothing else lies."""

    def make(kind="parquet"):
        session.sql(PEOPLE.format(200)).write.format(kind).save(str(tmp_path / "people"))
        return str(tmp_path / "people")

    return make


def more(session, path, kind="parquet"):
    """Ten people come."""
    session.sql(PEOPLE.format(10)).write.format(kind).mode("append").save(path)


def read(session, path, kind="parquet", **said):
    rows = session.read.format(kind).options(**said).load(str(path)).toArrow().to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def expected():
    """What DuckDB releases of the 200 people."""
    with duckdb.connect() as connection:
        connection.execute("""
            CREATE TABLE people AS
            SELECT i % 40 AS age, if(i % 3 = 0, 'f', 'm') AS sex, 'ill ' || i % 7 AS ill
            FROM range(200) AS numbers (i)
        """)
        sqlanon.anonymize(connection, POLICY, table="people", into="out")
        return sorted(connection.sql("FROM out").fetchall())


def inside(folder):
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.mark.parametrize("kind", ["parquet", pytest.param("delta", marks=needs_delta)])
def test_a_release_is_a_folder_of_what_duckdb_releases(session, source, tmp_path, kind):
    path, place = source(), tmp_path / "out"
    into = str(place) if kind == "parquet" else f"{kind}.`{place}`"
    report = sqlanon.anonymize(session, POLICY, table=path, into=into)
    assert (read(session, place, kind), report.output) == (expected(), into)
    assert inside(tmp_path) == ["out", "people"]
    (tmp_path / "usual").mkdir()
    assert place.stat().st_mode == (tmp_path / "usual").stat().st_mode


@on_sail
@pytest.mark.parametrize("kind", ["parquet", pytest.param("delta", marks=needs_delta)])
def test_the_files_of_a_folder_say_nothing_of_the_order_of_the_original(session, tmp_path, kind):
    """File by file and row by row."""
    found = []
    for name, order in (("one", "id"), ("other", "hash(id)")):
        rows = PEOPLE.format(20_000) + f" ORDER BY {order} LIMIT 20000"
        session.sql(rows).write.parquet(str(tmp_path / name))
        place = tmp_path / f"{name} out"
        into = f"{kind}.`{place}`"
        sqlanon.anonymize(session, POLICY, table=str(tmp_path / name), into=into)
        files = place.glob("*.parquet")
        found.append(sorted(duckdb.read_parquet(str(file)).fetchall() for file in files))
    assert found[0] == found[1]


@on_sail
def test_a_folder_that_spark_writes_elsewhere_is_refused(session, source, tmp_path, monkeypatch):
    """Before any work: a row is written there first."""
    path, how = source(), {"confirm": lambda _: pytest.fail("it is planned and written")}
    monkeypatch.setattr(FolderDraft, "is_seen", False)
    with pytest.raises(SourceError, match="writes nothing that this machine sees"):
        sqlanon.anonymize(session, POLICY, table=path, into=str(tmp_path / "out"), **how)
    assert inside(tmp_path) == ["people"]


@on_sail
@pytest.mark.parametrize(
    ("into", "reason"),
    [
        ("{}/people", "the original itself"),
        ("{}/taken", "is there, and cannot be replaced in one step"),
        ("{}/none/out", "there is no folder"),
        ("orc.`{}/out`", "as Parquet or Delta, not as orc"),
        ("iceberg.`{}/out`", "as Parquet or Delta, not as iceberg"),
        ("s3://bucket/out", "name a table whose files lie there"),
    ],
)
def test_a_place_that_cannot_be_is_refused_before_any_work(session, source, tmp_path, into, reason):
    path = source()
    (tmp_path / "taken").mkdir()
    with pytest.raises(SourceError, match=reason):
        sqlanon.anonymize(session, POLICY, table=path, into=into.format(tmp_path))
    assert inside(tmp_path) == ["people", "taken"]


@on_sail
def test_a_folder_of_files_is_not_replaced(session, source, tmp_path):
    path, how = source(), {"into": str(tmp_path / "out")}
    sqlanon.anonymize(session, POLICY, table=path, **how)
    for again in (how | {"overwrite": True}, {"in_place": True}):
        with pytest.raises(SourceError, match="cannot be replaced in one step"):
            sqlanon.anonymize(session, POLICY, table=path, **again)
    assert inside(tmp_path) == ["out", "people"]


@on_sail
def test_nothing_is_left_beside_a_folder_where_the_check_fails(
    session, source, tmp_path, monkeypatch
):
    def fail(*_, **__):
        raise sqlanon.VerificationError("no")

    path = source()
    monkeypatch.setattr(apply, "_verified", fail)
    with pytest.raises(sqlanon.VerificationError):
        sqlanon.anonymize(session, POLICY, table=path, into=str(tmp_path / "out"))
    assert inside(tmp_path) == ["people"]


@needs_delta
@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_a_folder_that_appears_meanwhile_stays(session, source, tmp_path, kind):
    path, place = source(), tmp_path / "out"
    theirs = lambda _: session.sql("SELECT 7 AS `x`").write.format(kind).save(str(place))  # noqa: E731
    into = f"{kind}.`{place}`"
    with pytest.raises(SourceError, match="has appeared meanwhile, so nothing is published"):
        sqlanon.anonymize(session, POLICY, table=path, into=into, confirm=theirs)
    assert read(session, place, kind) == [(7,)]
    assert inside(tmp_path) == ["out", "people"]


@needs_delta
def test_a_folder_that_has_versions_is_replaced_with_its_columns(session, source, tmp_path):
    path, place = source(), tmp_path / "out"
    session.sql("SELECT 7 AS `x`").write.format("delta").save(str(place))
    sqlanon.anonymize(session, POLICY, table=path, into=str(place), overwrite=True)
    assert read(session, place, "delta") == expected()
    assert read(session, place, "delta", versionAsOf=0) == [(7,)]


@needs_delta
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_folder_that_has_versions_is_replaced_in_place(session, source, tmp_path, kind):
    path = source(kind)
    report = sqlanon.anonymize(session, POLICY, table=path, in_place=True)
    assert read(session, path, kind) == expected()
    assert any("history keeps the original" in note for note in report.notes)
    assert inside(tmp_path) == ["people"]


@needs_delta
def test_nothing_is_replaced_in_place_of_which_no_version_is_known(
    session, source, tmp_path, monkeypatch
):
    path = source("delta")
    monkeypatch.setattr(SparkTables, "_newest", lambda *_: None)
    with pytest.raises(SourceError, match="which version of the table is read is not known"):
        sqlanon.anonymize(session, POLICY, table=path, in_place=True)
    assert len(read(session, path, "delta")) == 200


@needs_delta
def test_a_table_that_has_versions_is_replaced_in_place(session):
    session.sql(PEOPLE.format(200)).write.format("delta").saveAsTable("versions")
    assert sqlanon.plan(session, POLICY, table="versions").table.endswith(".`versions`")
    sqlanon.anonymize(session, POLICY, table="versions", in_place=True)
    rows = session.table("versions").toArrow().to_pylist()
    session.sql("DROP TABLE versions").collect()
    assert sorted(tuple(row.values()) for row in rows) == expected()


@needs_delta
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_one_version_is_read_throughout(session, source, tmp_path, kind):
    path, place = source(kind), tmp_path / "out"
    how = {"table": path, "confirm": lambda _: more(session, path, kind)}
    sqlanon.anonymize(session, POLICY, into=str(place), **how)
    assert read(session, place) == expected()
    with pytest.raises(SourceError, match="changed while it was read"):
        sqlanon.anonymize(session, POLICY, in_place=True, **how)
    assert len(read(session, path, kind)) == 200 + 2 * 10


@on_sail
def test_files_that_change_between_two_scans_are_noticed(session, source, tmp_path):
    path = source()

    def change(_):
        for file in Path(path).glob("*.parquet"):
            text = f"COPY (SELECT * REPLACE ('none' AS ill) FROM '{file}') TO '{file}.new'"
            duckdb.connect().execute(text + " (FORMAT parquet)")
            Path(f"{file}.new").replace(file)

    with pytest.raises(StalePlanError):
        sqlanon.anonymize(session, POLICY, table=path, into=str(tmp_path / "out"), confirm=change)
    assert inside(tmp_path) == ["people"]


@pytest.mark.skipif(not IS_SAIL, reason="Spark lists the files of a folder once")
@pytest.mark.parametrize(
    ("asked", "how"),
    [
        ("check", {}),
        ("risk", {}),
        ("measure", {}),
        ("compare", {"methods": ["incognito"]}),
        ("sweep", {"over": {"k": [2, 3]}}),
        ("mine", {}),
        ("mine", {"into": "itemsets"}),
    ],
)
def test_files_that_change_while_figures_are_counted_are_noticed(session, source, asked, how):
    """Whose figures would be of two tables; nothing is published of these."""
    path, changes = source(), []
    released = [path] if asked == "measure" else []

    def change(_):
        if not changes:
            changes.append(more(session, path))

    with pytest.raises(SourceError, match="changed while it was read; try again"):
        getattr(sqlanon, asked)(session, *released, POLICY, table=path, progress=change, **how)
    assert not session.catalog.tableExists("itemsets")


KILLED = """
    import json, os, signal, sys
    from pyspark.sql.connect.session import SparkSession
    import sqlanon
    from sqlanon.engine.spark.tables import SparkTables

    point, address, how = sys.argv[1:]
    setattr(SparkTables, point, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    session = SparkSession.builder.remote(address).create()
    sqlanon.anonymize(session, {policy}, local_rows=0, **json.loads(how))
"""


def killed(session, *, at, **how):
    """A run on the same server that is killed where it calls a method of its tables.

    Its intermediates are there, and stay when it is killed.
    """
    before = locked_folders()
    address = f"sc://{session.client._builder.endpoint}"
    program = textwrap.dedent(KILLED).replace("{policy}", repr(POLICY))
    command = [sys.executable, "-W", "ignore", "-c", program, at, address, json.dumps(how)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert locked_folders() > before


def locked_folders():
    """Of runs, for their intermediates, or the names of these."""
    return {path.name for path in Path(tempfile.gettempdir()).glob("sqlanon-*")}


def contents(folder):
    """The bytes of each file in a folder, by its path."""
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@on_sail
@pytest.mark.parametrize(("at", "left"), [("replace", []), ("close", ["out"])])
def test_a_killed_run_leaves_a_whole_folder_or_none_after_the_next(
    session, source, tmp_path, at, left
):
    path, earlier = source(), str(tmp_path / "earlier")
    sqlanon.anonymize(session, POLICY, table=path, into=earlier)
    before = locked_folders(), contents(path), contents(earlier)
    killed(session, at=at, table=path, into=str(tmp_path / "out"))
    sqlanon.anonymize(session, POLICY, table=path, into=str(tmp_path / "next"))
    assert inside(tmp_path) == sorted([*left, "earlier", "next", "people"])
    assert all(read(session, tmp_path / name) == expected() for name in [*left, "next"])
    assert (locked_folders(), contents(path), contents(earlier)) == before


@needs_delta
@pytest.mark.parametrize(("at", "is_replaced"), [("replace", False), ("close", True)])
def test_a_killed_run_leaves_the_version_before_or_the_next_one(
    session, source, tmp_path, at, is_replaced
):
    path, place = source(), tmp_path / "out"
    session.sql("SELECT 7 AS `x`").write.format("delta").save(str(place))
    before, version = (locked_folders(), contents(path)), contents(place)
    killed(session, at=at, table=path, into=str(place), overwrite=True)
    sqlanon.anonymize(session, POLICY, table=path, into=str(tmp_path / "next"))
    assert inside(tmp_path) == ["next", "out", "people"]
    assert read(session, place, "delta") == (expected() if is_replaced else [(7,)])
    assert read(session, place, "delta", versionAsOf=0) == [(7,)]
    assert (locked_folders(), contents(path)) == before
    assert version.items() <= contents(place).items()


@pytest.mark.skipif(KIND != "connect", reason="Sail's catalog is of one session alone")
@pytest.mark.parametrize(("at", "left"), [("replace", []), ("close", ["released"])])
def test_a_killed_run_leaves_a_whole_table_or_none_after_the_next(session, source, at, left):
    def rows(name):
        return sorted(tuple(row.values()) for row in session.table(name).toArrow().to_pylist())

    path, home = source(), Path(session.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    session.sql("CREATE TABLE earlier AS SELECT 7 AS `x`").collect()
    before, stored = (locked_folders(), contents(path)), contents(home)
    killed(session, at=at, table=path, into="released")
    sqlanon.check(session, POLICY, table=path)
    names = sorted(each.name for each in session.catalog.listTables())
    released, files = [rows(name) for name in left], contents(home)
    for name in names:
        session.sql(f"DROP TABLE {name}").collect()
    assert (names, released) == (["earlier", *left], [expected()] * len(left))
    assert (locked_folders(), contents(path)) == before
    assert stored.items() <= files.items()
    assert {Path(name).parts[0] for name in files.keys() - stored.keys()} == set(left)
