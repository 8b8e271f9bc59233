"""The method anytime: whole policies in blocks, in any number of processes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import duckdb
import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier, TCloseness
from sqlanon.deadline import NEVER
from sqlanon.methods.clustering import clusters

pytestmark = pytest.mark.slow

K, RECORDS = 3, 240
AGE = Hierarchy.intervals(4, 8, 16)
FLAT = Hierarchy.suppression()
POLICY = Policy({"age": AGE, "sex": FLAT, "zip": FLAT}, others="drop", models=[KAnonymity(K)])
POLICIES = {
    "k": POLICY,
    "limit": replace(POLICY, suppression_limit=0.1),
    "kept": replace(POLICY, suppression_limit=0.1, suppressed="keep"),
    "entity": replace(POLICY, entity="who"),
    "weights": replace(
        POLICY,
        quasi_identifiers={**POLICY.quasi_identifiers, "sex": QuasiIdentifier(FLAT, weight=9.0)},
    ),
    "levels": replace(
        POLICY,
        quasi_identifiers={**POLICY.quasi_identifiers, "age": QuasiIdentifier(AGE, max_level=2)},
        suppression_limit=0.2,
    ),
    "l": replace(POLICY, sensitive=["ill"], models=[KAnonymity(K), LDiversity(2)]),
    "t": replace(
        POLICY,
        sensitive=["ill"],
        models=[KAnonymity(K), TCloseness(0.5)],
        suppression_limit=0.1,
    ),
}


@pytest.fixture
def people():
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT i // 2 AS who, (hash(i, 1) % 60)::INTEGER AS age, "
        "(hash(i, 2) % 2)::INTEGER AS sex, (hash(i, 3) % 12)::INTEGER AS zip, "
        f"(hash(i, 4) % 4)::INTEGER AS ill FROM range({RECORDS}) AS r(i)"
    )
    yield connection
    connection.close()


def released(people, policy, **settings):
    """The report of a release, and its rows."""
    report = sqlanon.anonymize(
        people, policy, table="people", into="released", overwrite=True, **settings
    )
    return report, people.execute("SELECT * FROM released ORDER BY ALL").fetchall()


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in POLICIES if name != "k"]


@pytest.mark.parametrize("asked", ["k", *SLOW])
def test_blocks_keep_to_a_policy_and_lose_no_more_than_full_domain(people, asked, monkeypatch):
    policy = POLICIES[asked]
    least = sqlanon.plan(people, policy, table="people").report.loss["lm"]
    settings = {"method": "anytime", "block_records": 60, "passes": 4, "seed": 3}
    report, rows = released(people, policy, **settings)
    assert report.holds
    assert report.lower_bound <= report.loss["lm"] <= least + 1e-12
    assert report.suppressed_records <= policy.allowance(RECORDS)
    classes = Counter(row[:3] for row in rows)
    assert min(classes.values()) >= K
    if asked in ("k", "kept"):
        monkeypatch.setattr("sqlanon.methods.registry.Options.processes", 2)
        assert released(people, policy, **settings)[1] == rows


def test_blocks_that_are_asked_to_be_tiny_have_room_for_some_clusters(people, monkeypatch):
    """Else what every block takes by itself adds up, without end where each is a cluster."""
    asked, improve = [], clusters.improved_in_blocks

    def watched(task, *, most, **more):
        asked.append(most)
        return improve(task, most=most, **more)

    monkeypatch.setattr(clusters, "improved_in_blocks", watched)
    for records in (1, 10, 230):
        settings = {"method": "anytime", "block_records": records, "passes": 1}
        sqlanon.plan(people, POLICY, table="people", **settings)
    assert asked == [64 * K, 64 * K, 230]


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_refinement_that_a_share_of_the_time_ended_is_told_before_the_limit(
    people, is_cut, monkeypatch
):
    improve = clusters.improved_in_blocks
    monkeypatch.setattr(
        clusters, "improved_in_blocks", lambda *task, **more: (improve(*task, **more)[0], is_cut)
    )
    report = sqlanon.plan(
        people, POLICY, table="people", method="anytime", passes=1, time_limit=600
    ).report
    assert report.is_cut is is_cut
    assert any("time limit ended the refinement" in note for note in report.notes) is is_cut


@pytest.mark.parametrize("is_callers", [True, False])
def test_it_has_no_more_processes_than_the_database_has_threads(tmp_path, is_callers, monkeypatch):
    asked = []

    def watched(task, *, workers, **more):
        with workers(8, NEVER) as started:
            asked.append(len(started))
        return task.clusters, False

    monkeypatch.setattr(clusters, "improved_in_blocks", watched)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    path = tmp_path / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 60 AS age, i % 2 AS sex, i % 5 AS zip "
            f"FROM range({RECORDS}) AS r(i)"
        )
    for threads in (1, 3, 8):
        settings = {"table": "people", "method": "anytime"}
        if is_callers:
            with duckdb.connect(path, config={"threads": threads}) as connection:
                sqlanon.plan(connection, POLICY, **settings)
        else:
            sqlanon.plan(path, POLICY, **settings, threads=threads)
    # One would only wait for the other.
    assert asked == [0, 3, 4]


def test_it_loses_less_than_mondrian_and_less_the_longer_it_may_take(people):
    losses = [
        sqlanon.plan(people, POLICY, table="people", **settings).report.loss["lm"]
        for settings in (
            {"method": "mondrian"},
            {"method": "anytime", "passes": 1},
            {"method": "anytime", "passes": 60},
        )
    ]
    assert losses[0] > losses[1] > losses[2]


@pytest.mark.parametrize("rows", ["1, 2, 3", "0, 0, 0"])
def test_k_may_be_the_number_of_records(people, rows):
    people.execute("DELETE FROM people WHERE rowid > 2")
    people.execute(f"UPDATE people SET age = [{rows}][rowid + 1]")
    plan = sqlanon.plan(people, POLICY, table="people", method="anytime")
    assert plan.report.statistics.classes == 1
    assert plan.report.search.proven
