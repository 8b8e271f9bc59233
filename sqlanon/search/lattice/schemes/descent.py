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
from typing import Protocol

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.lattice.schemes.blocks import Costs, Slices
from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.exchange import exchanged
from sqlanon.search.lattice.schemes.inner import Inner, Recoded
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.rows import OutOfRoomError, slices_of
from sqlanon.search.lattice.schemes.siblings import Siblings, suits

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


class ColumnStep(Protocol):
    """A way to recode a column better than it is."""

    def __call__(
        self, inner: Inner, slices: Slices, *, current: Recoded, deadline: Deadline
    ) -> Recoded | None:
        """A recoding that costs less than the current one; None where none is found."""


def recode_along(
    inner: Inner, slices: Slices, *, current: Recoded, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding along the units of a column, if it costs less than the current one.

    Raises:
        TimeLimitError: The time is over.
    """
    deadline.check()
    costs = inner.family.costs(slices, deadline)
    return best_along(inner, costs, 0, below=current.cost, deadline=deadline)


def recode(
    inner: Inner, slices: Slices, *, current: Recoded, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding of a column, if it costs less than the current one.

    Where a column has too many siblings for all their sets, it is the best along its units, which
    moves of single units improve.

    Raises:
        TimeLimitError: The time is over.
    """
    found = recode_along(inner, slices, current=current, deadline=deadline)
    problem, column, start = inner.problem, inner.column, found or current
    domain = problem.domains[column]
    if domain.scheme not in ("sps", "gsps"):
        return found
    if suits(domain):
        return Siblings(problem, column, slices, start.cost, deadline).best() or found
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


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Descents that improve the best recoding known.

    Args:
        best: It; changed.
        inners: The columns.
        deadline: When a `TimeLimitError` ends them.
        room: Memory for the classes of all columns but one [bytes].
    """

    best: Incumbent
    inners: Sequence[Inner]
    deadline: Deadline
    room: int

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
        self._from(self.best.recoding, range(len(self.inners)), way=recode)

    def _from(
        self,
        start: Sequence[Partition],
        order: Sequence[int],
        *,
        way: ColumnStep = recode_along,
    ) -> None:
        problem, recoding, unchanged = self.best.problem, list(start), 0
        begun = problem.evaluate(start)
        may_be = begun.suppressed <= problem.allowance
        cost = begun.cost if may_be else math.inf
        current = Recoded(cost, begun.suppressed, recoding[order[0]])
        while unchanged < len(order):
            for column in order:
                self.deadline.check()
                current = replace(current, partition=recoding[column])
                found = self._recoded(recoding, column, current=current, way=way)
                self.best.checked += 1
                unchanged += 1
                if found is not None:
                    recoding[column], current, unchanged = found.partition, found, 1
                    self.best.offer(recoding, value=found.cost, suppressed=found.lost)
                if unchanged >= len(order):
                    break

    def _recoded(
        self, recoding: Sequence[Partition], column: int, *, current: Recoded, way: ColumnStep
    ) -> Recoded | None:
        """A better recoding of a column; None where there is none, or no room to look for it."""
        try:
            slices = slices_of(self.best.problem, recoding, column=column, room=self.room)
        except OutOfRoomError:
            return None
        return way(self.inners[column], slices, current=current, deadline=self.deadline)
