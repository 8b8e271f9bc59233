"""A Spark session as the far side of an engine: statements, and intermediates that hold originals.

An intermediate is written, never a view that would be worked out again with every use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.base import Abilities
from sqlanon.engine.spark.calls import Calls, is_connect
from sqlanon.engine.spark.intermediates import intermediates
from sqlanon.engine.spark.tables import SparkTables, with_limit
from sqlanon.engine.spark.types import padded, type_of_field
from sqlanon.engine.spark.workers import SparkWorkers
from sqlanon.errors import EngineError, SourceError, SqlanonError

if TYPE_CHECKING:
    import pyarrow

_DEMANDED = {
    # Else numbers that do not fit become others, and texts that are none NULL, without an error.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}


class SparkRemote:
    """A session of Spark 4, classic or through Spark Connect, also Sail's.

    Args:
        session: Open; it stays so.
        materialize: How intermediates are stored, and where: see `intermediates`.
        scratch: Where.
        is_ours: Whether it ends with the work, and with it what its catalog alone knows.

    Attributes:
        notes: What a reader should know of the tables.

    Raises:
        SourceError: Intermediates cannot be stored there or so, or by its settings statements would
            mean something else.
    """

    dialect = "spark"
    collation = None

    def __init__(
        self,
        session: Any,
        *,
        materialize: str | None = None,
        scratch: str | None = None,
        is_ours: bool = False,
    ) -> None:
        self._session, self._call = session, Calls(session)
        self._refuse_settings()
        is_passing = is_ours and self._knows_alone()
        self.notes = list[str]()
        self.tables = SparkTables(session, self._call, notes=self.notes, is_passing=is_passing)
        self._kept = intermediates(
            session,
            self._call,
            materialize=materialize,
            scratch=scratch,
            is_passing=is_passing,
        )
        self.notes += self._kept.notes
        self._stored, self._views = dict[str, Any](), set[str]()
        self.phrasing = "sail" if self._call.is_sail else "spark"
        self._reads_files = not self._writes_old_days()
        self.can = Abilities(
            fresh_file=False,
            in_place=True,
            keeps_versions=True,
            stages_beside=True,
            sorts_in_parts=self._sorts_in_parts(),
            # Sail does tasks of Python in the threads of one process, of which one runs at a time.
            workers=None if self._call.is_sail else SparkWorkers(session, self.notes),
            # Statistics of a file leave NaN out: where all else is one value, Sail reads that.
            reads_nan=not self._call.is_sail,
        )

    @property
    def zone(self) -> str:
        """The time zone of the session."""
        zone: str = self._call(
            lambda: self._session.conf.get("spark.sql.session.timeZone"), "tell its time zone"
        )
        return zone

    def columns(self, table: exp.Table) -> dict[str, exp.DataType]:
        """Name and type of every column, as DuckDB calls the types.

        Raises:
            SourceError: A type is one that DuckDB lacks, or in which it compares otherwise.
        """
        name = table.sql(self.dialect, identify=True)
        fields = self._call(lambda: self._session.table(name).schema.fields, "read a table")
        self.notes += [note for note in padded(fields) if note not in self.notes]
        return {field.name: type_of_field(field.name, field.dataType) for field in fields}

    def run(self, text: str) -> None:
        """Carries a statement out."""
        self.answer(text)

    def answer(self, text: str) -> pyarrow.Table:
        """The rows of a query, whole."""
        rows: pyarrow.Table = self._call(
            lambda: self._session.sql(text).toArrow(), "carry out a statement"
        )
        return rows

    def store(self, name: str, text: str, *, most: int) -> int:
        """Stores the rows of a query under a name: how many there are."""
        if self._call.is_sail and "ORDER BY" in text:
            text = with_limit(text)  # else a table of it is in the order of its source
        query = self._call(lambda: self._session.sql(text), "read a statement")
        self._stored[name] = query
        self._kept.write(name, query)
        files = self._kept.files(name)
        rows: int = (
            self._call(lambda: self._kept.frame(name).count(), "count rows")
            if files is None
            else self._call(files.count_rows, "count rows")
        )
        if rows > most:
            view = lambda: self._kept.frame(name).createOrReplaceTempView(name)  # noqa: E731
            self._views.add(name)
            self._call(view, "name an intermediate")
        return rows

    def brought(self, name: str) -> pyarrow.RecordBatchReader:
        """The rows of what `store` stored; files are read where they lie."""
        files = self._kept.files(name) if self._reads_files else None
        if files is None or not files.files:
            query = self._stored[name]
            frame = self._kept.frame(name) if files is None else query.limit(0)
            rows: pyarrow.Table = self._call(frame.toArrow, "read rows")
            return rows.to_reader()
        # Files tell an instant from a time without a zone, and an interval from a number, by what
        # Spark alone reads.
        asked = self._kept.frame(name).limit(0)
        empty: pyarrow.Table = self._call(asked.toArrow, "read rows")
        return files.scanner().to_reader().cast(empty.schema)

    def ship(self, name: str, rows: pyarrow.Table) -> None:
        """Makes a temporary of given rows."""
        from pyspark.sql.pandas.types import from_arrow_schema

        signed = _signed(rows)
        schema = from_arrow_schema(signed.schema, prefer_timestamp_ntz=True)
        given = signed if rows.num_rows else []
        self._views.add(name)
        self._call(
            lambda: self._session.createDataFrame(given, schema).createOrReplaceTempView(name),
            "take rows",
        )

    def drop(self, name: str) -> None:
        """Drops what `store` or `ship` made; it may be gone. No deadline keeps it from that."""
        with self.limited(NEVER):
            with suppress(EngineError):
                self._call(lambda: self._session.catalog.dropTempView(name), "drop a view")
                self._views.discard(name)
            if self._stored.pop(name, None) is not None:
                self._kept.drop(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Nothing: Spark has none, so a release is written beside its place."""
        yield

    @contextmanager
    def limited(self, deadline: Deadline) -> Iterator[None]:
        """Statements inside end at the deadline, by a `TimeLimitError`, and always by Ctrl-C."""
        with self._call.limited(deadline):
            yield

    def close(self) -> None:
        """Drops every intermediate, and every view."""
        self._call.settle()
        for name in {*self._stored, *self._views}:
            with suppress(SqlanonError):
                self.drop(name)
        with self.limited(NEVER):
            with suppress(SqlanonError):
                self.tables.close()
            with suppress(SqlanonError):
                self._kept.close()

    def _refuse_settings(self) -> None:
        """Refuses settings by which statements would mean something else; Sail has none of them."""
        for name, wanted in () if self._call.is_sail else _DEMANDED.items():
            setting = wanted
            with suppress(SqlanonError):  # what a cluster does not tell it has not changed
                setting = self._call(partial(self._session.conf.get, name), "tell its settings")
            if str(setting).lower() != wanted.lower():
                raise SourceError(f"{name} of the session is not {wanted}; set it so first")

    def _knows_alone(self) -> bool:
        """Whether the catalog that Spark has by itself is kept by this process alone."""
        name, default = "spark.sql.catalogImplementation", "in-memory"
        if is_connect(self._session):
            return self._call.is_sail
        kept = self._call(lambda: self._session.conf.get(name, default), "tell its settings")
        return bool(kept == default)

    def _sorts_in_parts(self) -> bool:
        """Whether rows can be dealt out and sorted in parts; Sail cannot yet."""
        text = "SELECT 1 AS `one` DISTRIBUTE BY `one` SORT BY `one`"
        try:
            self.answer(text)
        except EngineError:
            return False
        return True

    def _writes_old_days(self) -> bool:
        """Whether files hold days of the Julian calendar, as only Spark reads them."""
        names = ("datetimeRebaseModeInWrite", "int96RebaseModeInWrite")
        asked = lambda: [  # noqa: E731
            self._session.conf.get(f"spark.sql.parquet.{name}", "CORRECTED") for name in names
        ]
        return "LEGACY" in self._call(asked, "tell its settings")


def _signed(rows: pyarrow.Table) -> pyarrow.Table:
    """Rows without the unsigned types that Spark lacks."""
    import pyarrow

    wider = {
        pyarrow.uint8(): pyarrow.int16(),
        pyarrow.uint16(): pyarrow.int32(),
        pyarrow.uint32(): pyarrow.int64(),
        pyarrow.uint64(): pyarrow.decimal128(20, 0),
    }
    fields = [field.with_type(wider.get(field.type, field.type)) for field in rows.schema]
    return rows.cast(pyarrow.schema(fields))
