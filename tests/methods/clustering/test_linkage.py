"""Methods that compare all records: bounds, guarantees, refusals and options, end to end."""

from __future__ import annotations

import random

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import PolicyError
from sqlanon.methods.clustering import forest

LINKAGES = {"forest": forest}
NAMES = ["age", "zip", "sex"]


def policy_of(k, *models, sensitive=(), **more):
    return Policy(
        quasi_identifiers={
            "age": Hierarchy.intervals(10, 40),
            "zip": Hierarchy.prefix(2, 1),
            "sex": Hierarchy.suppression(),
        },
        sensitive=sensitive,
        models=[KAnonymity(k), *models],
        **({} if sensitive else {"drop": ["ill"]}),
        **more,
    )


@pytest.fixture(scope="module")
def people():
    chance = random.Random(7)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age INTEGER, zip TEXT, sex TEXT, ill TEXT)")
    rows = [
        (chance.randrange(20, 80), str(chance.choice([101, 117, 203, 209])), chance.choice("fm"),
         chance.choice(["flu", "gout", "none"]))
        for _ in range(60)
    ]  # fmt: skip
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    yield connection
    connection.close()


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("refine", [False, True])
def test_what_is_published_has_k_records_alike_and_loses_no_less_than_its_bound(
    people, method, refine
):
    policy = policy_of(4)
    report = sqlanon.anonymize(
        people, "people", policy, method=method, refine=refine, into="released", overwrite=True
    )
    sizes = people.execute(
        f"SELECT count(*) FROM released GROUP BY {', '.join(NAMES)}"
    ).fetchall()  # fmt: skip
    assert min(size for (size,) in sizes) >= 4
    assert sum(size for (size,) in sizes) == 60
    assert 0 < report.lower_bound <= report.loss["lm"] < 1
    assert sqlanon.bound(people, "people", policy).lower_bound <= report.loss["lm"]
    assert "candidates" not in sqlanon.plan(people, "people", policy, method=method).to_text()


@pytest.mark.parametrize("method", LINKAGES)
def test_clusters_of_near_records_satisfy_models_of_sensitive_columns(people, method):
    policy = policy_of(3, LDiversity(2, "entropy"), sensitive=["ill"])
    report = sqlanon.anonymize(
        people, "people", policy, method=method, into="released", overwrite=True
    )
    assert report.holds
    assert sqlanon.check(people, "released", policy).holds
    assert not any("at most" in note for note in report.notes)


@pytest.mark.parametrize(("method", "home"), LINKAGES.items())
def test_more_combinations_than_can_be_compared_are_refused_but_not_blocks_of_them(
    people, method, home, monkeypatch
):
    monkeypatch.setattr(home, "MOST", 40)
    with pytest.raises(PolicyError, match=rf"{method} compares .* Use mondrian or direct-cover"):
        sqlanon.plan(people, "people", policy_of(3), method=method)
    plan = sqlanon.plan(people, "people", policy_of(3), method=method, block_records=40)
    assert plan.report.search["blocks"] > 1


@pytest.mark.parametrize(("k", "told"), [(4, ["= 9 times"]), (1, [])])
def test_the_guarantee_of_a_forest_is_told_where_there_is_one(people, k, told):
    notes = sqlanon.plan(people, "people", policy_of(k), method="forest").report.notes
    found = [note for note in notes if "forest loses at most 3 (k - 1)" in note]
    assert len(found) == len(told)
    assert all(text in note for text, note in zip(told, found, strict=True))
