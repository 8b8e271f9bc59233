"""Anytime search: clusters that are refined, and covered anew by prices of the closures met.

Refinement (`refinement`) is quick to find better clusters and slow to leave those where no pool
gains. What leads out is a cover of many records at once by what they are worth together
(`reduced_cost_cover`). That needs no itemsets to be mined: the boxes of all pools are closures of k
records, and those that refinement meets are the ones that are any good. So each turn

1. prices the records by all closures met so far (`dual_bound`), from the prices of the turn before,
2. keeps the clusters that lose least above what their records are worth, and covers the records of
   all others anew,
3. refines what this comes to, which meets further closures,
4. takes the better of these clusters and of those before, part by part (`crossed`).

The clusters of the last turn are the result. Prices of closures met are no bound: what is not met
may cost less.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np

from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    closures,
)
from sqlanon.search.clustering.dual_bound import Ascent, Duals, dual_bound
from sqlanon.search.clustering.reduced_cost_cover import reduced_cost_cover
from sqlanon.search.clustering.refinement import ClosuresMet, parts_of_k, refine

TURNS = 3
"""How often records are priced and covered anew."""
FIRST_SHARE = 0.5
"""Passes before the first prices, for each of those after."""
PASSES_PER_TURN = 60
"""Passes of refinement that take as long as prices and a cover: with less time there are none."""
MIN_GAIN = 0.0005
"""Share of the loss that a turn has to save for one more, where a time limit says when to end."""
KEPT_SHARES = (0.3, 0.5, 0.7)
"""Share of the clusters that the covers of the first turns keep; later ones as the last."""
MAX_TIMES_WORSE = 1.25
"""Times the loss of the best clusters that a cover may lose and still be refined."""


def improved(
    problem: ClusteringProblem,
    clusters: Clustering,
    *,
    passes: float,
    turns: int = TURNS,
    seed: int = 0,
    prices: Reals | Numbers | None = None,
) -> Clustering:
    """Clusters that lose no more, and mostly less: the longer, the less.

    With a deadline the result depends on the machine: what there is no time for is left out, and
    where there is more, turns go on as long as they gain.

    Args:
        problem: The table or a block of it.
        clusters: Clusters that satisfy k and the demand.
        passes: How often each turn of refinement looks at each record.
        turns: How often records are priced and covered anew; 0 for refinement alone.
        seed: What the choices are drawn from.
        prices: Per record what it is worth [units], as far as that is known.
    """
    if not turns:
        return refine(problem, clusters, passes=passes, seed=seed, bounds=prices)
    deadline, met = problem.deadline, ClosuresMet(problem.taxonomies)
    before = deadline.left()
    best = refine(problem, clusters, passes=FIRST_SHARE * passes, seed=seed, bounds=prices, met=met)
    a_pass = (before - deadline.left()) / (FIRST_SHARE * passes) if deadline.is_limited else 0.0
    duals: Duals | None = None
    stalls = False
    for turn in count() if deadline.is_limited else range(turns):
        start, lost = best, best.loss(problem)
        if deadline.expired or not len(met):
            break
        # What gains no more without prices has time for them, however little.
        is_priced = stalls or deadline.left() >= PASSES_PER_TURN * a_pass
        if is_priced:
            with suppress(TimeLimitError, UnsatisfiableError):
                candidates = met.candidates(problem)
                effort = Ascent.QUICK if duals is None else Ascent.FURTHER
                # What was proven by fewer closures is not proven by more.
                earlier = None if duals is None else replace(duals, total=0)
                priced = dual_bound(problem, candidates, effort=effort, start=earlier)
                deadline.check()
                share = KEPT_SHARES[min(turn, len(KEPT_SHARES) - 1)]
                label = _tight(problem, best, prices=priced.price, share=share)
                cover = reduced_cost_cover(problem, candidates, duals=priced, label=label)
                duals = priced  # a cover that fails leaves the earlier ones
                if cover.loss(problem) <= MAX_TIMES_WORSE * lost:
                    start = cover
        prices = prices if duals is None else duals.price
        trial = refine(problem, start, passes=passes, seed=seed + turn + 1, bounds=prices, met=met)
        best = crossed(problem, best, trial)
        gained = lost - best.loss(problem)
        stalls = gained <= MIN_GAIN * lost
        if turn + 1 >= turns and stalls and is_priced:
            break
    return best


def crossed(problem: ClusteringProblem, one: Clustering, other: Clustering) -> Clustering:
    """Clusters that lose no more than either: in each part of the table those that lose less there.

    Parts are as small as they can be with every cluster of both within one part, and all that is
    left out in either within one, so that no more is left out than in one of them.

    Source: Whitley, Hains and Howe 2009, "Tunneling between optima: partition crossover for the
    traveling salesman problem", on tours.
    """
    labels = [clusters.label + 1 for clusters in (one, other)]
    records = np.arange(problem.records)
    outside = np.where((labels[0] == 0) | (labels[1] == 0), 0, records + 1)
    part, before = records, np.zeros(0, np.int64)
    while not np.array_equal(part, before):
        before = part
        for label in (*labels, outside):
            least = np.full(int(label.max()) + 1, problem.records)
            np.minimum.at(least, label, part)
            part = least[label]
        part = part[part]  # the first record of a part is in one as small or smaller
    first, second = (
        np.append(problem.suppressed, problem.cost(clusters.nodes))[label]
        for clusters, label in zip((one, other), labels, strict=True)
    )
    saved = np.zeros(problem.records, np.int64)
    np.add.at(saved, part, first - second)
    renumbered = np.where(other.label == NOWHERE, NOWHERE, other.label + len(one.nodes))
    return Clustering.of(problem, np.where(saved[part] > 0, renumbered, one.label))


def _tight(
    problem: ClusteringProblem, clusters: Clustering, *, prices: Reals, share: float
) -> Numbers:
    """The cluster of each record, of so many of those that lose least above what they are worth."""
    label = parts_of_k(problem, clusters)
    inside = label != NOWHERE
    cost = problem.cost(closures(problem, label))
    sizes = np.bincount(label[inside], minlength=len(cost))
    above = cost - np.bincount(label[inside], prices[inside], len(cost)) / np.maximum(sizes, 1)
    order = np.argsort(above, kind="stable")
    number = np.full(len(cost) + 1, NOWHERE)
    kept = order[: int(share * len(order))]
    number[kept] = np.arange(len(kept))
    tight_label: Numbers = number[label]
    return tight_label
