"""Columns of Arrow tables, on their way into a database that has fewer types, and back.

A column that is published as it is goes into the database as whatever keeps its values apart and in
order: a duration as a whole number, a dictionary as its values. On the way back it becomes what it
was.
"""

from __future__ import annotations

from typing import Any

from sqlanon.errors import SourceError

Column = Any
"""A `pyarrow.ChunkedArray`; pyarrow is slow to import and has no types."""
DIGITS = 38
"""Most digits of a decimal number of DuckDB."""


def stored(column: Column) -> Column:
    """A column as the database is given it, where its values count by being equal alone."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return stored(pyarrow.chunked_array(chunks, type=kind.storage_type))
    if types.is_dictionary(kind):
        return stored(column.cast(kind.value_type))
    if types.is_float16(kind):
        return column.cast(pyarrow.float32())
    if types.is_decimal(kind):
        exact = kind.precision <= DIGITS
        return column.cast(
            pyarrow.decimal128(kind.precision, kind.scale) if exact else pyarrow.string()
        )
    # DuckDB has microseconds of these, or intervals in their place.
    return column.cast(_number(kind)) if _is_numbered(kind) else column


def restored(column: Column, kind: Any) -> Column:
    """A column that the database gave back, in the type that it had.

    A dictionary lists what is published, and no value that is suppressed.

    Args:
        column: What `stored` made of it, or the database itself, in other rows.
        kind: The `pyarrow.DataType` that it had.

    Raises:
        pyarrow.ArrowException: It does not fit the type, or cannot be converted.
    """
    import pyarrow
    from pyarrow import types

    if isinstance(kind, pyarrow.BaseExtensionType):
        inner = restored(column, kind.storage_type)
        chunks = [pyarrow.ExtensionArray.from_storage(kind, chunk) for chunk in inner.chunks]
        return pyarrow.chunked_array(chunks, type=kind)
    if types.is_dictionary(kind):
        return restored(column, kind.value_type).dictionary_encode().cast(kind)
    if _is_numbered(kind) and types.is_integer(column.type):
        return column.cast(_number(kind)).cast(kind)
    return column.cast(kind)


def in_order(column: Column, original: Column) -> Column:
    """A column of an ordered dictionary, its values in the order that another lists them in.

    Args:
        column: The values of some records.
        original: A column of the same type that holds them all, or an array.
    """
    import pyarrow
    from pyarrow import compute

    kind = column.type
    values = column.cast(kind.value_type)
    lists = [chunk.dictionary for chunk in getattr(original, "chunks", [original])]
    listed = pyarrow.chunked_array(lists, kind.value_type).unique().drop_null()
    present = listed.filter(compute.is_in(listed, value_set=values.unique()))
    codes = compute.index_in(values, value_set=present).cast(kind.index_type)
    return pyarrow.chunked_array(
        [pyarrow.DictionaryArray.from_arrays(own, present, ordered=True) for own in codes.chunks],
        kind,
    )


def comes_back(kind: Any) -> bool:
    """Whether every value of a type, as it is stored, is known to come back from the database."""
    import pyarrow
    from pyarrow import types

    if isinstance(kind, pyarrow.BaseExtensionType):
        return comes_back(kind.storage_type)
    if types.is_dictionary(kind):
        return comes_back(kind.value_type)
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    moments = (types.is_date, types.is_time, types.is_timestamp, types.is_duration)
    return any(fits(kind) for fits in (*texts, *numbers, *moments, types.is_null))


def refuse_finer(name: str, column: Column) -> None:
    """Refuses moments that the database would merge, since it reads them in microseconds.

    Raises:
        SourceError: A zoned column of nanoseconds has values between two microseconds.
    """
    import pyarrow
    from pyarrow import compute, types

    kind = column.type
    if not (types.is_timestamp(kind) and kind.tz is not None and kind.unit == "ns"):
        return
    count = column.cast(pyarrow.int64())
    whole = compute.multiply(compute.divide(count, 1000), 1000)
    finer = compute.sum(compute.not_equal(count, whole)).as_py()
    if finer:
        raise SourceError(
            f"column {name!r} has {finer:,} values between two microseconds, which would count as "
            "one; round it to microseconds"
        )


def same(one: Column, other: Column) -> bool:
    """Whether two columns hold the same values, NaN among them."""
    return bool(one.equals(other)) or repr(one.to_pylist()) == repr(other.to_pylist())


def _is_numbered(kind: Any) -> bool:
    """Whether values of a type are stored as the whole numbers that they are counted by."""
    import pyarrow
    from pyarrow import types

    if types.is_timestamp(kind):
        return bool(kind.tz)
    return bool(types.is_duration(kind) or types.is_time(kind) or kind == pyarrow.date64())


def _number(kind: Any) -> Any:
    import pyarrow

    return pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64()
