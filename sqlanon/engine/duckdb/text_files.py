"""Reading text files (CSV, TSV, JSON) once, into a temporary table, without changing a value."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.engine.base import render
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import fault
from sqlanon.engine.duckdb.syntax import create_temporary
from sqlanon.errors import EngineError, SourceError, SqlanonError

_SAMPLE_ROWS = 2048
_DECIMAL_LINES = 200
_DELIMITERS = (",", ";", "\t", "|")
# Small buffers let decompression and parsing overlap; twice as fast as one large buffer.
_BUFFER = 4_000_000
_SNIFF_BUFFER = 1_000_000
_LINE_BYTES = 500_000
# The types that a column can get besides VARCHAR: the first that fits every value.
_TYPED = ("BIGINT", "DOUBLE", "DATE", "TIMESTAMP")
# Digits that a DOUBLE would lose, or that are no quantity: 007, +49, 1234567890123456.
_NO_NUMBER = r"^[+-]?0[0-9]|^\+|^-?[0-9]{16,}$"
# Texts of a DOUBLE without digits: all that reads like a number and may be a column's name.
_NUMBER_WORDS = frozenset({"nan", "inf", "infinity"})


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Delimiter, types and formats of a CSV file.

    Args:
        delimiter: Between two fields.
        types: Type by column name, as the first rows suggest.
        formats: Format of strptime for DATE and TIMESTAMP, where it is not ISO's.
        decimals: By column name the number of digits behind the point, where the first rows all
            have as many; 0 where some have no point.
    """

    delimiter: str
    types: Mapping[str, str]
    formats: Mapping[str, str]
    decimals: Mapping[str, int]


def read_csv(engine: DuckDB, path: Path, table: exp.Table) -> None:
    """Reads a CSV file with a header line into a temporary table.

    A column becomes BIGINT, DOUBLE, DATE or TIMESTAMP only where every value of the file says so,
    none is changed by it and no two of them become one: postcodes with leading zeros, long
    numbers, yes/no, and 1.0 beside 1.00 stay text, in whatever row they stand. So a text column
    that was written to a file has the classes and values that it had before. An empty field is
    NULL; "" in quotes is an empty text.

    DuckDB's own reader decides by the first 20,480 rows and from there on turns 01234 into 1234
    and 1.5 into 1 without a word. So all is read as text, and converted in the same pass under a
    guard; where a guard stops that, a second, slower way looks at every value before it decides.

    Raises:
        SourceError: The file is no CSV file with a header; the message quotes none of it.
    """
    layout = _sniff(engine, path)
    try:
        engine.run(create_temporary(table.copy(), _guarded(path, layout)))
        created = True
    except EngineError:
        created = False
    if created and not _late(engine, table, layout):
        return
    if created:
        engine.drop(table)
    _read_slowly(engine, path, table, layout)


def read_typed_csv(engine: DuckDB, path: Path, table: exp.Table, types: Mapping[str, str]) -> None:
    """Reads a CSV file that sqlanon has written, with the types that it was written from."""
    scan = _scan(path, ",", types)
    engine.run(create_temporary(table.copy(), exp.select("*").from_(scan)))


def read_json(engine: DuckDB, path: Path, table: exp.Table) -> None:
    """Reads a file of JSON objects, one a line or in an array, into a temporary table.

    Raises:
        SourceError: The file is not JSON.
    """
    options = {"sample_size": exp.convert(-1), "hive_partitioning": exp.false()}
    scan = scan_file("read_json", path, options)
    text = render(create_temporary(table.copy(), exp.select("*").from_(scan)), engine.dialect)
    engine.attempt(lambda: engine.connection.execute(text), lambda error: _no_json(error, path))


def scan_file(function: str, path: Path, options: Mapping[str, exp.Expr]) -> exp.Table:
    """A table function over exactly one file, whose name may hold the signs of a pattern."""
    plain = re.sub(r"([*?\[])", r"[\1]", str(path))
    arguments = [
        exp.EQ(this=exp.column(name, quoted=True), expression=value)
        for name, value in options.items()
    ]
    call = exp.Anonymous(this=function, expressions=[exp.Literal.string(plain), *arguments])
    return exp.Table(this=call)


