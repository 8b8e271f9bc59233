"""check and risk without quasi-identifiers look at every column that has no other role."""

import pytest
from databases import empty_database

import sqlanon
from sqlanon import KAnonymity, Policy
from sqlanon.errors import PolicyError

BOTH = pytest.mark.parametrize("call", [sqlanon.check, sqlanon.risk])


@pytest.fixture
def connection():
    with empty_database() as opened:
        opened.execute("""
            CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS b, i AS id, 'd' || i % 4 AS ill,
                i // 2 AS who, [i] AS list, INTERVAL (i) DAY AS span
            FROM range(12) AS r(i)
        """)
        yield opened


@BOTH
def test_columns_in_no_other_role_are_quasi_identifiers_and_that_is_said(connection, call):
    roles = {"identifiers": ["id"], "keep": ["list"], "drop": ["span"]}
    policy = Policy([], ["ill"], **roles, entity="who")
    report = call(connection, policy, table="t")
    assert report.quasi_identifiers == ("a", "b")
    named = call(
        connection, Policy(["a", "b"], ["ill"], identifiers=["id"], entity="who"), table="t"
    )
    assert report.statistics == named.statistics
    assert any(
        "every column without another role counts as one, 2 in all: 'a', 'b'" in note
        for note in report.notes
    )


@BOTH
def test_columns_that_make_no_classes_are_left_out(connection, call):
    report = call(connection, Policy([]), table="t")
    assert report.quasi_identifiers == ("a", "b", "id", "ill", "who")
    assert (
        "columns left out, since values of their types cannot make classes: 'list', 'span'"
        in report.notes
    )


@BOTH
def test_table_without_a_column_to_take_is_an_error(connection, call):
    policy = Policy([], drop=["a", "b", "id", "ill", "who"])
    with pytest.raises(PolicyError, match="every column has another role; name some with --qi"):
        call(connection, policy, table="t")


def test_publishing_still_needs_quasi_identifiers(connection):
    with pytest.raises(PolicyError, match="no quasi-identifier is named; name them with --qi"):
        sqlanon.plan(connection, Policy([], others="drop", models=[KAnonymity(3)]), table="t")
