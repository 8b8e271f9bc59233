"""What a plan will publish, counted before it is: classes, models, loss, and columns it keeps."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.assessment.check import TableResults, demanded_results
from sqlanon.engine.base import Engine
from sqlanon.loss.measures import measured
from sqlanon.loss.release import Tallied
from sqlanon.publishing.plan import Plan
from sqlanon.reports.kept import KeptColumns
from sqlanon.reports.plan import Report


def expected_results(
    engine: Engine, plan: Plan, *, table: exp.Table, every_sensitive: bool = False
) -> tuple[TableResults, exp.Table]:
    """Classes and models of what a plan will publish, of persons where they count, and its rows.

    The rows have sensitive columns where a model asks for them, or all of them. The temporary
    tables stay until the engine's workspace ends.
    """
    policy = plan.policy
    asked = [demand.column for demand in policy.demands]
    asked = [*policy.sensitive_attributes] if every_sensitive else asked
    persons = [] if policy.entity is None else [policy.entity]
    columns = list(dict.fromkeys([*policy.attributes, *asked, *persons]))
    rows = engine.materialize("expected", plan.recoded(columns, table, ordered=False))
    return demanded_results(engine, rows, policy=policy, columns=columns), rows


def expected_report(
    engine: Engine, plan: Plan, *, table: exp.Table, tallied: Tallied | None
) -> Report:
    """The report with the classes that will be published and what they tell of sensitive columns.

    Without `tallied`, what the plan will publish of the other columns, the models alone are asked,
    of persons where they count.
    """
    policy, report = plan.policy, plan.report
    if not (policy.beyond_sizes or (tallied is not None and policy.sensitive_attributes)):
        return report
    with engine.workspace():
        results, rows = expected_results(
            engine, plan, table=table, every_sensitive=tallied is not None
        )
        if tallied is not None:
            from sqlanon.assessment.release import class_spread  # k alone does not need it

            spreads = [
                class_spread(
                    engine,
                    table,
                    table=rows,
                    by=list(policy.attributes),
                    name=name,
                    nulls=attribute.nulls == "value",
                    suppressed=tallied.suppressed,
                )
                for name, attribute in policy.sensitive_attributes.items()
            ]
            report = replace(report, loss=measured(replace(tallied.release, sensitive=spreads)))
    return replace(report, statistics=results.statistics, models=results.models)


def expected_kept(engine: Engine, plan: Plan, *, source: exp.Table) -> KeptColumns | None:
    """Whom the columns that a plan keeps will single out; None where it keeps none."""
    names = _kept_names(plan)
    if not names:
        return None
    with engine.workspace():
        columns = [*plan.policy.quasi_identifiers, *names]
        query = plan.recoded(columns, source, ordered=False)
        return published_kept(
            engine, plan, source=source, table=engine.materialize("expected", query)
        )


def published_kept(
    engine: Engine, plan: Plan, *, source: exp.Table, table: exp.Table
) -> KeptColumns | None:
    """Whom the kept columns of a published table single out; the source knows whose they are."""
    from sqlanon.assessment.kept import kept_columns, with_joined  # few policies keep any

    policy, entity = plan.policy, plan.policy.entity
    kept = kept_columns(
        engine,
        table,
        names=_kept_names(plan),
        quasi_identifiers=list(policy.quasi_identifiers),
        k=policy.k,
        weight=policy.weight,
    )
    return (
        kept
        if kept is None or entity is None
        else with_joined(engine, source, kept=kept, entity=entity)
    )


def _kept_names(plan: Plan) -> list[str]:
    policy, columns = plan.policy, list(plan.columns)
    counted = {*policy.quasi_identifiers, *policy.sensitive}
    # Columns in no role are not published before they have one.
    published = policy.published(columns) if policy.others == "keep" else policy.keep
    return [name for name in columns if name in published and name not in counted]
