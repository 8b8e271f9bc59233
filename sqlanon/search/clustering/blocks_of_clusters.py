"""Blocks of whole clusters: a large table improved part by part, one process for each core.

What refinement takes grows with the clusters among which it looks for near ones. So a large table
is cut into blocks that are each a union of clusters, and a block is improved by itself. Its
clusters satisfy everything already, so that any union will do, whatever the demand and the highest
levels; and whatever is found in a block may be published. Each turn cuts along other borders, so
that records meet others than before.

A block is halved where its clusters are furthest apart: in the column whose cells lose most more in
the closure of the block than in those of its clusters.

Blocks and seeds depend on the table alone, never on how many processes there are, so that equal
seeds give equal clusters on any machine. Where another process cannot be had, blocks are improved
in this one.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import BinaryIO

import numpy as np

from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.clustering.anytime import improved
from sqlanon.search.clustering.assign import returned
from sqlanon.search.clustering.problem import NOWHERE, Clustering, ClusteringProblem

BORDERS = 2
"""Along how many borders a table is cut, one after the other."""
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
    """

    problem: ClusteringProblem
    clusters: Clustering
    passes: float
    turns: int
    seed: int
    prices: Reals | Numbers | None = None

    def run(self) -> Clustering:
        """The improved clusters, with records put back that may stay at no loss."""
        found = improved(
            self.problem,
            self.clusters,
            passes=self.passes,
            turns=self.turns,
            seed=self.seed,
            prices=self.prices,
        )
        return returned(self.problem, found) if self.problem.allowance else found


def improved_in_blocks(whole: Task, *, most: int, processes: int = 1) -> Clustering:
    """Clusters that lose no more: of the whole table, or block by block where it is larger.

    Time grows in proportion to the records of a table that has several blocks.

    Args:
        whole: The table. Borders share its passes, and turns as far as there are enough.
        most: Largest block [records].
        processes: Most blocks that are improved at once.
    """
    problem, clusters = whole.problem, whole.clusters
    if problem.records <= most:
        return whole.run()
    is_priced = problem.records <= MAX_PRICED_RECORDS or problem.deadline.is_limited
    turns = -(-whole.turns // (2 * BORDERS)) if is_priced else 0
    whole = replace(whole, passes=whole.passes / BORDERS, turns=turns)
    with _workers(min(processes, -(-problem.records // most))) as workers:
        for border in range(BORDERS):
            blocks = blocks_of_clusters(problem, clusters, most=most, border=border)
            deadline = problem.deadline.share(1 / (BORDERS - border))
            due = replace(whole, problem=replace(problem, deadline=deadline), clusters=clusters)
            clusters = _turn(due, blocks, workers, border=border)
    return clusters


def _turn(
    whole: Task, blocks: Sequence[Numbers], workers: Sequence[Worker], *, border: int
) -> Clustering:
    """The clusters of all records after every block was improved."""
    problem, clusters = whole.problem, whole.clusters
    free = SimpleQueue[Worker]()
    for worker in workers:
        free.put(worker)
    room = problem.allowance - int((clusters.label == NOWHERE).sum())

    def work(number: int) -> Clustering:
        records = blocks[number]
        if (clusters.label[records] == NOWHERE).all():
            return Clustering(clusters.label[records], clusters.nodes[:0])
        held = Clustering.of(problem.part(records), clusters.label[records])
        # Each block may leave out what it does now, and its share of what is open.
        allowance = int((held.label == NOWHERE).sum()) + room * len(records) // problem.records
        rounds = -(-(len(blocks) - number) // len(workers))
        deadline = problem.deadline.share(1 / rounds)
        task = replace(
            whole,
            problem=replace(problem.part(records), allowance=allowance, deadline=deadline),
            clusters=held,
            seed=whole.seed + border * len(blocks) + number,
            prices=None if whole.prices is None else whole.prices[records],
        )
        worker = free.get()
        try:
            return worker.run(task)
        finally:
            free.put(worker)

    label, made = np.full(problem.records, NOWHERE), 0
    with ThreadPoolExecutor(len(workers)) as pool:
        for number, found in enumerate(pool.map(work, range(len(blocks)))):
            own = np.where(found.label == NOWHERE, NOWHERE, found.label + made)
            label[blocks[number]] = own
            made += len(found.nodes)
            advance((border + (number + 1) / len(blocks)) / BORDERS)
    return Clustering.of(problem, label)


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
        records = int(sizes[units].sum())
        parts = -(-records // most)
        if parts < 2 or len(units) < 2:
            block[units] = made
            made += 1
            continue
        units = units[_ordered(problem, nodes[units], sizes[units], border)]
        through = np.cumsum(sizes[units])
        cut = int(np.searchsorted(through, records * (parts // 2) / parts)) + 1
        cut = min(cut, len(units) - 1)
        waiting += [units[cut:], units[:cut]]
    order = np.argsort(block[unit], kind="stable")
    borders = np.cumsum(np.bincount(block[unit], minlength=made))[:-1]
    return np.split(order, borders)


def _ordered(problem: ClusteringProblem, nodes: Numbers, sizes: Numbers, border: int) -> Numbers:
    """The order of units along the column at which they are cut; as it is where all are alike."""
    gains, orders = list[float](), list[Numbers]()
    for column, taxonomy in enumerate(problem.taxonomies):
        own = nodes[:, column]
        low, high = taxonomy.low[own], taxonomy.high[own]
        if (low + high).max() == (low + high).min():
            continue
        top = taxonomy.closure(low.min(keepdims=True), high.max(keepdims=True))[0]
        gains.append(float(taxonomy.cost[top] - (taxonomy.cost[own] * sizes).sum() / sizes.sum()))
        orders.append(np.argsort(low + high, kind="stable"))
    if not gains:
        return np.arange(len(nodes))
    best = sorted(range(len(gains)), key=gains.__getitem__, reverse=True)
    return orders[best[border % len(best)]]


class Worker:
    """This process, or another one that improves blocks in its place.

    A task goes to it and clusters come back by pipes; nothing of either is written to a disk. It is
    started by a command of its own, since a copy of this process would have the locks of threads
    that it has not, and another start of the user's program would run that again.

    Args:
        process: The other process; None for this one.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None = None) -> None:
        self._process = process

    def run(self, task: Task) -> Clustering:
        """The improved clusters; where the other process fails, this one does its work."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            with suppress(OSError, EOFError, pickle.PickleError):
                pickle.dump(task, self._process.stdin)
                self._process.stdin.flush()
                found: Clustering = pickle.load(self._process.stdout)
                return found
            self.end()
        return task.run()

    def end(self) -> None:
        """Ends the other process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def _workers(processes: int) -> Iterator[list[Worker]]:
    """So many workers; this process alone where others are of no use or cannot be started."""
    started = list[Worker]()
    try:
        if processes > 1 and sys.executable:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            with suppress(OSError):
                for _ in range(processes):
                    command = [sys.executable, "-m", __name__]
                    pipe = subprocess.PIPE
                    process = subprocess.Popen(
                        command,
                        stdin=pipe,
                        stdout=pipe,
                        stderr=subprocess.DEVNULL,
                        env=environment,
                    )
                    started.append(Worker(process))
        yield started or [Worker()]
    finally:
        for worker in started:
            worker.end()


def serve(tasks: BinaryIO, results: BinaryIO) -> None:
    """Improves blocks one after the other, until there are no more."""
    with suppress(EOFError):
        while True:
            task: Task = pickle.load(tasks)
            pickle.dump(task.run(), results)
            results.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)
