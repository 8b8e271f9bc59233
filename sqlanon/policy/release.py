"""Released tables: columns of theirs that their policy does not let out."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.errors import ReleaseError
from sqlanon.policy.policy import Policy
from sqlanon.wording import counted


def released(policy: Policy, columns: Sequence[str]) -> Policy:
    """The policy, for a table that is published as it is.

    Args:
        policy: The policy that it was published by; columns that it drops need not be there.
        columns: The table's columns.

    Raises:
        ReleaseError: There are columns that the policy drops, or that it gives no role.
    """
    dropped = {*policy.identifiers, *policy.drop, policy.entity}
    faults = []
    for names, why in (
        ([name for name in columns if name in dropped], "that the policy drops"),
        (policy.unassigned(columns), "without a role in the policy"),
    ):
        if names:
            listed = ", ".join(map(repr, names))
            faults.append(f"{counted(len(names), 'column')} {why}: {listed}")
    if faults:
        raise ReleaseError(
            f"the table holds {'; and '.join(faults)}; publish it by sqlanon anonymize, or give "
            "columns that may be published a role in the policy"
        )
    return policy
