"""Clustered: local recoding of a table, from its itemsets to a node for every record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sqlanon.binding import Subject
from sqlanon.encoding import Encoded, encode_subject
from sqlanon.engine.base import Engine
from sqlanon.errors import UnsatisfiableError
from sqlanon.localized import (
    Coded,
    Outcome,
    coded,
    decided,
    demands_of,
    plain,
    refuse_unsuited,
)
from sqlanon.loss import CellCosts
from sqlanon.mining import Wanted, mined
from sqlanon.options import Decided, Options
from sqlanon.policy import Policy
from sqlanon.search.blocks import cut
from sqlanon.search.bound import record_bounds
from sqlanon.search.clusters import Candidates, Problem
from sqlanon.search.clusters import Clusters as Found
from sqlanon.search.cover import exhaustive_cover, set_cover, within
from sqlanon.search.demands import Demands
from sqlanon.search.direct import direct_cover, published_direct_cover
from sqlanon.search.refine import Effort, refine
from sqlanon.search.taxonomy import Taxonomy
from sqlanon.tallied import Assigned
from sqlanon.units import Units, block_of, expanded
from sqlanon.unsatisfiable import unsatisfied_as_one
from sqlanon.wording import counted

Numbers = NDArray[np.int64]


def decide(engine: Engine, subject: Subject, policy: Policy, options: Options) -> Decided:
    """A recoding of every record, and what is known of it before it is measured.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: The policy asks for what this method cannot do.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    refuse_unsuited(subject, policy)
    encoded, read, problem = encoded_problem(engine, subject, policy, options)
    if isinstance(problem.demand, Demands):
        refused = unsatisfied_as_one(policy, problem.demand, problem.records)
        if refused is not None:
            raise refused
    found = clustered(engine, subject, encoded, problem, options)
    levels = [taxonomy.level for taxonomy in problem.taxonomies]
    assigned = assigned_levels(read.units, found.nodes, subject, levels)
    outcome = found.outcome(policy, assigned)
    return decided(subject, policy, options, read, outcome)


@dataclass(frozen=True, slots=True)
class Clustered:
    """Clusters that a search found.

    Args:
        nodes: `nodes[record, column]`: the node of each record's cluster, records in the order of
            their units.
        sizes: Records of each cluster.
        cost: What all cells lose [units].
        bound: What they lose at least in any recoding that satisfies k [units]; None where it is
            not known.
        candidates: How many itemsets clusters were chosen from.
        suppressed: How many records have all cells suppressed, as no itemset covers them.
        uncovered: How many records went elsewhere, as no itemset covers them.
        notes: What a reader should know besides.
        blocks: How many blocks the table was cut into, 1 where it was covered as a whole.
    """

    nodes: Numbers
    sizes: Numbers
    cost: int
    bound: int | None
    candidates: int
    suppressed: int
    uncovered: int
    notes: tuple[str, ...] = ()
    blocks: int = 1

    def outcome(self, policy: Policy, assigned: Assigned) -> Outcome:
        """What is reported of them."""
        search = {
            "candidates": self.candidates,
            "clusters": len(self.sizes),
            "blocks": self.blocks,
            "proven": self.cost == self.bound,
        }
        notes = (*_unused(policy), *self.notes, *_without_itemset(self))
        return Outcome(assigned, self.bound, search, notes)


def _unused(policy: Policy) -> Iterator[str]:
    if policy.suppression_limit:
        yield "this method publishes every record; the suppression limit is not used"


def clustered(
    engine: Engine, subject: Subject, encoded: Encoded, problem: Problem, options: Options
) -> Clustered:
    """Clusters of all records, by the method that is asked for, block by block.

    Raises:
        UnsatisfiableError: No clusters satisfy the policy.
    """
    blocks = cut(problem, options.largest_block)
    guarantee = tuple(_guarantee(problem, options, len(blocks)))
    if len(blocks) == 1:
        return replace(_clustered(engine, subject, encoded, problem, options), notes=guarantee)
    nodes, found = np.empty_like(problem.leaves), []
    for number, records in enumerate(blocks, start=1):
        _tell(options, f"block {number} of {len(blocks)}: {len(records):,} records")
        part = _part(problem, records)
        with engine.workspace():
            own = block_of(engine, subject, encoded, part)
            found.append(_clustered(engine, subject, own, part, options))
        nodes[records] = found[-1].nodes
    return Clustered(
        nodes,
        np.concatenate([each.sizes for each in found]),
        sum(each.cost for each in found),
        None,
        sum(each.candidates for each in found),
        sum(each.suppressed for each in found),
        sum(each.uncovered for each in found),
        (*_block_notes(options, blocks), *guarantee),
        len(blocks),
    )


def _block_notes(options: Options, blocks: Sequence[Numbers]) -> Iterator[str]:
    most = options.largest_block
    limit = "" if most == options.block_records else ", as the memory limit allows"
    yield (
        f"the table was cut into {len(blocks)} blocks of up to {most:,} records{limit}, along its "
        "hierarchies; no cluster crosses them, so the whole table at once may lose less, and no "
        "bound is known"
    )
    larger = sum(len(block) > most for block in blocks)
    if larger:
        yield f"{counted(larger, 'block')} could not be cut any further and is larger than that"


