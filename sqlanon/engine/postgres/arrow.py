r"""Values between PostgreSQL and Arrow, exact, by COPY.

Rows come as CSV, which Arrow reads a chunk at a time; what has another reading there comes as a
whole number: days of dates, microseconds of instants, infinity included. Rows go as COPY's own text
format, in which nothing that a text may hold has a meaning: in CSV a line of `\.` ends the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import EngineError, SourceError
from sqlanon.sqltext import name as quoted

if TYPE_CHECKING:
    import pyarrow

MOST_DIGITS = 38
"""Digits of DuckDB's widest decimal number."""
ROWS_WRITTEN = 50_000
"""Rows that are turned into text at a time."""
_DAYS, _MICROSECONDS = 2**31 - 1, 2**63 - 1  # infinity, as DuckDB has it in Arrow

_FINITE = "CASE WHEN isfinite({value}) THEN {finite} WHEN {value} > '1970-01-01' THEN {endless} "
_ENDLESS = _FINITE + "WHEN {value} IS NOT NULL THEN -{endless} END"
_EPOCH = "(EXTRACT(EPOCH FROM {value}) * 1000000)::bigint"
_DATE = _ENDLESS.replace("{finite}", "{value} - DATE '1970-01-01'").replace("{endless}", str(_DAYS))
_INSTANT = _ENDLESS.replace("{finite}", _EPOCH).replace("{endless}", str(_MICROSECONDS))


@dataclass(frozen=True, slots=True)
class PostgresType:
    """How values of a type of PostgreSQL come.

    Args:
        duckdb: The type that DuckDB has for them.
        read: What is asked for `{value}`.
        carried: The type of Arrow in which that is read.
        arrow: The type of Arrow that has the same bits; None where it is the same type.
        listed: Whether arrays of it are known, as texts of their elements.
        collated: Whether it is text, or becomes text in a temporary.
    """

    duckdb: str
    read: str
    carried: str
    arrow: str | None = None
    listed: bool = False
    collated: bool = False


_TEXT = PostgresType("VARCHAR", "{value}::text", "string", listed=True, collated=True)
KINDS: Mapping[str, PostgresType] = {
    "bool": PostgresType("BOOLEAN", "{value}", "bool_", listed=True),
    "int2": PostgresType("SMALLINT", "{value}", "int16", listed=True),
    "int4": PostgresType("INTEGER", "{value}", "int32", listed=True),
    "int8": PostgresType("BIGINT", "{value}", "int64", listed=True),
    "float4": PostgresType("FLOAT", "{value}", "float32", listed=True),
    "float8": PostgresType("DOUBLE", "{value}", "float64", listed=True),
    "numeric": PostgresType("DECIMAL", "trim_scale({value})", "string", listed=True),
    "text": _TEXT,
    "varchar": _TEXT,
    "bpchar": _TEXT,
    "name": _TEXT,
    "json": PostgresType("JSON", "{value}::text", "string"),
    "jsonb": PostgresType("JSON", "{value}::text", "string"),
    "uuid": PostgresType("UUID", "encode(uuid_send({value}), 'hex')", "string", "uuid"),
    "bytea": PostgresType("BLOB", "encode({value}, 'hex')", "string", "binary"),
    "date": PostgresType("DATE", _DATE, "int32", "date32"),
    "time": PostgresType("TIME", _EPOCH, "int64", "time"),
    "timestamp": PostgresType("TIMESTAMP", _INSTANT, "int64", "timestamp"),
    "timestamptz": PostgresType("TIMESTAMP WITH TIME ZONE", _INSTANT, "int64", "timestamptz"),
}
"""The types that can be read, by their names in the catalogue of PostgreSQL."""
ENUM = _TEXT
_UNREAD = {"interval": "INTERVAL", "numeric": "NUMERIC"}  # names that DuckDB knows


