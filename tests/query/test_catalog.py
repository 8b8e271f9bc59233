"""Stored hierarchies: what comes back from DuckDB, and tables that are read as one."""

import duckdb
import pytest
from sqlglot import exp

from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.microdata.stored_hierarchies import (
    drop_hierarchy,
    list_hierarchies,
    load_hierarchy,
    resolved_hierarchy,
)
from sqlanon.query.hierarchy import store as catalog

STAGING = exp.to_table('"staging"')
HOSTILE = 'x\'; DROP TABLE "t"; -- Ünï'


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        yield DuckDB(connection)


def back(engine, name):
    """What is stored by a name, or the table that is called so."""
    return resolved_hierarchy(engine, Hierarchy.table(name))


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
def test_stored_hierarchy_comes_back_as_it_was(engine, hierarchy, name):
    load_hierarchy(engine, name, hierarchy=hierarchy)
    assert back(engine, name) == hierarchy


def test_storing_again_replaces_and_deleting_removes_one(engine):
    load_hierarchy(engine, HOSTILE, hierarchy=Hierarchy.from_rows([("1", "*")]))
    for hierarchy in (
        Hierarchy.from_rows([("1", "*")]),
        Hierarchy.from_rows([("2", "x", "*")]),
        Hierarchy.intervals(5),
    ):
        load_hierarchy(engine, "age", hierarchy=hierarchy, overwrite=True)
        assert back(engine, "age") == hierarchy
    assert engine.rows(catalog.stored_paths("age")) == []
    drop_hierarchy(engine, HOSTILE)
    assert engine.rows(catalog.stored_paths(HOSTILE)) == []
    assert back(engine, "age").height == 2


def test_listing_names_kind_height_and_leaves(engine):
    assert list_hierarchies(engine) == []
    load_hierarchy(engine, "zip", hierarchy=Hierarchy.prefix(3))
    load_hierarchy(engine, "age", hierarchy=Hierarchy.from_rows([("1", "x", "*"), ("2", "x", "*")]))
    listed = engine.rows(catalog.stored_hierarchies())
    assert [(name, kind, height, leaves) for name, kind, _, height, leaves in listed] == [
        ("age", "rows", 2, 2),
        ("zip", "prefix", 2, None),
    ]


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


@pytest.mark.parametrize(
    ("columns", "values", "rows"),
    [
        (
            '"Level2" VARCHAR, "LEAF" INTEGER, level1 VARCHAR',
            "('*', 10, 'b'), ('*', 9, 'b'), ('*', 11, 'a'), ('*', NULL, NULL)",
            ((None, None, "*"), ("11", "a", "*"), ("9", "b", "*"), ("10", "b", "*")),
        ),
        (
            "position INTEGER, leaf VARCHAR, level1 VARCHAR",
            "(2, 'a', '*'), (1, 'b', '*')",
            (("b", "*"), ("a", "*")),
        ),
    ],
)
def test_plain_table_is_read_in_the_order_of_its_labels_or_positions(engine, columns, values, rows):
    engine.connection.execute(f'CREATE TABLE "x y" ({columns})')
    engine.connection.execute(f'INSERT INTO "x y" VALUES {values}')
    assert back(engine, "x y").rows == rows


@pytest.mark.parametrize(
    "columns", [["leaf"], ["leaf", "level2"], ["name", "level1"], ["leaf", "level1", "note"], []]
)
def test_table_of_other_columns_is_no_hierarchy(columns):
    with pytest.raises(HierarchyError, match="hierarchy table 'ages' lacks"):
        catalog.level_columns("ages", columns)
