"""What a recoding of single records is expected to lose, against what its published table lost."""

from __future__ import annotations

import pytest
from databases import empty_database
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_clustering import connected, policy_of, tables

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import PolicyError, UnsatisfiableError

METHODS = {
    "direct-cover": {"refine": False},
    "direct-cover refined": {"passes": 1},
    "direct-cover with suppression": {"suppress_uncovered": True, "refine": False},
    "mondrian": {},
    "mondrian by nodes": {"cuts": "nodes"},
    "mondrian relaxed by the median": {"cuts": "median", "partitioning": "relaxed"},
    "pattern-greedy": {"patterns": "all"},
    "pattern-exact": {"patterns": "all"},
}
# Four alike, and two who share the top alone: their class counts as suppressed.
PLACES = [(f"v{number}", "*") for number in range(4)]
AT_TOP = (
    [PLACES],
    [("v0", job) for job in "aabb"] + [("v1", "a"), ("v2", "b")],
    2,
    [1.0],
)


@settings(max_examples=10)
@example(AT_TOP, "direct-cover", True, False)
@example(AT_TOP, "direct-cover", False, True)
@given(tables(), st.sampled_from(sorted(METHODS)), st.booleans(), st.booleans())
def test_expected_losses_are_those_of_the_published_table(case, method, sensitive, dropping):
    trees, records, k, weights = case
    connection, columns = connected(records, len(trees))
    settings = {"method": method.split()[0], **METHODS[method]}
    roles = {"sensitive": ["job"]} if sensitive else {"keep": ["job"]}
    limit = 0.5 if dropping else 0.0
    policy = policy_of(trees, columns, k, weights, suppression_limit=limit, **roles)
    with connection:
        try:
            plan = sqlanon.plan(connection, policy, table="people", **settings)
        except UnsatisfiableError:
            return
        planned, report = plan.report, sqlanon.apply(connection, plan, into="released")
        checked = sqlanon.check(connection, policy, table="released")
        try:
            measured = sqlanon.measure(connection, "released", policy, table="people")
        except PolicyError:  # the label of suppressed records is that of another node, too
            return
    estimated = {"hdm"} if any(note.startswith("hdm") for note in measured.notes) else set()
    linked = {"hdm"} if report.suppressed_records else set()
    for name in measured.loss.keys() - estimated - linked:
        assert report.loss[name] == pytest.approx(measured.loss[name]), name
    assert planned.suppressed_records == report.suppressed_records == measured.suppressed_records
    assert planned.statistics == report.statistics == checked.statistics
    lost = measured.suppressed_records > 0
    assert planned.loss["row_types"] == measured.statistics.classes + lost


def released(connection, **settings):
    policy = Policy(
        {"town": Hierarchy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])},
        models=[KAnonymity(2)],
    )
    return sqlanon.plan(connection, policy, table="people", **settings).report


def test_hdm_is_exact_where_nested_nodes_are_published():
    """Of a, a, a, b, c: three a stay, b and c lose all; the table alone does not tell of which."""
    connection = empty_database()
    connection.execute("CREATE TABLE people AS SELECT unnest(['a', 'a', 'a', 'b', 'c']) AS town")
    report = released(connection, method="pattern-greedy", patterns=[["town"], ["none"]])
    assert report.loss["hdm"] == pytest.approx(2 / 5)


def test_a_label_on_several_levels_counts_as_where_the_table_is_read():
    """c stays c at level 1; a column of ab and c is one of level 1."""
    connection = empty_database()
    connection.execute("CREATE TABLE people AS SELECT unnest(['a', 'b', 'c', 'c']) AS town")
    report = released(connection, method="pattern-greedy", patterns=[["town"], ["town@1"]])
    assert report.records_per_level == {"town": [2, 2, 0]}
    assert report.loss["precision"] == pytest.approx(1 / 2)


def test_a_table_that_says_nothing_at_all_is_a_class_and_not_suppressed():
    connection = empty_database()
    connection.execute("CREATE TABLE people AS SELECT unnest(['a', 'b', 'c']) AS town")
    report = released(connection, method="pattern-greedy", patterns=[["town"], ["none"]])
    assert (report.loss["row_types"], report.loss["discernibility"]) == (1, 9)


def test_records_that_lose_all_cells_count_as_suppressed_and_as_a_class():
    connection = empty_database()
    connection.execute("CREATE TABLE people AS SELECT unnest(['a', 'a', 'b', 'c']) AS town")
    report = released(connection, method="pattern-greedy", patterns=[["town"]])
    assert (report.suppressed_records, report.statistics.classes) == (2, 2)
    assert report.loss["row_types"] == 2
    assert report.to_text().startswith("pattern-greedy: 2 classes by 1 of 1 pattern\n")


def test_records_that_are_left_out_are_no_class():
    connection = empty_database()
    connection.execute("CREATE TABLE people AS SELECT unnest(['a', 'a', 'b']) AS town")
    policy = Policy(["town"], models=[KAnonymity(2)], suppression_limit=0.5)
    plan = sqlanon.plan(
        connection, policy, table="people", method="pattern-greedy", patterns=[["town"]]
    )
    assert plan.report.statistics.classes == 1
    assert plan.report.loss["row_types"] == 2
    assert plan.report.to_text().startswith("pattern-greedy: 1 class by 1 of 1 pattern\n")
