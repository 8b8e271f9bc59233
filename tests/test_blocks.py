"""Blocks: a table cut along its hierarchies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from cover_oracle import problems
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.search.blocks import cut


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 8))
def test_blocks_hold_every_record_once_and_may_be_clusters(problem, most):
    blocks = cut(problem, most)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(problem.records))
    assert all(problem.satisfies(block) for block in blocks)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_a_table_that_is_small_enough_is_one_block(problem):
    [block] = cut(problem, problem.records)
    assert block.tolist() == list(range(problem.records))


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 8))
def test_only_records_that_are_alike_make_a_block_too_large_for_k_of_1(problem, most):
    blocks = cut(replace(problem, k=1), most)
    large = [problem.leaves[block] for block in blocks if len(block) > most]
    assert all(len(np.unique(leaves, axis=0)) == 1 for leaves in large)
