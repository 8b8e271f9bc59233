"""Targets that cannot be: told before there is any work, and nothing is left of the try."""

import os
from importlib import import_module
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon import KAnonymity, Policy
from sqlanon.cli.main import status
from sqlanon.errors import SqlanonError

pytestmark = pytest.mark.slow

POLICY = Policy(["age", "sex"], models=[KAnonymity(2)], suppression_limit=1)
ROWS = "SELECT range % 5 AS age, 'f' AS sex FROM range(20)"


@pytest.fixture
def unplanned(monkeypatch):
    """No search may begin."""
    home = import_module("sqlanon.publishing.planner")
    monkeypatch.setattr(home, "make_plan", lambda *_, **__: pytest.fail("the search has begun"))


@pytest.fixture
def unread(monkeypatch):
    """No file of data may be loaded."""
    home = import_module("sqlanon.engine.duckdb.data_files")
    monkeypatch.setattr(home, "read_file", lambda *_, **__: pytest.fail("the file is being loaded"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table in each kind of source, and files that are in the way."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("people.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS {ROWS}")
        connection.execute("CREATE TABLE taken AS SELECT 1 AS i")
        connection.execute("CREATE VIEW seen AS FROM people")
        connection.execute("COPY people TO 'people.csv'")
        connection.execute("COPY people TO 'people.parquet'")
    (tmp_path / "there.csv").write_text("keep me")
    (tmp_path / "there.json").write_text("keep me")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "closed").mkdir()
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("source", ["people.csv", "people.parquet", "people.duckdb"])
@pytest.mark.parametrize(
    ("output", "overwrite", "message"),
    [
        ("none/out.csv", False, "there is no folder"),
        ("out.xlsx", False, "no known ending"),
        (".csv", False, "no known ending"),
        ("there.csv", False, "exists already; replace it with overwrite "),
        ("folder.csv", True, "is a folder"),
        ("people.csv", True, "holds the original"),
        ("./folder.csv/../people.parquet", True, "holds the original"),
        ("people.duckdb", True, "holds the original"),
    ],
)
def test_an_output_that_cannot_be_is_told_before_the_source_is_read(
    folder, unplanned, unread, source, output, overwrite, message
):
    if "original" in message and not output.endswith(source):
        overwrite, message = False, "exists already"
    before = contents(folder)
    table = "people" if source.endswith(".duckdb") else None
    with pytest.raises(SqlanonError, match=message):
        sqlanon.anonymize(source, POLICY, table=table, output=output, overwrite=overwrite)
    assert contents(folder) == before


@pytest.mark.parametrize("source", ["people.csv", "people.duckdb"])
def test_an_output_in_a_folder_that_cannot_be_written_is_told_before_the_source_is_read(
    folder, unplanned, unread, monkeypatch, source
):
    def denied(*_given, **_how):
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "mkdir", denied)
    with pytest.raises(SqlanonError, match=r"out.csv' cannot be written: Permission denied"):
        sqlanon.anonymize(source, POLICY, table="people", output="closed/out.csv")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({"into": "taken"}, "exists already"),
        ({"into": "TAKEN"}, "exists already"),
        ({"into": "seen"}, "is a view"),
        ({"into": "seen", "overwrite": True}, "is a view"),
        ({"into": "people", "overwrite": True}, "is the original itself"),
        ({"into": "PEOPLE", "overwrite": True}, "is the original itself"),
        ({"into": 'main."people"', "overwrite": True}, "is the original itself"),
        ({"into": "nowhere.people"}, "there is no schema"),
        ({"into": ""}, "is empty"),
        ({"into": "a", "in_place": True}, "one place alone"),
        ({}, "say where to publish"),
    ],
)
def test_a_table_that_cannot_be_is_told_before_the_search(folder, unplanned, target, message):
    before = contents(folder)
    with pytest.raises(SqlanonError, match=message):
        sqlanon.anonymize("people.duckdb", POLICY, table="people", **target)
    assert contents(folder) == before


@pytest.mark.parametrize("target", [{"into": "anonymous"}, {"in_place": True}])
def test_a_database_open_for_reading_is_told_before_the_search(folder, unplanned, target):
    with (
        duckdb.connect("people.duckdb", read_only=True) as connection,
        pytest.raises(SqlanonError, match="read-only"),
    ):
        sqlanon.anonymize(connection, POLICY, table="people", **target)


def test_itemsets_have_a_place_before_they_are_mined(folder, monkeypatch):
    home = import_module("sqlanon.methods.itemsets")
    monkeypatch.setattr(home, "mined", lambda *_, **__: pytest.fail("the mining has begun"))
    with (
        duckdb.connect("people.duckdb", read_only=True) as connection,
        pytest.raises(SqlanonError, match="read-only"),
    ):
        sqlanon.mine(connection, POLICY, table="people", into="itemsets")


