"""An entity column: plan, anonymize and check count the same persons, and say so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from databases import tables_of

import sqlanon
from sqlanon import KAnonymity, Plan, Policy
from sqlanon.errors import PolicyError

# Four persons: 1 has three records in town, 2 has one there, 3 and 4 have two each outside.
ROWS = [("town", 1)] * 3 + [("town", 2)] + [("out", 3)] * 2 + [("out", 4)] * 2


POLICY = Policy(["place"], models=[KAnonymity(2)], entity="person")
KEPT = Policy(["place"], models=[KAnonymity(2)], entity="person", keep=["person"])


@pytest.fixture
def connection(connection):
    connection.execute("CREATE TABLE visits (place VARCHAR, person INTEGER)")
    connection.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
    return connection


def documents(connection, tmp_path):
    """What plan, a plan that was saved, anonymize and apply say of the published table."""
    plan = sqlanon.plan(connection, POLICY, table="visits")
    plan.save(tmp_path / "plan.json")
    stored = Plan.load(tmp_path / "plan.json")
    return [
        plan.to_dict(),
        stored.to_dict(),
        sqlanon.anonymize(connection, POLICY, table="visits", into="out").to_dict(),
        sqlanon.apply(connection, stored, into="again").to_dict(),
    ]


@pytest.mark.slow
def test_classes_risk_and_models_count_persons_wherever_they_are_told(connection, tmp_path):
    dropped = replace(POLICY, drop=["person"])
    checked = sqlanon.check(connection, dropped, table="visits").to_dict()
    for document in documents(connection, tmp_path):
        assert document["entity"] == checked["entity"] == "person"
        for key in ("k", "classes", "class_size", "unique_records", "risk", "models"):
            assert document[key] == checked[key]
        assert (document["k"], document["class_size"]["max"]) == (2, 2)
        assert document["models"][0]["value"] == 2


@pytest.mark.slow
def test_records_are_counted_beside_persons(connection, tmp_path):
    for document in documents(connection, tmp_path):
        assert (document["records"], document["published_records"]) == (8, 8)


def test_the_page_says_that_persons_are_counted(connection):
    pages = [
        sqlanon.plan(connection, POLICY, table="visits").to_text(),
        sqlanon.check(connection, KEPT, table="visits").to_text(),
    ]
    for page in pages:
        assert "  counted         persons by 'person'" in page
    without = Policy(["place"], drop=["person"], models=[KAnonymity(2)])
    assert "persons" not in sqlanon.plan(connection, without, table="visits").to_text()


def publications(connection, tmp_path):
    """Every way to publish a table under a policy that keeps the entity."""
    plan = replace(sqlanon.plan(connection, POLICY, table="visits"), policy=KEPT)
    return [
        lambda: sqlanon.plan(connection, KEPT, table="visits"),
        lambda: sqlanon.anonymize(connection, KEPT, table="visits", into="out"),
        lambda: sqlanon.apply(connection, plan, into="out"),
        lambda: plan.save(tmp_path / "plan.json"),
        plan.sql,
    ]


def test_an_entity_that_would_be_published_is_refused(connection, tmp_path):
    for publish in publications(connection, tmp_path):
        with pytest.raises(PolicyError, match=r"'person' is kept, .* --drop person"):
            publish()
    assert len(tables_of(connection)) == 1
