"""The demo: from nothing to a summary that a newcomer understands."""

import shlex
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.errors import SourceError

FILES = {
    "census.duckdb",
    "policy.toml",
    "report.html",
    "marital_status.csv",
    "education.csv",
    "occupation.csv",
    "citizenship.csv",
}
SMALL = ["--records", 3000]
FEW = ["--records", 100]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a demo's folder"


@pytest.mark.slow
def test_demo_makes_a_folder_with_everything(run, folder):
    outcome = run("demo", folder, *SMALL)
    assert (outcome.code, outcome.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == FILES
    assert "satisfies its policy" in (folder / "report.html").read_text()
    assert "report.html: open it" in " ".join(outcome.out.split())
    assert folder.name not in (folder / "report.html").read_text()
    for part in ("3,000 made-up people", "before → after", "people who are unique", "Try next:"):
        assert part in outcome.out
    assert max(map(len, outcome.out.split("Try next:")[0].splitlines())) <= 100


@pytest.mark.slow
def test_what_the_demo_published_satisfies_its_policy_and_the_commands_to_try_next_work(
    run, folder
):
    document = run("demo", folder, *SMALL, "--json").document
    assert document["holds"]
    assert document["original"]["k"] == 1
    assert document["published"]["k"] >= 5
    assert document["records"] == 3000
    with duckdb.connect(document["database"], read_only=True) as connection:
        policy = Path(document["policy"])
        local = sqlanon.plan(connection, policy, table="people", method="mondrian")
    assert document["local"] == {"method": "mondrian", "loss": local.report.loss["lm"]}
    assert document["local"]["loss"] < document["anonymize"]["loss"]["lm"]
    with duckdb.connect(document["database"], read_only=True) as connection:
        names = [row[0] for row in connection.execute("DESCRIBE people_anonymous").fetchall()]
    assert not {"person_id", "name", "birth_date"} & set(names)
    codes = [run(*shlex.split(command)[1:]).code for command in document["commands"]]
    assert codes == [1, 0, 0, 0, 0]
    findings = [each["id"] for each in document["anonymize"]["findings"]]
    assert findings == ["original-beside"]
    lint = ("lint", document["database"], "people_anonymous", "--policy", document["policy"])
    found = run(*lint, "--against", "people", "--json").document["findings"]
    assert [(each["id"], each["severity"]) for each in found] == [
        ("catalogue", "warning"),
        ("original-beside", "info"),
    ]
    file = str(folder / "people.parquet")
    publish = ("anonymize", document["database"], "people", "--policy", document["policy"])
    assert run(*publish, "--output", file).code == 0
    beside = ("--against", document["database"], "--against-table", "people")
    assert run("lint", file, *lint[3:], *beside, "--json").document["findings"] == []


@pytest.mark.slow
def test_demo_leaves_a_folder_in_use_alone(run, refused, folder):
    folder.mkdir()
    (folder / "policy.toml").write_text("precious")
    assert "--overwrite" in refused("demo", folder, *FEW)
    assert [path.name for path in folder.iterdir()] == ["policy.toml"]
    assert run("demo", folder, *FEW, "--overwrite").code == 0
    (folder / "mine.txt").write_text("precious")
    assert run("demo", folder, *FEW, "--overwrite", "--seed", 1).code == 0
    assert (folder / "mine.txt").read_text() == "precious"


@pytest.mark.slow
def test_demo_in_the_working_directory_needs_no_argument(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("demo", *FEW, "-q").out == ""
    assert (tmp_path / "sqlanon-demo" / "policy.toml").exists()


def test_demo_refuses_what_cannot_be(refused, folder, tmp_path):
    assert "records" in refused("demo", folder, "--records", -1)
    assert not folder.exists()
    (tmp_path / "file").write_text("")
    refused("demo", tmp_path / "file", *FEW)


def test_demo_of_too_few_people_is_one_line(refused, folder):
    for few in (0, 3, 4):
        assert "fewer than 5 people" in refused("demo", folder, "--records", few)
    assert not folder.exists()


@pytest.mark.slow
def test_a_demo_that_fails_leaves_nothing(run, folder, monkeypatch):
    def broken(*_, **__):
        raise SourceError("no room")

    monkeypatch.setattr("sqlanon.demo.demo.anonymize", broken)
    assert run("demo", folder, "--records", 50).code == 2
    assert not folder.exists()
