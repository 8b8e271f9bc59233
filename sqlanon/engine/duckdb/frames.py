"""Frames of a program in a database: pandas, Polars, Arrow and relations of DuckDB.

Each is read once as Arrow, and handed back as what it was. What DuckDB makes of pandas or of a lazy
query depends on its own sample of the rows and on when it looks. Columns that are published as they
are go in as whatever keeps their values apart and come back in their own type, which is tried
before the search where no list says so. Categories are worked out anew, since a type that lists
suppressed values publishes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Protocol
from uuid import uuid4

import duckdb
from sqlglot import exp

from sqlanon.engine.base import Engine, Use, without_enums
from sqlanon.engine.duckdb.capabilities import QUERIES_LEAVE_NOTHING
from sqlanon.engine.duckdb.catalog import fold, qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import attempt, fault
from sqlanon.engine.duckdb.syntax import all_of, cast, create_temporary, selected, type_of
from sqlanon.errors import EngineError, SourceError
from sqlanon.sqltext import name as quoted
from sqlanon.wording import counted

Column = Any
"""A `pyarrow.ChunkedArray`; pyarrow is slow to import and has no types."""
MAX_DECIMAL_DIGITS = 38
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
        exact = kind.precision <= MAX_DECIMAL_DIGITS
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
        [pyarrow.DictionaryArray.from_arrays(part, present, ordered=True) for part in codes.chunks],
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


_LONG = frozenset({"Int128", "UInt128"})
Table = Any
"""A `pyarrow.Table`; pyarrow is slow to import and has no types."""


class ArrowStreamed(Protocol):
    """A frame that gives its rows as Arrow batches: pandas, Polars, Arrow, a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """The rows, by Arrow's own protocol."""
        ...


class LazilyCollected(Protocol):
    """A query of Polars that has not been carried out."""

    def collect_schema(self) -> Any:
        """Names and types of the columns."""
        ...

    def collect(self) -> Any:
        """Its rows."""
        ...


class FrameKind(Protocol):
    """A frame by what it takes to read it, and to make another one like it."""

    def names(self) -> list[Any]:
        """Its columns."""
        ...

    def has_categories(self, name: str) -> bool:
        """Whether the type of a column lists its values."""
        ...

    def is_nested(self, name: str) -> bool:
        """Whether the type of a column is known to be made of others."""
        ...

    def read(self, names: Sequence[str], equal_alone: Collection[str]) -> Table:
        """Some of its columns as an Arrow table.

        Args:
            names: The columns.
            equal_alone: Those of them whose values count by being equal alone.
        """
        ...

    def made(self, published: Table, kept: Mapping[str, Any]) -> Any:
        """A frame of the same kind.

        A column whose type lists its values comes back with those that are published, in their
        order: any other would tell of a record that is not.

        Args:
            published: Its columns as the database gives them.
            kept: The Arrow types of those that `read` gave, and that are not generalized.
        """
        ...


class ArrowFrame:
    """A table, a batch or a reader of pyarrow; whatever else gives batches comes back as a table.

    Args:
        frame: The frame; a reader is read to its end.
    """

    def __init__(self, frame: Any) -> None:
        import pyarrow

        known = (pyarrow.Table, pyarrow.RecordBatch, pyarrow.RecordBatchReader)
        self._kind = next((kind for kind in known if isinstance(frame, kind)), pyarrow.Table)
        if not isinstance(frame, known):
            frame = pyarrow.RecordBatchReader.from_stream(frame).read_all()
        self._frame = frame

    def names(self) -> list[Any]:
        """Its columns."""
        return list(self._frame.schema.names)

    def has_categories(self, name: str) -> bool:
        """Whether a column is a dictionary."""
        from pyarrow import types

        return bool(types.is_dictionary(self._frame.schema.field(name).type))

    def is_nested(self, name: str) -> bool:
        """Whether a column holds lists or structs."""
        from pyarrow import types

        return bool(types.is_nested(self._frame.schema.field(name).type))

    def read(self, names: Sequence[str], equal_alone: Collection[str]) -> Table:
        """Some of its columns."""
        import pyarrow

        if isinstance(self._frame, pyarrow.RecordBatchReader):
            self._frame = self._frame.read_all()
        elif isinstance(self._frame, pyarrow.RecordBatch):
            self._frame = pyarrow.Table.from_batches([self._frame])
        return self._frame.select(list(names))

    def made(self, published: Table, kept: Mapping[str, Any]) -> Any:
        """A table, batch or reader without any metadata."""
        import pyarrow

        table = in_types(published, kept)
        for at, field in enumerate(table.schema):
            if pyarrow.types.is_dictionary(field.type) and field.type.ordered:
                order = self._frame[field.name]
                table = table.set_column(at, field, in_order(table.column(at), order))
        if self._kind is pyarrow.RecordBatchReader:
            return table.to_reader()
        if self._kind is pyarrow.RecordBatch:
            batches = table.combine_chunks().to_batches()
            return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], table.schema)
        return table


