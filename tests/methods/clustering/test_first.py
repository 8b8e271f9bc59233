"""First clusters: the quick ones to fall back on, and which searches may share them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from oracles.covers import Distinct, problem_of

from sqlanon.deadline import Deadline
from sqlanon.methods.clustering import first
from sqlanon.methods.clustering.first import FirstClusters, started
from sqlanon.methods.shared import SharedWork
from sqlanon.search.clustering.problem import Clustering

PROBLEM = problem_of([("a",)] * 3 + [("b",)] * 3, 3)
LONG = Deadline(1e9, lambda: 0.0)


def fall_back(problem, quick):
    return FirstClusters(quick)


def quick_clusters(problem, shared):
    return started(problem, fall_back, shared).found


def test_quick_clusters_are_found_once_for_records_and_whether_values_count(monkeypatch):
    asked = []

    def cut(problem):
        asked.append(problem.demand)
        return Clustering.of(problem, np.zeros(problem.records, np.int64))

    monkeypatch.setattr(first, "cut_clusters", cut)
    shared, free = SharedWork(most=100), replace(PROBLEM, deadline=LONG)
    demanding = replace(free, demand=Distinct([0, 1] * 3, 2))
    for problem in (free, demanding, free, demanding):
        quick_clusters(problem, shared)
    assert asked == [None, demanding.demand]


def test_quick_clusters_that_the_time_limit_ended_are_nobody_elses():
    shared = SharedWork(most=100)
    hasty = replace(PROBLEM, deadline=Deadline(3, itertools.count(1).__next__))
    assert len(quick_clusters(hasty, shared).nodes) == 1
    assert len(quick_clusters(replace(PROBLEM, deadline=LONG), shared).nodes) == 2


def test_without_a_limit_there_is_nothing_to_fall_back_on():
    assert quick_clusters(PROBLEM, SharedWork(most=100)) is None
