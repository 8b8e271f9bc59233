"""Fingerprint: figures of a table's content that change when the content does."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.query.syntax import column
from sqlanon.query.text import is_nested, is_zoned, varchar
from sqlanon.sqltext import Sql, expression, listed

_REAL = {exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE}


def fingerprint(table: exp.Expr, columns: Mapping[str, exp.DataType]) -> Sql:
    """Records, and one order-free digest of all cells; DuckDB only.

    It has no key, so whoever knows all records but a few can try out what those hold. SHA-256
    keeps the digests of two tables from telling in which records they differ: the exclusive or
    and the sum would. The sum tells apart what the exclusive or alone does not, a record that is
    there twice.
    """
    cells = [part for own, kind in columns.items() for part in _told_apart(column(own), kind)]
    # HASH of several arguments is linear in each; hashed once more, records no longer cancel out.
    digest = expression("HASH(HASH({{ cells }}))", cells=listed(cells or [0]))
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), SHA256(CONCAT_WS(' ', BIT_XOR({{ digest }}),"
        " SUM(CAST({{ digest }} AS INT128)))) FROM {{ table }}",
        digest=digest,
        table=table,
    )


def _told_apart(value: exp.Expr, kind: exp.DataType) -> list[exp.Expr]:
    """A value, with what HASH takes for one: -0.0 and 0.0, 1 month and 30 days, [] and NULL.

    Texts of instants depend on the session's time zone, so nested ones go without.
    """
    if kind.this in _REAL:
        return [value, exp.Anonymous(this="SIGNBIT", expressions=[value.copy()])]
    nested = is_nested(kind) and not any(map(is_zoned, kind.find_all(exp.DataType)))
    if nested or kind.this == exp.DataType.Type.INTERVAL:
        return [value, varchar(value.copy())]
    return [value]
