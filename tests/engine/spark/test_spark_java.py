"""The tests of this folder on Spark itself, through Spark Connect.

What is published by a classic session is tested with the other engines.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from spark_kind import KIND

pytestmark = pytest.mark.every_row


@pytest.mark.slow
@pytest.mark.skipif(KIND != "sail", reason="runs in the process of a test of this module")
@pytest.mark.parametrize(
    ("kind", "tests"), [("connect", "."), ("classic", "../test_releases_elsewhere.py")]
)
def test_java_everything_holds(kind, tests, tmp_path):
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--basetemp", str(tmp_path / "tests"), str(Path(__file__).parent / tests)],
        env={**os.environ, "SQLANON_SPARK": kind, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout
