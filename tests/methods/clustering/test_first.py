"""First clusters: blocks of whole parts, and time that is left to refine them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of
from strategies import as_model, bounded, problems

from sqlanon import KAnonymity, Policy
from sqlanon.deadline import Deadline
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.clustering.first import COVERED, FirstClusters, _blocks, begin, started
from sqlanon.methods.clustering.releases import Releases
from sqlanon.methods.registry import Options
from sqlanon.search.clustering.assign import unplaceable
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering

PROBLEM = problem_of([("a",)] * 3 + [("b",)] * 3, 3)


def test_first_clusters_have_a_share_of_the_time():
    ends = []

    def start(problem):
        ends.append(problem.deadline.end)
        return FirstClusters(Clustering.of(problem, np.zeros(problem.records, np.int64)))

    started(replace(PROBLEM, deadline=Deadline(10.0, lambda: 2.0)), start)
    started(PROBLEM, start)
    assert ends == [2 + 8 * COVERED, np.inf]


def test_the_parts_of_blocks_stand_where_the_method_finds_none():
    def refuse(*_):
        raise UnsatisfiableError("none")

    releases = Releases.of(PROBLEM, Policy(["a"], models=[KAnonymity(3)]))
    found = begin(releases, Options.of("forest"), start=refuse, most=3)
    assert [each.first.clusters.label.tolist() for each in found] == [[0, 0, 0]] * 2
    with pytest.raises(UnsatisfiableError):
        begin(releases, Options.of("forest"), start=refuse, most=6)


@settings(max_examples=80)
@given(st.one_of(problems(), bounded(), bounded(demanding=True)), st.integers(1, 5))
def test_blocks_hold_every_record_once_and_clusters_that_satisfy_everything(problem, most):
    gone = unplaceable(problem)
    if gone.all() or gone.sum() > problem.allowance:
        return
    own = problem.part(np.flatnonzero(~gone))
    own = replace(own, allowance=problem.allowance - int(gone.sum()))
    own = own if own.demand is None else as_model(own)
    blocks, cuts = _blocks(own, most)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(own.records))
    assert all(len(block) >= own.k for block in blocks)
    if cuts is None:
        assert own.demand is not None
        return
    assert (cuts.label == NOWHERE).sum() <= own.allowance
    for block in blocks:
        held = set(cuts.label[block].tolist()) - {NOWHERE}
        for number in held:
            cluster = np.flatnonzero(cuts.label == number)
            assert set(cluster.tolist()) <= set(block.tolist())
            assert own.satisfies(cluster)
        assert held or len(blocks) == 1


def test_a_block_is_larger_than_wanted_only_by_a_part():
    """Parts of six, two, two and two records, and two of each value."""
    rows = [("a",)] * 6 + [(value,) for value in "bbccdd"]
    blocks, _ = _blocks(problem_of(rows, 2), 4)
    assert sorted(map(len, blocks)) == [2, 4, 6]
