"""DuckDB, embedded: statements over an open connection, which Ctrl-C and time limits can end.

DuckDB looks for signals only between its own steps, and often not at all until the end. So what
the main thread asks of it runs in one other thread, while the main thread waits, notices Ctrl-C
at once and interrupts the connection. The way there and back takes some 20 microseconds. A time
limit that comes meanwhile interrupts it likewise. DuckDB looks for interrupts while it runs a
statement, not while it plans one, so statements must be such that planning takes no time.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
from sqlglot import exp

from sqlanon.arguments import kind_of
from sqlanon.deadline import NEVER, REPEAT_SECONDS, Deadline, watched
from sqlanon.engine.base import Abilities, Limits, Row, Whole, render
from sqlanon.engine.duckdb.capabilities import UNSTORED, arrow_reader
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.engine.duckdb.errors import attempt, called, doing, fault, is_aborted, with_rollback
from sqlanon.engine.duckdb.syntax import all_of, create_temporary, drop, type_of
from sqlanon.engine.duckdb.tables import DuckDBTables, OpenedFiles
from sqlanon.errors import EngineError, SqlanonError, TimeLimitError
from sqlanon.sqltext import Sql, Statement, expression, projected, value, word
from sqlanon.wording import counted

if TYPE_CHECKING:
    import pyarrow

ROWS_AT_ONCE = 500_000


def whole_columns(rows: pyarrow.Table) -> dict[str, Whole]:
    """The columns of a table of whole numbers; NULL is -1."""
    import numpy as np  # what only publishes needs none

    def whole(values: Any) -> Whole:
        filled = values.fill_null(-1) if values.null_count else values
        # `to_numpy` would load pandas where it is installed, which takes longer than all the rest.
        parts = [np.from_dlpack(chunk) for chunk in filled.chunks]
        joined = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])
        return joined.astype(np.int64, copy=False)

    return {name: whole(rows.column(name)) for name in rows.column_names}


T = TypeVar("T")

_numbers = itertools.count(1)
_CURRENT_TRANSACTION = expression("SELECT txid_current()")
_BEGIN, _COMMIT = expression("BEGIN"), expression("COMMIT")


class DuckDB:
    """An open DuckDB connection behind the engine protocol.

    The connection is the caller's: it is neither closed nor are its settings changed here. Names
    of temporary tables are unique within the process, so several engines may share a connection.

    Args:
        connection: Open, with or without an open transaction.

    Attributes:
        opened: How it was opened, and the files that its tables are read from.
        limits: Those of a connection that sqlanon opened; None where it is the caller's.
    """

    can = Abilities(fresh_file=True, in_place=True, unstored=UNSTORED)
    dialect = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.opened = OpenedFiles(connection)
        self.limits: Limits | None = None
        self._temporaries: list[str] = []
        self._frames: list[str] = []
        self._in_our_transaction = False
        self.deadline, self._interrupts = NEVER, False

    # It is not kept: a circle would hold the connection open until garbage is collected.
    @property
    def tables(self) -> DuckDBTables:
        """The names that tables have."""
        return DuckDBTables(self, self.register)

    def run(self, statement: Statement, parameters: Sequence[object] = ()) -> None:
        """Carries a statement out and drops its result.

        Raises:
            EngineError: DuckDB refused it; the message holds no value of a table.
            SourceError: It names a table or column that is missing, in the way or read-only.
        """
        text = render(statement, self.dialect)
        self._attempt(text, lambda: self._execute(text, parameters))

    def rows(self, query: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """All rows of a small result, as Python tuples; errors as in `run`."""
        text = render(query, self.dialect)
        return self._attempt(text, lambda: self._execute(text, parameters).fetchall())

    def asked(self, query: Statement, failure: Callable[[Exception], SqlanonError]) -> list[Row]:
        """All rows of a small result; an error becomes what is made of DuckDB's."""
        text = render(query, self.dialect)
        return self.attempt(lambda: self._execute(text).fetchall(), failure)

    def fetch(self, query: Statement) -> pyarrow.Table:
        """The whole result as an Arrow table; errors as in `run`."""
        text = render(query, self.dialect)
        return self._attempt(text, lambda: self.connection.sql(text).to_arrow_table())

    def numbers(self, query: Statement) -> dict[str, Whole]:
        """The columns of a result of whole numbers; NULL is -1; errors as in `run`."""
        return whole_columns(self.fetch(query))

    def stream(self, query: Statement) -> pyarrow.RecordBatchReader:
        """The result as Arrow batches, to be read before the next statement runs."""
        text = render(query, self.dialect)
        return self._attempt(text, lambda: arrow_reader(self.connection.sql(text)))

    def materialize(
        self, prefix: str, query: Statement, *, parameters: Sequence[object] = ()
    ) -> exp.Table:
        """A temporary table of a query's rows, under a fresh name; errors as in `run`."""
        return self.materialize_counted(prefix, query, parameters=parameters)[0]

    def materialize_counted(
        self, prefix: str, query: Statement, *, parameters: Sequence[object] = ()
    ) -> tuple[exp.Table, int]:
        """A temporary table as `materialize` makes it, and how many rows it has."""
        table = self.temporary(prefix)
        made = self.rows(create_temporary(table, query), parameters)
        return table, made[0][0]

    def load_rows(
        self,
        prefix: str,
        columns: Mapping[str, Sequence[object]],
        types: Mapping[str, exp.DataType] | None = None,
    ) -> exp.Table:
        """A temporary table of given columns, under a fresh name.

        Args:
            prefix: A part of the name.
            columns: Values by column name, all of one length; None is NULL.
            types: Types by column name; those left out are BIGINT.

        Raises:
            EngineError: Lengths or names disagree, or a value does not fit its type.
        """
        lengths, kinds = {len(values) for values in columns.values()}, types or {}
        if len(lengths) != 1 or not kinds.keys() <= columns.keys():
            raise EngineError(
                f"cannot load a working table: {counted(len(columns), 'column')} of "
                f"{counted(len(lengths), 'length')} for {counted(len(kinds), 'type')}"
            )
        cells = {
            name: expression(
                "UNNEST(CAST(? AS {{ kind }}[]))", kind=kinds.get(name, word("BIGINT"))
            )
            for name in columns
        }
        rows = expression("SELECT {{ cells }}", cells=projected(cells))
        # One part at least, be it of no row.
        parts = (
            [list(values[start : start + ROWS_AT_ONCE]) for values in columns.values()]
            for start in range(0, max(lengths.pop(), 1), ROWS_AT_ONCE)
        )
        table = self.materialize(prefix, rows, parameters=next(parts))
        more = expression("INSERT INTO {{ table }} {{ rows }}", table=table, rows=rows)
        for part in parts:
            self.run(more, part)
        return table

    def columns(self, table: exp.Table | Sql) -> dict[str, exp.DataType]:
        """Name and type of every column, in table order; errors as in `run`."""
        text = expression("SELECT * FROM {{ table }} LIMIT 0", table=table).text
        source = called(table.name) if isinstance(table, exp.Table) else "a file"
        description = self.attempt(
            lambda: self._execute(text).description,
            lambda error: fault(error, f"read the columns of {source}"),
        )
        return {name: type_of(str(kind)) for name, kind, *_ in description or ()}

    @contextmanager
    def transaction(self, until: Deadline = NEVER) -> Iterator[None]:
        """All statements inside take effect together, or none does; see `Engine.transaction`.

        Joins a transaction that is open already, and then leaves its end to whoever began it. A
        statement that fails in it, and be it an expression of the user's that does not fit one
        value, makes DuckDB refuse all that follows: the error then says so.
        """
        if self._in_our_transaction or (until.is_limited and not self._transaction_is_open()):
            yield
            return
        if self._transaction_is_open():
            try:
                yield
            except SqlanonError as error:
                if not is_aborted(self.connection):
                    raise
                failure = with_rollback(error)
            else:
                return
            raise failure
        self.run(_BEGIN)
        self._in_our_transaction = True
        try:
            yield
            self.run(_COMMIT)
        except BaseException:
            # A failed COMMIT has rolled back by itself, and then there is nothing left to do.
            with suppress(duckdb.Error):
                self.connection.rollback()
            raise
        finally:
            self._in_our_transaction = False

    @property
    def in_callers_transaction(self) -> bool:
        """True while the caller's own transaction is open: it commits, sqlanon does not."""
        return not self._in_our_transaction and self._transaction_is_open()

    def temporary(self, prefix: str) -> exp.Table:
        """A fresh name for a temporary table, which `workspace` or `release` drops."""
        self._temporaries.append(f"_sqlanon_{prefix}_{next(_numbers)}")
        return qualified("temp", "main", self._temporaries[-1])

    def fill(self, table: exp.Table, rows: pyarrow.RecordBatchReader) -> None:
        """Makes a table that `temporary` has named, of given rows."""
        source = self.register(rows)
        try:
            self.run(create_temporary(table, all_of(source)))
        finally:
            self._unregister(source.name)

    @contextmanager
    def workspace(self) -> Iterator[None]:
        """Temporaries named inside are dropped at its end, also after an error."""
        mark = len(self._temporaries)
        try:
            yield
        except BaseException:
            # In a failed transaction nothing can be dropped; its end drops what it created.
            with suppress(EngineError):
                self._drop_since(mark)
            raise
        self._drop_since(mark)

    @contextmanager
    def limited(self, deadline: Deadline) -> Iterator[None]:
        """Statements inside end at the deadline, by a `TimeLimitError`; `NEVER` lifts a limit.

        DuckDB ends a transaction with a statement that is interrupted. So none is in an open
        transaction: there the time is only looked at before each of them.
        """
        before = self.deadline, self._interrupts
        self.deadline = NEVER
        interrupts = deadline.is_limited and not self._transaction_is_open()
        self.deadline, self._interrupts = deadline, interrupts
        try:
            yield
        finally:
            self.deadline, self._interrupts = before

    def register(self, frame: object) -> exp.Table:
        """A frame, or a reader of Arrow batches to scan once, as a table, until `release`."""
        name = f"_sqlanon_frame_{next(_numbers)}"
        self.attempt(
            lambda: self.connection.register(name, frame),
            lambda error: fault(error, f"register {kind_of(frame)}"),
        )
        self._frames.append(name)
        return qualified("temp", "main", name)

    def release(self) -> None:
        """Drops the temporaries and unregisters the frames that `resolve` registered."""
        with suppress(EngineError):
            self._drop_since(0)
        for name in list(self._frames):
            self._unregister(name)
        self.opened.release()

    def setting(self, name: str) -> Any:
        """What an option of the database is set to."""
        return self.rows(expression("SELECT current_setting({{ name }})", name=value(name)))[0][0]

    def attempt(self, action: Callable[[], T], failure: Callable[[Exception], SqlanonError]) -> T:
        """Runs an action on the connection as `errors.attempt` does.

        Ctrl-C and the deadline of `limited` can end it.
        """
        self.deadline.check()
        end = self.deadline if self._interrupts else NEVER
        return attempt(lambda: interruptible(self.connection, action, deadline=end), failure)

    def _attempt(self, text: str, action: Callable[[], T]) -> T:
        return self.attempt(action, lambda error: fault(error, doing(text)))

    def _execute(self, text: str, parameters: Sequence[object] = ()) -> duckdb.DuckDBPyConnection:
        return self.connection.execute(text, list(parameters) if parameters else None)

    def _transaction_is_open(self) -> bool:
        # Outside a transaction every statement has its own id.
        if self._in_our_transaction:
            return True
        return self.rows(_CURRENT_TRANSACTION) == self.rows(_CURRENT_TRANSACTION)

    def _unregister(self, name: str) -> None:
        self._frames.remove(name)
        with suppress(duckdb.Error):
            self.connection.unregister(name)

    def _drop_since(self, mark: int) -> None:
        with self.limited(NEVER):  # what was made must go, however late it is
            names = self._temporaries[mark:]
            places = [qualified("temp", "main", name) for name in names]
            text = "; ".join(drop(place, exists=True).text for place in places)
            if text:
                self._attempt(text, lambda: self._execute(text))
        del self._temporaries[mark:]


