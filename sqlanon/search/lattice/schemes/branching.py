"""Branch and bound over the recodings of some columns, with the best one of another each.

A node fixes the recodings of some columns. It is closed when it costs at least what the best
recoding known costs, whatever becomes of the columns left, or when too many records are suppressed
even where these are as general as may be. The last column that is branched on is not branched on
one by one: all of its recodings are bounded at a time. The best recoding of the inner column comes
from `inner` and, over sets of siblings, from `siblings`.

Source: bounds after Bayardo and Agrawal 2005 and Li and Li 2007, see `problem`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.lattice.schemes.descent import Incumbent, best_along
from sqlanon.search.lattice.schemes.domain import Domain, Partition
from sqlanon.search.lattice.schemes.inner import Inner, Recoded
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.siblings import best_of_siblings, can_screen, least_by_shares
from sqlanon.search.lattice.schemes.slices import (
    CELLS,
    OutOfRoomError,
    PartlyRecoded,
    Recodings,
    Slices,
    slices_of,
)
from sqlanon.search.lattice.schemes.trees import Merging

SCREENED = 64
"""Recodings of the outer columns that are screened at a time."""


def listed(domain: Domain, deadline: Deadline) -> list[Partition]:
    """All recodings of a column; a `TimeLimitError` where there is no time for them."""
    tree = Merging(domain)
    found, ahead = [], [tree.root]
    while ahead:
        deadline.check()
        position = ahead.pop()
        found.append(position.partition)
        ahead.extend(tree.children(position))
    return found


@dataclass(slots=True, eq=False)
class Branching:
    """A branch and bound over the recodings of all columns but one.

    Args:
        best: The best recoding so far.
        fixed: The recodings of columns that are neither branched on nor the inner one.
        outer: The columns that are branched on, in their order.
        inner: The column that is not.
        recodings: Those of each outer column.
        deadline: When it ends.
        room: Memory for the classes of all columns but one [bytes].
        most: How many more recodings of the outer columns it may look at.
        open: Per column that is branched on what recodings not looked at cost at least.
        pending: Recodings of the outer columns whose siblings are still to be looked at, with
            what they cost at least.
    """

    best: Incumbent
    fixed: Mapping[int, Partition]
    outer: tuple[int, ...]
    inner: Inner
    recodings: dict[int, Recodings]
    deadline: Deadline
    room: int
    most: float
    open: list[float] = field(default_factory=list)
    pending: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)

    @property
    def problem(self) -> SchemeProblem:
        """The table."""
        return self.best.problem

    def run(self) -> float:
        """Looks at all recodings, as far as there is time; what they cost at least."""
        rows, left = PartlyRecoded.of(self.problem, self.room), (*self.outer, self.inner.column)
        if self.fixed:
            rows = rows.fixing(self.fixed, left=left)
        self.open.append(rows.least(left))
        try:
            self._branch(rows, ())
            self.open.clear()
            self._settle()
        except (TimeLimitError, OutOfRoomError):
            return min([*self.open, *(least for least, _ in self.pending), self.best.value])
        return self.best.value

    def _branch(self, rows: PartlyRecoded, chosen: tuple[int, ...]) -> None:
        """Looks at all recodings of the columns left that can be better than the best so far."""
        depth = len(chosen)
        if depth == len(self.outer):
            self._look(rows.slices(self.inner.column), [chosen])
            return
        column, left = self.outer[depth], (*self.outer[depth + 1 :], self.inner.column)
        if depth == len(self.outer) - 1:
            self._batches(rows, chosen)
            return
        children = []
        recodings = self.recodings[column]
        for number in range(len(recodings)):
            self._spend(1)
            child = rows.recoded(recodings, number, left=left)
            least = child.least(left)
            if least < self.best.value and child.fewest_lost(left) <= self.problem.allowance:
                children.append((least, number))
        children.sort()
        self.open.append(0.0)
        for least, number in children:
            if least >= self.best.value:
                break
            self.open[-1] = least
            self._branch(rows.recoded(recodings, number, left=left), (*chosen, number))
        self.open.pop()

    def _batches(self, rows: PartlyRecoded, chosen: tuple[int, ...]) -> None:
        """Looks at all recodings of the last outer column, many at a time."""
        recodings, units = self.recodings[self.outer[-1]], len(self.inner.ending)
        step = max(1, CELLS // (len(rows.sizes) * units))
        for start in range(0, len(recodings), step):
            numbers = range(start, min(start + step, len(recodings)))
            self._spend(len(numbers))
            slices = rows.sliced(self.inner.column, recodings.only(slice(start, start + step)))
            self._look(slices, [(*chosen, number) for number in numbers])

    def _look(self, slices: Slices, chosen: Sequence[tuple[int, ...]]) -> None:
        """Looks at some recodings of the outer columns, with the best of the inner one."""
        problem, domain = self.problem, self.problem.domains[self.inner.column]
        least = slices.least(problem).sum(axis=0)
        cheap = least < self.best.value
        good = np.flatnonzero(
            cheap & (slices.fewest_lost(problem, domain.coarsest) <= problem.allowance)
        )
        if not len(good):
            return
        costs = self.inner.costs(slices.only(good), self.deadline)
        relaxed = self.inner.least(costs)
        for place in np.argsort(relaxed, kind="stable").tolist():
            if relaxed[place] >= self.best.value:
                break
            found = best_along(
                self.inner, costs, place, below=self.best.value, deadline=self.deadline
            )
            if found is not None:
                self._offer(chosen[int(good[place])], found)
        if domain.scheme in ("sps", "gsps"):
            self.pending += [
                (float(least[place]), chosen[place])
                for place in good.tolist()
                if least[place] < self.best.value
            ]

    def _settle(self) -> None:
        """Looks at the sets of siblings of the inner column, where they can be better."""
        self.pending.sort(reverse=True)
        screens = can_screen(self.problem, self.problem.domains[self.inner.column])
        while self.pending and self.pending[-1][0] < self.best.value:
            group = self.pending[: -SCREENED - 1 : -1]
            self._spend(len(group))
            slices = [self._slices(chosen) for _, chosen in group]
            least = [own for own, _ in group]
            if screens:
                least = least_by_shares(
                    self.problem, slices, below=self.best.value, deadline=self.deadline
                ).tolist()
            for own, (_, chosen), held in zip(least, group, slices, strict=True):
                if own < self.best.value:
                    self._search(chosen, held)
            del self.pending[-len(group) :]

    def _slices(self, chosen: tuple[int, ...]) -> Slices:
        """The classes of the outer columns, by the units of the inner one."""
        inner = self.inner.column
        recoding = self._recoding(chosen, self.problem.domains[inner].finest)
        return slices_of(self.problem, recoding, column=inner, room=self.room)

    def _search(self, chosen: tuple[int, ...], slices: Slices) -> None:
        """Looks at the sets of siblings of the inner column for one recoding of the others."""
        found = best_of_siblings(
            self.problem,
            self.inner.column,
            slices,
            below=self.best.value,
            deadline=self.deadline,
        )
        if found is not None:
            self._offer(chosen, found)

    def _offer(self, chosen: tuple[int, ...], found: Recoded) -> None:
        recoding = self._recoding(chosen, found.partition)
        self.best.offer(recoding, value=found.cost, suppressed=found.lost)

    def _recoding(self, chosen: tuple[int, ...], partition: Partition) -> list[Partition]:
        """The recoding of all columns."""
        found = dict(self.fixed) | {
            column: self.recodings[column].partition(number)
            for column, number in zip(self.outer, chosen, strict=True)
        }
        found[self.inner.column] = partition
        return [found[column] for column in range(len(found))]

    def _spend(self, recodings: int) -> None:
        """Counts recodings that are looked at; ends as a deadline does after `most` of them."""
        self.deadline.check()
        self.best.checked += recodings
        self.most -= recodings
        if self.most < 0:
            raise TimeLimitError
