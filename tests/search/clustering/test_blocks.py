"""Blocks: a table cut along its hierarchies, and where what may not stand alone goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of
from strategies import problems

from sqlanon.search.clustering.blocks import children, cut_blocks, standing

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


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 8))
def test_blocks_hold_every_record_once_and_may_be_clusters(problem, most):
    blocks = cut_blocks(problem, most)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(problem.records))
    assert all(problem.satisfies(block) for block in blocks)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_a_table_that_is_small_enough_is_one_block(problem):
    [block] = cut_blocks(problem, problem.records)
    assert block.tolist() == list(range(problem.records))


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 8))
def test_only_records_that_are_alike_make_a_block_too_large_for_k_of_1(problem, most):
    blocks = cut_blocks(replace(problem, k=1), most)
    large = [problem.leaves[block] for block in blocks if len(block) > most]
    assert all(len(np.unique(leaves, axis=0)) == 1 for leaves in large)


def test_small_neighbours_make_one_block():
    """Three values of four records and one of two: two blocks of at most eight, not four."""
    problem = problem_of([(v,) for v in "aaaabbbbccccdd"], 2)
    assert [len(block) for block in cut_blocks(problem, 8)] == [8, 6]


def test_a_block_is_cut_where_clusters_that_cross_it_pay_least():
    """To know the sex tells less than to know the city, and either costs a whole cell."""
    rows = [(city, sex) for sex in "fm" for city in "abcd" for _ in range(2)]
    blocks = cut_blocks(problem_of(rows, 2), 4)
    assert [len(block) for block in blocks] == [4, 4, 4, 4]
    assert all(len({rows[record][1] for record in block}) == 1 for block in blocks)


def test_a_cut_that_takes_few_records_off_comes_last():
    """One record in ten has another country; half of them have another sex."""
    rows = [("fm"[i % 2], "us" if i % 10 else "x") for i in range(40)]
    blocks = cut_blocks(problem_of(rows, 2), 20)
    assert [len({rows[record][0] for record in block}) for block in blocks] == [1, 1]
