"""Clusters as a method: from the first clusters of a table to a node for every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.clustering.annealing import (
    AnnealedPart,
    Annealing,
    annealed_part,
    annealing_document,
    annealing_notes,
    anneals,
)
from sqlanon.methods.clustering.encoded import problem_of
from sqlanon.methods.clustering.first import (
    COVERED,
    Begun,
    FirstClusters,
    Refuse,
    Start,
    begin,
    block_notes,
    crosses_blocks,
    started,
)
from sqlanon.methods.clustering.lent import lent_clusters
from sqlanon.methods.clustering.neighbourhoods import REFINED, searched, searches
from sqlanon.methods.clustering.proof import Proof, least_by_record
from sqlanon.methods.clustering.releases import Releases
from sqlanon.methods.local.input import EncodedRecords, search_end
from sqlanon.methods.local.release import Assigned
from sqlanon.methods.local.result import LocalOutcome, decided
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.unsatisfiable import unsatisfied_as_one
from sqlanon.microdata.distinct import expanded
from sqlanon.reports.search import ClusterSearch
from sqlanon.search.clustering.assign import returned
from sqlanon.search.clustering.effort import Effort
from sqlanon.search.clustering.problem import NOWHERE, Clustering, ClusteringProblem
from sqlanon.search.clustering.refinement import refine, refine_best
from sqlanon.wording import counted, listed

ORDINARY = 0.5
"""Share of the time for clusters found in the ordinary way, where others are annealed besides."""
PUBLISHING, LEAVING = 0.6, 0.5
"""Share of the time for a refinement that publishes everybody, and passes of the one that follows
and leaves records out, for each pass of the first."""
Further = Callable[[ClusteringProblem, Clustering], Clustering]
"""What a method makes of clusters that another one lends it, before they are refined."""
PROMISING = 1.25
"""How many times as much as the method's own clusters lent ones may lose and still be refined."""


def decide_clusters(
    read: EncodedRecords,
    options: Options[ClusterOptions],
    *,
    start: Start,
    refuse: Refuse | None = None,
    further: Further | None = None,
) -> Decided:
    """A recoding of every record, from the clusters that a method starts from, refined.

    Records that no cluster within the highest levels may hold are left out first; of the others
    some more, within the suppression limit, where refined clusters lose less without them. Unless
    they stay as they were found, clusters never lose more than the best full-domain recoding that
    `options.lend` knows of: where that is promising, its classes are refined, too.

    Raises:
        TimeLimitError: The time limit came before there were clusters.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    problem = replace(problem_of(read), deadline=search_end(read, options.deadline))
    refused = unsatisfied_as_one(read.policy, read.demands(), records=problem.records)
    if refused is not None:
        raise refused
    releases = Releases.of(problem, read.policy)
    begun, clusters, told = _ordinary(
        releases, options, start=start, refuse=refuse, further=further
    )
    annealed = _annealed(releases, begun, options, start=start, ordinary=clusters)
    if annealed is not None and annealed[1].is_kept:
        clusters, told = annealed[0], ()
    annealing = None if annealed is None else annealed[1]
    ended, pools = _ended(begun, problem, options), None
    if searches(options):
        clusters, parted = searched(releases, begun, clusters, costs=read.costs, options=options)
        pools = parted.document(read.costs, problem.records)
        told = told if parted.after == parted.before else ()
        told += (parted.note(read.costs, problem.records, loss=options.loss),)
    if ended and len(clusters.nodes) == 1:
        raise TimeLimitError(ended[0])  # nothing that the highest node would not do
    clusters = releases.settled(clusters)
    proof, crosses = Proof.of(releases, begun), crosses_blocks(begun, clusters)
    if crosses:
        proof = replace(proof, of_blocks=None)  # which says nothing of these
    search = ClusterSearch(
        candidates=sum(each.first.candidates for each in begun),
        clusters=len(clusters.nodes),
        blocks=max(len(begun), 1),
        left_out=int((clusters.label == NOWHERE).sum()),
        proven=clusters.loss(problem) == proof.least and not ended,
        bound=proof.by,
        block_bound=proof.block_bound(read.costs, problem.records),
        annealing=None if annealing is None else annealing_document(annealing, read),
        lns=pools,
        given_up=_given_up(begun, options),
        cut_short=bool(ended) or proof.is_cut or (annealing is not None and annealing.is_cut),
    )
    notes = (
        *block_notes(options, begun, crosses=crosses),
        *proof.notes(read.costs, problem.records),
    )
    notes += (*_told(begun), *told, *releases.notes(clusters))
    notes += tuple(annealing_notes(annealing, options))
    if ended:
        notes += (f"the time limit ended {listed(ended)}: a better recoding may exist",)
    assigned = _assigned(read, releases, clusters)
    return decided(read, options, outcome=LocalOutcome(assigned, proof.least, search, notes))


def _ordinary(
    releases: Releases,
    options: Options[ClusterOptions],
    *,
    start: Start,
    refuse: Refuse | None,
    further: Further | None,
) -> tuple[list[Begun], Clustering, tuple[str, ...]]:
    """The first clusters of each block, the clusters that they become, and notes on these.

    Raises:
        TimeLimitError: The time limit came before anything was known.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    if anneals(options) or searches(options):
        share = ORDINARY if anneals(options) else REFINED
        releases = releases.ended_by(releases.problem.deadline.share(share))
    stay = options.method.takes("refine") and not options.own.refine
    # Before anything else: what is found first is there whenever the time is over.
    lent = None if stay else lent_clusters(releases, options)
    begun, failed = begin(releases, options, start=start, refuse=refuse)
    found = _better(releases, begun, lent, options, further=further)
    if found is None:
        assert failed is not None
        raise failed
    return begun, *found


