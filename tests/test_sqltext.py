"""SQL text: what fills a hole, what never does, and the templates themselves."""

from __future__ import annotations

import ast
import math
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from databases import empty_database
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from sqlanon import sqltext
from sqlanon.sqltext import Sql, expression, listed, name, names, projected, render, value, word

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "sql").rglob("*.sql"))
EVIL = "1; DROP TABLE t; --"
WAYS = [
    "SELECT {{ hole }}",
    "SELECT {{ listed(hole) }}",
    "SELECT {{ total(hole) }}",
    "SELECT {{ exact(hole, True) }}",
    "SELECT {{ hole.text }}",
    "SELECT {{ hole.name }}",
    "SELECT {{ hole[0] }}",
    "SELECT {% for item in hole %}{{ item }}{% endfor %}",
    "SELECT {% set own = hole %}{{ own }}",
    "SELECT {% if hole %}{{ hole }}{% endif %}",
    "SELECT {% macro own(x) %}{{ x }}{% endmacro %}{{ own(hole) }}",
    "SELECT {% for a, b in hole %}{{ a }}{{ b }}{% endfor %}",
]
SMUGGLED = [EVIL, EVIL.encode(), [EVIL], {EVIL: EVIL}, [[EVIL, EVIL]], 1.5, True, None, ...]


@pytest.mark.every_row
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hole", SMUGGLED, ids=repr)
def test_no_text_becomes_sql(way, hole):
    try:
        found = expression(way, hole=hole)
    except (TypeError, AttributeError, ValueError, KeyError):
        return
    assert "DROP" not in found.text


@pytest.mark.parametrize("use", [str, "{}".format, lambda sql: f"{sql}", lambda sql: sql + "x"])
def test_a_piece_of_sql_is_no_text(use):
    with pytest.raises(TypeError):
        use(value("x"))


@pytest.mark.parametrize(
    "template",
    [
        "SELECT '{{ hole }}'",
        'SELECT "{{ hole }}"',
        "SELECT 1 -- {{ hole }}",
        "SELECT /* {{ hole }} */ 1",
        "SELECT {{ hole + hole }}",
        "SELECT {{ hole % hole }}",
        "SELECT {{ hole.text.upper() }}",
        "SELECT {{ hole.__class__ }}",
        "SELECT {{ _written(hole) }}",
        "SELECT {{ (lambda: hole)() }}",
        "SELECT {% include hole %}",
        "SELECT {% if hole %}1",
    ],
)
def test_a_template_is_refused_that_could_undo_quotes_or_joins_texts(template):
    with pytest.raises(SyntaxError):
        expression(template, hole=value("x"))


@pytest.mark.parametrize(
    ("template", "holes"),
    [
        ("SELECT {{ a }}, {{ b }}", {"a": 1}),
        ("SELECT {{ a }}", {"a": 1, "b": 2}),
        ("SELECT 1", {"range": 2}),
        ("SELECT {% for a in b %}{{ a }}{% endfor %}", {"a": 1, "b": [2]}),
    ],
)
def test_wanted_holes_are_given_holes(template, holes):
    with pytest.raises(TypeError, match="the holes are"):
        expression(template, **holes)


@given(st.text().filter(lambda text: text and "\0" not in text))
def test_a_name_is_read_back(text):
    (found,) = parse_one(
        expression("SELECT {{ x }}", x=name(text)).text, dialect="duckdb"
    ).find_all(exp.Column)
    assert found.name == text


