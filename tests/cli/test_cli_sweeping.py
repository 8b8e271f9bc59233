"""The command plan with --sweep and --alternatives."""

import pytest

from sqlanon.cli.comparing import SWEPT
from sqlanon.policy.varied import VARIED

ROLES = ("--qi", "age,zip", "--others", "drop")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{20 + number},{1000 + number // 3}" for number in range(24)]
    path.write_text("\n".join(["age,zip", *rows]) + "\n")
    return path


def test_a_sweep_shows_the_loss_at_every_point(run, table):
    words = ["plan", table, *ROLES, "--hierarchy", "age=intervals:4,8", "--sweep", "k=2,3"]
    outcome = run(*words, "--sweep", "suppression_limit=0,0.5")
    assert outcome.code == 0
    assert "people.csv, 24 records: incognito, 4 of 4 points done" in outcome.out
    document = run(*words, "--json").document
    assert [point["asked"] for point in document["points"]] == [{"k": 2}, {"k": 3}]
    assert [point["k"] >= point["asked"]["k"] for point in document["points"]] == [True, True]


def test_a_sweep_that_nothing_satisfies_exits_with_1(run, table):
    outcome = run("plan", table, *ROLES, "--max-level", "age=0", "--sweep", "k=2,3")
    assert outcome.code == 1
    assert "0 of 2 points done" in outcome.out


@pytest.mark.slow
def test_charts_of_a_sweep_are_written_where_they_are_asked_for(run, table, tmp_path):
    pytest.importorskip("altair")
    words = ["plan", table, *ROLES, "--sweep", "k=2,3", "--chart", tmp_path / "k.svg"]
    (tmp_path / "k.svg").write_text("mine")
    refused = run(*words)
    assert refused.code == 2
    assert "exists already" in refused.err
    assert run(*words, "--overwrite").code == 0
    assert (tmp_path / "k.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sweep", "k"], "--sweep 'k' must be KEY=VALUE"),
        (["--sweep", "k=2", "--sweep", "k=3"], "--sweep names k twice"),
        (["--sweep", "k=2", "--sql"], "--sql is about one plan"),
        (["--sweep", "k=2", "--save", "p.json", "--preview", "3"], "--save and --preview are"),
        (
            ["--sweep", "k=2", "--alternatives", "--minimal-nodes"],
            "--alternatives and --minimal-nodes are about one plan",
        ),
        (["--chart", "x.svg", "--k", "2"], "--chart and --overwrite belong to --sweep"),
        (["--sweep", "j=2"], "'j' is not a figure of a policy"),
    ],
)
def test_what_a_sweep_cannot_do_is_refused(run, table, words, message):
    outcome = run("plan", table, *ROLES, *words)
    assert outcome.code == 2
    assert message in outcome.err


def test_the_help_names_every_figure_that_can_be_swept():
    assert tuple(VARIED) == SWEPT
