"""Engines that printed SQL is executed on: PostgreSQL on a socket of its own, and Spark."""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import tempfile
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from sqlglot import exp

from sqlanon.engine.base import render
from sqlanon.query.publish.dialects import POSTGRES, SPARK, rewritten
from sqlanon.query.syntax import table

DIALECTS = {"postgres": POSTGRES, "spark": SPARK}


@cache
def loaded(columns, rows, engine):
    """The statements that make a table `people`, whose columns are pairs of name and type."""
    columns, dialect = dict(columns), DIALECTS[engine]
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
    return [render(rewritten(each, dialect), dialect.like) for each in (made, filled)]


class Postgres:
    """A server that listens on a socket in a folder of its own."""

    name = "postgres"

    def __init__(self, folder, binaries):
        self.folder, self.binaries = folder, binaries
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
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    path = shutil.which("initdb")
    if not (found or path):
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    binaries = found[-1].parent if found else Path(path).parent
    user = "postgres" if os.geteuid() == 0 else None
    if user and user not in {each.pw_name for each in pwd.getpwall()}:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)

        def run(*words):
            done = subprocess.run(words, user=user, cwd=folder, capture_output=True, check=False)
            if done.returncode:
                pytest.skip(f"PostgreSQL cannot be started here: {words[0]} fails")

        data = folder / "data"
        run(
            binaries / "initdb",
            "-D",
            data,
            "-E",
            "UTF8",
            "--locale-provider=icu",
            "--icu-locale=en-US",
            "--locale=C.UTF-8",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-N",
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        run(binaries / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start")
        try:
            server = Postgres(folder, binaries)
            server.ask("CREATE DATABASE texts;", "postgres")
            yield server
        finally:
            run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop")


class Spark:
    """A session on this machine, its tables in a folder of their own."""

    name = "spark"

    def __init__(self, session):
        self.session = session

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


@contextlib.contextmanager
def spark_session():
    """A session, stopped on leaving; skips where there is no pyspark or no Java."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed, which Spark runs in")
    with tempfile.TemporaryDirectory(prefix="spark") as folder:
        builder = sql.SparkSession.builder.master("local[1]")
        settings = {
            "spark.sql.warehouse.dir": folder,
            "spark.sql.shuffle.partitions": "1",
            "spark.ui.enabled": "false",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.log.level": "OFF",
            # What runs for a minute is compiled for longer than the better code saves.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        try:
            yield Spark(session)
        finally:
            session.stop()