@dataclass(frozen=True, slots=True)
class PostgresColumn:
    """A column of PostgreSQL that comes as Arrow.

    Args:
        name: Its name.
        type_name: The name of its type, or of its elements', in the catalogue.
        kind: How values of it are read; None where they are not.
        digits: Precision and scale of a number that is declared with them.
        is_array: Whether its values are arrays.
    """

    name: str
    type_name: str
    kind: PostgresType | None
    digits: tuple[int, int] | None = None
    is_array: bool = False

    @property
    def is_unbounded(self) -> bool:
        """Whether only its values tell how wide a decimal number they need."""
        is_number = self.type_name == "numeric" and not self.is_array
        return is_number and (self.digits is None or not _fits(*self.digits))

    @property
    def is_read(self) -> bool:
        """Whether values of its type can be read, if their width allows."""
        if self.kind is None or not self.is_array:
            return self.kind is not None
        has_width = self.digits is not None and _fits(*self.digits)
        return self.kind.listed and (self.type_name != "numeric" or has_width)

    @property
    def duckdb(self) -> exp.DataType:
        """The type that DuckDB has for it; one that it does not know where it cannot be read."""
        if not self.is_read or self.kind is None or self.is_unbounded:
            name = "".join(letter for letter in self.type_name if letter.isalnum() or letter == "_")
            known = _UNREAD.get(self.type_name)
            if known == "INTERVAL" and not self.is_array:
                return type_of(known)
            kind = (known or name or "unknown") + ("_array" if self.is_array else "")
            return exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=kind)
        precision, scale = self.digits or (MOST_DIGITS, 0)
        name = self.kind.duckdb
        name = f"DECIMAL({precision}, {scale})" if name == "DECIMAL" else name
        return type_of(f"{name}[]" if self.is_array else name)

    def stored(self) -> str:
        """The column of a query as a temporary has it: text is plain, and compared byte by byte."""
        name = quoted(self.name).text
        if self.kind is None or not self.kind.collated:
            return name
        return f'{name}::text{"[]" * self.is_array} COLLATE "C" AS {name}'

    def read(self, value: str) -> str:
        """What is asked of PostgreSQL for it.

        Args:
            value: The column in a query.

        Raises:
            SourceError: Values of its type cannot be read.
        """
        if not self.is_read or self.kind is None:
            shown = f"arrays of {self.type_name}" if self.is_array else self.type_name
            raise SourceError(
                f"column {self.name!r} is of a type that sqlanon does not read from PostgreSQL "
                f"({shown}); leave it out, or read a view that casts it, such as to text"
            )
        if self.is_array:
            return f"array_to_json({value}::text[])"
        return self.kind.read.format(value=value)

    def carried(self) -> pyarrow.DataType:
        """The type in which CSV is read."""
        import pyarrow as pa

        assert self.kind is not None
        if self.digits is not None and not self.is_array and not self.is_unbounded:
            return pa.decimal128(*self.digits)
        made: pyarrow.DataType = pa.string() if self.is_array else getattr(pa, self.kind.carried)()
        return made

    def arrow(self, values: pyarrow.Array) -> pyarrow.Array:
        """What it is, of what CSV was read as; a number without a known width stays text."""
        import pyarrow as pa

        assert self.kind is not None
        if self.is_array:
            return self._lists(values)
        if self.kind.arrow is None:
            return values
        if self.kind.arrow in ("uuid", "binary"):
            texts = values.to_pylist()
            parts = [None if text is None else bytes.fromhex(text) for text in texts]
            if self.kind.arrow == "binary":
                return pa.array(parts, pa.binary())
            return pa.ExtensionArray.from_storage(pa.uuid(), pa.array(parts, pa.binary(16)))
        return values.view(
            {
                "date32": pa.date32(),
                "time": pa.time64("us"),
                "timestamp": pa.timestamp("us"),
                "timestamptz": pa.timestamp("us", tz="UTC"),
            }[self.kind.arrow]
        )

    def _lists(self, values: pyarrow.Array) -> pyarrow.Array:
        """Lists of the elements that JSON has as texts."""
        import pyarrow as pa

        assert self.kind is not None
        lists = [None if text is None else json.loads(text) for text in values.to_pylist()]
        flat = [part for array in lists or () for part in array or ()]
        if any(isinstance(part, list) for part in flat):
            raise SourceError(
                f"column {self.name!r} holds arrays of several dimensions, which sqlanon does "
                "not read; leave it out, or read a view that casts it to text"
            )
        offsets, end = list[int | None](), 0
        for array in lists:
            offsets.append(None if array is None else end)
            end += len(array or ())
        elements = pa.array(flat, pa.string())
        if self.type_name == "numeric":
            elements = elements.cast(pa.decimal128(*(self.digits or (MOST_DIGITS, 0))))
        else:
            elements = elements.cast(getattr(pa, self.kind.carried)())
        return pa.ListArray.from_arrays(pa.array([*offsets, end], pa.int32()), elements)


def _fits(precision: int, scale: int) -> bool:
    return precision <= MOST_DIGITS and 0 <= scale <= precision


def digits_of(modifier: int) -> tuple[int, int] | None:
    """Precision and scale that a column's type modifier tells of a number; None where it does not.

    >>> digits_of(655366)
    (10, 2)
    """
    if modifier < 0:
        return None
    number = modifier - 4
    scale = number & 0x7FF
    return number >> 16 & 0xFFFF, scale - 0x800 if scale >= 0x400 else scale


