"""The gate: files that a data repository is about to let out are held against their policy."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sqlanon
from sqlanon.cli.gate import main
from sqlanon.engine import endings
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


@pytest.mark.slow
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


def test_a_released_column_may_be_spelt_like_the_entity_that_is_not_released(tmp_path):
    release = tmp_path / "release.csv"
    release.write_text("user_ip,age\n*,1\n*,1\n")
    policy = sqlanon.Policy(["user_ip", "age"], entity="user_id", models=[sqlanon.KAnonymity(2)])
    report = sqlanon.check(release, policy, released=True)
    assert report.holds
    assert any("the table has no column 'user_id'" in note for note in report.notes)
    assert "k-anonymity of records 2 holds" in report.to_text()


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


def test_the_gate_tells_how_it_is_called(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sqlanon-gate", "--help"])
    main()
    assert "sqlanon-gate --policy policy.toml -- release.csv" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["sqlanon-gate"])
    with pytest.raises(SystemExit):
        main()
    assert "see sqlanon-gate --help" in capsys.readouterr().err


def hook():
    """The one hook, as pre-commit reads it."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    lines = dict(re.findall(r"^  (\w+): +(.+(?:\n    .*)*)$", text, re.MULTILINE))
    folded = {name: " ".join(value.removeprefix(">-").split()) for name, value in lines.items()}
    return folded | {"args": folded["args"].strip("[]").split(", ")}


def test_the_hook_calls_a_program_that_is_installed():
    from importlib.metadata import entry_points

    [found] = entry_points(group="console_scripts", name="sqlanon-gate")
    assert found.value == "sqlanon.cli.gate:main"
    assert hook()["entry"] == "sqlanon-gate"


def test_the_hook_takes_every_ending_that_is_read():
    read = (endings.CSV, endings.JSON, endings.ARROW, endings.PARQUET, endings.DATABASE)
    known_endings = frozenset().union(*read)
    known = re.search(r"\(([a-z|]+)\)", hook()["files"])[1]
    assert {f".{name}" for name in known.split("|")} == known_endings
    for ending in known_endings:
        for name in (f"a/people{ending}", f"PEOPLE{ending.upper()}", f"people{ending}.gz"):
            assert re.search(hook()["files"], name)
            assert not re.search(hook()["exclude"], name)
    assert not re.search(hook()["files"], "csv.py")


def test_the_hook_leaves_settings_of_programs_alone():
    settings = (
        *("package.json", "web/package-lock.json", "tsconfig.json", "tsconfig.build.json"),
        *(".vscode/settings.json", "requirements.txt", "requirements-dev.txt", "CMakeLists.txt"),
    )
    tables = ("my-package.json", "packages.json", "vscode/a.json", "requirements.csv", "txt/a.txt")
    assert all(re.search(hook()["exclude"], name) for name in settings)
    assert not any(re.search(hook()["exclude"], name) for name in tables)
