"""Clusters as a method: from the first clusters of a table to a node for every record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.clustering.annealing import (
    AnnealedPart,
    Annealing,
    annealed_part,
    annealing_figures,
    annealing_notes,
    anneals,
)
from sqlanon.methods.clustering.first import (
    COVERED,
    Proof,
    Refuse,
    Start,
    StartedBlock,
    begin,
    block_notes,
    crosses_blocks,
    largest_block,
    refined_block,
    started,
)
from sqlanon.methods.clustering.neighbourhoods import REFINED_SHARE, searched, searches
from sqlanon.methods.clustering.releases import Releases, problem_of
from sqlanon.methods.local import Assigned, EncodedRecords, decided, search_end
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.unsatisfiable import unsatisfied_as_one
from sqlanon.microdata.distinct import expanded
from sqlanon.progress import tell
from sqlanon.reports.search import ClusterSearch
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.blocks_of_clusters import Task, improved_in_blocks
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering, ClusteringProblem
from sqlanon.wording import counted, listed

ORDINARY = 0.5
"""Share of the time for clusters found in the ordinary way, where others are annealed besides."""
PUBLISHING, LEAVING = 0.6, 0.5
"""Share of the time for a refinement that publishes everybody, and passes of the one that follows
and leaves records out, for each pass of the first."""
PASSES_BY_PRICES = 1.4
"""Passes of a refinement that begins from a cover by prices, which gains longer, for each other."""


def decide_clusters(
    read: EncodedRecords,
    options: Options[ClusterOptions],
    *,
    start: Start,
    refuse: Refuse | None = None,
    turns: int = 0,
) -> Decided:
    """A recoding of every record, from the clusters that a method starts from, refined.

    Records that no cluster within the highest levels may hold are left out first; of the others
    some more, within the suppression limit, where refined clusters lose less without them.

    Args:
        read: The table.
        options: How to cluster it.
        start: Finds the first clusters of the table, or of each block of a large one.
        refuse: Looks at all blocks before the first one is searched.
        turns: How often clusters are covered anew by prices of the closures met; 0 to refine alone.

    Raises:
        TimeLimitError: The time limit came before there were clusters.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    problem = replace(problem_of(read), deadline=search_end(read, options.deadline))
    refused = unsatisfied_as_one(read.policy, read.demands(), records=problem.records)
    if refused is not None:
        raise refused
    releases = Releases.of(problem, read.policy)
    ordinary = releases
    if anneals(options) or searches(options):
        share = ORDINARY if anneals(options) else REFINED_SHARE
        ordinary = releases.ended_by(releases.problem.deadline.share(share))
    is_whole = turns and not anneals(options)  # annealing keeps to its blocks
    most = releases.problem.records if is_whole else largest_block(options)
    blocks = begin(ordinary, options, start=start, refuse=refuse, most=most)
    refined = _refined(ordinary, blocks, options, turns=turns)
    clusters, cluster_notes = refined.clusters, refined.notes
    annealed = _annealed(releases, blocks, options, start=start, ordinary=clusters)
    if annealed is not None and annealed[1].is_kept:
        clusters, cluster_notes = annealed[0], ()
    annealing = None if annealed is None else annealed[1]
    ended = list(dict.fromkeys(block.first.ended for block in blocks if block.first.ended))
    if not ended and options.specific.refine and (refined.is_cut or problem.deadline.expired):
        ended = ["the refinement"]
    pools = None
    if searches(options):
        clusters, parted = searched(releases, blocks, clusters, costs=read.costs, options=options)
        pools = parted.figures(read.costs, problem.records)
        cluster_notes = cluster_notes if parted.after == parted.before else ()
        cluster_notes += (parted.note(read.costs, problem.records, loss=options.loss),)
    if ended and len(clusters.nodes) == 1:
        raise TimeLimitError(ended[0])  # nothing that the highest node would not do
    clusters = releases.settled(clusters)
    proof, crosses = Proof.of(releases, blocks), crosses_blocks(blocks, clusters)
    if crosses:
        proof = replace(proof, of_blocks=None)  # which says nothing of these
    proven = clusters.loss(problem) == proof.least
    if proven:
        ended = []  # with more time nothing better would have been found
    search = ClusterSearch(
        candidates=sum(block.first.candidates for block in blocks),
        clusters=len(clusters.nodes),
        blocks=len(blocks),
        left_out=int((clusters.label == NOWHERE).sum()),
        proven=proven,
        bound=proof.by,
        block_bound=proof.block_bound(read.costs, problem.records),
        annealing=None if annealing is None else annealing_figures(annealing, read),
        lns=pools,
        cut_short=bool(ended) or proof.is_cut or (annealing is not None and annealing.is_cut),
    )
    notes = (
        *block_notes(options, blocks, crosses=crosses),
        *proof.notes(read.costs, problem.records),
    )
    notes += (*_cover_notes(blocks), *cluster_notes, *releases.notes(clusters))
    notes += tuple(annealing_notes(annealing, options))
    if ended:
        notes += (f"the time limit ended {listed(ended)}: a better recoding may exist",)
    assigned = _assigned(read, releases, clusters)
    return decided(read, options, assigned=assigned, bound=proof.least, search=search, notes=notes)


