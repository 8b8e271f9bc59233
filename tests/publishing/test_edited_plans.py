"""Plans that were changed by hand: refused, or held to their policy by what they publish."""

import json
from dataclasses import replace
from functools import cache

import pytest
from databases import empty_database, tables_of
from edits import edit

import sqlanon
from sqlanon import (
    Hierarchy,
    KAnonymity,
    LDiversity,
    Plan,
    Policy,
    QuasiIdentifier,
    SqlanonError,
    TCloseness,
)
from sqlanon.errors import PolicyError, SourceError, StalePlanError, VerificationError
from sqlanon.publishing.promises import DIGEST

pytestmark = pytest.mark.slow

POLICY = Policy(
    {"age": Hierarchy.intervals(5, 10), "sex": QuasiIdentifier(Hierarchy.suppression())},
    sensitive=["ill"],
    drop=["person", "note"],
    models=[KAnonymity(4), LDiversity(2), TCloseness(0.9)],
    suppression_limit=0.2,
)


# A hundred records, of which some are suppressed, and fifty persons.
PEOPLE = """
    CREATE TABLE people AS
    SELECT CASE WHEN i < 5 THEN 80 + 5 * i ELSE 20 + i % 10 END AS age,
           i % 2 = 0 AS sex, 'd' || (i * 7) % 5 AS ill, i // 2 AS person,
           'n' || i AS note
    FROM range(100) AS r(i)
"""


@pytest.fixture
def connection(connection):
    connection.execute(PEOPLE)
    return connection


@cache
def planned():
    """The plan of the policy, which is the same in every test."""
    with empty_database() as opened:
        opened.execute(PEOPLE)
        return sqlanon.plan(opened, POLICY, table="people")


def saved(connection, tmp_path, policy=POLICY):
    """The file of a plan, and what it holds."""
    file = tmp_path / "plan.json"
    plan = planned() if policy is POLICY else sqlanon.plan(connection, policy, table="people")
    plan.save(file)
    return file, json.loads(file.read_text())


def put(*path):
    """Puts a value, the last, where the others lead."""
    *way, name, value = path

    def change(document):
        for step in way:
            document = document[step]
        assert document.get(name) != value
        document[name] = value

    return change


def test_a_plan_of_which_any_part_was_changed_is_refused_and_says_so(connection, tmp_path):
    file, document = saved(connection, tmp_path)
    parts = [(document, name) for name in document if name not in ("kind", "schema_version")]
    parts += [(document[name], key) for name in ("policy", "report") for key in document[name]]
    for part, name in parts:
        value, part[name] = part[name], "changed"
        file.write_text(json.dumps(document))
        with pytest.raises(SourceError, match="was changed after it was saved"):
            Plan.load(file)
        part[name] = value


def test_a_plan_that_was_not_changed_is_applied_however_it_is_laid_out(connection, tmp_path):
    file, document = saved(connection, tmp_path)
    file.write_text(json.dumps(dict(reversed(document.items())), indent=7))
    assert sqlanon.apply(connection, Plan.load(file), into="out").holds


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("policy", "k", 50), "its policy asks for k = 50, and it was made for classes of "),
        (
            put("policy", "suppression_limit", 0.0),
            "it suppresses 5 records of 100, where the suppression limit 0 of its policy",
        ),
        (
            put("policy", "quasi_identifiers", "sex", "min_level", 1),
            "it publishes column 'sex' at level 0, where its policy allows level 1",
        ),
    ],
)
def test_a_plan_that_its_policy_does_not_allow_is_refused_at_once(
    connection, tmp_path, change, words
):
    file, _ = saved(connection, tmp_path)
    edit(file, change)
    with pytest.raises(SourceError) as caught:
        Plan.load(file)
    assert words in str(caught.value)
    assert "empty" not in str(caught.value)


