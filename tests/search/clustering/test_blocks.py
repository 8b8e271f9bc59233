"""Blocks: a table cut along its hierarchies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of
from strategies import problems

from sqlanon.search.clustering.blocks import cut_blocks


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
