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
from sqlanon.search.clustering.refine.refinement import Effort, Refinement, refine

TRIED, AFTER = 0.5, 0.75
"""Passes in which each of several starts is refined, and those that the best one then gets, for
each pass of a single start. On Adult at k = 5 a cover by reduced cost is behind direct cover after
0.15 of them, and loses 1.6 % less after all."""
LOOKS = 0.125, 0.25, 0.5, 1.0
"""Parts of these passes after which starts are looked at."""
HOPELESS, SETTLED = 2.0, 6.0
"""A start is given up that is behind by more than so many times what it gained since the last look,
if it had so many passes."""


def refine_best(
    problem: ClusteringProblem,
    starts: Sequence[Clustering],
    *,
    effort: Effort,
    bounds: Numbers | Reals | None = None,
) -> tuple[Clustering, int]:
    """Refined clusters that lose no more than any start, and the start that they come from.

    Two starts together take 1.75 times the passes of one, and 1.4 where one of them is soon given
    up: passes gain less and less, so it would not catch up.

    Args:
        problem: The table.
        starts: Clusters that satisfy k and the demand, at least one.
        effort: How long to search.
        bounds: As for `refine`.
    """
    if len(starts) == 1:
        return refine(problem, starts[0], effort=effort, bounds=bounds), 0
    if problem.deadline.expired:
        losses = [each.loss(problem) for each in starts]
        return starts[losses.index(min(losses))], losses.index(min(losses))
    best, found = _tried(problem, starts, effort=effort, bounds=bounds)
    rest = replace(effort, passes=effort.passes * AFTER)
    with portion(1 - AFTER / (TRIED * len(starts) + AFTER), 1.0):
        return refine(problem, found, effort=rest, bounds=bounds), best


def _tried(
    problem: ClusteringProblem,
    starts: Sequence[Clustering],
    *,
    effort: Effort,
    bounds: Numbers | Reals | None,
) -> tuple[int, Clustering]:
    """The start that is best after some passes, and the clusters that it has become."""
    own = replace(effort, passes=effort.passes * TRIED)
    each = TRIED / (TRIED * len(starts) + AFTER)
    ended = problem.deadline.share(each * len(starts))
    tried = {
        number: Refinement(problem, start, effort=own, bounds=bounds)
        for number, start in enumerate(starts)
    }
    lost = {number: start.loss(problem) for number, start in enumerate(starts)}
    done = 0.0
    for look in LOOKS:
        before = dict(lost)
        for place, (number, search) in enumerate(tried.items()):
            part = look - done
            waits = (1 - done) * len(tried) - part * place
            begin = each * (done * len(starts) + part * place)
            with portion(begin, begin + each * part):
                search.go_on(own.passes * look, ended.share(part / waits))
            lost[number] = search.found.loss(problem)
        done, least = look, min(lost[number] for number in tried)
        if own.passes * look >= SETTLED:
            tried = {
                number: search
                for number, search in tried.items()
                if lost[number] - least <= HOPELESS * (before[number] - lost[number])
            }
    best = min(tried, key=lambda number: (lost[number], number))
    return best, tried[best].found
