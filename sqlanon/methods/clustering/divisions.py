"""Divisions: a method that knows nothing of highest levels, asked of each division by itself.

No cluster within the highest levels crosses a division's border, and none inside is above them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sqlanon.methods.clustering.first import FirstClusters, Start
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.lower_bound import column_bounds
from sqlanon.search.clustering.problem import NOWHERE, Clustering, ClusteringProblem, runs


def by_division(start: Start) -> Start:
    """First clusters of each division, one after the other, where there are highest levels."""

    def starting(problem: ClusteringProblem, quick: Clustering | None) -> FirstClusters:
        return (
            _of_divisions(problem, quick, start=start) if problem.highest else start(problem, quick)
        )

    return starting


def _of_divisions(
    problem: ClusteringProblem, quick: Clustering | None, *, start: Start
) -> FirstClusters:
    label = np.full(problem.records, NOWHERE, np.int64)
    bounds, room, number = np.zeros_like(label), problem.allowance, 0
    found: list[FirstClusters] = []
    order, starts = runs(problem.division)
    for records in np.split(order, starts[1:]):
        own = replace(problem.part(records), highest=(), allowance=room)
        known = None if quick is None else Clustering.of(own, quick.label[records])
        first = start(own, known)
        placed = first.found.label != NOWHERE
        label[records[placed]] = number + first.found.label[placed]
        bounds[records] = _bounds(own, first)
        number += len(first.found.nodes)
        room -= min(room, int((~placed).sum()))
        found.append(first)
    return FirstClusters(
        Clustering.of(problem, label),
        bounds,
        sum(each.candidates for each in found),
        sum(each.uncovered for each in found),
        found[0].guarantee,
        next((each.ended for each in found if each.ended), ""),
        any(each.is_instead for each in found),
    )


def _bounds(problem: ClusteringProblem, first: FirstClusters) -> Numbers:
    return column_bounds(problem) if first.bounds is None else first.bounds
