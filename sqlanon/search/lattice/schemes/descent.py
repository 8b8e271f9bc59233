"""Descent: recodings that are best in each column, given those of the others.

Starting from a recoding that satisfies the policy, one column after the other is recoded as well as
it can be, until none gets better. Where a descent ends depends on where it starts and on the order
of the columns, so there are several: from the coarsest recoding, and from the best one known with
some columns made as general as may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Partition, leaf_count, numbered
from sqlanon.search.lattice.schemes.inner import Inner, Recoded
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.siblings import best_of_siblings, suits
from sqlanon.search.lattice.schemes.slices import (
    Costs,
    OutOfRoomError,
    Slices,
    block_costs,
    slices_of,
)


def exchanged(
    problem: SchemeProblem,
    column: int,
    *,
    slices: Slices,
    start: Partition,
    deadline: Deadline = NEVER,
) -> Recoded:
    """A recoding of an `sps` column from which no single move saves anything.

    For a column with too many siblings for all their sets. A move merges two blocks, or takes one
    unit out of its block, to another or by itself. The move that saves most is made until none
    saves anything. What is found is best among its neighbours; nothing is proven by it.

    Args:
        problem: The table.
        column: Number of the column.
        slices: The classes of the other columns.
        start: Where to start; it suppresses no more records than may be.
        deadline: When a `TimeLimitError` ends the work.
    """
    coarsest = np.array(problem.domains[column].coarsest)
    labels = np.array(start)
    while True:
        deadline.check()
        blocks = np.arange(labels.max() + 1)[:, np.newaxis] == labels
        cost, lost = _costs(problem, column, slices=slices, members=blocks)
        old, new = _moves(blocks, coarsest)
        sides = new.reshape(-1, len(labels))
        new_cost, new_lost = (
            own.reshape(-1, 2).sum(axis=1)
            for own in _costs(problem, column, slices=slices, members=sides)
        )
        # Block -1 is none.
        saved = np.append(cost, 0.0)[old].sum(axis=1) - new_cost
        more = new_lost - np.append(lost, 0.0)[old].sum(axis=1)
        saved[lost.sum() + more > problem.allowance] = 0.0
        best = int(saved.argmax()) if len(saved) else -1
        if best < 0 or saved[best] <= 0:
            return Recoded(float(cost.sum()), float(lost.sum()), numbered(labels.tolist()))
        for side, units in enumerate(new[best]):
            labels[units] = len(blocks) + side
        labels = np.array(numbered(labels.tolist()))


def _costs(
    problem: SchemeProblem, column: int, *, slices: Slices, members: Flags
) -> tuple[Reals, Reals]:
    """What blocks cost, and the records that they suppress; nothing, where they are empty."""
    domain = problem.domains[column]
    sizes = np.array([leaf_count(domain.spans((unit,))) for unit in range(domain.units)])
    leaves = np.maximum(members @ sizes, 1)
    costs = block_costs(problem, column, slices, members=members, leaves=leaves)
    return costs.cost[:, 0], costs.lost[:, 0]


def _moves(blocks: Flags, coarsest: Numbers) -> tuple[Numbers, Flags]:
    """All moves from a partition by `blocks[block, unit]`, within the highest nodes allowed.

    Returns:
        `old[move]`: the numbers of the two blocks that change, or of one and -1 for none; and
        `new[move, side, unit]`: the units of the two that they become, which may be empty.
    """
    root = coarsest[blocks.argmax(axis=1)]
    nothing = np.zeros(blocks.shape[1], bool)
    old, new = [], []
    for one in range(len(blocks)):
        for other in range(one + 1, len(blocks)):
            if root[one] == root[other]:
                old.append((one, other))
                new.append((blocks[one] | blocks[other], nothing))
    for unit in range(blocks.shape[1]):
        own, single = int(blocks[:, unit].argmax()), nothing.copy()
        single[unit] = True
        if blocks[own].sum() == 1:
            continue
        old.append((own, -1))
        new.append((blocks[own] & ~single, single))
        for other in range(len(blocks)):
            if other != own and root[other] == root[own]:
                old.append((own, other))
                new.append((blocks[own] & ~single, blocks[other] | single))
    shape = len(old), 2, blocks.shape[1]
    return np.array(old, np.int64).reshape(-1, 2), np.array(new, bool).reshape(shape)


_DUAL_STEPS = 12
"""Prices of a suppressed record that are tried: each halves the range that the best lies in."""


@dataclass(slots=True, eq=False)
class Incumbent:
    """The best recoding found so far.

    Args:
        problem: The table.
        recoding: It, per column; the coarsest where none is known that may be published.
        value: What it costs; infinite where none is known.
        suppressed: Records that it suppresses [records].
        checked: Recodings that were evaluated.
    """

    problem: SchemeProblem
    recoding: tuple[Partition, ...]
    value: float
    suppressed: float
    checked: int = 1

    @classmethod
    def of(cls, problem: SchemeProblem) -> Incumbent:
        """The coarsest recoding to start from, if it may be published."""
        recoding = problem.coarsest
        found = problem.evaluate(recoding)
        if found.suppressed > problem.allowance:
            return cls(problem, recoding, math.inf, found.suppressed)
        return cls(problem, recoding, found.cost, found.suppressed)

    def offer(self, recoding: Sequence[Partition], *, value: float, suppressed: float) -> bool:
        """Takes a recoding that costs less, or as much with fewer suppressed; tells whether."""
        better = (value, suppressed) < (self.value, self.suppressed)
        if better:
            self.recoding = tuple(recoding)
            self.value, self.suppressed = value, suppressed
        return better


def recode(
    inner: Inner, slices: Slices, *, current: Recoded, thorough: bool, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding of a column, if it costs less than the current one.

    Args:
        inner: The column.
        slices: The classes of the others.
        current: Its recoding so far.
        thorough: Whether sets of siblings are looked at, too, not only runs of units. Where a
            column has too many siblings for all their sets, it is the best along its units, which
            moves of single units improve.
        deadline: When it ends.

    Raises:
        TimeLimitError: The time is over.
    """
    deadline.check()
    costs = inner.costs(slices, deadline)
    found = best_along(inner, costs, 0, below=current.cost, deadline=deadline)
    problem, column, start = inner.problem, inner.column, found or current
    domain = problem.domains[column]
    if not thorough or domain.scheme not in ("sps", "gsps"):
        return found
    if suits(domain):
        best = best_of_siblings(problem, column, slices, below=start.cost, deadline=deadline)
        return best or found
    if domain.scheme == "sps" and start.cost < math.inf:
        moved = exchanged(problem, column, slices=slices, start=start.partition, deadline=deadline)
        return moved if moved.cost < current.cost else found
    return found


