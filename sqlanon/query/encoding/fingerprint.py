"""Fingerprint: figures of a table's content that change when the content does."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.syntax import bigint, column, count_all, select


def fingerprint(table: exp.Expr, columns: Sequence[str]) -> exp.Select:
    """Records, and one order-free digest of all cells as text; DuckDB only.

    It has no key, so whoever knows all records but a few can try out what those hold. SHA-256
    keeps the digests of two tables from telling in which records they differ: the exclusive or
    and the sum would. The sum tells apart what the exclusive or alone does not, a record that is
    there twice.
    """
    cells = exp.Anonymous(this="HASH", expressions=[column(name) for name in columns])
    # HASH of several arguments is linear in each; hashed once more, records no longer cancel out.
    digest = exp.Anonymous(this="HASH", expressions=[cells])
    wide = exp.cast(digest, exp.DataType.Type.INT128)
    figures = exp.Anonymous(
        this="CONCAT_WS",
        expressions=[
            exp.Literal.string(" "),
            exp.Anonymous(this="BIT_XOR", expressions=[digest]),
            exp.Sum(this=wide),
        ],
    )
    return select([bigint(count_all()), exp.Anonymous(this="SHA256", expressions=[figures])], table)
