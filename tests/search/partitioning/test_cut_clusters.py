"""Clusters by cuts: valid whenever the search is stopped."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.problem import members

FEW = settings(max_examples=40, deadline=None)


def until(problem, looks):
    return replace(problem, deadline=Deadline(looks, itertools.count(1).__next__))


@FEW
@given(problems(), st.integers(0, 30))
def test_every_cluster_stands_whenever_it_is_stopped(problem, looks):
    for stopped in (problem, until(problem, looks)):
        found = cut_clusters(stopped)
        assert (found.label >= 0).all()
        assert all(problem.satisfies(each) for each in members(found)) or len(found.nodes) == 1


def test_records_alike_are_parted():
    problem = problem_of([("a", "x")] * 3 + [("a", "y")] * 3 + [("b", "x")] * 3, 3)
    assert cut_clusters(problem).loss(problem) == 0


def test_no_time_is_one_cluster():
    problem = problem_of([("a",)] * 3 + [("b",)] * 3, 3)
    assert len(cut_clusters(until(problem, 0)).nodes) == 1
