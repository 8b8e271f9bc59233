"""Value map: the recoding of a column by the groups of its values."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.publish.recode import LABEL, Recode, listed_labels
from sqlanon.recoding import ColumnMap


def recode_by_map(name: str, groups: ColumnMap, *, column_type: exp.DataType) -> Recode:
    """The recoding of a column to its groups; values that stay as they are keep their type.

    Otherwise every value is listed with its label: a group of any values has no other name.
    """
    if groups.is_original:
        return Recode(name)
    if len(groups.groups) == 1:
        return Recode(name, constant=groups.groups[0].label)
    rows = [(value, group.label) for group in groups.groups for value in group.values]
    return Recode(name, labels=listed_labels(rows, {1: LABEL}, column_type=column_type))
