"""Patterns and schemes on the command line and in the policy file."""

from __future__ import annotations

import duckdb
import pytest

pytestmark = pytest.mark.slow


def sexes(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute("SELECT DISTINCT age, sex FROM safe ORDER BY ALL").fetchall()


@pytest.fixture
def published(run, database):
    """Publishes as options or a policy file say, and returns the report."""

    def call(*words):
        words = ("--qi", "age,sex", "--others", "drop", "--k", "3", "--into", "safe", *words)
        outcome = run("anonymize", database, "people", "--overwrite", "--json", *words)
        assert outcome.code == 0, outcome
        return outcome.document

    return call


@pytest.mark.parametrize("method", ["pattern-greedy", "pattern-exact"])
@pytest.mark.parametrize("patterns", [["--patterns", "all"], ["--pattern", "sex"]])
def test_options_say_the_patterns(published, database, method, patterns):
    report = published("--method", method, *patterns)
    assert (report["method"], report["k"], report["classes"]) == (method, 5, 2)
    assert sexes(database) == [("*", "f"), ("*", "m")]


def test_a_pattern_may_keep_a_level(published):
    words = ("--hierarchy", "age=intervals:5,10", "--pattern", "age@1", "--pattern", "none")
    assert published("--method", "pattern-greedy", *words)["classes"] == 2


def test_rules_say_the_patterns(published):
    rules = ("--patterns", "at most 1 suppressed", "--patterns", "age never with sex")
    report = published("--method", "pattern-greedy", *rules)
    assert report["search"]["candidates"] == 2


@pytest.mark.parametrize(
    ("patterns", "candidates"), [('[["sex"], ["age", "sex"]]', 2), ('"all"', 4)]
)
def test_the_policy_file_says_the_patterns(published, tmp_path, patterns, candidates):
    file = tmp_path / "patterns.toml"
    file.write_text(f'method = "pattern-greedy"\npatterns = {patterns}\n')
    assert published("--policy", file)["search"]["candidates"] == candidates


def test_an_option_goes_before_the_patterns_of_the_policy_file(published, tmp_path):
    file = tmp_path / "patterns.toml"
    file.write_text('method = "pattern-greedy"\npatterns = "all"\n')
    report = published("--policy", file, "--pattern", "sex")
    assert report["search"]["candidates"] == 1


def test_another_method_leaves_the_patterns_of_the_policy_file_alone(published, tmp_path):
    file = tmp_path / "patterns.toml"
    file.write_text('patterns = "all"\n')
    assert published("--policy", file, "--method", "incognito")["method"] == "incognito"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "pattern-greedy"), "--pattern COLUMN"),
        (
            ("--method", "pattern-greedy", "--patterns", "all", "--pattern", "sex"),
            "--pattern and --patterns exclude each other",
        ),
        (("--patterns", "all"), "patterns belong to pattern-greedy"),
    ],
)
def test_patterns_that_cannot_be_are_one_line(refused, database, words, message):
    assert message in refused("plan", database, "--qi", "age,sex", "--k", "3", *words)


def test_options_say_the_published(published):
    words = ("--scheme", "sps", "--scheme", "age=gsps", "--hierarchy", "age=intervals:5")
    report = published("--method", "scheme", *words)
    assert report["scheme"] == {"age": "gsps", "sex": "sps"}
    assert report["holds"]
    assert [each["values"] for each in report["groups"]["sex"]] == [1, 1]


def test_the_policy_file_says_the_published(published, tmp_path):
    file = tmp_path / "schemes.toml"
    file.write_text('method = "scheme"\nscheme = { age = "sps", "" = "bhs" }\n')
    assert published("--policy", file)["scheme"] == {"age": "sps", "sex": "bhs"}
    assert published("--policy", file, "--scheme", "sps")["scheme"] == {"age": "ops", "sex": "sps"}


def test_the_policy_file_says_the_direction(published, tmp_path, refused, database):
    file = tmp_path / "schemes.toml"
    file.write_text('method = "scheme"\ndirection = "top-down"\n')
    assert published("--policy", file)["search"]["proven"]
    assert published("--policy", file, "--method", "incognito")["method"] == "incognito"
    file.write_text('method = "scheme"\ndirection = "sideways"\n')
    words = ("plan", database, "people", "--qi", "age", "--others", "drop", "--k", "3")
    assert "direction 'sideways' is not known" in refused(*words, "--policy", file)


def test_verbose_lists_no_steps(run, database):
    words = ("--qi", "age,sex", "--others", "drop", "--k", "3", "--method", "scheme", "--json")
    found = run("plan", database, "people", *words, "-v")
    assert found.document["search"]["less_flexible"]
    assert "checked" in found.err
    assert "less_flexible" not in found.err


def test_another_method_leaves_the_schemes_of_the_policy_file_alone(published, tmp_path):
    file = tmp_path / "schemes.toml"
    file.write_text('scheme = "sps"\n')
    report = published("--policy", file, "--method", "incognito")
    assert (report["scheme"], report["groups"]) == (None, None)


def test_a_release_in_groups_is_measured(run, published, database):
    report = published("--method", "scheme", "--scheme", "sps", "--order", "sex=f,m")
    words = ("--table", "people", "--qi", "age,sex", "--json")
    found = run("measure", database, "safe", *words)
    assert found.code == 0, found
    assert found.document["hdm"] == pytest.approx(report["loss"]["hdm"])