def _annealed(
    releases: Releases,
    begun: Sequence[Begun],
    options: Options[ClusterOptions],
    *,
    start: Start,
    ordinary: Clustering,
) -> tuple[Clustering, Annealing] | None:
    """Annealed clusters of all records; None where there is nothing to anneal, or no time."""
    if not (begun and anneals(options)):
        return None

    def search(alone: ClusteringProblem) -> Clustering:
        first = started(alone, start)
        refines = options.own.refine
        return _refined_part(alone, first, effort=_effort(options))[0] if refines else first.found

    parts, ended = list[AnnealedPart](), releases.problem.deadline.share(COVERED)
    for number, each in enumerate(begun):
        deadline = ended.share(1 / (len(begun) - number))
        part = replace(each.problem, allowance=0, deadline=deadline)
        try:
            parts.append(annealed_part(part, options, search=search))
        except (TimeLimitError, UnsatisfiableError):
            return None
    stages = [
        _together(releases, begun, own) for own in zip(*(p.stages for p in parts), strict=True)
    ]
    mended = [
        replace(each, first=replace(each.first, found=part.stages[-1], other=None))
        for each, part in zip(begun, parts, strict=True)
    ]
    stages[-1], _ = _refined(releases, mended, options)
    alone, exchanged, found = (clusters.loss(releases.whole) for clusters in stages)
    told = Annealing(tuple(parts), (alone, exchanged, found, ordinary.loss(releases.whole)))
    return stages[-1], told


def _better(
    releases: Releases,
    begun: Sequence[Begun],
    lent: Clustering | None,
    options: Options[ClusterOptions],
    *,
    further: Further | None,
) -> tuple[Clustering, tuple[str, ...]] | None:
    """Of the method's clusters and those lent by full-domain search the better ones, refined."""
    found, told = _refined(releases, begun, options) if begun else (None, ())
    if lent is None:
        return None if found is None else (found, told)
    if found is not None and lent.loss(releases.whole) > PROMISING * found.loss(releases.whole):
        return found, told
    records, problem = (
        releases.placed(lent) if releases.shifts else (releases.placeable, releases.problem)
    )
    own = Clustering.of(problem, lent.label[records])
    if further is not None:
        own = further(problem, own)
    first = FirstClusters(own, least_by_record(releases, begun)[records])
    other, _ = _refined(releases, [Begun(records, problem, first)], options)
    every = (lent, other) if releases.holds(other) else (lent,)
    other = min(every, key=lambda each: each.loss(releases.whole))
    if found is not None and found.loss(releases.whole) <= other.loss(releases.whole):
        return found, told
    how = ", refined" if options.own.refine else ", cut further" if further else ""
    return other, (
        f"these are the classes of the best full-domain recoding{how}: they lose less than what "
        f"{options.method.name} found itself",
    )


