"""Refinement from several starts: each for a while, and the best of them to the end.

Which clusters are the better ones is not told by what they lose before refinement: a cover by
reduced cost may lose more than another one, and less once both are refined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.progress import portion
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem
from sqlanon.search.clustering.refine.refinement import Effort, refine

TRIED, AFTER = 0.5, 0.75
"""Passes in which each of several starts is refined, and those that the best one then gets, for
each pass of a single start. On Adult at k = 5 a cover by reduced cost is behind direct cover after
0.15 of them, and loses 1.6 % less after all."""


def refine_best(
    problem: ClusteringProblem,
    starts: Sequence[Clustering],
    *,
    effort: Effort,
    bounds: Numbers | Reals | None = None,
) -> tuple[Clustering, int]:
    """Refined clusters that lose no more than any start, and the start that they come from.

    Two starts together take 1.75 times the passes of one.

    Args:
        problem: The table.
        starts: Clusters that satisfy k and the demand, at least one.
        effort: How long to search.
        bounds: As for `refine`.
    """
    if len(starts) == 1:
        return refine(problem, starts[0], effort=effort, bounds=bounds), 0
    own, tried = replace(effort, passes=effort.passes * TRIED), list[Clustering]()
    each = TRIED / (TRIED * len(starts) + AFTER)
    for number, start in enumerate(starts):
        share = TRIED / (TRIED * (len(starts) - number) + AFTER)
        limited = replace(problem, deadline=problem.deadline.share(share))
        with portion(number * each, (number + 1) * each):
            tried.append(refine(limited, start, effort=own, bounds=bounds))
    losses = [each.loss(problem) for each in tried]
    best = losses.index(min(losses))
    rest = replace(effort, passes=effort.passes * AFTER)
    with portion(1 - each * AFTER / TRIED, 1.0):
        return refine(problem, tried[best], effort=rest, bounds=bounds), best
