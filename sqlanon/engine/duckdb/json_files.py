"""Reading JSON files once, into a temporary table, without changing a text."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from sqlanon.engine.base import Row, render, with_texts
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.narrowing import complete, home
from sqlanon.engine.duckdb.syntax import create_temporary, type_of
from sqlanon.engine.duckdb.text_columns import TextColumns
from sqlanon.engine.duckdb.text_faults import json_fault
from sqlanon.engine.duckdb.text_files import (
    TextReading,
    refuse_date_format,
    refuse_no_dates,
    scan_file,
)
from sqlanon.engine.duckdb.text_types import json_kinds

# Types that DuckDB takes texts of JSON for, and then writes otherwise.
_GUESSED = {
    exp.DType.DATE, exp.DType.TIME, exp.DType.TIMETZ, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ,
    exp.DType.TIMESTAMP_S, exp.DType.TIMESTAMP_MS, exp.DType.TIMESTAMP_NS, exp.DType.UUID,
    exp.DType.INTERVAL,
}  # fmt: skip
_TEXT = exp.DataType(this=exp.DType.TEXT)


def read_json(engine: DuckDB, path: Path, *, table: exp.Table, how: TextReading) -> None:
    """Reads a file of JSON objects, one a line or in an array, into a temporary table.

    A text stays the text that it is, unless all of its column are dates as ISO 8601 or the format
    that is given writes them: DuckDB would guess 02-08-2000 to be in February, and write times in
    its own way.

    Raises:
        SourceError: The file is not JSON.
    """
    refuse_date_format(engine, how.form)

    def ask(query: exp.Expr) -> list[Row]:
        text = render(query, engine.dialect)
        return engine.attempt(
            lambda: engine.connection.execute(text).fetchall(),
            lambda error: json_fault(error, path),
        )

    common: dict[str, exp.Expr] = {"hive_partitioning": exp.false(), "records": exp.true()}
    guessed = scan_file("read_json", path, options={**common, "sample_size": exp.convert(-1)})
    described = ask(exp.Describe(this=exp.select("*").from_(guessed)))
    types = {str(name): _unguessed(type_of(str(kind))) for name, kind, *_ in described}
    use = how.use(list(types))
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(
                this=exp.Literal.string(name),
                expression=exp.Literal.string(types[name].sql("duckdb")),
            )
            for name in use.kept(list(types))
        ]
    )
    raw = engine.temporary("text")
    scan = scan_file("read_json", path, options={**common, "columns": columns})
    ask(create_temporary(raw, exp.select("*").from_(scan)))
    texts = TextColumns(
        raw,
        {
            name: json_kinds(how.form, exact=use.is_exact(name)) if types[name] == _TEXT else ()
            for name in use.kept(list(types))
        },
        how.form.nulls,
    )
    kinds = texts.fitting(engine.rows)
    merging = texts.merging(engine.rows, kinds)
    loaded = home(engine, table, names=list(types), use=use)
    kept = {name: kind for name, kind in kinds.items() if name not in merging}
    engine.run(create_temporary(loaded.copy(), texts.converted(kept)))
    engine.drop(raw)
    complete(engine, loaded, table=table, names=list(types), use=use)
    if loaded == table:
        refuse_no_dates(engine, path, table=table, unread=texts.unread(kept, how.form))


def _unguessed(kind: exp.DataType) -> exp.DataType:
    """A type without those that DuckDB takes texts for."""
    return with_texts(kind, lambda part: part.this in _GUESSED)
