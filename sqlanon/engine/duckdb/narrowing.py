"""Files of which not all columns are loaded: those that are left out read as NULL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engine.base import Use
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.syntax import create_temporary


def home(engine: DuckDB, table: exp.Table, *, names: Sequence[str], use: Use) -> exp.Table:
    """Where the columns that are loaded go: the table itself where that is all of them."""
    return table if len(use.kept(names)) == len(names) else engine.temporary("file")


def complete(
    engine: DuckDB, loaded: exp.Table, *, table: exp.Table, names: Sequence[str], use: Use
) -> None:
    """Makes the table whole again, where only some of its columns were loaded."""
    if loaded != table:
        query = exp.select(*projections(names, use)).from_(loaded.copy())
        engine.run(create_temporary(table.copy(), query, kind="VIEW"))


def projections(names: Sequence[str], use: Use) -> list[exp.Expr]:
    """All columns, those that are left out as NULL."""
    kept = set(use.kept(names))
    return [
        exp.column(name, quoted=True)
        if name in kept
        else exp.cast(exp.Null(), "VARCHAR").as_(name, quoted=True)
        for name in names
    ]
