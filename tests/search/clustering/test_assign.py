"""Records left out: highest levels and a limit, against every partition of small tables."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import Distinct, candidates_of, limited, optimum, problem_of
from strategies import as_model, bounded

from sqlanon.errors import UnsatisfiableError
from sqlanon.policy.privacy import AlphaAnonymity, LDiversity, TCloseness
from sqlanon.search.clustering.assign import assign_rest, lessened, mend, returned, unplaceable
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering, column_bounds, members
from sqlanon.search.clustering.direct_cover import Cheapest, direct_cover
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.refinement import refine
from sqlanon.search.privacy import Demands, ValueDemand

MODELS = [
    LDiversity(2, "entropy"),
    LDiversity(1.7, "entropy"),
    LDiversity(2, "recursive", c=1.5),
    AlphaAnonymity(0.4),
    TCloseness(0.2),
    TCloseness(0.1, "ordered"),
]
FEW = settings(max_examples=60)


def table_of(values, model, *, k=2, room=0, whole=None, persons=None):
    """Records of one combination with sensitive values, by the distribution of a whole table."""
    counts = np.array(whole) if whole else np.bincount(values)
    counted = persons is not None
    every = (ValueDemand(0, model, counts, persons=len(set(persons or ())) if counted else None),)
    known = np.array(persons) if counted else None
    demand = Demands(np.array(values)[:, np.newaxis], every, known, k if counted else 0)
    return replace(problem_of([("1", "1")] * len(values), k, demand=demand), allowance=room)


def all_in_one(problem):
    return Clustering.of(problem, np.zeros(problem.records, np.int64))


@FEW
@given(
    st.lists(st.integers(0, 2), min_size=3, max_size=8),
    st.sampled_from(MODELS),
    st.integers(1, 3),
)
def test_records_are_found_where_any_would_do(values, model, room):
    """With one model the greedy choice finds what all choices do."""
    values = [*values, 0, 1, 2]
    problem = table_of(values, model, room=room, whole=(4, 4, 4))
    every = np.arange(len(values))
    if problem.satisfies(every):
        return
    found = lessened(problem, every, room=room)
    able = any(
        problem.satisfies(np.delete(every, list(gone)))
        for number in range(1, room + 1)
        for gone in combinations(range(len(values)), number)
        if len(values) - number >= problem.k
    )
    assert (found is not None) == able
    if found is not None:
        assert problem.satisfies(found)
        assert 1 <= len(values) - len(found) <= room


def test_all_records_of_a_person_leave_together():
    values, persons = [0, 1, 0, 0, 0, 1, 0, 0], [0, 1, 2, 2, 3, 4, 5, 5]
    problem = table_of(values, LDiversity(2, "entropy"), room=4, persons=persons)
    stays = lessened(problem, np.arange(8), room=4)
    assert problem.satisfies(stays)
    gone = set(range(8)) - set(stays.tolist())
    assert len(gone) <= 4
    assert not {persons[record] for record in gone} & {persons[record] for record in stays}


@pytest.mark.parametrize(("room", "left"), [(0, None), (1, 1), (3, 1)])
def test_a_cluster_without_a_partner_is_mended_within_the_allowance(room, left):
    problem = table_of([0, 0, 0, 1, 1], LDiversity(2, "entropy"), room=room)
    if left is None:
        with pytest.raises(UnsatisfiableError, match="none may be left out here"):
            mend(problem, all_in_one(problem))
        return
    found = mend(problem, all_in_one(problem))
    assert int((found.label == NOWHERE).sum()) == left
    assert problem.satisfies(np.flatnonzero(found.label == 0))


def test_what_was_not_found_is_not_called_impossible():
    problem = table_of([0, 0, 0, 0, 1], LDiversity(2, "entropy"), room=2)
    with pytest.raises(UnsatisfiableError, match="no 2 or fewer were found whose leaving out"):
        mend(problem, all_in_one(problem))


def test_parts_of_a_table_that_fails_as_one_satisfy_the_models():
    problem = table_of([0, 0, 0, 1, 1], LDiversity(2, "entropy"), room=1)
    found = cut_clusters(problem, relaxed=True)
    assert int((found.label == NOWHERE).sum()) == 1
    assert problem.satisfies(np.flatnonzero(found.label == 0))


SMALL = settings(max_examples=25)


def placed(problem):
    """The problem of the records that some cluster may hold, with what is left of the allowance."""
    gone = unplaceable(problem)
    if gone.sum() > problem.allowance or gone.all():
        return None
    own = problem.part(np.flatnonzero(~gone))
    return replace(own, allowance=problem.allowance - int(gone.sum()))


def is_valid(problem, clusters):
    held = members(clusters)
    return (
        all(map(problem.satisfies, held))
        and int(clusters.sizes.sum()) == (clusters.label != NOWHERE).sum()
    )


@SMALL
@given(bounded())
def test_what_is_unplaceable_no_clusters_can_hold_and_the_bound_is_below_the_optimum(problem):
    least, own = optimum(problem), placed(problem)
    assert (own is None) == (least is None)
    if own is None:
        return
    gone = problem.records - own.records
    candidates = candidates_of(own)
    every = Cheapest.of(own, candidates).cost
    assert (column_bounds(own) <= every).all()
    assert every.sum() + gone * own.suppressed <= least


@SMALL
@given(bounded(), st.integers(0, 3))
def test_refined_clusters_keep_to_levels_and_limit_and_never_lose_more(problem, seed):
    least, own = optimum(problem), placed(problem)
    if own is None:
        return
    first = direct_cover(own, candidates_of(own))
    found = returned(own, refine(own, first, seed=seed))
    assert is_valid(own, first)
    assert is_valid(own, found)
    assert (found.label == NOWHERE).sum() <= own.allowance
    lost = (problem.records - own.records) * problem.suppressed
    assert least <= found.loss(own) + lost <= first.loss(own) + lost


@SMALL
@given(bounded(demanding=True))
def test_clusters_of_every_start_satisfy_the_demand_within_their_division(problem):
    own = placed(problem)
    if own is None:
        return
    nobody, alone = np.full(own.records, NOWHERE), np.arange(own.records)
    starts = (
        lambda: assign_rest(own, nobody),
        lambda: mend(own, Clustering.of(own, alone)),
        lambda: cut_clusters(as_model(own)),
    )
    for start in starts:
        try:
            found = start()
        except UnsatisfiableError:
            continue
        assert is_valid(own, found)


def test_a_record_that_spoils_a_cluster_is_left_out_once_that_gains():
    """Without the stranger three records keep two cells each, which its own two do not outweigh."""
    rows = [("a", "x")] * 3 + [("b", "y")]
    problem = replace(problem_of(rows, 3), allowance=1)
    whole = Clustering.of(problem, np.zeros(4, np.int64))
    assert whole.loss(problem) == 4 * problem.suppressed
    found = refine(problem, whole)
    assert found.label.tolist() == [0, 0, 0, NOWHERE]
    assert found.loss(problem) == problem.suppressed


def test_a_record_comes_back_where_it_adds_less_than_it_costs_outside():
    problem = replace(problem_of([("a", "x")] * 3, 2), allowance=1)
    found = returned(problem, Clustering.of(problem, np.array([0, 0, NOWHERE])))
    assert found.label.tolist() == [0, 0, 0]


def test_a_division_whose_records_fail_the_demand_together_is_unplaceable():
    problem = limited(problem_of([("a",), ("a",), ("b",), ("b",)], 2), (0,), 2)
    problem = replace(problem, demand=Distinct([1, 2, 1, 1], 2))
    assert unplaceable(problem).tolist() == [False, False, True, True]


@pytest.mark.parametrize("allowance", [0, 1])
def test_what_nothing_can_be_merged_with_is_left_out_as_far_as_that_is_allowed(allowance):
    problem = limited(problem_of([("a",), ("a",), ("b",)], 2), (0,), allowance)
    if allowance:
        assert assign_rest(problem, np.full(3, NOWHERE)).label.tolist() == [0, 0, NOWHERE]
        return
    with pytest.raises(UnsatisfiableError, match="highest levels allow"):
        assign_rest(problem, np.full(3, NOWHERE))
