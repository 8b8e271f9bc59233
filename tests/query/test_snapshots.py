"""Every query of a snapshot: what DuckDB answers."""

import importlib
from pathlib import Path

import pytest
import snapshots
from databases import empty_database
from snapshots import text
from sqlglot import parse_one

MODULES = [
    importlib.import_module(path.stem)
    for path in sorted(Path(__file__).parent.glob("*_*.py"))
    if "SNAPSHOTS = [" in path.read_text() and path.stem != Path(__file__).stem
]
SNAPSHOTS = [
    pytest.param((module, one), id=f"{module.__name__}: {one}")
    for module in MODULES
    for one in module.SNAPSHOTS
]


@pytest.fixture(scope="module")
def connections():
    """Per module of snapshots a connection with its tables."""
    opened = {}
    for module in MODULES:
        opened[module] = empty_database()
        opened[module].execute(getattr(module, "TABLES", snapshots.TABLES))
    yield opened
    for connection in opened.values():
        connection.close()


@pytest.mark.every_row
@pytest.mark.parametrize("case", SNAPSHOTS)
def test_query_answers_the_rows_beside_it_and_counts_as_integers(case, connections):
    module, snapshot = case
    asked = connections[module].execute(text(snapshot.query), list(snapshot.parameters))
    types = {str(column[1]) for column in asked.description}
    found, wanted = asked.fetchall(), snapshot.rows
    if not snapshot.ordered:
        found, wanted = sorted(found, key=repr), sorted(wanted, key=repr)
    for row, expected in zip(found, wanted, strict=True):
        assert row == expected or row == pytest.approx(expected, abs=1e-8)
    unfit = getattr(module, "UNFIT", {"DECIMAL", "DOUBLE", "HUGEINT"})
    unfit = unfit - {"HUGEINT"} if snapshot.inner else unfit
    assert not types & unfit


def written(sql):
    """The text of SQL with all its names quoted, however it is laid out."""
    return text(parse_one(sql, dialect="duckdb"))


@pytest.mark.parametrize(
    "snapshot", [one for module in MODULES for one in module.SNAPSHOTS if one.sql], ids=repr
)
def test_query_is_the_sql_beside_it(snapshot):
    assert written(text(snapshot.query)) == written(snapshot.sql)
