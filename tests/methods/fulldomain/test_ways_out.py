"""What a higher suppression limit would give: figures of named nodes, and limits that suffice."""

import re
from contextlib import closing
from dataclasses import replace

import pytest
from databases import empty_database, insert
from hypothesis import HealthCheck, assume, given, settings
from oracles.lattice import brute_force
from strategies import cases

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.fulldomain import alternatives

TREE = [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")]


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(cases())
def test_every_row_of_the_tradeoff_is_what_its_limit_gives(case):
    case = replace(case, limit=0.0, suppressed="drop")
    with closing(case.connection()) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, "MOST_SUPPRESSED", 0.99)
        try:
            report = sqlanon.plan(connection, case.policy, table="people", loss=case.loss).report
        except UnsatisfiableError:
            assume(False)
        name = case.loss.replace("-", "_")
        before = report.loss[name]
        for row in report.suppression_tradeoff:
            node = tuple(row["levels"].values())
            fixed = replace(case, bounds=[(at, at) for at in node], limit=row["suppression_limit"])
            expected = brute_force(fixed)
            assert expected.node == node
            assert expected.released.suppressed == row["suppressed_records"]
            found = sqlanon.plan(connection, fixed.policy, table="people", loss=case.loss).report
            assert found.suppressed_records == row["suppressed_records"]
            assert found.loss[name] == row["loss"] < before
            before = row["loss"]


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(cases())
def test_a_limit_that_is_advised_suffices_and_a_lower_one_does_not(case):
    # Where a column alone may be generalized, most policies cannot be satisfied without a limit.
    bounds = [case.bounds[0], *((low, low) for low, _ in case.bounds[1:])]
    case = replace(case, suppressed="drop", limit=0.0, bounds=bounds)
    # Told by brute force, which takes a tenth of the time of a plan.
    assume(brute_force(case).node is None)
    assume(brute_force(replace(case, limit=1.0)).node is not None)
    with closing(case.connection()) as connection:
        with pytest.raises(UnsatisfiableError) as caught:
            sqlanon.plan(connection, case.policy, table="people", loss=case.loss)
        advised = re.search(r"--suppression-limit\) to ([0-9.]+) or more", str(caught.value))
        assume(advised)
        limit, records = float(advised.group(1)), len(case.records)
        enough = replace(case, limit=limit)
        assert brute_force(enough).node is not None
        assert sqlanon.plan(connection, enough.policy, table="people", loss=case.loss).report.holds
        fewer = enough.policy.allowance(records) - 1
        assert brute_force(replace(case, limit=fewer / records)).node is None


def test_the_advice_looks_at_nodes_between_the_lowest_and_the_highest():
    """At the bottom all are alone, at the top x prevails; in between only the class of x fails."""
    rows = [(1, n, "xy"[n % 2]) for n in range(6)] + [(2, n, "x") for n in range(6, 10)]
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (a INTEGER, b INTEGER, ill VARCHAR)")
        insert(connection, "people", rows)
        policy = Policy(
            ["a", "b"], sensitive=["ill"], models=[KAnonymity(2), LDiversity(2, "entropy")]
        )
        with pytest.raises(UnsatisfiableError, match=r"to 0\.4 or more"):
            sqlanon.plan(connection, policy, table="people")


def test_a_table_that_suppression_would_help_is_not_called_hopeless():
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 1 AS a, unnest(['x', 'x', 'x', 'y']) AS ill"
        )
        policy = Policy(["a"], sensitive=["ill"], models=[KAnonymity(2), LDiversity(2, "entropy")])
        with pytest.raises(UnsatisfiableError) as caught:
            sqlanon.plan(connection, policy, table="people", method="set-cover")
    assert "no recoding that publishes every record" in str(caught.value)
    assert "--suppression-limit" in str(caught.value)


@pytest.fixture
def outliers():
    """A hundred records that are alike but one: without suppression nothing can be told apart."""
    rows = [("1",)] * 50 + [("3",)] * 50 + [("4",)]
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (a VARCHAR)")
        insert(connection, "people", rows)
        yield connection


def policy_of(**more):
    return Policy(
        {"a": Hierarchy.from_rows([*TREE[:3], ("4", "other", "*")])}, models=[KAnonymity(5)], **more
    )


def test_a_result_that_says_nothing_tells_what_a_limit_would_give(outliers):
    plan = sqlanon.plan(outliers, policy_of(), table="people")
    assert plan.report.levels == {"a": 2}
    [row] = plan.to_dict()["suppression_tradeoff"]
    assert (row["suppression_limit"], row["suppressed_records"]) == (0.01, 1)
    assert "a higher suppression limit allows these recodings" in plan.to_text()


def test_a_result_that_says_something_has_no_tradeoff(outliers):
    allowed = sqlanon.plan(outliers, policy_of(suppression_limit=0.01), table="people")
    assert allowed.report.suppression_tradeoff == ()
    assert allowed.report.levels == {"a": 0}


@pytest.mark.slow
def test_where_one_level_for_a_column_says_nothing_a_local_method_is_named(outliers):
    told = [
        "--method auto" in " ".join(sqlanon.plan(outliers, policy, table="people").report.notes)
        for policy in (policy_of(), policy_of(suppression_limit=0.01))
    ]
    assert told == [True, False]
    local = sqlanon.plan(outliers, policy_of(), table="people", method="mondrian").report
    assert local.loss["lm"] < 1


def test_a_search_of_limited_time_has_no_tradeoff(outliers):
    report = sqlanon.plan(outliers, policy_of(), table="people", time_limit=60).report
    assert report.suppression_tradeoff == ()


def test_the_tradeoff_survives_a_saved_plan(outliers, tmp_path):
    plan = sqlanon.plan(outliers, policy_of(), table="people")
    plan.save(tmp_path / "plan.json")
    assert sqlanon.Plan.load(tmp_path / "plan.json").report == plan.report
