from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon import resources


@pytest.fixture
def texts(monkeypatch):
    """Stands for the shipped files: path within its package -> text."""
    files: dict[str, str] = {}
    monkeypatch.setattr(resources, "_text", lambda package, path: files[path])
    return files


def identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def test_statements_are_parsed_in_order_and_comments_alone_are_none(texts):
    texts["duckdb/schema.sql"] = "-- first\nCREATE TABLE a (x BIGINT);\nDROP TABLE a;\n-- end\n"
    trees = resources.statements("schema")
    assert [type(tree) for tree in trees] == [exp.Create, exp.Drop]


def test_statements_are_parsed_in_the_dialect_of_their_folder(texts):
    texts["spark/schema.sql"] = "SELECT `a b`"
    (tree,) = resources.statements("schema", "spark")
    assert tree.sql(dialect="duckdb") == 'SELECT "a b"'


def test_statements_of_a_missing_file_raise():
    with pytest.raises(FileNotFoundError):
        resources.statements("no_such_file")


def test_render_fills_trees_and_integers(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ column }} FROM {{ table }} LIMIT {{ number }}"
    table = exp.table_("my table", db="main")
    (tree,) = resources.render("t", column=exp.column("x"), table=table, number=3)
    assert tree == sqlglot.parse_one('SELECT "x" FROM "main"."my table" LIMIT 3', dialect="duckdb")


@pytest.mark.parametrize("name", ["select", 'a"b', "x; DROP TABLE t", "a\nb", "{{ 7 }}", "Ünï"])
def test_render_quotes_a_hostile_identifier(texts, name):
    texts["sql/t.sql.jinja"] = "SELECT {{ hole }} FROM {{ table }}"
    trees = resources.render(
        "t", hole=exp.column(identifier(name)), table=exp.table_(identifier(name))
    )
    assert len(trees) == 1
    assert [found.name for found in trees[0].find_all(exp.Column)] == [name]
    assert [found.name for found in trees[0].find_all(exp.Table)] == [name]


def test_render_quotes_an_identifier_whose_tree_does_not(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ hole }}"
    (tree,) = resources.render("t", hole=exp.column(exp.to_identifier("order", quoted=False)))
    assert tree.sql(dialect="duckdb") == 'SELECT "order"'


def test_render_escapes_a_hostile_literal(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ hole }} AS x"
    (tree,) = resources.render("t", hole=exp.Literal.string("'; DROP TABLE t; --"))
    assert duckdb.sql(tree.sql(dialect="duckdb")).fetchall() == [("'; DROP TABLE t; --",)]


@pytest.mark.parametrize("value", ["x", '"x"', b"x", 1.5, True, None, ["x"], {"x": 1}, object()])
def test_render_refuses_what_is_neither_tree_nor_integer(texts, value):
    texts["sql/t.sql.jinja"] = "SELECT {{ hole }}"
    with pytest.raises(TypeError, match=r"\(hole\) takes a syntax tree or an integer"):
        resources.render("t", hole=value)


def test_render_refuses_a_text_that_the_template_takes_from_a_tree(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ hole.name }}"
    with pytest.raises(TypeError, match="not str"):
        resources.render("t", hole=exp.column("1; DROP TABLE t"))


def test_render_refuses_a_text_written_in_the_template(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ 'x' }}"
    with pytest.raises(TypeError, match="not str"):
        resources.render("t")


def test_render_refuses_an_open_hole(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ a }}, {{ b }}"
    with pytest.raises(TypeError, match=r"has the holes \['a', 'b'\], not \['a'\]"):
        resources.render("t", a=1)


@pytest.mark.parametrize("hole", ["b", "a b", "a}}; DROP TABLE t; {{a", "self", "range", "name"])
def test_render_refuses_a_hole_that_the_template_does_not_have(texts, hole):
    texts["sql/t.sql.jinja"] = "SELECT {{ a }}"
    with pytest.raises(TypeError, match="has the holes"):
        resources.render("t", **{"a": 1, hole: 2})


def test_render_keeps_operators_beside_a_hole_apart(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ number }} * {{ tree }} -{{ number }} AS x"
    tree = sqlglot.parse_one("1 + 2")
    (query,) = resources.render("t", number=-5, tree=tree)
    assert duckdb.sql(query.sql(dialect="duckdb")).fetchall() == [(-10,)]


def test_render_puts_a_query_in_parentheses(texts):
    texts["sql/t.sql.jinja"] = "SELECT x FROM {{ query }} AS t"
    (tree,) = resources.render("t", query=exp.select(exp.Literal.number(4).as_("x")))
    assert duckdb.sql(tree.sql(dialect="duckdb")).fetchall() == [(4,)]


def test_render_leaves_the_given_tree_alone(texts):
    texts["sql/t.sql.jinja"] = "SELECT {{ hole }}"
    tree = sqlglot.parse_one("a + b")
    before = tree.copy()
    resources.render("t", hole=tree)
    assert tree == before
    assert tree.parent is None


def test_render_raises_where_the_result_is_no_sql(texts):
    texts["sql/t.sql.jinja"] = "SELECT FROM ( {{ hole }}"
    with pytest.raises(sqlglot.ParseError):
        resources.render("t", hole=1)


def test_resources_are_imported_without_jinja():
    code = "import sys, sqlanon.resources; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
