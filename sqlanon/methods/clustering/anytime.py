"""The method anytime: cuts from the top, refined and covered anew for as long as there is time.

A table elsewhere that has more combinations than this process may read is cut there, by counts as
those of `mondrian`, into blocks. These are read one after the other, cut to the end, and improved
by parallel tasks, with the records of each combination of quasi-identifiers in one cluster, so that
two numbers for each row that was read are all that is kept of a block.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import (
    FirstClusters,
    larger_blocks,
    largest_block,
    refined_block,
)
from sqlanon.methods.clustering.mondrian import Closed, CountedTable, cut_to_the_end
from sqlanon.methods.clustering.pricing import priced
from sqlanon.methods.clustering.releases import highest
from sqlanon.methods.clustering.rounds import PartBatch
from sqlanon.methods.local import encode_records, end_after, reading_end
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import TooManyCombinationsError
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.reports.search import ClusterSearch
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.anytime import TURNS
from sqlanon.search.clustering.blocks_of_clusters import (
    MAX_PRICED_RECORDS,
    Task,
    improved_in_blocks,
)
from sqlanon.search.clustering.clustering_problem import (
    Clustering,
    ClusteringProblem,
    column_bounds,
)
from sqlanon.search.clustering.effort import PASSES
from sqlanon.search.clustering.mondrian import Partition, cut_clusters
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted, listed


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, better the longer it is searched for.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: What is asked for needs all records here, and there are too many.
        UnsatisfiableError: No clusters satisfy the policy.
        TimeLimitError: The time limit came before there were clusters.
    """
    turns = min(TURNS, max(1, round(TURNS * options.specific.passes / PASSES)))
    try:
        with (
            engine.limited(reading_end(options.deadline)),
            phase("the encoding"),
            engine.workspace(),
        ):
            read = encode_records(engine, subject, policy=policy, loss=options.loss)
    except TooManyCombinationsError:
        return _by_blocks(engine, subject, policy=policy, options=options, turns=turns)

    def start(problem: ClusteringProblem) -> FirstClusters:
        return FirstClusters(cut_clusters(problem), column_bounds(problem))

    starting = priced(engine, read, options, start=start)
    return decide_clusters(read, options, start=starting, turns=turns)


def _by_blocks(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[ClusterOptions],
    turns: int,
) -> Decided:
    """A recoding of combinations, by blocks that are cut where the table is.

    Raises:
        PolicyError: What is asked for needs all records here.
        UnsatisfiableError: Too many of the classes at the highest levels fail.
        TimeLimitError: The time limit came before anything was cut.
    """
    _refuse_whole(policy, options)
    started = time.monotonic()
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        table = CountedTable.of(engine, subject, policy=policy, loss=options.loss)
    at = time.monotonic()
    deadline = end_after((at - started) / 2, policy, options.deadline)
    if subject.records > MAX_PRICED_RECORDS and not deadline.is_limited:
        turns = 0
    closed = cut_to_the_end(
        engine,
        table,
        deadline,
        most=largest_block(options),
        improve=partial(_improved, options=options, turns=turns),
    )
    search = ClusterSearch(
        candidates=0,
        clusters=closed.made,
        blocks=len(closed.parts),
        left_out=closed.lost,
        proven=table.proves(closed),
        bound="columns",
        cut_short=closed.ended,
    )
    notes = tuple(_notes(closed, largest_block(options)))
    decided = table.decided(closed, options, search=search, is_provable=False, at=at, notes=notes)
    # Clusters of several blocks with the same labels are one class.
    search = replace(search, clusters=decided.report.statistics.classes)
    return replace(decided, report=replace(decided.report, search=search))


def _notes(closed: Closed, most: int) -> Iterator[str]:
    """Notes on the blocks that a table was read by, of so many records."""
    yield (
        "the combinations of this table are more than may be read here at once, so records alike "
        "in all quasi-identifiers stay together; all at once may lose less"
    )
    blocks = [int(block.sizes.sum()) for block in closed.parts]
    if len(blocks) > 1:
        yield (
            f"the table was cut into {len(blocks):,} blocks of up to {counted(most, 'record')}, "
            "and clusters lie within these"
        )
        if not closed.ended:
            yield from larger_blocks(blocks, most)


def _refuse_whole(policy: Policy, options: Options[ClusterOptions]) -> None:
    """Refuses, by a `PolicyError`, what looks at all records in this process."""
    settings, entity = options.specific, policy.entity
    asked = "" if settings.improve is None else f"--improve {settings.improve}"
    if settings.bound in {"quick", "full"}:
        asked = f"--bound {settings.bound}"
    if asked:
        raise PolicyError(
            f"{asked} looks at all records in this process, which this table has too many for; "
            "leave it out, or allow more rows here (--memory-limit, --local-rows)"
        )
    open_ = [
        demand.model.describe()
        for demand in policy.demands
        if not (demand.model.union_closed if entity is None else demand.model.superset_monotone)
    ]
    if settings.refine and open_:
        persons = "" if entity is None else " of persons"
        raise PolicyError(
            f"{listed(open_)}{persons} may fail for two classes in one that satisfy it, so that "
            "blocks of this table cannot be improved one by one; choose --method mondrian or "
            "incognito, or allow more rows here (--memory-limit, --local-rows)"
        )


def _improved(
    table: CountedTable,
    batch: PartBatch,
    cut: Partition,
    until: Deadline,
    *,
    options: Options[ClusterOptions],
    turns: int,
) -> Partition:
    """Parts of a block that lose no more than those it is cut into.

    A part of more records than are refined together stays as it is. So does a block that is larger
    than was asked for, as where time ended its cuts.
    """
    rows, most = batch.rows, refined_block(options, table.policy.k)
    if not options.specific.refine or rows.sizes.sum() > max(most, largest_block(options)):
        return cut
    is_open = np.bincount(cut.part, rows.sizes, cut.parts) <= most
    if until.expired or not is_open.any():
        return replace(cut, ended=cut.ended or until.expired)
    tell(f"refine: {counted(int(is_open.sum()), 'cluster')}")
    places = np.flatnonzero(is_open[cut.part])
    records = np.repeat(places, rows.sizes[places])
    problem = replace(_problem(table, batch, records), deadline=until)
    task = Task(
        problem,
        Clustering.of(problem, cut.part[records]),
        float(options.specific.passes),
        turns,
        options.seed,
        combination=batch.unit[records],
    )
    clusters, is_ended = improved_in_blocks(task, most=most, workers=options.workers)
    part = cut.part.copy()
    part[records] = cut.parts + clusters.label  # those of a row are all in one cluster
    parts, number = np.unique(part, return_inverse=True)
    return Partition(number, len(parts), cut.ended or is_ended)


def _problem(table: CountedTable, batch: PartBatch, records: Numbers) -> ClusteringProblem:
    """The problem of some rows of a block, one of them for each record."""
    rows, judge = batch.rows, table.judge()
    values = np.stack(rows.values, axis=1) if rows.values else np.zeros((len(rows), 0), np.int64)
    demand = None
    if judge.every or rows.person is not None:
        demand = Demands(values, judge.every, rows.person, judge.k).part(records)
    return ClusteringProblem(
        tuple(dimension.taxonomy for dimension in table.dimensions),
        np.stack(rows.leaves, axis=1).astype(np.int64)[records],
        judge.k,
        demand,
        highest=highest(table.subject),
        suppressed=table.costs.unit,
    )
