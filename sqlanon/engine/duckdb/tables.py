"""Names of tables of a DuckDB connection, and the files that they are read from."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.arguments import kind_of
from sqlanon.engine.base import Engine, appeared
from sqlanon.engine.duckdb.catalog import (
    CATALOG,
    Catalog,
    catalog_of,
    entries,
    is_frame,
    qualified,
    variable,
)
from sqlanon.engine.duckdb.errors import attempt, fault
from sqlanon.engine.duckdb.syntax import create_temporary, drop
from sqlanon.engine.duckdb.watched_files import WatchedFile
from sqlanon.errors import SourceError
from sqlanon.sqltext import Statement, expression, name

_numbers = itertools.count(1)
_SCANS_FRAMES = expression("SELECT current_setting('python_enable_replacements')")
_CURRENT_DATABASE = expression("SELECT current_database()")


class DuckDBTables:
    """The tables that a connection can see.

    Args:
        engine: The engine of the connection.
        register: Makes a frame a table, until the engine is released.
    """

    def __init__(self, engine: Engine, register: Callable[[object], exp.Table]) -> None:
        self._engine, self._register = engine, register

    def resolve(self, table: object) -> exp.Table:
        """The fully qualified table that a name or a frame stands for.

        A string is first taken as one exact name, dots and all, looked up along the search path;
        then as `table`, `schema.table`, `database.table` or `database.schema.table`, each part
        quoted or not. A name that is not in the catalog may be a Python variable of the calling
        code that holds a frame, as in DuckDB itself (unless `python_enable_replacements` is off).

        Args:
            table: A name, or a pandas / Polars frame, an Arrow table or a relation, which stays
                registered until the engine is released.

        Raises:
            SourceError: There is no such table; the message names up to five near ones.
        """
        if isinstance(table, exp.Table):
            return table if table.catalog and table.db else self.resolve(table.name)
        if not isinstance(table, str):
            return self._framed(table)
        catalog = self.catalog()
        match = catalog.find(table)
        if match is not None:
            return match
        frame = variable(table) if self._engine.rows(_SCANS_FRAMES)[0][0] else None
        if frame is None:
            raise catalog.missing(table)
        return self._framed(frame)

    def target(self, name: str, source: exp.Table) -> exp.Table:
        """The table that a name for a new table stands for: see `Catalog.target`."""
        return self.catalog().target(name, source)

    def beside(self, table: exp.Table) -> exp.Table:
        """A fresh name in the schema of a table."""
        catalog = self.catalog()
        while True:
            fresh = qualified(table.catalog, table.db, f"_sqlanon_{next(_numbers)}")
            if catalog.entry(fresh) is None:
                return fresh

    def portable(self, table: exp.Table) -> exp.Table:
        """The table by the name that it has in a copy of its database, too.

        The database's own name is its file's, and a temporary table stands for a data file.
        """
        if table.catalog == "temp":
            return exp.Table(this=exp.to_identifier(table.name, quoted=True))
        if table.catalog != self._engine.rows(_CURRENT_DATABASE)[0][0]:
            return table
        return exp.Table(this=table.this.copy(), db=table.args["db"].copy())

    def exists(self, table: exp.Table) -> bool:
        """Whether there is a table or view of that fully qualified name."""
        return self.catalog().entry(table) is not None

    def is_base_table(self, table: exp.Table) -> bool:
        """Whether a fully qualified name is a table's, not a view's."""
        entry = self.catalog().entry(table)
        return entry is not None and not entry.is_view

    def is_steady(self, table: exp.Table) -> bool:
        """True: a transaction is a snapshot, and files that are read are held."""
        return True

    def drop(self, table: exp.Table, *, kind: str = "TABLE") -> None:
        """Drops a table or view that exists."""
        self._engine.run(drop(table, kind=kind))

    def write(self, place: exp.Table, rows: Statement) -> None:
        """Makes a table of rows, which are sorted already; a temporary one where it lies among."""
        if place.catalog == "temp":
            self._engine.run(create_temporary(place, rows))
            return
        text = "CREATE TABLE {{ place }} AS {{ rows }}"
        self._engine.run(expression(text, place=place, rows=rows))

    def refuse_fixed(self, place: exp.Table) -> None:
        """Nothing: any table can be replaced within a transaction."""

    def replace(self, written: exp.Table, place: exp.Table, *, overwrite: bool) -> None:
        """Gives a table its place's name; in a transaction, so that what stood there may go.

        Raises:
            SourceError: Something stands there, and is not to be overwritten.
        """
        if self.exists(place):
            if not overwrite:
                raise appeared(place)
            self.drop(place)
        text = "ALTER TABLE {{ written }} RENAME TO {{ new }}"
        self._engine.run(expression(text, written=written, new=name(place.name)))

    def catalog(self) -> Catalog:
        """Every table and view that the connection can see."""
        return catalog_of(self._engine.rows(CATALOG))

    def _framed(self, frame: object) -> exp.Table:
        if not is_frame(frame):
            raise SourceError(
                f"{kind_of(frame)} is not a table; give a name, a pandas or Polars frame, "
                "or an Arrow table"
            )
        # A reader can be scanned only once.
        return self._register(frame.read_all() if hasattr(frame, "read_all") else frame)


class OpenedFiles:
    """The files that tables are read from, which must stay what they are.

    Args:
        connection: Whose tables they are.

    Attributes:
        notes: What a reader should know of how the connection was opened.
        populations: The people that the records of a table are of, while they are open beside it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.notes: list[str] = []
        self.populations: list[exp.Table] = []
        self._files: list[Path] = []
        self._unchanging: list[WatchedFile] = []

    @property
    def population(self) -> exp.Table | None:
        """The people that the table's records are of, where they were opened beside it."""
        return self.populations[-1] if self.populations else None

    @property
    def files(self) -> list[Path]:
        """The files that hold the tables, which therefore nothing else may be written over."""
        text = entries("duckdb_databases", ["path"]).text
        attached = attempt(
            lambda: self._connection.execute(text).fetchall(),
            lambda error: fault(error, "run a query"),
        )
        return [*self._files, *(Path(path) for (path,) in attached if path is not None)]

    def refuse_changed(self) -> None:
        """Raises a `SourceError` where a file that is held was replaced or changed."""
        for file in self._unchanging:
            file.refuse_changed()

    def keep(self, path: Path) -> None:
        """Notes a file that tables are read from, so that `files` names it."""
        self._files.append(path)

    def hold(self, file: WatchedFile) -> None:
        """Holds a file that tables are read from for as long as it counts, or until `release`."""
        self._unchanging.append(file)

    def let_go(self, file: WatchedFile) -> None:
        """Ends `hold`: all that is wanted of the file has been read."""
        self._unchanging.remove(file)
        file.close()

    def forget(self, path: Path) -> None:
        """Ends `hold` of a file, links resolved, in whose place sqlanon has put another."""
        for file in [one for one in self._unchanging if one.path == path]:
            self.let_go(file)

    def release(self) -> None:
        """Lets go of every file."""
        while self._unchanging:
            self._unchanging.pop().close()
