"""First clusters: the quick ones to fall back on under a time limit."""

from __future__ import annotations

import itertools
from dataclasses import replace

from oracles.covers import problem_of

from sqlanon.deadline import Deadline
from sqlanon.methods.clustering.first import FirstClusters, started

PROBLEM = problem_of([("a",)] * 3 + [("b",)] * 3, 3)


def quick_clusters(problem):
    return started(problem, lambda _, quick: FirstClusters(quick)).found


def test_quick_clusters_are_as_fine_as_the_time_allows():
    hasty = replace(PROBLEM, deadline=Deadline(3, itertools.count(1).__next__))
    assert len(quick_clusters(hasty).nodes) == 1
    assert len(quick_clusters(replace(PROBLEM, deadline=Deadline(1e9, lambda: 0.0))).nodes) == 2


def test_without_a_limit_there_is_nothing_to_fall_back_on():
    assert quick_clusters(PROBLEM) is None
