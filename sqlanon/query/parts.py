"""What belongs to a table besides its columns and rows; DuckDB only."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.names import bigint, column, count_all

OWN_PARTS = ("constraints", "column defaults", "indexes")


def own_parts(table: exp.Table) -> exp.Select:
    """How many constraints, column defaults and indexes a table has, in one row."""
    default = column("column_default").is_(exp.null()).not_()
    counts = (
        _count("duckdb_constraints", table),
        _count("duckdb_columns", table).where(default, copy=False),
        _count("duckdb_indexes", table),
    )
    return exp.select(*(exp.Subquery(this=count) for count in counts))


def _count(function: str, table: exp.Table) -> exp.Select:
    names = ("database_name", table.catalog), ("schema_name", table.db), ("table_name", table.name)
    same = [exp.EQ(this=column(part), expression=exp.Literal.string(name)) for part, name in names]
    source = exp.Table(this=exp.Anonymous(this=function))
    return exp.select(bigint(count_all())).from_(source).where(*same)
