"""Examples: every help ends with some, and each of them works in the folder of the demo."""

import shlex

import pytest
import typer

from sqlanon.cli.examples import EXAMPLES, WIDTH, epilog, folded
from sqlanon.cli.main import program, status

pytestmark = pytest.mark.every_row
# The first example of these is carried out; others have tests of their own, and all are read.
QUICK = ("check", "plan", "apply", "mine", *(name for name in EXAMPLES if "hierarchy " in name))
# What an example needs, which another one leaves behind.
BEFORE = {"apply": ["plan census.duckdb people --policy policy.toml --save plan.json"]}


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a small demo."""
    home = tmp_path_factory.mktemp("examples")
    assert status(["demo", str(home / "sqlanon-demo"), "--records", "300", "--quiet"]) == 0
    return home / "sqlanon-demo"


@pytest.mark.slow
def test_the_first_example_works(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for name in QUICK:
        for words in [*BEFORE.get(name, ()), EXAMPLES[name][0][1]]:
            assert status(shlex.split(words)) == 0, (words, capsys.readouterr().err)
    capsys.readouterr()