def best_along(
    inner: Inner, costs: Costs, recoding: int, *, below: float, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding along the units of a column that costs less than a bound.

    It is that for one recoding of the other columns, within the allowance.

    Raises:
        TimeLimitError: The time is over.
    """
    most = inner.problem.allowance
    found = inner.cheapest(costs, recoding)
    if not found.cost < below:
        return None
    if found.lost <= most:
        return found
    own = Costs(costs.cost[:, [recoding]], costs.lost[:, [recoding]])
    if _dual(inner, own, most=most) >= below:
        return None
    return inner.within(own, 0, below=below, deadline=deadline)


def _dual(inner: Inner, own: Costs, *, most: int) -> float:
    """A lower bound on what recodings within the allowance cost: the best of some prices.

    The bound is concave in the price of a suppressed record, and rises as long as the cheapest
    recoding at that price suppresses too many.
    """
    low, high, best = 0.0, 2.0 * inner.problem.whole, -math.inf
    for _ in range(_DUAL_STEPS):
        price = (low + high) / 2
        best = max(best, float(inner.least(own, price)[0]))
        if inner.cheapest(own, 0, price=price).lost > most:
            low = price
        else:
            high = price
    return best


class Descent:
    """Descents that improve the best recoding known.

    Args:
        best: It; changed.
        deadline: When a `TimeLimitError` ends them.
        room: Memory for the classes of all columns but one [bytes].
    """

    def __init__(self, best: Incumbent, deadline: Deadline, *, room: int) -> None:
        self.best, self.deadline, self.room = best, deadline, room
        self.inners = [Inner(best.problem, c) for c in range(len(best.problem.domains))]

    def from_ends(self, start: Sequence[Partition] | None = None) -> None:
        """From the coarsest recoding, each column first once, and from another if one is given."""
        columns = list(range(len(self.inners)))
        if start is not None:
            found = self.best.problem.evaluate(start)
            if found.suppressed <= self.best.problem.allowance:
                self.best.offer(start, value=found.cost, suppressed=found.suppressed)
                self._from(start, columns)
        for first in columns:
            self._from(self.best.problem.coarsest, [*columns[first:], *columns[:first]])
        self.thorough()

    def from_shaken(self, generator: np.random.Generator) -> bool:
        """From the best known with some columns as general as may be, in any order; if it helps."""
        coarsest, recoding = self.best.problem.coarsest, list(self.best.recoding)
        number = int(generator.integers(1, len(recoding) + 1))
        for column in generator.permutation(len(recoding))[:number].tolist():
            recoding[column] = coarsest[column]
        value = self.best.value
        self._from(recoding, generator.permutation(len(recoding)).tolist())
        helps = self.best.value < value
        if helps:
            self.thorough()
        return helps

    def thorough(self) -> None:
        """From the best known, looking at sets of siblings, too."""
        self._from(self.best.recoding, range(len(self.inners)), thorough=True)

    def _from(
        self, start: Sequence[Partition], order: Sequence[int], *, thorough: bool = False
    ) -> None:
        """Recodes one column after the other until none gets better."""
        problem, recoding, unchanged = self.best.problem, list(start), 0
        evaluated = problem.evaluate(start)
        cost = evaluated.cost if evaluated.suppressed <= problem.allowance else math.inf
        current = Recoded(cost, evaluated.suppressed, recoding[order[0]])
        while unchanged < len(order):
            for column in order:
                self.deadline.check()
                current = replace(current, partition=recoding[column])
                try:
                    slices = slices_of(problem, recoding, column=column, room=self.room)
                except OutOfRoomError:
                    found = None
                else:
                    inner = self.inners[column]
                    found = recode(
                        inner, slices, current=current, thorough=thorough, deadline=self.deadline
                    )
                self.best.checked += 1
                unchanged += 1
                if found is not None:
                    recoding[column], current, unchanged = found.partition, found, 1
                    self.best.offer(recoding, value=found.cost, suppressed=found.lost)
                if unchanged >= len(order):
                    break
