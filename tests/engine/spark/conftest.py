"""One session for all tests of a process: Sail's, or the one that SQLANON_SPARK names."""

import os
import sys
import warnings

import pytest
from servers import JAVA, sail, spark_of_java
from spark_kind import IS_SAIL, KIND, SETTINGS

from sqlanon.engine.spark.calls import Calls
from sqlanon.engine.spark.remote import SparkRemote


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    """Open for all tests; its tables lie in a folder of theirs."""
    home = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        yield from on_sail() if IS_SAIL else on_java(home, patch)


def on_sail():
    """Spark without Java, in this process."""
    with sail() as session:
        session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        yield session


def on_java(home, patch):
    """Spark on this machine, whose executors import what this process does."""
    sql = spark_of_java()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("JDK_JAVA_OPTIONS", JAVA)
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    builder = sql.SparkSession.builder
    builder = builder.remote("local[2]") if KIND == "connect" else builder.master("local[2]")
    # To compile a query of a few rows takes longer than it saves.
    own = {"spark.sql.codegen.wholeStage": "false", "spark.sql.warehouse.dir": str(home / "tables")}
    builder = builder.config(map={**SETTINGS, **own})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of versions of pandas
        session = builder.getOrCreate()
    session.sql("SELECT count(*) FROM range(9) GROUP BY id % 2").toArrow()  # a cold one is slow
    yield session
    session.stop()


@pytest.fixture
def calls(session):
    return Calls(session)


@pytest.fixture
def remote(session):
    """As it is opened by default."""
    opened = SparkRemote(session)
    yield opened
    opened.close()
