"""JSON documents: what they were made of and when, in every command."""

import json
import re
from datetime import datetime
from importlib.metadata import version

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, Sensitive

QI = ("--qi", "age,sex", "--k", "2")
HEAD = {"schema_version", "version", "created", "source", "policy", "hashes", "notes"}
COMMANDS = {
    "check": ("check", "small.duckdb", *QI),
    "plan": ("plan", "small.duckdb", *QI),
    "anonymize": ("anonymize", "small.duckdb", *QI, "--others", "drop", "--output", "o.csv"),
    "measure": ("measure", "small.duckdb", "people", "--qi", "age"),
    "mine": ("mine", "small.duckdb", *QI),
    "bound": ("bound", "small.duckdb", *QI),
    "lint": ("lint", "small.duckdb", *QI),
    "risk": ("risk", "small.duckdb", "--qi", "age,sex"),
    "rewrite": ("rewrite", "small.duckdb"),
    "hierarchy check": ("hierarchy", "check", "small.duckdb", "--hierarchy", "age=intervals:5"),
    "hierarchy load": ("hierarchy", "load", "small.duckdb", "h", "intervals:5"),
    "hierarchy list": ("hierarchy", "list", "small.duckdb"),
    "hierarchy make": (
        *("hierarchy", "make", "small.duckdb", "--column", "age"),
        *("--hierarchy", "intervals:5", "--output", "h.csv"),
    ),
    "hierarchy show": (
        *("hierarchy", "show", "intervals:5", "small.duckdb", "--column", "age"),
    ),
}  # fmt: skip


@pytest.fixture
def here(database, monkeypatch):
    monkeypatch.chdir(database.parent)
    return database.parent


@pytest.mark.every_row
@pytest.mark.parametrize("command", COMMANDS)
def test_every_document_says_what_it_was_made_of(run, here, command):
    outcome = run(*COMMANDS[command], "--json")
    assert outcome.code in (0, 1), outcome
    document = outcome.document
    assert document.keys() >= HEAD
    assert document["version"] == version("sqlanon")
    assert datetime.fromisoformat(document["created"]).utcoffset().total_seconds() == 0
    assert document["source"] == "small.duckdb"
    has_policy = command.split()[0] not in ("hierarchy", "rewrite")
    assert (document["policy"] is not None) is has_policy
    assert (document["hashes"]["policy"] is not None) is has_policy
    assert str(here) not in outcome.out


@pytest.mark.slow
def test_documents_are_the_same_but_for_their_times(run, here):
    def document():
        found = run(*COMMANDS["plan"], "--json").document
        return {name: found[name] for name in found if name not in ("created", "seconds")}

    assert document() == document()


@pytest.mark.slow
def test_the_digest_of_a_published_table_is_that_of_its_content(run, here):
    words = ("anonymize", "small.duckdb", "people", *QI, "--others", "drop")
    digests = [
        run(*words, "--into", into, "--json").document["hashes"]["output"] for into in ("a", "b")
    ]
    assert digests[0] == digests[1]
    assert re.fullmatch("[0-9a-f]{64}", digests[0])
    other = run(*words[:-1], "keep", "--into", "c", "--json").document["hashes"]["output"]
    assert other != digests[0]


@pytest.mark.slow
def test_the_digest_of_a_policy_tells_another_hierarchy_file(run, here):
    def digest(label):
        (here / "sex.csv").write_text(f"f;{label}\nm;{label}\n")
        words = ("--qi", "sex", "--hierarchy", "sex=sex.csv", "--k", 2, "--json")
        return run("plan", "small.duckdb", *words).document["hashes"]["policy"]

    assert digest("a") == digest("a") != digest("b")


def test_the_policy_of_a_document_holds_no_rows_and_no_values():
    policy = Policy(
        {"sex": Hierarchy.from_rows([("MARKf", "*"), ("MARKm", "*")], name="sex.csv")},
        sensitive={"illness": Sensitive(order=["MARKa", "MARKb"])},
        models=[KAnonymity(2)],
    )
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'MARKf' AS sex, 'MARKa' AS illness FROM range(4)"
        )
        report = sqlanon.check(connection, policy, table="t")
        told = report.to_dict()["policy"]
    assert "MARK" not in json.dumps(told)
    assert told["quasi_identifiers"]["sex"]["rows"] == 2
    assert told["sensitive"]["illness"]["order"] == 2
    assert report.to_dict()["source"] is None


@pytest.mark.slow
def test_a_saved_plan_keeps_when_and_of_what_it_was_made(run, here):
    made = run("plan", "small.duckdb", *QI, "--others", "drop", "--save", "p.json", "--json")
    plan = sqlanon.Plan.load("p.json")
    assert plan.to_dict() == made.document
    assert json.loads((here / "p.json").read_text())["version"] == version("sqlanon")
    applied = run("apply", "small.duckdb", "p.json", "--into", "out", "--json").document
    assert applied["hashes"]["source"] == made.document["hashes"]["source"]
    assert applied["hashes"]["policy"] == made.document["hashes"]["policy"]


@pytest.mark.slow
def test_the_digest_of_the_source_is_one_with_a_time_limit_and_without(run, here):
    words = ("anonymize", "small.duckdb", *QI, "--others", "drop", "--json", "--output")
    digests = [
        run(*words, "a.csv").document["hashes"]["source"],
        run(*words, "b.csv", "--time-limit", 100).document["hashes"]["source"],
        run("plan", "small.duckdb", *QI, "--others", "drop", "--json").document["hashes"]["source"],
    ]
    assert digests[0] is not None
    assert len(set(digests)) == 1
