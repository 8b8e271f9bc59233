"""First clusters: what a method starts from, of a table as a whole or cut into blocks.

What they prove of every recoding of the table stands with them (`Proof`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.errors import UnsatisfiableError
from sqlanon.loss.cells import CellCosts
from sqlanon.methods.clustering.releases import Releases
from sqlanon.methods.options import RECORD_BYTES, ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.progress import portion, tell
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.blocks_of_clusters import blocks_of_clusters
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    column_bounds,
)
from sqlanon.search.clustering.dual_bound import Ascent, Duals
from sqlanon.search.clustering.effort import REFINED_CLUSTERS, REFINED_RECORDS
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.wording import at_least, counted

CUT, COVERED = 0.25, 0.75
"""Shares of the time that is left for the cut into blocks, and for the first clusters; the
refinement has the rest."""
PARTS = 4
"""Parts of a full block at most: cut to the end and put together again, they lost up to 6 % more on
Adult than blocks of large parts."""


@dataclass(frozen=True, slots=True)
class Priced:
    """What the records of a table or of a block of it are worth.

    Args:
        duals: Prices, and what they prove.
        effort: How long they were raised.
        is_cut: Whether the time limit ended that.
        below: What itemsets cost at least that were not looked at, one of which stands for all
            [units]; None where all were.
    """

    duals: Duals
    effort: Ascent
    is_cut: bool
    below: int | None = None


def left_out(below: int | None, costs: CellCosts) -> Iterator[str]:
    """That not all itemsets were looked at, where one stands for many."""
    if below is not None:
        yield (
            "only the cheapest itemsets were looked at: those at which a record loses "
            f"{costs.loss(below, 1):.3g} or more count as that much, so a higher bound may hold"
        )


@dataclass(frozen=True, slots=True)
class FirstClusters:
    """Clusters of a table or a block of it, before they are refined.

    Args:
        clusters: The clusters.
        bounds: Per record what it loses at least [units]; None where that is not known.
        candidates: How many itemsets they were chosen from.
        uncovered: How many records went elsewhere, as no itemset covers them.
        guarantee: How far from the best they are at most; empty where that is not known.
        ended: The part of the search that the time limit ended; empty for none.
        other: Clusters by what records are worth, to be refined in their place; None where there
            are none.
        priced: What records are worth together; None where that is not known.
        is_unpriced: Whether the time limit came before that was known.
    """

    clusters: Clustering
    bounds: Numbers | None = None
    candidates: int = 0
    uncovered: int = 0
    guarantee: str = ""
    ended: str = ""
    other: Clustering | None = None
    priced: Priced | None = None
    is_unpriced: bool = False

    @property
    def price(self) -> Reals | Numbers | None:
        """What each record is worth, or loses at least; None where neither is known."""
        return self.bounds if self.priced is None else self.priced.duals.price


Start = Callable[[ClusteringProblem], FirstClusters]
"""The first clusters of a table or of a block of it, as each method finds them.

