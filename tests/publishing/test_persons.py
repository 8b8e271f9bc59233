"""An entity column: plan, anonymize and check count the same persons, and say so."""

from __future__ import annotations

import duckdb
import pytest

import sqlanon
from sqlanon import KAnonymity, Plan, Policy

# Four persons: 1 has three records in town, 2 has one there, 3 and 4 have two each outside.
ROWS = [("town", 1)] * 3 + [("town", 2)] + [("out", 3)] * 2 + [("out", 4)] * 2


def policy_of(*, kept: bool) -> Policy:
    roles = {"keep": ["person"]} if kept else {}
    return Policy(["place"], models=[KAnonymity(2)], entity="person", **roles)


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE visits (place VARCHAR, person INTEGER)")
        opened.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
        yield opened


def documents(connection, tmp_path, *, kept):
    """What plan, a plan that was saved, anonymize and apply say of the published table."""
    policy = policy_of(kept=kept)
    plan = sqlanon.plan(connection, "visits", policy)
    plan.save(tmp_path / "plan.json")
    stored = Plan.load(tmp_path / "plan.json")
    return [
        plan.to_dict(),
        stored.to_dict(),
        sqlanon.anonymize(connection, "visits", policy, into="out").to_dict(),
        sqlanon.apply(connection, stored, into="again").to_dict(),
    ]


@pytest.mark.parametrize("kept", [True, False])
def test_classes_risk_and_models_count_persons_wherever_they_are_told(connection, tmp_path, kept):
    checked = sqlanon.check(connection, "visits", policy_of(kept=kept)).to_dict()
    for document in documents(connection, tmp_path, kept=kept):
        assert document["entity"] == checked["entity"] == "person"
        for key in ("k", "classes", "class_size", "unique_records", "risk", "models"):
            assert document[key] == checked[key]
        assert (document["k"], document["class_size"]["max"]) == (2, 2)
        assert document["models"][0]["value"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_records_are_counted_beside_persons(connection, tmp_path, kept):
    for document in documents(connection, tmp_path, kept=kept):
        assert (document["records"], document["published_records"]) == (8, 8)


def test_the_page_says_that_persons_are_counted(connection):
    policy = policy_of(kept=True)
    pages = [
        sqlanon.plan(connection, "visits", policy).to_text(),
        sqlanon.check(connection, "visits", policy).to_text(),
    ]
    for page in pages:
        assert "  counted         persons by 'person'" in page
    without = Policy(["place"], drop=["person"], models=[KAnonymity(2)])
    assert "persons" not in sqlanon.plan(connection, "visits", without).to_text()
