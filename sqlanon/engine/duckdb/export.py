"""Writing a table to a file that nobody can see until it has been checked."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from sqlglot import exp

from sqlanon.arguments import path_of
from sqlanon.engine.base import with_texts, without_enums
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.data_files import read_file
from sqlanon.engine.duckdb.errors import full_disk
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.syntax import cast, selected, set_option
from sqlanon.engine.duckdb.text_files import read_typed_csv
from sqlanon.engine.endings import WRITTEN, WRITTEN_LISTED
from sqlanon.engine.locked_folders import HIDDEN, LockedFolder, swept, sync, usual_mode
from sqlanon.errors import EngineError, SourceError
from sqlanon.sqlglot_version import type_id
from sqlanon.sqltext import Fragment, Sql, expression, word
from sqlanon.sqltext import name as quoted
from sqlanon.sqltext import value as literal

_SPILLED = expression("SELECT SUM(temporary_storage_bytes) FROM duckdb_memory()")


@contextmanager
def second_database(
    engine: DuckDB, database: Path | None = None, *, read_only: bool = False
) -> Iterator[DuckDB]:
    """A database of our own beside an open one, which gives it half of its limits meanwhile.

    A connection of the caller keeps what it has, and the second database gets as many threads and
    as much memory.

    Args:
        engine: The one that is open.
        database: As for `Resources.connect`.
        read_only: As for `Resources.connect`.
    """
    with (
        _shared(engine) as resources,
        resources.connect(database, read_only=read_only) as second,
    ):
        # They are told once, by the first.
        notes = engine.opened.notes
        notes.extend(note for note in second.opened.notes if note not in notes)
        yield second


@contextmanager
def _shared(engine: DuckDB) -> Iterator[Resources]:
    """The half of an engine's limits that it goes without while this lasts."""
    if not isinstance(engine, DuckDB):
        yield Resources()
        return
    if engine.limits is None:
        threads, memory = (engine.setting(name) for name in ("threads", "memory_limit"))
        yield Resources(int(threads), memory)
        return
    whole = Resources(**engine.limits)
    half, kept = _threads_and_memory(whole)
    _set(engine, kept)
    try:
        if whole.temporary is not None:
            # What is spilled already stays where it is.
            spilled = int(engine.rows(_SPILLED)[0][0] or 0)
            free = max(whole.temporary - spilled, 2)
            half = replace(half, temp_limit=f"{free // 2}B")
            _set(engine, {"max_temp_directory_size": f"{spilled + free - free // 2}B"})
        yield half
    finally:
        # In a failed transaction nothing can be set, nor does anything run any more.
        with suppress(EngineError):
            _set(engine, whole.settings)


