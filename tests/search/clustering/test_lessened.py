"""Lessened clusters: what stays satisfies the models, and no more leave than may."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of

from sqlanon.errors import UnsatisfiableError
from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.policy.shares import AlphaAnonymity
from sqlanon.search.clustering.assign import lessened, mend
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.problem import NOWHERE, Clustering
from sqlanon.search.privacy import Demands, ValueDemand

MODELS = [
    LDiversity(2, "entropy"),
    LDiversity(1.7, "entropy"),
    LDiversity(2, "recursive", c=1.5),
    AlphaAnonymity(0.4),
    TCloseness(0.2),
    TCloseness(0.1, "ordered"),
]
FEW = settings(max_examples=60, deadline=None)


def table_of(values, model, *, k=2, room=0, whole=None, persons=None):
    """Records of one combination with sensitive values, by the distribution of a whole table."""
    counts = np.array(whole) if whole else np.bincount(values)
    counted = persons is not None
    every = (ValueDemand(0, model, counts, of_persons=counted),)
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
