"""Reading JSON files once, into a temporary table, without changing a text.

What is wrong with one is told by its place; no value is ever quoted.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.engine.base import Row, with_texts
from sqlanon.engine.duckdb.catalog import fold
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.syntax import create_temporary, selected, type_of
from sqlanon.engine.duckdb.text_columns import (
    TextColumns,
    complete,
    date_notes,
    home,
    json_kinds,
    loading,
    refuse_date_format,
)
from sqlanon.engine.duckdb.text_files import (
    BAD_INPUT,
    TextReading,
    columns_as,
    cut_off,
    readable,
    scan_file,
    undecodable_line,
)
from sqlanon.engine.duckdb.text_layout import opened_text, refuse_alike
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.sqltext import Sql, expression, value
from sqlanon.sqltext import name as quoted

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
# DuckDB tells keys apart by such an ending, which a key may also have of its own; before 2.0 it
# calls an empty key C1, and then reads nothing there.
_RENAMED = re.compile(r"(.+)_[0-9]+|C[0-9]+", re.DOTALL)
_EMPTY_KEY = "has records with a key that is empty; give it a name"
_Ask = Callable[["Sql"], list[Row]]


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

    def ask(query: Sql) -> list[Row]:
        return engine.asked(query, lambda error: json_fault(error, path))

    guessed = _scan(path, sample_size=value(-1))
    described = ask(expression("DESCRIBE {{ guessed }}", guessed=guessed))
    keys = _keys(ask, path, names=[str(name) for name, *_ in described])
    if "" in keys:
        raise SourceError(f"{path.name!r} {_EMPTY_KEY}")
    refuse_alike(path, keys)
    types = {str(name): _as_text(type_of(str(kind)), _GUESSED) for name, kind, *_ in described}
    use = how.use(list(types))
    read = use.read(list(types))
    texts_in = {name for name in use.kept(list(types)) if types[name] == _TEXT}
    types |= _lossless(ask, path, types={name: types[name] for name in read})
    raw = engine.temporary("text")
    scan = _scan_as(path, {name: types[name] for name in read})
    ask(create_temporary(raw, selected(loading(list(types), use, how.form.nulls), scan)))
    texts = TextColumns(
        raw,
        {
            name: json_kinds(how.form, exact=use.is_exact(name)) if name in texts_in else ()
            for name in read
        },
        how.form.nulls,
    )
    loaded = home(engine, table, names=list(types), use=use)
    kinds = texts.loaded(engine, loaded)
    engine.tables.drop(raw)
    left_out = {n: kind for n, kind in types.items() if kind == _TEXT and n not in texts_in}
    engine.opened.notes += date_notes(
        engine,
        loaded,
        path=path,
        form=how.form,
        dated=use.dated,
        texts=texts,
        kinds=kinds,
        rows=_scan_as(path, left_out),
        left_out=list(left_out),
        where=lambda record: f"record {record + 1:,}",
    )
    complete(engine, loaded, table=table, names=list(types), use=use)


def _scan(path: Path, **options: Sql) -> Sql:
    common = {"hive_partitioning": value(False), "records": value(True)}
    return scan_file("read_json", path, **common, **options)


def _scan_as(path: Path, types: Mapping[str, exp.DataType]) -> Sql:
    """The file with these columns alone, of these types."""
    texts = {name: kind.sql("duckdb") for name, kind in types.items()}
    return _scan(path, columns=columns_as(texts))


def _keys(ask: _Ask, path: Path, *, names: list[str]) -> list[str]:
    """The keys of the records as the file itself spells them.

    Args:
        ask: Carries a query out.
        path: The file.
        names: What DuckDB calls them, which is the same where none looks renamed.
    """
    folded = set(map(fold, names))
    endings = map(_RENAMED.fullmatch, names)
    if not any(one and (one[1] is None or fold(one[1]) in folded) for one in endings):
        return names
    text = "SELECT DISTINCT UNNEST(json_keys(json)) FROM {{ objects }}"
    return [str(key) for (key,) in ask(expression(text, objects=_objects(path)))]


def _objects(path: Path) -> Sql:
    """The records of a file as they are, in a column of its own name, json."""
    return scan_file("read_json_objects", path, hive_partitioning=value(False))


def _lossless(
    ask: _Ask, path: Path, *, types: Mapping[str, exp.DataType]
) -> dict[str, exp.DataType]:
    """The types with text for DOUBLE in columns with integers that a DOUBLE would merge."""
    texts = {name: _as_text(kind, _NUMBERS) for name, kind in types.items()}
    asked = {name: kind for name, kind in texts.items() if kind != types[name]}
    if not asked:
        return {}
    is_long = "BOOL_OR(regexp_matches(CAST(to_json({{ column }}) AS VARCHAR), {{ long }}))"
    questions = {
        name: expression(is_long, column=quoted(name), long=value(_LONG)) for name in asked
    }
    [answers] = ask(selected(questions, _scan_as(path, asked)))
    return {name: asked[name] for name, is_long in zip(asked, answers, strict=True) if is_long}


def _as_text(kind: exp.DataType, types: set[exp.DType]) -> exp.DataType:
    """A type with text in the place of others, also inside it."""
    return with_texts(kind, lambda part: part.this in types)


# Bytes of JSON that Python reads to find what is wrong.
_MOST_JSON = 1 << 28
_TWICE = re.compile(r" in (?:line|record/value) (\d+): Object .*has duplicate key", re.DOTALL)
_WANTED = "objects, one a line or in one array"
# What is no object cannot be bound to the columns of a table, nor can keys that are one to DuckDB.
_REFUSALS = BAD_INPUT | duckdb.BinderException | duckdb.NotImplementedException


def json_fault(error: Exception, path: Path) -> SqlanonError:
    """The error for a file that is no JSON table: what is wrong, and the place where that shows."""
    if damaged := cut_off(path):
        return damaged
    if not isinstance(error, _REFUSALS):
        return fault(error, f"read {path.name!r}")
    if isinstance(error, duckdb.NotImplementedException):
        if "Duplicate name" not in str(error):
            return fault(error, f"read {path.name!r}")
        reason = (
            "has objects inside its records with keys that differ only in the case of letters; "
            "spell them alike, or differently"
        )
    elif isinstance(error, duckdb.BinderException):
        reason = _no_table(path)
    elif twice := _TWICE.search(str(error)):
        reason = (
            f"has an object with a key more than once in record {twice.group(1)}; "
            "give each of its keys a name of its own"
        )
    else:
        reason = _malformed(path)
    return SourceError(f"{path.name!r} {reason}")


def _no_table(path: Path) -> str:
    """What keeps the values of a file from being the records of a table."""
    text = "SELECT DISTINCT json_type(json), json_keys(json) FROM {{ objects }}"
    with closing(duckdb.connect()) as connection:
        values = DuckDB(connection).rows(expression(text, objects=_objects(path)))
    kinds = {kind for kind, _ in values}
    if kinds <= {"OBJECT"} and not any(keys for _, keys in values):
        return "is empty: it has no record with a key"
    if any("" in keys for _, keys in values):
        return _EMPTY_KEY
    with opened_text(path) as file:
        is_marked = file.read(3) == codecs.BOM_UTF8
    if is_marked and kinds == {"ARRAY"}:
        return "starts with a byte order mark before its array; save it as UTF-8 without one"
    return f"is not JSON: {_WANTED}"


def _malformed(path: Path) -> str:
    """Where a file is no JSON: DuckDB counts lines and records otherwise than editors do."""
    with readable(path), opened_text(path) as file:
        data = file.read(_MOST_JSON)
    line = None
    if len(data) < _MOST_JSON:
        try:
            line = _no_json_line(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            undecodable = undecodable_line(path, "utf-8")
            return f"is not encoded in UTF-8 at line {undecodable}; save it as UTF-8"
    return f"is not JSON{'' if line is None else f' at line {line}'}: {_WANTED}"


def _no_json_line(text: str) -> int | None:
    """The first line of a text that cannot be read; None where each can."""
    if text.lstrip().startswith("["):
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            return getattr(error, "lineno", None)
        return None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            json.loads(line or "0")
        except (ValueError, RecursionError):
            return number
    return None
