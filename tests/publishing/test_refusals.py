"""What is refused before anything is written, and what it says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier, UnsatisfiableError
from sqlanon.cli.main import status
from sqlanon.errors import PolicyError


@pytest.fixture
def connection():
    with empty_database() as opened:
        opened.execute("CREATE TABLE t AS SELECT range AS id, range % 3 AS a FROM range(9)")
        yield opened


@pytest.mark.parametrize("place", [{"into": "out"}, {"in_place": True}])
def test_a_table_with_nothing_left_is_not_published(connection, place):
    original = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    policy = Policy({"id": original}, models=[KAnonymity(2)], suppression_limit=1, others="drop")
    with pytest.raises(UnsatisfiableError, match="9 of 9 records"):
        sqlanon.anonymize(connection, policy, table="t", **place)
    assert connection.execute("SHOW TABLES").fetchall() == [("t",)]
    assert len(connection.execute("SELECT * FROM t").fetchall()) == 9


def test_suppressed_records_are_not_labelled_like_a_published_value(connection):
    connection.execute("INSERT INTO t VALUES (9, 7), (10, 8)")
    attribute = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    policy = Policy(
        {"a": attribute},
        models=[KAnonymity(2)],
        suppression_limit=0.5,
        suppressed="keep",
        suppressed_label="1",
        others="drop",
    )
    with pytest.raises(PolicyError, match="column 'a'"):
        sqlanon.plan(connection, policy, table="t")


def test_a_label_that_a_level_not_chosen_has_is_refused_before_the_search(connection):
    rows = [("0", "low", "*"), ("1", "high", "*"), ("2", "high", "*")]
    policy = Policy(
        {"a": Hierarchy.from_rows(rows)},
        models=[KAnonymity(2)],
        suppression_limit=0.5,
        suppressed="keep",
        suppressed_label="low",
        others="drop",
    )
    with pytest.raises(PolicyError, match=r"column 'a' at level 1;.*--suppressed-label"):
        sqlanon.plan(connection, policy, table="t")
    assert sqlanon.plan(
        connection, replace(policy, suppression_limit=0), table="t"
    ).recoding.node == (0,)


def test_a_label_for_records_that_are_left_out_is_refused(connection, tmp_path, capsys):
    words = "suppressed_label 'gone' stands for nothing.*--suppressed keep"
    policy = Policy(["a"], models=[KAnonymity(2)], others="drop", suppressed_label="gone")
    with pytest.raises(PolicyError, match=words):
        sqlanon.plan(connection, policy, table="t")
    table, file = tmp_path / "t.csv", tmp_path / "policy.toml"
    table.write_text("a\n1\n1\n")
    file.write_text('k = 2\nquasi_identifiers = ["a"]\nsuppressed_label = "gone"\n')
    assert status(["plan", str(table), "--policy", str(file)]) == 2
    assert re.search(words, capsys.readouterr().err)
    assert status(["plan", str(table), "--policy", str(file), "--suppressed", "keep"]) == 0


def test_only_a_database_stores_hierarchies(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("zip\n12\n34\n")
    assert status(["hierarchy", "load", str(table), "zip", "prefix:1"]) == 2
    assert "not a DuckDB database" in capsys.readouterr().err


def test_threads_have_an_upper_bound(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("zip\n12\n34\n")
    assert status(["check", str(table), "--qi", "zip", "--threads", "1000000"]) == 2
    assert "at most 1024" in capsys.readouterr().err
