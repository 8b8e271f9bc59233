"""Publishing: where rows go, in whose transaction, and what a failure leaves behind."""

import os
import stat
from collections import Counter
from dataclasses import replace

import duckdb
import pytest
from databases import has_triggers, rows

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import (
    EngineError,
    PolicyError,
    SourceError,
    SqlanonError,
    UnsatisfiableError,
    VerificationError,
)

ENDINGS = (".csv", ".csv.gz", ".parquet", ".arrow", ".duckdb")
PEOPLE = """
    CREATE TABLE people AS
    SELECT 'person ' || i AS name, 20 + (i * 7) % 43 AS age,
           CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex, 'd' || (i % 4) AS diagnosis
    FROM range(120) AS r(i) ORDER BY hash(i)
"""
POLICY = Policy(
    {"age": Hierarchy.intervals(5, 10), "sex": Hierarchy.suppression()},
    sensitive=["diagnosis"],
    identifiers=["name"],
    models=[KAnonymity(4)],
    suppression_limit=0.1,
)
# One 'b' among nine 'a': at k = 3 the least loss suppresses it, and it would stand alone.
LONELY = """
    CREATE TABLE lonely AS SELECT CASE WHEN range = 5 THEN 'b' ELSE 'a' END AS x, range
    FROM range(10)
"""
LETTERS = Policy(
    {"x": Hierarchy.suppression()}, drop=["range"], models=[KAnonymity(3)], suppression_limit=0.1
)


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        opened.execute(PEOPLE)
        yield opened


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute(PEOPLE)
    return path


def names(connection, table):
    return [name for name, *_ in connection.execute(f"DESCRIBE {table}").fetchall()]


def contents(connection):
    """Every table and view of the user, with the number of its rows and their digest."""
    found = connection.execute(
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
        "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal"
    ).fetchall()
    digest = "SELECT count(*), bit_xor(hash(t)) FROM {} AS t"
    return {
        place: connection.execute(digest.format(".".join(f'"{part}"' for part in place))).fetchone()
        for place in found
    }


def settings(connection):
    return connection.execute("SELECT name, value FROM duckdb_settings() ORDER BY name").fetchall()


@pytest.mark.slow
def test_into_has_the_declared_columns_and_satisfies_k_by_a_count_in_python(connection):
    report = sqlanon.anonymize(connection, POLICY, table="people", into="people_anon")
    assert names(connection, "people_anon") == ["age", "sex", "diagnosis"]
    classes = Counter(row[:2] for row in rows(connection, "people_anon"))
    assert min(classes.values()) == report.statistics.smallest >= 4


@pytest.mark.slow
def test_into_keeps_the_sensitive_value_of_every_record(connection):
    policy = Policy(
        {"age": Hierarchy.suppression()}, keep=["name"], others="drop", models=[KAnonymity(120)]
    )
    sqlanon.anonymize(connection, policy, table="people", into="people_anon")
    expected = [("*", name) for (name,) in rows(connection, "(SELECT name FROM people)")]
    assert [(age, name) for name, age in rows(connection, "people_anon")] == sorted(expected)


@pytest.mark.slow
def test_into_with_overwrite_replaces_a_table(connection):
    connection.execute("CREATE TABLE taken AS SELECT 42 AS x")
    sqlanon.anonymize(connection, POLICY, table="people", into="taken", overwrite=True)
    assert names(connection, "taken") == ["age", "sex", "diagnosis"]


@pytest.mark.slow
def test_in_place_replaces_the_table_under_its_name(connection):
    sqlanon.anonymize(connection, POLICY, table="people", into="people_anon")
    sqlanon.anonymize(connection, POLICY, table="people", in_place=True)
    assert rows(connection, "people") == rows(connection, "people_anon")


@pytest.mark.slow
def test_in_place_of_a_temporary_table_replaces_it(connection):
    connection.execute("CREATE TEMP TABLE passing AS SELECT * FROM people")
    connection.execute("DROP TABLE people")
    connection.execute("CREATE TABLE passing AS SELECT 42 AS x")
    sqlanon.anonymize(connection, POLICY, table="temp.passing", in_place=True)
    assert names(connection, "temp.passing") == ["age", "sex", "diagnosis"]
    assert rows(connection, "memory.passing") == [(42,)]


