"""The program as a whole: start, help, errors, exit codes."""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import typer

import sqlanon
from sqlanon.cli import failures
from sqlanon.cli.main import program
from sqlanon.methods.registry import METHODS, OPTIONS, listed, owners_of
from sqlanon.policy.privacy import FAMILIES, TABLE_FAMILIES
from sqlanon.reports.document import SCHEMA_VERSION

COMMANDS = ["demo", "init", "check", "plan", "apply", "anonymize", "compare", "rewrite"]
HIERARCHY_COMMANDS = ["show", "check", "make", "load", "list", "drop"]
PROGRAM = [sys.executable, "-c", "from sqlanon.cli import app; app()"]


def start(*words, **how):
    return subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, check=False, **how)


def test_version_is_that_of_the_package(run):
    from importlib.metadata import version

    assert run("--version").out == f"sqlanon {version('sqlanon')}\n"


@pytest.mark.parametrize("words", [["--help"], [], ["hierarchy"], ["hierarchy", "--help"]])
def test_help_lists_commands(run, words):
    outcome = run(*words)
    assert outcome.code == 0
    for name in HIERARCHY_COMMANDS if "hierarchy" in words else COMMANDS:
        assert f"\n  {name} " in outcome.out


def test_the_list_of_commands_is_that_of_their_helps():
    group = typer.main.get_command(program())
    listed = typer.main.get_command(program([])).commands
    assert {name: each.get_short_help_str(99) for name, each in listed.items()} == {
        name: each.get_short_help_str(99) for name, each in group.commands.items()
    }


@pytest.mark.parametrize(
    "words", [[name] for name in COMMANDS] + [["hierarchy", name] for name in HIERARCHY_COMMANDS]
)
def test_every_command_has_help_and_the_common_options(run, words):
    outcome = run(*words, "--help")
    assert outcome.code == 0
    common = ("--json", "--quiet", "--verbose", "--threads", "--memory-limit", "--temp-directory")
    assert [option for option in common if option not in outcome.out] == []


def panels(said):
    """Per heading of a help page the options that it lists."""
    found, heading = {}, ""
    for line in said.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line[:-1]
        elif line.startswith("  -"):
            found.setdefault(heading, []).append(line.split()[0].strip(","))
    return found


def test_help_groups_options_by_purpose(run):
    owners = dict.fromkeys(tuple(owners_of(name)) for name in OPTIONS)
    own = [
        f"Only with {listed(names)}"
        if len(names) <= len(METHODS) / 2
        else f"Not with {listed([name for name in METHODS if name not in names])}"
        for names in owners
        if 0 < len(names) < len(METHODS)
    ]
    found = panels(run("anonymize", "--help").out)
    assert list(found) == [
        "Text files",
        "A database elsewhere",
        "Policy",
        "Generalization",
        "Privacy models",
        "Suppression",
        "Method",
        *own,
        "Target",
        "Output",
        "Resources",
    ]
    models = ["--" + name.replace("_", "-") for name in (*TABLE_FAMILIES, *FAMILIES)]
    assert found["Privacy models"] == ["--k", "--population", *models, "--nulls", "--order"]
    assert found["Suppression"] == ["--suppression-limit", "--suppressed", "--suppressed-label"]
    assert found["Method"] == ["--method", "--loss", "--time-limit"]
    assert found["Only with incognito"] == ["--minimal-nodes", "--alternatives"]
    assert found["Only with direct-cover"] == ["--suppress-uncovered"]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", ["anonymize", "measure"])
def test_help_fits_the_terminal(run, monkeypatch, columns, command):
    monkeypatch.setenv("COLUMNS", str(columns))
    widest = max(map(len, run(command, "--help").out.splitlines()))
    assert columns - 20 < widest <= columns


