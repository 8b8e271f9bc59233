"""Expected report: classes, models and loss of what a plan will publish, counted before it is."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.assessment.check import TableResults, demanded_results
from sqlanon.assessment.release import class_spread
from sqlanon.engine.base import Engine
from sqlanon.loss.measures import measured
from sqlanon.loss.release import Tallied
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Plan
from sqlanon.reports.plan import Report


def expected_results(engine: Engine, plan: Plan, *, table: exp.Table) -> TableResults:
    """Classes and models of what a plan will publish, of persons where they count.

    The temporary tables stay until the engine's workspace ends.
    """
    policy = _telling(plan)
    asked = [demand.column for demand in policy.demands]
    columns = [*policy.attributes, *asked, *([policy.entity] if policy.entity else [])]
    columns = list(dict.fromkeys(columns))
    expected = plan.recoded(columns, table, ordered=False)
    return demanded_results(
        engine, engine.materialize("expected", expected), policy=policy, columns=columns
    )


def _telling(plan: Plan) -> Policy:
    """The policy with those quasi-identifiers alone that tell published records apart.

    A column at the top of its hierarchy has one label, so the others make the same classes; one
    stays where none does. Records that are suppressed may have another label in each.
    """
    policy, report, node = plan.policy, plan.report, plan.recoding.node
    if node is None or report.suppressed_records:
        return policy
    attributes = policy.attributes
    below = [
        name for name, level in zip(attributes, node, strict=True) if level < report.heights[name]
    ]
    return policy.with_attributes({name: attributes[name] for name in below or [*attributes][:1]})


def expected_report(
    engine: Engine, plan: Plan, *, table: exp.Table, tallied: Tallied | None
) -> Report:
    """The report with the classes that will be published and what they tell of sensitive columns.

    Without `tallied`, what the plan will publish of the other columns, the models alone are asked,
    of persons where they count.
    """
    policy, report = _telling(plan), plan.report
    persons = [] if policy.entity is None else [policy.entity]
    if tallied is None:
        asked = [*(demand.column for demand in policy.demands), *persons]
    else:
        asked = [*policy.sensitive_attributes, *persons]
    if not asked:
        return report
    columns = list(dict.fromkeys([*policy.attributes, *asked]))
    expected = plan.recoded(columns, table, ordered=False)
    with engine.workspace():
        rows = engine.materialize("expected", expected)
        found = demanded_results(engine, rows, policy=policy, columns=columns)
        if tallied is not None:
            spreads = [
                class_spread(
                    engine,
                    table,
                    table=rows,
                    by=list(policy.attributes),
                    name=name,
                    nulls=each.nulls == "value",
                    suppressed=tallied.suppressed,
                )
                for name, each in policy.sensitive_attributes.items()
            ]
            report = replace(report, loss=measured(replace(tallied.release, sensitive=spreads)))
    return replace(report, statistics=found.statistics, models=found.models)
