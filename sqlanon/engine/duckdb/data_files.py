"""Files of data as tables: CSV, JSON and Arrow are read once, Parquet is read where it lies."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engine import endings
from sqlanon.engine.duckdb.capabilities import NUMBERS_PARQUET_COLUMNS
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.syntax import create_temporary, selected
from sqlanon.engine.duckdb.text_columns import complete, home, loading, projections
from sqlanon.engine.duckdb.text_files import TextReading, read_csv, scan_file
from sqlanon.engine.duckdb.text_layout import is_gzip, refuse_alike
from sqlanon.engine.duckdb.watched_files import watched_data
from sqlanon.errors import EngineError, SourceError, SqlanonError
from sqlanon.sqltext import expression, value

if TYPE_CHECKING:
    import pyarrow


def read_file(
    engine: DuckDB, path: Path, *, table: exp.Table, how: TextReading | None = None
) -> None:
    """A file of data as a temporary table or view; one that is read later, too, is held.

    Raises:
        SourceError: The file is of no known kind, or not what its name says, or has changed while
            it was read.
    """
    ending, how = _stem(path)[1], how or TextReading()
    with path.open("rb") as file:
        start = file.read(8)
    watched_file = watched_data(path)
    engine.opened.hold(watched_file)
    if start.startswith(b"PAR1") or ending in endings.PARQUET:
        how = how.refusing(path, "a Parquet file")
        try:
            _view_parquet(engine, path, table=table, how=how)
        except SqlanonError:
            # A file that was replaced half-way is not what it seems.
            watched_file.refuse_changed()
            raise
        return
    if start.startswith(b"ARROW1") or ending in endings.ARROW:
        how = how.refusing(path, "an Arrow file")
        _read_arrow(engine, path, table=table, how=how)
    elif ending in endings.CSV:
        read_csv(engine, path, table=table, how=how)
    elif ending in endings.JSON:
        from sqlanon.engine.duckdb.json_files import read_json  # other files need none

        how = how.refusing(path, "a JSON file", "delimiter", "encoding")
        read_json(engine, path, table=table, how=how)
    else:
        raise SourceError(
            f"{path.name!r} is neither a DuckDB database nor a {endings.READ_LISTED} file"
        )
    watched_file.refuse_changed()
    engine.opened.let_go(watched_file)


def named_like(path: Path) -> exp.Table:
    """The temporary table that is named like a file.

    Raises:
        SourceError: The file is compressed by its name alone.
    """
    return qualified("temp", "main", _stem(path)[0])


def _stem(path: Path) -> tuple[str, str]:
    """The name of a file without its endings, and the ending that tells its kind."""
    inner = Path(path.stem) if path.suffix.lower() == endings.COMPRESSED else path
    if inner != path and not is_gzip(path):
        raise SourceError(f"{path.name!r} is not a valid gzip file")
    return inner.stem or path.name, inner.suffix.lower()


def _view_parquet(engine: DuckDB, path: Path, *, table: exp.Table, how: TextReading) -> None:
    scan = scan_file("read_parquet", path, hive_partitioning=value(False))
    try:
        names = list(engine.columns(scan))
    except EngineError:
        names = []
    if not names:
        raise SourceError(f"{path.name!r} is not a readable Parquet file")
    refuse_alike(path, _parquet_names(engine, path))
    use = how.use(names)
    query = selected(projections(names, use), scan)
    engine.run(create_temporary(table, query, kind="VIEW"))


def _parquet_names(engine: DuckDB, path: Path) -> list[str]:
    """The columns as the file itself calls them: DuckDB numbers those that it takes for one."""
    text = (
        "SELECT name, num_children FROM {{ fields }} {% if numbered %}ORDER BY column_id{% endif %}"
    )
    fields = scan_file("parquet_schema", path)
    nodes = engine.rows(expression(text, fields=fields, numbered=NUMBERS_PARQUET_COLUMNS))
    names: list[str] = []
    inner = 0
    # The root comes first, and the fields of a column after the column.
    for name, children in nodes[1:]:
        if inner:
            inner -= 1
        else:
            names.append(str(name))
        inner += children or 0
    return names


def _read_arrow(engine: DuckDB, path: Path, *, table: exp.Table, how: TextReading) -> None:
    import pyarrow

    unreadable = suppress(pyarrow.ArrowException, OSError, EngineError)
    with unreadable, pyarrow.OSFile(str(path)) as file:
        batches = arrow_batches(file)
        names = list(batches.schema.names)
        refuse_alike(path, names)
        use = how.use(names)
        loaded = home(engine, table, names=names, use=use)
        # Dictionaries come out as text: their unused values are no part of the table.
        frame = engine.register(batches)
        engine.run(create_temporary(loaded, selected(loading(names, use), frame)))
        complete(engine, loaded, table=table, names=names, use=use)
        return
    raise SourceError(f"{path.name!r} is not a readable Arrow IPC file")


def arrow_batches(file: pyarrow.NativeFile) -> pyarrow.RecordBatchReader:
    """The rows of an Arrow file, be it one with a footer or a stream."""
    from pyarrow import RecordBatchReader, ipc

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    if not is_file:
        return ipc.open_stream(file)
    opened = ipc.open_file(file)
    batches = (opened.get_batch(number) for number in range(opened.num_record_batches))
    return RecordBatchReader.from_batches(opened.schema, batches)
