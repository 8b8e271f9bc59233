"""The program as a whole: start, help, errors, exit codes."""

import os
import pty
import signal
import subprocess
import sys
import time

import pytest
import typer

import sqlanon
from sqlanon.cli.main import commands

COMMANDS = ["demo", "check", "plan", "apply", "anonymize"]
HIERARCHY_COMMANDS = ["show", "check", "make", "load", "list", "drop"]
PROGRAM = [sys.executable, "-c", "from sqlanon.cli import app; app()"]


def start(*words, **how):
    return subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, check=False, **how)


def test_importing_the_program_imports_nothing_heavy():
    heavy = {"duckdb", "sqlglot", "numpy", "pyarrow", "pandas", "jinja2"}
    code = f"import sys, sqlanon.cli; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"


def test_version_is_that_of_the_package(run):
    from importlib.metadata import version

    assert run("--version").out == f"sqlanon {version('sqlanon')}\n"


@pytest.mark.parametrize("words", [["--help"], [], ["hierarchy"], ["hierarchy", "--help"]])
def test_help_lists_commands(run, words):
    outcome = run(*words)
    assert outcome.code == 0
    for name in HIERARCHY_COMMANDS if "hierarchy" in words else COMMANDS:
        assert f"\n  {name} " in outcome.out


@pytest.mark.parametrize(
    "words", [[name] for name in COMMANDS] + [["hierarchy", name] for name in HIERARCHY_COMMANDS]
)
def test_every_command_has_help_and_the_common_options(run, words):
    outcome = run(*words, "--help")
    assert outcome.code == 0
    common = ("--json", "--quiet", "--verbose", "--threads", "--memory-limit", "--temp-directory")
    assert [option for option in common if option not in outcome.out] == []


def test_every_option_is_explained():
    group = typer.main.get_command(commands)
    found = [*group.commands.values(), *group.commands["hierarchy"].commands.values()]
    unexplained = [
        (command.name, option.name)
        for command in found
        for option in command.params
        if not getattr(option, "help", None)
    ]
    assert unexplained == []


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["check"],
        ["check", "x.csv", "--nonsense"],
        ["check", "x.csv", "--k"],
        ["check", "x.csv", "--k", "many"],
        ["check", "x.csv", "t", "surplus"],
        ["plan", "x.csv", "--time-limit", "soon"],
        ["hierarchy", "nonsense"],
        ["hierarchy", "make", "x.csv"],
        ["demo", "--records", "many"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(refused, words):
    refused(*words)


@pytest.mark.parametrize(
    "option", ["--l", "--t", "--entity", "--candidates", "--beta", "--scheme", "--improve"]
)
def test_options_that_do_not_exist_yet_are_errors(refused, database, option):
    assert option in refused("plan", database, "--qi", "age", "--k", 2, option, "x")


def test_an_error_exits_with_its_own_code(run, monkeypatch):
    def fail(*_args, **_how):
        raise sqlanon.SqlanonError("a\nb\x1b[31m")

    monkeypatch.setattr(sqlanon, "check", fail)
    outcome = run("check", "x.csv")
    assert outcome.code == 2
    assert outcome.err == "sqlanon: error: a\\nb\\x1b[31m\n"


def test_a_bug_keeps_its_traceback_and_shows_no_value(run, monkeypatch):
    def fail(*_args, **_how):
        try:
            int("Alice Smith")
        except ValueError as error:
            raise KeyError("Bob Jones") from error

    monkeypatch.setattr(sqlanon, "check", fail)
    outcome = run("check", "x.csv", "--json")
    assert outcome.code == 3
    assert outcome.out == ""
    assert "Traceback" in outcome.err
    assert "ValueError" in outcome.err
    assert "KeyError" in outcome.err
    assert "in fail" in outcome.err
    assert outcome.err.endswith("please report it with the lines above\n")
    printed = [line for line in outcome.err.splitlines() if "Alice" in line or "Bob" in line]
    assert all(line.lstrip().startswith(("int(", "raise KeyError(")) for line in printed)


def test_a_bug_in_code_says_what_it_is(run, monkeypatch):
    monkeypatch.setattr(sqlanon, "check", lambda: None)
    outcome = run("check", "x.csv")
    assert outcome.code == 3
    assert "TypeError: " in outcome.err
    assert "positional argument" in outcome.err


def test_an_interrupt_is_exit_code_130(run, monkeypatch):
    def interrupt(*_args, **_how):
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlanon, "check", interrupt)
    outcome = run("check", "x.csv")
    assert outcome.code == 130
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1


def test_the_process_ends_with_the_exit_code(database):
    arguments = ("check", database, "--qi", "age", "--k")
    assert start(*arguments, 1).returncode == 0
    assert start(*arguments, 2).returncode == 1
    assert start(*arguments, 0).returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_ends_the_process_with_130(tmp_path):
    process = subprocess.Popen(
        [*PROGRAM, "demo", tmp_path / "demo", "--records", "30000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "demo" / "policy.toml").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out == b""
    assert b"Traceback" not in err


def test_a_reader_that_goes_away_is_no_error(database):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        result = subprocess.run(
            [*PROGRAM, "check", str(database), "--qi", "age", "--k", "2"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (result.returncode, result.stderr) == (1, b"")


def test_letters_that_the_terminal_lacks_are_escaped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Ünï\n1\n1\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    text = start("check", path, "--qi", "Ünï", env=environment)
    document = start("check", path, "--qi", "Ünï", "--json", env=environment)
    assert (text.returncode, document.returncode) == (0, 0)
    assert b"\\xdcn\\xef" in text.stdout
    assert b'"\\u00dcn\\u00ef"' in document.stdout


def on_terminal(words, answer=b""):
    """Runs the program with standard input and standard error on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, words)], stdin=theirs, stderr=theirs, stdout=subprocess.PIPE
    )
    os.close(theirs)
    os.write(ours, answer)
    out, _ = process.communicate(timeout=60)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:  # the other end of a terminal that is closed is an error on Linux
        pass
    os.close(ours)
    return process.returncode, out, said


def test_progress_is_shown_on_a_terminal_and_leaves_nothing(database):
    words = ["plan", database, "--qi", "age,sex", "--k", 2]
    code, out, said = on_terminal(words)
    assert code == 0
    assert b"nodes checked" in said
    assert said.endswith(b"\r\x1b[K")
    assert b"\x1b" not in out
    assert b"nodes checked" not in on_terminal([*words, "--quiet"])[2]
    assert b"nodes checked" not in start(*words).stderr


def test_in_place_asks_on_a_terminal(database):
    words = ["anonymize", database, "--qi", "age,sex", "--k", 2, "--others", "drop", "--in-place"]
    code, out, said = on_terminal(words, b"n\n")
    assert (code, out) == (2, b"")
    assert b"[y/N]" in said
    assert b"nothing was changed" in said
    assert start("check", database, "--qi", "age,sex", "--k", 2).returncode == 1
    assert on_terminal(words, b"y\n")[0] == 0
    assert start("check", database, "--qi", "age,sex", "--k", 2).returncode == 0