def unbounded(name: str) -> SourceError:
    """The error for a number that no type of DuckDB holds."""
    return SourceError(
        f"column {name!r} is numeric without a width, and its values are not all finite numbers "
        f"of at most {MOST_DIGITS} digits in all; declare it numeric(p, s), or read a view that "
        "casts it"
    )


def parsed(data: Sequence[bytes], columns: Sequence[PostgresColumn]) -> Any:
    """The rows of a chunk of CSV as a record batch.

    Raises:
        EngineError: A value is none of its type, such as a number that is not finite.
    """
    import pyarrow as pa
    from pyarrow import csv

    whole = b"".join(data)
    keys = [str(number) for number in range(len(columns))]
    types = [column.carried() for column in columns]
    try:
        if whole:
            rows = csv.read_csv(
                pa.BufferReader(whole),
                read_options=csv.ReadOptions(
                    column_names=keys, use_threads=False, block_size=len(whole) + 1
                ),
                parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
                convert_options=csv.ConvertOptions(
                    column_types=dict(zip(keys, types, strict=True)),
                    null_values=[""],
                    true_values=["t"],
                    false_values=["f"],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
            carried = [rows.column(key).combine_chunks() for key in keys]
        else:
            carried = [pa.array([], kind) for kind in types]
        arrays = [column.arrow(part) for column, part in zip(columns, carried, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])
    except pa.ArrowException:
        # Its message quotes the value.
        pass
    raise EngineError(
        "PostgreSQL gave a value that its column's type does not have in DuckDB, such as a "
        "decimal number that is not finite"
    )


def with_decimals(rows: pyarrow.Table, columns: Sequence[PostgresColumn]) -> pyarrow.Table:
    """A table in which the numbers that came as text have the type that all of them need.

    Raises:
        SourceError: There is no such type.
    """
    for place, column in enumerate(columns):
        if column.is_unbounded:
            made = _decimals(rows.column(place), name=column.name)
            rows = rows.set_column(place, column.name, made)
    return rows


def _decimals(texts: pyarrow.ChunkedArray, *, name: str) -> pyarrow.ChunkedArray:
    import pyarrow as pa
    from pyarrow import compute

    point = compute.find_substring(texts, ".")
    lengths = compute.utf8_length(texts)
    after = compute.if_else(compute.less(point, 0), 0, compute.subtract(lengths, point))
    scale = max((compute.max(after).as_py() or 0) - 1, 0)
    fits = scale <= MOST_DIGITS
    if fits:
        try:
            return texts.cast(pa.decimal128(MOST_DIGITS, scale))
        except pa.ArrowException:
            fits = False
    raise unbounded(name)


def stored_type(kind: pyarrow.DataType, *, name: str) -> str:
    """The type of PostgreSQL that holds what Arrow has.

    Args:
        kind: The type of Arrow.
        name: The column's name, for an error.

    Raises:
        EngineError: There is none.
    """
    from pyarrow import types

    if types.is_dictionary(kind):
        return stored_type(kind.value_type, name=name)
    if types.is_list(kind) or types.is_large_list(kind):
        element = stored_type(kind.value_type, name=name)
        if not element.endswith("[]"):
            return f"{element}[]"
    if types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    for known, type_name in (
        (types.is_boolean, "boolean"),
        (types.is_null, "text"),
        (types.is_float32, "real"),
        (types.is_float64, "double precision"),
        (types.is_date32, "date"),
        (types.is_time, "time"),
        (lambda dtype: types.is_string(dtype) or types.is_large_string(dtype), "text"),
        (lambda dtype: types.is_binary(dtype) or types.is_large_binary(dtype), "bytea"),
        (lambda dtype: str(dtype) in ("int8", "uint8", "int16"), "smallint"),
        (lambda dtype: str(dtype) in ("uint16", "int32"), "integer"),
        (lambda dtype: str(dtype) in ("uint32", "int64"), "bigint"),
        (types.is_uint64, "numeric(20, 0)"),
        (lambda dtype: str(dtype) == "extension<arrow.uuid>", "uuid"),
    ):
        if known(kind):
            return type_name
    raise EngineError(f"column {name!r} of a working table has no type in PostgreSQL")


def definition(field: pyarrow.Field) -> str:
    """A column of a temporary table: text is compared byte by byte."""
    kind = stored_type(field.type, name=field.name)
    collation = ' COLLATE "C"' if kind in ("text", "text[]") else ""
    return f"{quoted(field.name).text} {kind}{collation}"


def lines(rows: pyarrow.Table) -> Iterator[bytes]:
    """The rows in the text format of COPY, a chunk at a time.

    Raises:
        EngineError: A value has more digits than PostgreSQL keeps.
    """
    import pyarrow as pa
    from pyarrow import compute

    for batch in rows.to_batches(max_chunksize=ROWS_WRITTEN):
        fields = [_escaped(column) for column in batch.columns]
        joined = compute.binary_join_element_wise(
            *fields, "\t", null_handling="replace", null_replacement="\\N"
        )
        ended = compute.binary_join_element_wise(joined, pa.scalar("\n"), "")
        yield "".join(ended.to_pylist()).encode()


def _escaped(values: pyarrow.Array) -> pyarrow.Array:
    """Values as COPY reads them, NULL as such."""
    import pyarrow as pa
    from pyarrow import compute, types

    kind = values.type
    if types.is_dictionary(kind):
        values = values.dictionary_decode()
        kind = values.type
    if types.is_string(kind) or types.is_large_string(kind):
        for raw, shown in (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
            values = compute.replace_substring(values, raw, shown)
        return values.cast(pa.string())
    if types.is_list(kind) or types.is_large_list(kind):
        return pa.array(_arrays(values), pa.string())
    try:
        if types.is_temporal(kind):
            return _spelled(_whole(values), lambda unique: _moments(unique, kind))
        if types.is_decimal(kind):
            return _spelled(values, lambda unique: [f"{cell:f}" for cell in unique.to_pylist()])
        if isinstance(kind, pa.UuidType):
            return pa.array([cell and str(cell) for cell in values.to_pylist()], pa.string())
        if types.is_binary(kind) or types.is_large_binary(kind):
            made = [None if cell is None else "\\\\x" + cell.hex() for cell in values.to_pylist()]
            return pa.array(made, pa.string())
        return values.cast(pa.string())
    except pa.ArrowException:
        # Its message quotes the value.
        pass
    raise EngineError("a working table holds a time of more digits than PostgreSQL keeps")


def _spelled(
    values: pyarrow.Array, spell: Callable[[pyarrow.Array], Sequence[str]]
) -> pyarrow.Array:
    """Texts of values, each of which is spelled once."""
    import pyarrow as pa

    encoded = values.dictionary_encode()
    texts = pa.array(spell(encoded.dictionary), pa.string())
    return texts.take(encoded.indices)


def _whole(values: pyarrow.Array) -> pyarrow.Array:
    """Days or microseconds, as DuckDB has them in Arrow."""
    import pyarrow as pa
    from pyarrow import types

    kind = values.type
    if types.is_date32(kind):
        return values.view(pa.int32())
    if types.is_timestamp(kind):
        # What DuckDB has in other units is finite.
        return values.cast(pa.timestamp("us", tz=kind.tz)).view(pa.int64())
    return values.cast(pa.time64("us")).view(pa.int64())


def _moments(values: pyarrow.Array, kind: pyarrow.DataType) -> list[str]:
    """Dates, times and instants as PostgreSQL reads them: 1 BC is the year 0."""
    import numpy as np
    from pyarrow import types

    numbers = values.to_pylist()
    if types.is_time(kind):
        return [_clock(number) for number in numbers]
    is_date = types.is_date32(kind)
    most, unit = (_DAYS, "D") if is_date else (_MICROSECONDS, "us")
    zone = "+00" if not is_date and kind.tz is not None else ""
    finite = [0 if abs(number) == most else number for number in numbers]
    shown = np.datetime_as_string(np.array(finite, dtype=np.int64).view(f"datetime64[{unit}]"))
    texts = list[str]()
    for number, text in zip(numbers, shown.tolist(), strict=True):
        if abs(number) == most:
            texts.append("infinity" if number > 0 else "-infinity")
        elif text.startswith(("-", "0000-")):
            year, _, rest = text.lstrip("-").partition("-")
            texts.append(f"{1 + int(year):04}-{rest}{zone} BC")
        else:
            texts.append(text + zone)
    return texts


def _clock(microseconds: int) -> str:
    """A time of day.

    >>> _clock(86_400_000_000)
    '24:00:00.000000'
    """
    seconds, part = divmod(microseconds, 1_000_000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{part:06}"


def _arrays(values: pyarrow.Array) -> list[str | None]:
    """Lists as PostgreSQL reads arrays, escaped for COPY."""
    elements = _escaped(values.flatten()).to_pylist()
    texts, start = list[str | None](), 0
    for size in values.value_lengths().to_pylist():
        if size is None:
            texts.append(None)
            continue
        parts = elements[start : start + size]
        start += size
        texts.append("{" + ",".join(map(_quoted, parts)) + "}")
    return texts


def _quoted(element: str | None) -> str:
    """An element of an array, escaped for COPY: in an array a backslash is escaped once more."""
    if element is None:
        return "NULL"
    return '"' + element.replace("\\\\", "\\" * 4).replace('"', '\\\\"') + '"'
