"""Partial domain end to end: E of what is published, against the best full-domain node."""

from __future__ import annotations

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy


@pytest.fixture(scope="module")
def people():
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT (20 + hash(i, 1) % 40)::INTEGER AS age, "
        "(100 + hash(i, 2) % 5 * 27)::TEXT AS zip, 'fm'[(1 + hash(i, 3) % 2)::INTEGER] AS sex, "
        "nullif('abc-'[(1 + hash(i, 4) % 4)::INTEGER], '-') AS ill FROM range(80) AS r(i)"
    )
    yield connection
    connection.close()


def policy_of(*models, sensitive=("ill",), **more):
    return Policy(
        quasi_identifiers={
            "age": Hierarchy.intervals(10, 20),
            "zip": Hierarchy.prefix(2, 1),
            "sex": Hierarchy.suppression(),
        },
        sensitive=sensitive,
        others="drop",
        models=[KAnonymity(4), *models],
        **more,
    )


@pytest.mark.slow
@pytest.mark.parametrize("models", [(), (LDiversity(2),)])
def test_e_is_no_worse_than_that_of_the_best_node(people, models):
    policy = policy_of(*models)
    node = sqlanon.plan(people, policy, table="people", method="incognito", loss="utility").report
    report = sqlanon.anonymize(
        people, policy, table="people",
        method="partial-domain", loss="tree", refine=False, into="released", overwrite=True,
    )  # fmt: skip
    assert report.holds
    assert sqlanon.check(people, policy, table="released").holds
    assert report.loss["utility"] < node.loss["utility"]
    assert report.loss["tree"] < node.loss["tree"]
    assert report.lower_bound <= report.loss["tree"]


@pytest.mark.slow
def test_a_sensitive_column_decides_with_k_alone(people):
    """Both columns can be cut at the same cost; the illness follows the second one."""
    people.execute(
        "CREATE OR REPLACE TABLE alike AS SELECT range % 2 AS a, range // 2 % 2 AS b, "
        "chr((97 + range // 2 % 2)::INTEGER) AS ill FROM range(12)"
    )

    def kept(sensitive):
        columns = {name: Hierarchy.suppression() for name in "ab"}
        policy = Policy(columns, sensitive=sensitive, others="drop", models=[KAnonymity(5)])
        report = sqlanon.plan(
            people, policy, table="alike", method="partial-domain", refine=False
        ).report  # fmt: skip
        return {name: levels[0] for name, levels in report.records_per_level.items()}

    assert kept(["ill"]) == {"a": 0, "b": 12}
    assert kept([]) == {"a": 12, "b": 0}