def _sniff(engine: DuckDB, path: Path) -> TextLayout:
    delimiter = _delimiter(path)
    options: dict[str, exp.Expr] = {
        **_dialect(delimiter),
        "skip": exp.convert(0),
        "sample_size": exp.convert(_SAMPLE_ROWS),
        "buffer_size": exp.convert(_SNIFF_BUFFER),
        "max_line_size": exp.convert(_LINE_BYTES),
    }
    query = exp.select("HasHeader", "Columns", "DateFormat", "TimestampFormat").from_(
        scan_file("sniff_csv", path, options)
    )
    text = render(query, engine.dialect)
    [(has_header, columns, date_format, timestamp_format)] = engine.attempt(
        lambda: engine.connection.execute(text).fetchall(), lambda error: _no_csv(error, path)
    )
    if not has_header and not _is_named(path, delimiter, [column["type"] for column in columns]):
        raise SourceError(
            f"{path.name!r} has no header: its first line looks like data; "
            "put the column names there"
        )
    names = _header(path, delimiter)
    # The sniffer takes blanks off names, and gives names to columns that have none or share one.
    if has_header and [name.strip() for name in names] != [column["name"] for column in columns]:
        names = [column["name"] for column in columns]
    types = dict(zip(names, (column["type"] for column in columns), strict=True))
    formats = {"DATE": date_format, "TIMESTAMP": timestamp_format}
    formats = {kind: form for kind, form in formats.items() if form}
    return TextLayout(delimiter, types, formats, _decimals(path, delimiter, names))


def _decimals(path: Path, delimiter: str, names: Sequence[str]) -> dict[str, int]:
    lines = _decoded(_head(path)).splitlines(keepends=True)
    rows = list(csv.reader(lines[:_DECIMAL_LINES], delimiter=delimiter))[1:]
    decimals = {}
    for number, name in enumerate(names):
        texts = [row[number] for row in rows if len(row) > number and row[number]]
        digits = {len(text.partition(".")[2]) for text in texts}
        if len(digits) == 1 or 0 in digits:
            decimals[name] = min(digits)
    return decimals


def _header(path: Path, delimiter: str) -> list[str]:
    """The column names: those in quotes as they are written, others without blanks around them."""
    mark = re.escape(delimiter)
    field = rf'[ ]*(?:"((?:[^"]|"")*)"[ ]*|([^{mark}\r\n]*))({mark}|\r|\n|$)'
    names = []
    for found in re.finditer(field, _decoded(_head(path))):
        quoted, plain, end = found.groups()
        names.append(plain.strip() if quoted is None else quoted.replace('""', '"'))
        if end != delimiter:
            break
    return names


def _is_named(path: Path, delimiter: str, types: Sequence[str]) -> bool:
    """Whether a first line that could be data has names all the same: `nan` above numbers.

    A figure or a date is no name, so a column of these has one only in a word that is also a
    number's.
    """
    names = [name.lower() for name in _header(path, delimiter)]
    if len(names) != len(types) or len(set(names)) < len(names) or not all(names):
        return False
    return "DOUBLE" in types and all(
        name in _NUMBER_WORDS if kind == "DOUBLE" else kind == "VARCHAR"
        for name, kind in zip(names, types, strict=True)
    )


def _head(path: Path) -> bytes:
    try:
        with gzip.open(path) if is_gzip(path) else path.open("rb") as file:
            return file.read(65_536)
    except (OSError, EOFError):
        raise SourceError(f"{path.name!r} is not a valid gzip file") from None


def _decoded(head: bytes) -> str:
    return head.decode("utf-8-sig", errors="replace")


def _delimiter(path: Path) -> str:
    """The delimiter of the header line: the candidate that stands most often outside quotes."""
    head = _head(path)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{path.name!r} is written in UTF-16; save it as UTF-8")
    text = re.sub(r'"(?:[^"]|"")*"', "", _decoded(head))
    line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    if not head.strip():
        raise SourceError(f"{path.name!r} is empty")
    if head.lstrip(b"\xef\xbb\xbf")[:1] in {b"\r", b"\n"}:
        raise SourceError(f"the first line of {path.name!r} is blank; it must name the columns")
    return max(_DELIMITERS, key=line.count)


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed with gzip, by its first bytes."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _dialect(delimiter: str) -> dict[str, exp.Expr]:
    # Told all this, DuckDB need not try, and takes no line for a comment.
    return {
        "delim": exp.Literal.string(delimiter),
        "quote": exp.Literal.string('"'),
        "escape": exp.Literal.string('"'),
        "comment": exp.Literal.string(""),
        "hive_partitioning": exp.false(),
    }


