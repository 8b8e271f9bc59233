"""Databases elsewhere to run tests on: Sail in the process, Spark in Java, PostgreSQL."""

import contextlib
import os
import tempfile
import warnings
from pathlib import Path

import duckdb
import pytest
from servers import java, postgres_folder, sail

# All sessions of Spark in a process share one context, so its tests run in a process of their own.
IS_CLASSIC = os.environ.get("SQLANON_SPARK") == "classic"
NAMES = ("spark",) if IS_CLASSIC else ("sail", "postgres")


def texts(rows):
    """Rows as a multiset that does not depend on the classes of their values."""
    return sorted(tuple("" if cell is None else f"={cell}" for cell in row) for row in rows)


class Session:
    """A session of Spark, in Java or Sail's."""

    def __init__(self, name, source):
        self.name, self.source = name, source

    def load(self, table, name="people"):
        """Makes a view of an Arrow table, its rows in several parts."""
        frame = self.source.createDataFrame(table)
        frame.createOrReplaceTempView(name)

    def rows(self, name):
        """What a table holds."""
        return [tuple(row.values()) for row in self.source.table(name).toArrow().to_pylist()]

    def cells(self, name):
        """The columns of a table by their names, as lists of pyarrow's cells."""
        table = self.source.table(name).toArrow()
        return {column: list(table.column(column)) for column in table.column_names}

    def tables(self):
        """The names of all tables and views but those of the test."""
        return {each.name for each in self._listed()}

    def clear(self):
        """Drops what tests have published."""
        for each in self._listed():
            if each.isTemporary:
                self.source.catalog.dropTempView(each.name)
            else:
                self.source.sql(f"DROP TABLE `{each.name}`").toArrow()

    def _listed(self):
        listed = self.source.catalog.listTables()
        return [each for each in listed if not each.name.startswith("people")]


class Server:
    """A server of PostgreSQL."""

    name = "postgres"

    def __init__(self, source):
        self.source = source

    def load(self, table, name="people"):
        """Makes a table of an Arrow table."""
        from sqlanon.engine.postgres.connection import PostgresRemote

        self.source.execute(f'DROP TABLE IF EXISTS "{name}"')
        remote = PostgresRemote(self.source)
        remote.ship("sent", table)
        self.source.execute(f'CREATE TABLE "{name}" AS SELECT * FROM sent')
        for column, kind in zip(table.column_names, table.schema.types, strict=True):
            if str(kind) in ("string", "large_string"):
                quoted = column.replace('"', '""')
                self.source.execute(
                    f'ALTER TABLE "{name}" ALTER "{quoted}" TYPE text COLLATE "default"'
                )
        remote.close()

    def rows(self, name):
        """What a table holds."""
        return self.source.execute(f'SELECT * FROM "{name}"').fetchall()

    def cells(self, name):
        """The columns of a table by their names, as texts in UTC."""
        from psycopg.sql import SQL, Identifier

        self.source.execute("SET TimeZone = 'UTC'")
        listed = self.source.execute(f'SELECT * FROM "{name}" LIMIT 0').description
        columns = [each.name for each in listed]
        texts = SQL(", ").join(SQL("{}::text").format(Identifier(each)) for each in columns)
        query = SQL("SELECT {} FROM {}").format(texts, Identifier(name))
        rows = self.source.execute(query).fetchall()
        return dict(zip(columns, zip(*rows, strict=True), strict=True))

    def tables(self):
        """The names of all tables but those of the test."""
        query = "SELECT tablename FROM pg_tables WHERE schemaname !~ '^(pg_catalog|information_)'"
        listed = {name for (name,) in self.source.execute(query).fetchall()}
        return {name for name in listed if not name.startswith("people")}

    def clear(self):
        """Drops what tests have published."""
        for name in self.tables():
            self.source.execute(f'DROP TABLE "{name}"')


@contextlib.contextmanager
def opened(name):
    """One of them; skips with the reason where it cannot be started."""
    if name == "postgres":
        psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
        with postgres_folder() as (folder, _):
            address = f"host={folder} user=postgres dbname=postgres"
            with psycopg.connect(address, autocommit=True) as connection:
                yield Server(connection)
        return
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    with tempfile.TemporaryDirectory() as folder:
        if name == "sail":
            before = Path.cwd()
            with sail() as session:
                os.chdir(folder)
                try:
                    yield Session(name, session)
                finally:
                    os.chdir(before)
            return
        session = java(folder, cores=2)
        try:
            yield Session(name, session)
        finally:
            session.stop()


def in_duckdb(table, name="people"):
    """The same table in a database of DuckDB."""
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute(f'CREATE TABLE "{name}" AS FROM given')
    return connection