def _refined(
    releases: Releases, begun: Sequence[Begun], options: Options[ClusterOptions]
) -> tuple[Clustering, tuple[str, ...]]:
    """Clusters of all records, refined where that is asked for, block by block; and notes on them.

    Records are left out where the policy allows for what that makes of the others.
    """
    first = _together(releases, begun, [each.first.found for each in begun])
    if not options.own.refine:
        return first, ()
    options.tell(f"refine: {counted(len(first.nodes), 'cluster')}")
    limits = [0] if releases.suppresses(first) else [1, 0]
    for may_leave in limits:
        parts = [
            _refined_part(
                replace(
                    each.problem,
                    allowance=each.problem.allowance * may_leave,
                    deadline=releases.problem.deadline.share(1 / (len(begun) - number)),
                ),
                each.first,
                effort=_effort(options),
            )
            for number, each in enumerate(begun)
        ]
        found = _together(releases, begun, [part for part, _ in parts])
        if releases.holds(found):
            return found, tuple(_start_notes(parts, options))
    return first, ()


def _start_notes(
    parts: Sequence[tuple[Clustering, int]], options: Options[ClusterOptions]
) -> Iterator[str]:
    """Says where refined clusters come from another start than the method's own."""
    other = sum(start > 0 for _, start in parts)
    if other:
        where = f" in {other} of {len(parts)} blocks" if len(parts) > 1 else ""
        yield (
            f"refinement started from a cover by reduced cost{where}: once refined, it loses less "
            f"than the clusters of {options.method.name}"
        )


def _effort(options: Options[ClusterOptions]) -> Effort:
    return Effort(passes=float(options.own.passes), seed=options.seed)


def _refined_part(
    problem: ClusteringProblem, first: FirstClusters, *, effort: Effort
) -> tuple[Clustering, int]:
    """Refined clusters, at first without leaving anybody out, so that no limit makes them worse.

    Beside them stands the start that they come from.
    """
    bounds = first.bounds if first.priced is None else first.priced.duals.price
    whole = problem
    if problem.allowance:
        whole = replace(problem, allowance=0, deadline=problem.deadline.share(PUBLISHING))
    found, start = refine_best(whole, first.starts, effort=effort, bounds=bounds)
    if problem.allowance:
        leaving = replace(effort, passes=effort.passes * LEAVING)
        found = returned(problem, refine(problem, found, effort=leaving, bounds=bounds))
    return found, start


def _together(
    releases: Releases, begun: Sequence[Begun], parts: Sequence[Clustering]
) -> Clustering:
    """The clusters of all blocks as clusters of all records."""
    records = np.concatenate([each.records for each in begun])
    if len(begun) == 1 and len(records) == releases.whole.records:
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


def _told(begun: Sequence[Begun]) -> Iterator[str]:
    """What the method guarantees, and the records that its candidates left to others."""
    if not begun:
        return
    if begun[0].first.guarantee:
        yield begun[0].first.guarantee + (" within the same blocks" if len(begun) > 1 else "")
    uncovered = sum(each.first.uncovered for each in begun)
    if uncovered:
        yield (
            f"no candidate below 1/beta of a suppressed record covers "
            f"{counted(uncovered, 'record')}; they went where they cost least"
        )


def _given_up(begun: Sequence[Begun], options: Options[ClusterOptions]) -> str | None:
    """What of a method's own search the time limit ended, where quick cuts took its place."""
    own = [each.first.ended for each in begun if each.first.is_instead]
    return f"{own[0]} of {options.method.name}" if own else None


def _ended(
    begun: Sequence[Begun], problem: ClusteringProblem, options: Options[ClusterOptions]
) -> list[str]:
    """The parts of the search that the time limit ended."""
    ended = list(dict.fromkeys(each.first.ended for each in begun if each.first.ended))
    if not ended and options.own.refine and problem.deadline.expired:
        return ["the refinement"]
    return ended
