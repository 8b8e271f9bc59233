"""Opening what a user names: a DuckDB connection, a database file, or a file of data.

A second table may lie beside it: to compare what two files hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from threading import Lock, get_ident
from typing import Any, Literal, Unpack

import duckdb
from sqlglot import exp

from sqlanon.arguments import is_file, kind_of, path_of
from sqlanon.engine import endings
from sqlanon.engine.base import Engine, Opening, Use
from sqlanon.engine.duckdb.catalog import Entry, entries
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.frames import FrameTable
from sqlanon.engine.duckdb.resources import Resources, released
from sqlanon.engine.duckdb.syntax import attach, detach
from sqlanon.engine.duckdb.text_files import TextReading, every_column
from sqlanon.engine.duckdb.text_layout import TextFormat
from sqlanon.engine.duckdb.watched_files import watched_database
from sqlanon.errors import EngineError, MissingTableError, SourceError
from sqlanon.sqltext import expression
from sqlanon.sqltext import name as quoted

Kind = Literal["duckdb", "file", "connection", "frame", "remote"]

_THREADS: dict[int, tuple[int, int]] = {}
"""By the connection of a caller the thread that uses it, and how many of its calls do."""
_THREADS_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A table of an open database.

    Args:
        engine: Where the table lives.
        table: The table, fully qualified.
        path: The file that sqlanon opened; None where the connection is the caller's.
        kind: "duckdb" for a database file, "file" for a file of data, "connection" for the
            caller's own connection, "frame" for a frame without one, "remote" for a table of a
            database elsewhere.
        name: The path as it was given; None where there is none.
        form: What was said of how a text file is written.
        frame: The frame that the table is of, where a likeness of it may be wanted.
    """

    engine: Engine
    table: exp.Table
    path: Path | None
    kind: Kind
    name: str | None = None
    form: TextFormat = field(default_factory=TextFormat)
    frame: FrameTable | None = None


@contextmanager
def open_source(
    source: object,
    table: object = None,
    *,
    read_only: bool = False,
    use: Callable[[Sequence[str]], Use] = every_column,
    **opening: Unpack[Opening],
) -> Iterator[OpenedSource]:
    """A source with one of its tables, until temporaries are dropped and what was opened closes.

    A text file is read once, into a temporary table; a Parquet file is read where it lies, and
    `Engine.refuse_changed` tells whether it has stayed as it was.

    Args:
        source: An open DuckDB connection, an object that hands its calls on to one, or an engine,
            which stay open; or a path to a DuckDB database (told by its content, not its name) or
            to a file of `endings.DATA`; or a frame.
        table: A name, or a frame where `source` is a connection; None where there is only one.
        read_only: Whether a database file is opened for reading only.
        use: Called with the columns of the table before it is read; what it raises stops that.
            Columns that are left out are not loaded from a file of data.
        opening: The arguments of `Resources`, only for what sqlanon opens itself, and those of
            `TextFormat`, only for text files.

    Raises:
        SourceError: There is no such file or table, or it cannot be read.
    """
    resources, form = _parted(opening)
    how = _How(resources, TextReading(form, use))
    source = unwrapped(source)
    if isinstance(source, duckdb.DuckDBPyConnection | DuckDB):
        yield from _of_connection(source, table, how)
    elif isinstance(source, FrameTable):
        yield from _of_frame(source, how)
    elif not isinstance(source, str | Path):
        raise SourceError(
            f"{kind_of(source)} is not a source; give a frame, a connection or a path"
        )
    elif not str(source):  # as a path it would be the working directory
        raise SourceError("the name of the source is empty; give a connection or a path")
    elif is_database(path := _existing(path_of(source, "the source"))):
        yield from _of_database(path, table, how, read_only=read_only, name=str(source))
    else:
        yield from _of_file(path, table, how, name=str(source))


@dataclass(frozen=True, slots=True)
class _How:
    """How a source is opened and read."""

    resources: Resources
    reading: TextReading

    def use(self, engine: DuckDB, table: exp.Table) -> None:
        """Tells the caller which columns a table has."""
        self.reading.use(list(engine.columns(table)))