Answer = tuple[Any, BaseException | None]
Task = tuple[Callable[[], Any], "SimpleQueue[Answer]"]


# The tasks of the one thread that runs them, once there is one.
_queues: list[SimpleQueue[Task]] = []
if hasattr(os, "register_at_fork"):
    # A forked child has no thread but its own.
    os.register_at_fork(after_in_child=_queues.clear)


def _work(tasks: SimpleQueue[Task]) -> None:
    while True:
        action, answer = tasks.get()
        try:
            answer.put((action(), None))
        except BaseException as error:
            # It is raised again by whoever waits for the answer, and would else be lost.
            answer.put((None, error))
        del action, answer


def _hand_over(action: Callable[[], Any]) -> SimpleQueue[Answer]:
    """Gives an action to the thread; the answer comes through the queue."""
    if not _queues:
        tasks: SimpleQueue[Task] = SimpleQueue()
        threading.Thread(target=_work, args=(tasks,), name="sqlanon", daemon=True).start()
        _queues.append(tasks)
    answer: SimpleQueue[Answer] = SimpleQueue()
    _queues[0].put((action, answer))
    return answer


def interruptible(
    connection: duckdb.DuckDBPyConnection, action: Callable[[], T], *, deadline: Deadline = NEVER
) -> T:
    """Runs an action on a connection; Ctrl-C and the deadline end it within moments.

    Args:
        connection: What the action uses, and nothing else uses meanwhile.
        action: Calls DuckDB.
        deadline: When to interrupt it.

    Raises:
        TimeLimitError: The deadline came before the action was done.
    """
    if threading.current_thread() is not threading.main_thread():
        return _watched(connection, action, deadline=deadline) if deadline.is_limited else action()
    answer = _hand_over(action)
    try:
        value, error = _awaited(answer, deadline)
    except KeyboardInterrupt:
        _stop(connection)
        raise
    except Empty:
        _stop(connection)
        value, error = answer.get()
    if isinstance(error, duckdb.InterruptException) and deadline.is_limited:
        raise TimeLimitError
    if error is not None:
        raise error
    result: T = value
    return result


def _awaited(answer: SimpleQueue[Answer], deadline: Deadline) -> Answer:
    """An answer; raises `Empty` where the deadline comes first, by its own clock."""
    if not deadline.is_limited:
        return answer.get()
    while True:
        try:
            return answer.get(timeout=deadline.timeout())
        except Empty:
            if deadline.expired:
                raise


def _watched(
    connection: duckdb.DuckDBPyConnection, action: Callable[[], T], *, deadline: Deadline
) -> T:
    """Runs an action in a thread that no signal reaches; another one keeps the time."""
    with suppress(duckdb.InterruptException), watched(deadline, connection.interrupt):
        return action()
    raise TimeLimitError


def _stop(connection: duckdb.DuckDBPyConnection) -> None:
    """Interrupts whatever the thread is at, and waits until it has let go."""
    idle = _hand_over(lambda: None)
    while True:
        # Again and again: an interrupt just before a query starts is forgotten by DuckDB.
        connection.interrupt()
        try:
            idle.get(timeout=REPEAT_SECONDS)
        except Empty:
            continue
        return
