"""Alternatives with a column lower, against brute force over the whole lattice."""

from contextlib import closing

import duckdb
import pytest
from databases import empty_database
from hypothesis import HealthCheck, assume, given, settings
from oracles.lattice import brute_force, released
from strategies import cases

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.methods.fulldomain import method
from sqlanon.publishing.plan import Plan

pytestmark = pytest.mark.slow

POLICY = Policy(
    quasi_identifiers={
        "age": Hierarchy.intervals(5, 10, 20),
        "zip": Hierarchy.prefix(3, 2, 1),
        "sex": Hierarchy.suppression(),
    },
    models=[KAnonymity(2)],
)
ROWS = [(21, "1011", "f"), (24, "1012", "f"), (33, "1121", "m"), (38, "1122", "m"),
        (52, "2011", "f"), (57, "2021", "m"), (71, "2021", "m"), (78, "2022", "f")]  # fmt: skip


def lowest_within(case, number, most):
    """The best node with a column at a level or below, by looking at every one."""
    found = {node: released(case, node) for node in case.nodes() if node[number] <= most}
    return min(
        (node for node in found if found[node].accepted),
        key=lambda node: (found[node].loss, found[node].suppressed, node[::-1]),
        default=None,
    )


# Three in ten have such a best node.
@settings(max_examples=8, suppress_health_check=[HealthCheck.filter_too_much])
@given(cases())
def test_each_alternative_is_the_best_of_its_part_of_the_lattice(case):
    best = brute_force(case).node
    assume(best is not None and any(a > low for a, (low, _) in zip(best, case.bounds, strict=True)))
    with closing(case.connection()) as connection:
        plan = sqlanon.plan(
            connection, case.policy, table="people", loss=case.loss, alternatives=True
        )
    rows = {(row["column"], row["max_level"]): row for row in plan.report.alternatives}
    for number, name in enumerate(plan.report.levels):
        governing = None
        for most in range(best[number] - 1, case.bounds[number][0] - 1, -1):
            governing = rows.pop((name, most), governing)
            levels = governing["levels"] and tuple(governing["levels"].values())
            assert levels == lowest_within(case, number, most)
            assert governing["proven"]
    assert not rows


@pytest.fixture
def connection():
    with closing(duckdb.connect()) as made:
        made.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, sex VARCHAR)")
        made.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
        yield made


def test_no_node_is_asked_for_twice(connection, monkeypatch):
    asked, original = [], method._asking

    def asking(*given, **how):
        ask, settle = original(*given, **how)
        return (lambda nodes: (asked.extend(nodes), ask(nodes))[1]), settle

    monkeypatch.setattr(method, "_asking", asking)
    report = sqlanon.plan(connection, POLICY, table="people", alternatives=True).report
    assert len(asked) == len(set(asked))
    besides = sum(row["checked"] for row in report.alternatives)
    assert len(asked) == report.search.checked + besides


def test_they_are_told_in_text_and_document_and_stay_in_a_saved_plan(connection, tmp_path):
    plan = sqlanon.plan(connection, POLICY, table="people", alternatives=True)
    rows = plan.to_dict()["alternatives"]
    assert {row["column"] for row in rows} == {n for n, at in plan.report.levels.items() if at}
    losses = [row["loss"] for row in rows if row["levels"]]
    assert losses
    assert min(losses) >= plan.report.loss["lm"]
    text = plan.to_text()
    assert "  alternatives    the best recodings with one column at a lower level" in text
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json").to_dict()["alternatives"] == rows


def test_what_no_recoding_can_do_is_said(connection):
    with closing(duckdb.connect()) as made:
        made.execute("CREATE TABLE people AS SELECT 'x' || range AS name FROM range(6)")
        plan = sqlanon.plan(
            made, Policy(["name"], models=[KAnonymity(3)]), table="people", alternatives=True
        )
    [row] = plan.report.alternatives
    assert (row["levels"], row["loss"], row["lower_bound"]) == (None, None, None)
    assert "no recoding satisfies the policy" in plan.to_text()


def test_without_the_request_nothing_is_said(connection):
    plan = sqlanon.plan(connection, POLICY, table="people")
    assert plan.report.alternatives is None
    assert "alternatives" not in plan.to_dict()
    assert "alternatives" not in plan.to_text()


def test_where_nothing_is_generalized_there_is_nothing_to_lower(connection):
    policy = Policy(["sex"], models=[KAnonymity(2)], drop=["age", "zip"])
    plan = sqlanon.plan(connection, policy, table="people", alternatives=True)
    assert plan.report.alternatives == ()
    assert "no column is generalized" in plan.to_text()


def test_levels_with_the_same_best_node_have_one_row():
    policy = Policy(
        {"age": Hierarchy.intervals(2, 4), "sex": Hierarchy.suppression()}, models=[KAnonymity(2)]
    )
    with empty_database() as made:
        made.execute(
            "CREATE TABLE people AS SELECT 2 * age.range AS age, sex "
            "FROM range(4) AS age, (VALUES ('f'), ('m')) AS sex(sex)"
        )
        report = sqlanon.plan(made, policy, table="people", alternatives=True).report
    assert report.levels == {"age": 2, "sex": 0}
    [row] = report.alternatives
    assert (row["column"], row["max_level"]) == ("age", 1)
    assert row["levels"] == {"age": 0, "sex": 1}
