"""Clustered: local recoding of a table, from its itemsets to a node for every record."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.binding import Subject
from sqlanon.cautions import policy_notes
from sqlanon.checking import demanded_results, model_results
from sqlanon.encoding import Encoded, encode_subject
from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError, PolicyError, UnsatisfiableError
from sqlanon.loss import CellCosts
from sqlanon.measuring import Wanted as WantedMeasures
from sqlanon.measuring import measure_release
from sqlanon.mining import Wanted, mined
from sqlanon.options import Decided, Options
from sqlanon.plans import Plan
from sqlanon.policy import Policy
from sqlanon.privacy import KAnonymity
from sqlanon.query.names import create_temporary
from sqlanon.recoding import Clusters, Run
from sqlanon.report import ClassStatistics, Report, key
from sqlanon.search.blocks import cut
from sqlanon.search.bound import lower_bound
from sqlanon.search.clusters import Candidates, Problem
from sqlanon.search.clusters import Clusters as Found
from sqlanon.search.cover import exhaustive_cover, set_cover, within
from sqlanon.search.demands import Demands, ValueDemand
from sqlanon.search.direct import direct_cover, published_direct_cover
from sqlanon.search.refine import Effort, refine
from sqlanon.search.taxonomy import Taxonomy
from sqlanon.units import Units, block_of, expanded, units_of
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
    encoded, units, problem, costs = encoded_problem(engine, subject, policy, options)
    encoded_at = time.monotonic()
    found = clustered(engine, subject, encoded, problem, options)
    searched_at = time.monotonic()
    levels = [taxonomy.level for taxonomy in problem.taxonomies]
    recoding = recoded(units, found.nodes, subject, levels)
    report = replace(
        _report(subject, policy, options.loss, costs, found),
        method=options.method,
        records_per_level=per_level(subject, recoding),
    )
    return Decided(recoding, report, encoded_at, searched_at)


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
        notes: What a reader should know besides.
    """

    nodes: Numbers
    sizes: Numbers
    cost: int
    bound: int | None
    candidates: int
    notes: tuple[str, ...] = ()


def _report(
    subject: Subject, policy: Policy, loss: str, costs: CellCosts, found: Clustered
) -> Report:
    """The report before the published rows are measured: method, levels and bound."""
    statistics = ClassStatistics.of(Counter(found.sizes.tolist()).items())
    return Report(
        method="",
        loss_name=loss,
        loss={key(loss): costs.loss(found.cost, subject.records)},
        lower_bound=None if found.bound is None else costs.loss(found.bound, subject.records),
        levels={},
        heights={name: t.height for name, t in zip(subject.names, subject.trees, strict=True)},
        records=subject.records,
        suppressed_records=0,
        suppressed_cells=0,
        statistics=statistics,
        models=model_results(policy, statistics),
        search={
            "candidates": found.candidates,
            "clusters": len(found.sizes),
            "proven": found.cost == found.bound,
        },
        notes=(*policy_notes(policy), *_unused(policy), *found.notes),
    )


def _unused(policy: Policy) -> Iterator[str]:
    if policy.suppression_limit:
        yield "this method publishes every record; the suppression limit is not used"


def per_level(subject: Subject, recoding: Clusters) -> dict[str, list[int]]:
    """Records at each level, per quasi-identifier."""
    counts = [[0] * (tree.height + 1) for tree in subject.trees]
    for run in recoding.runs:
        for column, level in zip(counts, run.node or (), strict=run.node is not None):
            column[level] += run.last - run.first + 1
    return dict(zip(subject.names, counts, strict=True))


def clustered(
    engine: Engine, subject: Subject, encoded: Encoded, problem: Problem, options: Options
) -> Clustered:
    """Clusters of all records, by the method that is asked for, block by block.

    Raises:
        UnsatisfiableError: No clusters satisfy the policy.
    """
    blocks = cut(problem, options.block_records)
    if len(blocks) == 1:
        return _clustered(engine, subject, encoded, problem, options)
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
        (
            f"the table was cut into {len(blocks)} blocks of up to {options.block_records:,} "
            "records along its hierarchies; no cluster crosses them, and no bound is known",
        ),
    )


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
    bound = lower_bound(problem, candidates)
    _tell(options, f"cover: {len(candidates):,} candidates")
    found, uncovered = _covered(problem, candidates, options)
    if options.refine:
        _tell(options, f"refine: {len(found.sizes):,} clusters")
        found = refine(problem, found, Effort(seconds=options.time_limit, seed=options.seed))
    return Clustered(
        np.vstack([found.nodes, problem.root])[found.label],  # what is suppressed has the last one
        found.sizes,
        found.loss(problem),
        bound,
        len(candidates),
        tuple(_notes(problem, options, uncovered)),
    )


