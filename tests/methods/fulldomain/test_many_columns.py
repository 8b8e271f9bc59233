"""Many columns: costs that are joined a few columns at a time make the same plan."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.methods.fulldomain import frequency_sets

WIDTH = 5


@pytest.fixture
def people():
    connection = empty_database()
    columns = ", ".join(f"(hash(i, {n}) % 23)::INTEGER AS c{n}" for n in range(WIDTH))
    connection.execute(
        f"CREATE TABLE people AS SELECT {columns}, hash(i) % 3 AS ill FROM range(300) t(i)"
    )
    return connection


@pytest.mark.slow
@pytest.mark.parametrize("models", [[KAnonymity(3)], [KAnonymity(3), LDiversity(2)]])
def test_costs_by_a_few_columns_at_a_time_make_the_same_plan(people, models):
    hierarchies = {f"c{n}": Hierarchy.intervals(5, 10) for n in range(WIDTH)}
    policy = Policy(hierarchies, ["ill"], models=models, suppression_limit=0.2)
    whole = sqlanon.plan(people, policy, table="people")
    with patch.object(frequency_sets, "JOINED", 2):
        parts = sqlanon.plan(people, policy, table="people")
    assert parts.recoding == whole.recoding
    assert parts.report.loss == whole.report.loss
    assert parts.report.search.checked == whole.report.search.checked
    assert whole.report.suppressed_records > 0