@pytest.mark.slow
def test_in_place_of_a_table_in_memory_has_no_pages_to_warn_of(connection):
    report = sqlanon.anonymize(connection, POLICY, table="people", in_place=True)
    assert not any("sqlanon rewrite" in note for note in report.notes)


@pytest.mark.slow
def test_in_place_in_a_read_only_attached_database_is_an_error(connection, database):
    connection.execute(f"ATTACH '{database}' AS far (READ_ONLY)")
    with pytest.raises(SourceError, match="read-only"):
        sqlanon.anonymize(connection, POLICY, table="far.people", in_place=True)
    assert rows(connection, "(SELECT count(*) FROM far.people)") == [(120,)]


@pytest.mark.slow
def test_in_place_counts_what_is_not_carried_over(connection):
    trigger = (
        "CREATE TRIGGER watch AFTER INSERT ON own FOR EACH STATEMENT INSERT INTO seen VALUES (9)"
    )
    for statement in (
        "CREATE TABLE own (i INTEGER UNIQUE, a VARCHAR NOT NULL DEFAULT 'x' CHECK (a <> ''))",
        "INSERT INTO own SELECT range, 'a' FROM range(4)",
        "CREATE INDEX by_a ON own (a)",
        "CREATE TABLE seen (i INTEGER)",
        *([trigger] if has_triggers() else []),
        "COMMENT ON TABLE own IS 'MARK'",
        "COMMENT ON COLUMN own.a IS 'MARK'",
    ):
        connection.execute(statement)
    policy = Policy(["a"], drop=["i"], models=[KAnonymity(4)])
    report = sqlanon.anonymize(connection, policy, table="own", in_place=True)
    assert [note for note in report.notes if "of the original" in note] == [
        "3 constraints of the original are not carried over: "
        "CHECK on 'a', NOT NULL on 'a', UNIQUE on 'i'",
        "1 column default of the original is not carried over: 'a'",
        "1 index of the original is not carried over: 'by_a'",
        *(["1 trigger of the original is not carried over: 'watch'"] if has_triggers() else []),
        "2 comments of the original are not carried over",
    ]
    assert not any("may quote" in note for note in report.notes)


@pytest.mark.slow
@pytest.mark.parametrize("target", [{"into": "out"}, {"in_place": True}])
def test_a_plan_that_is_not_confirmed_is_not_carried_out(connection, target):
    before, shown = contents(connection), []

    def refuse(plan):
        shown.append(plan.report.levels)
        raise SqlanonError("no")

    with pytest.raises(SqlanonError, match="no"):
        sqlanon.anonymize(connection, POLICY, table="people", confirm=refuse, **target)
    plan = sqlanon.plan(connection, POLICY, table="people")
    with pytest.raises(SqlanonError, match="no"):
        sqlanon.apply(connection, plan, confirm=refuse, **target)
    assert shown == [plan.report.levels] * 2
    assert contents(connection) == before


@pytest.mark.slow
def test_a_plan_is_confirmed_knowing_what_is_not_carried_over(connection):
    connection.execute("COMMENT ON TABLE people IS 'MARK'")
    shown = []
    sqlanon.anonymize(connection, POLICY, table="people", in_place=True, confirm=shown.append)
    assert "1 comment of the original is not carried over" in shown[0].to_text()


@pytest.mark.parametrize(
    ("name", "target"), [("shown", {"in_place": True}), ("people", {"into": "shown"})]
)
def test_a_place_that_cannot_be_is_refused_before_the_search(connection, name, target):
    connection.execute("CREATE VIEW shown AS SELECT * FROM people")
    searched = []
    with pytest.raises(SourceError):
        sqlanon.anonymize(connection, POLICY, table=name, progress=searched.append, **target)
    assert searched == []


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_output_file_holds_the_rows_that_into_would(connection, tmp_path, ending):
    before, file = contents(connection), tmp_path / f"people{ending}"
    report = sqlanon.anonymize(connection, POLICY, table="people", output=file)
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert contents(connection) == before
    sqlanon.anonymize(connection, POLICY, table="people", into="people_anon")
    policy = Policy(["age"], keep=["sex", "diagnosis"], models=[KAnonymity(1)])
    with duckdb.connect() as reading:
        if ending == ".duckdb":
            reading.execute(f"ATTACH '{file}' AS written")
            found = rows(reading, "written.people")
        elif ending == ".arrow":
            sqlanon.anonymize(file, policy, output=tmp_path / "again.csv")
            found = rows(reading, f"read_csv('{tmp_path / 'again.csv'}')")
        else:
            found = rows(reading, f"'{file}'")
    assert found == rows(connection, "people_anon")
    assert report.output == str(file)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_output_file_has_the_classes_and_values_of_its_texts(connection, tmp_path, ending):
    connection.execute(
        """CREATE TABLE spelt AS SELECT * FROM (VALUES
            ('1', '1.0', 2.5), ('1', '1.00', 0.5), ('1.0', '7', 2.5), ('1.0', ' 7', 0.5)
        ) AS t(grade, answer, nan)"""
    )
    policy = Policy(
        ["grade"],
        sensitive=["answer"],
        keep=["nan"],
        models=[KAnonymity(2), LDiversity(2)],
    )
    path = tmp_path / f"out{ending}"
    report = sqlanon.anonymize(connection, policy, table="spelt", output=path)
    found = sqlanon.check(path, policy)
    assert (found.statistics, found.models) == (report.statistics, report.models)


