"""Checking: which models a table satisfies as it stands, whoever made it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.binding import column_types, refuse_unsuited
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError
from sqlanon.policy import Policy
from sqlanon.query import classes
from sqlanon.report import RISK_THRESHOLD, CheckReport, ClassStatistics, ModelResult


def check_table(engine: Engine, table: exp.Table, policy: Policy) -> CheckReport:
    """Counts the equivalence classes of a table; hierarchies are not needed.

    Raises:
        PolicyError: No quasi-identifier, or columns that the table does not have.
        SourceError: An empty table.
    """
    started = time.monotonic()
    columns = engine.columns(table)
    # What is not published is not there any more when the published table is checked.
    replace(policy, identifiers=(), drop=()).check_columns(list(columns))
    names = list(policy.attributes)
    if not names:
        raise PolicyError("no quasi-identifier is named; name them with --qi COLUMN")
    types = column_types(engine, table)
    refuse_unsuited(engine, table, {name: types[name] for name in names})
    statistics = class_statistics(engine, table, names)
    if not statistics.records:
        raise SourceError("the table is empty; there is nothing to check")
    return CheckReport(
        statistics=statistics,
        models=model_results(policy, statistics),
        threshold=RISK_THRESHOLD,
        quasi_identifiers=tuple(names),
        notes=tuple(policy_notes(policy)),
        seconds=time.monotonic() - started,
    )


def class_statistics(
    engine: Engine, table: exp.Table, quasi_identifiers: Sequence[str]
) -> ClassStatistics:
    """The equivalence classes of a table by size, in one pass."""
    return ClassStatistics.of(engine.rows(classes.size_histogram(table, quasi_identifiers)))


def model_results(policy: Policy, statistics: ClassStatistics) -> tuple[ModelResult, ...]:
    """Whether a table's classes satisfy each model of a policy."""
    return tuple(
        ModelResult(model.describe(), model.k, statistics.smallest, statistics.smallest >= model.k)
        for model in policy.models
    )


def policy_notes(policy: Policy) -> list[str]:
    """What a policy does not protect from."""
    notes = []
    if policy.models and policy.k == 1:
        notes.append("k = 1 protects nobody: every table is 1-anonymous")
    if policy.sensitive:
        names = ", ".join(map(repr, policy.sensitive))
        notes.append(
            f"k-anonymity alone does not hide {names}: all records of a class may share a value"
        )
    return notes