def _threads_and_memory(whole: Resources) -> tuple[Resources, dict[str, str | int]]:
    """What a second database gets, and the settings that the first one keeps."""
    half, kept = whole, dict[str, str | int]()
    if whole.threads is not None:
        half = replace(half, threads=max(whole.threads // 2, 1))
        kept["threads"] = whole.threads - whole.threads // 2
    if whole.memory is not None:
        half = replace(half, memory_limit=f"{max(whole.memory // 2, 1)}B")
        kept["memory_limit"] = f"{whole.memory - whole.memory // 2}B"
    return half, kept


def _set(engine: DuckDB, settings: Mapping[str, str | int]) -> None:
    for name, value in settings.items():
        engine.run(set_option(name, value))


T = TypeVar("T")
Columns = Mapping[str, "tuple[Fragment, exp.DataType]"]
"""What is written of each column, as an expression, and its type when it is read back."""

# Arrow has no type, or a narrower one, for these: they cross as text and are cast back.
_CROSS_AS_TEXT = {
    "INT128", "UINT128", "BIGNUM", "BIT", "UUID", "INTERVAL", "TIMETZ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A table written under a temporary name that only its owner can read.

    Args:
        engine: Where the table was.
        folder: A locked folder beside the target, in which the file is alone.
        target: Where `publish` puts it.
        ending: One of `WRITTEN`.
        types: Types by column name as written, without ENUMs, whose labels may be values of others.
        overwrite: Whether an existing target is replaced.
    """

    engine: DuckDB
    folder: LockedFolder
    target: Path
    ending: str
    types: Mapping[str, exp.DataType]
    overwrite: bool

    @property
    def written(self) -> Path:
        """The file until it is published."""
        return self.folder.path / self.target.name

    @property
    def name(self) -> str:
        """The name of the table in a database file: the target's, without its ending."""
        return self.target.name[: -len(self.ending)]

    @contextmanager
    def opened(self) -> Iterator[tuple[DuckDB, exp.Table]]:
        """The written table, read back on a fresh engine with the types of the source."""
        path = self.written if self.written.exists() else self.target
        if self.ending == ".duckdb":
            with second_database(self.engine, path, read_only=True) as engine:
                yield engine, engine.tables.resolve(self.name)
            return
        with second_database(self.engine) as engine:
            if self.ending.startswith(".csv"):
                table = qualified("temp", "main", self.name)
                types = {name: kind.sql("duckdb") for name, kind in self.types.items()}
                read_typed_csv(engine, path, table=table, types=types)
            else:
                table = qualified("temp", "main", self.name)
                read_file(engine, path, table=table)
            yield engine, table

    def publish(self) -> None:
        """Moves the file to its target in one step, once it is safe on the disk.

        Raises:
            SourceError: A target has appeared meanwhile, or the folder cannot be written.
        """
        try:
            _on_disk(self._move, self.target)
        finally:
            self.discard()

    def discard(self) -> None:
        """Removes what was written; after `publish` it does nothing."""
        self.folder.remove()

    def _move(self) -> None:
        self.written.chmod(usual_mode(self.target))
        sync(self.written)
        if self.overwrite:
            self.written.replace(self.target)
        else:
            self._appear()
        # The file has its name by now, whether or not the disk can be told to remember it at once.
        with suppress(OSError):
            sync(self.target.parent)

    def _appear(self) -> None:
        """Gives the file a name that nothing has, not even what came after the last look."""
        try:
            os.link(self.written, self.target)
            is_taken = False
        except FileExistsError:
            is_taken = True
        except OSError:  # a disk without hard links
            is_taken = os.path.lexists(self.target)
            if not is_taken:
                self.written.replace(self.target)
        if is_taken:
            raise _in_the_way(self.target)


def export(
    engine: DuckDB,
    table: exp.Table,
    *,
    path: str | Path,
    overwrite: bool = False,
    columns: Columns | None = None,
) -> ExportedFile:
    """Writes a table to a file beside its target, in the table's order.

    CSV: a header, commas, quotes only where needed; NULL is an empty field and the empty text is
    `""`. Parquet and Arrow: no metadata, no index, no dictionary of unused values. DuckDB: a new
    database with this one table. ENUM columns become text in every format.

    Args:
        engine: Where the table is; an open transaction is no obstacle.
        table: What to write.
        path: The target. Its ending says the format: see `endings.WRITTEN`.
        overwrite: Whether an existing file may be replaced.
        columns: What is written of each column; left out, all as they are, ENUMs as text.

    Returns:
        The written file, for checking with `opened`, then `publish` or `discard`.

    Raises:
        SourceError: The ending is unknown, or the target is in the way or holds the source.
        EngineError: Writing failed; nothing is left of it.
    """
    target, ending = refuse_output(Path(path), engine.opened.files, overwrite=overwrite)
    if columns is None:
        columns = {name: _as_it_is(name, kind) for name, kind in engine.columns(table).items()}
    types = {name: kind for name, (_, kind) in columns.items()}
    query = selected({name: value for name, (value, _) in columns.items()}, table)
    engine.opened.notes.extend(swept([target.parent]))
    folder = _on_disk(lambda: LockedFolder.make(target.parent, HIDDEN), target)
    exported = ExportedFile(engine, folder, target, ending, types, overwrite)
    try:
        if ending == ".arrow":
            _write_arrow(engine, query, exported=exported)
        elif ending == ".duckdb":
            _write_database(engine, table, exported=exported)
        else:
            engine.run(_copy(query, exported))
        _on_disk(lambda: exported.written.chmod(0o600), target)
    except BaseException:
        # Whatever stopped it, Ctrl-C included: half a file of records must not stay.
        exported.discard()
        raise
    return exported


def ending_of(path: Path) -> str:
    """The one of `WRITTEN` that a file's name has.

    Raises:
        SourceError: It has none of them.
    """
    lower = path.name.lower()
    fitting = [one for one in WRITTEN if lower.endswith(one) and len(lower) > len(one)]
    if not fitting:
        raise SourceError(f"{path.name!r} has no known ending; name it {WRITTEN_LISTED}")
    return fitting[0]


def refuse_output(
    path: Path, originals: Sequence[Path], *, overwrite: bool = False
) -> tuple[Path, str]:
    """Refuses an output file that cannot be written, or not without leave.

    Args:
        path: The file.
        originals: The files that hold the original.
        overwrite: Whether it may be there already.

    Returns:
        The file, links resolved, and its ending.

    Raises:
        SourceError: The ending is unknown, or the file is in the way or holds the original, or
            its folder is missing or cannot be written.
    """
    ending = ending_of(path_of(path, "the output"))
    if not path.parent.is_dir():
        raise SourceError(f"there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder")
    if path.exists() and not path.is_file():
        raise SourceError(f"{str(path)!r} is a pipe or a device; name a regular file")
    if path.exists():
        if any(file.exists() and path.samefile(file) for file in originals):
            raise SourceError(f"{str(path)!r} holds the original; choose another output")
        if not overwrite:
            raise _in_the_way(path)
    log = path.with_name(path.name + ".wal")
    if ending == ".duckdb" and path_of(log, "the log beside the output").exists():
        raise SourceError(
            f"{log.name!r} lies beside the output and would be read into it; "
            "open that database once, or remove the log"
        )
    refuse_folder(path.resolve())
    return path.resolve(), ending


def refuse_folder(path: Path) -> None:
    """Raises a `SourceError` where nothing can be written beside a file."""
    # Only a try tells: rights do not say whether the file system can be written.
    _on_disk(lambda: LockedFolder.make(path.parent, HIDDEN), path).remove()


def _in_the_way(path: Path) -> SourceError:
    return SourceError(f"{str(path)!r} exists already; replace it with overwrite (--overwrite)")


def _on_disk(action: Callable[[], T], target: Path) -> T:
    try:
        return action()
    except OSError as error:
        raise SourceError(f"{str(target)!r} cannot be written: {error.strerror}") from None


def _as_it_is(column: str, kind: exp.DataType) -> tuple[Fragment, exp.DataType]:
    plain = without_enums(kind)
    return cast(column, plain), plain


def _typed(table: exp.Table, types: Mapping[str, exp.DataType]) -> Sql:
    return selected({column: cast(column, kind) for column, kind in types.items()}, table)


_CSV = """
    COPY {{ query }} TO {{ path }} (
      FORMAT csv, HEADER TRUE, DELIM ',', QUOTE '"', ESCAPE '"', NULLSTR '',
      {% if blank %}FORCE_QUOTE ({{ listed(blank) }}),{% endif %}
      COMPRESSION {{ compression }}
    )
"""
_COMPRESSIONS = {".csv": "none", ".csv.gz": "gzip"}
_PARQUET = "COPY {{ query }} TO {{ path }} (FORMAT parquet, COMPRESSION zstd)"


def _copy(query: Sql, exported: ExportedFile) -> Sql:
    """COPY to a CSV or Parquet file."""
    path = literal(str(exported.written))
    if exported.ending == ".parquet":
        return expression(_PARQUET, query=query, path=path)
    return expression(
        _CSV,
        query=query,
        path=path,
        # Quoting a column quotes its name, which a reader would else take the blanks off.
        blank=[quoted(column) for column in exported.types if column != column.strip()],
        compression=word(_COMPRESSIONS[exported.ending]),
    )


def _write_arrow(engine: DuckDB, query: Sql, *, exported: ExportedFile) -> None:
    import pyarrow
    from pyarrow import ipc

    try:
        with engine.stream(query) as reader:
            schema = reader.schema.remove_metadata()
            with ipc.new_file(str(exported.written), schema) as file:
                for batch in reader:
                    file.write_batch(batch.replace_schema_metadata(None))
            return
    except (pyarrow.ArrowException, OSError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else type(error).__name__
        if number == errno.ENOSPC:
            reason = full_disk(exported.target.parent)
    raise EngineError(f"the Arrow file could not be written: {reason}")


def _write_database(engine: DuckDB, table: exp.Table, *, exported: ExportedFile) -> None:
    """A new database, filled over Arrow: an open transaction may write to one database only."""
    crossing = {name: _crossing(kind) for name, kind in exported.types.items()}
    with second_database(engine, exported.written) as database:
        rows = database.register(engine.stream(_typed(table, crossing)))
        place = qualified(database.tables.catalog().path[1][0], "main", exported.name)
        database.tables.write(place, _typed(rows, exported.types))


def _crossing(kind: exp.DataType) -> exp.DataType:
    """The type as which a column crosses over Arrow: its parts that Arrow lacks are text."""
    return with_texts(kind, lambda part: type_id(part) in _CROSS_AS_TEXT)
