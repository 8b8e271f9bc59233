"""Types and statements as DuckDB writes them."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from sqlanon.sqlglot_version import drop
from sqlanon.sqltext import Statement, expression


def type_of(text: str) -> exp.DataType:
    """A type from DuckDB's text for it, also where sqlglot does not know the type."""
    return exp.DataType.build(text, dialect="duckdb", udt=True)


def create_temporary(
    target: exp.Expr, query: exp.Query | None = None, *, kind: str = "TABLE"
) -> exp.Create:
    """CREATE TEMPORARY TABLE or VIEW.

    Args:
        target: A table, or a schema with column definitions.
        query: What fills it.
        kind: "TABLE" or "VIEW".
    """
    properties = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=target, kind=kind, expression=query, properties=properties)


def temporary_of(table: exp.Table, query: Statement) -> Statement:
    """CREATE TEMPORARY TABLE of a query's rows."""
    if isinstance(query, exp.Query):
        return create_temporary(table.copy(), query)
    return expression("CREATE TEMPORARY TABLE {{ table }} AS {{ query }}", table=table, query=query)


def drop_temporary(table: exp.Table) -> exp.Drop:
    """DROP of a temporary table that may be gone already."""
    return drop(table, exists=True)


def set_option(name: str, value: object) -> exp.Set:
    """SET of an option of the database."""
    equals = exp.EQ(this=exp.column(name), expression=exp.convert(value))
    return exp.Set(expressions=[exp.SetItem(this=equals)])


def attach(path: Path, name: str, **options: exp.Expr) -> exp.Attach:
    """ATTACH of a database file."""
    alias = exp.alias_(exp.Literal.string(str(path)), name, quoted=True)
    # Without a type, DuckDB would also take a file of data for a database.
    settings = [
        exp.AttachOption(this=exp.var(key), expression=value)
        for key, value in {"TYPE": exp.var("duckdb"), **options}.items()
    ]
    return exp.Attach(this=alias, expressions=settings)


def detach(name: str) -> exp.Detach:
    """DETACH of a database."""
    return exp.Detach(this=exp.to_identifier(name, quoted=True))
