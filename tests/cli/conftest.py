"""Running the program inside the test process, and small tables for it."""

import json
import signal
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from sqlanon.cli.main import status

FIXTURES = Path(__file__).parents[2] / "fixtures"


@dataclass(frozen=True)
class Outcome:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        """Standard output as the one strict JSON document that it must be."""

        def refuse(constant):
            raise ValueError(constant)

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heeded():
    """Under nohup, or in the background of a shell, programs started here would ignore signals."""
    ignored = [
        each
        for each in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT))
        if signal.getsignal(each) is signal.SIG_IGN
    ]
    for each in ignored:
        signal.signal(each, signal.SIG_DFL)
    yield
    for each in ignored:
        signal.signal(each, signal.SIG_IGN)


@pytest.fixture
def run(capsys):
    """Runs the program in this process."""

    def call(*words):
        capsys.readouterr()
        code = status([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def refused(run):
    """Runs a command that must end with exit code 2 and one line, and returns the line."""

    def call(*words):
        outcome = run(*words)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.startswith("sqlanon: error: ")
        assert outcome.err.count("\n") == 1
        return outcome.err

    return call


@pytest.fixture
def patients():
    return FIXTURES / "patients.csv"


@pytest.fixture
def database(tmp_path):
    """Ten records, each of another age."""
    path = tmp_path / "small.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            CREATE TABLE people AS
            SELECT
                'person ' || range AS name,
                CAST(30 + range AS INTEGER) AS age,
                CASE WHEN range % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
                'illness ' || range % 3 AS diagnosis
            FROM range(10)
        """)
    return path


@pytest.fixture
def policy_file(tmp_path):
    """A policy for the database that leaves no column without a role."""
    path = tmp_path / "policy.toml"
    path.write_text("""
        k = 2
        suppression_limit = 0.5
        loss = "precision"
        identifiers = ["name"]

        [quasi_identifiers]
        age = { intervals = [5, 10], weight = 2.0 }
        sex = {}

        [sensitive]
        diagnosis = {}
    """)
    return path
