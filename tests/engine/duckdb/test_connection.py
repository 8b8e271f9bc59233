"""The DuckDB engine: running, loading, resolving names, transactions, errors."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import traceback

import duckdb
import pandas
import polars
import pyarrow
import pytest
import sqlglot
from databases import need_types_of
from sqlglot import exp

import sqlanon
from sqlanon.engine.duckdb.catalog import qualified, split
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import EngineError, SourceError
from sqlanon.sqltext import expression

TEXT = type_of("VARCHAR")
HOSTILE = ['a"b', "x; DROP TABLE t", "select", "with space", "new\nline", "Ünï çode", "a.b.c", "'"]


def parse(text):
    return sqlglot.parse_one(text, dialect="duckdb")


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        yield DuckDB(connection)


def test_parameters_are_bound_anew(engine):
    query = parse("SELECT CAST(? AS INT) + 1")
    assert [engine.rows(query, [number]) for number in (1, 2)] == [[(2,)], [(3,)]]


def test_numbers_are_columns_whose_nulls_are_negative(engine):
    query = parse("SELECT * FROM (VALUES (1, 2), (NULL, 3)) AS t (a, b) ORDER BY b")
    found = engine.numbers(query)
    assert {name: values.tolist() for name, values in found.items()} == {"a": [1, -1], "b": [2, 3]}
    assert {values.dtype.name for values in found.values()} == {"int64"}


def test_an_error_names_the_table_that_was_to_be_made(engine):
    text = "CREATE TABLE {{ table }} AS SELECT 1 AS a"
    made = expression(text, table=exp.to_table('"new ""one"""'))
    engine.run(made)
    with pytest.raises(SourceError, match="could not create 'new \"one\"': something of that name"):
        engine.run(made)


