"""Descent: recodings that are best in each column, given those of the others.

Starting from a recoding that satisfies the policy, one column after the other is recoded as well as
it can be, until none gets better. Where a descent ends depends on where it starts and on the order
of the columns, so there are several: from the coarsest recoding, and from the best one known with
two columns made as general as may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.lattice.schemes.blocks import Costs, Slices
from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.inner import Inner, Recoded
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.rows import slices_of
from sqlanon.search.lattice.schemes.siblings import Siblings, suits

_DUAL_STEPS = 12
"""Prices of a suppressed record that are tried: each halves the range that the best lies in."""


@dataclass(slots=True, eq=False)
class Incumbent:
    """The best recoding found so far.

    Args:
        problem: The table.
        recoding: It, per column.
        value: What it costs.
        suppressed: Records that it suppresses [records].
        checked: Recodings that were evaluated.
    """

    problem: SchemeProblem
    recoding: tuple[Partition, ...]
    value: int
    suppressed: int
    checked: int = 1

    @classmethod
    def of(cls, problem: SchemeProblem, recoding: Sequence[Partition]) -> Incumbent:
        """A recoding to start from."""
        found = problem.evaluate(recoding)
        return cls(problem, tuple(recoding), found.cost, found.suppressed)

    def offer(self, recoding: Sequence[Partition], *, value: float, suppressed: float) -> bool:
        """Takes a recoding that costs less, or as much with fewer suppressed; tells whether."""
        better = (value, suppressed) < (self.value, self.suppressed)
        if better:
            self.recoding = tuple(recoding)
            self.value, self.suppressed = round(value), round(suppressed)
        return better


def best_of_column_along(
    inner: Inner, slices: Slices, *, below: float, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding along the units of a column that costs less than a bound."""
    deadline.check()
    return best_along(inner, inner.family.costs(slices), 0, below=below)


class Recode(Protocol):
    """A way to recode a column better than a bound."""

    def __call__(
        self, inner: Inner, slices: Slices, *, below: float, deadline: Deadline
    ) -> Recoded | None:
        """The recoding found; None where there is none."""


def best_of_column(
    inner: Inner, slices: Slices, *, below: float, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding of a column that costs less than a bound, given those of the others.

    Of a column whose sets of siblings are too many, it is the best along its units.

    Raises:
        TimeLimitError: The time is over.
    """
    costs = inner.family.costs(slices)
    found = best_along(inner, costs, 0, below=below)
    problem = inner.problem
    domain = problem.domains[inner.column]
    if domain.scheme not in ("sps", "gsps") or not suits(domain):
        return found
    reached = found.cost if found else below
    return Siblings(problem, inner.column, slices, reached, deadline).best() or found


def best_along(inner: Inner, costs: Costs, recoding: int, *, below: float) -> Recoded | None:
    """The best recoding along the units of a column that costs less than a bound.

    It is that for one recoding of the other columns, within the allowance.
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
    return inner.within(own, 0, below=below)


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
    """

    best: Incumbent
    inners: Sequence[Inner]
    deadline: Deadline

    def from_ends(self) -> None:
        """From the coarsest recoding, each column first once."""
        columns = list(range(len(self.inners)))
        for first in columns:
            self._from(self.best.problem.coarsest, [*columns[first:], *columns[:first]])
        self._thorough()

    def from_shaken(self, generator: np.random.Generator) -> None:
        """From the best known with two columns as general as may be, in any order."""
        coarsest, recoding = self.best.problem.coarsest, list(self.best.recoding)
        for column in generator.permutation(len(recoding))[:2].tolist():
            recoding[column] = coarsest[column]
        value = self.best.value
        self._from(recoding, generator.permutation(len(recoding)).tolist())
        if self.best.value < value:
            self._thorough()

    def _thorough(self) -> None:
        """From the best known, looking at sets of siblings, too."""
        self._from(self.best.recoding, range(len(self.inners)), recode=best_of_column)

    def _from(
        self,
        start: Sequence[Partition],
        order: Sequence[int],
        *,
        recode: Recode = best_of_column_along,
    ) -> None:
        recoding, unchanged = list(start), 0
        value: float = self.best.problem.evaluate(start).cost
        while unchanged < len(order):
            for column in order:
                self.deadline.check()
                slices = slices_of(self.best.problem, recoding, column=column)
                found = recode(self.inners[column], slices, below=value, deadline=self.deadline)
                self.best.checked += 1
                unchanged += 1
                if found is not None:
                    recoding[column], value, unchanged = found.partition, found.cost, 1
                    self.best.offer(recoding, value=value, suppressed=found.lost)
                if unchanged >= len(order):
                    break