They keep to the problem's highest levels. `NOWHERE` stands for records that are left out within its
allowance, or that are suppressed as a class of their own. Raises UnsatisfiableError where none
satisfy the policy, and TimeLimitError where the limit comes before anything is known.
"""


Refuse = Callable[[ClusteringProblem, Sequence[Numbers]], None]
"""Refuses a table by a `PolicyError`, given the records of each block that it is cut into."""


@dataclass(frozen=True, slots=True)
class StartedBlock:
    """A table or a block of it, as numbers of all records, with its first clusters."""

    records: Numbers
    problem: ClusteringProblem
    first: FirstClusters


def begin(
    releases: Releases,
    options: Options[ClusterOptions],
    *,
    start: Start,
    most: int,
    refuse: Refuse | None = None,
) -> list[StartedBlock]:
    """The first clusters of each block.

    Args:
        releases: The table.
        options: How to cluster it.
        start: Finds the clusters of a block.
        most: Largest block [records].
        refuse: Looks at all blocks before the first one is searched.

    Raises:
        PolicyError: It is refused.
        TimeLimitError: The time limit came before anything was known.
        UnsatisfiableError: No clusters of a block satisfy the policy.
    """
    problem = releases.problem
    blocks, cuts = [np.arange(problem.records)], None
    if problem.records > most:
        with phase("the cut into blocks"):
            blocks, cuts = _blocks(problem, most)
    if refuse is not None:
        refuse(problem, blocks)
    result: list[StartedBlock] = []
    left = np.zeros(problem.records, np.bool_) if cuts is None else cuts.label == NOWHERE
    room, open_ = problem.allowance - int(left.sum()), problem.records
    for number, records in enumerate(blocks, start=1):
        part, quick, out = problem, None, int(left[records].sum())
        if len(blocks) > 1:
            tell(f"block {number} of {len(blocks)}: {counted(len(records), 'record')}")
            ended = problem.deadline.share(COVERED).share(1 / (len(blocks) - number + 1))
            part = replace(problem.part(records), deadline=ended)
            quick = None if cuts is None else Clustering.of(part, cuts.label[records])
        # A block may leave out what its cuts do, and its share of what is open.
        part = replace(part, allowance=out + room * len(records) // open_)
        with portion((number - 1) / len(blocks), number / len(blocks)):
            try:
                first = started(part, start)
            except UnsatisfiableError:
                if quick is None:
                    raise
                first = FirstClusters(quick, column_bounds(part))
        room = max(0, room + out - int((first.clusters.label == NOWHERE).sum()))
        open_ -= len(records)
        result.append(StartedBlock(releases.placeable[records], part, first))
    return result


def _blocks(problem: ClusteringProblem, most: int) -> tuple[list[Numbers], Clustering | None]:
    """The records of each block, all of a part or none; and the parts, where they satisfy all."""
    limited = replace(problem, deadline=problem.deadline.share(CUT))
    cuts, least = None, most // PARTS
    with suppress(UnsatisfiableError):
        cuts = cut_clusters(limited, least=least)
    parts = cut_clusters(replace(limited, demand=None), least=least) if cuts is None else cuts
    # Records that are left out go with a part, so that no block is of these alone.
    parts = Clustering(np.maximum(parts.label, 0), parts.nodes)
    return blocks_of_clusters(problem, parts, most=most), cuts


def started(problem: ClusteringProblem, start: Start) -> FirstClusters:
    """The first clusters, found while there is time to refine them."""
    return start(replace(problem, deadline=problem.deadline.share(COVERED)))


def largest_block(options: Options[ClusterOptions]) -> int:
    """Largest table that is clustered as a whole, where memory counts, too [records]."""
    most = options.specific.block_records
    return most if options.memory is None else min(most, max(1, options.memory // RECORD_BYTES))


def refined_block(options: Options[ClusterOptions], k: int) -> int:
    """Largest table whose clusters are refined together [records]."""
    return min(REFINED_RECORDS, max(largest_block(options), REFINED_CLUSTERS * k))


def crosses_blocks(blocks: Sequence[StartedBlock], clusters: Clustering) -> bool:
    """Whether a cluster of all records holds some of several blocks."""
    sizes = np.bincount(clusters.label[clusters.label != NOWHERE])
    for block in blocks:
        labels = clusters.label[block.records]
        counts = np.bincount(labels[labels != NOWHERE], minlength=len(sizes))
        if ((counts > 0) & (counts < sizes)).any():
            return len(blocks) > 1
    return False


def block_notes(
    options: Options[ClusterOptions], blocks: Sequence[StartedBlock], *, crosses: bool
) -> Iterator[str]:
    """Notes on the blocks that a table was cut into, and whether clusters cross them even so."""
    if len(blocks) < 2:
        return
    most = largest_block(options)
    limit = "" if most == options.specific.block_records else ", as the memory limit allows"
    which = "first clusters do not" if crosses else "clusters do not"
    yield (
        f"the table was cut into {len(blocks)} blocks of up to {counted(most, 'record')}{limit}, "
        f"each of whole parts of mondrian; {which} cross them, so the whole table at once may lose "
        "less, and the bound adds up those of single columns; `sqlanon bound` may prove more"
    )
    yield from larger_blocks([len(block.records) for block in blocks], most)


def larger_blocks(blocks: Sequence[int], most: int) -> Iterator[str]:
    """That some blocks have more records than was asked for, by the records of each [records]."""
    larger = sum(records > most for records in blocks)
    if larger:
        are = "is" if larger == 1 else "are"
        yield f"{counted(larger, 'block')} could not be cut any further and {are} larger than that"


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proven of all recodings of a table.

    Args:
        least: What every recoding into nodes loses at least [units].
        by: What proves it: `columns`, `records`, or the effort by which records were priced.
        of_blocks: What clusters that cross no block lose at least, where there are several blocks
            of priced records and no cluster crosses them [units]; None otherwise.
        is_cut: Whether the time limit ended the search for prices.
        shares_limit: Whether blocks share a suppression limit.
        below: The least of that of priced blocks.
    """

    least: int
    by: str
    of_blocks: int | None = None
    is_cut: bool = False
    shares_limit: bool = False
    below: int | None = None

    @classmethod
    def of(cls, releases: Releases, blocks: Sequence[StartedBlock]) -> Proof:
        """By whatever the first clusters of blocks tell.

        What is known of a block is no bound: clusters of the whole table may cross its border. So
        where there are several, columns prove what holds for all recodings. A record that no
        cluster within the highest levels may hold is left out in any of them.
        """
        left = (releases.whole.records - len(releases.placeable)) * releases.problem.suppressed
        prices = [block.first.priced for block in blocks if block.first.priced is not None]
        known = dict.fromkeys(priced.effort.name.lower() for priced in prices)
        is_cut = any(priced.is_cut for priced in prices) or any(e.first.is_unpriced for e in blocks)
        below = min((priced.below for priced in prices if priced.below is not None), default=None)
        least = int(least_by_record(releases, blocks).sum())
        if len(prices) < len(blocks):
            by_columns = left + int(column_bounds(releases.problem).sum())
            by = "records" if least > by_columns else "columns"
            return cls(least, by, is_cut=is_cut)
        total = left + sum(priced.duals.total for priced in prices)
        if len(blocks) == 1:
            return cls(max(least, total), next(iter(known)), is_cut=is_cut, below=below)
        shares = releases.problem.allowance > 0
        return cls(least, "columns", total, is_cut, shares_limit=shares, below=below)

    def block_bound(self, costs: CellCosts, records: int) -> float | None:
        """What clusters that stay within blocks lose at least, in the loss's own terms."""
        return None if self.of_blocks is None else costs.loss(self.of_blocks, records)

    def notes(self, costs: CellCosts, records: int) -> Iterator[str]:
        """What a reader should know of it."""
        least = self.block_bound(costs, records)
        if least is not None:
            limit = ", with the suppression limit shared among blocks"
            yield (
                f"clusters that stay within these blocks lose at least {at_least(least)}"
                f"{limit if self.shares_limit else ''}"
            )
        if self.is_cut:
            yield "the share of the time limit for the bound ran out: a higher bound may hold"
        yield from left_out(self.below, costs)


def least_by_record(releases: Releases, blocks: Sequence[StartedBlock]) -> Numbers:
    """What each record costs at least, by itself [units]."""
    bounds = np.full(releases.whole.records, releases.problem.suppressed, np.int64)
    least = column_bounds(releases.problem)
    if len(blocks) == 1 and blocks[0].first.bounds is not None:
        least = np.maximum(least, blocks[0].first.bounds)
    bounds[releases.placeable] = least
    return bounds
