"""Runs that are killed, at every phase: what the next one finds of them and leaves."""

import json
import os
import signal
import subprocess
import sys

import duckdb
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and locks"),
]
RECORDS = 700_000
# Kills the process where a function is called for the first time, as `kill -9` would.
KILLED = """
import importlib, os, signal, sys
home, _, name = sys.argv[1].partition(":")
holder = importlib.import_module(home)
*owners, last = name.split(".")
for owner in owners:
    holder = getattr(holder, owner)
setattr(holder, last, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
from sqlanon.cli import app
app(sys.argv[2:])
"""
# Says where it is and waits for its end.
WAITING = KILLED.replace(
    "os.kill(os.getpid(), signal.SIGKILL)", "(print('here', flush=True), time.sleep(60))"
).replace("import importlib", "import time, importlib")
ENGINE = "sqlanon.engine.duckdb"


def write_people(path, records):
    duckdb.sql(f"""
        COPY (
            SELECT 'MARKER' || md5(range::VARCHAR) || md5((range + 1)::VARCHAR) AS name,
                range % 50 AS age, range % 2 AS sex
            FROM range({records})
        ) TO '{path}'
    """)
    return path


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A CSV file, most of which is names: more than the memory of the runs here holds."""
    return write_people(tmp_path_factory.mktemp("people") / "people.csv", RECORDS)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return write_people(tmp_path_factory.mktemp("few") / "people.csv", 5000)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder that is the system's temporary one, too, for the processes started here."""
    folder = tmp_path / "place"
    (folder / "tmp").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    return folder


def start(code, where, *words):
    return subprocess.Popen(
        [sys.executable, "-c", code, where, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kill_at(where, *words):
    process = start(KILLED, where, *words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, (out, err)


def run(*words):
    code = "from sqlanon.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done


def left(folder):
    """The files of ours that are not published, and how often a marker stands in them."""
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and any("sqlanon-" in part for part in path.relative_to(folder).parts)
    ]
    return files, sum(path.read_bytes().count(b"MARKER") for path in files)


def note(done):
    return json.loads(done.stdout)["notes"]


SEARCH = ("--qi", "age,sex", "--k", 5, "--others", "drop")
SMALL = ("--memory-limit", "40MB", "--threads", 1)
KEPT = ("--qi", "age,sex", "--k", 5, "--keep", "name")  # what is dropped is not loaded


@pytest.mark.parametrize(
    ("where", "given"),
    [(f"{ENGINE}.text_files:_late", True), ("sqlanon.publishing.planner:Plan", False)],
)
def test_spill_of_a_killed_run_is_removed_by_the_next(people, place, where, given):
    (place / "spill").mkdir()
    told = ("--temp-directory", place / "spill") if given else ()
    kill_at(where, "plan", people, *KEPT, *SMALL, *told)
    _, markers = left(place)
    assert markers > RECORDS // 10
    done = run("check", people, "--qi", "age", "--json", *told)
    assert left(place) == ([], 0)
    assert ["a killed run" in line for line in note(done)].count(True) == 1


@pytest.mark.parametrize("ending", [".csv", ".duckdb"])
def test_a_half_published_file_of_a_killed_run_is_removed_by_the_next(few, place, ending):
    output = place / f"out{ending}"
    words = ("anonymize", few, *SEARCH, "--keep", "name", "--output", output)
    kill_at(f"{ENGINE}.export:ExportedFile.publish", *words)
    files, markers = left(place)
    assert output.name in [path.name for path in files]
    assert markers or ending == ".duckdb"
    assert not output.exists()
    done = run(*words, "--json")
    assert left(place) == ([], 0)
    assert output.exists()
    assert any("a killed run" in line for line in note(done))


def database_of(people, place):
    path = place / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET force_compression = 'uncompressed'")
        connection.execute(f"CREATE TABLE people AS FROM '{people}'")
        connection.execute("CREATE TABLE others AS FROM people LIMIT 1000")
    return path


@pytest.mark.parametrize("step", ["_copy_rows", "_take_place"])
def test_the_copy_of_a_killed_rewrite_is_removed_by_the_next_run(few, place, step):
    path = database_of(few, place)
    words = ("anonymize", path, "people", *SEARCH, "--in-place", "--yes")
    before = path.read_bytes()
    kill_at(f"{ENGINE}.rewrite:{step}", *words)
    files, markers = left(place)
    assert path.name in [each.name for each in files]
    assert markers or step == "_copy_rows"
    assert path.read_bytes() == before
    assert any(
        "a killed run" in line
        for line in note(run("check", path, "people", "--qi", "age", "--json"))
    )
    assert left(place) == ([], 0)


def test_drafts_of_plans_and_hierarchies_of_a_killed_run_are_removed_by_the_next(few, place):
    made = ("hierarchy", "make", few, "--column", "name", "--hierarchy", "prefix:3")
    for words in (
        (*made, "--output", place / "a.csv"),
        ("plan", few, *SEARCH, "--save", place / "plan.json"),
    ):
        kill_at("sqlanon.engine.locked_folders:sync", *words)
        assert left(place)[0]
        assert not words[-1].exists()
        run(*words)
        assert left(place) == ([], 0)
        assert words[-1].stat().st_mode & 0o777 == 0o600


def test_the_spill_of_a_living_run_stays(people, place):
    process = start(WAITING, f"{ENGINE}.text_files:_late", "plan", people, *KEPT, *SMALL)
    try:
        assert process.stdout.readline() == b"here\n"
        before = left(place)
        assert before[1]
        told = note(run("check", people, "--qi", "age", "--json"))
        assert not any("a killed run" in line for line in told)
        assert left(place) == before
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_run_that_is_told_to_end_leaves_nothing(people, place, name):
    process = start(WAITING, f"{ENGINE}.text_files:_late", "plan", people, *KEPT, *SMALL)
    assert process.stdout.readline() == b"here\n"
    assert left(place)[1]
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert left(place) == ([], 0)
    assert list((place / "tmp").iterdir()) == []


def test_ctrl_c_ends_a_run_on_sail_and_leaves_nothing(few, place):
    """Its server is in the same process, and would end by the same signal."""
    pytest.importorskip("pysail", reason="pysail is not installed")
    (place / "people").mkdir()
    duckdb.sql(f"COPY (FROM '{few}') TO '{place}/people/0.parquet'")
    words = (place / "people", "--engine", "spark", "--remote", "sail", *SEARCH)
    process = start(WAITING, "sqlanon.publishing.planner:Plan", "plan", *words)
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, b"sqlanon: interrupted\n")
    assert left(place) == ([], 0)
