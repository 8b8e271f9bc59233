"""The command that lints a release, and findings of the commands that publish."""

import duckdb
import pytest

ROLES = ("--qi", "age,sex", "--sensitive", "diagnosis", "--k", "2")


@pytest.fixture
def release(tmp_path):
    """Twenty records with a kept column that numbers them, in a Parquet file with metadata."""
    path = tmp_path / "release.parquet"
    rows = (
        "SELECT '30-39' AS age, 'f' AS sex, 'illness ' || range % 3 AS diagnosis, range AS number "
        "FROM range(20) ORDER BY ALL"
    )
    duckdb.execute(f"COPY ({rows}) TO '{path}' (KV_METADATA {{source: 'secret'}})")
    return path


@pytest.mark.slow
def test_a_finding_as_grave_as_asked_for_fails(run, release, policy_file):
    line = ("lint", str(release), "--policy", str(policy_file))
    outcome = run(*line)
    assert outcome.code == 0, outcome
    assert "3 warnings, 1 info" in outcome.out
    assert "[unassigned-columns]" in outcome.out
    assert "secret" not in outcome.out + outcome.err
    assert run(*line, "--fail-on", "warning").code == 1
    assert run(*line, "--fail-on", "info").code == 1
    dropped = run(*line[:2], *ROLES, "--identifier", "number")
    assert (dropped.code, "[extra-columns]" in dropped.out) == (1, True)


def test_the_document_has_what_the_interface_says(run, release, policy_file):
    document = run("lint", str(release), "--policy", str(policy_file), "--json").document
    assert document["records"] == 20
    for each in document["findings"]:
        assert {"id", "severity", "column", "message", "remedy"} <= each.keys()
    told = {each["id"]: each["column"] for each in document["findings"]}
    assert told["index-column"] == "number"
    assert told["file-metadata"] is None


def test_a_severity_that_there_is_not_is_refused(refused, release):
    message = refused("lint", str(release), "--fail-on", "fatal")
    assert "--fail-on is error, warning, info, not 'fatal'" in message


def test_findings_of_what_is_published_are_told_once_and_infos_on_request(run, database, tmp_path):
    roles = ("--qi", "age,sex", "--keep", "name", "--drop", "diagnosis", "--k", "2")
    line = ("anonymize", str(database), *roles, "--hierarchy", "age=intervals:5,10")
    outcome = run(*line, "--output", str(tmp_path / "a.csv"))
    assert outcome.code == 0, outcome
    assert outcome.out.count("kept column 'name' has") == 1
    assert "warning: kept column 'name' has" in outcome.out
    document = run(*line, "--output", str(tmp_path / "b.csv"), "--json").document
    assert [each["id"] for each in document["findings"]] == ["kept-identifies"]
    planned = run("plan", *line[1:], "--json").document
    assert "findings" not in planned
    assert "note: kept column 'name' has" in run("plan", *line[1:]).out


@pytest.mark.slow
def test_infos_are_told_with_verbose_alone(run, release):
    line = ("check", str(release), *ROLES, "--released", "--identifier", "name")
    refused = run(*line)
    assert (refused.code, "'number'" in refused.err) == (1, True)  # a column without a role
    duckdb.execute(
        f"COPY (SELECT age, sex, diagnosis FROM '{release}') TO '{release}' "
        "(KV_METADATA {source: 'secret'})"
    )
    quiet, told = run(*line), run(*line, "-v")
    assert quiet.code == told.code == 0
    assert "metadata" not in quiet.out + quiet.err + told.out
    assert told.err.count("sqlanon: info: the file has 1 entry of metadata") == 1