def refused_when_applied(connection, tmp_path, *changes, policy=POLICY):
    """The error for a plan that was changed so that it reads well, and leaves nothing behind."""
    file, _ = saved(connection, tmp_path, policy)
    edit(file, *changes)
    plan = Plan.load(file)
    with pytest.raises(SqlanonError) as caught:
        sqlanon.apply(connection, plan, into="out")
    assert tables_of(connection) == ["people"]
    return caught.value


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ([put("policy", "l", 6)], VerificationError, "the plan promises"),
        ([put("policy", "t", 0.001)], VerificationError, "the plan promises"),
        (
            [put("policy", "k", 50), put("histogram", [[95, 1]])],
            VerificationError,
            "0 records of the table would be left where the plan promises 95",
        ),
        ([put("report", "suppressed_records", 1)], VerificationError, "the plan promises 99"),
        ([put("report", "records", 105)], StalePlanError, "of 105 records: it has 100 now"),
        ([put("fingerprint", [100, "0"])], StalePlanError, "100 records as then, but other values"),
    ],
)
def test_a_plan_is_held_to_its_policy_by_what_it_publishes(
    connection, tmp_path, changes, kind, words
):
    error = refused_when_applied(connection, tmp_path, *changes)
    assert isinstance(error, kind)
    assert words in str(error)


def test_models_that_need_no_suppression_are_held_against_the_published_table(connection, tmp_path):
    policy = replace(POLICY, suppression_limit=0.0, models=[KAnonymity(2), LDiversity(2)])
    error = refused_when_applied(connection, tmp_path, put("policy", "l", 6), policy=policy)
    assert isinstance(error, VerificationError)
    assert "distinct 6-diversity of 'ill' does NOT hold on the table written" in str(error)


def test_suppressed_records_that_are_kept_are_counted(connection, tmp_path):
    policy = replace(POLICY, suppressed="keep", models=[KAnonymity(4)])
    changes = [put("policy", "suppression_limit", 0.01), put("report", "suppressed_records", 1)]
    error = refused_when_applied(connection, tmp_path, *changes, policy=policy)
    assert "5 records would be published with every quasi-identifier suppressed" in str(error)


def test_persons_are_counted_again_though_they_are_not_published(connection, tmp_path):
    policy = replace(POLICY, entity="person", models=[KAnonymity(4)], suppression_limit=0.0)
    sizes = put("histogram", [[100, 1]])
    error = refused_when_applied(connection, tmp_path, put("policy", "k", 60), sizes, policy=policy)
    assert "k-anonymity 60 does NOT hold" in str(error)


def test_a_plan_without_a_digest_is_none(connection, tmp_path):
    file, document = saved(connection, tmp_path)
    del document[DIGEST]
    file.write_text(json.dumps(document))
    with pytest.raises(SourceError, match="not a plan"):
        Plan.load(file)


def test_a_plan_made_to_suppress_more_than_its_policy_allows_is_an_error(connection):
    plan = planned()
    with pytest.raises(PolicyError, match=r"the suppression limit 0\.01 of its policy allows 1"):
        replace(plan, policy=replace(plan.policy, suppression_limit=0.01))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ALTER TABLE people ALTER age TYPE SMALLINT", r"other types: 'age' \(SMALLINT now, \w+ "),
        ("ALTER TABLE people DROP note", "it has no more 'note'; make"),
        ("ALTER TABLE people ADD COLUMN extra INTEGER", "new 'extra'; make"),
        ("ALTER TABLE people RENAME note TO remark", "no more 'note'; new 'remark'; make"),
        ("UPDATE people SET ill = 'd9' WHERE age = 20", "100 records as then, but other values"),
        ("DELETE FROM people WHERE age = 80", "of 100 records: it has 99 now"),
        (
            "CREATE OR REPLACE TABLE people AS SELECT sex, age, ill, person, note FROM people",
            "another order; make a new plan",
        ),
    ],
)
def test_what_changed_in_the_table_is_said(connection, change, words):
    plan = planned()
    connection.execute(change)
    with pytest.raises(StalePlanError, match=words):
        sqlanon.apply(connection, plan, into="out")
