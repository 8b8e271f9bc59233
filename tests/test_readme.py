"""Everything that README.md shows works as shown."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from sqlanon.cli.main import status

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def blocks(language):
    """The fenced blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands():
    """The commands shown, without the prompt."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ ")]


def carried_out():
    """Exit codes of the commands, in order, by the name of the command."""
    codes = {}
    first, second, *others = commands()
    assert (first, second) == ("source .venv/bin/activate", "cd sqlanon-demo")
    for command in others:
        program, *arguments = shlex.split(command)
        if program == "cp":
            shutil.copy(*arguments)
        else:
            assert program == "sqlanon"
            codes.setdefault(arguments[0], []).append(status(arguments))
    return codes


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo, of fewer records than it has where nothing is said, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "sqlanon-demo"
    assert status(["demo", str(folder), "--records", "600", "--quiet"]) == 0
    return folder


@pytest.fixture
def folder(demo, tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    shutil.copytree(demo, tmp_path / "sqlanon-demo")
    monkeypatch.chdir(tmp_path / "sqlanon-demo")
    return tmp_path / "sqlanon-demo"


def test_there_are_examples_of_each_kind():
    assert len(commands()) >= 5
    assert len(blocks("python")) == 1


@pytest.mark.slow
def test_commands_run_as_shown(folder, capsys):
    codes = carried_out()
    assert "bug" not in capsys.readouterr().err
    assert codes.pop("check") == [1]
    assert {code for each in codes.values() for code in each} == {0}
    assert (folder / "anonymous.parquet").exists()
    # What follows meets the folder as these commands leave it.
    [example], [policy] = blocks("python"), blocks("toml")
    exec(compile(example, "README.md", "exec"), {})
    Path("shown.toml").write_text(policy)
    arguments = ["census.duckdb", "people", "--policy", "shown.toml"]
    assert status(["plan", *arguments, "--quiet"]) == 0


@pytest.mark.slow
def test_the_policy_file_works_as_shown(folder):
    [policy] = blocks("toml")
    Path("shown.toml").write_text(policy)
    arguments = ["census.duckdb", "people", "--policy", "shown.toml"]
    assert status(["anonymize", *arguments, "--into", "shown", "--quiet"]) == 0
    assert status(["check", "census.duckdb", "shown", "--policy", "shown.toml"]) == 0


@pytest.mark.slow
def test_the_python_example_runs_as_shown(folder, capsys):
    [example] = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    assert "CREATE TABLE" in capsys.readouterr().out


def test_the_set_up_is_two_commands_of_one_line():
    indented = [line.strip() for line in README.splitlines() if line.startswith("    python3")]
    assert len(indented) == 2
    assert indented[0].endswith("sqlanon demo")
    assert indented[1].endswith("-m pytest")