def _part(problem: Problem, records: Numbers) -> Problem:
    """The problem of some of the records, by the reference of the whole table."""
    demand = problem.demand
    if isinstance(demand, Demands):
        demand = replace(demand, values=demand.values[records])
    return replace(problem, leaves=problem.leaves[records], demand=demand)


def _clustered(
    engine: Engine, subject: Subject, encoded: Encoded, problem: Problem, options: Options
) -> Clustered:
    candidates = candidates_of(engine, subject, encoded, problem, options)
    bounds = record_bounds(problem, candidates)
    _tell(options, f"cover: {len(candidates):,} candidates")
    found, uncovered = _covered(problem, candidates, options)
    if options.refine:
        _tell(options, f"refine: {len(found.sizes):,} clusters")
        effort = Effort(seconds=options.time_limit, seed=options.seed)
        found = refine(problem, found, effort, bounds)
    return Clustered(
        np.vstack([found.nodes, problem.root])[found.label],  # what is suppressed has the last one
        found.sizes,
        found.loss(problem),
        int(bounds.sum()),
        len(candidates),
        int((found.label < 0).sum()),
        uncovered,
    )


def _tell(options: Options, line: str) -> None:
    if options.progress is not None:
        options.progress(line)


def _covered(problem: Problem, candidates: Candidates, options: Options) -> tuple[Found, int]:
    """The clusters before refinement, and how many records no candidate covered."""
    if options.candidates == "all":
        return exhaustive_cover(problem, options.beta)
    if options.beta is not None:
        candidates = within(problem, candidates, options.beta)
    if options.method == "set-cover":
        return set_cover(problem, candidates)
    if not options.suppress_uncovered:
        return direct_cover(problem, candidates), 0
    found = published_direct_cover(problem, candidates)
    left = np.flatnonzero(found.label < 0)
    if len(left) and not problem.satisfies(left):
        raise UnsatisfiableError(
            f"no itemset covers {counted(len(left), 'record')}, which do not satisfy the models as "
            "a class of their own; leave suppress_uncovered out, and they go where they cost least"
        )
    return found, 0


def _without_itemset(found: Clustered) -> Iterator[str]:
    """What became of the records that no itemset covers."""
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


def _guarantee(problem: Problem, options: Options, blocks: int) -> Iterator[str]:
    """How far from the best a set cover is at most, where that is known."""
    if options.method == "set-cover" and problem.demand is None and options.beta is None:
        factor = 2 * (1 + math.log(2 * problem.k))
        yield (
            f"set-cover loses at most 2 (1 + ln 2k) = {factor:.3g} times as much as the best "
            f"recoding of single records{' within the same blocks' if blocks > 1 else ''}"
        )


def candidates_of(
    engine: Engine, subject: Subject, encoded: Encoded, problem: Problem, options: Options
) -> Candidates:
    """The itemsets that clusters may be published as."""
    kind = "frequent" if options.candidates == "frequent" else "closed"
    heights = [tree.height for tree in subject.trees]
    wanted = Wanted(problem.k, kind, [0] * len(heights), heights, options.progress)
    found = mined(engine, encoded, subject.trees, wanted).fetch(engine)
    return Candidates.of(problem, np.stack(found.nodes, axis=1), found.supports)


def encoded_problem(
    engine: Engine, subject: Subject, policy: Policy, options: Options
) -> tuple[Encoded, Coded, Problem]:
    """The table in codes, in the database and out of it, and what a search sees of it."""
    encoded = encode_subject(engine, subject, plain(policy))
    read = coded(engine, subject, policy, options.loss, encoded)
    return encoded, read, problem_of(subject, policy, read.units, read.costs)


def problem_of(subject: Subject, policy: Policy, units: Units, costs: CellCosts) -> Problem:
    """The table as a search sees it: a row of leaves per record, in the order of the units."""
    records = expanded(units.sizes)
    demands = demands_of(units)
    if demands is not None:
        demands = replace(demands, values=units.values[records])
    return Problem(tuple(taxonomies(subject, costs)), units.leaves[records], policy.k, demands)


def taxonomies(subject: Subject, costs: CellCosts) -> list[Taxonomy]:
    """The hierarchies as arrays; below the lowest level allowed a cell costs what it does there."""
    made = []
    for tree, column, low in zip(subject.trees, costs.costs, subject.low, strict=True):
        own = Taxonomy.of(tree, column)
        raised = own.ancestors[low, own.low]
        cost = np.where(own.level < low, own.cost[raised], own.cost)
        made.append(replace(own, cost=cost))
    return made


def assigned_levels(
    units: Units, nodes: Numbers, subject: Subject, levels: Sequence[Numbers]
) -> Assigned:
    """The levels that give every record the nodes of its cluster.

    Args:
        units: The units.
        nodes: `nodes[record, column]`: the node of each record's cluster, records in the order of
            their units.
        subject: The table, whose lowest levels are kept.
        levels: Per column the level of every node.
    """
    heights = [
        np.maximum(own[nodes[:, number]], low)
        for number, (own, low) in enumerate(zip(levels, subject.low, strict=True))
    ]
    records = len(nodes)
    one = np.ones(records, np.int64)
    every = np.stack(heights, axis=1)
    return Assigned(expanded(units.sizes), one, every, np.zeros(records, bool))
