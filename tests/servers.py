"""Servers that tests start, each in a folder of its own."""

import contextlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

QUICK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.adaptive.enabled": "false",
}
"""Settings of a Spark in Java for small tables, whose plans need no change while they run."""
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of its Java: what runs for a minute is compiled for longer than better code saves."""

MISSED = re.compile(r"^SKIPPED.*(?:could not import|is not installed|cannot be started).*", re.M)
"""What `pytest -rs` tells of a test that lacks a program or package, in these words alone."""


def spark_of_java():
    """pyspark.sql with a Spark of its own; skips where that or its Java is not installed."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if not (Path(sql.__file__).parents[1] / "jars").is_dir():
        pytest.skip("pyspark is not installed with its own Spark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed, which Spark runs in")
    return sql


@contextlib.contextmanager
def sail():
    """A session of Spark without Java, its server in this process; skips where there is none."""
    spark = pytest.importorskip("pysail.spark", reason="pysail is not installed")
    connect = pytest.importorskip(
        "pyspark.sql.connect.session", reason="pyspark[connect] is not installed"
    )
    os.environ["RUST_LOG"] = "off"
    server = spark.SparkConnectServer()
    server.start(background=True)
    try:
        address = f"sc://localhost:{server.listening_address[1]}"
        session = connect.SparkSession.builder.remote(address).create()
        try:
            yield session
        finally:
            session.stop()
    finally:
        server.stop()


def java(folder, *, cores):
    """A session of a Spark in Java, its tables in a folder; skips where that is not installed."""
    settings = {
        **QUICK,
        "spark.sql.warehouse.dir": folder,
        "spark.sql.shuffle.partitions": str(cores),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": JAVA,
    }
    builder = spark_of_java().SparkSession.builder.master(f"local[{cores}]")
    return builder.config(map=settings).getOrCreate()


@contextlib.contextmanager
def postgres_folder():
    """A server that listens in a temporary folder; skips where there is none.

    Yields the folder and that of PostgreSQL's programs.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    path = shutil.which("initdb")
    if not (found or path):
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    binaries = found[-1].parent if found else Path(path).parent
    user = "postgres" if os.geteuid() == 0 else None
    if user and user not in {each.pw_name for each in pwd.getpwall()}:
        pytest.skip(
            "PostgreSQL cannot be started here: there is no user postgres, and root may not"
        )
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
            yield folder, binaries
        finally:
            run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop")
