"""Clusters as a method: from the first clusters of a table to a node for every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.errors import TimeLimitError
from sqlanon.loss.cells import CellCosts
from sqlanon.methods.clustering.annealing import (
    Annealing,
    annealing_document,
    annealing_notes,
    improve,
)
from sqlanon.methods.local.input import EncodedRecords, search_end
from sqlanon.methods.local.release import Assigned
from sqlanon.methods.local.result import LocalOutcome, decided
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.unsatisfiable import unsatisfied_as_one
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import expanded
from sqlanon.policy.policy import Policy
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.blocks import cut
from sqlanon.search.clustering.lower_bound import column_bounds
from sqlanon.search.clustering.partition import partition
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem
from sqlanon.search.clustering.refine.search import Effort, refine
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted, listed

QUICK, COVERED = 0.25, 0.75
"""Shares of the time that is left for clusters to fall back on, and for the cover that follows; the
refinement has the rest."""
ORDINARY = 0.5
"""Share of the time for clusters found in the ordinary way, where others are annealed besides."""
RECORD_BYTES = 16_000
"""Memory that a cover takes for each record, mostly for its itemsets: some 30 to 80 of 100 bytes,
those of many columns more."""


@dataclass(frozen=True, slots=True)
class FirstClusters:
    """Clusters of a table or a block of it, before they are refined.

    Args:
        found: The clusters.
        bounds: Per record what it loses at least [units]; None where that is not known.
        candidates: How many itemsets they were chosen from.
        uncovered: How many records went elsewhere, as no itemset covers them.
        guarantee: How far from the best they are at most; empty where that is not known.
        ended: The part of the search that the time limit ended; empty for none.
    """

    found: Clustering
    bounds: Numbers | None = None
    candidates: int = 0
    uncovered: int = 0
    guarantee: str = ""
    ended: str = ""


Start = Callable[[ClusteringProblem, Clustering | None], FirstClusters]
"""The first clusters of a table or of a block of it, as each method finds them.

With a time limit it gets clusters to fall back on. Raises UnsatisfiableError where none satisfy the
policy, and TimeLimitError where the limit comes before anything is known.
"""


def decide_clusters(
    read: EncodedRecords, options: Options[ClusterOptions], *, start: Start
) -> Decided:
    """A recoding of every record, from the clusters that a method starts from, refined.

    Raises:
        TimeLimitError: The time limit came before there were clusters.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    problem = replace(problem_of(read), deadline=search_end(read, options.deadline))
    refused = unsatisfied_as_one(read.policy, read.demands(), records=problem.records)
    if refused is not None:
        raise refused
    found = _by_blocks(problem, options, start=start)
    if found.ended and found.clusters == 1:
        raise TimeLimitError(found.ended[0])  # nothing that the highest node would not do
    levels = [
        np.maximum(taxonomy.level[found.nodes[:, column]], low)
        for column, (taxonomy, low) in enumerate(
            zip(problem.taxonomies, read.subject.low, strict=True)
        )
    ]
    combination = expanded(read.combinations.sizes)
    assigned = Assigned(
        combination,
        np.ones_like(combination),
        np.stack(levels, axis=1),
        np.zeros(len(combination), bool),
    )
    search = {
        "candidates": found.candidates,
        "clusters": found.clusters,
        "blocks": found.blocks,
        "proven": found.cost == found.bound and not found.ended,
        **annealing_document(found.annealing, read),
    }
    notes = (
        *_unused(read.policy),
        *found.notes,
        *_without_itemset(found),
        *annealing_notes(found.annealing, options, policy=read.policy),
        *_ended(found),
    )
    return decided(read, options, outcome=LocalOutcome(assigned, found.bound, search, notes))


@dataclass(frozen=True, slots=True)
class RecordNodes:
    """The node of every record's cluster, and what is known of the clusters.

    Args:
        nodes: `nodes[record, column]`, records in the order of their distinct combinations.
        clusters: How many clusters there are.
        cost: What all cells lose [units].
        bound: What they lose at least in any recoding that satisfies k [units]; None where it is
            not known.
        candidates: How many itemsets clusters were chosen from.
        suppressed: How many records have all cells suppressed, as no itemset covers them.
        uncovered: How many records went elsewhere, as no itemset covers them.
        notes: What a reader should know besides.
        blocks: How many blocks the table was cut into, 1 where it was covered as a whole.
        ended: The parts of the search that the time limit ended.
        annealing: What annealing came to, of each block.
    """

    nodes: Numbers
    clusters: int
    cost: int
    bound: int | None
    candidates: int
    suppressed: int
    uncovered: int
    notes: tuple[str, ...] = ()
    blocks: int = 1
    ended: tuple[str, ...] = ()
    annealing: tuple[Annealing, ...] = ()


def _unused(policy: Policy) -> Iterator[str]:
    if policy.suppression_limit:
        yield "this method publishes every record; the suppression limit is not used"


def _by_blocks(
    problem: ClusteringProblem, options: Options[ClusterOptions], *, start: Start
) -> RecordNodes:
    """Clusters of all records, block by block.

    Raises:
        UnsatisfiableError: No clusters satisfy the policy.
    """
    with phase("the cut into blocks"):
        part = replace(problem, deadline=problem.deadline.share(QUICK))
        blocks = cut(part, largest_block(options))
    if len(blocks) == 1:
        return _refined(problem, options, start=start)
    nodes, found = np.empty_like(problem.leaves), []
    for number, records in enumerate(blocks, start=1):
        options.tell(f"block {number} of {len(blocks)}: {counted(len(records), 'record')}")
        part = _part(problem, records)
        own = problem.deadline.share(1 / (len(blocks) - number + 1))
        found.append(_refined(replace(part, deadline=own), options, start=start))
        nodes[records] = found[-1].nodes
    guarantee = (f"{note} within the same blocks" for note in found[0].notes)
    return RecordNodes(
        nodes,
        sum(each.clusters for each in found),
        sum(each.cost for each in found),
        None,
        sum(each.candidates for each in found),
        sum(each.suppressed for each in found),
        sum(each.uncovered for each in found),
        (*_block_notes(options, blocks), *guarantee),
        len(blocks),
        tuple(dict.fromkeys(ended for each in found for ended in each.ended)),
        tuple(own for each in found for own in each.annealing),
    )


