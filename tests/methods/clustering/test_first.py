"""First clusters: a time limit leaves some time to refine them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracles.covers import problem_of

from sqlanon.deadline import Deadline
from sqlanon.methods.clustering.first import COVERED, FirstClusters, started
from sqlanon.search.clustering.problem import Clustering

PROBLEM = problem_of([("a",)] * 3 + [("b",)] * 3, 3)


def test_first_clusters_have_a_share_of_the_time():
    ends = []

    def start(problem, _):
        ends.append(problem.deadline.end)
        return FirstClusters(Clustering.of(problem, np.zeros(problem.records, np.int64)))

    started(replace(PROBLEM, deadline=Deadline(10.0, lambda: 2.0)), start)
    started(PROBLEM, start)
    assert ends == [2 + 8 * COVERED, np.inf]
