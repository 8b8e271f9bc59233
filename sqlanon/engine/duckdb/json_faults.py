"""What is wrong with a JSON file, and in which line; no value is ever quoted."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from sqlanon.engine.duckdb.catalog import fold
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.text_faults import BAD_INPUT, cut_off, readable, undecodable_line
from sqlanon.engine.duckdb.text_layout import opened_text
from sqlanon.errors import SourceError, SqlanonError

# Bytes of JSON that Python reads to find what is wrong.
_MOST_JSON = 1 << 28
_WANTED = "objects, one a line or in one array"
_BLANK = re.compile(r"[ \t\r\n]*")
_MARK = "\ufeff"
# What is no object cannot be bound to the columns of a table, nor can keys that are one to DuckDB.
_REFUSALS = BAD_INPUT | duckdb.BinderException | duckdb.NotImplementedException


class _Object(list[tuple[str, object]]):
    """The keys and values of an object of JSON, also those of one key."""


def json_fault(error: Exception, path: Path) -> SqlanonError:
    """The error for a file that is no JSON table: what is wrong, and the line where that shows."""
    if not isinstance(error, _REFUSALS):
        return cut_off(path) or fault(error, f"read {path.name!r}")
    with readable(path), opened_text(path) as file:
        data = file.read(_MOST_JSON)
    found = _fault_of(path, data) if len(data) < _MOST_JSON else None
    if found is not None:
        return SourceError(f"{path.name!r} {found}")
    if isinstance(error, duckdb.NotImplementedException):
        return fault(error, f"read {path.name!r}")
    return SourceError(f"{path.name!r} is not JSON: {_WANTED}")


def _fault_of(path: Path, data: bytes) -> str | None:
    """What is wrong with the bytes of a file; None where Python sees nothing."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return (
            f"is not encoded in UTF-8 at line {undecodable_line(path, 'utf-8')}; save it as UTF-8"
        )
    plain = text.removeprefix(_MARK)
    try:
        found = _table_fault(_records(plain))
    except (ValueError, RecursionError):
        line = _no_json_line(plain)
        return None if line is None else f"is not JSON at line {line}: {_WANTED}"
    if found is None and plain != text and plain.lstrip().startswith("["):
        return "starts with a byte order mark before its array; save it as UTF-8 without one"
    return found


def _records(text: str) -> list[object]:
    """What stands in a file one below the other, or in its array."""
    decoder = json.JSONDecoder(object_pairs_hook=_Object)
    values: list[object] = []
    place = _after_blanks(text, 0)
    while place < len(text):
        value, place = decoder.raw_decode(text, place)
        values.append(value)
        place = _after_blanks(text, place)
    if len(values) == 1 and type(values[0]) is list:
        return values[0]
    return values


def _after_blanks(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return place if found is None else found.end()


def _table_fault(records: Sequence[object]) -> str | None:
    """What keeps objects from being the rows of a table; None where nothing is seen."""
    objects = [record for record in records if isinstance(record, _Object)]
    if len(objects) < len(records):
        return None
    if not any(objects):
        return "is empty: it has no record with a key"
    if any(not key for record in objects for key, _ in record):
        return "has records with a key that is empty; give it a name"
    twice = sorted({key for record in objects for key in _twice(record)})
    if twice:
        return f"has records with the key {twice[0]!r} more than once; give each a key of its own"
    return _inner_fault(objects)


def _inner_fault(records: Sequence[_Object]) -> str | None:
    """Which column has objects whose keys are alike; these may be data, and are not named."""
    for record in records:
        for name, value in record:
            if any(_twice(inner) for _, inner in _objects(value)):
                return f"has objects in column {name!r} with a key more than once"
    spelt: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        for name, value in record:
            for place, inner in _objects(value):
                for key, _ in inner:
                    spelt[name, *place][fold(key)].add(key)
    for (name, *_), keys in spelt.items():
        if any(len(spellings) > 1 for spellings in keys.values()):
            return (
                f"has objects in column {name!r} with keys that differ only in the case of "
                "letters; spell them alike, or differently"
            )
    return None


def _twice(record: _Object) -> set[str]:
    counts = Counter(key for key, _ in record)
    return {key for key, number in counts.items() if number > 1}


def _objects(
    value: object, place: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], _Object]]:
    """The objects in a value, each with the keys that lead to it."""
    if isinstance(value, _Object):
        yield place, value
        for key, inner in value:
            yield from _objects(inner, (*place, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, place)


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