@given(
    st.none()
    | st.booleans()
    | st.text().filter(lambda text: "\0" not in text)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
def test_a_value_is_read_back(literal):
    with empty_database() as connection:
        query = expression("SELECT {{ x }}", x=value(literal))
        [(found,)] = connection.execute(query.text).fetchall()
    assert found == literal


@pytest.mark.parametrize("literal", [math.nan, math.inf, -math.inf])
def test_a_value_is_finite(literal):
    with pytest.raises(ValueError, match="finite"):
        value(literal)


def test_operators_beside_a_hole_tear_nothing_apart():
    parts = {"sum": expression("1 + {{ x }}", x=2), "tree": parse_one("1 + 2"), "less": -5}
    query = expression("SELECT {{ sum }} * {{ tree }} * {{ less }} -{{ less }}", **parts)
    with empty_database() as connection:
        assert connection.execute(query.text).fetchall() == [(-40,)]


def test_a_query_is_a_relation_in_a_hole():
    inner = expression("SELECT {{ x }} AS {{ own }}", x=4, own=name("a b"))
    query = expression("SELECT {{ own }} FROM {{ rows }} AS rows", own=name("a b"), rows=inner)
    with empty_database() as connection:
        assert connection.execute(query.text).fetchall() == [(4,)]


def test_a_table_fills_a_hole_with_its_parts_quoted():
    table = exp.table_("my table", db="main", quoted=True)
    assert expression("FROM {{ x }}", x=table).text == 'FROM "main"."my table"'


def test_columns_and_types_fill_holes_as_a_tree_of_them_is_written():
    kinds = ("INT", "BIGINT", "TEXT", "VARCHAR(3)", "INT[]", "TIMESTAMP", "BOOLEAN", "DOUBLE")
    for kind in (exp.DataType.build(each, dialect="duckdb") for each in kinds):
        assert expression("{{ x }}", x=kind).text == kind.sql("duckdb", identify=True)
    columns = exp.column("a b", "t", "s"), exp.column("x"), exp.column(exp.Star(), "t")
    for tree in (*columns, exp.table_("a b", "s"), exp.table_("t", alias="x")):
        assert expression("{{ x }}", x=tree).text == tree.sql("duckdb", identify=True)


def test_a_loop_within_a_loop_leaves_the_outer_number():
    template = (
        "SELECT {% for own in rows %}{% for x in own %}{{ loop.index0 }}{{ x }}, {% endfor %}"
        "{{ loop.index0 }}, {% endfor %}"
    )
    found = expression(template, rows=[names("ab"), names("c")])
    assert found.text == 'SELECT 0"a", 1"b", 0, 0"c", 1,'


def test_listed_takes_fragments_alone():
    assert listed([name("a"), 1, exp.column("b")]).text == '"a", 1, "b"'
    with pytest.raises(TypeError):
        listed(["a"])


def test_projected_quotes_its_names_and_takes_fragments_alone():
    columns = projected({EVIL + '"': value(1), "b": expression("1 + 1")})
    assert expression("SELECT {{ x }}", x=columns).text == (
        f'SELECT 1 AS "{EVIL}""", (1 + 1) AS "b"'
    )
    with pytest.raises(TypeError):
        projected({"a": EVIL})


@pytest.mark.parametrize(
    "text", [EVIL, "a b", "a-b", "é", "a\n", "", '"a"', "DECIMAL(18,2); x", "DECIMAL(a)", "f()"]
)
def test_a_word_is_a_name_and_numbers_alone(text):
    assert word("DECIMAL(18, 2)").text == "DECIMAL(18, 2)"
    with pytest.raises(ValueError, match="a word is a name"):
        word(text)


def test_a_text_that_a_template_compares_is_none_of_sql():
    template = "SELECT {% if 'a' in letters %}1{% else %}2{% endif %}"
    assert expression(template, letters=("a", "b")).text == "SELECT 1"


def test_the_tree_of_a_piece_is_written_for_other_engines():
    query = expression("SELECT TRY_CAST({{ x }} AS DATE) AS d ORDER BY d", x=name("a"))
    assert query.tree().sql("spark") == "SELECT TRY_CAST(`a` AS DATE) AS d ORDER BY d NULLS LAST"


def test_a_missing_file_raises():
    with pytest.raises(FileNotFoundError):
        render("no_such_file")


@pytest.mark.every_row
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_what_a_row_is_and_what_its_holes_are(path):
    text = path.read_text()
    if path.parent.name == "duckdb" or path.stem == "macros":
        return
    head = " ".join(takewhile(lambda line: line.startswith("--"), text.splitlines()))
    holes = head.partition("Holes:")[2]
    assert text.startswith("-- ")
    for hole in sqltext._file(str(path.relative_to(ROOT / "sql").with_suffix(""))).wanted:
        assert re.search(rf"\b{hole}\b", holes), hole
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.slow
def test_every_file_is_rendered_somewhere_with_the_holes_that_it_has():
    rendered = {}
    for path in (ROOT / "sqlanon").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "render" and call.args:
                text = call.args[0]
                if isinstance(text, ast.Constant) and "/" in str(text.value):
                    given = {each.arg for each in call.keywords}
                    rendered.setdefault(text.value, []).append(given)
    files = {str(path.relative_to(ROOT / "sql").with_suffix("")) for path in FILES}
    assert set(rendered) == {file for file in files if "/" in file and "duckdb/" not in file}
    for file, calls in rendered.items():
        for given_holes in calls:
            wanted = sqltext._file(file).wanted
            assert given_holes - {None} <= wanted, file
            assert None in given_holes or given_holes == wanted, file


@pytest.mark.slow
def test_every_condition_of_a_template_is_met_and_is_not():
    script = ROOT / "tests" / "query" / "branches.py"
    found = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    assert not found.stdout


def test_sql_is_read_without_jinja():
    code = "import sys, sqlanon.sqltext as s; s._macros(); sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_equal_pieces_are_one():
    assert {value("x"), Sql("'x'")} == {value("x")}
