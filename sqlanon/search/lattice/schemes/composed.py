"""Best recoding under schemes, column by column: branch and bound, the last column by itself.

Given the recodings of all other columns, the best one of the last follows at once (`inner`,
`siblings`). So only the others are branched on, the one of fewest recodings first: a node fixes
some of them, and is closed when it costs at least what the best recoding known costs whatever
becomes of the columns left, or when too many records are suppressed even where these are as general
as may be. The last of them is not branched on: all of its recodings are bounded at a time.

Where the other columns have too many recodings for that, nothing is branched on, and what descents
find is the result, with the bound of the finest recoding.

Source: bounds after Bayardo and Agrawal 2005 and Li and Li 2007, see `problem`; that a loss which
adds up over classes adds up over the blocks of one column once the others are fixed, which makes
dynamic programming exact there, is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.lattice.schemes.blocks import CELLS, Slices
from sqlanon.search.lattice.schemes.descent import Descent, Incumbent, best_along
from sqlanon.search.lattice.schemes.domain import Domain, Partition
from sqlanon.search.lattice.schemes.inner import Inner, Recoded
from sqlanon.search.lattice.schemes.merging import Merging
from sqlanon.search.lattice.schemes.outcome import SchemeOutcome
from sqlanon.search.lattice.schemes.partitions import count
from sqlanon.search.lattice.schemes.problem import SchemeProblem
from sqlanon.search.lattice.schemes.rows import ROOM, OutOfRoomError, Recodings, Rows, slices_of
from sqlanon.search.lattice.schemes.screening import can_screen, least_by_shares
from sqlanon.search.lattice.schemes.siblings import Siblings, suits

LISTED = 100_000
"""Most recodings of a column that are listed."""


EFFORT = 2_000_000
"""Recodings of the outer columns that are looked at without a time limit."""
PATIENCE = 100
"""Descents in a row that find nothing better after which a search without a time limit ends."""

MANY = 10**10
"""Recodings of the outer columns from which on nothing is branched on: most would be looked at."""
BRANCHING = 0.7
"""Share of the time that branching takes at most; what it does not prove, descents may improve."""

SCREENED = 64
"""Recodings of the outer columns that are screened at a time."""

Tell = Callable[[str], None]


def best_recoding(
    problem: SchemeProblem,
    *,
    deadline: Deadline = NEVER,
    room: int = ROOM,
    tell: Tell | None = None,
    seed: int = 0,
) -> SchemeOutcome:
    """The recoding that costs least, proven where the search ends by itself.

    Args:
        problem: The table.
        deadline: When the best so far is returned, with the bound that is proven by then. Without
            one, the search ends after `EFFORT`.
        room: Memory for the classes of all columns but one [bytes]; what does not fit is not
            looked at, so that nothing is proven.
        tell: Receives lines about the progress.
        seed: Of the starts of descents.
    """
    best = Incumbent.of(problem, problem.coarsest)
    if best.suppressed > problem.allowance:
        return SchemeOutcome(None, best.value, best.suppressed, best.value, best.checked)
    bound = float(problem.evaluate(problem.finest).least)
    inners = [Inner.of(problem, column) for column in range(len(problem.domains))]
    descent = Descent(best, inners, deadline, room)
    with suppress(TimeLimitError):
        descent.from_ends()
        with suppress(TimeLimitError):
            branching = _branching(descent, deadline.share(BRANCHING))
            if branching is not None:
                bound = branching.run(tell)
        generator, left = np.random.default_rng(seed), PATIENCE
        while bound < best.value and (left or deadline.is_limited):
            found = descent.from_shaken(generator)
            left = PATIENCE if found else left - 1
    return SchemeOutcome(
        best.recoding, best.value, best.suppressed, math.ceil(min(bound, best.value)), best.checked
    )


def _branching(descent: Descent, deadline: Deadline) -> Branching | None:
    """The branch and bound; None where the outer columns have too many recodings."""
    best, domains = descent.best, descent.best.problem.domains
    numbers = {column: count(domain) for column, domain in enumerate(domains)}
    suited = [column for column, domain in enumerate(domains) if suits(domain)]
    if not suited:
        return None
    inner = max(suited, key=lambda column: numbers[column])
    outer = sorted((c for c in numbers if c != inner), key=lambda column: numbers[column])
    own = [numbers[column] for column in outer]
    if max(own, default=1) > LISTED or math.prod(own) > MANY:
        return None
    recodings = {
        column: Recodings.of(best.problem, column, partitions=_listed(domains[column], deadline))
        for column in outer
    }
    most = math.inf if deadline.is_limited else EFFORT
    return Branching(
        best, tuple(outer), descent.inners[inner], recodings, deadline, descent.room, most
    )


def _listed(domain: Domain, deadline: Deadline) -> list[Partition]:
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

    def run(self, tell: Tell | None = None) -> float:
        """Looks at all recodings, as far as there is time; what they cost at least."""
        rows = Rows.of(self.problem, self.room)
        left = (*self.outer, self.inner.column)
        self.open.append(rows.least(left))
        try:
            self._branch(rows, ())
            self.open.clear()
            if tell is not None and self.pending:
                tell(f"search: {len(self.pending):,} recodings of the other columns are left")
            self._settle()
        except (TimeLimitError, OutOfRoomError):
            return min([*self.open, *(least for least, _ in self.pending), self.best.value])
        return self.best.value

    def _branch(self, rows: Rows, chosen: tuple[int, ...]) -> None:
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

    def _batches(self, rows: Rows, chosen: tuple[int, ...]) -> None:
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
        least = slices.least(self.problem).sum(axis=0)
        good = np.flatnonzero(least < self.best.value)
        if not len(good):
            return
        costs = self.inner.family.costs(slices.only(good))
        relaxed = self.inner.least(costs)
        for place in np.argsort(relaxed, kind="stable").tolist():
            if relaxed[place] >= self.best.value:
                break
            found = best_along(self.inner, costs, place, below=self.best.value)
            if found is not None:
                self._offer(chosen[int(good[place])], found)
        if self.problem.domains[self.inner.column].scheme in ("sps", "gsps"):
            can_be = self.inner.fewest_lost(costs) <= self.problem.allowance
            self.pending += [
                (float(least[place]), chosen[place])
                for place in good[can_be].tolist()
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
                least = least_by_shares(self.problem, slices, self.best.value).tolist()
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
        column, below = self.inner.column, self.best.value
        found = Siblings(self.problem, column, slices, below, self.deadline).best()
        if found is not None:
            self._offer(chosen, found)

    def _offer(self, chosen: tuple[int, ...], found: Recoded) -> None:
        recoding = self._recoding(chosen, found.partition)
        self.best.offer(recoding, value=found.cost, suppressed=found.lost)

    def _recoding(self, chosen: tuple[int, ...], partition: Partition) -> list[Partition]:
        """The recoding of all columns."""
        found = {
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
