"""Patterns on the command line and in the policy file."""

from __future__ import annotations

import duckdb
import pytest


def sexes(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute("SELECT DISTINCT age, sex FROM safe ORDER BY ALL").fetchall()


@pytest.fixture
def by_patterns(run, database):
    """Publishes by patterns as options or a policy file say, and returns the report."""

    def call(*words):
        words = ("--qi", "age,sex", "--others", "drop", "--k", "3", "--into", "safe", *words)
        outcome = run("anonymize", database, "--overwrite", "--json", *words)
        assert outcome.code == 0, outcome
        return outcome.document

    return call


@pytest.mark.parametrize("method", ["pattern-greedy", "pattern-exact"])
@pytest.mark.parametrize("patterns", [["--patterns", "all"], ["--pattern", "sex"]])
def test_options_say_the_patterns(by_patterns, database, method, patterns):
    report = by_patterns("--method", method, *patterns)
    assert (report["method"], report["k"], report["classes"]) == (method, 5, 2)
    assert sexes(database) == [("*", "f"), ("*", "m")]


def test_a_pattern_may_keep_a_level(by_patterns):
    words = ("--hierarchy", "age=intervals:5,10", "--pattern", "age@1", "--pattern", "none")
    assert by_patterns("--method", "pattern-greedy", *words)["classes"] == 2


def test_rules_say_the_patterns(by_patterns):
    rules = ("--patterns", "at most 1 suppressed", "--patterns", "age never with sex")
    report = by_patterns("--method", "pattern-greedy", *rules)
    assert report["search"]["candidates"] == 2


@pytest.mark.parametrize(
    ("patterns", "candidates"), [('[["sex"], ["age", "sex"]]', 2), ('"all"', 4)]
)
def test_the_policy_file_says_the_patterns(by_patterns, tmp_path, patterns, candidates):
    file = tmp_path / "patterns.toml"
    file.write_text(f'method = "pattern-greedy"\npatterns = {patterns}\n')
    assert by_patterns("--policy", file)["search"]["candidates"] == candidates


def test_an_option_goes_before_the_patterns_of_the_policy_file(by_patterns, tmp_path):
    file = tmp_path / "patterns.toml"
    file.write_text('method = "pattern-greedy"\npatterns = "all"\n')
    report = by_patterns("--policy", file, "--pattern", "sex")
    assert report["search"]["candidates"] == 1


def test_another_method_leaves_the_patterns_of_the_policy_file_alone(by_patterns, tmp_path):
    file = tmp_path / "patterns.toml"
    file.write_text('patterns = "all"\n')
    assert by_patterns("--policy", file, "--method", "incognito")["method"] == "incognito"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "pattern-greedy"), "--pattern COLUMN"),
        (("--method", "pattern-greedy", "--pattern", "town"), "'town' is not a quasi-identifier"),
        (("--method", "pattern-greedy", "--patterns", "some"), "rule 'some' of patterns"),
        (
            ("--method", "pattern-greedy", "--patterns", "all", "--pattern", "sex"),
            "--pattern and --patterns exclude each other",
        ),
        (("--patterns", "all"), "patterns belong to pattern-greedy"),
    ],
)
def test_patterns_that_cannot_be_are_one_line(refused, database, words, message):
    assert message in refused("plan", database, "--qi", "age,sex", "--k", "3", *words)