def _annealed(
    releases: Releases,
    blocks: Sequence[StartedBlock],
    options: Options[ClusterOptions],
    *,
    start: Start,
    ordinary: Clustering,
) -> tuple[Clustering, Annealing] | None:
    """Annealed clusters of all records; None where there is nothing to anneal, or no time."""
    if not anneals(options):
        return None

    def search(alone: ClusteringProblem) -> Clustering:
        first = started(alone, start)
        if not options.specific.refine:
            return first.clusters
        other, prices = first.other, first.price
        return _refined_part(alone, first.clusters, options, other=other, prices=prices)[0]

    parts, ended = list[AnnealedPart](), releases.problem.deadline.share(COVERED)
    for number, block in enumerate(blocks):
        deadline = ended.share(1 / (len(blocks) - number))
        part = replace(block.problem, allowance=0, deadline=deadline)
        try:
            parts.append(annealed_part(part, options, search=search))
        except (TimeLimitError, UnsatisfiableError):
            return None
    stages = [
        _together(releases, blocks, stage) for stage in zip(*(p.stages for p in parts), strict=True)
    ]
    mended = [
        replace(block, first=replace(block.first, clusters=part.stages[-1], other=None))
        for block, part in zip(blocks, parts, strict=True)
    ]
    stages[-1] = _refined(releases, mended, options).clusters
    alone, exchanged, annealed = (clusters.loss(releases.whole) for clusters in stages)
    annealing = Annealing(tuple(parts), (alone, exchanged, annealed, ordinary.loss(releases.whole)))
    return stages[-1], annealing


@dataclass(frozen=True, slots=True)
class _Refined:
    """Clusters of all records after refinement.

    Args:
        clusters: The clusters.
        notes: Notes on these.
        is_cut: Whether the time limit ended the refinement, of some blocks at least.
    """

    clusters: Clustering
    notes: tuple[str, ...] = ()
    is_cut: bool = False


def _refined(
    releases: Releases,
    blocks: Sequence[StartedBlock],
    options: Options[ClusterOptions],
    *,
    turns: int = 0,
) -> _Refined:
    """Clusters of all records, refined across blocks where that is asked for.

    Records are left out where the policy allows for what that makes of the others.
    """
    first = _together(releases, blocks, [block.first.clusters for block in blocks])
    if not options.specific.refine:
        return _Refined(first)
    tell(f"refine: {counted(len(first.nodes), 'cluster')}")
    placeable, problem, other = releases.placeable, releases.problem, None
    if any(block.first.other is not None for block in blocks):
        starts = [block.first.other or block.first.clusters for block in blocks]
        other = _together(releases, blocks, starts)
        other = Clustering.of(problem, other.label[placeable])
    clusters = Clustering.of(problem, first.label[placeable])
    prices, is_cut = _prices(blocks), False
    for may_leave in [0] if releases.suppresses(first) else [1, 0]:
        alone = replace(problem, allowance=problem.allowance * may_leave)
        part, is_ended = _refined_part(
            alone, clusters, options, other=other, prices=prices, turns=turns
        )
        is_cut |= is_ended
        refined = releases.all_of(part.label, placeable)
        if releases.holds(refined):
            is_other = other is not None and part.loss(problem) < clusters.loss(problem)
            return _Refined(refined, (_start_note(options),) if is_other else (), is_cut)
    return _Refined(first, is_cut=is_cut)


