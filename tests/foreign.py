"""Engines that SQL is executed on: PostgreSQL on a socket of its own, Spark, and Sail.

`rows` carries out printed statements; `take` and `answer` a query on the tables of a DuckDB.
"""

import atexit
import contextlib
import json
import shutil
import subprocess
import tempfile
from decimal import Decimal
from functools import cache
from pathlib import Path

import pyarrow
import pytest
from databases import quoted, tables_of
from servers import java, postgres_folder, sail, spark_of_java
from sqlglot import exp

from sqlanon.dialects import rewritten
from sqlanon.engine.base import render
from sqlanon.query.syntax import table
from sqlanon.sqltext import DIALECT


def schema(connection, name):
    """The columns of a table of DuckDB, with their types."""
    described = connection.execute(f"DESCRIBE {quoted(name)}").fetchall()
    return {
        column: exp.DataType.build(kind, dialect=DIALECT, udt=True)
        for column, kind, *_ in described
    }


@cache
def loaded(columns, rows, engine):
    """The statements that make a table `people`, whose columns are pairs of name and type."""
    columns = dict(columns)
    made = exp.Create(
        this=exp.Schema(
            this=table("people"),
            expressions=[
                exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=kind)
                for name, kind in columns.items()
            ],
        ),
        kind="TABLE",
    )
    values = [
        exp.Tuple(
            expressions=[
                exp.cast(exp.null() if value is None else exp.Literal.string(value), kind)
                for value, kind in zip(row, columns.values(), strict=True)
            ]
        )
        for row in rows
    ]
    filled = exp.Insert(this=table("people"), expression=exp.Values(expressions=values))
    return [render(rewritten(each, engine), engine) for each in (made, filled)]


class Postgres:
    """A server that listens on a socket in a folder of its own."""

    name = dialect = "postgres"

    def __init__(self, folder, binaries):
        self.folder, self.binaries = folder, binaries
        self._connection = None
        self._psql = shutil.which("psql") or str(binaries / "psql")

    def ask(self, text, database="texts"):
        """What the statements of a text answer, as lines."""
        words = [self._psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres"]
        done = subprocess.run(
            [*words, "-h", str(self.folder), "-d", database],
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n").split("\n")

    def rows(self, columns, rows, statements):
        """The published rows, from statements that publish a table `people` as `anonymized`."""
        texts = tuple(tuple(cell and cell.replace("(BC)", "BC") for cell in row) for row in rows)
        asked = [
            "SET client_min_messages = warning",
            'DROP TABLE IF EXISTS "people", "anonymized"',
            *loaded(columns, texts, self.name),
            *statements,
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'",
            'SELECT row_to_json("anonymized") FROM "anonymized"',
        ]
        tables, *lines = self.ask(";\n\n".join(asked) + ";")
        assert tables == "2"
        read = [json.loads(line, parse_int=str, parse_float=str) for line in lines]
        return [tuple(map(spelling, row.values())) for row in read]

    def take(self, connection, names=None):
        """Has the tables of a connection of DuckDB, in place of those before."""
        psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
        if self._connection is None:
            self._connection = psycopg.connect(
                host=str(self.folder), user="postgres", dbname="texts", autocommit=True
            )
        cursor = self._connection.cursor()
        cursor.execute("SET client_min_messages = warning")
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        for name in names or tables_of(connection):
            made = exp.Create(
                this=exp.Schema(
                    this=table(name),
                    expressions=[
                        _defined(column, kind) for column, kind in schema(connection, name).items()
                    ],
                ),
                kind="TABLE",
            )
            cursor.execute(render(rewritten(made, self.dialect), self.dialect))
            texts = f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {quoted(name)}"
            rows = [
                [cell and cell.replace("(BC)", "BC") for cell in row]
                for row in connection.execute(texts).fetchall()
            ]
            if rows:
                marks = ", ".join(["%s"] * len(rows[0]))
                cursor.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})".encode(), rows)

    def answer(self, text):
        """The rows of a query; none of a statement."""
        cursor = self._connection.execute(text.encode())
        return cursor.fetchall() if cursor.description else []

    def close(self):
        """Ends the connection."""
        if self._connection is not None:
            self._connection.close()


def _defined(column, kind):
    """A column of a table, whose texts are compared byte by byte."""
    result = exp.ColumnDef(this=exp.to_identifier(column, quoted=True), kind=kind)
    if kind.this in exp.DataType.TEXT_TYPES:
        order = exp.CollateColumnConstraint(this=exp.to_identifier("C", quoted=True))
        result.set("constraints", [exp.ColumnConstraint(kind=order)])
    return result


def spelling(value):
    """A value in one spelling, whichever engine it comes from."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value:f}"
    return None if value is None else str(value)


@contextlib.contextmanager
def postgres_server():
    """A server in a temporary folder, stopped on leaving; skips where there is none."""
    with postgres_folder() as (folder, binaries):
        server = Postgres(folder, binaries)
        server.ask("CREATE DATABASE texts;", "postgres")
        try:
            yield server
        finally:
            server.close()


class Spark:
    """A session on this machine, its tables in a folder of their own."""

    dialect = "spark"

    def __init__(self, session, name="spark"):
        self.session, self.name = session, name

    def take(self, connection, names=None):
        """Has the tables of a connection of DuckDB, those before of other names beside them."""
        from pyspark.sql.pandas.types import from_arrow_schema

        for name in names or tables_of(connection):
            rows = connection.sql(f"FROM {quoted(name)}").to_arrow_table()
            fields = [each.with_type(WIDER.get(str(each.type), each.type)) for each in rows.schema]
            rows = rows.cast(pyarrow.schema(fields))
            # Else times would be instants.
            types = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
            frame = self.session.createDataFrame(rows, types)
            frame.createOrReplaceTempView(name)

    def answer(self, text):
        """The rows of a query."""
        rows = self.session.sql(text).toArrow()
        return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))

    def rows(self, columns, rows, statements):
        """The published rows, from statements that publish a table `people` as `anonymized`."""
        for name in self._tables():
            self.session.sql(f"DROP TABLE `{name}`")
        for text in [*loaded(columns, rows, self.name), *statements]:
            self.session.sql(text)
        assert self._tables() == {"people", "anonymized"}
        return [tuple(map(spelling, row)) for row in self.session.table("anonymized").collect()]

    def _tables(self):
        return {row.tableName for row in self.session.sql("SHOW TABLES").collect()}


WIDER = {
    "uint8": pyarrow.int16(),
    "uint16": pyarrow.int32(),
    "uint32": pyarrow.int64(),
    "uint64": pyarrow.decimal128(20, 0),
}
"""The types that Spark lacks, and what holds their values."""


@contextlib.contextmanager
def sail_session():
    """A session of a server in this process; skips where there is none."""
    with sail() as session:
        yield Spark(session, "sail")


@contextlib.contextmanager
def spark_session():
    """A session with views of its own; skips where there is no pyspark or no Java.

    Its queries are interpreted: to compile one takes longer than it saves on a few rows.
    """
    session = _spark().newSession()
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield Spark(session)


@cache
def _spark():
    """Spark in Java, which ends with the process: whoever stopped it would stop it for all."""
    spark_of_java()  # else no folder would be needed
    # Beside the folder for temporary files, which tests look through.
    folder = tempfile.mkdtemp(prefix="spark", dir=Path(tempfile.gettempdir()).parent)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return java(folder, cores=1)


SERVERS = {"sail": sail_session, "spark": spark_session, "postgres": postgres_server}
"""Engines that queries are asked on, and how one is started; each skips where it is not there."""
