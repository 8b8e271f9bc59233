"""What is wrong with a JSON file, and in which line; no value is ever quoted."""

from __future__ import annotations

import codecs
import json
import re
from contextlib import closing
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.text_faults import BAD_INPUT, cut_off, readable, undecodable_line
from sqlanon.engine.duckdb.text_files import scan_file
from sqlanon.engine.duckdb.text_layout import opened_text
from sqlanon.errors import SourceError, SqlanonError

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
        found = (
            "has objects inside its records with keys that differ only in the case of letters; "
            "spell them alike, or differently"
        )
    elif isinstance(error, duckdb.BinderException):
        found = _no_table(path)
    elif twice := re.search(
        r" in (?:line|record/value) (\d+): Object .*has duplicate key", str(error)
    ):
        found = (
            f"has an object with a key more than once in record {twice.group(1)}; "
            "give each of its keys a name of its own"
        )
    else:
        found = _malformed(path)
    return SourceError(f"{path.name!r} {found}")


def _no_table(path: Path) -> str:
    """What keeps the values of a file from being the records of a table."""
    scan = scan_file("read_json_objects", path, options={"hive_partitioning": exp.false()})
    kind, keys = (
        exp.Anonymous(this=f"json_{part}", expressions=[exp.column("json")])
        for part in ("type", "keys")
    )
    with closing(duckdb.connect()) as connection:
        values = DuckDB(connection).rows(exp.select(kind, keys).distinct().from_(scan))
    kinds = {kind for kind, _ in values}
    if kinds <= {"OBJECT"} and not any(keys for _, keys in values):
        return "is empty: it has no record with a key"
    if any("" in keys for _, keys in values):
        return "has records with a key that is empty; give it a name"
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
