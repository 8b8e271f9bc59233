"""What a name of a table means, and how a release takes its place."""

import itertools
import os
from pathlib import Path

import pyarrow
import pytest
from spark_kind import IS_SAIL, KIND
from sqlglot import exp

from sqlanon.engine.spark.intermediates import Noted
from sqlanon.engine.spark.remote import SparkRemote
from sqlanon.errors import EngineError, MissingTableError, SourceError

pytestmark = pytest.mark.slow
NUMBERS = itertools.count(1)


@pytest.fixture
def made(session):
    """Makes tables of a query's rows, which are dropped at the end."""
    names = []

    def make(text="SELECT 1 AS `x`", kind="parquet"):
        # Sail leaves the folder of a dropped table, and makes no other in its place.
        names.append(f"people_{next(NUMBERS)}")
        session.sql(f"CREATE TABLE {names[-1]} USING {kind} AS {text}").toArrow()
        return names[-1]

    yield make
    for name in names:
        session.sql(f"DROP TABLE IF EXISTS {name}").toArrow()


def rows(remote, table):
    return remote.answer(f"SELECT * FROM {table.sql('spark', identify=True)}").to_pylist()


def parquet():
    """The files of tables."""
    return set(Path().rglob("*.parquet"))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def published(remote):
    """A table that was written beside a place."""
    written = remote.tables.beside(exp.table_("people", db="default", quoted=True))
    remote.run(f"CREATE TABLE {written.sql('spark', identify=True)} AS SELECT '*' AS `y`")
    return written


def test_a_name_is_resolved_in_the_current_schema(remote, made):
    name = made()
    resolved = remote.tables.resolve(name)
    assert (resolved.name, resolved.db) == (name, "default")
    assert resolved.catalog
    assert rows(remote, resolved) == [{"x": 1}]


def test_a_name_of_three_parts_is_resolved(remote, made):
    full = remote.tables.resolve(made())
    parts = ".".join(f"`{part.name}`" for part in full.parts)
    assert remote.tables.resolve(parts) == full


def test_a_quoted_name_may_hold_anything(session, remote):
    remote.run("CREATE TEMPORARY VIEW `odd ``na me's` AS SELECT 2 AS `x`")
    resolved = remote.tables.resolve("`odd ``na me's`")
    assert rows(remote, resolved) == [{"x": 2}]
    session.catalog.dropTempView("odd `na me's")


@pytest.mark.parametrize("name", ["nothing", "nowhere.nothing"])
def test_a_missing_table_is_named(remote, name):
    with pytest.raises(MissingTableError, match=f"no table '{name}'"):
        remote.tables.resolve(name)


@pytest.mark.parametrize(
    ("given", "reason"), [("", "is empty"), (7, "not a table"), ("a.", "not the name")]
)
def test_what_is_no_name_is_refused(remote, given, reason):
    with pytest.raises(SourceError, match=reason):
        remote.tables.resolve(given)


def test_a_frame_of_the_session_is_a_table_until_the_end(session, remote):
    resolved = remote.tables.resolve(session.sql("SELECT 3 AS `x`"))
    assert rows(remote, resolved) == [{"x": 3}]
    remote.close()
    assert not session.catalog.tableExists(resolved.name)


@pytest.mark.parametrize("kind", ["parquet", *(["delta"] if IS_SAIL else [])])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_folder_of_data_is_a_table(session, remote, tmp_path, kind, scheme):
    session.sql("SELECT 4 AS `x`").write.format(kind).save(str(tmp_path / "data"))
    resolved = remote.tables.resolve(f"{scheme}{tmp_path}/data")
    assert rows(remote, resolved) == [{"x": 4}]


def test_a_folder_without_data_is_told(remote, tmp_path):
    with pytest.raises((SourceError, EngineError), match=r"holds no files|read a folder of data"):
        remote.tables.resolve(str(tmp_path))


def test_a_table_is_told_from_a_view(session, remote, made):
    session.sql("SELECT 1 AS `x`").createOrReplaceTempView("seen")
    tables = remote.tables
    assert tables.is_base_table(tables.resolve(made()))
    assert not tables.is_base_table(tables.resolve("seen"))
    assert not tables.is_base_table(exp.table_("nothing"))
    session.catalog.dropTempView("seen")


