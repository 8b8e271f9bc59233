"""The gate: files that a data repository is about to let out are held against their policy."""

import subprocess
import sys
from pathlib import Path

import pytest

import sqlanon
from sqlanon.errors import ReleaseError

ROOT = Path(__file__).parent.parent.parent
POLICY = 'k = 2\nidentifiers = ["name"]\n[quasi_identifiers]\nage = {}\n'
FINE, UNIQUE, NAMED = "age\n1\n1\n2\n2\n", "age\n1\n2\n2\n", "age,name\n1,a\n1,b\n"
OTHER = "age,city\n1,a\n1,b\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data repository with its policy."""
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY)
    for name, text in {"fine": FINE, "unique": UNIQUE, "named": NAMED, "other": OTHER}.items():
        Path(f"{name}.csv").write_text(text)
    return tmp_path


def test_a_released_table_may_hold_nothing_that_its_policy_drops_or_does_not_know(folder, run):
    released = ("--released", "--policy", "policy.toml")
    assert run("check", "named.csv", "--policy", "policy.toml").code == 0
    assert run("check", "fine.csv", *released).code == 0
    outcome = run("check", "named.csv", *released)
    assert (outcome.code, outcome.err.count("1 column that the policy drops: 'name'")) == (1, 1)
    outcome = run("check", "other.csv", *released)
    assert (outcome.code, outcome.err.count("1 column without a role in the policy: 'city'")) == (
        1,
        1,
    )
    with pytest.raises(ReleaseError, match="'name'"):
        sqlanon.check("named.csv", "policy.toml", released=True)


def gate(*words):
    command = [sys.executable, "-c", "from sqlanon.cli.gate import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_hook_checks_every_file_and_tells_which_fails(folder):
    arguments = hook()["args"]
    outcome = gate(*arguments, "fine.csv", "unique.csv", "named.csv")
    assert outcome.returncode == 1
    assert "k-anonymity 2 does NOT hold" in outcome.stdout
    told = outcome.stderr.splitlines()
    assert [line for line in told if line.endswith(".csv:")] == [
        *("fine.csv:", "unique.csv:", "named.csv:")
    ]
    assert gate(*arguments, "fine.csv").returncode == 0
    assert gate(*arguments).returncode == 0
    assert gate("fine.csv").returncode == 2


def hook():
    """The one hook, as pre-commit reads it."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    [args] = [line for line in text.splitlines() if line.strip().startswith("args:")]
    words = args.partition("[")[2].rstrip("]").split(", ")
    return {"args": words}


def test_the_hook_calls_a_program_that_is_installed():
    from importlib.metadata import entry_points

    [found] = entry_points(group="console_scripts", name="sqlanon-gate")
    assert found.value == "sqlanon.cli.gate:main"
    assert "entry: sqlanon-gate\n" in (ROOT / ".pre-commit-hooks.yaml").read_text()
