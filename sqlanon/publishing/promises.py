"""Promises: what a plan says of itself, held against its policy and against its digest.

Whoever changes a plan can work out its digest anew, so a digest only tells slips. What a policy
guarantees is therefore held against the recoding here, and against the published table when the
plan is carried out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import VerificationError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.policy.roles import QuasiIdentifier
from sqlanon.query.encode import LEAF, values_of
from sqlanon.query.syntax import TEXT
from sqlanon.recoding import ColumnMap, Recoding
from sqlanon.reports.plan import Report
from sqlanon.sqltext import expression
from sqlanon.sqltext import name as quoted
from sqlanon.wording import counted

DIGEST = "digest"


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A plan's document with a digest of all that it says."""
    return {**document, DIGEST: _digest(document)}


def is_changed(document: Mapping[str, Any]) -> bool:
    """Whether a document says something else than when it was sealed."""
    return bool(document[DIGEST] != _digest(document))


def broken_promises(policy: Policy, recoding: Recoding, *, report: Report) -> Iterator[str]:
    """What of a policy a plan does not keep, as far as it tells itself."""
    for (name, attribute), levels in zip(policy.attributes.items(), recoding.levels, strict=False):
        height = attribute.hierarchy.height if attribute.max_level is None else attribute.max_level
        if levels and not attribute.min_level <= levels[0] <= levels[-1] <= height:
            yield (
                f"it publishes column {name!r} at {_range(levels[0], levels[-1])}, where its "
                f"policy allows {_range(attribute.min_level, height)}"
            )
    suppressed, records = report.suppressed_records, report.records
    if recoding.published_records is not None:
        suppressed = records - recoding.published_records
    if suppressed > policy.allowance(records):
        yield (
            f"it suppresses {counted(suppressed, 'record')} of {records:,}, where the suppression "
            f"limit {policy.suppression_limit:g} of its policy allows {policy.allowance(records):,}"
        )


def _range(low: int, high: int) -> str:
    return f"level {low}" if low == high else f"levels {low} to {high}"


def smaller_classes(policy: Policy, report: Report) -> list[str]:
    """Classes that are expected to be smaller than the policy allows."""
    smallest = report.statistics.smallest
    if not smallest or smallest >= policy.k:
        return []
    return [f"its policy asks for k = {policy.k}, and it was made for classes of {smallest}"]


def misfits(policy: Policy, recoding: Recoding) -> list[str]:
    """Groups of values that a policy does not allow, or that have labels of others.

    Only where the policy itself lists the values: those of a rule are known to the table alone, and
    held against it when the plan is carried out.
    """
    faults = []
    for (name, attribute), mapped in zip(policy.attributes.items(), recoding.columns, strict=False):
        if attribute.hierarchy.is_listed:
            with_null = any(None in group.values for group in mapped.groups)
            rows = attribute.hierarchy.rows or ()
            tree = Tree.grow(name, rows, with_null=with_null)
            faults += misfits_of(attribute, mapped, tree=tree)
    return faults


def misfits_of(attribute: QuasiIdentifier, mapped: ColumnMap, *, tree: Tree) -> list[str]:
    """What of a column's groups its policy does not allow, by its hierarchy over all values."""
    from sqlanon.hierarchy.group_labels import GroupReader  # only maps have groups

    reader, wrong = GroupReader(tree), 0
    high = tree.height if attribute.max_level is None else attribute.max_level
    if {*tree.leaves} != {value for group in mapped.groups for value in group.values}:
        wrong = len(mapped.groups)
    for label, values in () if wrong else mapped.groups:
        leaves = [reader.leaf[value] for value in values]
        low, top = reader.between(leaves)
        allowed = range(attribute.min_level, high + 1)
        named = {tree.labels[at][leaves[0]] for at in reader.levels_of(leaves) if at in allowed}
        is_named = label in named
        if not reader.is_known(label):
            is_named = reader.read(label) == frozenset(leaves)
        wrong += not (is_named and attribute.min_level <= low and top <= high)
    if not wrong:
        return []
    return [
        f"it publishes {counted(wrong, 'group')} of values of column {tree.column!r} that its "
        "policy does not allow, or that another label stands for"
    ]


def refuse_misfits(
    engine: Engine, policy: Policy, recoding: Recoding, *, source: exp.Table
) -> None:
    """Refuses groups of values of a rule that the policy does not allow.

    The policy does not list these values, so what the rule makes of them shows in the database
    alone: of the values that are mapped, and of all that the table holds, which must be among them.

    Raises:
        HierarchyError: A rule does not fit its column.
        VerificationError: Groups finer or coarser than the policy allows, or with other labels.
    """
    attributes = policy.attributes
    maps = {
        name: column
        for name, column in zip(attributes, recoding.columns, strict=False)
        if not attributes[name].hierarchy.is_listed
    }
    if not maps:
        return
    from sqlanon.microdata.binding import grow  # only maps of values need it

    columns, faults = column_types(engine, source), list[str]()
    for name, mapped in maps.items():
        texts = [value for group in mapped.groups for value in group.values]
        with engine.workspace():
            listed = engine.load_rows("listed", {LEAF: texts}, {LEAF: TEXT})
            every = expression(
                "SELECT value AS {{ column }} FROM ({{ mapped }}) AS mapped"
                " UNION SELECT {{ column }} FROM {{ source }}",
                column=quoted(name),
                mapped=values_of(listed, columns[name], carried=[]),
                source=source,
            )
            (tree,), _ = grow(
                engine,
                engine.materialize("known", every),
                attributes={name: attributes[name]},
                columns=columns,
                nullable=frozenset([name] if None in texts else []),
            )
            faults += misfits_of(attributes[name], mapped, tree=tree)
    if faults:
        raise VerificationError(
            f"the plan cannot be carried out: {'; '.join(faults)}; make a new plan with the policy "
            "that is meant"
        )


def _digest(document: Mapping[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name != DIGEST}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
