"""Sources that are replaced or changed between the search and the publication."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import duckdb
import numpy
import pandas
import pytest
from pyarrow import feather

import sqlanon
from sqlanon import Hierarchy, KAnonymity, KMap, LDiversity, Policy
from sqlanon.engine.open import open_source, second_table
from sqlanon.errors import HierarchyError, SourceError, StalePlanError

pytestmark = pytest.mark.slow

OPEN_FILES = Path("/proc/self/fd")
POLICY = Policy(
    {"age": Hierarchy.intervals(5, 10, 20), "sex": Hierarchy.suppression()},
    keep=["note"],
    models=[KAnonymity(2)],
)
ROWS = "SELECT 20 + range % 40 AS age, 'fm'[1 + range % 2] AS sex, '{}' AS note FROM range(200)"


def query(mark):
    return ROWS.format(mark)


def write(path, mark):
    """A file of data whose kept column holds a mark."""
    frame = duckdb.sql(query(mark)).to_arrow_table()
    if path.suffix == ".arrow":
        feather.write_feather(frame, str(path))
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE people AS {query(mark)}")
    else:
        kind = {".parquet": "PARQUET", ".csv": "CSV", ".json": "JSON"}[path.suffix]
        duckdb.sql(query(mark)).query("t", f"COPY t TO '{path}' (FORMAT {kind})")


def after(monkeypatch, home, name, act):
    """Has something happen whenever a function of a module has been carried out."""
    home = import_module(f"sqlanon.{home}")
    carried_out = getattr(home, name)

    def hooked(*given, **named):
        found = carried_out(*given, **named)
        act()
        return found

    monkeypatch.setattr(home, name, hooked)


def when_decided(monkeypatch, act):
    """Has something happen between the search and the publication."""
    after(monkeypatch, "methods.fulldomain.method", "decide", act)


def replaced(path, other):
    """Another file takes the place of this one."""

    def act():
        write(other, "new")
        other.replace(path)

    return act


def rewritten(path, other):
    """The file gets other bytes, as many as before, and its old times."""

    def act():
        before = path.stat()
        write(other, "new")
        data = other.read_bytes()
        with path.open("r+b") as file:
            file.write(data[: before.st_size].ljust(before.st_size))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return act


def brought_back(path, other):
    """The file is put aside for a while, and then stands where it stood."""

    def act():
        aside = path.with_suffix(".aside")
        path.rename(aside)
        aside.rename(path)

    return act


@pytest.mark.parametrize("change", [replaced, rewritten, brought_back])
def test_a_parquet_file_that_changes_is_not_published(tmp_path, monkeypatch, change):
    path, output = tmp_path / "people.parquet", tmp_path / "out.csv"
    write(path, "old")
    when_decided(monkeypatch, change(path, tmp_path / "other.parquet"))
    with pytest.raises(SourceError, match=r"'people.parquet' was replaced or changed"):
        sqlanon.anonymize(path, POLICY, output=output)
    assert not output.exists()


@pytest.mark.parametrize("run", [sqlanon.plan, sqlanon.check])
def test_an_error_of_a_file_that_has_changed_blames_the_change(tmp_path, monkeypatch, run):
    path, other = tmp_path / "people.parquet", tmp_path / "other.parquet"
    write(path, "old")
    home = import_module("sqlanon.engine.duckdb.connection").DuckDB

    def changed(*_, **__):
        replaced(path, other)()
        raise HierarchyError("the hierarchy misses 50 values")

    monkeypatch.setattr(home, "workspace", changed)
    monkeypatch.setattr(home, "rows", changed)
    with pytest.raises(SourceError, match=r"'people.parquet' was replaced or changed"):
        run(path, POLICY)


def test_a_parquet_file_that_changes_while_it_is_opened_is_not_called_unreadable(
    tmp_path, monkeypatch
):
    path = tmp_path / "people.parquet"
    write(path, "old")
    home = import_module("sqlanon.engine.duckdb.data_files")

    def broken(*_, **__):
        path.write_bytes(b"half")
        raise SourceError("'people.parquet' is not a readable Parquet file")

    monkeypatch.setattr(home, "_view_parquet", broken)
    with pytest.raises(SourceError, match=r"'people.parquet' was replaced or changed"):
        sqlanon.check(path, POLICY)


@pytest.mark.parametrize("ending", [".csv", ".json", ".arrow"])
def test_a_file_that_is_read_once_is_published_as_it_was(tmp_path, monkeypatch, ending):
    path, output = tmp_path / f"people{ending}", tmp_path / "out.csv"
    write(path, "old")
    when_decided(monkeypatch, replaced(path, tmp_path / f"other{ending}"))
    assert sqlanon.anonymize(path, POLICY, output=output).holds
    assert set(duckdb.sql(f"SELECT note FROM '{output}'").fetchall()) == {("old",)}


@pytest.mark.parametrize(
    ("target", "read_only"),
    [({"output": "out.csv"}, True), ({"into": "anonymous"}, False), ({"in_place": True}, False)],
)
def test_a_database_file_that_is_replaced_is_neither_published_nor_overwritten(
    tmp_path, monkeypatch, target, read_only
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.duckdb"
    write(path, "old")
    when_decided(monkeypatch, replaced(path, tmp_path / "other.duckdb"))
    with pytest.raises(SourceError, match="was replaced or changed"):
        sqlanon.anonymize(path, POLICY, **target)
    assert [file.name for file in tmp_path.iterdir()] == ["people.duckdb"]
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("people",)]
        assert connection.execute("SELECT DISTINCT note FROM people").fetchall() == [("new",)]


def test_a_database_that_is_replaced_while_it_is_rewritten_is_not_lost(tmp_path, monkeypatch):
    path = tmp_path / "people.duckdb"
    write(path, "old")
    act = replaced(path, tmp_path / "other.duckdb")
    after(monkeypatch, "engine.duckdb.rewrite", "_copy_rows", act)
    with pytest.raises(SourceError, match="was replaced or changed"):
        sqlanon.rewrite(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT DISTINCT note FROM people").fetchall() == [("new",)]


@pytest.mark.parametrize("target", [{"output": "out.csv"}, {"into": "anonymous"}])
def test_a_view_of_a_file_that_is_replaced_is_not_published(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.parquet"
    write(path, "old")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW people AS FROM '{path}'")
        when_decided(monkeypatch, replaced(path, tmp_path / "other.parquet"))
        with pytest.raises(StalePlanError, match="the table changed"):
            sqlanon.anonymize(connection, POLICY, table="people", **target)
        assert connection.execute("SHOW TABLES").fetchall() == [("people",)]
    assert [file.name for file in tmp_path.iterdir()] == ["people.parquet"]


def test_a_frame_that_is_changed_is_not_published(monkeypatch):
    ages = numpy.arange(20, 220) % 40
    frame = pandas.DataFrame({"age": ages}, copy=False)
    frame["sex"], frame["note"] = "f", "old"

    def act():
        ages[0] += 1

    with duckdb.connect() as connection:
        when_decided(monkeypatch, act)
        with pytest.raises(StalePlanError):
            sqlanon.anonymize(connection, POLICY, table=frame, into="anonymous")


@pytest.mark.parametrize("callback", ["confirm", "progress"])
def test_a_table_that_the_caller_changes_meanwhile_is_not_published(callback):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people AS {query('old')}")
        other = connection.cursor()

        def act(_):
            connection.execute("UPDATE people SET note = note || '!'")

        with pytest.raises(StalePlanError):
            sqlanon.anonymize(
                connection, POLICY, table="people", into="anonymous", **{callback: act}
            )
        assert other.execute("SHOW TABLES").fetchall() == [("people",)]


def test_another_connection_changes_nothing_of_what_is_published(monkeypatch):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people AS {query('old')}")
        other = connection.cursor()
        when_decided(monkeypatch, lambda: other.execute("UPDATE people SET note = 'new'"))
        assert sqlanon.anonymize(connection, POLICY, table="people", into="anonymous").holds
        notes = connection.execute("SELECT DISTINCT note FROM anonymous").fetchall()
        assert notes == [("old",)]


def test_a_saved_plan_is_not_applied_to_a_file_that_changes_meanwhile(tmp_path, monkeypatch):
    path, output = tmp_path / "people.parquet", tmp_path / "out.csv"
    write(path, "old")
    plan = sqlanon.plan(path, POLICY)
    act = replaced(path, tmp_path / "other.parquet")
    after(monkeypatch, "publishing.apply", "refuse_stale", act)
    with pytest.raises(SourceError, match="was replaced or changed"):
        sqlanon.apply(path, plan, output=output)
    assert not output.exists()


def test_a_plan_is_not_made_of_two_tables(tmp_path, monkeypatch):
    path = tmp_path / "people.parquet"
    write(path, "old")
    when_decided(monkeypatch, replaced(path, tmp_path / "other.parquet"))
    with pytest.raises(SourceError, match="was replaced or changed"):
        sqlanon.plan(path, POLICY)


@pytest.mark.parametrize("which", ["original", "released"])
def test_measures_are_not_of_two_tables(tmp_path, monkeypatch, which):
    paths = {name: tmp_path / f"{name}.parquet" for name in ("original", "released")}
    for path in paths.values():
        write(path, "old")
    act = replaced(paths[which], tmp_path / "other.parquet")
    after(monkeypatch, "assessment.measure", "read_release", act)
    with pytest.raises(SourceError, match=f"'{which}.parquet' was replaced or changed"):
        sqlanon.measure(paths["original"], paths["released"], POLICY)


@pytest.mark.parametrize(("ending", "home"), [("csv", "data_files"), ("json", "json_files")])
def test_a_text_file_that_changes_while_it_is_loaded_is_refused(
    tmp_path, monkeypatch, ending, home
):
    path = tmp_path / f"people.{ending}"
    write(path, "old")
    act = replaced(path, tmp_path / f"other.{ending}")
    after(monkeypatch, f"engine.duckdb.{home}", f"read_{ending}", act)
    with pytest.raises(SourceError, match="was replaced or changed"):
        sqlanon.check(path, POLICY)


def test_a_database_stays_locked_while_another_table_of_it_is_read(tmp_path):
    path = tmp_path / "people.duckdb"
    write(path, "old")
    code = "import duckdb, sys; duckdb.connect(sys.argv[1])"
    with open_source(path, read_only=False) as source, second_table(source.engine, path):
        other = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False)
    assert b"lock" in other.stderr


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="the system lists no open files")
def test_no_file_stays_open(tmp_path):
    path = tmp_path / "people.parquet"
    write(path, "old")
    for ending in ("parquet", "csv", "arrow", "duckdb"):
        sqlanon.anonymize(path, POLICY, output=tmp_path / f"out.{ending}")
        sqlanon.measure(path, tmp_path / f"out.{ending}", POLICY)
    held = {str(entry.resolve()) for entry in OPEN_FILES.iterdir()}
    assert not [name for name in held if name.startswith(str(tmp_path))]


UNSTEADY = "the view gives other rows each time that it is read; store its rows in a table first"


def test_a_view_that_gives_other_rows_each_time_is_told_as_that():
    connection = duckdb.connect()
    connection.execute("CREATE VIEW t AS SELECT i % 2 AS a, random() AS x FROM range(9) r (i)")
    policy = Policy(["a"], keep=["x"], models=[KAnonymity(2)])
    with pytest.raises(StalePlanError, match=f"^{UNSTEADY}$"):
        sqlanon.anonymize(connection, policy, table="t", into="o")


def test_a_view_with_as_many_rows_of_the_same_values_each_time_is_told_before_there_is_a_plan():
    connection = duckdb.connect()
    connection.execute("CREATE VIEW t AS SELECT (random() * 9)::INT AS a FROM range(2000)")
    policy = Policy(["a"], models=[KAnonymity(2)])
    with pytest.raises(StalePlanError, match=f"^{UNSTEADY}$"):
        sqlanon.plan(connection, policy, table="t")


def test_a_value_that_has_no_code_when_it_is_read_again_holds_no_model():
    connection = duckdb.connect()
    connection.execute("CREATE VIEW t AS SELECT random() AS a, i % 3 AS s FROM range(2000) r (i)")
    policy = Policy(["a"], sensitive=["s"], models=[KAnonymity(2), LDiversity(2)])
    with pytest.raises(SourceError, match=f"^{UNSTEADY}$"):
        sqlanon.check(connection, policy, table="t")


@pytest.mark.parametrize(
    "view",
    [
        "SELECT i % 90 AS a FROM range(200000) r (i) WHERE i < 100000 * (SELECT 1 + random())",
        "SELECT cast(random() * 1e6 AS INTEGER) AS a FROM range(300)",
    ],
)
def test_other_rows_of_a_view_are_told_wherever_they_are_noticed(view):
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW t AS {view}")
    policy = Policy({"a": Hierarchy.intervals(5, 10)}, models=[KAnonymity(2)])
    with pytest.raises(sqlanon.SqlanonError, match=f"^{UNSTEADY}$"):
        sqlanon.plan(connection, policy, table="t")
    with pytest.raises(sqlanon.SqlanonError, match=f"^{UNSTEADY}$"):
        sqlanon.risk(connection, policy, table="t")


def test_risk_asks_nothing_of_columns_that_it_does_not_read():
    connection = duckdb.connect()
    connection.execute("CREATE VIEW t AS SELECT i % 9 AS a, random() AS x FROM range(90) r (i)")
    policy = Policy(["a"], drop=["x"], models=[KAnonymity(2)])
    assert sqlanon.risk(connection, policy, table="t").statistics.smallest == 10


@pytest.mark.parametrize("beside", ["population", "against"])
def test_a_file_beside_a_database_may_be_read_while_its_place_is_taken(tmp_path, beside):
    path, people = tmp_path / "people.duckdb", tmp_path / "all.parquet"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 2 AS age FROM range(8) AS t(i)")
        connection.execute(f"COPY people TO '{people}'")
    is_compared = beside == "population"
    policy = Policy(
        {"age": Hierarchy.suppression()},
        models=[KMap(2) if is_compared else KAnonymity(2)],
        population=str(people) if is_compared else None,
    )
    against = [] if is_compared else [people]
    assert sqlanon.anonymize(path, policy, in_place=True, against=against).holds
