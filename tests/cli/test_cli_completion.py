"""Completion in shells: what a shell is told for the words so far."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from sqlanon.cli.completion import ASKED, SHELLS
from sqlanon.methods.registry import METHODS

COLUMNS = ["age", "sex", "zip_code"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("completed")
    with duckdb.connect(str(home / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, zip_code VARCHAR)")
        connection.execute("CREATE TABLE places (zip_code VARCHAR)")
    (home / "people.csv").write_text('age,sex,zip_code,"two words"\n1,f,2,3\n')
    (home / "policy.toml").write_text("k = 2\n")
    return home


@pytest.fixture
def completed(run, folder, monkeypatch):
    """What bash is told for a line, of which the last word is being written."""
    monkeypatch.chdir(folder)

    def ask(line):
        words = line.split(" ")
        monkeypatch.setenv(ASKED, "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        outcome = run()
        assert (outcome.code, outcome.err) == (0, "")
        return outcome.out.split()

    return ask


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sqlanon pl", ["plan"]),
        ("sqlanon hierarchy l", ["load", "list"]),
        ("sqlanon plan people.csv --min", ["--min-level", "--minimal-nodes"]),
        ("sqlanon plan people.csv --method mon", ["mondrian"]),
        ("sqlanon compare people.csv --methods forest,mon", ["forest,mondrian"]),
        ("sqlanon plan people.csv --loss tr", ["tree"]),
        ("sqlanon plan people.csv --others ", ["keep", "drop"]),
        ("sqlanon plan people.csv --l en", ["entropy:"]),
        ("sqlanon plan people.csv --sweep su", ["suppression_limit="]),
        ("sqlanon plan people.csv --scheme o", ["ops"]),
        ("sqlanon check people.duckdb ", ["people", "places"]),
        ("sqlanon lint people.duckdb pl", ["places"]),
        ("sqlanon verify people.duckdb it.json --table pl", ["places"]),
        ("sqlanon check people.duckdb people --qi ", COLUMNS),
        ("sqlanon check people.duckdb places --qi ", ["zip_code"]),
        ("sqlanon check people.csv --qi age,", ["age,sex", "age,zip_code"]),
        ("sqlanon plan people.csv --weight a", ["age="]),
        ("sqlanon plan people.csv --class-mean a", ["age"]),
        ("sqlanon lint people.csv --profile h", ["hipaa-safe-harbor"]),
        ("sqlanon measure people.csv people.csv --class-attribute s", ["sex"]),
        ("sqlanon measure people.duckdb pe", ["people"]),
        ("sqlanon report people.duckdb people --released pl", ["places"]),
        ("sqlanon risk people.duckdb people --population pe", ["people"]),
        ("sqlanon report people.csv --released peo", []),
        # Names of files are for the shell.
        ("sqlanon plan people.csv --policy po", []),
        ("sqlanon apply people.duckdb pla", []),
        ("sqlanon check peo", []),
        # Nothing is said of what cannot be opened.
        ("sqlanon check nothing.csv --qi ", []),
        ("sqlanon check policy.toml ", []),
        ("sqlanon plan --qi ", []),
    ],
)
def test_words_that_fit_are_told(completed, line, words):
    assert completed(line) == words


@pytest.mark.slow
@pytest.mark.parametrize("width", ["80", None])
def test_what_fish_is_told_of_a_word_is_one_line(run, folder, monkeypatch, width):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv(ASKED, "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "sqlanon plan people.csv --method ")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    words = [line.split("\t")[0] for line in run().out.splitlines()]
    assert sorted(words) == sorted(["auto", *METHODS])
    assert os.environ.get("COLUMNS") == width


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_names_the_program(run, shell):
    outcome = run("--show-completion", shell)
    assert outcome.code == 0
    assert "sqlanon" in outcome.out
    assert ASKED in outcome.out


@pytest.mark.slow
def test_an_unknown_shell_is_refused(run):
    outcome = run("--show-completion", "tcsh")
    assert outcome.code == 2
    assert "choose one of bash, zsh, fish, powershell" in outcome.err


def test_completion_is_installed_for_new_terminals(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    outcome = run("--install-completion", "bash")
    assert outcome.code == 0
    [script] = [path for path in tmp_path.rglob("*") if path.name == "sqlanon.sh"]
    assert str(script) in outcome.out
    assert ASKED in script.read_text()


@pytest.mark.slow
def test_bash_completes_by_the_script(folder):
    program = Path(sys.executable).with_name("sqlanon")
    if not program.exists():
        pytest.skip("the program is not installed beside Python")
    asked = (
        'eval "$(sqlanon --show-completion bash)"; COMP_WORDS=(sqlanon che); COMP_CWORD=1; '
        '_sqlanon_completion sqlanon; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f'PATH="{program.parent}:$PATH"; {asked}'],
        capture_output=True,
        check=True,
        cwd=folder,
    )
    assert done.stdout == b"check\n"
