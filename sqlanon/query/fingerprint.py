"""Fingerprint: figures of a table's content that change when the content does."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.names import bigint, column, count_all


def fingerprint(table: exp.Table, columns: Sequence[str]) -> exp.Select:
    """Records, and two order-free digests of all cells as text; DuckDB only.

    The sum tells apart what the exclusive or alone does not: a record that is there twice.
    """
    cells = exp.Anonymous(this="HASH", expressions=[column(name) for name in columns])
    # HASH of several arguments is linear in each; hashed once more, records no longer cancel out.
    digest = exp.Anonymous(this="HASH", expressions=[cells])
    wide = exp.cast(digest.copy(), exp.DataType.Type.INT128)
    return exp.select(
        bigint(count_all()),
        exp.cast(exp.Anonymous(this="BIT_XOR", expressions=[digest]), "VARCHAR"),
        exp.cast(exp.Sum(this=wide), "VARCHAR"),
    ).from_(table.copy())
