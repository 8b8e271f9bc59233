"""Shares of sensitive values: the released table beside the class that tells most of them."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.assessment.purity import label_keys
from sqlanon.engine.base import Engine
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import value_shares as query
from sqlanon.query.encoding.encode import WHOLE
from sqlanon.query.privacy.figures import Reference, reference
from sqlanon.query.syntax import column, select
from sqlanon.query.text import varchar
from sqlanon.release_report.figures import ShareRow, ValueShares

SHOWN = 12
"""Most values that are told one by one."""
PARTS = 10
"""Ranges of about as many records each, where a column in order has more values."""
_ORDERED = {
    *WHOLE,
    *exp.DataType.FLOAT_TYPES,
    *exp.DataType.TEMPORAL_TYPES,
    exp.DataType.Type.DECIMAL,
}


def value_shares(engine: Engine, table: exp.Table, *, policy: Policy, name: str) -> ValueShares:
    """Values of a sensitive column of a release, all of which are published already."""
    kind, names = column_types(engine, table)[name], list(policy.attributes)
    nulls = policy.sensitive_attributes[name].nulls == "value"
    with engine.workspace():
        spread = engine.materialize(
            "spread", query.class_values(table, names, attribute=name, nulls=nulls)
        )
        [(records, different)] = engine.rows(query.counted(spread))
        if not records:
            return ValueShares(name, 0, 0, (), 0.0, 0, {})
        is_ranged = different > SHOWN and kind.this in _ORDERED
        far = query.furthest_class(spread, len(names), records=records)
        if is_ranged:
            far = query.furthest_in_order(
                spread, len(names), reference=_in_order(engine, spread, records=records)
            )
        furthest = engine.materialize("furthest", far)
        held = engine.materialize("held", query.held_values(spread, furthest, columns=len(names)))
        [(values, records, size, alone)] = engine.rows(query.totals(held))
        labels = [varchar(column(each)) for each in label_keys(names)]
        found = engine.rows(select([*labels, column(query.DISTANCE)], furthest))
        if is_ranged:
            rows = _ranges(engine, held, kind)
        else:
            rows = _frequent(engine, held, kind=kind, totals=(values, records, size))
    [(*texts, distance)] = found
    return ValueShares(
        name=name,
        values=values,
        records=records,
        rows=rows,
        distance=distance,
        class_size=size,
        class_labels=dict(zip(names, texts, strict=True)),
        is_ranged=is_ranged,
        unique=alone,
    )


def _in_order(engine: Engine, spread: exp.Table, *, records: int) -> Reference:
    """The distribution of the table over the values in their order."""
    values, number = engine.materialize_counted("values", reference(spread))
    return Reference(values, records, number)


def _frequent(
    engine: Engine, held: exp.Table, *, kind: exp.DataType, totals: tuple[int, int, int]
) -> tuple[ShareRow, ...]:
    """The most frequent values, and all others as one."""
    rows = [ShareRow(*row) for row in engine.rows(query.frequent(held, kind, most=SHOWN))]
    values, records, size = totals
    if values > len(rows):
        left = records - sum(row.records for row in rows), size - sum(row.held for row in rows)
        rows.append(ShareRow("", *left, values - len(rows)))
    return tuple(rows)


def _ranges(engine: Engine, held: exp.Table, kind: exp.DataType) -> tuple[ShareRow, ...]:
    """Ranges of values that hold about as many records each."""
    found = engine.rows(query.in_parts(held, kind, parts=PARTS))
    return tuple(
        ShareRow(low if low == high else f"{low} to {high}", own, inside)
        for low, high, own, inside in found
    )