@pytest.mark.slow
@pytest.mark.parametrize("target", [{"into": "people_anon"}, {"in_place": True}])
@pytest.mark.parametrize("planned", [True, False])
def test_callers_transaction_is_joined_and_his_rollback_undoes_all(connection, target, planned):
    before = contents(connection)
    connection.execute("BEGIN")
    number = connection.execute("SELECT txid_current()").fetchone()
    if planned:
        plan = sqlanon.plan(connection, POLICY, table="people")
        sqlanon.apply(connection, plan, **target)
    else:
        sqlanon.anonymize(connection, POLICY, table="people", **target)
    assert connection.execute("SELECT txid_current()").fetchone() == number
    connection.rollback()
    assert contents(connection) == before


@pytest.mark.slow
def test_callers_transaction_sees_his_own_uncommitted_records(connection):
    connection.execute("BEGIN")
    connection.execute("INSERT INTO people SELECT * FROM people")
    report = sqlanon.anonymize(connection, POLICY, table="people", into="people_anon")
    connection.commit()
    assert report.records == 240
    assert len(rows(connection, "people_anon")) == 240 - report.suppressed_records


@pytest.mark.slow
def test_without_a_transaction_none_is_left_open(connection):
    sqlanon.anonymize(connection, POLICY, table="people", into="people_anon")
    connection.execute("BEGIN")
    connection.rollback()
    assert names(connection, "people_anon")


def failures():
    """Calls that fail at different stages, each with the error that it deserves."""
    strict = Policy({"x": Hierarchy.suppression()}, drop=["range"], models=[KAnonymity(11)])
    bounded = Policy(
        {"x": sqlanon.QuasiIdentifier(Hierarchy.suppression(), max_level=0)},
        drop=["range"],
        models=[KAnonymity(3)],
    )
    raising = Policy(
        {"x": Hierarchy.expressions("CAST(value AS INTEGER)")},
        drop=["range"],
        models=[KAnonymity(3)],
    )
    return [
        pytest.param(strict, PolicyError, id="binding"),
        pytest.param(bounded, UnsatisfiableError, id="search"),
        pytest.param(raising, SqlanonError, id="expression"),
    ]


@pytest.mark.parametrize("target", [{"into": "out"}, {"in_place": True}, {"output": "out.csv"}])
@pytest.mark.parametrize(("policy", "error"), failures())
def test_failure_writes_nothing_and_drops_its_temporaries(
    connection, tmp_path, monkeypatch, target, policy, error
):
    monkeypatch.chdir(tmp_path)
    connection.execute(LONELY)
    before = contents(connection), settings(connection)
    with pytest.raises(error):
        sqlanon.anonymize(connection, policy, table="lonely", **target)
    assert (contents(connection), settings(connection)) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("expression", ["CAST(value AS INTEGER)", "no_such_function(value)"])
def test_an_expression_that_fails_says_what_became_of_the_callers_transaction(
    connection, expression
):
    connection.execute(LONELY)
    policy = Policy(
        {"x": Hierarchy.expressions(expression)}, drop=["range"], models=[KAnonymity(3)]
    )
    with pytest.raises(SqlanonError) as alone:
        sqlanon.plan(connection, policy, table="lonely")
    connection.execute("BEGIN")
    with pytest.raises(type(alone.value)) as joined:
        sqlanon.plan(connection, policy, table="lonely")
    told = "; your open transaction has failed with it; end it with ROLLBACK"
    assert str(joined.value) == str(alone.value) + told
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT count(*) FROM lonely").fetchall() == [(10,)]