def _scan(path: Path, delimiter: str, types: Mapping[str, str]) -> exp.Table:
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string(kind))
            for name, kind in types.items()
        ]
    )
    options: dict[str, exp.Expr] = {
        **_dialect(delimiter),
        "auto_detect": exp.false(),
        "header": exp.true(),
        "columns": columns,
        "allow_quoted_nulls": exp.false(),
        "buffer_size": exp.convert(_BUFFER),
        "compression": exp.Literal.string("gzip" if is_gzip(path) else "none"),
    }
    return scan_file("read_csv", path, options)


def _as_text(path: Path, layout: TextLayout) -> exp.Table:
    return _scan(path, layout.delimiter, dict.fromkeys(layout.types, "VARCHAR"))


def _guarded(path: Path, layout: TextLayout) -> exp.Select:
    """All columns, converted; the query fails where a value is not spelt as its type spells it."""
    stop = exp.Anonymous(this="error", expressions=[exp.Literal.string("guard")])
    projections: list[exp.Expr] = []
    for name, kind in layout.types.items():
        text = exp.column(name, quoted=True)
        if kind not in _TYPED:
            projections.append(text)
            continue
        converted = _converted(text, kind, layout, safe=False)
        respelt = exp.NEQ(this=_spelt(name, converted, layout), expression=text.copy())
        case = exp.Case().when(respelt, stop.copy())
        projections.append(case.else_(converted.copy()).as_(name, quoted=True))
    return exp.select(*projections).from_(_as_text(path, layout))


def _converted(text: exp.Expr, kind: str, layout: TextLayout, *, safe: bool) -> exp.Expr:
    if kind in layout.formats:
        function = "try_strptime" if safe else "strptime"
        form = exp.Literal.string(layout.formats[kind])
        parsed = exp.Anonymous(this=function, expressions=[text.copy(), form])
        return exp.cast(parsed, kind)
    built = exp.TryCast if safe else exp.Cast
    return built(this=text.copy(), to=exp.DataType.build(kind, dialect="duckdb"))


def _spelt(name: str, converted: exp.Expr, layout: TextLayout) -> exp.Expr:
    """The one text that a value is written as: texts that have it are as many as values."""
    kind, decimals = layout.types[name], layout.decimals.get(name)
    text = exp.cast(converted.copy(), "VARCHAR")
    if kind in layout.formats:
        form = exp.Literal.string(layout.formats[kind])
        return exp.Anonymous(this="strftime", expressions=[converted.copy(), form])
    if kind != "DOUBLE" or decimals is None:
        return text
    if decimals:
        form = exp.Literal.string(f"{{:.{decimals}f}}")
        return exp.Anonymous(this="format", expressions=[form, converted.copy()])
    whole = exp.Literal.string(".0")
    return (
        exp.Case()
        .when(
            exp.Anonymous(this="suffix", expressions=[text, whole]),
            exp.Anonymous(this="left", expressions=[text.copy(), exp.convert(-2)]),
        )
        .else_(text.copy())
    )


def _changed(text: exp.Expr, converted: exp.Expr, kind: str, layout: TextLayout) -> exp.Expr:
    """True where a converted text is not the same value any more."""
    if kind == "DOUBLE":
        pattern = exp.Literal.string(_NO_NUMBER)
        return exp.Anonymous(this="regexp_matches", expressions=[text.copy(), pattern])
    if kind == "BIGINT" or (kind == "DATE" and kind not in layout.formats):
        return exp.NEQ(this=exp.cast(converted.copy(), "VARCHAR"), expression=text.copy())
    return exp.false()


