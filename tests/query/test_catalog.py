"""The catalog of hierarchies, executed in DuckDB."""

from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.hierarchy import store as catalog

SCHEMA = Path(__file__).parents[2] / "sql" / "duckdb" / "hierarchies.sql"
STAGING = exp.to_table('"staging"')
HOSTILE = 'x\'; DROP TABLE "t"; -- Ünï'


@pytest.fixture
def connection():
    connection = duckdb.connect()
    connection.execute(SCHEMA.read_text("utf-8"))
    return connection


def rows(connection, query):
    return connection.execute(query.sql(dialect="duckdb", identify=False)).fetchall()


def store(connection, name, hierarchy):
    staging = None
    if hierarchy.rows is not None:
        columns, types = catalog.staged(hierarchy.rows)
        kinds = {column: kind.sql("duckdb") for column, kind in types.items()}
        named = ", ".join(f'"{column}" {kinds.get(column, "BIGINT")}' for column in columns)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE staging ({named})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(
            f"INSERT INTO staging VALUES ({marks})", list(zip(*columns.values(), strict=True))
        )
        staging = STAGING
    connection.begin()
    for statement in catalog.store_hierarchy(name, hierarchy, staging=staging):
        connection.execute(statement.sql(dialect="duckdb"))
    connection.commit()


def load(connection, name):
    ((kind, specification),) = rows(connection, catalog.stored_hierarchy(name))
    paths = [path for (path,) in rows(connection, catalog.stored_paths(name))]
    return catalog.restored(kind, specification, paths=paths)


def test_catalog_is_absent_until_created(connection):
    assert rows(duckdb.connect(), catalog.catalog_tables()) == []
    assert len(rows(connection, catalog.catalog_tables())) == 2


def test_creating_twice_keeps_what_is_stored(connection):
    store(connection, "age", Hierarchy.intervals(5))
    connection.execute(SCHEMA.read_text("utf-8"))
    assert load(connection, "age") == Hierarchy.intervals(5)


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.suppression(),
        Hierarchy.intervals("0.1", 1, low=-2),
        Hierarchy.prefix(3, 2, mask="'"),
        Hierarchy.expressions("upper(value) || 'é'"),
        Hierarchy.from_rows([("b", "x'", "*"), (None, None, "*"), ("a", "y", "*")], name="c.csv"),
    ],
)
@pytest.mark.parametrize("name", ["age", HOSTILE])
def test_stored_hierarchy_comes_back_as_it_was(connection, hierarchy, name):
    store(connection, name, hierarchy)
    assert load(connection, name) == hierarchy


def test_storing_again_replaces(connection):
    store(connection, "age", Hierarchy.from_rows([("1", "*")]))
    store(connection, "age", Hierarchy.from_rows([("2", "x", "*")]))
    assert load(connection, "age").rows == (("2", "x", "*"),)
    store(connection, "age", Hierarchy.intervals(5))
    assert load(connection, "age") == Hierarchy.intervals(5)
    assert rows(connection, catalog.stored_paths("age")) == []


def test_listing_names_kind_height_and_leaves(connection):
    store(connection, "zip", Hierarchy.prefix(3))
    store(connection, "age", Hierarchy.from_rows([("1", "x", "*"), ("2", "x", "*")]))
    listed = rows(connection, catalog.stored_hierarchies())
    assert [(name, kind, height, leaves) for name, kind, _, height, leaves in listed] == [
        ("age", "rows", 2, 2),
        ("zip", "prefix", 2, None),
    ]


def test_deleting_removes_one_hierarchy(connection):
    store(connection, HOSTILE, Hierarchy.from_rows([("1", "*")]))
    store(connection, "age", Hierarchy.from_rows([("1", "*")]))
    for statement in catalog.delete_hierarchy(HOSTILE):
        connection.execute(statement.sql(dialect="duckdb"))
    assert rows(connection, catalog.stored_hierarchy(HOSTILE)) == []
    assert rows(connection, catalog.stored_paths(HOSTILE)) == []
    assert load(connection, "age").height == 1


def test_references_are_not_stored_and_staging_fits_the_kind():
    with pytest.raises(HierarchyError, match="must be loaded before it is stored"):
        catalog.store_hierarchy("age", Hierarchy.table("other"))
    for hierarchy, staging in (
        (Hierarchy.intervals(5), STAGING),
        (Hierarchy.from_rows([("1", "*")]), None),
    ):
        with pytest.raises(ValueError, match="staging"):
            catalog.store_hierarchy("age", hierarchy, staging=staging)


def test_specification_that_is_broken_is_refused():
    with pytest.raises(HierarchyError, match="no JSON"):
        catalog.restored("intervals", "{", paths=[])


def test_plain_table_is_read_in_the_order_of_its_labels(connection):
    connection.execute('CREATE TABLE "x y" ("Level2" VARCHAR, "LEAF" INTEGER, level1 VARCHAR)')
    connection.execute("""INSERT INTO "x y" VALUES
        ('*', 10, 'b'), ('*', 9, 'b'), ('*', 11, 'a'), ('*', NULL, NULL)""")
    columns = catalog.level_columns("x y", ["Level2", "LEAF", "level1"])
    assert columns == ["LEAF", "level1", "Level2"]
    query = catalog.table_paths(exp.to_table('"x y"'), columns)
    assert rows(connection, query) == [
        (None, None, "*"),
        ("11", "a", "*"),
        ("9", "b", "*"),
        ("10", "b", "*"),
    ]


def test_plain_table_with_positions_is_read_in_their_order(connection):
    connection.execute("CREATE TABLE ages (position INTEGER, leaf VARCHAR, level1 VARCHAR)")
    connection.execute("INSERT INTO ages VALUES (2, 'a', '*'), (1, 'b', '*')")
    columns = catalog.level_columns("ages", ["position", "leaf", "level1"])
    query = catalog.table_paths(exp.to_table("main.ages"), columns, position="position")
    assert rows(connection, query) == [("b", "*"), ("a", "*")]


@pytest.mark.parametrize(
    "columns", [["leaf"], ["leaf", "level2"], ["name", "level1"], ["leaf", "level1", "note"], []]
)
def test_table_of_other_columns_is_no_hierarchy(columns):
    with pytest.raises(HierarchyError, match="hierarchy table 'ages' lacks"):
        catalog.level_columns("ages", columns)


def test_statements_can_be_written_for_spark():
    statements = [
        catalog.stored_hierarchies(),
        catalog.stored_paths("age"),
        *catalog.store_hierarchy("age", Hierarchy.from_rows([("1", "*")]), staging=STAGING),
        catalog.table_paths(exp.to_table("ages"), ["leaf", "level1"]),
    ]
    assert all("`" in statement.sql(dialect="spark") for statement in statements)
