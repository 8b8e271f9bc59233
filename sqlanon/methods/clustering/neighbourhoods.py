"""Large neighbourhood search as an improvement: refined clusters parted anew, pool by pool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.loss.cells import CellCosts
from sqlanon.methods.clustering.first import Proof, StartedBlock, least_by_record
from sqlanon.methods.clustering.releases import Releases
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.progress import tell
from sqlanon.reports.search import PoolFigures, PoolLosses
from sqlanon.search.arrays import Reals
from sqlanon.search.clustering.clustering_problem import Clustering
from sqlanon.search.clustering.repartition import records_of_a_pool, repartitioned
from sqlanon.wording import counted

REFINED_SHARE = 0.6
"""Share of the time in which clusters are found and refined, at most."""
POOLS_PER_RECORD, MAX_POOLED_RECORDS, MIN_POOLS = 6, 300_000, 50
"""In how many pools each record is, about, the most records of all pools together and the fewest
pools, where neither their number nor a time limit is given: a pool takes time in proportion to its
records."""


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """What large neighbourhood search came to.

    Args:
        pools: How many pools were parted by a program.
        better: In how many of these that lost less.
        before: What all records lost before [units].
        after: What they lose then [units].
    """

    pools: int
    better: int
    before: int
    after: int

    def figures(self, costs: CellCosts, records: int) -> PoolFigures:
        """What a report tells of it."""
        before, after = (costs.loss(cost, records) for cost in (self.before, self.after))
        return PoolFigures(self.pools, self.better, PoolLosses(refined=before, parted=after))

    def note(self, costs: CellCosts, records: int, *, loss: str) -> str:
        """A sentence of it, for readers of a plan."""
        before, after = (costs.loss(cost, records) for cost in (self.before, self.after))
        return (
            f"large neighbourhood search: {counted(self.pools, 'pool')} parted anew, "
            f"{self.better:,} of them better, {loss} {before:.6g} -> {after:.6g}"
        )


def searches(options: Options[ClusterOptions]) -> bool:
    """Whether large neighbourhood search is asked for."""
    return options.specific.improve == "lns"


def searched(
    releases: Releases,
    blocks: Sequence[StartedBlock],
    clusters: Clustering,
    *,
    costs: CellCosts,
    options: Options[ClusterOptions],
) -> tuple[Clustering, Neighbourhoods]:
    """Clusters of all records that lose no more, of the whole table even where it has blocks."""
    before = clusters.loss(releases.whole)
    none = Neighbourhoods(0, 0, before, before)
    if releases.suppresses(clusters):
        return clusters, none
    # Those that no cluster may hold are left out whatever becomes of the others.
    problem, places = releases.problem, releases.placeable
    alone = (releases.whole.records - len(places)) * releases.whole.suppressed
    bound, most = Proof.of(releases, blocks).least, _pools(releases, options)

    def tell_pools(pools: int, loss: int) -> None:
        lost = costs.loss(loss + alone, releases.whole.records)
        least = costs.loss(bound, releases.whole.records)
        proven = f" >= {least:.6g}, ratio {(loss + alone) / bound:.4f}" if bound else ""
        line = f"lns: {pools:,} pools, {options.loss} {lost:.6g}{proven}"
        tell(line, None if math.isinf(most) else pools / most)

    done = repartitioned(
        problem,
        Clustering.of(problem, clusters.label[places]),
        price=_price(releases, blocks),
        pools=most,
        seed=options.seed,
        least=bound - alone,
        tell=tell_pools,
    )
    improved = releases.all_of(done.clusters.label, places)
    if improved.loss(releases.whole) >= before or not releases.holds(improved):
        return clusters, replace(none, pools=done.pools)
    return improved, Neighbourhoods(done.pools, done.better, before, improved.loss(releases.whole))


def _pools(releases: Releases, options: Options[ClusterOptions]) -> float:
    """How many pools are drawn."""
    if options.specific.pools is not None:
        return options.specific.pools
    if releases.problem.deadline.is_limited:
        return math.inf
    problem = releases.problem
    every = min(POOLS_PER_RECORD * problem.records, MAX_POOLED_RECORDS)
    return max(int(every / records_of_a_pool(problem.k)), MIN_POOLS)


def _price(releases: Releases, blocks: Sequence[StartedBlock]) -> Reals:
    """What records are worth, as far as that is known [units]."""
    price = least_by_record(releases, blocks).astype(np.float64)
    for block in blocks:
        if block.first.priced is not None:
            price[block.records] = block.first.priced.duals.price
    prices: Reals = price[releases.placeable]
    return prices