def test_help_loads_nothing_heavy():
    heavy = {"rich", "duckdb", "sqlglot", "numpy", "pyarrow", "pandas", "jinja2"}
    code = (
        "import sys; from sqlanon.cli.main import status; status(['plan', '--help']); "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.endswith(b"\n[]\n")


@pytest.mark.parametrize("command", ["check", "plan"])
def test_what_judges_and_plans_loads_no_dialect(tmp_path, command):
    """To load what reads and writes one takes longer than to ask."""
    (tmp_path / "people.csv").write_text("age,sex\n31,f\n31,f\n")
    (tmp_path / "age.csv").write_text("31;30-39;*\n32;30-39;*\n")
    policy = {"k": 2, "others": "drop", "quasi_identifiers": {"age": {"file": "age.csv"}}}
    code = (
        "import sys, sqlglot, sqlanon; dialects = lambda: {m for m in sys.modules if 'glot' in m}; "
        f"before = dialects(); sqlanon.{command}('people.csv', {policy}); "
        "print({name for name in dialects() - before if 'duckdb' in name})"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert result.stdout == b"set()\n"


def test_every_option_is_explained():
    group = typer.main.get_command(program())
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


def test_an_error_exits_with_its_own_code(run, monkeypatch):
    def fail(*_args, **_how):
        raise sqlanon.SqlanonError("a\nb\x1b[31m")

    monkeypatch.setattr(sqlanon, "check", fail)
    outcome = run("check", "x.csv")
    assert outcome.code == 2
    assert outcome.err == "sqlanon: error: a\\nb\\x1b[31m\n"


def test_the_version_of_a_failed_run_is_that_of_the_package():
    assert importlib.metadata.version("sqlanon") == failures.VERSION


def test_a_bug_keeps_its_traceback_and_shows_no_value(run, monkeypatch):
    def fail(*_args, **_how):
        try:
            int("Alice Smith")
        except ValueError as error:
            raise KeyError("Bob Jones") from error

    monkeypatch.setattr(sqlanon, "check", fail)
    outcome = run("check", "x.csv", "--json")
    assert outcome.code == 3
    document = outcome.document
    assert document.pop("created")
    assert document == {
        "schema_version": SCHEMA_VERSION,
        "version": failures.VERSION,
        "error": {"kind": "Bug", "message": "this is a bug of sqlanon; standard error says where"},
        "exit_code": 3,
    }
    assert "Traceback" in outcome.err
    assert "ValueError" in outcome.err
    assert "KeyError" in outcome.err
    assert "in fail" in outcome.err
    assert outcome.err.endswith("please report it with the lines above\n")
    printed = [line for line in outcome.err.splitlines() if "Alice" in line or "Bob" in line]
    assert all(line.lstrip().startswith(("int(", "raise KeyError(")) for line in printed)


def test_a_bug_in_code_says_what_it_is(run, monkeypatch):
    monkeypatch.setattr(sqlanon, "check", lambda **_: None)
    outcome = run("check", "x.csv")
    assert outcome.code == 3
    assert "TypeError: " in outcome.err
    assert "positional argument" in outcome.err


class Interrupting:
    """Interrupts the making of the class that it is an attribute of."""

    def __set_name__(self, owner, name):
        raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["a call", "a class"])
def test_an_interrupt_is_exit_code_130(run, monkeypatch, moment):
    def interrupt(*_args, **_how):
        if moment == "a class":
            type("Made", (), {"it": Interrupting()})
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlanon, "check", interrupt)
    outcome = run("check", "x.csv", "--json")
    assert outcome.code == 130
    assert outcome.err == "sqlanon: interrupted\n"
    assert outcome.document["error"] == {"kind": "Interrupted", "message": "interrupted"}


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["check", "x.csv", "--qi", "age", "--weight", "2"], "SourceError", "x.csv"),
        (["check"], "UsageError", "Missing argument 'SOURCE'"),
        (["nonsense"], "UsageError", "No such command 'nonsense'"),
        (["check", "x.csv", "-q", "-v"], "PolicyError", "--quiet and --verbose contradict"),
    ],
)
def test_an_error_is_one_document_too_where_json_is_asked_for(run, words, kind, message):
    outcome = run(*words, "--json")
    assert outcome.code == 2
    assert outcome.err.startswith("sqlanon: error: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    document = outcome.document
    assert outcome.err == f"sqlanon: error: {document['error']['message']}\n"
    assert document["error"]["kind"] == kind
    assert (document["schema_version"], document["exit_code"]) == (SCHEMA_VERSION, 2)


def test_no_document_is_printed_where_json_is_a_word_of_its_own(run):
    assert run("check", "--", "--json").out == ""


def test_the_document_of_an_early_interrupt_is_that_of_any(monkeypatch):
    monkeypatch.setattr(failures, "_now", lambda: "now")
    told = dict(failures.LeaveAtOnce(["check", "--json"]).messages)
    assert told == {
        1: failures.document("Interrupted", "interrupted", code=130) + "\n",
        2: "sqlanon: interrupted\n",
    }
    assert dict(failures.LeaveAtOnce(["check"]).messages) == {2: "sqlanon: interrupted\n"}


SLOW_START = """
import os, signal, sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "sqlanon.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
from sqlanon.cli import app
app()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_ctrl_c_while_the_program_is_loaded_ends_it_with_130(words):
    command = [sys.executable, "-c", SLOW_START, "check", "x.csv", *words]
    result = subprocess.run(command, capture_output=True, check=False, timeout=30)
    assert (result.returncode, result.stderr) == (130, b"sqlanon: interrupted\n")
    if words:
        assert json.loads(result.stdout)["error"]["kind"] == "Interrupted"
    else:
        assert result.stdout == b""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_signal_that_is_ignored_stays_ignored(name):
    code = f"import signal; signal.signal(signal.{name}, signal.SIG_IGN); " + (
        "import os, sqlanon.cli.main as m, sqlanon.cli as c; "
        f"m.status = lambda words: os.kill(os.getpid(), signal.{name}) or 7; c.app([])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (7, b"")


PRINTING = [
    ["--help"],
    ["--version"],
    ["hierarchy"],
    ["check", "--help"],
    ["check", "DATABASE", "--qi", "age"],
    ["check", "DATABASE", "--qi", "age", "--json"],
]


@pytest.fixture
def words(request, database):
    return [str(database) if word == "DATABASE" else word for word in request.param]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("words", PRINTING, indirect=True)
def test_a_full_standard_output_is_one_line_and_exit_code_2(words):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        result = subprocess.run(
            [*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert result.returncode == 2
    assert result.stderr.startswith(b"sqlanon: error: standard output cannot be written: No space")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("words", PRINTING, indirect=True)
def test_a_closed_standard_output_is_one_line_and_exit_code_2(words):
    result = closing(">&-", words)
    assert result.returncode == 2
    assert result.stderr.startswith(b"sqlanon: error: standard output cannot be written: ")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("streams", ["2>&-", "<&-", ">&- 2>&- <&-", "2>/dev/full"])
def test_messages_that_nobody_can_read_change_no_exit_code(database, streams):
    words = ["check", database, "--qi", "age", "--k", 2, "--quiet"]
    assert closing(streams, words).returncode == 1
    assert closing(streams, [*words[:-2], 0]).returncode == 2


def closing(streams, words):
    """Runs the program under a shell that closes streams."""
    command = ["sh", "-c", f'"$@" {streams}', "sh", *PROGRAM, *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("words", PRINTING, indirect=True)
def test_a_reader_of_anything_may_go_away(words):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        result = subprocess.run(
            [*PROGRAM, *words], stdout=closed, stderr=subprocess.PIPE, check=False
        )
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.slow
def test_notes_are_told_unless_quiet(run, database, policy_file):
    words = ["check", database, "--policy", policy_file, "--qi", "sex"]
    assert run(*words).err == (
        "sqlanon: note: --qi takes the place of quasi_identifiers in the policy file; "
        "1 column is set aside: 'age'\n"
    )
    assert run(*words, "--quiet").err == ""
    assert run(*words, "--json").document["holds"]


@pytest.mark.slow
def test_the_process_ends_with_the_exit_code(database):
    arguments = ("check", database, "--qi", "age", "--k")
    assert start(*arguments, 1).returncode == 0
    assert start(*arguments, 2).returncode == 1
    assert start(*arguments, 0).returncode == 2


@pytest.mark.slow
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


@pytest.mark.slow
def test_letters_that_the_terminal_lacks_are_escaped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Ünï\n1\n1\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    text = start("check", path, "--qi", "Ünï", env=environment)
    document = start("check", path, "--qi", "Ünï", "--json", env=environment)
    assert (text.returncode, document.returncode) == (0, 0)
    assert b"\\xdcn\\xef" in text.stdout
    assert b'"\\u00dcn\\u00ef"' in document.stdout
