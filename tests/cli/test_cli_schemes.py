"""Schemes on the command line and in the policy file."""

from __future__ import annotations

import pytest


@pytest.fixture
def schemes(run, database):
    """Publishes by schemes as options or a policy file say, and returns the report."""

    def call(*words):
        words = ("--qi", "age,sex", "--others", "drop", "--k", "3", "--into", "safe", *words)
        outcome = run("anonymize", database, "people", "--overwrite", "--json", *words)
        assert outcome.code == 0, outcome
        return outcome.document

    return call


def test_options_say_the_schemes(schemes):
    words = ("--scheme", "sps", "--scheme", "age=gsps", "--hierarchy", "age=intervals:5")
    report = schemes("--method", "scheme", *words)
    assert report["scheme"] == {"age": "gsps", "sex": "sps"}
    assert report["holds"]
    assert [each["values"] for each in report["groups"]["sex"]] == [1, 1]


@pytest.mark.slow
def test_the_policy_file_says_the_schemes(schemes, tmp_path):
    file = tmp_path / "schemes.toml"
    file.write_text('method = "scheme"\nscheme = { age = "sps", "" = "bhs" }\n')
    assert schemes("--policy", file)["scheme"] == {"age": "sps", "sex": "bhs"}
    assert schemes("--policy", file, "--scheme", "sps")["scheme"] == {"age": "ops", "sex": "sps"}


@pytest.mark.slow
def test_the_policy_file_says_the_direction(schemes, tmp_path, refused, database):
    file = tmp_path / "schemes.toml"
    file.write_text('method = "scheme"\ndirection = "top-down"\n')
    assert schemes("--policy", file)["search"]["proven"]
    assert schemes("--policy", file, "--method", "incognito")["method"] == "incognito"
    file.write_text('method = "scheme"\ndirection = "sideways"\n')
    words = ("plan", database, "people", "--qi", "age", "--others", "drop", "--k", "3")
    assert "direction 'sideways' is not known" in refused(*words, "--policy", file)


def test_verbose_lists_no_steps(run, database):
    words = ("--qi", "age,sex", "--others", "drop", "--k", "3", "--method", "scheme", "--json")
    found = run("plan", database, "people", *words, "-v")
    assert found.document["search"]["less_flexible"]
    assert "checked" in found.err
    assert "less_flexible" not in found.err


def test_another_method_leaves_the_schemes_of_the_policy_file_alone(schemes, tmp_path):
    file = tmp_path / "schemes.toml"
    file.write_text('scheme = "sps"\n')
    report = schemes("--policy", file, "--method", "incognito")
    assert (report["scheme"], report["groups"]) == (None, None)


@pytest.mark.slow
def test_a_release_in_groups_is_measured(run, schemes, database):
    report = schemes("--method", "scheme", "--scheme", "sps", "--order", "sex=f,m")
    words = ("--table", "people", "--qi", "age,sex", "--json")
    found = run("measure", database, "safe", *words)
    assert found.code == 0, found
    assert found.document["hdm"] == pytest.approx(report["loss"]["hdm"])