def _of_connection(
    source: duckdb.DuckDBPyConnection | DuckDB, table: object, how: _How
) -> Iterator[OpenedSource]:
    """A table or a frame of an open connection."""
    how.reading.form.refuse("an open connection", "no text file")
    if how.resources.given:
        raise SourceError(
            f"{', '.join(how.resources.given)} cannot be set for an open connection; "
            "set them where it is opened"
        )
    engine = source if isinstance(source, DuckDB) else DuckDB(source)
    with _of_one_thread(engine.connection), released(engine):
        _refuse_another_order(engine)
        if isinstance(table, FrameTable):
            chosen = table.loaded(engine, how.reading.use, is_callers=True)
            yield OpenedSource(engine, chosen, None, "connection", frame=table)
        else:
            chosen = _choose(engine, table)
            how.use(engine, chosen)
            yield OpenedSource(engine, chosen, None, "connection")


def _refuse_another_order(engine: DuckDB) -> None:
    """Refuses a connection that sorts otherwise than statements mean where they say nothing.

    Ranks of values would be others, and figures that follow from them, such as t, wrong.
    """
    rows = expression("SELECT place FROM (VALUES (2), (NULL), (1)) AS v (place) ORDER BY place")
    if engine.rows(rows) != [(1,), (2,), (None,)]:
        raise SourceError(
            "default_order or default_null_order is set on this connection, which would rank "
            "values in another order; RESET default_order and RESET default_null_order first"
        )


@contextmanager
def _of_one_thread(connection: object) -> Iterator[None]:
    """Holds a connection for one thread: the answers of several would go to whoever asks next.

    Raises:
        SourceError: Another thread holds it.
    """
    key, current = id(connection), get_ident()
    with _THREADS_LOCK:
        thread, calls = _THREADS.get(key, (current, 0))
        if thread == current:
            _THREADS[key] = current, calls + 1
    if thread != current:
        raise SourceError(
            "another thread uses this connection; give each thread one of its own, such as "
            "connection.cursor()"
        )
    try:
        yield
    finally:
        with _THREADS_LOCK:
            _, calls = _THREADS.pop(key)
            if calls > 1:
                _THREADS[key] = current, calls - 1


def _of_frame(frame: FrameTable, how: _How) -> Iterator[OpenedSource]:
    """A frame, in a database of its own."""
    how.reading.form.refuse("a frame", "no text file")
    with how.resources.connect() as engine:
        chosen = frame.loaded(engine, how.reading.use, is_callers=False)
        yield OpenedSource(engine, chosen, None, "frame", frame=frame)


def _of_database(
    path: Path, table: object, how: _How, *, read_only: bool, name: str
) -> Iterator[OpenedSource]:
    """A table of a database file, which is held."""
    how.reading.form.refuse(repr(path.name), "a DuckDB database")
    with how.resources.connect(path, read_only=read_only) as engine:
        engine.opened.hold(watched_database(path, read_only=read_only))
        chosen = _choose(engine, table)
        how.use(engine, chosen)
        yield OpenedSource(engine, chosen, path, "duckdb", name)


def _of_file(path: Path, table: object, how: _How, *, name: str) -> Iterator[OpenedSource]:
    """A file of data as the one table of a database."""
    from sqlanon.engine.duckdb.data_files import named_like, read_file  # databases need none

    with how.resources.connect() as engine:
        engine.opened.keep(path)
        chosen = named_like(path)
        if table is not None and not _is_named(engine, chosen, named=table):
            raise SourceError(
                f"{path.name!r} holds one table, called {chosen.name!r}; leave the name out"
            )
        read_file(engine, path, table=chosen, how=how.reading)
        yield OpenedSource(engine, chosen, path, "file", name, how.reading.form)


def unwrapped(source: object) -> object:
    """The DuckDB connection that an object hands its calls on to, as sessions of dbt do."""
    method = getattr(source, "sql", None)
    owner = getattr(method, "__self__", None)
    return owner if isinstance(owner, duckdb.DuckDBPyConnection) else source


def _choose(engine: DuckDB, table: object) -> exp.Table:
    """The named table, or the only one."""
    return engine.tables.catalog().only_table() if table is None else engine.tables.resolve(table)


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, not a file")
    if not path.exists():
        raise SourceError(f"there is no file {str(path)!r}")
    if path.is_file() and path.stat().st_size == 0:
        raise SourceError(f"{str(path)!r} is empty")
    if not path.is_file():
        raise SourceError(f"{str(path)!r} is a pipe or a device, which can be read only once")
    try:
        with path.open("rb"):
            return path.resolve()
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror}") from None


def is_database(path: Path) -> bool:
    """Whether a file is a DuckDB database, by its content.

    Raises:
        SourceError: Its name says so and its content does not.
    """
    with path.open("rb") as file:
        head = file.read(12)
    if head[8:12] == b"DUCK":
        return True
    if path.suffix.lower() in endings.DATABASE:
        raise SourceError(f"{path.name!r} is not a DuckDB database")
    return False