@pytest.mark.slow
def test_rows_do_not_import_pyarrow():
    code = (
        "import sys, duckdb; from sqlanon.engine.duckdb.connection import DuckDB;"
        "from sqlglot import exp;"
        "assert DuckDB(duckdb.connect()).rows(exp.select('1')) == [(1,)];"
        "assert not {'pyarrow', 'pandas', 'numpy', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_fetch_returns_an_arrow_table(engine):
    assert engine.fetch(parse("SELECT 1 AS n")).to_pydict() == {"n": [1]}


def test_load_keeps_values_nulls_and_hostile_names(engine):
    for number, name in enumerate(HOSTILE):
        table = engine.load_rows(f"t{number}", {name: [None, "a", "it's"]}, {name: TEXT})
        assert engine.columns(table) == {name: TEXT}
        assert engine.rows(exp.select("*").from_(table)) == [(None,), ("a",), ("it's",)]


def test_load_copes_with_empty_lists_and_all_nulls(engine):
    decimal = type_of("DECIMAL(10,2)")
    empty = engine.load_rows("empty", {"a": [], "b": []}, {"b": TEXT})
    nulls = engine.load_rows("nulls", {"a": [None, None]}, {"a": decimal})
    assert engine.rows(exp.select("*").from_(empty)) == []
    assert engine.rows(exp.select("*").from_(nulls)) == [(None,), (None,)]
    assert engine.columns(empty) == {"a": type_of("BIGINT"), "b": TEXT}
    assert engine.columns(nulls) == {"a": decimal}


@pytest.mark.slow
def test_load_takes_a_million_rows(engine):
    columns = {"a": range(1_000_000), "b": ["x", None] * 500_000}
    table = engine.load_rows("big", columns, {"b": TEXT})
    total = parse("SELECT count(*), count(b), CAST(sum(a) AS BIGINT) FROM t")
    total.find(exp.Table).replace(table)
    assert engine.rows(total) == [(1_000_000, 500_000, 499_999_500_000)]


def test_load_refuses_a_type_of_no_column(engine):
    with pytest.raises(EngineError, match="1 column of 1 length for 1 type"):
        engine.load_rows("t", {"a": [1]}, {"b": TEXT})


def test_materialize_writes_the_rows_of_a_query_under_a_fresh_name(engine):
    query = exp.select(exp.cast(exp.Placeholder(), "INT").as_("n"))
    one, other = (engine.materialize("n", query.copy(), parameters=[n]) for n in (1, 2))
    assert one != other
    assert [engine.rows(exp.select("n").from_(table)) for table in (one, other)] == [
        [(1,)],
        [(2,)],
    ]
    engine.tables.drop(one)
    assert [engine.tables.exists(table) for table in (one, other)] == [False, True]


@pytest.mark.parametrize(
    "text",
    ["HUGEINT", "TIMESTAMP WITH TIME ZONE", "INTEGER[3]", 'STRUCT("a b" INTEGER, c VARCHAR[])',
     "UNION(a INTEGER, b VARCHAR)", "ENUM('a', 'it''s')", "BIGNUM", "VARIANT"],
)  # fmt: skip
def test_columns_have_the_type_that_the_table_has(engine, text):
    need_types_of(text)
    engine.connection.execute(f"CREATE TABLE t (x {text})")
    found = engine.columns(qualified("memory", "main", "t"))
    assert found == {"x": type_of(text)}
    engine.connection.execute(f"CREATE TABLE again (x {found['x'].sql('duckdb')})")
    assert engine.columns(qualified("memory", "main", "again")) == found


@pytest.mark.parametrize("name", HOSTILE)
def test_resolve_takes_a_hostile_name_as_it_stands(engine, name):
    table = qualified("memory", "main", name)
    engine.run(exp.Create(this=table, kind="TABLE", expression=exp.select("1 AS i")))
    assert engine.tables.resolve(name) == table
    assert engine.rows(exp.select("*").from_(engine.tables.resolve(name))) == [(1,)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("people", ("memory", "main", "people")),
        ("PEOPLE", ("memory", "main", "people")),
        ('"people"', ("memory", "main", "people")),
        ("main.people", ("memory", "main", "people")),
        ("memory.main.people", ("memory", "main", "people")),
        ("s.people", ("memory", "s", "people")),
        ("attached.people", ("attached", "main", "people")),
        ("attached.deep.inner", ("attached", "deep", "inner")),
        ('attached."deep"."inner"', ("attached", "deep", "inner")),
        ("seen", ("memory", "main", "seen")),
        ("dotted.name", ("memory", "main", "dotted.name")),
        ('main."dotted.name"', ("memory", "main", "dotted.name")),
        ("scratch", ("temp", "main", "scratch")),
    ],
)
def test_resolve_finds(engine, name, expected):
    engine.connection.execute(
        "CREATE TABLE people (i INT); CREATE SCHEMA s; CREATE TABLE s.people (i INT);"
        "ATTACH ':memory:' AS attached; CREATE TABLE attached.people (i INT);"
        "CREATE SCHEMA attached.deep; CREATE TABLE attached.deep.inner (i INT);"
        'CREATE VIEW seen AS FROM people; CREATE TABLE "dotted.name" (i INT);'
        "CREATE TEMP TABLE scratch (i INT)"
    )
    assert engine.tables.resolve(name) == qualified(*expected)


def test_resolve_follows_the_search_path(engine):
    engine.connection.execute(
        'CREATE SCHEMA "a,b"; CREATE TABLE "a,b".t (i INT); SET search_path = \'"a,b",main\''
    )
    assert engine.tables.resolve("t") == qualified("memory", "a,b", "t")


def test_resolve_refuses_a_name_that_fits_two_tables(engine):
    engine.connection.execute(
        "CREATE SCHEMA x; CREATE TABLE x.t (i INT); ATTACH ':memory:' AS x; "
        "CREATE TABLE x.main.t (i INT)"
    )
    with pytest.raises(SourceError, match="fits 2 tables"):
        engine.tables.resolve("x.t")


def test_resolve_names_near_tables_and_their_count(engine):
    engine.connection.execute("CREATE TABLE people (i INT); CREATE TABLE other (i INT)")
    with pytest.raises(SourceError) as raised:
        engine.tables.resolve("peple")
    assert str(raised.value) == "there is no table 'peple' among 2 tables; near it: 'people'"


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame({"i": [1, 2]}),
        polars.DataFrame({"i": [1, 2]}),
        polars.LazyFrame({"i": [1, 2]}),
        pyarrow.table({"i": [1, 2]}),
    ],
    ids=["pandas", "polars", "lazy", "arrow"],
)
def test_resolve_registers_a_frame_until_release(engine, frame):
    table = engine.tables.resolve(frame)
    query = exp.select("*").from_(table)
    assert engine.rows(query) == engine.rows(query) == [(1,), (2,)]
    engine.release()
    assert engine.tables.catalog().entries == ()


