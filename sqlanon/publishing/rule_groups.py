"""Groups of values of a rule: held against the table, which alone tells what the rule makes of it.

A plan's policy does not list these values, so whether its groups are of the levels allowed shows
only where the plan is carried out.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import VerificationError
from sqlanon.microdata.binding import column_types, grow
from sqlanon.publishing.plan import Plan
from sqlanon.publishing.promises import misfits_of


def refuse_misfits(engine: Engine, plan: Plan, *, source: exp.Table) -> None:
    """Refuses groups of values of a rule that the policy does not allow.

    Raises:
        HierarchyError: A rule does not fit its column.
        VerificationError: Groups finer or coarser than the policy allows, or with other labels.
    """
    attributes = plan.policy.attributes
    own = {
        name: column
        for name, column in zip(attributes, plan.recoding.columns, strict=False)
        if not attributes[name].hierarchy.is_listed
    }
    if not own:
        return
    trees, _ = grow(
        engine,
        source,
        attributes={name: attributes[name] for name in own},
        columns=column_types(engine, source),
        nullable=frozenset(
            name
            for name, column in own.items()
            if any(None in group.values for group in column.groups)
        ),
    )
    faults = [
        fault
        for tree, (name, column) in zip(trees, own.items(), strict=True)
        for fault in misfits_of(attributes[name], column, tree=tree)
    ]
    if faults:
        raise VerificationError(
            f"the plan cannot be carried out: {'; '.join(faults)}; make a new plan with the policy "
            "that is meant"
        )