def largest_block(options: Options[ClusterOptions]) -> int:
    """Largest table that is clustered as a whole, where memory counts, too [records]."""
    most = options.own.block_records
    return most if options.memory is None else min(most, max(1, options.memory // RECORD_BYTES))


def _block_notes(options: Options[ClusterOptions], blocks: Sequence[Numbers]) -> Iterator[str]:
    most = largest_block(options)
    limit = "" if most == options.own.block_records else ", as the memory limit allows"
    yield (
        f"the table was cut into {len(blocks)} blocks of up to {counted(most, 'record')}{limit}, "
        "along its hierarchies; no cluster crosses them, so the whole table at once may lose less, "
        "and no bound is known"
    )
    larger = sum(len(block) > most for block in blocks)
    if larger:
        are = "is" if larger == 1 else "are"
        yield f"{counted(larger, 'block')} could not be cut any further and {are} larger than that"


def _part(problem: ClusteringProblem, records: Numbers) -> ClusteringProblem:
    """The problem of some of the records, by the reference of the whole table."""
    demand = problem.demand
    if isinstance(demand, Demands):
        demand = replace(demand, values=demand.values[records])
    return replace(problem, leaves=problem.leaves[records], demand=demand)


def _refined(
    problem: ClusteringProblem, options: Options[ClusterOptions], *, start: Start
) -> RecordNodes:
    """Clusters of a table or a block of it, improved where that is asked for."""
    anneals = options.own.improve == "anneal" and problem.demand is not None
    own = replace(problem, deadline=problem.deadline.share(ORDINARY)) if anneals else problem
    first = _searched(own, options, start=start)

    def search(alone: ClusteringProblem) -> Clustering:
        return _searched(alone, options, start=start).found

    found, told = improve(problem, options, ordinary=first.found, search=search)
    nodes = _of_records(problem, replace(first, found=found))
    return replace(nodes, annealing=() if told is None else (told,))


def _searched(
    problem: ClusteringProblem, options: Options[ClusterOptions], *, start: Start
) -> FirstClusters:
    """The first clusters, refined where that is asked for."""
    started = _started(problem, start)
    found, ended = started.found, started.ended
    if options.own.refine:
        options.tell(f"refine: {counted(len(found.sizes), 'cluster')}")
        found = refine(problem, found, effort=Effort(seed=options.seed), bounds=started.bounds)
        ended = ended or ("the refinement" if problem.deadline.expired else "")
    return replace(started, found=found, ended=ended)


def _of_records(problem: ClusteringProblem, started: FirstClusters) -> RecordNodes:
    """The node of every record's cluster."""
    found, bounds, ended = started.found, started.bounds, started.ended
    return RecordNodes(
        np.vstack([found.nodes, problem.root])[found.label],  # what is suppressed has the last one
        len(found.sizes),
        found.loss(problem),
        None if bounds is None else int(bounds.sum()),
        started.candidates,
        int((found.label < 0).sum()),
        started.uncovered,
        (started.guarantee,) if started.guarantee else (),
        ended=(ended,) if ended else (),
    )


def _started(problem: ClusteringProblem, start: Start) -> FirstClusters:
    """The first clusters, those of a quick partition where the time does not suffice for others."""
    deadline = problem.deadline
    if not deadline.is_limited:
        return start(problem, None)
    quick = partition(replace(problem, deadline=deadline.share(QUICK)))
    try:
        return start(replace(problem, deadline=deadline.share(COVERED)), quick)
    except TimeLimitError as error:
        ended = error.phase or "the cover"
        return FirstClusters(quick, column_bounds(problem), ended=ended)


def _ended(found: RecordNodes) -> Iterator[str]:
    """A note on what the time limit cut short."""
    if found.ended:
        yield f"the time limit ended {listed(found.ended)}: a better recoding may exist"


def _without_itemset(found: RecordNodes) -> Iterator[str]:
    """Notes on the records that no itemset covers."""
    if found.suppressed:
        yield (
            f"no itemset covers {counted(found.suppressed, 'record')}: all their cells are "
            "suppressed, and no suppression limit bounds how many they are"
        )
    if found.uncovered:
        yield (
            f"no candidate below 1/beta of a suppressed record covers "
            f"{counted(found.uncovered, 'record')}; they went where they cost least"
        )


def problem_of(read: EncodedRecords) -> ClusteringProblem:
    """A row of leaves per record, in the order of the distinct combinations."""
    records = expanded(read.combinations.sizes)
    demands = read.demands()
    if demands is not None:
        demands = replace(demands, values=demands.values[records])
    taxonomies = tuple(_taxonomies(read.subject, read.costs))
    return ClusteringProblem(taxonomies, read.combinations.leaves[records], read.policy.k, demands)


def _taxonomies(subject: Subject, costs: CellCosts) -> Iterator[Taxonomy]:
    """The hierarchies as arrays; below the lowest level allowed a cell costs what it does there."""
    for tree, column, low in zip(subject.trees, costs.costs, subject.low, strict=True):
        own = Taxonomy.of(tree, column)
        raised = own.ancestors[low, own.low]
        yield replace(own, cost=np.where(own.level < low, own.cost[raised], own.cost))