class PandasFrame:
    """A `pandas.DataFrame`; its index and its attributes are left behind."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def names(self) -> list[Any]:
        """Its columns."""
        return list(self._frame.columns)

    def has_categories(self, name: str) -> bool:
        """Whether a column is categorical."""
        import pandas

        return isinstance(self._frame[name].dtype, pandas.CategoricalDtype)

    def is_nested(self, name: str) -> bool:
        """Whether a column holds lists or structs of Arrow; of objects nobody knows."""
        from pyarrow import types

        kind = getattr(self._frame[name].dtype, "pyarrow_dtype", None)
        return kind is not None and bool(types.is_nested(kind))

    def read(self, names: Sequence[str], equal_alone: Collection[str]) -> Table:
        """Some of its columns; categories go by their texts where these are all that counts."""
        import pandas
        import pyarrow

        chosen = self._frame[list(names)]
        columns = []
        for name in names:
            values, dtype = chosen[name], chosen[name].dtype
            if name in equal_alone and isinstance(dtype, pandas.CategoricalDtype):
                texts = pyarrow.array(_texts(dtype), pyarrow.string())
                codes = pyarrow.array(values.cat.codes, mask=values.cat.codes == -1)
                columns.append(texts.take(codes))
            else:
                columns.append(_arrow_of(name, values))
        return pyarrow.table(columns, names=list(names))

    def made(self, published: Table, kept: Mapping[str, Any]) -> Any:
        """A frame with an index that counts its rows."""
        import pandas

        made = {}
        for name, column in zip(published.column_names, in_types(published, kept), strict=True):
            dtype = self._frame[name].dtype if name in kept else None
            made[name] = _series(column, dtype)
        return pandas.DataFrame(made)


class PolarsFrame:
    """A `polars.DataFrame`, or a `polars.LazyFrame`, which is collected once."""

    def __init__(self, frame: Any) -> None:
        self._frame, self._is_lazy = frame, not hasattr(frame, "to_arrow")

    def names(self) -> list[Any]:
        """Its columns."""
        return list(self._frame.collect_schema().names())

    def has_categories(self, name: str) -> bool:
        """Whether a column is categorical, or an enumeration."""
        return _is_category(self._frame.collect_schema()[name])

    def is_nested(self, name: str) -> bool:
        """Whether a column holds lists, arrays or structs."""
        return bool(self._frame.collect_schema()[name].is_nested())

    def read(self, names: Sequence[str], equal_alone: Collection[str]) -> Table:
        """Some of its columns; categories go by their texts."""
        import polars

        if self._is_lazy:
            self._frame = self._frame.lazy().select(names).collect()
        chosen = self._frame.select(names)
        categories = [n for n, dtype in chosen.schema.items() if _is_category(dtype)]
        chosen = chosen.with_columns(polars.col(n).cast(polars.String) for n in categories)
        opaque = [n for n, dtype in chosen.schema.items() if dtype == polars.Object]
        if opaque:
            raise SourceError(
                f"column {opaque[0]!r} holds objects, which no table can; convert or drop it"
            )
        chosen = _without_long(chosen)
        for name, dtype in chosen.schema.items():
            if any(kind in str(dtype) for kind in _LONG):
                raise SourceError(
                    f"column {name!r} ({dtype}) holds integers of 128 bits within others, which no "
                    "table can; convert or drop it"
                )
        return chosen.to_arrow()

    def made(self, published: Table, kept: Mapping[str, Any]) -> Any:
        """A frame of the same kind, eager or lazy."""
        import polars

        table = in_types(published, kept)
        frame = polars.DataFrame(
            {
                name: _polars_series(
                    polars.from_arrow(column), self._frame.schema[name] if name in kept else None
                )
                for name, column in zip(table.column_names, table, strict=True)
            }
        )
        return frame.lazy() if self._is_lazy else frame


def in_types(published: Table, kept: Mapping[str, Any]) -> Table:
    """An Arrow table with columns in the types that they had, and no metadata."""
    import pyarrow

    columns = []
    for name, column in zip(published.column_names, published, strict=True):
        try:
            columns.append(restored(column, kept[name]) if name in kept else column)
        except pyarrow.ArrowException:
            # What is generalized need not come back as it was; what is not has been tried before.
            columns.append(column)
    return pyarrow.table(columns, names=published.column_names)


def _texts(dtype: Any) -> list[str]:
    """A text for every category, no two alike."""
    texts = [str(value) for value in dtype.categories]
    return texts if len(set(texts)) == len(texts) else [str(n) for n in range(len(texts))]


def _arrow_of(name: str, values: Any) -> Any:
    import pyarrow

    fault = False
    try:
        return pyarrow.Array.from_pandas(values)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        fault = True  # the message of the error quotes values
    if fault:
        raise SourceError(
            f"column {name!r} ({values.dtype}) holds values of several kinds, or of one that no "
            "table can hold; convert or drop it"
        )
    return None


def _series(column: Any, dtype: Any) -> Any:
    """A column for pandas, in the type that it had; as pandas reads it where that is None."""
    import pandas
    from pyarrow import types

    if dtype is None:
        return column.to_pandas()
    if isinstance(dtype, pandas.CategoricalDtype):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = types.is_string(kind) or types.is_large_string(kind)
        place = {
            value: at for at, value in enumerate(_texts(dtype) if is_text else dtype.categories)
        }
        values = column.to_pylist()
        if not place.keys() >= {*values} - {None}:  # a period, of which a number is published
            return column.to_pandas()
        codes = [-1 if value is None else place[value] for value in values]
        return pandas.Series(
            pandas.Categorical.from_codes(codes, dtype=dtype)
        ).cat.remove_unused_categories()
    if hasattr(dtype, "__from_arrow__"):
        return pandas.Series(dtype.__from_arrow__(column))
    if pandas.api.types.is_object_dtype(dtype):
        return pandas.Series(column.to_pylist(), dtype=object)
    return column.to_pandas().astype(dtype)


def _without_long(frame: Any) -> Any:
    """A Polars frame with decimals for integers of 128 bits, which Arrow lacks.

    Raises:
        SourceError: One has more digits than a decimal of a database.
    """
    import polars

    for name, dtype in frame.schema.items():
        if str(dtype) not in _LONG:
            continue
        # Not every version of Polars refuses to cast them; its own message would quote a value.
        ends = [end for end in (frame[name].min(), frame[name].max()) if end is not None]
        if any(abs(end) >= 10**MAX_DECIMAL_DIGITS for end in ends):
            raise SourceError(
                f"column {name!r} ({dtype}) holds numbers of more than {MAX_DECIMAL_DIGITS} "
                "digits, which no table can; convert it to text, or drop it"
            )
        frame = frame.with_columns(polars.col(name).cast(polars.Decimal(MAX_DECIMAL_DIGITS, 0)))
    return frame


def _is_category(dtype: Any) -> bool:
    import polars

    return isinstance(dtype, polars.Categorical | polars.Enum)


def _polars_series(column: Any, dtype: Any) -> Any:
    """A column for Polars, in the type that it had, with no category that is not published."""
    import polars

    if isinstance(dtype, polars.Enum):
        present = set(column.drop_nulls().unique())
        return column.cast(polars.Enum([value for value in dtype.categories if value in present]))
    return column if dtype is None else column.cast(dtype)


_Type = exp.DataType.Type
_ARROW_TYPES = frozenset(
    {
        *exp.DataType.NUMERIC_TYPES,
        *exp.DataType.TEXT_TYPES,
        *exp.DataType.TEMPORAL_TYPES - {_Type.TIMETZ},
        *exp.DataType.NESTED_TYPES - {_Type.UNION},
        *(
            _Type.BOOLEAN,
            _Type.VARBINARY,
            _Type.UUID,
            _Type.INTERVAL,
        ),
        *(_Type.ENUM, _Type.JSON, _Type.TIME),
    }
) - {_Type.BIT}
"""Types whose values come back from DuckDB by way of Arrow."""


class FrameTable:
    """A frame of the program, as a table to be read, and its likeness to be made.

    Args:
        frame: A pandas or Polars frame, an Arrow table or reader, a relation of DuckDB.
    """

    def __init__(self, frame: Any) -> None:
        self._frame, self.title = frame, f"{_package(frame)} {type(frame).__name__}"
        self._types: dict[str, Any] = {}
        self._kind: FrameKind | None = None
        self._relation: duckdb.DuckDBPyRelation | None = None
        if isinstance(frame, duckdb.DuckDBPyRelation):
            self._relation, self.title = frame, "DuckDB relation"

    def loaded(
        self, engine: DuckDB, use: Callable[[Sequence[str]], Use], *, is_callers: bool
    ) -> exp.Table:
        """The frame as a table of an engine, until it releases what it registered.

        A relation is read where it is, whenever it is asked, on the connection of the caller whose
        it must be; everything else is read once.

        Raises:
            SourceError: Its columns have no names that a table can have, or a column holds what no
                table can, or what could not be given back.
        """
        if self._relation is not None and is_callers:
            table = _resolved(engine, self._relation)
            use(list(engine.columns(table)))
            return table
        import pyarrow

        self._kind = kind = _kind(self._frame)
        names = kind.names()
        _refuse_names(names, self.title)
        used = use(names)
        flat = frozenset(n for n in used.counted if not kind.is_nested(n))
        used = replace(used, counted=flat)
        equal_alone = used.equal_alone | used.counted
        rows = None
        with suppress(SourceError):  # of a column that is dropped, too
            rows = kind.read(used.read(names), equal_alone)
        if rows is None:
            rows = kind.read(used.kept(names), equal_alone)
        self._types = dict(zip(rows.column_names, rows.schema.types, strict=True))
        columns = {}
        for name, column in zip(rows.column_names, rows.columns, strict=True):
            if name in used.counted and not comes_back(column.type):
                continue
            columns[name] = stored(column) if name in equal_alone else column
            if used.by_value is not None and name not in equal_alone:
                refuse_finer(name, column)
        for name in names:
            columns.setdefault(name, pyarrow.nulls(rows.num_rows))
        table = engine.register(pyarrow.table({name: columns[name] for name in names}))
        for name in used.as_is:
            column, kind = rows.column(name), self._types[name]
            is_as_known = name in used.equal_alone or stored(column).type == kind
            if not (is_as_known and comes_back(kind)):
                self._refuse_lossy(engine, table, name=name, column=column)
        return table

    def handed_back(
        self, engine: Engine, table: exp.Table, *, source: exp.Table, coded: Collection[str]
    ) -> Any:
        """A frame of the same kind as this one, of the rows of a table.

        Args:
            engine: Where the table is, and this frame as it was loaded.
            table: The table.
            source: What `loaded` returned.
            coded: The columns that are generalized; categories of theirs become texts.
        """
        assert isinstance(engine, DuckDB)
        if self._kind is None:
            return _related(engine, table)
        published = engine.fetch(all_of(table))
        before, now = engine.columns(source), engine.columns(table)
        kept = {
            name: self._types[name]
            for name, kind in now.items()
            if name not in coded or (kind == before[name] and not self._kind.has_categories(name))
        }
        return self._kind.made(published, kept)

    def _refuse_lossy(self, engine: DuckDB, table: exp.Table, *, name: str, column: Any) -> None:
        """Refuses a column whose values would not come back, before there is any work."""
        import pyarrow

        rows = selected({name: quoted(name)}, table)
        with suppress(EngineError, pyarrow.ArrowException):
            if same(restored(engine.fetch(rows).column(0), column.type), column):
                return
        raise SourceError(
            f"column {name!r} of the {self.title} is of a type whose values a database does not "
            "give back as they are; convert or drop it"
        )


def owned(frame: object) -> tuple[object, object]:
    """What to open for a frame without a connection: a source, and its table or None.

    Raises:
        SourceError: A relation of which this version of DuckDB does not tell the connection.
    """
    frame_table = FrameTable(frame)
    if not isinstance(frame, duckdb.DuckDBPyRelation) or QUERIES_LEAVE_NOTHING:
        return frame_table, None
    default = duckdb.default_connection()
    with suppress(duckdb.Error), _variable(frame) as name:
        default.sql(f"SELECT * FROM {name} LIMIT 0")
        return default, frame_table
    raise SourceError(
        "the relation is of a connection of its own, which this version of DuckDB does not tell; "
        "give the connection, then the relation, then the policy"
    )


def _refuse_names(names: Sequence[object], title: str) -> None:
    """Refuses names that a table of a database cannot have."""
    others = [name for name in names if not isinstance(name, str)]
    if others:
        one = f"column of the {title} has a name that is no text"
        more = f"columns of the {title} have names that are no texts"
        raise SourceError(
            f"{counted(len(others), one, more=more)}; "
            "rename them, for instance by frame.columns = frame.columns.map(str)"
        )
    folded = [fold(str(name)) for name in names]
    alike = [name for name in names if folded.count(fold(str(name))) > 1]
    if alike:
        raise SourceError(
            f"columns {', '.join(map(repr, alike))} of the {title} have one name, but for the case "
            "of letters; rename them"
        )
    if not names:
        raise SourceError(f"the {title} has no columns")


def _refuse_untold(kinds: Mapping[str, str]) -> None:
    """Refuses types whose values Arrow, between two databases, is not known to tell."""
    for name, kind in kinds.items():
        for part in type_of(kind).find_all(exp.DataType):
            if part.this not in _ARROW_TYPES and kind != "TIMESTAMPTZ_NS":
                raise SourceError(
                    f"column {name!r} ({part.sql('duckdb')}) cannot be read without the relation's "
                    "connection; give the connection, then the relation, then the policy"
                )


def _related(engine: DuckDB, table: exp.Table) -> duckdb.DuckDBPyRelation:
    """A relation of the rows of a table, in a temporary table that stays with the connection."""
    place = engine.tables.beside(qualified("temp", "main", ""))
    engine.run(create_temporary(place, all_of(table)))
    text = all_of(place).text
    return engine.attempt(
        lambda: engine.connection.sql(text), lambda error: fault(error, "read what was published")
    )


@contextmanager
def _variable(value: object) -> Iterator[str]:
    """A variable of this module that DuckDB reads, by a name that no table or view has.

    A table of that name would be read in its place.
    """
    name = f"_sqlanon_{uuid4().hex}"
    globals()[name] = value
    try:
        yield name
    finally:
        del globals()[name]


def _package(frame: Any) -> str:
    return type(frame).__module__.partition(".")[0]


def _resolved(engine: DuckDB, relation: duckdb.DuckDBPyRelation) -> exp.Table:
    with suppress(EngineError):
        return engine.tables.resolve(relation)
    raise SourceError("the relation is of another connection than the one that is given")


def _kind(frame: Any) -> FrameKind:
    """The kind of a frame, also of one whose class is derived from a known one."""
    bases = {(base.__module__.partition(".")[0], base.__name__) for base in type(frame).__mro__}
    if ("pandas", "DataFrame") in bases:
        return PandasFrame(frame)
    if {("polars", "DataFrame"), ("polars", "LazyFrame")} & bases:
        return PolarsFrame(frame)
    if "Series" in {name for _, name in bases}:
        raise SourceError(
            f"a {_package(frame)} Series is not a table; make a frame of it by to_frame()"
        )
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return _Relation(frame)
    return ArrowFrame(frame)


class _Relation(ArrowFrame):
    """A relation of another connection than the engine's."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        super().__init__(relation)
        self._relation = relation
        kinds = zip(relation.columns, relation.types, strict=True)
        self._duckdb_types = {name: without_enums(type_of(str(kind))) for name, kind in kinds}

    def read(self, names: Sequence[str], equal_alone: Collection[str]) -> Any:
        """Some of its columns."""
        kinds = zip(self._relation.columns, self._relation.types, strict=True)
        _refuse_untold({name: str(kind) for name, kind in kinds if name in names})
        return super().read(names, equal_alone)

    def made(self, published: Any, kept: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
        """A relation of the connection that the first one is of.

        Raises:
            SourceError: The connection is set to read no variables of Python.
        """
        [(reads_variables,)] = self._query(
            "SELECT current_setting('python_enable_replacements')"
        ).fetchall()
        if not reads_variables:
            raise SourceError(
                "python_enable_replacements is off on the relation's connection, without which no "
                "table can be handed back to it; give the connection, then the relation, then the "
                "policy"
            )
        published = in_types(published, kept)
        columns = {
            name: cast(name, self._duckdb_types[name]) if name in kept else quoted(name)
            for name in published.column_names
        }
        with _variable(published) as name:
            return self._query(selected(columns, quoted(name)).text)

    def _query(self, text: str) -> duckdb.DuckDBPyRelation:
        """Rows of a query on the connection that the relation is of."""
        made = attempt(
            lambda: self._relation.query("_sqlanon_original", text),
            lambda error: fault(error, "hand back what was published"),
        )
        assert made is not None
        return made