def test_resolve_takes_an_arrow_reader_that_is_scanned_twice(engine):
    query = exp.select("*").from_(engine.tables.resolve(pyarrow.table({"i": [1]}).to_reader()))
    assert engine.rows(query) == engine.rows(query) == [(1,)]


def test_resolve_finds_a_relation_and_a_registered_frame(engine):
    engine.connection.register("mine", pyarrow.table({"i": [7]}))
    relation = engine.connection.sql("SELECT 8 AS i")
    tables = map(engine.tables.resolve, ("mine", relation))
    found = [engine.rows(exp.select("*").from_(table)) for table in tables]
    assert found == [[(7,)], [(8,)]]


def test_resolve_finds_a_variable_of_the_calling_code(engine):
    local_frame = pyarrow.table({"i": [3]})
    assert engine.rows(exp.select("*").from_(engine.tables.resolve("local_frame"))) == [(3,)]
    del local_frame


def test_resolve_leaves_variables_alone_where_duckdb_does(engine):
    local_frame = pyarrow.table({"i": [3]})
    engine.connection.execute("SET python_enable_replacements = false")
    with pytest.raises(SourceError, match="no table"):
        engine.tables.resolve("local_frame")
    del local_frame


def test_resolve_refuses_what_is_no_table(engine):
    with pytest.raises(SourceError, match="a dict is not a table"):
        engine.tables.resolve({"i": [1]})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        ('a."b.c"', ["a", "b.c"]),
        ('"x""y"', ['x"y']),
        ("a.b.c", ["a", "b", "c"]),
        ("a.b.c.d", None),
        ("a..b", None),
        ("", None),
    ],
)
def test_split(text, parts):
    assert split(text) == parts


def test_target_goes_beside_the_source(engine):
    engine.connection.execute("CREATE SCHEMA s; ATTACH ':memory:' AS other")
    source = qualified("memory", "s", "people")
    assert engine.tables.target("new", source) == qualified("memory", "s", "new")
    assert engine.tables.target("x; DROP", source) == qualified("memory", "s", "x; DROP")
    assert engine.tables.target("main.new", source) == qualified("memory", "main", "new")
    assert engine.tables.target("other.new", source) == qualified("other", "main", "new")
    assert engine.tables.target('"a.b"', source) == qualified("memory", "s", "a.b")
    scratch = qualified("temp", "main", "x")
    assert engine.tables.target("new", scratch) == qualified("memory", "main", "new")
    with pytest.raises(SourceError, match="no schema 'nope'"):
        engine.tables.target("nope.new", source)


def test_exists_and_base_table(engine):
    engine.connection.execute("CREATE TABLE t (i INT); CREATE VIEW v AS FROM t")
    table, view, none = (qualified("memory", "main", name) for name in ("T", "v", "none"))
    assert [engine.tables.exists(one) for one in (table, view, none)] == [True, True, False]
    assert [engine.tables.is_base_table(one) for one in (table, view, none)] == [True, False, False]
    assert not engine.tables.exists(engine.tables.beside(table))


def test_transaction_commits_and_rolls_back(engine):
    create = parse("CREATE TABLE t (i INT)")

    def interrupted():
        with engine.transaction():
            engine.run(create)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not engine.tables.catalog().entries
    with engine.transaction():
        engine.run(create)
        assert not engine.in_callers_transaction
    assert len(engine.tables.catalog().entries) == 1


def test_transaction_joins_the_callers_and_leaves_its_end_alone(engine):
    assert not engine.in_callers_transaction
    engine.connection.begin()
    assert engine.in_callers_transaction
    with engine.transaction():
        engine.run(parse("CREATE TABLE t (i INT)"))
    with pytest.raises(ValueError, match="mine"), engine.transaction():
        raise ValueError("mine")
    assert engine.in_callers_transaction
    engine.connection.rollback()
    assert not engine.tables.catalog().entries


def test_transactions_nest(engine):
    def nested():
        with engine.transaction():
            with engine.transaction():
                engine.run(parse("CREATE TABLE t (i INT)"))
            raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        nested()
    assert not engine.tables.catalog().entries


