"""Examples: every help ends with some, and each of them works in the folder of the demo."""

import shlex

import pytest
import typer

from sqlanon.cli.examples import EXAMPLES, WIDTH, epilog, folded
from sqlanon.cli.main import program, status

pytestmark = pytest.mark.every_row
# What takes longer than the demo's second, or asks on a terminal; both have tests of their own.
LEFT_OUT = ("demo", "init census.duckdb people --output asked.toml --ask")


def commands(group=None, path=()):
    """Every command and group by the words that call it."""
    group = group or typer.main.get_command(program())
    yield " ".join(path), group
    for name, inner in getattr(group, "commands", {}).items():
        yield from commands(inner, (*path, name))


def test_every_command_has_examples_that_are_its_own():
    known = dict(commands())
    assert set(known) == set(EXAMPLES)
    for name, command in known.items():
        assert command.epilog == epilog(name)
        assert all(words.startswith(name) for _, words in EXAMPLES[name])


@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name or "sqlanon")
def test_the_help_ends_with_the_examples(run, name):
    out = run(*name.split(), "--help").out
    begin = out.index("Examples, in the folder that sqlanon demo makes:\n")
    assert [line[2:] for line in out[begin:].rstrip().splitlines()[1:]] == epilog(name).splitlines()
    assert max(map(len, epilog(name).splitlines())) <= WIDTH


def test_a_long_example_is_folded_as_a_shell_reads_it():
    words = EXAMPLES["plan"][2][1]
    assert folded(words).count("\\\n") > 0
    assert shlex.split(folded(words).replace("\\\n", "")) == ["sqlanon", *shlex.split(words)]


@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name or "sqlanon")
def test_every_example_can_be_read(name):
    known = dict(commands())
    for _, words in EXAMPLES[name]:
        given = shlex.split(words)
        length = 2 if given[0] == "hierarchy" else 1
        command = known[" ".join(given[:length])]
        with command.make_context(" ".join(given[:length]), given[length:]) as context:
            assert context.params


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a small demo, to work in; charts, which take longest, are not drawn."""
    monkeypatch.setattr("sqlanon.comparison.drawing.svg", lambda *_: "<svg/>")
    home = tmp_path / "sqlanon-demo"
    assert status(["demo", str(home), "--records", "500", "--quiet"]) == 0
    monkeypatch.chdir(home)
    return home


@pytest.mark.slow
def test_every_example_works(folder, capsys):
    pytest.importorskip("altair")
    for examples in EXAMPLES.values():
        for _, words in examples:
            if not words.startswith(LEFT_OUT):
                assert status(shlex.split(words)) == 0, (words, capsys.readouterr().err)
    capsys.readouterr()
    written = {"again.html", "draft.toml", "loss.html", "methods.html", "people.csv", "plan.json"}
    assert written < {each.name for each in folder.iterdir()}
