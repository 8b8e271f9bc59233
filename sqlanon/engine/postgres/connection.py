"""A connection of psycopg: statements in PostgreSQL, whose tables stay there.

Whatever is asked runs in a transaction or, where one is open, after a savepoint. So an error, the
end of a time limit or Ctrl-C leaves the connection, and a transaction of the caller's, as usable as
before. What is said of a server's settings is so until the connection is closed or given back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus
from sqlglot import exp

from sqlanon.deadline import NEVER, Deadline, watched
from sqlanon.engine.base import Abilities, Row
from sqlanon.engine.duckdb.errors import called
from sqlanon.engine.postgres.arrow import (
    ENUM,
    KINDS,
    MOST_DIGITS,
    PostgresColumn,
    definition,
    digits_of,
    lines,
    parsed,
    unbounded,
    with_decimals,
)
from sqlanon.engine.postgres.errors import fault
from sqlanon.engine.postgres.tables import PostgresTables, text_of
from sqlanon.errors import EngineError, SqlanonError, TimeLimitError
from sqlanon.sqltext import name as quoted
from sqlanon.sqltext import value

if TYPE_CHECKING:
    import pyarrow

BYTES_AT_ONCE = 16_000_000
"""Bytes of rows that are turned into Arrow at a time."""
OLDEST_VERSION = 14
"""The first version whose instants are told to the microsecond."""
_SETTINGS = {
    "datestyle": "ISO",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_min_messages": "error",
    "idle_in_transaction_session_timeout": "0",
    "enable_nestloop": "off",
    "jit": "off",
}
"""How values are written, that nobody is told what a notice quotes, and that a search takes time.

Of arrays, by which NULL is joined, there are no statistics: many joins of labels would be expected
to have few rows, and those after them worked out pair by pair, for minutes with 20,000 records.
A product of two tables, which has no other way, then seems dear enough to be compiled first.

