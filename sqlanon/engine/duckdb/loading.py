"""Columns that memory holds, on their way into a temporary table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.errors import EngineError
from sqlanon.wording import counted

ROWS_AT_ONCE = 500_000


def loading(
    columns: Mapping[str, Sequence[object]], types: Mapping[str, exp.DataType]
) -> tuple[exp.Select, Iterator[list[list[object]]]]:
    """A query of the rows of some columns, and its parameters for one part of them after another.

    Args:
        columns: Values by column name, all of one length; None is NULL.
        types: Types by column name; those left out are BIGINT.

    Returns:
        The query and the parameters of one part at least, be it of no row.

    Raises:
        EngineError: Lengths or names disagree.
    """
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1 or not types.keys() <= columns.keys():
        raise EngineError(
            f"cannot load a working table: {counted(len(columns), 'column')} of "
            f"{counted(len(lengths), 'length')} for {counted(len(types), 'type')}"
        )
    bigint = exp.DataType(this=exp.DataType.Type.BIGINT)
    starts = range(0, max(lengths.pop(), 1), ROWS_AT_ONCE)
    parts = (
        [list(values[start : start + ROWS_AT_ONCE]) for values in columns.values()]
        for start in starts
    )
    return exp.select(*(_unnested(name, types.get(name, bigint)) for name in columns)), parts


def _unnested(name: str, kind: exp.DataType) -> exp.Expr:
    """The rows of a list that is a parameter, as a column."""
    array = exp.DataType.build(exp.DataType.Type.ARRAY, expressions=[kind.copy()], nested=True)
    values = exp.Anonymous(this="unnest", expressions=[exp.cast(exp.Placeholder(), array)])
    return exp.alias_(values, name, quoted=True)