def test_an_error_that_leaves_the_callers_transaction_open_says_nothing_of_it(connection):
    connection.execute(LONELY + "; BEGIN")
    with pytest.raises(PolicyError) as caught:
        sqlanon.plan(connection, Policy(["x"], models=[KAnonymity(11)]), table="lonely")
    assert "transaction" not in str(caught.value)
    connection.execute("COMMIT")


def broken_plan(connection):
    """A plan that promises what its levels do not keep, as an edited plan file may."""
    plan = sqlanon.plan(connection, LETTERS, table="lonely")
    return replace(plan, report=replace(plan.report, suppressed_records=0))


@pytest.mark.parametrize("target", [{"into": "out"}, {"in_place": True}, {"output": "out.csv"}])
@pytest.mark.parametrize("within", [True, False])
def test_failed_verification_writes_nothing_even_if_the_caller_commits(
    connection, tmp_path, monkeypatch, target, within
):
    monkeypatch.chdir(tmp_path)
    connection.execute(LONELY)
    plan, before = broken_plan(connection), contents(connection)
    if within:
        connection.execute("BEGIN")
    with pytest.raises(VerificationError) as caught:
        sqlanon.apply(connection, plan, **target)
    if within:
        connection.commit()
    assert caught.value.exit_code == 1
    assert contents(connection) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("within", [True, False])
def test_failed_verification_leaves_the_table_that_was_to_be_overwritten(connection, within):
    connection.execute(LONELY)
    connection.execute("CREATE TABLE out AS SELECT 42 AS x")
    plan = broken_plan(connection)
    if within:
        connection.execute("BEGIN")
    with pytest.raises(VerificationError):
        sqlanon.apply(connection, plan, into="out", overwrite=True)
    if within:
        connection.commit()
    assert rows(connection, "out") == [(42,)]


def test_suppressed_records_are_kept_only_in_a_class_that_satisfies_k(connection):
    """One suppressed record would stand alone among the kept ones; the top level does not."""
    connection.execute(LONELY)
    policy = replace(LETTERS, suppressed="keep")
    sqlanon.anonymize(connection, policy, table="lonely", into="out")
    assert rows(connection, "out") == [("*",)] * 10