def _is_named(engine: DuckDB, table: exp.Table, *, named: object) -> bool:
    """Whether a name means a table that is still to be read."""
    if not isinstance(named, str):
        return isinstance(named, exp.Table) and named == table
    entry = Entry(table.catalog, table.db, table.name, is_view=False)
    catalog = engine.tables.catalog()
    try:
        match = replace(catalog, entries=(*catalog.entries, entry)).find(named)
    except SourceError:
        return False
    return match == table


def _parted(opening: Mapping[str, Any]) -> tuple[Resources, TextFormat]:
    """What is said of the database, and what is said of a text file."""
    of_text = {option.name for option in fields(TextFormat)}
    said = {name: value for name, value in opening.items() if name in of_text}
    limits = {name: value for name, value in opening.items() if name not in of_text}
    return Resources(**limits), TextFormat(**said)


_ATTACHED = "_sqlanon_beside"


@contextmanager
def opened_beside(
    engine: DuckDB, other: object, *, table: str | None = None, how: TextReading | None = None
) -> Iterator[exp.Table]:
    """A table of the engine or of another file: see `engine.open.second_table`.

    A text that is both a table and a path means the table. A database is attached.
    """
    path = _path(engine, other)
    if path is None:
        if table is not None:
            raise SourceError(f"{str(other)!r} is a table, which holds no table {table!r}")
        yield _resolved(engine, other)
        return
    # To open a database's file a second time, and close it, would give up the database's lock.
    if _open_already(engine, path) is not None or is_database(path):
        with _attached(engine, path) as name:
            yield _table(engine, name, table=table)
        return
    if table is not None:
        raise SourceError(f"{path.name!r} holds one table; leave the name {table!r} out")
    with _file(engine, path, how=how) as temporary:
        yield temporary


def _path(engine: DuckDB, other: object) -> Path | None:
    """The file that is meant, if one is."""
    if isinstance(other, str):
        if engine.tables.catalog().find(other) is not None or not is_file(other):
            return None
    elif not isinstance(other, Path):
        return None
    path = Path(other)
    if not is_file(path):
        raise SourceError(f"there is no file {str(path)!r}")
    return path.resolve()


def _resolved(engine: DuckDB, other: object) -> exp.Table:
    try:
        return engine.tables.resolve(other)
    except MissingTableError as error:
        raise MissingTableError(f"{error}, and no file of that name") from None


@contextmanager
def _file(engine: DuckDB, path: Path, *, how: TextReading | None) -> Iterator[exp.Table]:
    from sqlanon.engine.duckdb.data_files import read_file  # databases need none

    with engine.workspace():
        temporary = engine.temporary("beside")
        try:
            read_file(engine, path, table=temporary, how=how)
            yield temporary
            engine.opened.refuse_changed()
        finally:
            # In a failed transaction nothing can be dropped; its end drops what it created. Of a
            # file that cannot be read there is nothing.
            with suppress(EngineError, SourceError):
                if not engine.tables.is_base_table(temporary):
                    engine.tables.drop(temporary, kind="VIEW")


@contextmanager
def _attached(engine: DuckDB, path: Path) -> Iterator[str]:
    """The name of a database, attached for reading unless it is open already."""
    name = _open_already(engine, path)
    if name is not None:
        yield name
        return
    if engine.in_callers_transaction:
        # It could not be detached before the transaction ends.
        raise SourceError(
            f"{path.name!r} cannot be opened within your transaction; attach it before, and name "
            "its table"
        )
    engine.run(attach(path, _ATTACHED, READ_ONLY=True))
    try:
        yield _ATTACHED
    finally:
        with suppress(EngineError):
            engine.run(detach(_ATTACHED))


def _open_already(engine: DuckDB, path: Path) -> str | None:
    """The name under which the engine has a database file open."""
    for name, file in engine.rows(entries("duckdb_databases", ("database_name", "path"))):
        if file is not None and Path(file).exists() and path.samefile(file):
            return str(name)
    return None


def _table(engine: DuckDB, database: str, *, table: str | None) -> exp.Table:
    catalog = engine.tables.catalog()
    if table is None:
        return catalog.only_table(database)
    for name in (quoted(table).text, table):
        match = catalog.find(f'"{database}".{name}')
        if match is not None:
            return match
    raise catalog.missing(table)
