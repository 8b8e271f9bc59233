"""What belongs to a table besides its columns and rows; DuckDB only."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.names import added, bigint, column

OWN_PARTS = ("constraints", "column defaults", "indexes", "triggers", "comments")


def own_parts(table: exp.Table) -> exp.Select:
    """How many of each of `OWN_PARTS` a table has, in one row."""
    comments = [_count(f"duckdb_{kind}", "comment", table) for kind in ("tables", "columns")]
    return exp.select(
        _count("duckdb_constraints", "table_name", table),
        _count("duckdb_columns", "column_default", table),
        _count("duckdb_indexes", "table_name", table),
        _count("duckdb_triggers", "table_name", table),
        added(comments),
    )


def _count(function: str, part: str, table: exp.Table) -> exp.Subquery:
    """How many rows of the catalog about a table have a part."""
    names = ("database_name", table.catalog), ("schema_name", table.db), ("table_name", table.name)
    same = [exp.EQ(this=column(part), expression=exp.Literal.string(name)) for part, name in names]
    source = exp.Table(this=exp.Anonymous(this=function))
    count = bigint(exp.Count(this=column(part)))
    return exp.select(count).from_(source).where(*same).subquery(copy=False)