@pytest.mark.slow
@pytest.mark.parametrize("target", [{"into": "out"}, {"in_place": True}, {"output": "out.parquet"}])
def test_success_changes_no_setting_of_the_caller(connection, tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    connection.execute("SET threads = 1")
    before = settings(connection)
    sqlanon.anonymize(connection, POLICY, table="people", **target)
    assert settings(connection) == before


MARKED = """
    CREATE TABLE people AS
    SELECT 'MARK person ' || i AS name, 20 + (i * 7) % 43 AS age,
           CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex, 'd' || (i % 4) AS diagnosis
    FROM range(120) AS r(i);
    CREATE SEQUENCE numbers START 7;
    CREATE TABLE numbered (i INTEGER PRIMARY KEY DEFAULT nextval('numbers'), n VARCHAR);
    CREATE TABLE child (i INTEGER REFERENCES numbered (i));
    INSERT INTO numbered (n) VALUES ('kept'); INSERT INTO child VALUES (7);
    CREATE VIEW counted AS SELECT count(*) AS records FROM people;
    CREATE VIEW aged AS SELECT age FROM people WHERE age = 20;
    ALTER TABLE people ALTER sex SET DEFAULT 'MARK DEFAULT';
    COMMENT ON COLUMN people.sex IS 'MARK COMMENT';
    CREATE INDEX by_name ON people (name);
"""


@pytest.fixture
def marked(tmp_path):
    """A database file whose table has marks in cells, a default and a comment."""
    path = tmp_path / "home" / "marked.duckdb"
    path.parent.mkdir()
    with duckdb.connect(str(path)) as opened:
        opened.execute("SET force_compression = 'uncompressed'")
        opened.execute(MARKED)
    return path


def bytes_of(folder):
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.slow
def test_in_place_of_a_file_leaves_no_mark_and_keeps_all_else(marked):
    marked.chmod(0o640)
    assert b"MARK" in marked.read_bytes()
    report = sqlanon.anonymize(marked, POLICY, table="people", in_place=True)
    assert b"MARK" not in bytes_of(marked.parent)
    assert [file.name for file in marked.parent.iterdir()] == [marked.name]
    assert stat.S_IMODE(marked.stat().st_mode) == 0o640
    with duckdb.connect(str(marked)) as opened:
        assert names(opened, "people") == ["age", "sex", "diagnosis"]
        assert rows(opened, "counted") == [(report.statistics.records,)]
        made = opened.execute("INSERT INTO numbered (n) VALUES ('new') RETURNING i").fetchall()
        assert made == [(8,)]
        with pytest.raises(duckdb.ConstraintException):
            opened.execute("INSERT INTO child VALUES (99)")
    assert sqlanon.check(marked, POLICY, table="people").holds
    assert [note for note in report.notes if "original" in note or "quote" in note] == [
        "1 column default of the original is not carried over: 'sex'",
        "1 index of the original is not carried over: 'by_name'",
        "1 comment of the original is not carried over",
        "kept as they are, and may quote values: 1 view with constants: 'aged'",
        "kept as they are, and may quote values: 1 table with column defaults or generated "
        "columns that hold constants: 'numbered'",
    ]
    assert not any("rewrite" in note for note in report.notes)


@pytest.mark.slow
def test_in_place_of_a_file_publishes_the_rows_of_into(marked):
    sqlanon.anonymize(marked, POLICY, table="people", into="beside")
    sqlanon.apply(marked, sqlanon.plan(marked, POLICY, table="people"), in_place=True)
    with duckdb.connect(str(marked)) as opened:
        assert rows(opened, "people") == rows(opened, "beside")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "failure"),
    [("_copy_schema", OSError(28, "No space left on device")), ("sync", KeyboardInterrupt())],
)
def test_in_place_that_fails_early_or_late_leaves_the_file_untouched(
    marked, tmp_path, monkeypatch, step, failure
):
    before = marked.read_bytes()
    spill = tmp_path / "spill"
    spill.mkdir()

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(f"sqlanon.engine.duckdb.rewrite.{step}", fail)
    raised = KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else EngineError
    with pytest.raises(raised):
        sqlanon.anonymize(marked, POLICY, table="people", in_place=True, temp_directory=spill)
    assert marked.read_bytes() == before
    assert [file.name for file in marked.parent.iterdir()] == [marked.name]
    assert list(spill.iterdir()) == []


@pytest.mark.slow
def test_in_place_that_fails_its_verification_leaves_the_file_untouched(tmp_path):
    path = tmp_path / "lonely.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute(LONELY)
    plan = broken_plan(path)
    before = path.read_bytes()
    with pytest.raises(VerificationError):
        sqlanon.apply(path, plan, in_place=True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_in_place_of_a_file_with_a_second_name_is_refused_before_the_search(marked):
    os.link(marked, marked.with_name("second.duckdb"))
    before, searched = marked.read_bytes(), []
    with pytest.raises(SourceError, match="hard links"):
        sqlanon.anonymize(marked, POLICY, table="people", in_place=True, progress=searched.append)
    assert marked.read_bytes() == before
    assert searched == []


@pytest.mark.slow
def test_in_place_takes_the_log_with_originals_away(tmp_path):
    path = tmp_path / "logged.duckdb"
    with duckdb.connect(str(path), config={"wal_autocheckpoint": "1TB"}) as opened:
        opened.execute("PRAGMA disable_checkpoint_on_shutdown")
        opened.execute(MARKED)
    assert b"MARK" in (tmp_path / "logged.duckdb.wal").read_bytes()
    sqlanon.anonymize(path, POLICY, table="people", in_place=True)
    assert b"MARK" not in bytes_of(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
def test_in_place_uses_macros_of_the_database(marked):
    with duckdb.connect(str(marked)) as opened:
        opened.execute("CREATE MACRO decade(year) AS year // 10 * 10")
    ages = Hierarchy.expressions("decade(value)")
    policy = Policy({"age": ages}, keep=["sex"], others="drop", models=[KAnonymity(4)])
    sqlanon.anonymize(marked, policy, table="people", in_place=True)
    assert sqlanon.check(marked, policy, table="people").holds
