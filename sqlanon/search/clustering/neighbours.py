"""Nearest neighbours: the records that cost least to be published alike with a record.

The distance of two records is what each costs at the closure of both. It is a metric but for
records alike, which cost what the lowest level allowed does: a closure that holds a, b and c costs
no more than that of a and b and that of b and c together, since closures of one column that share a
record contain each other (Kenig 2009, lemma 4.1.1).

That is asked of records of one division, which a cluster may hold: of others the costs stand for
nothing.

Records with the same values are one combination with a number of copies, and their distances are
asked for a row at a time: no more than one row of the matrix is ever in memory. 19,502 combinations
of Adult take 2 s of processor time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.progress import advance, tell
from sqlanon.search.arrays import Numbers, packed, united
from sqlanon.search.clustering.closure_costs import PairCosts
from sqlanon.search.clustering.clustering_problem import ClusteringProblem, renumbered
from sqlanon.wording import counted

ROWS_BETWEEN_CHECKS = 64
"""Rows after which the deadline is looked at."""
MAX_NEIGHBOURS = 64
"""Most neighbours of a combination that are kept in memory."""
FARTHEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Copies:
    """The distinct combinations of a table, numbered by their first records.

    Args:
        combination: Per record its combination.
        sizes: Per combination its copies [records].
        first: Per combination its first record.
        leaves: Its leaf numbers, shape `(combinations, columns)`.
    """

    combination: Numbers
    sizes: Numbers
    first: Numbers
    leaves: Numbers

    @classmethod
    def of(cls, problem: ClusteringProblem) -> Copies:
        """The combinations of a problem."""
        _, same = np.unique(problem.leaves, axis=0, return_inverse=True)
        combination = renumbered(same.ravel())
        _, first = np.unique(combination, return_index=True)
        return cls(combination, np.bincount(combination), first, problem.leaves[first])

    def __len__(self) -> int:
        return len(self.sizes)


def refuse_beyond(most: int, combinations: int, *, method: str, instead: str) -> None:
    """Refuses, by a `PolicyError`, to compare every two of more combinations than so many."""
    if combinations > most:
        raise PolicyError(
            f"{method} compares every two of {combinations:,} distinct combinations of the "
            f"quasi-identifiers; it takes at most {most:,} at once. Use {instead}, or cut the "
            f"table into smaller blocks with block_records (--block-records {most})"
        )


def refuse_blocks(
    problem: ClusteringProblem, blocks: Sequence[Numbers], *, most: int, method: str, instead: str
) -> None:
    """The same for a table that is cut into blocks, whose divisions are compared one by one.

    Args:
        problem: The table.
        blocks: The records of each block.
        most: As of `refuse_beyond`.
        method: As there.
        instead: As there.

    Raises:
        PolicyError: A division of a block has more combinations.
    """
    widths = [taxonomy.leaves for taxonomy in problem.taxonomies]
    key, division, largest = united(packed(problem.leaves, widths)), problem.division, 0
    for records in blocks:
        _, first = np.unique(key[records], return_index=True)
        largest = max(largest, int(np.bincount(division[records[first]]).max()))
    refuse_beyond(most, largest, method=method, instead=instead)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest other combinations of each, up to those that make k records with it.

    Args:
        copies: The combinations.
        alone: Per combination what its records cost by themselves [units].
        bound: Per combination what a record costs at the closure with the (k - 1)-th nearest other
            record [units].
        near: Per combination its neighbours, the nearest first, then by number; `MAX_NEIGHBOURS` at
            most, and none of a combination of k copies.
        cost: Their distances [units].
        search: Finds more of them.
    """

    copies: Copies
    alone: Numbers
    bound: Numbers
    near: tuple[Numbers, ...]
    cost: tuple[Numbers, ...]
    search: NeighbourSearch

    @classmethod
    def of(cls, problem: ClusteringProblem) -> Neighbours:
        """The neighbours of every combination, in time for all pairs.

        Raises:
            TimeLimitError: The problem's deadline came before they were known.
        """
        copies = Copies.of(problem)
        tell(f"neighbours: {counted(len(copies), 'distinct combination')}")
        search, alone = NeighbourSearch(problem, copies), problem.cost(copies.leaves)
        near, costs, bound = list[Numbers](), list[Numbers](), alone.copy()
        for combination in range(len(copies)):
            if combination % ROWS_BETWEEN_CHECKS == 0:
                problem.deadline.check()
                advance(combination / len(copies))
            others, cost = search.of(combination)
            near.append(others[:MAX_NEIGHBOURS].copy())
            costs.append(cost[:MAX_NEIGHBOURS].copy())
            if len(others):
                bound[combination] = cost[-1]
        return cls(copies, alone, bound, tuple(near), tuple(costs), search)

    @property
    def record_bounds(self) -> Numbers:
        """What each record costs at least in any cluster of k records [units].

        One of its other records is no nearer than the (k - 1)-th nearest of all.
        """
        bounds: Numbers = self.bound[self.copies.combination]
        return bounds


class NeighbourSearch:
    """Finds the neighbours of one combination by comparing it with all.

    Attributes:
        pairs: What closures of two combinations cost.
    """

    def __init__(self, problem: ClusteringProblem, copies: Copies) -> None:
        self._problem, self._copies = problem, copies
        self.pairs = PairCosts(problem.taxonomies, copies.leaves)

    def of(self, combination: int) -> tuple[Numbers, Numbers]:
        """The nearest other combinations that make k records with it, and their distances."""
        lacking = self._problem.k - int(self._copies.sizes[combination])
        if lacking <= 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        row = self.pairs.row(combination)
        row[combination] = FARTHEST
        near = nearest(self._problem, row, lacking, sizes=self._copies.sizes)
        return near, row[near]


def nearest(problem: ClusteringProblem, row: Numbers, records: int, *, sizes: Numbers) -> Numbers:
    """The combinations that cost least and hold so many records, equal ones by their numbers.

    Args:
        problem: The table.
        row: Distances of combinations, of which one is `FARTHEST` and never taken.
        records: Fewest records wanted.
        sizes: The records of each combination.
    """
    count = min(records, len(row) - 1)
    if (problem.suppressed + 2) * len(row) < FARTHEST:
        # A cost and a number fit one word, so that a partial sort suffices.
        keys = np.minimum(row, FARTHEST // len(row) - 1)
        keys *= len(row)
        keys += np.arange(len(row))
        if count < len(row) - 1:
            keys = np.partition(keys, count - 1)[:count]
        order = np.sort(keys)[:count] % len(row)
    else:
        order = np.argsort(row, kind="stable")[:count]
    enough = int(np.searchsorted(np.cumsum(sizes[order]), records))
    return order[: enough + 1]
