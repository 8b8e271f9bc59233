"""Traces: what a file holds beside the cells of its table, told in names and counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.catalog import entries, first_names
from sqlanon.engine.duckdb.data_files import arrow_batches
from sqlanon.engine.duckdb.database_objects import leftovers
from sqlanon.wording import counted

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    Part = tuple[str, Sequence[pyarrow.Array]]

BYTES_AT_ONCE = 1 << 24  # bytes of a file that are looked through at once
# What writers of Parquet note of types alone.
_OF_TYPES = {b"ARROW:schema", b"PARQUET:field_id", b"duckdb.interval_bloom_filter"}


@dataclass(frozen=True, slots=True)
class FileTraces:
    """What a file holds beside the cells of its table.

    Args:
        metadata: Keys beside the rows, but for those that tell types.
        beyond: Columns whose statistics go beyond their rows.
        unused: By column the values of dictionaries that no row has.
    """

    metadata: int = 0
    beyond: tuple[str, ...] = ()
    unused: Mapping[str, int] = field(default_factory=dict)


def file_traces(path: Path) -> FileTraces:
    """What a Parquet or Arrow file holds beside its cells; nothing of files of another kind.

    Nothing, either, of a file with types that Arrow does not know, as DuckDB writes some.
    """
    with path.open("rb") as file:
        looked_at = {b"PAR1": _of_parquet, b"ARRO": _of_arrow}.get(file.read(4))
    if looked_at is not None:
        from pyarrow import ArrowException  # slow to import, and other files need none

        with suppress(ArrowException):
            return looked_at(path)
    return FileTraces()


def texts_in(path: Path, texts: Collection[str]) -> set[str]:
    """Those of some texts that stand among the bytes of a file, as UTF-8."""
    wanted = {text.encode(): text for text in texts}
    overlap, matches, last = max(map(len, wanted), default=0), set[str](), b""
    with path.open("rb") as file:
        while wanted and (chunk := file.read(BYTES_AT_ONCE)):
            seen = last + chunk
            for code in [code for code in wanted if code in seen]:
                matches.add(wanted.pop(code))
            last = seen[-overlap:]
    return matches


def free_blocks(engine: Engine, table: exp.Table) -> int:
    """The blocks of a table's database that no table uses."""
    query = entries("pragma_database_size", ("free_blocks",), database=table.catalog)
    return sum(number for (number,) in engine.rows(query))


def beside(engine: Engine, table: exp.Table, *, original: exp.Table | None) -> list[str]:
    """All that a table's database holds besides and that may quote values, a phrase a kind.

    Args:
        engine: Where the database is attached.
        table: The table.
        original: A table of the same database that is told of elsewhere; None without.
    """
    every = entries(
        "duckdb_tables", ("schema_name", "table_name"), database=table.catalog, without=table
    )
    known = () if original is None else (original.db, original.name)
    tables = sorted(name for schema, name in engine.rows(every) if (schema, name) != known)
    listed = entries("duckdb_sequences", ("sequence_name",), database=table.catalog)
    sequences = sorted(name for (name,) in engine.rows(listed))
    named = (("other table", tables), ("sequence", sequences))
    phrases = [
        f"{counted(len(names), what)}: {first_names(names)}" for what, names in named if names
    ]
    return [*phrases, *leftovers(engine, table.catalog)]


def _of_arrow(path: Path) -> FileTraces:
    import pyarrow

    def parts(names: Collection[str]) -> Iterator[Part]:
        with pyarrow.OSFile(str(path)) as file:
            for batch in arrow_batches(file):
                yield from ((name, [batch.column(name)]) for name in names)

    with pyarrow.OSFile(str(path)) as file:
        schema = arrow_batches(file).schema
    coded = [column.name for column in schema if pyarrow.types.is_dictionary(column.type)]
    return FileTraces(_metadata(schema, schema.metadata), (), _unused(coded, parts))


def _of_parquet(path: Path) -> FileTraces:
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        schema, metadata = file.schema_arrow, _metadata(file.schema_arrow, file.metadata.metadata)
        plain = [column.name for column in schema if not types.is_nested(column.type)]
        beyond = tuple(name for name in plain if _goes_beyond(file, name))
        texts = [column.name for column in schema if _is_text(column.type)]

    def parts(names: Collection[str]) -> Iterator[Part]:
        with ParquetFile(path, read_dictionary=texts) as file:
            for group in range(file.num_row_groups):
                for name in names:
                    yield name, file.read_row_group(group, columns=[name]).column(0).chunks

    return FileTraces(metadata, beyond, _unused(texts, parts))


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _metadata(schema: pyarrow.Schema, metadata: Mapping[bytes, bytes] | None) -> int:
    """The keys that stand beside the rows of a file, of its own and of its columns."""
    several = [metadata, *(column.metadata for column in schema)]
    return sum(key not in _OF_TYPES for mapping in several for key in mapping or ())


def _goes_beyond(file: ParquetFile, name: str) -> bool:
    """Whether some row group notes a least or greatest value of a column that no row there has."""
    import pyarrow
    from pyarrow import compute

    paths = [file.metadata.schema.column(n).path for n in range(file.metadata.num_columns)]
    for group in range(file.num_row_groups):
        noted = file.metadata.row_group(group).column(paths.index(name)).statistics
        if noted is None or not noted.has_min_max:
            continue
        column = file.read_row_group(group, columns=[name]).column(0)
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        # What is noted in another form than values have, or beyond Python's dates, tells nothing.
        with suppress(pyarrow.ArrowException, TypeError, OverflowError):
            extremes = pyarrow.array([noted.min, noted.max], type=column.type)
            bounds, both = (
                compute.min_max(pyarrow.chunked_array(chunks)).as_py()
                for chunks in (column.chunks, [*column.chunks, extremes])
            )
            if bounds != both and not _is_cut(noted, bounds):
                return True
    return False


def _is_cut(noted: Any, bounds: Mapping[str, Any]) -> bool:
    """Whether long texts were noted by their beginnings, the greatest with a larger last letter."""
    least, greatest = bounds["min"], bounds["max"]
    if not (isinstance(least, str) and isinstance(greatest, str)):
        return False
    return least.startswith(noted.min) and greatest.startswith(noted.max[:-1])


def _unused(
    names: Collection[str], parts: Callable[[Collection[str]], Iterable[Part]]
) -> dict[str, int]:
    """By column how many values of its dictionaries no row of the file has, where there are any.

    Args:
        names: The columns.
        parts: Reads some columns, part by part; columns in doubt are read twice.
    """
    left = {name: set[object]() for name in names}
    for name, chunks in parts(names):
        if any(len(chunk.dictionary) > len(chunk.indices.unique().drop_null()) for chunk in chunks):
            left[name].update(*(chunk.dictionary.to_pylist() for chunk in chunks))
    doubtful = [name for name in names if left[name]]
    for name, chunks in parts(doubtful) if doubtful else ():
        for chunk in chunks:
            left[name].difference_update(chunk.dictionary.take(chunk.indices.unique()).to_pylist())
    return {name: len(values - {None}) for name, values in left.items() if values - {None}}
