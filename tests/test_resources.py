from __future__ import annotations

import subprocess
import sys

import pytest
from sqlglot import exp

from sqlanon import resources


@pytest.fixture
def texts(monkeypatch):
    """Stands for the shipped files: path within its package -> text."""
    files: dict[str, str] = {}
    monkeypatch.setattr(resources, "_text", lambda package, path: files[path])
    return files


def test_statements_are_parsed_in_order_and_comments_alone_are_none(texts):
    texts["duckdb/schema.sql"] = "-- first\nCREATE TABLE a (x BIGINT);\nDROP TABLE a;\n-- end\n"
    trees = resources.statements("schema", "duckdb")
    assert [type(tree) for tree in trees] == [exp.Create, exp.Drop]


def test_statements_are_parsed_in_the_dialect_of_their_folder(texts):
    texts["spark/schema.sql"] = "SELECT `a b`"
    (tree,) = resources.statements("schema", "spark")
    assert tree.sql(dialect="duckdb") == 'SELECT "a b"'


def test_statements_of_a_missing_file_raise():
    with pytest.raises(FileNotFoundError):
        resources.statements("no_such_file", "duckdb")


def test_resources_are_imported_without_jinja():
    code = "import sys, sqlanon.resources; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
