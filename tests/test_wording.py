"""Wording: numbers in sentences, and names that are nobody's business."""

from __future__ import annotations

import shutil
import subprocess

import duckdb
import pytest

import sqlanon
from sqlanon import KAnonymity, LDiversity, Policy, Sensitive
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import MissingTableError, SqlanonError
from sqlanon.wording import shell_word


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.parametrize(
    ("tables", "told"),
    [(0, "'other': the database holds none"), (1, "among 1 table"), (2, "among 2 tables")],
)
def test_a_missing_table_is_told_among_how_many(connection, tables, told):
    for number in range(tables):
        connection.execute(f"CREATE TABLE people_{number} (age INTEGER)")
    with pytest.raises(MissingTableError, match=told):
        sqlanon.check(connection, Policy(["age"]), table="other")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("text", ["age", "a'b\nc", "a\xa0b", "\\n\t'x", "\x85ä1", "\u2028 $x`"])
def test_a_word_of_advice_is_read_by_a_shell_as_it_was_meant(text):
    word = shell_word(text)
    assert word.isprintable()
    called = ["bash", "-c", f"printf %s {word}"]
    done = subprocess.run(called, capture_output=True, check=True)
    assert done.stdout.decode() == text


def test_working_tables_have_no_name_in_errors(connection):
    engine = DuckDB(connection)
    missing = engine.temporary("frequency")
    attempts = (
        lambda: engine.columns(missing),
        lambda: engine.tables.drop(missing),
        lambda: engine.load_rows("frequency", {"a": [1], "b": [1, 2]}),
    )
    for attempt in attempts:
        with pytest.raises(SqlanonError, match="a working table") as caught:
            attempt()
        assert "_sqlanon" not in str(caught.value)


@pytest.mark.slow
def test_what_a_table_has_of_recursive_diversity_is_explained(connection):
    connection.execute("CREATE TABLE t AS SELECT 1 AS age, range % 3 AS ill FROM range(4)")
    model = LDiversity(2, "recursive", 3)
    policy = Policy(["age"], {"ill": Sensitive([model])}, models=[KAnonymity(2)])
    page = sqlanon.check(connection, policy, table="t").to_text()
    assert (
        "recursive (3, 2)-diversity of 'ill' holds: "
        "the table has a ratio r_1 / (r_l + ... + r_m) of up to 1, which c must exceed"
    ) in page


def test_no_distance_is_below_zero(connection):
    """The logarithms of classes like the table leave -1e-16 of Kullback and Leibler's."""
    connection.execute("CREATE TABLE t AS SELECT r // 2 AS age, r % 2 AS ill FROM range(4) AS t(r)")
    figures = sqlanon.check(connection, Policy(["age"], ["ill"]), table="t").sensitive["ill"]
    assert figures.t["kl"] == 0
    assert figures.to_lines("ill")[2].endswith("kl 0")
