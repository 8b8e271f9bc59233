"""Blocks of whole clusters: a large table improved part by part, by several workers at once.

What refinement takes grows with the clusters among which it looks for near ones. So a large table
is cut into blocks that are each a union of clusters, and a block is improved by itself. Its
clusters satisfy everything already, so that any union will do, whatever the demand and the highest
levels; and whatever is found in a block may be published. Each turn cuts along other borders, so
that records meet others than before.

A block is halved where its clusters are furthest apart: in the column whose cells lose most more in
the closure of the block than in those of its clusters.

Blocks and seeds depend on the table alone, never on how many workers there are, so that equal seeds
give equal clusters on any machine. Where there are none, blocks are improved in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Event

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance, portion
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.anytime import crossed, improved
from sqlanon.search.clustering.assign import mend, returned
from sqlanon.search.clustering.clustering_problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    records_of,
)
from sqlanon.workers import Worker, Workers

BORDERS = 2
"""Along how many borders a table is cut, one after the other."""
IMPROVED = 0.8
"""Share of the time of clusters whose combinations are put together again in what is left."""
MAX_PRICED_RECORDS = 2**18
"""Records of a table of several blocks above which none is covered anew, unless a time limit says
how long that may take."""


@dataclass(frozen=True, slots=True)
class Task:
    """A block to improve.

    Args:
        problem: Its records.
        clusters: Their clusters.
        passes: As of `improved`.
        turns: As there.
        seed: As there.
        prices: As there.
        combination: Numbers of the records; those with equal ones are in one cluster, and stay so.
            Then none may be left out. None where each record goes where it is best.
    """

    problem: ClusteringProblem
    clusters: Clustering
    passes: float
    turns: int
    seed: int
    prices: Reals | Numbers | None = None
    combination: Numbers | None = None

    @property
    def due(self) -> Deadline:
        """When it is improved no more; what is left is to put combinations together again."""
        return self.problem.deadline.share(1.0 if self.combination is None else IMPROVED)

    def run(self) -> Clustering:
        """The improved clusters, with records put back that may stay at no loss."""
        clusters = improved(
            replace(self.problem, deadline=self.due),
            self.clusters,
            passes=self.passes,
            turns=self.turns,
            seed=self.seed,
            prices=self.prices,
        )
        if self.combination is not None:
            with suppress(TimeLimitError):
                return put_together(self.problem, clusters, self.combination, before=self.clusters)
            return self.clusters
        return returned(self.problem, clusters) if self.problem.allowance else clusters


def improved_in_blocks(
    whole: Task, *, most: int, workers: Workers | None = None
) -> tuple[Clustering, bool]:
    """Clusters that lose no more: of the whole table, or block by block where it is larger.

    Time grows in proportion to the records of a table that has several blocks.

    Args:
        whole: The table. Borders share its passes, and have one of its turns each, if any.
        most: Largest block [records].
        workers: Whoever improves blocks in place of this process; None for nobody.

    Returns:
        The clusters, and whether the deadline, or a block's share of the time, ended the search.
    """
    problem, clusters, is_cut = whole.problem, whole.clusters, False
    if problem.records <= most:
        due = whole.due
        return whole.run(), due.expired
    is_priced = problem.records <= MAX_PRICED_RECORDS or problem.deadline.is_limited
    turns = min(whole.turns, 1) if is_priced else 0
    whole = replace(whole, passes=whole.passes / BORDERS, turns=turns)
    count = -(-problem.records // most)
    with nullcontext(()) if workers is None else workers(count, problem.deadline) as at_work:
        for border in range(BORDERS):
            blocks = blocks_of_clusters(problem, clusters, most=most, border=border)
            deadline = problem.deadline.share(1 / (BORDERS - border))
            task = replace(whole, problem=replace(problem, deadline=deadline), clusters=clusters)
            clusters, is_ended = _turn(task, blocks, at_work, border=border)
            is_cut |= is_ended
    return clusters, is_cut


def _turn(
    whole: Task, blocks: Sequence[Numbers], workers: Sequence[Worker], *, border: int
) -> tuple[Clustering, bool]:
    """The clusters of all records after every block was improved, and whether time ended one."""
    problem, clusters = whole.problem, whole.clusters
    blocks = [records for records in blocks if (clusters.label[records] != NOWHERE).any()]
    free = SimpleQueue[Worker]()
    for worker in workers:
        free.put(worker)
    room = max(problem.allowance - int((clusters.label == NOWHERE).sum()), 0)

    def task_of(number: int) -> Task:
        records = blocks[number]
        clustering = Clustering.of(problem.part(records), clusters.label[records])
        # Each block may leave out what it does now, and its share of what is open.
        left = int((clustering.label == NOWHERE).sum()) + room * len(records) // problem.records
        allowance = min(left, problem.allowance)
        rounds = -(-(len(blocks) - number) // max(len(workers), 1))
        deadline = problem.deadline.share(1 / rounds)
        return replace(
            whole,
            problem=replace(problem.part(records), allowance=allowance, deadline=deadline),
            clusters=clustering,
            seed=whole.seed + border * len(blocks) + number,
            prices=None if whole.prices is None else whole.prices[records],
            combination=None if whole.combination is None else whole.combination[records],
        )

    def work(number: int) -> tuple[Clustering, bool]:
        task = task_of(number)
        ended = task.due
        if not workers:
            with portion(share(number), share(number + 1)):
                return task.run(), ended.expired
        worker = free.get()
        try:
            # What a worker does that died, this process does in its place.
            clustering = worker.run(task) or (clusters if stopped.is_set() else task.run())
            return clustering, ended.expired
        finally:
            free.put(worker)

    def share(number: int) -> float:
        return (border + number / len(blocks)) / BORDERS

    label, made, is_cut, stopped = np.full(problem.records, NOWHERE), 0, False, Event()
    with ThreadPoolExecutor(max(len(workers), 1)) as pool:
        results = (pool.map if workers else map)(work, range(len(blocks)))
        try:
            improved_blocks = enumerate(zip(blocks, results, strict=True), start=1)
            for number, (records, (part, is_ended)) in improved_blocks:
                is_cut |= is_ended
                label[records] = np.where(part.label == NOWHERE, NOWHERE, part.label + made)
                made += len(part.nodes)
                advance(share(number))
        except BaseException:
            stopped.set()
            for worker in workers:  # for which the pool waits
                worker.kill()
            raise
    return Clustering.of(problem, label), is_cut


def put_together(
    problem: ClusteringProblem, clusters: Clustering, combination: Numbers, *, before: Clustering
) -> Clustering:
    """Clusters of whole combinations that lose no more than others of such.

    The records of a combination go to that of their clusters which has most of them, of several
    that where they cost least; clusters that this leaves too small or failing are merged.

    Args:
        problem: The table; clusters that satisfy its demand do so together, too.
        clusters: Clusters of all records.
        combination: The number of each record's combination.
        before: Clusters of whole combinations.

    Raises:
        TimeLimitError: The problem's deadline came first.
    """
    _, number = np.unique(combination, return_inverse=True)
    pair, records = np.unique(number * len(clusters.nodes) + clusters.label, return_counts=True)
    owner, cluster = np.divmod(pair, len(clusters.nodes))
    order = np.lexsort((problem.cost(clusters.nodes)[cluster], -records, owner))
    label = cluster[order[np.flatnonzero(np.diff(owner, prepend=-1))]][number]
    return crossed(problem, before, mend(problem, Clustering.of(problem, label)))


def blocks_of_clusters(
    problem: ClusteringProblem, clusters: Clustering, *, most: int, border: int = 0
) -> list[Numbers]:
    """The records of blocks of about equal size, each of whole clusters and records left out.

    Args:
        problem: The table.
        clusters: Its clusters.
        most: Largest block wanted [records]; one cluster may be larger.
        border: Which of the columns decides on a cut: the one that is furthest apart for 0, the
            next one for 1, and so on.
    """
    left = np.flatnonzero(clusters.label == NOWHERE)
    unit = clusters.label.copy()
    unit[left] = len(clusters.nodes) + np.arange(len(left))
    # The numbers of leaves are those of nodes.
    nodes = np.concatenate([clusters.nodes, problem.leaves[left]])
    sizes = np.bincount(unit, minlength=len(nodes))
    block, made, waiting = np.empty(len(nodes), np.int64), 0, [np.arange(len(nodes))]
    while waiting:
        units = waiting.pop()
        parts = -(-int(sizes[units].sum()) // most)
        if parts < 2 or len(units) < 2:
            block[units] = made
            made += 1
            continue
        units = units[_ordered(problem, nodes[units], sizes[units], border)]
        through = np.cumsum(sizes[units])
        few = parts // 2
        cut = int(np.searchsorted(through, through[-1] * few / parts)) + 1
        cut = min(cut, len(units) - 1)
        waiting += [units[cut:], units[:cut]]
    return records_of(block[unit])


def _ordered(problem: ClusteringProblem, nodes: Numbers, sizes: Numbers, border: int) -> Numbers:
    """The order of units along the column at which they are cut; any where all are alike."""
    gains, orders = list[float](), list[Numbers]()
    for column, taxonomy in enumerate(problem.taxonomies):
        node = nodes[:, column]
        low, high = taxonomy.low[node], taxonomy.high[node]
        if (low + high).max() == (low + high).min():
            continue
        top = taxonomy.closure(low.min(keepdims=True), high.max(keepdims=True))[0]
        gains.append(float(taxonomy.cost[top] - (taxonomy.cost[node] * sizes).sum() / sizes.sum()))
        orders.append(np.argsort(low + high, kind="stable"))
    if not gains:
        return np.arange(len(nodes))
    best = sorted(range(len(gains)), key=gains.__getitem__, reverse=True)
    return orders[best[border % len(best)]]