def _late(engine: DuckDB, table: exp.Table, layout: TextLayout) -> bool:
    """Whether a column taken for text is empty in the first rows, and only there."""
    names = [name for name, kind in layout.types.items() if kind not in _TYPED]
    if not names:
        return False
    counts = [exp.Count(this=exp.column(name, quoted=True)) for name in names]
    head = exp.select("*").from_(table.copy()).limit(_SAMPLE_ROWS).subquery("head")
    found = engine.rows(exp.select(*counts).from_(head))[0]
    empty = [count for count, filled in zip(counts, found, strict=True) if not filled]
    return bool(empty) and any(engine.rows(exp.select(*empty).from_(table.copy()))[0])


def _read_slowly(engine: DuckDB, path: Path, table: exp.Table, layout: TextLayout) -> None:
    """Reads all as text, asks of every value which types it fits, then converts."""
    raw = engine.temporary("text")
    scan = exp.select("*").from_(_as_text(path, layout))
    statement = render(create_temporary(raw, scan), engine.dialect)
    engine.attempt(lambda: engine.connection.execute(statement), lambda error: _no_csv(error, path))
    texts = {name: exp.column(name, quoted=True) for name in layout.types}
    fits = [_fits(text, kind, layout) for text in texts.values() for kind in _TYPED]
    answers = iter(engine.rows(exp.select(*fits).from_(raw.copy()))[0])
    converted: dict[str, exp.Expr] = {}
    for name, text in texts.items():
        fitting = [kind for kind in _TYPED if next(answers)]
        if fitting:
            trimmed = exp.Trim(this=text.copy())
            converted[name] = _converted(trimmed, fitting[0], layout, safe=True)
    merging = _merging(engine, raw, converted)
    projections = [
        (text if name in merging else converted.get(name, text)).as_(name, quoted=True)
        for name, text in texts.items()
    ]
    engine.run(create_temporary(table.copy(), exp.select(*projections).from_(raw.copy())))
    engine.drop(raw)


def _merging(engine: DuckDB, raw: exp.Table, converted: Mapping[str, exp.Expr]) -> set[str]:
    """The columns in which two texts would become one value; an empty text would become NULL."""
    merges = []
    for name, value in converted.items():
        text = exp.column(name, quoted=True)
        filled = exp.func("NULLIF", text.copy(), exp.Literal.string(""))
        fewer = exp.NEQ(this=_distinct(filled), expression=_distinct(value))
        empty = exp.EQ(this=text.copy(), expression=exp.Literal.string(""))
        null = exp.Is(this=text.copy(), expression=exp.Null())
        both = exp.and_(exp.LogicalOr(this=empty), exp.LogicalOr(this=null))
        merges.append(exp.or_(fewer, both))
    if not merges:
        return set()
    found = engine.rows(exp.select(*merges).from_(raw.copy()))[0]
    return {name for name, merged in zip(converted, found, strict=True) if merged}


def _distinct(value: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[value.copy()]))


def _fits(text: exp.Expr, kind: str, layout: TextLayout) -> exp.Expr:
    """An aggregate: the type holds every value of the column; NULL where there is none."""
    trimmed = exp.Trim(this=text.copy())
    converted = _converted(trimmed, kind, layout, safe=True)
    same = exp.and_(
        exp.Not(this=exp.Is(this=converted, expression=exp.Null())),
        exp.Not(this=_changed(trimmed, converted, kind, layout)),
    )
    present = exp.Case().when(exp.NEQ(this=text.copy(), expression=exp.Literal.string("")), same)
    return exp.LogicalAnd(this=present)


def _no_csv(error: Exception, path: Path) -> SqlanonError:
    """The error for a file that is no CSV, from the line's number in a message that quotes it."""
    message = str(error)
    if isinstance(error, duckdb.InvalidInputException | duckdb.ConversionException):
        if "not utf-8 encoded" in message:
            return SourceError(f"{path.name!r} is not encoded in UTF-8; save it as UTF-8")
        line = re.match(r"\D*CSV Error on Line: (\d+)\n", message)
        where = f" at line {line.group(1)}" if line else ""
        return SourceError(
            f"{path.name!r} is not a regular CSV file{where}: every line needs as many fields "
            "as the header, and quotes must be closed"
        )
    return fault(error, f"read {path.name!r}")


def _no_json(error: Exception, path: Path) -> SqlanonError:
    if isinstance(error, duckdb.InvalidInputException):
        return SourceError(f"{path.name!r} is not JSON: objects, one a line or in one array")
    return fault(error, f"read {path.name!r}")
