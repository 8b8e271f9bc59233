"""Files of which not all columns are loaded: the others read as NULL, or as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

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
    """All columns of a table that holds those loaded, the others as NULL."""
    there = {*use.read(names)}
    return [
        exp.column(name, quoted=True)
        if name in there
        else exp.cast(exp.Null(), "VARCHAR").as_(name, quoted=True)
        for name in names
    ]


def loading(names: Sequence[str], use: Use) -> list[exp.Expr]:
    """What is loaded of a table that holds all columns: those kept, and hashes of some others."""
    kept = set(use.kept(names))
    return [
        exp.column(name, quoted=True) if name in kept else hashed(exp.column(name, quoted=True))
        for name in use.read(names)
    ]


def hashed(column: exp.Column, value: exp.Expr | None = None) -> exp.Expr:
    """A number for each value of a column, or of what is made of it; NULL and dates become NULL.

    It is made with a key that nobody keeps, so that nobody can tell which value it stands for.
    """
    text = exp.cast((column if value is None else value).copy(), "VARCHAR")
    keyed = exp.DPipe(this=exp.Literal.string(token_hex(16)), expression=text, safe=True)
    number = exp.Anonymous(this="md5_number_lower", expressions=[keyed])
    date = exp.TryCast(this=text.copy(), to=exp.DataType.build("TIMESTAMP"))
    is_no_date = exp.Is(this=date, expression=exp.Null())
    return exp.Case().when(is_no_date, number).as_(column.name, quoted=True)
