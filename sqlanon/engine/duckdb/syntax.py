"""Types and statements as DuckDB writes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from sqlglot import exp

from sqlanon.sqltext import Fragment, Sql, Statement, expression, name, projected, value, word

# What sqlglot calls them. To load what reads other types takes longer than a query.
_PLAIN = {
    "BIGINT": exp.DataType.Type.BIGINT,
    "INTEGER": exp.DataType.Type.INT,
    "DOUBLE": exp.DataType.Type.DOUBLE,
    "VARCHAR": exp.DataType.Type.TEXT,
    "DATE": exp.DataType.Type.DATE,
    "BOOLEAN": exp.DataType.Type.BOOLEAN,
}


def type_of(text: str) -> exp.DataType:
    """A type from DuckDB's text for it, also where sqlglot does not know the type."""
    if text in _PLAIN:
        return exp.DataType(this=_PLAIN[text], nested=False)
    return _parsed(text).copy()


@lru_cache(maxsize=64)
def _parsed(text: str) -> exp.DataType:
    return exp.DataType.build(text, dialect="duckdb", udt=True)


def selected(columns: Mapping[str, Fragment], rows: exp.Table | Sql) -> Sql:
    """Some values as columns of these names, of the rows of a table or of a query."""
    return expression("SELECT {{ columns }} FROM {{ rows }}", columns=projected(columns), rows=rows)


def all_of(rows: exp.Table | Sql) -> Sql:
    """All columns of a table or of a query."""
    return expression("SELECT * FROM {{ rows }}", rows=rows)


def cast(column: str, kind: exp.DataType) -> Sql:
    """A column as another type."""
    return expression("CAST({{ column }} AS {{ kind }})", column=name(column), kind=kind)


def create_temporary(target: exp.Table, query: Statement, *, kind: str = "TABLE") -> Sql:
    """CREATE TEMPORARY TABLE or VIEW of a query's rows."""
    text = "CREATE TEMPORARY {{ kind }} {{ target }} AS {{ query }}"
    return expression(text, kind=word(kind), target=target, query=query)


def drop(table: exp.Table, *, kind: str = "TABLE", exists: bool = False) -> Sql:
    """DROP of a table, view or type; one that may be gone already on request."""
    text = "DROP {{ kind }} {% if exists %}IF EXISTS{% endif %} {{ table }}"
    return expression(text, kind=word(kind), table=table, exists=exists)


def set_option(option: str, given: str | int) -> Sql:
    """SET of an option of the database."""
    return expression("SET {{ option }} = {{ given }}", option=name(option), given=value(given))


def attach(path: Path, database: str, **options: str | int) -> Sql:
    """ATTACH of a database file."""
    # Without a type, DuckDB would also take a file of data for a database.
    settings = {"TYPE": "duckdb", **options}
    return expression(
        "ATTACH {{ path }} AS {{ database }} ({% for key, given in settings %}"
        "{% if not loop.first %}, {% endif %}{{ key }} {{ given }}{% endfor %})",
        path=value(str(path)),
        database=name(database),
        settings=[(word(key), value(given)) for key, given in settings.items()],
    )


def detach(database: str) -> Sql:
    """DETACH of a database."""
    return expression("DETACH {{ database }}", database=name(database))
