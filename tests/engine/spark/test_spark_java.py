"""The tests of this folder on Spark itself, through Spark Connect.

What is published by a classic session is tested with the other engines; what a cluster does that
loses a machine, here.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest
from servers import JAVA, MISSED, spark_of_java
from spark_kind import KIND, SETTINGS

import sqlanon

pytestmark = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.skipif(KIND != "sail", reason="runs in the process of a test of this module")
@pytest.mark.parametrize(
    ("kind", "tests"),
    [
        ("connect", ["."]),
        ("classic", ["../test_releases_elsewhere.py"]),
    ],
)
def test_tests_of_spark_pass_in_java_and_lack_nothing(kind, tests, tmp_path):
    spark_of_java()
    command = [sys.executable, "-m", "pytest", "-rs", "-n", "0", "-p", "no:cacheprovider"]
    paths = [str(Path(__file__).parent / path) for path in tests]
    done = subprocess.run(
        [*command, "--basetemp", str(tmp_path / "tests"), *paths],
        env={**os.environ, "SQLANON_SPARK": kind, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ passed", done.stdout), done.stdout
    assert MISSED.findall(done.stdout) == []


POLICY = {"k": 3, "quasi_identifiers": {"age": "intervals:5,10,20", "sex": {}}}
PEOPLE = """
    CREATE TABLE people AS
    SELECT i * 7 % 40 AS age, if(i % 3 = 0, 'f', 'm') AS sex FROM range(1_000_000) AS numbers (i)
"""
KILLED = """
    import json, os, signal, subprocess, sys, threading, time
    import pyspark
    from pyspark.sql import SparkSession
    import sqlanon

    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    for name, value in {settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    ended = list()

    def executors():
        # However wide the terminal is said to be, whole.
        command = ["ps", "-ww", "-eo", "pid,args"]
        listed = subprocess.run(command, capture_output=True, text=True).stdout
        mark = f"--app-id {session.sparkContext.applicationId}"
        return [int(line.split()[0]) for line in listed.splitlines() if mark in line]

    def kill(running):
        ended.append(running[0])
        os.kill(ended[-1], signal.SIGKILL)

    def kill_while_counting():
        tracker, lost = session.sparkContext.statusTracker(), 0
        while not lost:
            running = executors()
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            # Each executor has one task, so whichever is killed loses one, unless it is quicker.
            both = [stage.stageId for stage in stages if stage and stage.numActiveTasks == 2]
            if both and len(running) == 2:
                kill(running)
                while both[0] in tracker.getActiveStageIds():
                    time.sleep(0.01)
                lost = tracker.getStageInfo(both[0]).numFailedTasks

    counting = threading.Thread(target=kill_while_counting, daemon=True)
    counting.start()

    def kill_before_publishing(*_):
        # The driver does not know yet that its next tasks go to a dead process.
        counting.join(60)
        assert not counting.is_alive(), "no task was lost"
        while not (running := executors()):
            time.sleep(0.01)
        kill(running)

    report = sqlanon.anonymize(
        session, {policy}, table="./people", into="./out", confirm=kill_before_publishing
    )
    assert len(set(ended)) >= 2, ended
    print(json.dumps(dict(report.levels)))
"""


@pytest.mark.slow
@pytest.mark.skipif(KIND != "sail", reason="runs a Spark of its own")
def test_an_executor_that_is_killed_at_a_task_changes_nothing(tmp_path):
    """While the table is counted; and another one just before it is published."""
    spark_of_java()
    connection = duckdb.connect()
    connection.execute(PEOPLE)
    (tmp_path / "people").mkdir()
    for part in range(2):
        rows = f"SELECT * FROM people WHERE age % 2 = {part}"
        connection.execute(f"COPY ({rows}) TO '{tmp_path}/people/{part}.parquet'")
    expected = sqlanon.anonymize(connection, POLICY, table="people", into="out")
    settings = {**SETTINGS, "spark.executor.memory": "512m"}
    settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    settings["spark.ui.liveUpdate.period"] = "0"  # the tasks that run are told as they begin
    program = textwrap.dedent(KILLED).replace("{settings}", repr(settings))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program.replace("{policy}", repr(POLICY))],
        cwd=tmp_path,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": JAVA},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == dict(expected.levels)
    released = connection.sql(f"FROM '{tmp_path}/out/*.parquet' ORDER BY ALL").fetchall()
    assert released == connection.sql("FROM out ORDER BY ALL").fetchall()
