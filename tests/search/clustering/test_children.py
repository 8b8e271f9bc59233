"""Children: what a cluster is cut into, and where what may not stand alone goes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of
from strategies import problems

from sqlanon.search.clustering.blocks import children, standing

FEW = settings(max_examples=40, deadline=None)


def sizes(counts):
    """Groups of so many records."""
    return np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])


@FEW
@given(problems())
def test_records_are_told_apart_right_below_their_closure(problem):
    every = np.arange(problem.records)
    found = {each.column: each for each in children(problem, every)}
    for column, own in enumerate(problem.leaves.T):
        assert (column in found) == (len(set(own.tolist())) > 1)
    for each in found.values():
        taxonomy, own = problem.taxonomies[each.column], problem.leaves[:, each.column]
        assert taxonomy.closure(own.min(), own.max()) == each.node
        assert sorted(np.concatenate(each.groups).tolist()) == every.tolist()
        for group in each.groups:
            (node,) = set(each.below[group].tolist())
            assert taxonomy.level[node] < taxonomy.level[each.node]
            assert (taxonomy.low[node] <= own[group]).all()
            assert (own[group] <= taxonomy.high[node]).all()


@FEW
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 8), st.integers(1, 3))
def test_what_stands_holds_every_record_once_or_nothing_is_cut(counts, least, multiple):
    def holds(records):
        return len(records) >= least and len(records) % multiple == 0

    groups = sizes(counts)
    found = standing(groups, holds)
    assert len(found) != 1
    assert all(map(holds, found))
    if found:
        assert sorted(np.concatenate(found).tolist()) == list(range(sum(counts)))
    else:
        assert sum(map(holds, groups)) < 2 or not all(map(holds, groups))


def test_the_smallest_group_joins_those_that_are_too_small():
    found = standing(sizes([1, 5, 3, 3, 1]), lambda records: len(records) >= 3)
    assert [part.tolist() for part in found] == [[1, 2, 3, 4, 5], [6, 7, 8], [0, 9, 10, 11, 12]]


def test_more_groups_join_until_the_rest_may_stand():
    found = standing(sizes([4, 6, 8, 1]), lambda records: len(records) % 2 == 0 or len(records) > 9)
    assert [len(part) for part in found] == [8, 11]


def test_one_column_of_one_value_tells_nobody_apart():
    assert not list(children(problem_of([("a",)] * 4, 2), np.arange(4)))
