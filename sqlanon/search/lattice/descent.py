"""Descent: a good node of a lattice that is too large for a search, by counts in memory.

A query counts the classes of a node of 30,000 records in 40 to 200 ms, a sort in less than one.
Every node of every hierarchy has a random number, and the key of a row is the sum of those that it
is generalized to. So rows of one key are one class (but for a collision of some 40 bits or more),
and to move a column is one addition. The lowest bits of a key are the row's own number, so that
sorted keys tell which rows a class has.

From the highest node on, columns take turns: each moves to the level of the least score while the
others stay, until none moves. Then two to four columns are kicked a level up or down, and it begins
anew; where that ends at no higher a score, the next kick starts from there. The score is the loss
and a weight for each record that is suppressed beyond the allowance. The weight doubles where the
columns settle beyond it and halves where they settle within, so the walk crosses the border both
ways, which finds far more than one that stays within.

Source: iterated local search with strategic oscillation, Glover 1977, "Heuristics for integer
programming using surrogate constraints".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.loss.objectives import ClassCounts
from sqlanon.progress import tell
from sqlanon.recoding import Node
from sqlanon.search.arrays import Flags, Numbers, Small
from sqlanon.search.lattice.bounds import at_node
from sqlanon.search.lattice.incognito import Lattice
from sqlanon.search.privacy import Demands, Sparse
from sqlanon.wording import counted

MAX_SORTED_ROWS = 100_000_000
"""Rows that are sorted before the last kick, two seconds or some more."""
CHECK_ROWS = 10_000
"""Rows that take about as long to sort as a check takes besides."""
KICKED = 2, 4
"""Columns that are kicked, at least and at most."""

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RowsInMemory:
    """Distinct combinations of a table in memory.

    Args:
        leaves: Per column the leaf of each row.
        sizes: Records of each row [records].
        nodes: `nodes[column][level][leaf]`.
        costs: `costs[column][level][node]`: the cost of a cell [units]; empty where the loss is
            none of cells.
        k: Smallest class size allowed [records].
        demands: What classes must satisfy besides, by the distribution of the whole table.
    """

    leaves: Sequence[Small]
    sizes: Numbers
    nodes: Sequence[Sequence[Sequence[int]]]
    costs: Sequence[Sequence[Sequence[int]]]
    k: int
    demands: Demands | None = None


@dataclass(frozen=True, slots=True)
class Generalized:
    """Rows at a node: the key of each, and what the cells of its records cost [units]."""

    keys: Keys
    costs: Numbers


class HashedClasses:
    """Counts the classes of nodes, from a key for each row.

    Args:
        rows: The table.
        random: What the numbers of nodes are drawn from.
    """

    def __init__(self, rows: RowsInMemory, random: np.random.Generator) -> None:
        self._rows, self._bits = rows, np.uint64(max(len(rows.sizes) - 1, 1).bit_length())
        self._row_mask = (np.uint64(1) << self._bits) - np.uint64(1)
        levels = [[np.asarray(level) for level in column] for column in rows.nodes]
        self._numbers: list[list[Keys]] = [
            [(_drawn(random, int(level[-1]) + 1) << self._bits)[level] for level in column]
            for column in levels
        ]
        self._costs: list[list[Numbers]] = [
            [np.asarray(cost, np.int64)[level] for cost, level in zip(costs, column, strict=True)]
            for costs, column in zip(rows.costs, levels, strict=False)
        ]

    def at(self, node: Node) -> Generalized:
        """The rows at a node."""
        keys = np.arange(len(self._rows.sizes), dtype=np.uint64)
        costs = np.zeros(len(keys), np.int64)
        for numbers, leaves, level in zip(self._numbers, self._rows.leaves, node, strict=True):
            keys += numbers[level][leaves]
        for prices, leaves, level in zip(self._costs, self._rows.leaves, node, strict=False):
            costs += prices[level][leaves]
        return Generalized(keys, costs * self._rows.sizes)

    def moved(self, rows: Generalized, column: int, *, old: int, new: int) -> Generalized:
        """The rows where a column moves from its old level to a new one."""
        leaves, numbers = self._rows.leaves[column], self._numbers[column]
        keys, costs = rows.keys + (numbers[new] - numbers[old])[leaves], rows.costs
        if self._costs:
            prices = self._costs[column]
            costs = costs + (prices[new] - prices[old])[leaves] * self._rows.sizes
        return Generalized(keys, costs)

    def count(self, rows: Generalized) -> ClassCounts:
        """The classes; those that fail a model are counted as it is asked for the first time."""
        keys = np.sort(rows.keys)
        order, classes = (keys & self._row_mask).astype(np.int64), keys >> self._bits
        starts = np.flatnonzero(np.append(True, classes[1:] != classes[:-1]))
        sizes = np.add.reduceat(self._rows.sizes[order], starts)
        small = sizes < self._rows.k
        if self._rows.demands is not None:
            small |= self._failing(order, starts, large=~small)
        lost = sizes[small]
        return ClassCounts(
            len(sizes),
            len(lost),
            int(lost.sum()),
            int((sizes * sizes).sum()),
            int((lost * lost).sum()),
            int(np.add.reduceat(rows.costs[order], starts)[small].sum()),
        )

    def _failing(self, order: Numbers, starts: Numbers, *, large: Flags) -> Flags:
        """Which of the large classes fail a demand."""
        demands = self._rows.demands
        assert demands is not None
        lengths, place = np.diff(np.append(starts, len(order))), np.cumsum(large) - 1
        group = np.repeat(np.where(large, place, -1), lengths)
        good = np.ones(int(large.sum()), np.bool_)
        for demand in demands.every:
            value = demands.values[order, demand.attribute]
            some = (group >= 0) & (value >= 0)
            count = self._rows.sizes[order][some]
            counts = Sparse(group[some], value[some], count)
            good &= counts.holds(demand, groups=len(good))
        failing = np.zeros(len(large), np.bool_)
        failing[large] = ~good
        return failing


def _drawn(random: np.random.Generator, number: int) -> Keys:
    """So many random numbers."""
    return random.integers(2**64, size=number, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A node whose classes were counted: what it loses and suppresses, and what is too much of it.

    Where too few records are suppressed to be kept as a class, one is too much.
    """

    value: int
    suppressed: int
    excess: int


