"""Kept columns of a published table, or of one that a plan will publish."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.assessment.kept import kept_columns, with_joined
from sqlanon.engine.base import Engine
from sqlanon.publishing.plan import Plan
from sqlanon.reports.kept import KeptColumns


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
    policy, entity = plan.policy, plan.policy.entity
    found = kept_columns(
        engine,
        table,
        names=_kept_names(plan),
        quasi_identifiers=list(policy.quasi_identifiers),
        k=policy.k,
    )
    return (
        found
        if found is None or entity is None
        else with_joined(engine, source, found=found, entity=entity)
    )


def _kept_names(plan: Plan) -> list[str]:
    policy, columns = plan.policy, list(plan.columns)
    counted = {*policy.quasi_identifiers, *policy.sensitive}
    # Columns in no role are not published before they have one.
    published = policy.published(columns) if policy.others == "keep" else policy.keep
    return [name for name in columns if name in published and name not in counted]
