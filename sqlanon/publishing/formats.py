"""Formats: what becomes of the types of a table in a file, and a digest of its rows there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlglot import exp

from sqlanon.engine import files
from sqlanon.engine.base import Engine
from sqlanon.errors import EngineError, SourceError
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Fingerprint
from sqlanon.query.encode import fingerprint
from sqlanon.query.publish import formats
from sqlanon.query.publish.formats import Written
from sqlanon.query.syntax import alias, column, is_zoned, nested, select, type_name
from sqlanon.wording import counted

Columns = Mapping[str, Written]


def refuse_types(engine: Engine, table: exp.Table, *, policy: Policy, output: Path | None) -> None:
    """Refuses columns of which a file, where there is one, would tell less than the table.

    Raises:
        SourceError: Values that differ would be one text in the file, or have none.
    """
    if output is None:
        return
    ending = files.ending_of(output)
    types = column_types(engine, table)
    faults = []
    for name in policy.published(list(types)):
        kind = types[name]
        if (
            not formats.may_merge(kind)
            or formats.written(name, kind, ending=ending).manner != "text"
        ):
            continue
        try:
            [(merged,)] = engine.rows(formats.merged(table, name, kind=kind))
        except EngineError:
            faults.append(f"values of column {name!r} ({type_name(kind)}) have no text")
            continue
        if merged:
            faults.append(
                f"column {name!r} ({type_name(kind)}) is text in a {ending} file, and there "
                f"{counted(merged, 'text')} would stand for values that differ"
            )
    if faults:
        raise SourceError(f"{'; '.join(faults)}; convert or drop it, or publish to .duckdb")


def columns_written(engine: Engine, table: exp.Table, *, output: Path) -> dict[str, Written]:
    """How each column of a published table is written to a file, by what its values need."""
    ending = files.ending_of(output)
    types = column_types(engine, table)
    asked = {name: formats.fit(name, kind, ending=ending) for name, kind in types.items()}
    conditions = {name: condition for name, condition in asked.items() if condition is not None}
    flags = engine.rows(select(conditions.values(), table))[0] if conditions else ()
    fits = dict(zip(conditions, flags, strict=True))
    return {
        name: formats.written(name, kind, ending=ending, fits=fits.get(name, True))
        for name, kind in types.items()
    }


def notes_of(engine: Engine, table: exp.Table, *, output: Path, written: Columns) -> Iterator[str]:
    """What the reader of a file should know of its columns, told how they are written."""
    ending = files.ending_of(output)
    types = column_types(engine, table)

    def named(names: list[str]) -> str:
        return ", ".join(f"{name!r} ({type_name(types[name])})" for name in names)

    texts = [name for name, form in written.items() if form.manner == "text"]
    decimals = [name for name, form in written.items() if form.manner == "decimal"]
    if texts:
        yield f"written as text in the {ending} file: {named(texts)}"
    if decimals:
        yield f"written as exact decimals in the {ending} file: {named(decimals)}"
    if not formats.is_text_file(ending):
        return
    zoned = [name for name, kind in types.items() if is_zoned(kind)]
    if zoned:
        yield f"written in UTC, whatever the session's time zone: {named(zoned)}"
    plain = [name for name, kind in types.items() if kind.this in exp.DataType.TEXT_TYPES]
    empty = [exp.LogicalOr(this=column(name).eq("")) for name in plain]
    flags = engine.rows(select(empty, table))[0] if empty else ()
    blank = [name for name, is_one in zip(plain, flags, strict=True) if is_one]
    if blank:
        yield (
            f'an empty field is NULL and "" is an empty text, which not every reader tells apart: '
            f"{', '.join(map(repr, blank))}"
        )


def content(engine: Engine, table: exp.Table, *, columns: Columns) -> Fingerprint:
    """Records, and a digest of their cells as they are written, in whatever order."""
    cells = [alias(exp.cast(form.value, form.kind), name) for name, form in columns.items()]
    rows = nested(select(cells, table), "rows")
    result: Fingerprint = engine.rows(
        fingerprint(rows, {name: form.kind for name, form in columns.items()})
    )[0]
    return result
