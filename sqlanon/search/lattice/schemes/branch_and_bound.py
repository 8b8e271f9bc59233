"""Best recoding under schemes, by branch and bound over all columns but one, which is worked out.

Given the recodings of all other columns, the best one of the last follows at once (`inner`,
`siblings`): a loss that adds up over classes adds up over the blocks of one column once the others
are fixed. So all columns but the one of most recodings are branched on (`Branching`), those of
fewest recodings first. It proves on Adult what systematic trees do not reach
(`benchmarks/schemes.py quality --search columns`), so it is the default, and a direction is an
option.

Where they have too many recodings for that, a systematic search from above takes its place
(`enumeration`), which begins with the best recoding of less flexible schemes. Where neither ends in
time, descents improve the best recoding known: one column after the other is recoded as well as it
can be, given the others, until none gets better. Where a descent ends depends on where it starts
and on the order of the columns, so there are several: from the coarsest recoding, and from the best
one known with some columns made as general as may be. Then two columns at a time are branched on
while the others stay.

Source: bounds after Bayardo and Agrawal 2005 and Li and Li 2007, see `scheme_problem`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count as count_from

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import tell
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Domain, Partition, leaf_count, numbered
from sqlanon.search.lattice.schemes.enumeration import top_down
from sqlanon.search.lattice.schemes.inner import (
    FIGURES_AT_ONCE,
    MAX_CLASS_BYTES,
    Costs,
    Inner,
    OutOfRoomError,
    PartlyRecoded,
    Recoded,
    Recodings,
    Slices,
    block_costs,
    slices_of,
)
from sqlanon.search.lattice.schemes.scheme_problem import (
    FlexibilityStep,
    Recoding,
    SchemeOutcome,
    SchemeProblem,
)
from sqlanon.search.lattice.schemes.siblings import (
    best_of_siblings,
    can_screen,
    least_by_shares,
    suits,
)
from sqlanon.search.lattice.schemes.trees import Merging, count


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
            figures.reshape(-1, 2).sum(axis=1)
            for figures in _costs(problem, column, slices=slices, members=sides)
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
        block, single = int(blocks[:, unit].argmax()), nothing.copy()
        single[unit] = True
        if blocks[block].sum() == 1:
            continue
        old.append((block, -1))
        new.append((blocks[block] & ~single, single))
        for other in range(len(blocks)):
            if other != block and root[other] == root[block]:
                old.append((block, other))
                new.append((blocks[block] & ~single, blocks[other] | single))
    shape = len(old), 2, blocks.shape[1]
    return np.array(old, np.int64).reshape(-1, 2), np.array(new, bool).reshape(shape)


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
        evaluated = problem.evaluate(recoding)
        if evaluated.suppressed > problem.allowance:
            return cls(problem, recoding, math.inf, evaluated.suppressed)
        return cls(problem, recoding, evaluated.cost, evaluated.suppressed)

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
    recoded = best_along(inner, costs, 0, below=current.cost, deadline=deadline)
    problem, column, start = inner.problem, inner.column, recoded or current
    domain = problem.domains[column]
    if not thorough or domain.scheme not in ("sps", "gsps"):
        return recoded
    if suits(domain):
        best = best_of_siblings(problem, column, slices, below=start.cost, deadline=deadline)
        return best or recoded
    if domain.scheme == "sps" and start.cost < math.inf:
        moved = exchanged(problem, column, slices=slices, start=start.partition, deadline=deadline)
        return moved if moved.cost < current.cost else recoded
    return recoded


def best_along(
    inner: Inner, costs: Costs, recoding: int, *, below: float, deadline: Deadline = NEVER
) -> Recoded | None:
    """The best recoding along the units of a column that costs less than a bound.

    It is that for one recoding of the other columns, within the allowance.

    Raises:
        TimeLimitError: The time is over.
    """
    most = inner.problem.allowance
    recoded = inner.cheapest(costs, recoding)
    if not recoded.cost < below:
        return None
    if recoded.lost <= most:
        return recoded
    return inner.within(costs, recoding, below=below, deadline=deadline)


SCREENED = 64
"""Recodings of the outer columns that are screened at a time."""


def listed(domain: Domain, deadline: Deadline) -> list[Partition]:
    """All recodings of a column; a `TimeLimitError` where there is no time for them."""
    tree = Merging(domain)
    partitions, ahead = [], [tree.root]
    while ahead:
        deadline.check()
        position = ahead.pop()
        partitions.append(position.partition)
        ahead.extend(tree.children(position))
    return partitions


@dataclass(slots=True, eq=False)
class Branching:
    """A branch and bound over the recodings of some columns, with the best one of another each.

    A node fixes the recodings of some columns. It is closed when it costs at least what the best
    recoding known costs, whatever becomes of the columns left, or when too many records are
    suppressed even where these are as general as may be. The last column that is branched on is not
    branched on one by one: all of its recodings are bounded at a time.

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
        ahead = list(self.fixed)
        for place, column in enumerate(ahead):
            recodings = Recodings.of(self.problem, column, partitions=[self.fixed[column]])
            rows = rows.recoded(recodings, 0, left=[*left, *ahead[place + 1 :]])
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
        step = max(1, FIGURES_AT_ONCE // (len(rows.sizes) * units))
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
            recoded = best_along(
                self.inner, costs, place, below=self.best.value, deadline=self.deadline
            )
            if recoded is not None:
                self._offer(chosen[int(good[place])], recoded)
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
            least = [cost for cost, _ in group]
            if screens:
                least = least_by_shares(
                    self.problem, slices, below=self.best.value, deadline=self.deadline
                ).tolist()
            for bound, (_, chosen), classes in zip(least, group, slices, strict=True):
                if bound >= self.best.value:
                    continue
                recoded = best_of_siblings(
                    self.problem,
                    self.inner.column,
                    classes,
                    below=self.best.value,
                    deadline=self.deadline,
                )
                if recoded is not None:
                    self._offer(chosen, recoded)
            del self.pending[-len(group) :]

    def _slices(self, chosen: tuple[int, ...]) -> Slices:
        """The classes of the outer columns, by the units of the inner one."""
        inner = self.inner.column
        recoding = self._recoding(chosen, self.problem.domains[inner].finest)
        return slices_of(self.problem, recoding, column=inner, room=self.room)

    def _offer(self, chosen: tuple[int, ...], recoded: Recoded) -> None:
        recoding = self._recoding(chosen, recoded.partition)
        self.best.offer(recoding, value=recoded.cost, suppressed=recoded.lost)

    def _recoding(self, chosen: tuple[int, ...], partition: Partition) -> list[Partition]:
        """The recoding of all columns."""
        partitions = dict(self.fixed) | {
            column: self.recodings[column].partition(number)
            for column, number in zip(self.outer, chosen, strict=True)
        }
        partitions[self.inner.column] = partition
        return [partitions[column] for column in range(len(partitions))]

    def _spend(self, recodings: int) -> None:
        """Counts recodings that are looked at; ends as a deadline does after `most` of them."""
        self.deadline.check()
        self.best.checked += recodings
        self.most -= recodings
        if self.most < 0:
            raise TimeLimitError


MAX_LISTED_RECODINGS = 100_000
"""Most recodings of a column that is branched on."""
MAX_BRANCHED = 10**10
"""Recodings of the outer columns from which on nothing is branched on: most would be looked at."""
PROVING, HOPING = 0.7, 0.2
"""Shares of the time for a proof at most, the second where a column has too many sets of siblings.

What is not proven by then, descents may improve.
"""
MAX_OUTER_RECODINGS = 2_000_000
"""Recodings of the outer columns that are looked at without a time limit."""
MAX_IDLE_DESCENTS = 20
"""Descents in a row that find nothing better after which a search without a time limit ends."""
MAX_DESCENT_RECODINGS = 200_000
"""Recodings that descents look at without a time limit."""
RECODINGS_PER_LOOK = 20
"""Recodings of outer columns that are branched on in the time between two looks at the clock."""
SIMPLER_SHARE = 0.5
"""Share of the time for a quick recoding that goes to less flexible schemes."""
MAX_SIMPLER_RECODINGS, SIMPLER_PROOF_SHARE = 20_000, 0.25
"""Recodings that are looked at under less flexible schemes, and the share of the time for them."""


def best_recoding(
    problem: SchemeProblem,
    *,
    deadline: Deadline = NEVER,
    room: int = MAX_CLASS_BYTES,
    seed: int = 0,
) -> SchemeOutcome:
    """The recoding that costs least, proven where the search ends by itself.

    Args:
        problem: The table.
        deadline: When the best so far is returned, with the bound that is proven by then. Without
            one, the search ends after `MAX_OUTER_RECODINGS`.
        room: Memory for the classes of all columns but one [bytes]; what does not fit is not
            looked at, so that nothing is proven.
        seed: Of the starts of descents.
    """
    search, steps = _Search(Incumbent.of(problem), deadline, room=room), list[FlexibilityStep]()
    if _is_hopeless(search.best):
        return _outcome(search.best, math.inf)
    bound = float(problem.evaluate(problem.finest).least)
    with suppress(TimeLimitError):
        search.from_ends(_climb(problem, deadline, room=room, steps=steps))
        with suppress(TimeLimitError):
            share = PROVING if len(search.suited) == len(problem.domains) else HOPING
            bound = max(bound, search.prove(MAX_OUTER_RECODINGS, deadline.share(share)))
        if bound < search.best.value:
            search.improve(np.random.default_rng(seed))
    return replace(_outcome(search.best, bound), steps=tuple(steps))


def quick_recoding(
    problem: SchemeProblem, *, deadline: Deadline = NEVER, room: int = MAX_CLASS_BYTES
) -> SchemeOutcome:
    """A good recoding for another search to start from: what descents find, with no proof.

    Arguments as of `best_recoding`.
    """
    search, steps = _Search(Incumbent.of(problem), deadline, room=room), list[FlexibilityStep]()
    if _is_hopeless(search.best):
        return _outcome(search.best, math.inf)
    start = _climb(problem, deadline.share(SIMPLER_SHARE), room=room, steps=steps)
    tell("search: descents")
    with suppress(TimeLimitError):
        search.from_ends(start)
    bound = problem.evaluate(problem.finest).least
    return replace(_outcome(search.best, bound), steps=tuple(steps))


def _climb(
    problem: SchemeProblem, deadline: Deadline, *, room: int, steps: list[FlexibilityStep]
) -> Recoding | None:
    """A good recoding of less flexible schemes, each found from that of those before.

    Args:
        problem: The table.
        deadline: When it ends.
        room: Memory for the classes of all columns but one [bytes].
        steps: What was found under each; changed.

    Returns:
        The recoding, in the units of the problem; None where there is none.
    """
    solutions: list[tuple[float, Recoding, SchemeProblem]] = []
    for place, simpler in enumerate(problem.simpler, 1):
        every = len(problem.simpler)
        tell(f"search: less flexible schemes, {place} of {every}", (place - 1) / every)
        best, bound = Incumbent.of(simpler), 0.0
        search = _Search(best, deadline, room=room)
        with suppress(TimeLimitError):
            search.from_ends(_moved(solutions, simpler))
            bound = search.prove(MAX_SIMPLER_RECODINGS, deadline.share(SIMPLER_PROOF_SHARE))
        if best.value < math.inf:
            schemes = tuple(domain.scheme for domain in simpler.domains)
            steps.append(FlexibilityStep(schemes, round(best.value), bound >= best.value))
            solutions.append((best.value, best.recoding, simpler))
        if deadline.expired:
            break
    return _moved(solutions, problem)


def _moved(
    solutions: Sequence[tuple[float, Recoding, SchemeProblem]], problem: SchemeProblem
) -> Recoding | None:
    """The cheapest of some recodings that other schemes have, too; None where they have none.

    Args:
        solutions: Recodings with what they cost, and the problem in whose units they are.
        problem: The table under the other schemes.
    """
    for _, recoding, before in sorted(solutions, key=lambda solution: solution[0]):
        pairs = zip(recoding, before.domains, problem.domains, strict=True)
        moved = tuple(new.moved(partition, old) for partition, old, new in pairs)
        domains = zip(problem.domains, moved, strict=True)
        if all(domain.is_valid(partition) for domain, partition in domains):
            return moved
    return None


def _is_hopeless(best: Incumbent) -> bool:
    """Whether nothing may be published, since the coarsest recoding may not."""
    problem = best.problem
    if best.value < math.inf or problem.is_monotone:
        return best.value == math.inf
    # Records in classes below k of the coarsest recoding are suppressed by all.
    doomed = replace(problem, demands=None).evaluate(problem.coarsest).suppressed
    return doomed > problem.allowance


def _outcome(best: Incumbent, bound: float) -> SchemeOutcome:
    """The outcome of a search that has shown what every recoding costs at least."""
    if best.value == math.inf:
        coarsest = best.problem.evaluate(best.recoding)
        shown = coarsest.cost if bound == math.inf else min(math.ceil(bound), coarsest.cost - 1)
        return SchemeOutcome(None, coarsest.cost, coarsest.suppressed, shown, best.checked)
    value = round(best.value)
    shown = math.ceil(min(bound, value))
    return SchemeOutcome(best.recoding, value, round(best.suppressed), shown, best.checked)


class _Search:
    """A search for the best recoding, by proofs and by descents.

    Args:
        best: The best recoding known; changed.
        deadline: When a `TimeLimitError` ends descents.
        room: Memory for the classes of all columns but one [bytes].
    """

    def __init__(self, best: Incumbent, deadline: Deadline, *, room: int) -> None:
        self.best, self.deadline, self.room = best, deadline, room
        domains = best.problem.domains
        self.inners = [Inner(best.problem, column) for column in range(len(domains))]
        self.numbers = list(map(count, domains))
        # Columns whose best recoding can be worked out over all blocks.
        self.suited = [column for column, domain in enumerate(domains) if suits(domain)]
        self._listed: dict[int, Recodings] = {}

    def from_ends(self, start: Sequence[Partition] | None = None) -> None:
        """From the coarsest recoding, each column first once, and from another if one is given."""
        columns = list(range(len(self.inners)))
        if start is not None:
            evaluated = self.best.problem.evaluate(start)
            if evaluated.suppressed <= self.best.problem.allowance:
                self.best.offer(start, value=evaluated.cost, suppressed=evaluated.suppressed)
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
                    recoded = None
                else:
                    inner = self.inners[column]
                    recoded = recode(
                        inner, slices, current=current, thorough=thorough, deadline=self.deadline
                    )
                self.best.checked += 1
                unchanged += 1
                if recoded is not None:
                    recoding[column], current, unchanged = recoded.partition, recoded, 1
                    self.best.offer(recoding, value=recoded.cost, suppressed=recoded.lost)
                if unchanged >= len(order):
                    break

    def _over(
        self, outer: Sequence[int], *, inner: int, deadline: Deadline, most: float
    ) -> Branching:
        """A branch and bound that branches on columns and works another out.

        Args:
            outer: The columns that are branched on.
            inner: The column that is not; all others stay as in the best recoding.
            deadline: When it ends.
            most: How many recodings of the outer columns it may look at.

        Raises:
            TimeLimitError: There is no time to list the recodings.
        """
        problem = self.best.problem
        for column in set(outer) - self._listed.keys():
            partitions = listed(problem.domains[column], deadline)
            self._listed[column] = Recodings.of(problem, column, partitions=partitions)
        fixed = {
            column: partition
            for column, partition in enumerate(self.best.recoding)
            if column != inner and column not in outer
        }
        target, room = self.inners[inner], self.room
        return Branching(self.best, fixed, tuple(outer), target, self._listed, deadline, room, most)

    def prove(self, most: int, deadline: Deadline) -> float:
        """Looks for the best recoding, and for what every one costs at least, which it returns.

        Args:
            most: How many recodings it looks at without a time limit, about.
            deadline: When it ends.

        Raises:
            TimeLimitError: There is no time to list the recodings that are branched on.
        """
        best, numbers = self.best, self.numbers
        if self.suited:
            inner = max(self.suited, key=numbers.__getitem__)
            outer = sorted(set(range(len(numbers))) - {inner}, key=numbers.__getitem__)
            outer_numbers = [numbers[column] for column in outer]
            if (
                max(outer_numbers, default=1) <= MAX_LISTED_RECODINGS
                and math.prod(outer_numbers) <= MAX_BRANCHED
            ):
                limit = math.inf if deadline.is_limited else most
                return self._over(outer, inner=inner, deadline=deadline, most=limit).run()
        # Without a time limit, looks at the clock are counted, so that the result is the same.
        ended = (
            deadline
            if deadline.is_limited
            else Deadline(most / RECODINGS_PER_LOOK, count_from().__next__)
        )
        outcome = top_down(best.problem, best.recoding, deadline=ended, room=self.room)
        best.checked += outcome.checked
        if outcome.partitions is not None:
            best.offer(outcome.partitions, value=outcome.value, suppressed=outcome.suppressed)
        return outcome.bound

    def improve(self, generator: np.random.Generator) -> None:
        """Improves the best recoding until the deadline; without one, as long as it helps."""
        best, left = self.best, MAX_IDLE_DESCENTS
        ended = math.inf if self.deadline.is_limited else best.checked + MAX_DESCENT_RECODINGS
        while best.checked < ended and (left or self.deadline.is_limited):
            tell(f"search: {best.checked:,} recodings looked at")
            helps = self._by_pairs(generator, ended) or self.from_shaken(generator)
            left = MAX_IDLE_DESCENTS if helps else left - 1

    def _by_pairs(self, generator: np.random.Generator, ended: float) -> bool:
        """Improves two columns at a time, in any order; whether it helps.

        Args:
            generator: Of the order.
            ended: How many recodings may have been looked at in all.
        """
        best, numbers, suited = self.best, self.numbers, self.suited
        pairs = [
            (outer, inner)
            for inner in suited
            for outer, number in enumerate(numbers)
            if outer != inner
            and number <= MAX_LISTED_RECODINGS
            and (number, outer) <= (numbers[inner], inner)
        ]
        value = best.value
        for place in generator.permutation(len(pairs)).tolist():
            outer, inner = pairs[place]
            most = ended - best.checked
            self._over([outer], inner=inner, deadline=self.deadline, most=most).run()
            self.deadline.check()
            if best.value < value:
                self.thorough()
                return True
        return False
