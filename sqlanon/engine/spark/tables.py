"""Names of Spark's tables, and how one takes another's place."""

from __future__ import annotations

import itertools
import uuid
from contextlib import suppress
from functools import partial
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from sqlanon.arguments import kind_of
from sqlanon.engine.spark.calls import Calls
from sqlanon.engine.spark.stores import is_local, local_path
from sqlanon.errors import EngineError, MissingTableError, SourceError, VerificationError

_numbers = itertools.count(1)
ATOMIC = frozenset({"delta", "iceberg"})
"""Formats of tables that are replaced in one step."""
_PATHS = frozenset({"parquet", "delta", "iceberg", "orc", "csv", "json"})


class SparkTables:
    """The tables of a session's catalogs.

    Args:
        session: Open.
        calls: Its calls.
        is_passing: Whether its catalog ends with this process, and so would a new table.
    """

    def __init__(self, session: Any, calls: Calls, *, is_passing: bool = False) -> None:
        self._is_passing = is_passing
        self._session, self._call, self._views = session, calls, list[str]()

    def resolve(self, table: object) -> exp.Table:
        """The table that a name, a path or a data frame of the session stands for.

        A name is `table`, `schema.table` or `catalog.schema.table`, each part in backticks or not;
        `` format.`path` `` is a folder of data, and so is the path of a folder on this machine.

        Raises:
            MissingTableError: There is no such table.
        """
        if isinstance(table, exp.Table):
            return table
        if hasattr(table, "createOrReplaceTempView"):
            return self._viewed(table)
        if not isinstance(table, str) or not table:
            what = "the name is empty" if table == "" else f"{kind_of(table)} is not a table"
            raise SourceError(f"{what}; give the name of a table, or a DataFrame of the session")
        if not is_local(table) or local_path(table).is_dir():
            return self._viewed(self._of_path(table))
        named = _parsed(table)
        if named.db.lower() in _PATHS and not named.catalog:
            return self._viewed(self._read(named.db.lower(), named.name))
        if not self.exists(named):
            raise MissingTableError(f"there is no table {table!r} that Spark knows")
        if named.db or self._is_view(named):
            return named
        current = "SELECT current_catalog(), current_database()"
        row = self._call(lambda: self._session.sql(current).collect()[0], "name its catalog")
        return exp.table_(named.name, db=row[1], catalog=row[0], quoted=True)

    def target(self, name: str, source: exp.Table) -> exp.Table:
        """The table that a name for a new table stands for: beside `source` unless it says more.

        Raises:
            SourceError: It would be gone with this process.
        """
        if self._is_passing:
            raise SourceError(
                "the catalog of a Spark in this process ends with it, and a new table would, too; "
                "publish to a file with output (--output FILE)"
            )
        named = _parsed(name)
        if named.db or not source.db:
            return named
        return exp.table_(named.name, db=source.db, catalog=source.catalog or None, quoted=True)

    def beside(self, table: exp.Table) -> exp.Table:
        """A fresh name in the schema of a table; others write there, too."""
        fresh = f"_sqlanon_{uuid.uuid4().hex[:12]}_{next(_numbers)}"
        return exp.table_(fresh, db=table.db or None, catalog=table.catalog or None, quoted=True)

    def portable(self, table: exp.Table) -> exp.Table:
        """The table by the name that it has everywhere: its own."""
        return table

    def exists(self, table: exp.Table) -> bool:
        """Whether there is a table or view of that name."""
        text = table.sql("spark", identify=True)
        found: bool = self._call(
            lambda: self._session.catalog.tableExists(text), "look for a table"
        )
        return found

    def is_base_table(self, table: exp.Table) -> bool:
        """Whether a name is a table's, not a view's."""
        return self.exists(table) and not self._is_view(table)

    def drop(self, table: exp.Table) -> None:
        """Drops a table that exists."""
        self._call.drop_table(table.sql("spark", identify=True))

    def close(self) -> None:
        """Drops the views that were made for paths and data frames."""
        while self._views:
            name = self._views.pop()
            self._call(partial(self._session.catalog.dropTempView, name), "drop a view")

    def replace(self, written: exp.Table, place: exp.Table) -> None:
        """Gives a table that was written beside a place its name; what stood there is gone.

        Raises:
            VerificationError: Where a table cannot be renamed and is copied, what arrives is
                something else.
        """
        names = [table.sql("spark", identify=True) for table in (written, place)]
        if not self.exists(place):
            try:
                self._run("ALTER TABLE {} RENAME TO {}".format(*names))
            except EngineError:  # an engine without renaming, as Sail is
                self._copy(written, place)
            return
        self.refuse_fixed(place)
        kind = self._format(place)
        replacing = "CREATE OR REPLACE TABLE {1} USING {2} AS SELECT * FROM {0}"
        try:
            self._run(replacing.format(*names, kind))
        except EngineError:  # Sail replaces no columns so, but does in a writer's way
            rows = self._session.table(names[0]).write.format(kind).mode("overwrite")
            writer = rows.option("overwriteSchema", "true")
            self._call(lambda: writer.saveAsTable(names[1]), "publish a table")
        self.drop(written)

    def refuse_fixed(self, place: exp.Table) -> None:
        """Refuses a table of a format that cannot be replaced in one step.

        Raises:
            SourceError: A crash in between would leave neither the old one nor the new one.
        """
        if self._format(place) not in ATOMIC:
            raise SourceError(
                f"table {place.name!r} cannot be replaced in one step, as Delta and Iceberg tables "
                "can; drop it first, or publish under another name"
            )

    def _copy(self, written: exp.Table, place: exp.Table) -> None:
        one, other = (table.sql("spark", identify=True) for table in (written, place))
        columns = self._call(lambda: self._session.table(one).columns, "read a table")
        keys = ", ".join(exp.to_identifier(name, quoted=True).sql("spark") for name in columns)
        # Without a limit, however high, such an engine leaves the order out.
        rows = f"SELECT * FROM {one} ORDER BY {keys} LIMIT {2**63 - 1}"
        counts = f"SELECT (SELECT count(*) FROM {one}) - (SELECT count(*) FROM {other})"
        lost = f"SELECT count(*) FROM (SELECT * FROM {one} EXCEPT ALL SELECT * FROM {other})"
        compared = lambda: [  # noqa: E731
            self._session.sql(text).collect()[0][0] for text in (counts, lost)
        ]
        try:
            self._run(f"CREATE TABLE {other} AS {rows}")
            if any(self._call(compared, "compare tables")):
                raise VerificationError(
                    "the table written is not the one checked; nothing is published"
                )
        except BaseException:
            with suppress(EngineError):
                self.drop(place)
            raise
        self.drop(written)

    def _run(self, text: str) -> None:
        self._call(lambda: self._session.sql(text).toArrow(), "publish a table")

    def _format(self, table: exp.Table) -> str:
        """The format of a table, in small letters."""
        text = f"DESCRIBE EXTENDED {table.sql('spark', identify=True)}"
        rows = self._call(lambda: self._session.sql(text).collect(), "describe a table")
        return next((str(row[1]).lower() for row in rows if row[0] == "Provider"), "")

    def _is_view(self, table: exp.Table) -> bool:
        text = table.sql("spark", identify=True)
        found = self._call(lambda: self._session.catalog.getTable(text), "describe a table")
        return bool(found.isTemporary) or "VIEW" in str(found.tableType).upper()

    def _of_path(self, path: str) -> Any:
        """The rows of a folder of data: of Delta, else of Iceberg, else of Parquet files."""
        if is_local(path):
            folder = local_path(path).resolve()
            marks = {"_delta_log": "delta", "metadata": "iceberg"}
            kinds = [kind for mark, kind in marks.items() if (folder / mark).is_dir()]
            return self._read([*kinds, "parquet"][0], str(folder))
        for kind in ("delta", "iceberg"):
            with suppress(EngineError, SourceError):
                return self._read(kind, path)
        return self._read("parquet", path)

    def _read(self, kind: str, path: str) -> Any:
        """The rows of a path, of which the columns are known: what fails does so here."""

        def read() -> Any:
            frame = self._session.read.format(kind).load(path)
            assert frame.schema.fields
            return frame

        return self._call(read, "read a folder of data")

    def _viewed(self, frame: Any) -> exp.Table:
        name = f"_sqlanon_frame_{next(_numbers)}"
        self._views.append(name)
        self._call(lambda: frame.createOrReplaceTempView(name), "read a DataFrame")
        return exp.table_(name, quoted=True)


def _parsed(name: str) -> exp.Table:
    """A dotted name in Spark's spelling.

    Raises:
        SourceError: It is none.
    """
    try:
        table = exp.to_table(name, dialect="spark")
    except (ParseError, TokenError):
        raise SourceError(f"{name!r} is not the name of a table") from None
    for part in table.parts:
        part.set("quoted", True)
    return table