In which order a date's parts are read stays as it is: views of the user's may depend on it.
"""
_DEMANDED = {
    "server_encoding": (
        "UTF8",
        "sqlanon reads databases in UTF8 alone",
    ),
    "client_encoding": ("UTF8", "run SET client_encoding = 'UTF8' first"),
    "standard_conforming_strings": ("on", "run SET standard_conforming_strings = on first"),
}

T = TypeVar("T")
Cursor = psycopg.Cursor[Any]


class PostgresRemote:
    """A database elsewhere, behind `routed.Remote`.

    Its tables are seen as of one moment within a transaction of ours, which is REPEATABLE READ. A
    transaction that the caller has open is joined: it keeps its own isolation, and under READ
    COMMITTED each statement sees what others have committed meanwhile, of which `notes` tells.

    Args:
        connection: Open, with or without an open transaction, autocommit or not.
        is_ours: Whether `close` closes it; else it gets its settings back.

    Attributes:
        notes: What a reader should know of the connection.

    Raises:
        EngineError: The server is too old, the connection is of no use, or its database or
            settings are such that values would be read otherwise.
    """

    dialect = phrasing = "postgres"
    collation = "C"
    can = Abilities(fresh_file=False, in_place=False, stages_beside=True)

    def __init__(self, connection: psycopg.Connection[Any], *, is_ours: bool = False) -> None:
        self.connection, self._is_ours = connection, is_ours
        self.notes: list[str] = []
        self._deadline = NEVER
        self._temporaries: set[str] = set()
        self._types: dict[int, tuple[str, int, int]] = {}
        self._scales: dict[str, dict[str, int | None]] = {}
        self._in_our_transaction = False
        self._stream: Generator[Any, None, None] | None = None
        self._before: dict[str, str] = {}
        self._refuse_unusable()
        self._prepare()

    @property
    def tables(self) -> PostgresTables:
        """The names that its tables have."""
        return PostgresTables(self.run, self.rows)

    @property
    def zone(self) -> str:
        """The time zone of its session, in which instants are written."""
        zone: str = self.rows("SHOW TimeZone")[0][0]
        return zone

    def columns(self, table: exp.Table) -> dict[str, exp.DataType]:
        """Name and type of every column of a table or temporary, as DuckDB calls the types.

        Where a number has no declared width, the table is scanned for the one that all values fit;
        without one, and where DuckDB lacks a type, it is a type that DuckDB does not know.
        """
        text = text_of(table)
        columns = self._attempt(
            lambda cursor: self._fitted(cursor, self._described(cursor, text), text),
            f"read the columns of {called(table.name)}",
        )
        return {column.name: column.duckdb for column in columns}

    def run(self, text: str) -> None:
        """Carries a statement out."""
        self._attempt(lambda cursor: _executed(cursor, text), "carry a statement out")

    def rows(self, text: str) -> list[Row]:
        """The rows of a small query, each value as PostgreSQL writes it."""
        return self._attempt(lambda cursor: _texts(_executed(cursor, text)), "read its catalogue")

    def answer(self, text: str) -> pyarrow.Table:
        """The rows of a query, whole; types as DuckDB reads them from Arrow.

        Raises:
            SourceError: Values of a column cannot be read; which, and the way out.
        """
        import pyarrow as pa

        query = f"(\n{text}\n)"

        def read(cursor: Cursor) -> pyarrow.Table:
            columns = self._described(cursor, query)
            batches = list(_batches(cursor, columns, query))
            return with_decimals(pa.Table.from_batches(batches), columns)

        return self._attempt(read, "run a query")

    def store(self, name: str, text: str, *, most: int) -> int:
        """Stores the rows of a query as a temporary of that name: how many there are.

        Its text is compared byte by byte in whatever is asked of it. With more than `most` rows,
        statistics are gathered: others than the user's tables never have any by themselves.
        """
        query = f"(\n{text}\n)"

        def make(cursor: Cursor) -> int:
            columns = self._described(cursor, query)
            shown = ", ".join(column.stored() for column in columns)
            made = f"CREATE TEMPORARY TABLE {quoted(name).text} AS SELECT {shown} FROM {query} AS r"
            rows = _executed(cursor, made).rowcount
            if rows > most:
                _executed(cursor, f"ANALYZE pg_temp.{quoted(name).text}")
            return rows

        self._temporaries.add(name)
        return self._attempt(make, "store the rows of a query")

    def brought(self, name: str) -> pyarrow.RecordBatchReader:
        """The rows of what was stored, to be read before the next statement runs, which ends them.

        Raises:
            SourceError: Values of a column cannot be read; which, and the way out.
        """
        import pyarrow as pa

        text = text_of(exp.Table(this=exp.to_identifier(name, quoted=True)))

        def described(cursor: Cursor) -> tuple[list[PostgresColumn], pyarrow.Schema]:
            columns = self._fitted(cursor, self._described(cursor, text), text)
            for column in columns:
                column.read(column.name)  # which refuses a type that is not read
                if column.is_unbounded:
                    raise unbounded(column.name)
            return columns, parsed([], columns).schema

        columns, schema = self._attempt(described, "read a working table")
        self._stream = self._streamed(columns, text)
        return pa.RecordBatchReader.from_batches(schema, _whole(self._stream))

    def ship(self, name: str, rows: pyarrow.Table) -> None:
        """Makes a temporary of given rows, whose text is compared byte by byte.

        Raises:
            EngineError: PostgreSQL has no such type, or cannot hold a value exactly.
        """
        table = quoted(name).text

        def send(cursor: Cursor) -> None:
            _executed(cursor, f"CREATE TEMPORARY TABLE {table} ({', '.join(columns)})")
            with cursor.copy(_bytes(f"COPY {table} FROM STDIN (ENCODING 'UTF8')")) as copy:
                for part in lines(rows):
                    copy.write(part)
            # Without statistics joins with a few such tables are expected to have so many rows that
            # they are compiled first, which takes seconds.
            _executed(cursor, f"ANALYZE pg_temp.{table}")

        columns = [definition(field) for field in rows.schema]
        self._temporaries.add(name)
        self._attempt(send, "make a working table")

    def drop(self, name: str) -> None:
        """Drops a temporary, which may be gone."""
        text = f"DROP TABLE IF EXISTS pg_temp.{quoted(name).text}"
        with self.limited(NEVER):  # what was made must go, however late it is
            self._attempt(lambda cursor: _executed(cursor, text), "drop a working table")
        self._temporaries.discard(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All statements inside take effect together, and see their tables as of one moment.

        In a transaction of the caller's they take effect with that one, whose isolation holds, or
        are taken back alone after an error.
        """
        if self._in_our_transaction:
            yield
            return
        self._end_stream()
        is_callers = self._is_open()
        opened = self.connection.transaction()

        def begin() -> None:
            opened.__enter__()
            if not is_callers:
                cursor = psycopg.Cursor(self.connection)
                if _texts(_executed(cursor, "SHOW transaction_isolation")) != [("serializable",)]:
                    _executed(cursor, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

        _translated(begin, "begin a transaction")
        self._in_our_transaction = not is_callers
        self._scales.clear()
        try:
            yield
        except BaseException as error:
            with suppress(psycopg.Error):
                opened.__exit__(type(error), error, error.__traceback__)
            raise
        finally:
            self._in_our_transaction = False
            self._scales.clear()
        _translated(lambda: opened.__exit__(None, None, None), "commit")

    @contextmanager
    def limited(self, deadline: Deadline) -> Iterator[None]:
        """Statements inside end at the deadline, by a `TimeLimitError`, and by Ctrl-C."""
        before, self._deadline = self._deadline, deadline
        try:
            yield
        finally:
            self._deadline = before

    def close(self) -> None:
        """Drops every temporary; a connection of the caller's gets its settings back."""
        with suppress(SqlanonError):
            for name in sorted(self._temporaries):
                self.drop(name)
        with suppress(SqlanonError):
            self._set(self._before)
        if self._is_ours:
            self.connection.close()

    def _refuse_unusable(self) -> None:
        status = self.connection.info.transaction_status
        if self.connection.closed or status is TransactionStatus.UNKNOWN:
            raise EngineError("the connection to PostgreSQL is closed")
        if status is TransactionStatus.INERROR:
            raise EngineError("the open transaction has failed already; roll it back first")
        if self.connection.info.pipeline_status is not PipelineStatus.OFF:
            raise EngineError("the connection to PostgreSQL is in a pipeline; leave that first")
        if self.connection.info.server_version < OLDEST_VERSION * 10_000:
            raise EngineError(f"sqlanon needs PostgreSQL {OLDEST_VERSION} or later")

    def _prepare(self) -> None:
        for name, (wanted, way_out) in _DEMANDED.items():
            if self.rows(f"SHOW {name}") != [(wanted,)]:
                raise EngineError(f"{name} of the connection is not {wanted}; {way_out}")
        self._before = {name: self.rows(f"SHOW {name}")[0][0] for name in _SETTINGS}
        self._set(_SETTINGS)
        isolation = self.rows("SHOW transaction_isolation")[0][0]
        if self._is_open() and isolation.startswith("read "):
            self.notes.append(
                f"the open transaction is {isolation.upper()}: what others commit meanwhile is "
                "seen by later scans; begin it with ISOLATION LEVEL REPEATABLE READ"
            )

    def _set(self, settings: dict[str, str]) -> None:
        for name, wanted in settings.items():
            self.rows(f"SELECT set_config({value(name).text}, {value(wanted).text}, false)")

    def _is_open(self) -> bool:
        """Whether a transaction is open, ours or the caller's."""
        return self.connection.info.transaction_status is not TransactionStatus.IDLE

    def _attempt(self, action: Callable[[Cursor], T], doing: str) -> T:
        """Runs an action on a cursor of its own, which takes effect as a whole or not at all.

        The error is raised outside of the handler, so that psycopg's, and the values in it, are not
        its context.
        """
        self._deadline.check()
        self._end_stream()
        deadline = self._deadline

        def attempted() -> T:
            # A cursor of the caller's making may read values otherwise.
            with (
                self.connection.transaction(),
                watched(deadline, self._cancel),
                psycopg.Cursor(self.connection) as cursor,
            ):
                return action(cursor)

        return _translated(attempted, doing, deadline=deadline)

    def _cancel(self) -> None:
        """Cancels what the connection is at."""
        with suppress(psycopg.Error):
            self.connection.cancel_safe(timeout=5)

    def _described(self, cursor: Cursor, text: str) -> list[PostgresColumn]:
        """The columns of a table or query."""
        result = _executed(cursor, f"SELECT * FROM {text} AS r LIMIT 0").pgresult
        assert result is not None
        places = range(result.nfields)
        self._learn(cursor, {result.ftype(place) for place in places})
        names = [(result.fname(place) or b"").decode() for place in places]
        return [
            self._column(name, result.ftype(place), result.fmod(place))
            for place, name in enumerate(names)
        ]

    def _column(self, name: str, oid: int, modifier: int) -> PostgresColumn:
        type_name, element, base = self._types[oid]
        if element or base:
            inner = self._column(name, element or base, modifier)
            is_nested = inner.is_array and bool(element)
            kind = None if is_nested else inner.kind
            return PostgresColumn(
                name, inner.type_name, kind, inner.digits, bool(element) or inner.is_array
            )
        kind = ENUM if type_name == "enum" else KINDS.get(type_name)
        return PostgresColumn(
            name, type_name, kind, digits_of(modifier) if type_name == "numeric" else None
        )

    def _learn(self, cursor: Cursor, types: set[int]) -> None:
        """Looks up types by their numbers: a name, and the type of the elements or the domain.

        The name is that of a type which is PostgreSQL's own, "enum", or some other one.
        """
        left = types - self._types.keys()
        while left:
            text = (
                "SELECT t.oid, CASE WHEN t.typtype = 'e' THEN 'enum' "
                "WHEN n.nspname = 'pg_catalog' THEN t.typname ELSE 'user.' || t.typname END, "
                "CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END, t.typbasetype "
                "FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n "
                f"ON n.oid = t.typnamespace WHERE t.oid IN ({', '.join(map(str, sorted(left)))})"
            )
            for oid, type_name, element, base in _texts(_executed(cursor, text)):
                self._types[int(oid)] = type_name, int(element), int(base)
            known = [self._types[oid] for oid in left]
            left = {code for _, *inner in known for code in inner if code} - self._types.keys()

    def _fitted(
        self, cursor: Cursor, columns: list[PostgresColumn], text: str
    ) -> list[PostgresColumn]:
        """Columns of a table, numbers without a declared width with the one that their values fit.

        Within a transaction of ours a table stays what it is, and is scanned once.
        """
        names = [column.name for column in columns if column.is_unbounded]
        if not names:
            return columns
        scales = self._scales.get(text) or _scales(cursor, names, text)
        if self._in_our_transaction:
            self._scales[text] = scales
        return [
            PostgresColumn(column.name, column.type_name, column.kind, (MOST_DIGITS, scale))
            if (scale := scales.get(column.name)) is not None
            else column
            for column in columns
        ]

    def _end_stream(self) -> None:
        """Ends what `brought` has begun to read: the connection is at that until it is read."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _streamed(self, columns: list[PostgresColumn], text: str) -> Generator[Any, None, None]:
        """The rows of a table a batch at a time, and None after the last."""
        failed: SqlanonError | None = None
        try:
            with self.connection.transaction(), psycopg.Cursor(self.connection) as cursor:
                for batch in _batches(cursor, columns, text):
                    self._deadline.check()
                    yield batch
            yield None
        except psycopg.Error as error:
            failed = fault(error, "read a working table")
        if failed is not None:
            raise failed


def _bytes(text: str) -> bytes:
    """A statement as it is sent: as text, psycopg's types want it to be a literal."""
    return text.encode()


def _executed(cursor: Cursor, text: str) -> Cursor:
    return cursor.execute(_bytes(text), prepare=False)


def _texts(cursor: Cursor) -> list[Row]:
    """The rows of a result as PostgreSQL writes them, whatever psycopg is to make of them."""
    result = cursor.pgresult
    assert result is not None

    def text(row: int, place: int) -> str | None:
        cell = result.get_value(row, place)
        return None if cell is None else bytes(cell).decode()

    return [
        tuple(text(row, place) for place in range(result.nfields)) for row in range(result.ntuples)
    ]


def _scales(cursor: Cursor, names: list[str], text: str) -> dict[str, int | None]:
    """The least scale that all values of some columns fit; None where no decimal number does."""
    shown = (
        f"max(min_scale({name})), max(abs({name}))"
        for name in (quoted(column).text for column in names)
    )
    (row,) = _texts(_executed(cursor, f"SELECT {', '.join(shown)} FROM {text} AS r"))
    scales = dict[str, int | None]()
    for place, name in enumerate(names):
        scale, widest = row[2 * place], row[2 * place + 1]
        whole = (widest or "0").partition(".")[0].lstrip("0")
        digits = int(scale or 0)
        # NaN and infinity are greater than every number.
        is_number = not whole or whole.isdigit()
        scales[name] = digits if is_number and len(whole) + digits <= MOST_DIGITS else None
    return scales


def _batches(cursor: Cursor, columns: list[PostgresColumn], text: str) -> Iterator[Any]:
    """The rows of a table or query as record batches, one at least."""
    keys = [f"c{number}" for number in range(len(columns))]
    shown = [column.read(f"r.{key}") for column, key in zip(columns, keys, strict=True)]
    query = f"SELECT {', '.join(shown)} FROM {text} AS r({', '.join(keys)})"
    ask = _bytes(f"COPY ({query}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')")
    rows, size, is_first = list[bytes](), 0, True
    try:
        with cursor.copy(ask) as copy:
            while data := copy.read():
                # As a view of the client's memory each of them is slow: 5 s for 2 million, not 2.
                rows.append(bytes(data))
                size += len(data)
                if size > BYTES_AT_ONCE:
                    yield parsed(rows, columns)
                    rows, size, is_first = [], 0, False
    except BaseException:
        _settle(cursor.connection)
        raise
    if rows or is_first:
        yield parsed(rows, columns)


def _whole(stream: Generator[Any, None, None]) -> Iterator[Any]:
    """The batches of a stream, whose end must have been reached."""
    for batch in stream:
        if batch is None:
            return
        yield batch
    raise EngineError("the rows of a working table were to be read before the next statement")


def _settle(connection: psycopg.Connection[Any]) -> None:
    """Reads what is left of a COPY that was cancelled: after Ctrl-C psycopg leaves it unread."""
    server = connection.pgconn
    with suppress(psycopg.Error):
        if server.transaction_status == TransactionStatus.ACTIVE:
            connection.cancel_safe(timeout=5)
        while server.transaction_status == TransactionStatus.ACTIVE:
            result = server.get_result()
            if result is not None and result.status == ExecStatus.COPY_OUT:
                while server.get_copy_data(0)[0] > 0:
                    pass


def _translated(action: Callable[[], T], doing: str, *, deadline: Deadline = NEVER) -> T:
    """What an action on the connection gives; psycopg's errors come out as ours."""
    try:
        return action()
    except psycopg.Error as error:
        if isinstance(error, errors.QueryCanceled) and deadline.expired:
            failed: SqlanonError = TimeLimitError()
        else:
            failed = fault(error, doing)
    raise failed
