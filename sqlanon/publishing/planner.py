"""Planning: from a table and a policy to a recoding, with nothing written but temporary tables."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from typing import Any

from sqlglot import exp

from sqlanon.assessment.check import demanded_results
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.loss.measures import refuse_inapplicable
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject, bind, enumerated
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Plan
from sqlanon.query.encoding.fingerprint import fingerprint
from sqlanon.recoding import Recoding
from sqlanon.reports.plan import Report

MANY_RECORDS = 100_000
"""Fewer are sorted in no time, and their statement had better be short."""


def make_plan(
    engine: Engine,
    table: exp.Table,
    policy: Policy,
    options: Options[Any],
    *,
    fingerprinted: bool = True,
) -> Plan:
    """Finds the recoding of least loss that satisfies a policy.

    Args:
        engine: Where the table lives.
        table: The table.
        policy: What the published table must satisfy.
        options: How to search.
        fingerprinted: Whether the plan must be able to tell later that the table has changed.

    Raises:
        PolicyError: The policy does not fit the table or has no model.
        HierarchyError: A hierarchy does not fit its column.
        UnsatisfiableError: No node allowed satisfies the policy.
    """
    if not (policy.models or policy.demands):
        raise PolicyError(
            "no privacy model is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)"
        )
    refuse_inapplicable(
        [options.loss],
        sensitive=bool(policy.sensitive_attributes),
        class_attribute=False,  # no loss that steers looks at one
    )
    started = time.monotonic()
    policy = _resolved(engine, policy)
    subject = bind(engine, table, policy)
    with engine.workspace():
        home = import_module(options.method.home)  # no other method is loaded
        decided: Decided = home.decide(engine, subject, policy, options)
    plan = Plan(
        policy=policy.with_attributes(subject.attributes),
        table=engine.portable(table).sql(engine.dialect, identify=True),
        columns={name: kind.sql("duckdb") for name, kind in subject.columns.items()},
        enumerated=enumerated(engine, table),
        recoding=decided.recoding,
        rounds=decided.rounds,
        few=_few(engine, subject, policy, decided.recoding),
        report=decided.report,
        fingerprint=engine.rows(fingerprint(table, list(subject.columns)))[0]
        if fingerprinted
        else None,
    )
    report = plan.report
    if decided.tallied is not None:
        from sqlanon.publishing.expected import expected_report  # k alone does not need it

        report = expected_report(engine, plan, table, decided.tallied)
    elif fingerprinted or policy.entity:
        report = _counted(engine, plan, table)
    seconds = {
        "encode": decided.encoded_at - started,
        "search": decided.searched_at - decided.encoded_at,
        "total": time.monotonic() - started,
    }
    return replace(plan, report=replace(report, seconds=seconds))


def _few(engine: Engine, subject: Subject, policy: Policy, recoding: Recoding) -> tuple[str, ...]:
    """The columns that records had better be sorted by the places of."""
    if recoding.records is not None or subject.records < MANY_RECORDS:
        return ()
    from sqlanon.publishing.sort_keys import few_labels  # small tables do not need it

    return few_labels(engine, subject, policy, recoding.levels)


def _resolved(engine: Engine, policy: Policy) -> Policy:
    """The policy with the hierarchies of its sensitive columns read from the database."""
    if not policy.demands:
        return policy
    from sqlanon.microdata.sensitive import resolved_sensitive  # k alone does not need it

    return replace(policy, sensitive=resolved_sensitive(engine, policy))


def _counted(engine: Engine, plan: Plan, table: exp.Table) -> Report:
    """The report with what the published rows will have of each model, of persons where they count.

    Where the sizes of classes say it all, the report shows it already.
    """
    policy, report = plan.policy, plan.report
    if not (policy.demands or policy.entity):
        return report
    demanded = [demand.column for demand in policy.demands]
    persons = [] if policy.entity is None else [policy.entity]
    columns = list(dict.fromkeys([*policy.attributes, *demanded, *persons]))
    from sqlanon.publishing.expected import staged  # k alone does not need it

    with staged(engine, plan.recoded(columns, table)) as rows:
        found = demanded_results(engine, rows, policy, columns)
    return replace(report, models=found.models, statistics=found.statistics)
