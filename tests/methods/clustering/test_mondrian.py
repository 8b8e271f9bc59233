"""Mondrian end to end: what is published, whatever is counted in the database."""

from __future__ import annotations

from collections import Counter

import pytest
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st
from test_clustering import SEX, connected, policy_of, tables

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Plan, Policy, QuasiIdentifier
from sqlanon.deadline import Deadline
from sqlanon.engine.duckdb.tables import DuckDBTables
from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.methods.clustering.rounds import cut_large
from sqlanon.search.clustering.mondrian import RULES, partition

pytestmark = pytest.mark.slow


def published(connection, policy, **settings):
    report = sqlanon.anonymize(
        connection, policy, table="people", method="mondrian", into="released", **settings
    )
    rows = connection.execute("SELECT * FROM released").fetchall()
    connection.execute("DROP TABLE released")
    return report, rows


def test_combinations_that_take_several_numbers_keep_their_order(monkeypatch):
    """The first column has the most values, so its places are in the last number."""
    records = [(str(n * n % 11), "fm"[n // 5 % 2], "xyz"[n % 7 % 3], "job") for n in range(80)]
    trees = [
        [(str(n), f"about {n // 4}", "*") for n in range(12)],
        SEX,
        [(town, "*") for town in "xyz"],
    ]
    connection, columns = connected(records, 3)
    policy = policy_of(trees, columns, 4, [1.0] * 3, keep=["job"])
    with connection:
        _, rows = published(connection, policy)
        monkeypatch.setattr("sqlanon.query.publish.runs._MAX_KEY", 9)
        report, again = published(connection, policy)
    assert report.holds
    assert Counter(again) == Counter(rows)


@settings(max_examples=8)
@given(tables(), st.sampled_from(RULES), st.integers(1, 4), st.booleans())
def test_cuts_in_the_database_are_those_in_memory(case, cuts, most, diverse):
    trees, records, k, weights = case
    connection, columns = connected(records, len(trees))
    models = [LDiversity(2)] if diverse else []
    policy = policy_of(trees, columns, k, weights, models=models, sensitive=["job"])
    with connection, pytest.MonkeyPatch.context() as patch:
        asked = {"method": "mondrian", "cuts": cuts}
        # The best node would stand in for cuts that lose more, here as there.
        patch.setattr("sqlanon.publishing.planner._quick_node", lambda *_, **__: None)
        try:
            expected = sqlanon.plan(connection, policy, table="people", **asked)
        except UnsatisfiableError:
            return
        patch.setattr("sqlanon.methods.clustering.mondrian.ROWS_IN_MEMORY", most)
        found = sqlanon.plan(connection, policy, table="people", **asked)
    assert found.recoding == expected.recoding
    assert found.report.loss == expected.report.loss


@pytest.fixture
def people():
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT range % 40 AS age, chr(102 + 7 * (range % 2)::INT) AS"
            " sex, range % 30 AS person, chr(97 + (range * 7 % 5)::INT) AS job FROM range(400)"
            " UNION ALL SELECT 99, 'f', 31, 'a'"
        )
        yield connection


AGE = Hierarchy.intervals(5, 10, 20)


def test_highest_levels_leave_out_who_can_be_in_no_class(people):
    """Nobody else is as old as the oldest, whatever the interval allowed."""
    quasi = {"age": QuasiIdentifier(AGE, max_level=2), "sex": Hierarchy.suppression()}
    policy = Policy(quasi, models=[KAnonymity(5)], drop=["person", "job"], suppression_limit=0.01)
    report = sqlanon.anonymize(people, policy, table="people", method="mondrian", into="released")
    assert report.suppressed_records == 1
    assert report.holds
    assert "1 record in classes that fail even at the highest levels is left out" in report.notes
    with pytest.raises(UnsatisfiableError, match=r"1 of 401 records .* 0 may be suppressed; raise"):
        sqlanon.plan(
            people,
            Policy(quasi, models=[KAnonymity(5)], drop=["person", "job"]),
            table="people",
            method="mondrian",
        )


def test_records_that_are_kept_suppressed_are_a_class_of_their_own(people):
    people.execute("INSERT INTO people SELECT 90 + range * 20, 'f', 31, 'a' FROM range(1, 5)")
    quasi = {"age": QuasiIdentifier(AGE, max_level=2), "sex": Hierarchy.suppression()}
    policy = Policy(
        quasi,
        models=[KAnonymity(5)],
        drop=["person", "job"],
        suppression_limit=0.05,
        suppressed="keep",
    )
    report = sqlanon.anonymize(people, policy, table="people", method="mondrian", into="released")
    rows = people.execute("SELECT * FROM released").fetchall()
    assert len(rows) == 405
    assert rows.count(("*", "*")) == report.suppressed_records == 5
    assert report.holds


def test_a_saved_plan_is_carried_out_and_tells_no_value(people, tmp_path):
    people.execute("UPDATE people SET sex = 'zqx' WHERE sex = 'm'")
    quasi = {"age": AGE, "sex": Hierarchy.suppression()}
    policy = Policy(quasi, models=[KAnonymity(5)], drop=["person", "job"])
    plan = sqlanon.plan(people, policy, table="people", method="mondrian")
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again.recoding == plan.recoding
    assert sqlanon.apply(people, again, into="released").holds
    assert "zqx" not in (tmp_path / "plan.json").read_text()
    assert "zqx" not in plan.sql()


def test_a_loss_at_the_bound_is_proven(people):
    records = [("f", "a")] * 3 + [("m", "b")] * 3
    connection, columns = connected(records, 1)
    with connection:
        for k in (2, 4):
            policy = policy_of([SEX], columns, k, [1.0], drop=["job"])
            report = sqlanon.plan(connection, policy, table="people", method="mondrian").report
            assert report.search.proven is (report.loss["lm"] == report.lower_bound)
            assert report.loss["lm"] == (k > 2)


def test_batches_share_the_time_that_is_left(people, monkeypatch):
    left = []

    def recorded(*args, rule):
        left.append(rule.deadline.left())
        return partition(*args, rule=rule)

    home = "sqlanon.methods.clustering.mondrian"
    monkeypatch.setattr(f"{home}.ROWS_IN_MEMORY", 8)
    monkeypatch.setattr(f"{home}.end_after", lambda *_: Deadline(12.0, lambda: 0.0))
    monkeypatch.setattr(f"{home}.partition", recorded)
    policy = Policy({"age": AGE}, models=[KAnonymity(5)], drop=["person", "job", "sex"])
    sqlanon.plan(people, policy, table="people", method="mondrian", time_limit=1e6)
    assert left == pytest.approx([12 / (len(left) - at) for at in range(len(left))])
    assert len(left) > 2


@pytest.mark.parametrize("after", [1, 2, 3])
def test_time_may_be_over_when_what_a_round_needed_is_dropped(people, monkeypatch, after):
    """Whichever of its tables is the last one that is dropped in time, the parts stay."""
    home, drop, dropped = "sqlanon.methods.clustering.mondrian", DuckDBTables.drop, []

    def late(tables, table):
        drop(tables, table)
        dropped.append(table.name)
        if len(dropped) == after:
            raise TimeLimitError

    def cut(*args, **kwargs):
        with monkeypatch.context() as patch:
            patch.setattr(DuckDBTables, "drop", late)
            return cut_large(*args, **kwargs)

    monkeypatch.setattr(f"{home}.ROWS_IN_MEMORY", 8)
    monkeypatch.setattr(f"{home}.cut_large", cut)
    policy = Policy({"age": AGE}, models=[KAnonymity(5)], drop=["person", "job", "sex"])
    report = sqlanon.plan(people, policy, table="people", method="mondrian").report
    assert report.holds
    assert len(dropped) == after


def test_strict_parts_are_annealed_as_far_as_memory_holds_records(people, monkeypatch):
    monkeypatch.setattr("sqlanon.methods.clustering.mondrian.BLOCK_RECORDS", 400)
    policy = Policy(
        {"age": AGE, "sex": Hierarchy.suppression()},
        sensitive=["job"],
        models=[KAnonymity(4), LDiversity(2)],
        drop=["person"],
    )
    asked = {"method": "mondrian", "improve": "anneal"}
    with pytest.raises(PolicyError, match=r"401 are more than the 400 .* leave --improve out"):
        sqlanon.plan(people, policy, table="people", **asked)
    assert sqlanon.plan(
        people, policy, table="people", **asked, partitioning="relaxed"
    ).report.holds


def test_relaxed_parts_leave_out_what_others_are_better_without(people):
    people.execute("INSERT INTO people SELECT 1000 + 300 * range, 'f', 1, 'a' FROM range(3)")
    quasi = {"age": Hierarchy.intervals(4, 20, 100, 500), "sex": Hierarchy.suppression()}
    losses = []
    for limit in (0, 0.05):
        policy = Policy(
            quasi, models=[KAnonymity(5)], drop=["person", "job"], suppression_limit=limit
        )
        report = sqlanon.anonymize(
            people,
            policy,
            table="people",
            method="mondrian",
            partitioning="relaxed",
            into=f"released_{len(losses)}",
        )
        assert report.holds
        losses.append(report.loss["lm"])
    assert losses[1] < losses[0]
    assert 0 < report.suppressed_records <= 20


def test_a_time_limit_leaves_parts_as_they_are(people, monkeypatch):
    """Here it comes when the table has just been read, so classes stay those of one node."""
    home = "sqlanon.methods.clustering.mondrian"
    monkeypatch.setattr(f"{home}.end_after", lambda *_: Deadline(0.0))
    monkeypatch.setattr(f"{home}.ROWS_IN_MEMORY", 10)
    quasi = {"age": QuasiIdentifier(AGE, max_level=3), "sex": Hierarchy.suppression()}
    policy = Policy(quasi, models=[KAnonymity(5)], drop=["person", "job"], suppression_limit=0.01)
    plans = [
        sqlanon.plan(people, policy, table="people", method=method)
        for method in ("mondrian", "incognito")
    ]
    assert plans[0].report.statistics == plans[1].report.statistics


def test_models_that_not_even_the_whole_table_satisfies_are_named(people):
    """Of persons and of records: both are asked of one column."""
    people.execute("UPDATE people SET job = 'a'")
    policy = Policy(
        {"age": AGE},
        sensitive=["job"],
        models=[KAnonymity(4), LDiversity(1.5, "entropy")],
        entity="person",
        drop=["sex"],
    )
    with pytest.raises(UnsatisfiableError, match="needs more values than the 1 that 'job' has"):
        sqlanon.plan(people, policy, table="people", method="mondrian")
