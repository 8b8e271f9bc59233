"""What a policy is said not to protect from."""

from __future__ import annotations

import pytest
from databases import empty_database

import sqlanon
from sqlanon import (
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    Sensitive,
    TCloseness,
)
from sqlanon.policy.warnings import policy_notes


def notes_of(*own, models=(), nulls="value"):
    sensitive = {"ill": Sensitive(own, nulls=nulls)}
    return policy_notes(Policy(["age"], sensitive, models=[KAnonymity(2), *models]))


@pytest.mark.parametrize(
    "model",
    [
        LDiversity(1),
        LDiversity(1.0, "entropy"),
        LDiversity(1, "recursive", 2),
        TCloseness(1),
        TCloseness(1.0, "ordered"),
        AlphaAnonymity(1),
    ],
    ids=repr,
)
def test_models_that_every_class_satisfies_protect_nobody(model):
    [note] = notes_of(models=[model])
    assert "does not protect 'ill'" in note


@pytest.mark.parametrize(
    "model",
    [LDiversity(2), LDiversity(1, "recursive", 0.5), TCloseness(0.99), TCloseness(1.5, "kl")],
    ids=repr,
)
def test_models_that_some_class_violates_are_not_noted(model):
    assert notes_of(models=[model]) == []


@pytest.mark.parametrize(
    ("own", "common"),
    [
        (LDiversity(2), LDiversity(3)),
        (LDiversity(4), LDiversity(3, "entropy")),
        (LDiversity(3, "recursive", 3), LDiversity(3, "recursive", 2)),
        (TCloseness(0.3), TCloseness(0.2)),
        (AlphaAnonymity(0.5), AlphaAnonymity(0.4)),
        (BetaLikeness(2), BetaLikeness(2, "enhanced")),
        (TCloseness(0.2, "ordered"), TCloseness(0.2)),
    ],
    ids=repr,
)
def test_a_model_of_its_own_that_may_be_weaker_is_noted(own, common):
    [note] = notes_of(own, models=[common])
    assert f"{own.describe()}, in place of the policy's {common.describe()}" in note


@pytest.mark.parametrize(
    ("own", "common"),
    [
        (LDiversity(3), LDiversity(3)),
        (LDiversity(3, "entropy"), LDiversity(3)),
        (TCloseness(0.2), TCloseness(0.2, "ordered")),
        (AlphaAnonymity(0.4), AlphaAnonymity(0.5)),
        (BetaLikeness(2, "enhanced"), BetaLikeness(2)),
        (TCloseness(0.2), LDiversity(9)),
    ],
    ids=repr,
)
def test_a_model_of_its_own_that_asks_no_less_is_not_noted(own, common):
    assert notes_of(own, models=[common]) == []


def test_t_alone_says_nothing_of_classes_without_a_value():
    [note] = notes_of(TCloseness(0.2), nulls="none")
    assert "all have NULL in 'ill' is at distance 0 and passes any t" in note
    assert notes_of(TCloseness(0.2), LDiversity(2), nulls="none") == []
    assert notes_of(TCloseness(0.2)) == []


def test_neither_do_bounds_of_what_becomes_more_frequent():
    [note] = notes_of(AlphaAnonymity(0.5), BetaLikeness(1), nulls="none")
    assert "all have NULL in 'ill' passes any alpha and beta-likeness" in note
    assert notes_of(BetaLikeness(1), DeltaDisclosure(1), nulls="none") == []


@pytest.mark.slow
def test_check_plan_and_anonymize_tell_it():
    policy = Policy(["age"], ["ill"], models=[KAnonymity(2), LDiversity(1)])
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age, 'flu' AS ill FROM range(3)")
        reports = [
            sqlanon.check(connection, policy, table="people"),
            sqlanon.plan(connection, policy, table="people").report,
            sqlanon.anonymize(connection, policy, table="people", into="out"),
        ]
    for report in reports:
        assert [note for note in report.notes if "does not protect 'ill'" in note]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"suppressed": "keep"}, 1),
        ({"suppressed": "drop"}, 0),
        ({"suppressed": "keep", "suppression_limit": 0.5}, 0),
        ({"suppressed": "keep", "suppression_limit": 0}, 0),
    ],
    ids=str,
)
def test_keeping_that_generalizes_all_is_noted(options, told):
    """One 'b' among nine 'a' would stand alone; with three of them kept there is a class."""
    policy = Policy(["x"], models=[KAnonymity(3)], **{"suppression_limit": 0.1, **options})
    with empty_database() as connection:
        many = 3 if policy.suppression_limit == 0.5 else 1
        values = f"CASE WHEN range < {many} THEN 'b' ELSE 'a' END"
        connection.execute(f"CREATE TABLE t AS SELECT {values} AS x FROM range(10)")
        notes = sqlanon.plan(connection, policy, table="t").report.notes
    assert len([note for note in notes if "drop" in note]) == told


def test_a_hierarchy_that_is_not_filled_in_is_noted():
    def notes_of(*rows):
        hierarchy = Hierarchy.from_rows(rows, name="ages.csv")
        told = policy_notes(Policy({"age": hierarchy}, models=[KAnonymity(2)]))
        return hierarchy.describe(), told

    described, [note] = notes_of(("1", "1", "*"), ("2", "2", "*"))
    assert described == "rows of ages.csv (2 leaves, no groups yet)"
    assert note.startswith("ages.csv has no groups yet: ")
    assert notes_of(("1", "low", "*"), ("2", "low", "*"))[1] == []
    assert notes_of(("1", "*"), ("2", "*"))[1] == []
