"""Reading JSON files once, into a temporary table, without changing a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from sqlglot import exp

from sqlanon.engine.base import Row, render, with_texts
from sqlanon.engine.duckdb.catalog import fold
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.json_faults import json_fault
from sqlanon.engine.duckdb.narrowing import complete, home, loading
from sqlanon.engine.duckdb.syntax import create_temporary, type_of
from sqlanon.engine.duckdb.text_columns import TextColumns
from sqlanon.engine.duckdb.text_dates import GivenDates, refuse_date_format
from sqlanon.engine.duckdb.text_files import TextReading, scan_file
from sqlanon.engine.duckdb.text_layout import refuse_alike
from sqlanon.engine.duckdb.text_types import dates_as_given, json_kinds

_Type = exp.DataType.Type
# Types that DuckDB takes texts of JSON for, and then writes otherwise.
_GUESSED = {
    _Type.DATE, _Type.TIME, _Type.TIMETZ, _Type.TIMESTAMP, _Type.TIMESTAMPNTZ,
    _Type.TIMESTAMPTZ, _Type.TIMESTAMP_S, _Type.TIMESTAMP_MS, _Type.TIMESTAMP_NS, _Type.UUID,
    _Type.INTERVAL,
}  # fmt: skip
_NUMBERS = {_Type.DOUBLE}
_TEXT = exp.DataType(this=_Type.TEXT)
# Integers of more digits than a DOUBLE holds of all numbers that long, as a part of JSON.
_LONG = '"-?[0-9]{16,}"'
# DuckDB tells keys apart by such an ending, which a key may also have of its own.
_RENAMED = re.compile(r"(.+)_[0-9]+", re.DOTALL)
_Ask = Callable[["exp.Expr"], list[Row]]


def read_json(engine: DuckDB, path: Path, *, table: exp.Table, how: TextReading) -> None:
    """Reads a file of JSON objects, one a line or in an array, into a temporary table.

    A text stays the text that it is, unless all of its column are dates as ISO 8601 or the format
    that is given writes them: DuckDB would guess 02-08-2000 to be in February, and write times in
    its own way. Nor is an integer rounded:
    a column with one of more than 15 digits and with others that are no BIGINT is text.

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

    guessed = _scan(path, {"sample_size": exp.convert(-1)})
    described = ask(exp.Describe(this=exp.select("*").from_(guessed)))
    refuse_alike(path, _keys(ask, path, names=[str(name) for name, *_ in described]))
    types = {str(name): _as_text(type_of(str(kind)), _GUESSED) for name, kind, *_ in described}
    use = how.use(list(types))
    read = use.read(list(types))
    texts_in = {name for name in use.kept(list(types)) if types[name] == _TEXT}
    types |= _lossless(ask, path, types={name: types[name] for name in read})
    raw = engine.temporary("text")
    scan = _scan_as(path, {name: types[name] for name in read})
    ask(create_temporary(raw, exp.select(*loading(list(types), use)).from_(scan)))
    texts = TextColumns(
        raw,
        {
            name: json_kinds(how.form, exact=use.is_exact(name)) if name in texts_in else ()
            for name in read
        },
        how.form.nulls,
    )
    kinds = texts.fitting(engine.rows)
    merging = texts.merging(engine.rows, kinds)
    loaded = home(engine, table, names=list(types), use=use)
    kept = {name: kind for name, kind in kinds.items() if name not in merging}
    engine.run(create_temporary(loaded.copy(), texts.converted(kept)))
    engine.drop(raw)
    left_out = {n: kind for n, kind in types.items() if kind == _TEXT and n not in texts_in}
    given = dict.fromkeys(left_out, dates_as_given(how.form, exact=False))
    others = TextColumns(_scan_as(path, left_out), given, how.form.nulls)
    dates = GivenDates(path, how.form, use.dated, kept, lambda record: f"record {record + 1:,}")
    engine.notes += dates.notes(engine, loaded, texts=texts, others=others)
    complete(engine, loaded, table=table, names=list(types), use=use)


def _scan(path: Path, options: Mapping[str, exp.Expr]) -> exp.Table:
    common = {"hive_partitioning": exp.false(), "records": exp.true()}
    return scan_file("read_json", path, options={**common, **options})


def _scan_as(path: Path, types: Mapping[str, exp.DataType]) -> exp.Table:
    """The file with these columns alone, of these types."""
    columns = [
        exp.PropertyEQ(
            this=exp.Literal.string(name), expression=exp.Literal.string(kind.sql("duckdb"))
        )
        for name, kind in types.items()
    ]
    return _scan(path, {"columns": exp.Struct(expressions=columns)})


def _keys(ask: _Ask, path: Path, *, names: list[str]) -> list[str]:
    """The keys of the records as the file itself spells them.

    Args:
        ask: Carries a query out.
        path: The file.
        names: What DuckDB calls them, which is the same where none looks renamed.
    """
    folded = set(map(fold, names))
    endings = map(_RENAMED.fullmatch, names)
    if not any(found and fold(found.group(1)) in folded for found in endings):
        return names
    scan = scan_file("read_json_objects", path, options={"hive_partitioning": exp.false()})
    keys = exp.Anonymous(this="json_keys", expressions=[exp.column("json")])
    each = exp.Anonymous(this="unnest", expressions=[keys])
    return [str(key) for (key,) in ask(exp.select(each).distinct().from_(scan))]


def _lossless(
    ask: _Ask, path: Path, *, types: Mapping[str, exp.DataType]
) -> dict[str, exp.DataType]:
    """The types with text for DOUBLE in columns with integers that a DOUBLE would merge."""
    texts = {name: _as_text(kind, _NUMBERS) for name, kind in types.items()}
    asked = {name: kind for name, kind in texts.items() if kind != types[name]}
    if not asked:
        return {}
    questions = []
    for name in asked:
        value = exp.Anonymous(this="to_json", expressions=[exp.column(name, quoted=True)])
        matched = exp.Anonymous(
            this="regexp_matches",
            expressions=[exp.cast(value, "VARCHAR"), exp.Literal.string(_LONG)],
        )
        questions.append(exp.LogicalOr(this=matched))
    [answers] = ask(exp.select(*questions).from_(_scan_as(path, asked)))
    return {name: asked[name] for name, is_long in zip(asked, answers, strict=True) if is_long}


def _as_text(kind: exp.DataType, types: set[exp.DType]) -> exp.DataType:
    """A type with text in the place of others, also inside it."""
    return with_texts(kind, lambda part: part.this in types)
