"""Unsatisfiable policies: errors where a table fails even as one class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlanon.errors import UnsatisfiableError
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import ValueModel
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted


def unsatisfied_as_one(
    policy: Policy, demands: Demands | None, *, records: int
) -> UnsatisfiableError | None:
    """The error to raise where the whole table fails as one class, so that every recoding does.

    Args:
        policy: The policy.
        demands: Its models beyond k over the values of the table; None where there are none.
        records: Records of the table.
    """
    faults, helped = [], []
    if records < policy.k:
        faults.append(f"k is {policy.k} and the table has {counted(records, 'record')}")
    columns = list(dict.fromkeys(demand.column for demand in policy.demands))
    for demand in () if demands is None else demands.every:
        if demand.holds(demand.table[np.newaxis])[0]:
            continue
        model, column = demand.model, columns[demand.attribute]
        if model.least_values > len(demand.table):
            faults.append(too_few_values(model, column, values=len(demand.table)))
        else:
            helped.append(f"{column!r} fails {model.describe()} even in all records as one class")
    if faults:
        return impossible(policy, faults)
    return _needs_suppression(policy, helped) if helped else None


def _needs_suppression(policy: Policy, faults: Sequence[str]) -> UnsatisfiableError:
    """The error to raise where only a table without some records can satisfy the policy."""
    return UnsatisfiableError(
        f"no recoding that publishes every record satisfies {models_text(policy)}: "
        f"{'; '.join(faults)}; ask for less, or let incognito leave records out within a "
        "suppression limit (--method incognito --suppression-limit)"
    )


def too_few_values(model: ValueModel, column: str, *, values: int) -> str:
    """The values that a model needs and a column has, for a message."""
    return f"{model.describe()} needs more values than the {values} that {column!r} has"


def impossible(policy: Policy, faults: Sequence[str]) -> UnsatisfiableError:
    """The error to raise where the values of a table rule every recoding out."""
    return UnsatisfiableError(
        f"no recoding of any table with these values satisfies {models_text(policy)}: "
        f"{'; '.join(faults)}; ask for less"
    )


def models_text(policy: Policy) -> str:
    """The models of a policy, for a message."""
    demands = [f"{each.model.describe()} of {each.column!r}" for each in policy.demands]
    return " and ".join([f"k = {policy.k}", *demands])
