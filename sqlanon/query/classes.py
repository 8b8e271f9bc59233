"""Equivalence classes of any table, as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.frequency import CLASS_SIZE, histogram
from sqlanon.query.names import alias, bigint, column, count_all


def size_histogram(table: exp.Table, quasi_identifiers: Sequence[str]) -> exp.Select:
    """The sizes of a table's classes and how many classes have each size.

    NULL is a value: records with NULL in a column share it.
    """
    classes = exp.select(alias(bigint(count_all()), CLASS_SIZE)).from_(table.copy())
    return histogram(classes.group_by(*(column(name) for name in quasi_identifiers)))


def records(table: exp.Table) -> exp.Select:
    """Number of records of a table."""
    return exp.select(bigint(count_all())).from_(table.copy())
