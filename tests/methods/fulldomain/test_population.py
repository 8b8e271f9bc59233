"""Models of a population, held against brute force over the lattice and over published rows."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.population import Case, drawn, faults, hold_to_brute_force

import sqlanon
from sqlanon import AverageRisk, DeltaPresence, KAnonymity, KMap, LDiversity, ShareAtRisk
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.registry import METHODS

SEEDS = st.integers(0, 2**32).map(random.Random)
AGES = [(str(age), "young" if age < 3 else "old", "*") for age in (1, 2, 3, 4)]


@settings(max_examples=20, derandomize=True, database=None)
@given(SEEDS)
def test_the_best_node_is_that_of_brute_force_and_its_release_keeps_to_the_models(draw):
    hold_to_brute_force(drawn(draw))


def case(people, chosen, *models, limit=0.0, suppressed="drop"):
    """A table of ages among people."""
    people = [(str(age),) for age in people]
    ill = ["flu"] * len(chosen)
    return Case([AGES], people, list(chosen), ill, list(models), limit, suppressed)


def level(*args, **how):
    """The level of the best recoding, and how many records it suppresses."""
    one = case(*args, **how)
    plan = sqlanon.plan(one.connection(), one.policy, table="people")
    return plan.report.levels["c0"], plan.report.suppressed_records


@pytest.mark.slow
def test_a_class_of_one_record_is_fine_where_enough_people_share_its_values():
    assert level([1, 1, 1, 2], [0], KMap(3)) == (0, 0)
    assert level([1, 1, 1, 2], [3], KMap(3)) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "found"), [(0.0, (2, 0)), (0.5, (0, 1))])
def test_classes_of_too_few_people_are_suppressed_within_the_limit(limit, found):
    assert level([1, 1, 1, 3, 3], [0, 3], KMap(3), limit=limit) == found


@pytest.mark.parametrize("model", [AverageRisk(0.1), ShareAtRisk(0.2, 0.05)])
def test_who_has_too_few_people_counts_in_no_risk(model):
    people = [1, *[2] * 5, *[3] * 20]
    chosen = [0, 1, *range(6, 26)]
    assert level(people, chosen, KMap(5), model, limit=0.05) == (0, 1)


@pytest.mark.slow
def test_k_is_asked_beside_k_map():
    assert level([1, 1, 1, 2, 2], [0, 3], KMap(2), KAnonymity(2)) == (1, 0)


@pytest.mark.slow
def test_more_records_may_fail_delta_presence_above_a_node():
    people, chosen, half = [1, 2, 2, 3, 3, 3, 3], [0, 1], DeltaPresence(0, 0.5)
    assert level(people, chosen, half, limit=0.5) == (0, 1)  # 1 of 1 fails, 1 of 2 does not
    assert level(people, chosen, half) == (2, 0)  # at level 1 both of 3 fail


@pytest.mark.slow
def test_nothing_is_suppressed_where_everybody_has_a_least_share():
    # Each class holds a third but age 4, of whom nobody is in the table.
    people, chosen = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], [0, 3, 6]
    assert level(people, chosen, DeltaPresence(0, 0.4)) == (0, 0)
    assert level(people, chosen, DeltaPresence(0.1, 0.4), limit=1.0) == (1, 0)


@pytest.mark.slow
def test_a_limit_that_allows_nothing_is_told():
    one = case([1, 1, 2, 2], [0, 2], DeltaPresence(0.1, 0.6), limit=0.5)
    report = sqlanon.plan(one.connection(), one.policy, table="people").report
    assert any(note.startswith("no record is suppressed") for note in report.notes)


@pytest.mark.slow
def test_suppressed_records_that_are_kept_may_be_anybody():
    one = case([1, 1, 1, 3], [0, 3], KMap(3), limit=0.5, suppressed="keep")
    connection = one.connection()
    report = sqlanon.anonymize(connection, one.policy, table="people", into="released")
    rows = connection.execute("SELECT c0 FROM released ORDER BY c0").fetchall()
    assert (rows, report.holds) == ([("1",), ("gone",)], True)


def test_a_checker_notices_what_breaks_each_model():
    one = case([1, 1, 2], [0, 2], KMap(2), DeltaPresence(0.5, 0.5), KAnonymity(1))
    released = [(("1",), "flu"), (("2",), "flu")]
    assert {*faults(one, released)} == {KMap(2), DeltaPresence(0.5, 0.5)}
    assert [*faults(one, [(("1",), "flu")])] == [DeltaPresence(0.5, 0.5)]  # nobody of age 2


def test_values_are_counted_beside_the_population():
    one = case([1, 1, 1, 2], [0, 1], KMap(2), LDiversity(2), limit=0.5)
    with pytest.raises(UnsatisfiableError, match="needs more values"):
        sqlanon.plan(one.connection(), one.policy, table="people")


@pytest.mark.parametrize(
    ("people", "model", "said"),
    [
        ([1, 1, 2], KMap(4), "k of k-map is 4 and the population has only 3 records"),
        ([1, 1, 2], DeltaPresence(0.5, 1), "a share of 0.3333, so that some class has less"),
    ],
)
def test_a_population_that_no_recoding_satisfies_is_refused(people, model, said):
    one = case(people, [0], model)
    with pytest.raises(PolicyError, match=said):
        sqlanon.plan(one.connection(), one.policy, table="people")


def test_where_no_node_is_within_a_share_the_error_says_what_would_help():
    one = case([1, 1, 2], [0, 2], DeltaPresence(0, 0.5))
    with pytest.raises(UnsatisfiableError, match=r"\(0, 0.5\)-presence.*limit\) to 0.5 or more"):
        sqlanon.plan(one.connection(), one.policy, table="people")


@pytest.mark.parametrize("method", [name for name in METHODS if name != "incognito"])
def test_other_methods_refuse_a_population_with_the_reason(method):
    one = case([1, 1, 2], [0, 2], KMap(2))
    patterns = {"patterns": "all"} if "pattern" in method else {}
    with pytest.raises(PolicyError, match=f"{method} does not take 2-map: .*--method incognito"):
        sqlanon.plan(one.connection(), one.policy, table="people", method=method, **patterns)


@pytest.mark.slow
def test_auto_takes_the_method_that_can():
    one = case([1, 1, 2, 2], [0, 2], KMap(2))
    report = sqlanon.plan(one.connection(), one.policy, table="people", method="auto").report
    assert report.notes[0] == "auto chose incognito: it alone takes 2-map"


@pytest.mark.slow
def test_earlier_releases_are_not_compared_by_people():
    one = case([1, 1, 2, 2], [0, 2], KMap(2))
    connection = one.connection()
    sqlanon.anonymize(connection, one.policy, table="people", into="first")
    with pytest.raises(PolicyError, match="models of a population are of its people"):
        sqlanon.anonymize(connection, one.policy, table="people", into="other", against=["first"])


def test_kept_records_are_in_no_class_of_shares():
    with pytest.raises(PolicyError, match="may be of any class"):
        _ = case([1, 1, 2], [0, 2], DeltaPresence(0.5, 0.9), suppressed="keep").policy