def test_a_failed_statement_rolls_our_transaction_back(engine):
    with pytest.raises(EngineError), engine.transaction():
        engine.run(parse("CREATE TABLE t AS SELECT CAST('Alice' AS INT)"))
    assert engine.rows(parse("SELECT 1")) == [(1,)]


def test_a_failed_transaction_of_the_caller_is_told(engine):
    engine.connection.begin()
    with pytest.raises(duckdb.Error):
        engine.connection.execute("SELECT CAST('x' AS INT)")
    with pytest.raises(EngineError, match="roll it back first"), engine.transaction():
        pass


def test_workspace_drops_what_was_named_inside(engine):
    outer = engine.load_rows("outer", {"a": [1]})

    def work():
        with engine.workspace():
            engine.load_rows("inner", {"a": [1]})
            engine.temporary("never_created")
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        work()
    assert [entry.name for entry in engine.tables.catalog().entries] == [outer.name]
    engine.release()
    assert engine.tables.catalog().entries == ()


def test_two_engines_on_one_connection_do_not_collide(engine):
    second = DuckDB(engine.connection)
    assert engine.temporary("x") != second.temporary("x")


@pytest.mark.parametrize(
    ("statement", "kind", "message"),
    [
        ("SELECT CAST('Alice Smith' AS INT)", EngineError, "does not fit"),
        ("SELECT * FROM nowhere", SourceError, "does not exist"),
        ("SELECT nowhere FROM parent", SourceError, "column that it names"),
        ("DROP TABLE parent", SourceError, "foreign key of another table"),
        ("DELETE FROM parent", EngineError, "foreign key"),
        ("CREATE TABLE parent (i INT)", SourceError, "create 'parent'.*exists already"),
        ("INSERT INTO parent VALUES (4242)", EngineError, "insert into 'parent'.*constraint"),
        ("SELECT error('Alice Smith')", EngineError, "run a query"),
    ],
)
def test_errors_quote_no_value(engine, statement, kind, message):
    engine.connection.execute(
        "CREATE TABLE parent (i INT PRIMARY KEY); INSERT INTO parent VALUES (4242);"
        "CREATE TABLE child (i INT REFERENCES parent (i)); INSERT INTO child VALUES (4242)"
    )
    with pytest.raises(kind, match=message) as raised:
        engine.run(parse(statement))
    shown = "".join(traceback.format_exception(raised.value))
    assert raised.value.__context__ is None
    assert "Alice" not in str(raised.value)
    assert "4242" not in str(raised.value)
    assert "Conversion Error" not in shown


def test_out_of_memory_says_what_helps(engine):
    engine.connection.execute("SET memory_limit = '20MB'; SET max_temp_directory_size = '0B'")
    with pytest.raises(EngineError, match="--memory-limit"):
        engine.rows(parse("SELECT list(i) FROM range(10000000) AS t(i)"))


@pytest.mark.slow
@pytest.mark.parametrize("member", ["run", "rows", "fetch"])
def test_ctrl_c_interrupts_a_long_query(engine, member):
    query = parse(
        "SELECT count(*) FROM range(1000000) AS a(i), range(1000000) AS b(j) WHERE i * j % 7 = 3"
    )
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            getattr(engine, member)(query)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert engine.rows(parse("SELECT 1")) == [(1,)]


@pytest.mark.slow
def test_no_call_keeps_a_connection_open_after_it(tmp_path):
    """A cycle would hold a file's lock until the garbage is collected."""
    policy = sqlanon.Policy(["a"], models=[sqlanon.KAnonymity(2)], others="drop")
    gc.collect()
    gc.disable()
    try:
        connection = duckdb.connect(str(tmp_path / "held.duckdb"))
        connection.execute("CREATE TABLE people AS SELECT range % 3 AS a FROM range(12)")
        before = sys.getrefcount(connection)
        plan = sqlanon.plan(connection, policy, table="people")
        sqlanon.apply(connection, plan, into="published")
        sqlanon.check(connection, policy, table="published")
        sqlanon.measure(connection, "published", policy, table="people")
        assert sys.getrefcount(connection) == before
    finally:
        gc.enable()
