"""Examples: every help ends with some, and each of them works in the folder of the demo."""

import shlex
from functools import cache

import pytest
import typer

from sqlanon.cli.examples import EXAMPLES
from sqlanon.cli.main import program, status

WIDTH = 78
"""Most letters of a line of an example."""
# What takes longer than the demo's second, or asks on a terminal; both have tests of their own.
ASKING = ["init", "census.duckdb", "people", "--output", "asked.toml", "--ask"]


def commands(group=None, path=()):
    """Every command and group by the words that call it."""
    group = group or typer.main.get_command(program())
    yield " ".join(path), group
    for name, inner in getattr(group, "commands", {}).items():
        yield from commands(inner, (*path, name))


@cache
def known_commands():
    """Every command and group by the words that call it, made once."""
    return dict(commands())


def examples(name):
    """The words after `sqlanon` of each example of a command."""
    lines = EXAMPLES[name].replace("\\\n", "").splitlines()
    return [shlex.split(line)[1:] for line in lines if not line.startswith("#")]


def test_every_command_has_examples_that_are_its_own():
    assert known_commands().keys() == set(EXAMPLES)
    for name in EXAMPLES:
        assert examples(name)
        assert all(" ".join(words).startswith(name) for words in examples(name))


@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name or "sqlanon")
def test_the_help_ends_with_the_examples(run, name):
    out = run(*name.split(), "--help").out
    begin = out.index("Examples, in the folder that sqlanon demo makes:\n")
    lines = [line[2:] for line in out[begin:].rstrip().splitlines()[1:]]
    assert lines == EXAMPLES[name].splitlines()
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.every_row
@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name or "sqlanon")
def test_every_example_can_be_read(name):
    known = known_commands()
    for words in examples(name):
        length = 2 if words[0] == "hierarchy" else 1
        called = " ".join(words[:length])
        with known[called].make_context(called, words[length:]) as context:
            assert context.params


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a small demo, to work in; charts, which take longest, are not drawn."""
    monkeypatch.setattr("sqlanon.comparison.drawing.svg", lambda *_: "<svg/>")
    home = tmp_path / "sqlanon-demo"
    assert status(["demo", str(home), "--records", "200", "--quiet"]) == 0
    monkeypatch.chdir(home)
    return home


@pytest.mark.slow
def test_every_example_works(folder, capsys):
    pytest.importorskip("altair")
    for words in (each for name in EXAMPLES for each in examples(name)):
        if words[0] != "demo" and words != ASKING:
            assert status(words) == 0, (words, capsys.readouterr().err)
    capsys.readouterr()
    written = {"again.html", "draft.toml", "loss.html", "methods.html", "people.csv", "plan.json"}
    assert written < {each.name for each in folder.iterdir()}