@pytest.mark.parametrize("target", [{"into": "taken"}, {"in_place": True}])
def test_a_file_of_data_takes_no_table_and_is_not_read_to_say_so(folder, unread, target):
    with pytest.raises(SqlanonError, match="is a file, not a database"):
        sqlanon.anonymize("people.csv", POLICY, **target)


def test_a_referenced_original_is_told_before_the_search(folder, unplanned):
    told = "refers to 'people' by a foreign key: 'visits'"
    with duckdb.connect("other.duckdb") as connection:
        connection.execute("CREATE TABLE people (age INT PRIMARY KEY, sex TEXT)")
        connection.execute("CREATE TABLE visits (age INT REFERENCES people (age))")
        connection.execute("INSERT INTO people VALUES (1, 'f')")
        with pytest.raises(SqlanonError, match=told):
            sqlanon.anonymize(connection, POLICY, table="people", in_place=True)
    with pytest.raises(SqlanonError, match=told):
        sqlanon.anonymize("other.duckdb", POLICY, table="people", in_place=True)


def test_a_transaction_that_has_written_elsewhere_is_told_before_the_search(folder, unplanned):
    with duckdb.connect() as connection:
        connection.execute("ATTACH 'people.duckdb' AS home; CREATE TABLE t (i INT); BEGIN")
        connection.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(SqlanonError, match="has written to another database already"):
            sqlanon.anonymize(connection, POLICY, table="home.main.people", into="anonymous")


def test_a_target_that_can_be_leaves_no_trial_behind(folder):
    with duckdb.connect("people.duckdb") as connection:
        connection.execute("BEGIN")
        sqlanon.anonymize(connection, POLICY, table="people", into="anonymous")
        connection.execute("COMMIT")
        tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    assert tables == {"people", "taken", "seen", "anonymous"}


def test_a_saved_plan_is_not_looked_at_before_its_target(folder, monkeypatch):
    plan = sqlanon.plan("people.parquet", POLICY)
    home = import_module("sqlanon.publishing.apply")
    monkeypatch.setattr(home, "refuse_stale", lambda *_, **__: pytest.fail("the source is read"))
    with pytest.raises(SqlanonError, match="exists already"):
        sqlanon.apply("people.parquet", plan, output="there.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--save", "none/plan.json"], "No such file"),
        (["plan", "--save", "folder.csv"], "is a folder"),
        (["plan", "--save", "there.json"], "is not a plan"),
        (["plan", "--sql", "--dialect", "sparc"], "did you mean 'spark'?"),
        (["plan", "--dialect", "spark"], "--dialect belongs to --sql"),
        (["plan", "--into", "x"], "--into belongs to --sql"),
        (["anonymize", "--dry-run", "--output", "there.csv"], "exists already"),
        (["anonymize", "--dry-run", "--output", "none/out.csv"], "there is no folder"),
        (["anonymize", "--output", "none/out.csv"], "there is no folder"),
        (["anonymize", "--into", "anonymous"], "is a file, not a database"),
        (["mine", "--into", "anonymous"], "is a file, not a database"),
    ],
)
def test_the_command_line_tells_before_the_source_is_read(
    folder, unplanned, unread, capsys, words, message
):
    command, *options = words
    before = contents(folder)
    assert status([command, "people.csv", "--qi", "age,sex", "--k", "2", *options]) == 2
    assert message in capsys.readouterr().err
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("there.csv", "exists already"),
        ("none/age.csv", "No such file"),
        ("folder.csv", "is a folder"),
        ("people.csv", "holds the original"),
    ],
)
def test_a_hierarchy_file_that_cannot_be_is_told_before_the_source_is_read(
    folder, unread, capsys, output, message
):
    words = ["hierarchy", "make", "people.csv", "--column", "age", "--hierarchy", "intervals:5,10"]
    assert status([*words, "--output", output]) == 2
    assert message in capsys.readouterr().err


def test_columns_without_a_role_are_told_before_the_source_is_read(folder, monkeypatch):
    home = import_module("sqlanon.engine.duckdb.text_files")
    monkeypatch.setattr(home, "_load", lambda *_, **__: pytest.fail("the source is read"))
    policy = Policy(["age"], models=[KAnonymity(2)])
    with pytest.raises(SqlanonError, match="1 column has no role: 'sex'"):
        sqlanon.anonymize("people.csv", policy, output="out.csv")
