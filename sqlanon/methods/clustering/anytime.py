"""The method anytime: cuts from the top, refined and covered anew for as long as there is time.

A table elsewhere that has more combinations than this process may read is cut there, by counts as
those of `mondrian`, into blocks. These are read one after the other, cut to the end, and improved
by parallel tasks, with the records of each combination of quasi-identifiers in one cluster, so that
what is kept of a block is no more than a number for each combination.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.clustering.annealing import anneals
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters, largest_block, refined_block
from sqlanon.methods.clustering.mondrian import CountedTable, cut_to_the_end
from sqlanon.methods.clustering.neighbourhoods import searches
from sqlanon.methods.clustering.pricing import priced
from sqlanon.methods.clustering.rounds import Measure, PartBatch
from sqlanon.methods.local.input import encode_records, end_after, reading_end
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import TooManyCombinationsError
from sqlanon.policy.policy import Policy
from sqlanon.reports.search import ClusterSearch
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.anytime import TURNS
from sqlanon.search.clustering.blocks_of_clusters import (
    MAX_PRICED_RECORDS,
    Task,
    improved_in_blocks,
)
from sqlanon.search.clustering.effort import PASSES
from sqlanon.search.clustering.mondrian import Partition, cut_clusters
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem, column_bounds
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[ClusterOptions]
) -> Decided:
    """A recoding of every record, better the longer it is searched for.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        UnsatisfiableError: No clusters satisfy the policy.
        TimeLimitError: The time limit came before there were clusters.
    """
    turns = min(TURNS, max(1, round(TURNS * options.specific.passes / PASSES)))
    try:
        with engine.limited(reading_end(options.deadline)), phase("the encoding"):
            read = encode_records(engine, subject, policy=policy, loss=options.loss)
    except TooManyCombinationsError:
        return _in_blocks(engine, subject, policy=policy, options=options, turns=turns)

    def start(problem: ClusteringProblem) -> FirstClusters:
        return FirstClusters(cut_clusters(problem), column_bounds(problem))

    starting = priced(engine, read, options, start=start)
    return decide_clusters(read, options, start=starting, turns=turns)


def _in_blocks(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[ClusterOptions],
    turns: int,
) -> Decided:
    """A recoding of combinations, by blocks that are cut where the table is.

    Raises:
        PolicyError: What is asked for looks at all records at once.
    """
    _refuse_whole(options)
    started = time.monotonic()
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        table = CountedTable.of(engine, subject, policy=policy, loss=options.loss)
    at = time.monotonic()
    if not table.rule(until=options.deadline).halves:
        raise PolicyError(
            "records of this table are too many to be looked at together, and what two classes "
            "satisfy need not hold of both in one where persons are counted or a distance is "
            "scaled; choose --method mondrian or incognito, or allow more rows here "
            "(--memory-limit, --local-rows)"
        )
    deadline = end_after((at - started) / 2, policy, options.deadline)
    if subject.records > MAX_PRICED_RECORDS and not deadline.is_limited:
        turns = 0
    blocks = 0

    def improve(
        table: CountedTable, batch: PartBatch, cut: Partition, until: Deadline
    ) -> Partition:
        nonlocal blocks
        blocks += 1
        return _improved(table, batch, cut, options, turns=turns, until=until)

    closed = cut_to_the_end(
        engine,
        table,
        deadline,
        most=largest_block(options),
        measure=Measure.RECORDS,
        improve=improve,
    )
    search = ClusterSearch(
        candidates=0,
        clusters=closed.made,
        blocks=blocks,
        left_out=closed.lost,
        proven=table.proves(closed),
        bound="columns",
        cut_short=closed.ended,
    )
    note = (
        f"the table was cut where it is into {counted(blocks, 'block')} of up to "
        f"{counted(largest_block(options), 'record')}, which were read one by one; records alike "
        "in all quasi-identifiers stay together and clusters within a block, so the whole table "
        "at once may lose less"
    )
    return table.decided(closed, options, search=search, notes=(note,), at=at)


def _refuse_whole(options: Options[ClusterOptions]) -> None:
    """Refuses, by a `PolicyError`, options that need all records in this process."""
    asked = [f"--improve {options.specific.improve}"] * (anneals(options) or searches(options))
    asked += [f"--bound {options.specific.bound}"] * (options.specific.bound in {"quick", "full"})
    if asked:
        raise PolicyError(
            f"{asked[0]} looks at all records in this process, which this table has too many "
            "for; leave it out, or allow more rows here (--memory-limit, --local-rows)"
        )


def _improved(
    table: CountedTable,
    batch: PartBatch,
    cut: Partition,
    options: Options[ClusterOptions],
    *,
    turns: int,
    until: Deadline,
) -> Partition:
    """Parts of a block that lose no more than those it is cut into.

    What has one combination loses nothing that could be saved, and what has more records than are
    refined together stays as it is.
    """
    rows, most = batch.rows, refined_block(options, table.policy.k)
    first, last = np.full(cut.parts, np.iinfo(np.int64).max), np.zeros(cut.parts, np.int64)
    np.minimum.at(first, cut.part, batch.unit)
    np.maximum.at(last, cut.part, batch.unit)
    is_open = (first < last) & (np.bincount(cut.part, rows.sizes, cut.parts) <= most)
    if not (options.specific.refine and is_open.any()):
        return cut
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
    rows, judge, subject = batch.rows, table.judge(), table.subject
    values = np.stack(rows.values, axis=1) if rows.values else np.zeros((len(rows), 0), np.int64)
    demand = None
    if judge.every or rows.person is not None:
        demand = Demands(values, judge.every, rows.person, judge.k).part(records)
    columns = zip(subject.high, subject.trees, strict=True)
    is_bounded = any(high < tree.height for high, tree in columns)
    return ClusteringProblem(
        tuple(dimension.taxonomy for dimension in table.dimensions),
        np.stack(rows.leaves, axis=1).astype(np.int64)[records],
        judge.k,
        demand,
        highest=subject.high if is_bounded else (),
        suppressed=table.costs.unit,
    )
