"""Steadiness: whether a table has the same rows at each reading, asked once two readings differ."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.query.encoding.encode import fingerprint

_UNSTEADY = "the view gives other rows each time that it is read; store its rows in a table first"


def change_fault(engine: Engine, table: exp.Table, *, otherwise: str) -> str:
    """What to say of a table that did not stay the same while it was read.

    Args:
        engine: Where it is.
        table: The table or view.
        otherwise: What to say unless it is a view that gives other rows each time.
    """
    return _UNSTEADY if _is_unsteady(engine, table) else otherwise


def _is_unsteady(engine: Engine, table: exp.Table) -> bool:
    """Whether two readings of a view differ, as of one with random()."""
    if engine.is_base_table(table):
        return False
    columns = engine.columns(table)
    one, other = (engine.rows(fingerprint(table, columns)) for _ in range(2))
    return one != other
