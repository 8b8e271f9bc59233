"""Weights: individual risk of a sample, and risk of its households."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, SourceError
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import weights
from sqlanon.query.classes.frequency import CLASS_SIZE
from sqlanon.query.classes.table_classes import most_records, sized_classes
from sqlanon.reports.weights import RecordRisk, WeightedRisk
from sqlanon.sqltext import Fragment, value
from sqlanon.wording import counted

MAX_WEIGHT = 1e12
"""Most people that a record can stand for: more than there are, and few enough to add up."""


def weighted_risk(
    engine: Engine, table: exp.Table, *, policy: Policy, threshold: float
) -> WeightedRisk | None:
    """Individual risk by the policy's weight, and by its household; None where it has neither.

    The temporary table of its classes stays until the engine's workspace ends.

    Args:
        engine: Where the table is.
        table: The sample, of one record or more.
        policy: Its quasi-identifiers, weight and household.
        threshold: Risk above which a record counts as at risk, in (0, 1].

    Raises:
        PolicyError: A person has several records.
        SourceError: Records without a weight or household, or with a weight below 1.
    """
    weight, household = policy.weight, policy.household
    if weight is None and household is None:
        return None
    if policy.entity is not None and engine.rows(most_records(table, policy.entity))[0][0] > 1:
        raise PolicyError(
            f"persons have several records (entity {policy.entity!r}), and a weight says how many "
            "people one record stands for, so that they would count several times; leave weight "
            "and household out, or give a table of one record for each person"
        )
    types = engine.columns(table)
    number: Fragment = value(1.0)
    home: Fragment = value(1)
    if weight is not None:
        number = weights.number(weight, types[weight])
    if household is not None:
        home = weights.present(household, types[household])
    query = weights.weight_faults(
        table, weight=weight, number=number, household=home, most=MAX_WEIGHT
    )
    _refuse_faults(engine.rows(query)[0], weight=weight, household=household)
    names = list(policy.attributes)
    query = sized_classes(table, names, size=CLASS_SIZE, weight=number)
    classes = engine.materialize("weighted", query)
    query = weights.individual_risk(classes, len(names))
    risks = engine.materialize("risks", query)
    parts: list[Fragment] = [risks]
    if household is not None:
        parts.append(weights.household_risk(table, names, household=household, risks=risks))
    figures = [
        RecordRisk(*engine.rows(weights.record_risk(part, threshold=threshold))[0])
        for part in parts
    ]
    return WeightedRisk(weight, engine.rows(weights.people(classes))[0][0], *figures)


def _refuse_faults(counts: Sequence[int], *, weight: str | None, household: str | None) -> None:
    missing, wrong, homeless = counts
    faults = [
        f"{which} column {name!r} has {counted(records, 'record')} {what}"
        for which, name, records, what in (
            ("weight", weight, missing, "without a value (NULL)"),
            ("weight", weight, wrong, f"whose value is no number from 1 to {MAX_WEIGHT:,.0f}"),
            ("household", household, homeless, "without a value (NULL or NaN)"),
        )
        if records
    ]
    if missing or wrong:
        faults.append(
            "a weight says how many people a record stands for, itself among them: leave such "
            "records out, give weights that are not scaled, or name another column "
            "(--weight-column)"
        )
    if homeless:
        faults.append(
            "such records would count as one household: give each a household of its own, leave "
            "them out, or name another column (--household)"
        )
    if faults:
        raise SourceError("; ".join(faults))