def _tell(options: Options, line: str) -> None:
    if options.progress is not None:
        options.progress(line)


def _covered(problem: Problem, candidates: Candidates, options: Options) -> tuple[Found, int]:
    """The clusters before refinement, and how many records no candidate covered."""
    if options.candidates == "all":
        return exhaustive_cover(problem)
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


def _notes(problem: Problem, options: Options, uncovered: int) -> Iterator[str]:
    if uncovered:
        yield (
            f"no candidate below 1/beta of a suppressed record covers "
            f"{counted(uncovered, 'record')}; they went where they cost least"
        )
    if options.method == "set-cover" and problem.demand is None and options.beta is None:
        factor = 2 * (1 + math.log(2 * problem.k))
        yield (
            f"set-cover loses at most 2 (1 + ln 2k) = {factor:.3g} times as much as the best "
            "recoding of single records"
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
) -> tuple[Encoded, Units, Problem, CellCosts]:
    """The table in codes, its units, what a search sees of it, and what cells cost."""
    encoded = encode_subject(engine, subject, plain(policy))
    units = units_of(engine, subject, encoded, policy)
    costs = CellCosts.of(
        options.loss, subject.trees, subject.weights, subject.records, encoded.counts
    )
    return encoded, units, problem_of(subject, policy, units, costs), costs


def problem_of(subject: Subject, policy: Policy, units: Units, costs: CellCosts) -> Problem:
    """The table as a search sees it: a row of leaves per record, in the order of the units."""
    records = expanded(units.sizes)
    every = tuple(
        ValueDemand(place, model, np.array(each.counts), tuple(map(np.array, each.nodes)))
        for place, each in enumerate(units.attributes)
        for model in each.models
    )
    demands = Demands(units.values[records], every) if every else None
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


def recoded(units: Units, nodes: Numbers, subject: Subject, levels: Sequence[Numbers]) -> Clusters:
    """The recoding that gives every record the nodes of its cluster.

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
    rows = sorted(zip(expanded(units.sizes).tolist(), *(h.tolist() for h in heights), strict=True))
    runs: list[Run] = []
    for unit, own_rows in groupby(rows, key=lambda row: row[0]):
        first = 0
        for row, alike in groupby(own_rows):
            count = sum(1 for _ in alike)
            runs.append(Run(unit, first, first + count - 1, row[1:]))
            first += count
    return Clusters(tuple(runs), units.by[len(subject.names) :])


def refuse_unsuited(subject: Subject, policy: Policy) -> None:
    """Refuses what a recoding of single records cannot do.

    Raises:
        PolicyError: Levels that may not be exceeded, or persons to count.
        HierarchyError: A label that stands for different nodes, since levels mix in the output.
    """
    capped = [
        name
        for name, tree, high in zip(subject.names, subject.trees, subject.high, strict=True)
        if high < tree.height
    ]
    if capped:
        raise PolicyError(
            f"a cluster may need any level, so this method takes no highest level for "
            f"{', '.join(map(repr, capped))}; leave max_level and level out, or use incognito"
        )
    if policy.entity is not None:
        raise PolicyError(
            f"this method counts records, not persons by {policy.entity!r}; use incognito"
        )
    faults = [
        fault
        for name, tree in zip(subject.names, subject.trees, strict=True)
        for fault in tree.mixing_faults(
            show_labels=subject.attributes[name].hierarchy.rows is not None
        )
    ]
    if faults:
        raise HierarchyError(faults)


def plain(policy: Policy) -> Policy:
    """The quasi-identifiers and k alone."""
    k = [model for model in policy.models if isinstance(model, KAnonymity)]
    return replace(policy, models=k, sensitive=(), entity=None)


def expected_report(engine: Engine, plan: Plan, table: exp.Table) -> Report:
    """The report with every measure of what a plan will publish, and its classes and models."""
    policy = plan.policy
    columns = list(dict.fromkeys([*policy.attributes, *policy.sensitive_attributes]))
    rows = plan.recoded(columns, table)
    rows.set("order", None)
    with engine.workspace():
        staged = engine.temporary("expected")
        engine.run(create_temporary(staged, rows))
        found = demanded_results(engine, staged, policy, columns)
        measured = measure_release(engine, table, staged, policy, WantedMeasures())
    return replace(
        plan.report,
        loss=measured.loss,
        suppressed_cells=int(measured.loss["suppressed_cells"]),
        statistics=found.statistics,
        models=found.models,
        notes=(*plan.report.notes, *measured.notes),
    )
