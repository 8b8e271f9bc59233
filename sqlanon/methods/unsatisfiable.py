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

    Where records may be left out, only what no part of the table satisfies either is an error.

    Args:
        policy: The policy.
        demands: Its models beyond k over the values of the table; None where there are none.
        records: Records of the table.
    """
    faults, helped = [], []
    if records < policy.k:
        faults.append(f"k is {policy.k} and the table has {counted(records, 'record')}")
    columns = list(dict.fromkeys(demand.column for demand in policy.demands))
    if demands is not None and demands.persons is not None:
        persons = len(np.unique(demands.persons))
        if persons < policy.k:
            faults.append(f"k is {policy.k} and the table has {counted(persons, 'person')}")
    for demand in () if demands is None else demands.every:
        if demand.holds(demand.whole)[0]:
            continue
        model, column = demand.model, columns[demand.attribute]
        if model.least_values > len(demand.table):
            faults.append(too_few_values(model, column, values=len(demand.table)))
        else:
            text = f"{model.describe()}{' of persons' if demand.of_persons else ''}"
            helped.append(f"{column!r} fails {text} even in all records as one class")
    if faults:
        return impossible(policy, list(dict.fromkeys(faults)))
    if not helped or policy.allowance(records):
        return None
    return UnsatisfiableError(
        f"no recoding that publishes every record satisfies {models_text(policy)}: "
        f"{'; '.join(helped)}; ask for less, or let records be left out within a suppression "
        "limit (--suppression-limit)"
    )


def alone_within_levels(
    policy: Policy, alone: int, *, records: int, allowance: int
) -> UnsatisfiableError:
    """The error to raise where more records than may be suppressed fit no class.

    Args:
        policy: The policy.
        alone: Records whose classes fail even at the highest levels.
        records: Records of the table.
        allowance: How many of them may be suppressed.
    """
    if alone >= records <= policy.allowance(records):
        return nothing_left(policy, records=records)
    are = "is" if alone == 1 else "are"
    what = f"fewer than {policy.k}" if not policy.demands else "too few or too much alike"
    return UnsatisfiableError(
        f"no recoding within the levels allowed satisfies {models_text(policy)}: even at the "
        f"highest levels {alone:,} of {records:,} records {are} in classes of {what}, and "
        f"{allowance} may be suppressed; raise max_level (--max-level) or the suppression limit "
        "(--suppression-limit), or lower k"
    )


def nothing_left(policy: Policy, *, records: int) -> UnsatisfiableError:
    """The error to raise where every record fits no class, and may be suppressed."""
    return UnsatisfiableError(
        f"no recoding within the levels allowed satisfies {models_text(policy)} and leaves "
        f"anything: even at the highest levels {records:,} of {records:,} records are in classes "
        "that do not; raise max_level (--max-level), or ask for less"
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
    demands = [f"{demand.model.describe()} of {demand.column!r}" for demand in policy.demands]
    whole = [f"{model.describe()} {model.threshold:g}" for model in policy.of_sizes]
    whole += [f"{model.describe()} (k = {model.k})" for model in policy.of_subsets]
    whole += [model.describe() for model in policy.population_models]
    k = [f"k = {policy.k}"] if policy.k > 1 or not whole else []
    return " and ".join([*k, *whole, *demands])
