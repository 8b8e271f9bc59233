"""Expectation: what a plan will publish, counted before it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from sqlanon.assessment.check import demanded_results
from sqlanon.assessment.purity import Told, class_spread
from sqlanon.engine.base import Engine
from sqlanon.loss.measures import measured
from sqlanon.loss.release import Tallied
from sqlanon.publishing.plan import Plan
from sqlanon.reports.plan import Report


def expected_report(engine: Engine, plan: Plan, table: exp.Table, told: Tallied) -> Report:
    """The report with what the published classes will tell of sensitive columns.

    Args:
        engine: Where the table lives.
        plan: The plan.
        table: The table.
        told: What the plan will publish of the other columns.
    """
    policy = plan.policy
    attributes = policy.sensitive_attributes
    if not attributes:
        return plan.report
    columns = list(dict.fromkeys([*policy.attributes, *attributes]))
    with staged(engine, plan.recoded(columns, table)) as rows:
        found = demanded_results(engine, rows, policy, columns)
        by = list(policy.attributes)
        spreads = [
            class_spread(
                engine, table, rows, Told(by, name, each.nulls == "value"), told.suppressed
            )
            for name, each in attributes.items()
        ]
    loss = measured(replace(told.release, sensitive=spreads))
    return replace(plan.report, loss=loss, statistics=found.statistics, models=found.models)


@contextmanager
def staged(engine: Engine, rows: exp.Select) -> Iterator[exp.Table]:
    """Rows that will be published, in a temporary table for a while.

    Args:
        engine: Where the table lives.
        rows: What `Plan.recoded` makes; their order is of no account here.
    """
    unsorted = rows.copy()
    unsorted.set("order", None)
    with engine.workspace():
        yield engine.materialize("expected", unsorted)