def _prices(blocks: Sequence[StartedBlock]) -> Reals | None:
    """What each record of all blocks is worth, or loses at least; None where that is not known."""
    every = [first.price for first in (block.first for block in blocks) if first.price is not None]
    if len(every) < len(blocks):
        return None
    prices: Reals = np.concatenate([price.astype(np.float64) for price in every])
    return prices[np.argsort(np.concatenate([block.records for block in blocks]))]


def _start_note(options: Options[ClusterOptions]) -> str:
    """Says that refined clusters come from another start than the method's own."""
    return (
        "refinement started from a cover by reduced cost, where it mostly ends with a lower loss "
        f"than from the clusters of {options.method.name}"
    )


def _refined_part(
    problem: ClusteringProblem,
    clusters: Clustering,
    options: Options[ClusterOptions],
    *,
    other: Clustering | None,
    prices: Reals | Numbers | None,
    turns: int = 0,
) -> tuple[Clustering, bool]:
    """Refined clusters, at first without leaving anybody out, so that no limit makes them worse.

    They begin from the cover by prices where there is one, which once refined mostly loses less
    than the method's own, and never lose more than that. With them comes
    whether the time limit ended that.
    """
    start, passes = clusters, float(options.specific.passes)
    if other is not None:
        start, passes = other, PASSES_BY_PRICES * passes
    most = refined_block(options, problem.k)
    task = Task(problem, start, passes, turns, options.seed, prices)
    if problem.allowance:
        whole = replace(problem, allowance=0, deadline=problem.deadline.share(PUBLISHING))
        task = replace(task, problem=whole)
    refined, is_cut = improved_in_blocks(task, most=most, workers=options.workers)
    best = clusters if clusters.loss(problem) <= refined.loss(problem) else refined
    if not problem.allowance:
        return best, is_cut
    leaving = replace(
        task, problem=problem, clusters=best, passes=LEAVING * options.specific.passes, turns=0
    )
    clusters, is_ended = improved_in_blocks(leaving, most=most, workers=options.workers)
    return clusters, is_cut or is_ended


def _together(
    releases: Releases, blocks: Sequence[StartedBlock], parts: Sequence[Clustering]
) -> Clustering:
    """The clusters of all blocks as clusters of all records."""
    records = np.concatenate([block.records for block in blocks])
    if len(blocks) == 1 and len(records) == releases.whole.records:
        return parts[0]
    first = np.cumsum([0, *(len(part.nodes) for part in parts)])[:-1]
    labels = [
        np.where(part.label < 0, NOWHERE, part.label + number)
        for part, number in zip(parts, first, strict=True)
    ]
    return releases.all_of(np.concatenate(labels), records)


def _assigned(read: EncodedRecords, releases: Releases, clusters: Clustering) -> Assigned:
    """What becomes of every record; those without a cluster are at the top, or left out."""
    nodes = np.vstack([clusters.nodes, releases.whole.root])[clusters.label]
    taxonomies, lowest = releases.whole.taxonomies, read.subject.low
    levels = [
        np.maximum(taxonomy.level[nodes[:, column]], low)
        for column, (taxonomy, low) in enumerate(zip(taxonomies, lowest, strict=True))
    ]
    combination = expanded(read.combinations.sizes)
    return Assigned(
        combination,
        np.ones_like(combination),
        np.stack(levels, axis=1),
        (clusters.label == NOWHERE) & (not releases.suppresses(clusters)),
    )


def _cover_notes(blocks: Sequence[StartedBlock]) -> Iterator[str]:
    """What the method guarantees, and the records that its candidates left to others."""
    if blocks[0].first.guarantee:
        yield blocks[0].first.guarantee + (" within the same blocks" if len(blocks) > 1 else "")
    uncovered = sum(block.first.uncovered for block in blocks)
    if uncovered:
        yield (
            f"no candidate below 1/beta of a suppressed record covers "
            f"{counted(uncovered, 'record')}; they went where they cost least"
        )
