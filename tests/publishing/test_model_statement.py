"""The statement of a plan with models: what it publishes, and that other engines can read it."""

from dataclasses import replace

import pytest
from databases import empty_database
from sqlglot import parse

import sqlanon
from sqlanon import (
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    QuasiIdentifier,
    Sensitive,
    TCloseness,
)
from sqlanon.reports.search import SearchFigures

# Nurses, clerks and bosses per ward. By the whole table some wards are too far from it; without
# them the next one is, and without that one another: b and d are left after three rounds.
WARDS = {"a": (4, 2, 0), "b": (1, 0, 1), "c": (1, 1, 1), "d": (4, 0, 4), "e": (2, 3, 0)}
AS_IT_IS = QuasiIdentifier(Hierarchy.suppression(), max_level=0)


@pytest.fixture
def connection():
    with empty_database() as opened:
        opened.execute("CREATE TABLE people (ward VARCHAR, job VARCHAR, person INTEGER)")
        for ward, counts in WARDS.items():
            for job, count in zip(("nurse", "clerk", "boss"), counts, strict=True):
                rows = [(ward, job, number) for number in range(count)]
                for row in rows:
                    opened.execute("INSERT INTO people VALUES (?, ?, ?)", row)
        yield opened


def policy_of(*models, **options):
    options = {"drop": ["person"], "suppression_limit": 0.6, **options}
    jobs = Hierarchy.from_rows([("nurse", "care", "*"), ("clerk", "x", "*"), ("boss", "x", "*")])
    sensitive = {"job": Sensitive(models, jobs)}
    return Policy({"ward": AS_IT_IS}, sensitive, models=[KAnonymity(2)], **options)


@pytest.mark.slow
def test_three_rounds_of_suppression_leave_what_is_close_to_itself(connection):
    policy = policy_of(TCloseness(0.25))
    report = sqlanon.anonymize(connection, policy, table="people", into="out")
    kept = connection.execute("SELECT ward, count(*) FROM out GROUP BY ward ORDER BY ward")
    assert kept.fetchall() == [("b", 2), ("d", 8)]
    assert report.search.rounds == 3
    assert sqlanon.check(connection, policy_of(TCloseness(0.25), drop=()), table="out").holds


@pytest.mark.slow
def test_rounds_are_part_of_the_plan_and_not_of_what_its_report_tells(connection, tmp_path):
    plan = sqlanon.plan(connection, policy_of(TCloseness(0.25)), table="people")
    assert plan.rounds == 3
    told = replace(plan, report=replace(plan.report, search=SearchFigures()))
    assert told.sql() == plan.sql() != replace(plan, rounds=2).sql()
    told.save(tmp_path / "plan.json")
    assert sqlanon.Plan.load(tmp_path / "plan.json").sql() == plan.sql()


POLICIES = [
    policy_of(TCloseness(0.25)),
    policy_of(LDiversity(1.8, "entropy"), TCloseness(0.2, "ordered")),
    policy_of(LDiversity(2, "recursive", 1.5), TCloseness(0.4, "hierarchical")),
    policy_of(LDiversity(2), TCloseness(0.35, "kl")),
    policy_of(LDiversity(2), TCloseness(0.2, "scaled")),
    policy_of(LDiversity(3), suppressed="keep", suppression_limit=0.9),
    policy_of(LDiversity(2), drop=(), entity="person"),
]
NAMES = ["rounds", "ordered", "hierarchical", "kl", "scaled", "keep", "entity"]


@pytest.mark.parametrize("policy", POLICIES, ids=NAMES)
def test_the_statement_shown_publishes_what_is_published(connection, policy):
    plan = sqlanon.plan(connection, policy, table="people")
    assert plan.report.suppressed_records
    sqlanon.apply(connection, plan, into="out")
    connection.execute(plan.sql(into="shown"))
    shown, out = (connection.execute(f"FROM {name}").fetchall() for name in ("shown", "out"))
    assert shown == out


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=NAMES)
def test_the_statements_are_plain_enough_for_spark(connection, policy):
    texts = sqlanon.plan(connection, policy, table="people").statements("spark")
    assert [len(parse(text, read="spark")) for text in texts] == [1] * len(texts)
