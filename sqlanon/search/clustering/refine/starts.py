"""Refinement from several starts: each for a while, and the best of them to the end.

Which clusters are the better ones is not told by what they lose before refinement: a cover by
reduced cost may lose more than another one, and less once both are refined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem
from sqlanon.search.clustering.refine.refinement import Effort, refine

TRIED = 0.15
"""Share of the passes, and of the time, in which each start is refined before one is chosen."""


def refine_best(
    problem: ClusteringProblem,
    starts: Sequence[Clustering],
    *,
    effort: Effort,
    bounds: Numbers | Reals | None = None,
) -> tuple[Clustering, int]:
    """Refined clusters that lose no more than any start, and the start that they come from.

    All starts together take as many passes as one would by itself.

    Args:
        problem: The table.
        starts: Clusters that satisfy k and the demand, at least one.
        effort: How long to search.
        bounds: As for `refine`.
    """
    if len(starts) == 1:
        return refine(problem, starts[0], effort=effort, bounds=bounds), 0
    own, tried = replace(effort, passes=effort.passes * TRIED), list[Clustering]()
    for start in starts:
        part = replace(problem, deadline=problem.deadline.share(TRIED))
        tried.append(refine(part, start, effort=own, bounds=bounds))
    losses = [each.loss(problem) for each in tried]
    best = losses.index(min(losses))
    rest = replace(effort, passes=effort.passes * (1 - TRIED * len(starts)))
    return refine(problem, tried[best], effort=rest, bounds=bounds), best