@dataclass(slots=True)
class _Walk:
    """A walk through a lattice, with all nodes that were counted on the way."""

    lattice: Lattice
    classes: HashedClasses
    random: np.random.Generator
    deadline: Deadline
    rows: int
    known: dict[Node, _Counted] = field(default_factory=dict)
    weight: int = 1
    work: int = 0

    def run(self) -> None:
        """Settles from the highest node on, then after kicks, as long as the effort lasts.

        Raises:
            TimeLimitError: The deadline came.
        """
        high = self.lattice.high
        top = self._counted(high, self.classes.at(high))
        self.weight = max(abs(top.value) // max(self.lattice.records, 1), 1)
        current = self._settled(high)
        while self.work < MAX_SORTED_ROWS:
            tell(
                f"search: descent, {counted(len(self.known), 'node')}", self.work / MAX_SORTED_ROWS
            )
            node = self._settled(self._kicked(current))
            if self._score(node) <= self._score(current):
                current = node
            beyond = self.known[node].excess
            self.weight = self.weight * 2 if beyond else max(self.weight // 2, 1)

    def best(self) -> Node | None:
        """The best of the nodes that may be published."""
        ranks = [(c.value, c.suppressed, n[::-1]) for n, c in self.known.items() if not c.excess]
        return min(ranks)[2][::-1] if ranks else None

    @property
    def axes(self) -> list[int]:
        """The columns with a choice of levels."""
        bounds = zip(self.lattice.low, self.lattice.high, strict=True)
        return [axis for axis, (low, high) in enumerate(bounds) if low < high]

    def _settled(self, node: Node) -> Node:
        """The node that is reached while moving some column makes the score less."""
        rows, low, high = self.classes.at(node), self.lattice.low, self.lattice.high
        self._counted(node, rows)
        axes, tried = self.axes, 0
        while tried < len(axes):
            for axis in self.random.permutation(axes).tolist():
                best = node
                for level in range(high[axis], low[axis] - 1, -1):
                    other = (*node[:axis], level, *node[axis + 1 :])
                    if other not in self.known:
                        if self._least(other) >= self._score(best):
                            continue
                        moved = self.classes.moved(rows, axis, old=node[axis], new=level)
                        self._counted(other, moved)
                    if self._score(other) < self._score(best):
                        best = other
                tried += 1
                if best != node:
                    rows = self.classes.moved(rows, axis, old=node[axis], new=best[axis])
                    node, tried = best, 1
                if tried >= len(axes):
                    break
        return node

    def _kicked(self, node: Node) -> Node:
        """The node with some columns a level higher or lower."""
        levels, (least, most) = list(node), KICKED
        for axis in self.random.permutation(self.axes)[: self.random.integers(least, most + 1)]:
            level = node[axis] + int(self.random.choice([-1, 1]))
            levels[axis] = min(max(level, self.lattice.low[axis]), self.lattice.high[axis])
        return tuple(levels)

    def _counted(self, node: Node, rows: Generalized) -> _Counted:
        self.deadline.check()
        self.work += self.rows + CHECK_ROWS
        if node not in self.known:
            counts = self.classes.count(rows)
            value, suppressed = self.lattice.objective.value(node, counts), counts.small_records
            excess = max(suppressed - self.lattice.allowance, 1)
            accepted = self.lattice.accepts(suppressed)
            self.known[node] = _Counted(value, suppressed, 0 if accepted else excess)
        return self.known[node]

    def _score(self, node: Node) -> int:
        counted = self.known[node]
        return counted.value + self.weight * counted.excess

    def _least(self, node: Node) -> int:
        """What a node loses at least, known without any count."""
        objective = self.lattice.objective
        return int(at_node(node, objective.floor, additive=objective.additive))


def good_node(
    lattice: Lattice, rows: RowsInMemory, *, seed: int = 0, deadline: Deadline = NEVER
) -> Node | None:
    """A node of little loss within the allowance, as far as counts in memory can tell.

    Equal seeds give the same node, whatever the order of the rows. Relative models are judged by
    the distribution of the whole table, which suppression changes: an exact check decides.

    Args:
        lattice: The nodes allowed and the loss, which is none that asks for gains.
        rows: The table.
        seed: Of all random choices.
        deadline: When the best so far is returned.

    Returns:
        The node; None where none that was counted may be published.
    """
    random = np.random.default_rng(seed)
    walk = _Walk(lattice, HashedClasses(rows, random), random, deadline, len(rows.sizes))
    with suppress(TimeLimitError):
        walk.run()
    return walk.best()
