"""Planning: from a table and a policy to a recoding, with nothing written but temporary tables."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from typing import Any

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.loss.measures import refuse_inapplicable
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject, bind, enumerated
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Fingerprint, Plan
from sqlanon.query.encoding.fingerprint import fingerprint
from sqlanon.recoding import Recoding

SORTED_BY_PLACES = 100_000
"""Records from which places are looked for: fewer are sorted at once by their labels."""


def make_plan(
    engine: Engine,
    table: exp.Table,
    policy: Policy,
    options: Options[Any],
    *,
    fingerprinted: bool = True,
) -> Plan:
    """Finds the recoding of least loss that satisfies a policy.

    With `fingerprinted`, the plan can tell later that the table has changed.

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
    if policy.demands:
        from sqlanon.microdata.sensitive import resolved_sensitive  # k alone does not need it

        policy = replace(policy, sensitive=resolved_sensitive(engine, policy))
    subject = bind(engine, table, policy)
    before = _digest(engine, subject) if fingerprinted else None
    with engine.workspace():
        home = import_module(options.method.home)  # no other method is loaded
        decided: Decided = home.decide(engine, subject, policy, options)
    engine.refuse_changed()
    plan = Plan(
        policy=policy.with_attributes(subject.attributes),
        table=engine.portable(table).sql(engine.dialect, identify=True),
        columns={name: kind.sql("duckdb") for name, kind in subject.columns.items()},
        enumerated=enumerated(engine, table),
        recoding=decided.recoding,
        rounds=decided.rounds,
        few=_few(engine, subject, policy, decided.recoding),
        report=decided.report,
        fingerprint=before,
    )
    report = plan.report
    if decided.tallied is not None or policy.entity or (fingerprinted and policy.demands):
        from sqlanon.publishing.expected import expected_report  # k alone does not need it

        report = expected_report(engine, plan, table, decided.tallied)
    seconds = {
        "encode": decided.encoded_at - started,
        "search": decided.searched_at - decided.encoded_at,
        "total": time.monotonic() - started,
    }
    return replace(plan, report=replace(report, seconds=seconds))


def _digest(engine: Engine, subject: Subject) -> Fingerprint:
    """The fingerprint of a table, taken before anything is decided about it."""
    [(records, digest)] = engine.rows(fingerprint(subject.table, list(subject.columns)))
    return records, digest


def _few(engine: Engine, subject: Subject, policy: Policy, recoding: Recoding) -> tuple[str, ...]:
    """The columns that records had better be sorted by the places of."""
    if recoding.records is not None or subject.records < SORTED_BY_PLACES:
        return ()
    from sqlanon.publishing.sort_columns import few_labels  # small tables do not need it

    return few_labels(engine, subject, policy, recoding.levels)