def test_a_free_place_is_taken(session, remote):
    written, place = published(remote), exp.table_("released", db="default", quoted=True)
    files = parquet()
    remote.tables.replace(written, place, overwrite=True)
    assert rows(remote, place) == [{"y": "*"}]
    assert not remote.tables.exists(written)
    remote.tables.drop(place)
    assert not remote.tables.exists(place)
    assert parquet() <= files


@pytest.mark.skipif(not IS_SAIL, reason="Spark renames a table, where Sail copies it")
def test_a_table_that_others_make_while_ours_is_copied_stays(session, made, monkeypatch):
    remote, place = SparkRemote(session), exp.table_(made(), db="default", quoted=True)
    written = published(remote)
    monkeypatch.setattr(remote.tables, "exists", lambda _: False)
    with pytest.raises(EngineError):
        remote.tables.replace(written, place, overwrite=False)
    remote.tables.drop(written)
    remote.close()
    assert session.table(place.name).toArrow().to_pylist() == [{"x": 1}]


@pytest.mark.parametrize("mark", ["ours", "others"])
def test_a_killed_run_leaves_the_tables_of_others(session, calls, made, mark):
    """The next one drops what has its mark alone."""
    name = made()
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('sqlanon.run' = '{mark}')").toArrow()
    noted = Noted(session, calls, name, mark="ours")
    os.close(noted._folder.lock)  # as the system does once it is dead
    SparkRemote(session).close()
    assert session.catalog.tableExists(name) == (mark == "others")
    assert not noted._folder.path.exists()


def test_a_table_that_took_no_place_is_dropped_at_the_end(session):
    remote = SparkRemote(session)
    written = remote.tables.beside(exp.table_("people", db="default", quoted=True))
    remote.tables.write(written, "SELECT 1 AS `x` ORDER BY 1")
    assert remote.tables.exists(written)
    remote.close()
    assert not session.catalog.tableExists(written.sql("spark"))


def test_a_name_of_a_table_and_a_folder_is_refused(session, remote, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").mkdir()
    session.sql("SELECT 2 AS `x`").createOrReplaceTempView("people")
    with pytest.raises(SourceError, match=r"a table and a folder; write \./people"):
        remote.tables.resolve("people")
    session.catalog.dropTempView("people")
    session.sql("SELECT 3 AS `x`").write.parquet(str(tmp_path / "people" / "part"))
    assert rows(remote, remote.tables.resolve("./people/part")) == [{"x": 3}]


def test_views_of_rows_that_were_sent_are_gone_at_the_end(session):
    remote = SparkRemote(session)
    remote.ship("sent", pyarrow.table({"x": [1]}))
    assert session.catalog.tableExists("sent")
    remote.close()
    assert not session.catalog.tableExists("sent")


@pytest.mark.skipif(KIND != "connect", reason="Sail has no such settings")
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("spark.sql.ansi.enabled", "false"),
        ("spark.sql.parser.escapedStringLiterals", "true"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
    ],
)
def test_settings_by_which_statements_mean_something_else_are_refused(session, name, other):
    session.conf.set(name, other)
    with pytest.raises(SourceError, match=f"{name} of the session is not"):
        SparkRemote(session)
    session.conf.unset(name)


@pytest.mark.skipif(not IS_SAIL, reason="Delta is not among the jars of Spark")
def test_a_delta_table_is_replaced_in_one_step_with_its_columns(remote, made):
    place = remote.tables.resolve(made(kind="delta"))
    remote.tables.refuse_fixed(place)
    written = published(remote)
    remote.tables.replace(written, place, overwrite=True)
    assert rows(remote, place) == [{"x": 1}]  # the version that was resolved
    assert rows(remote, remote.tables.portable(place)) == [{"y": "*"}]
    assert not remote.tables.exists(written)


def test_a_table_that_cannot_be_replaced_in_one_step_is_refused(remote, made):
    place = remote.tables.resolve(made())
    with pytest.raises(SourceError, match="publish under another name, then drop it yourself"):
        remote.tables.refuse_fixed(place)
    written = published(remote)
    with pytest.raises(SourceError, match="cannot be replaced in one step"):
        remote.tables.replace(written, place, overwrite=True)
    assert rows(remote, place) == [{"x": 1}]
    remote.tables.drop(written)
