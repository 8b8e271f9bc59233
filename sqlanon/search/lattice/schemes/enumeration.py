"""Systematic search of recodings (Li and Li 2007), also from above (Bayardo and Agrawal 2005).

A recoding of all columns goes with an ordered set of applicators, the columns that may change below
it. Applying one gives a child for each child of that column's recoding in its tree (`trees`), and
the child inherits the applicator and those after it; so each recoding of all columns comes once.
(The source has children inherit all applicators, and then most come several times.) The order may
differ from recoding to recoding: what lies below is the product of what lies below in each column,
and any order cuts it into parts.

What is left out: what is below a recoding if all of it costs too much, or suppresses too many
records. What cost too much to merge, or to split, above: so does all that goes as far in
this column, whatever becomes of the others, and a column without anything left is no applicator any
more. And all columns but one, where everything that keeps this one as it is costs too much.
`benchmarks/prunings.py` says what each of these is worth.

Of recodings that cost the same, that which suppresses fewer records is best, then that whose
partitions are the greatest in lexicographic order, column by column. So no column of it can be
less general alone. A search that ends before its deadline finds this one, whatever its direction
and whatever it leaves out.

The bounds: let F be as fine as all recodings of a space or finer, and C as coarse or coarser. Then
of any R in it, the following hold whatever the loss and the limit:

- A record in a class of C that fails a model is suppressed in R, where the model holds of a class
  whenever it holds of some of its records: the record's class in R is a part of that in C. k is
  such a model. It costs the whole price.
- Any other record is in a class of R that has its class in F, of s records. By discernibility it
  costs at least max(s, k) where that class is published, and the number of all records where it is
  not; under a cell loss at least the price of its cells in F, since blocks only grow and every cell
  loss grows with them, and the whole price where it is not published.
- A class of C that fails another model, which holds of the union of two classes that have it, has
  a part in R that fails it, so one record at least is suppressed.

Up from a recoding F is that recoding, and C merges all that may be merged below it in the tree.
The source bounds a record by its cells where its class is published in F and by 0 where not. Down
from a recoding C is that recoding and F splits all that may be split, as Bayardo and Agrawal have
it for discernibility.

Source: Li and Li 2007, "Towards optimal k-anonymization", sections 3.2 and 4.4; Bayardo and Agrawal
2005, "Data privacy through optimal k-anonymization", sections 4 to 6, for the way down.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import tell
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.lattice.schemes.domain import Domain, Partition
from sqlanon.search.lattice.schemes.scheme_problem import (
    Evaluated,
    Recoding,
    SchemeOutcome,
    SchemeProblem,
    classes_of,
)
from sqlanon.search.lattice.schemes.trees import Ban, Enumeration, Merging, Position, Splitting
from sqlanon.search.privacy import Demands

_MAX_CACHE_BYTES = 2**26
"""What labels of combinations and prices of units that are kept may take, each [bytes]."""


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of some recoded columns.

    Args:
        group: The class of each combination, from 0 without gaps.
        prices: What the cells of a record of each combination cost in these columns.
    """

    group: Numbers
    prices: Numbers

    @property
    def number(self) -> int:
        """How many classes there are."""
        return int(self.group.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """What the classes of a fine recoding cost at least in all coarser ones.

    Args:
        group: The class of each combination.
        least: That cost, per class, if none of its records is known to be suppressed.
        lost: The cost of suppressing it.
        sizes: Its records [records].
    """

    group: Numbers
    least: Numbers
    lost: Numbers
    sizes: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Doom:
    """What a coarse recoding shows to be suppressed in all finer ones.

    Args:
        rows: Whether all records of a combination are.
        more: Further records, at least [records].
    """

    rows: Flags
    more: int


@dataclass(frozen=True, slots=True, order=True)
class Least:
    """What all recodings of a space cost and suppress at least."""

    cost: int
    suppressed: int

    def and_also(self, other: Least) -> Least:
        """What a space costs and suppresses at least where both hold of it."""
        return Least(max(self.cost, other.cost), max(self.suppressed, other.suppressed))


class Ruler:
    """Measures recodings of a table, and spaces of them."""

    def __init__(self, problem: SchemeProblem) -> None:
        self.problem = problem
        self._by_records = _lasting(problem)
        units = max(domain.units for domain in problem.domains)
        self._cell_prices = _remembered(problem.cell_prices, units)
        self._labels = _remembered(self._labelled, len(problem.sizes))

    def _labelled(self, column: int, partition: Partition) -> Numbers:
        """The block of each combination in one column."""
        labels: Numbers = np.array(partition)[self.problem.units[:, column]]
        return labels

    def others(self, recoding: Sequence[Partition], column: int) -> Classes:
        """The classes of all columns but one."""
        problem = self.problem
        left = [c for c in range(len(recoding)) if c != column]
        prices = np.zeros(len(problem.sizes), np.int64)
        if problem.prices is not None:
            for c in left:
                prices += self._cell_prices(c, recoding[c])[problem.units[:, c]]
        if not left:
            return Classes(np.zeros(len(problem.sizes), np.int64), prices)
        return Classes(self.group(recoding, left), prices)

    def group(self, recoding: Sequence[Partition], columns: Sequence[int]) -> Numbers:
        """The class of each combination by one or more of the columns."""
        labels = [self._labels(c, recoding[c]) for c in columns]
        return classes_of(labels, [max(recoding[c]) + 1 for c in columns])

    def with_column(self, others: Classes, column: int, *, partition: Partition) -> Classes:
        """The classes of all columns, from those of the others."""
        labels = [others.group, self._labels(column, partition)]
        group = classes_of(labels, [others.number, max(partition) + 1])
        prices = others.prices
        if self.problem.prices is not None:
            units = self.problem.units[:, column]
            prices = prices + self._cell_prices(column, partition)[units]
        return Classes(group, prices)

    def classes(self, recoding: Sequence[Partition]) -> Classes:
        """The classes of all columns."""
        return self.with_column(self.others(recoding, 0), 0, partition=recoding[0])

    def floor(self, fine: Classes) -> Floor:
        """What the classes of a fine recoding cost at least in all coarser ones."""
        problem, group = self.problem, fine.group
        sizes = np.bincount(group, problem.sizes).astype(np.int64)
        if problem.prices is None:
            least = sizes * np.maximum(sizes, problem.k)
        else:
            least = np.bincount(group, problem.sizes * fine.prices).astype(np.int64)
        return Floor(group, least, sizes * problem.whole, sizes)

    def doom(self, group: Numbers) -> Doom:
        """What the classes of a coarse recoding show to be suppressed in all finer ones."""
        sizes = np.bincount(group, self.problem.sizes).astype(np.int64)
        lasting = self._by_records.publishable(group, sizes)
        hurt = 0
        if self._by_records is not self.problem:
            hurt = int((lasting & ~self.problem.publishable(group, sizes)).sum())
        return Doom(~lasting[group], hurt)

    def least(self, floor: Floor, doom: Doom) -> Least:
        """What all recodings between a fine one and a coarse one cost and suppress."""
        if not doom.rows.any():
            return Least(int(floor.least.sum()), doom.more)
        gone = np.zeros(len(floor.sizes), bool)
        gone[floor.group[doom.rows]] = True
        cost = np.where(gone, floor.lost, floor.least).sum()
        return Least(int(cost), int(floor.sizes[gone].sum()) + doom.more)


def _remembered(
    function: Callable[[int, Partition], Numbers], numbers: int
) -> Callable[[int, Partition], Numbers]:
    """A function that keeps its last results, of so many numbers each."""
    kept: Callable[[int, Partition], Numbers] = lru_cache(_MAX_CACHE_BYTES // (8 * numbers))(
        function
    )
    return kept


def _lasting(problem: SchemeProblem) -> SchemeProblem:
    """The problem with those models alone that hold of a class if they hold of a part of it."""
    if problem.demands is None:
        return problem
    every = tuple(demand for demand in problem.demands.every if demand.model.superset_monotone)
    if len(every) == len(problem.demands.every):
        return problem
    return replace(problem, demands=Demands(problem.demands.values, every))


MAX_OPEN_BYTES = 2**29
"""What recodings that a search has still to go on from may take [bytes]."""
_OPENED, _PER_UNIT = 1200, 10
"""What such a recoding takes, and what for each unit of its columns [bytes]."""
_MAX_KEPT = 2**14
"""Recodings of a column of which it is kept where what is below goes to."""
_MAX_BANS = 2**12
"""How much that is not to be done is remembered of a column, about."""
_TELL_EVERY = 1_000
"""Recodings that are evaluated from one line about the progress to the next."""
_CHILDREN_AT_ONCE = 512
"""Children that are evaluated before any of them is gone on from."""
Bans = tuple[frozenset[Ban], ...]
"""Per column what costs too much in all recodings below."""


@dataclass(frozen=True, slots=True, eq=False)
class Upward:
    """The way from the finest recoding.

    What lies below a recoding in the tree is between it and a coarser partition; what follows is
    said above.
    """

    ruler: Ruler

    def tree(self, domain: Domain) -> Enumeration:
        """The recodings of a column, by merging."""
        return Merging(domain)

    def far(self, farthest: Recoding) -> Doom:
        """What is suppressed even in the coarsest partition below."""
        return self.ruler.doom(self.ruler.group(farthest, range(len(farthest))))

    def least(self, classes: Classes, evaluated: Evaluated, *, far: Any) -> Least:
        """What all below costs and suppresses, of a recoding whose own classes only grow."""
        if not far.rows.any():
            return Least(evaluated.least, far.more)
        return self.ruler.least(self.ruler.floor(classes), far)

    def finest(self, recoding: Recoding, farthest: Recoding) -> Recoding:
        """The finer end of what is below, which no recoding there exceeds in any column: itself."""
        return recoding


@dataclass(frozen=True, slots=True, eq=False)
class Downward:
    """The way from the coarsest recoding, to finer partitions; otherwise like `Upward`."""

    ruler: Ruler

    def tree(self, domain: Domain) -> Enumeration:
        """The recodings of a column, by splitting."""
        return Splitting(domain)

    def far(self, farthest: Recoding) -> Floor:
        """What the classes of the finest partition below cost at least in whatever is coarser."""
        return self.ruler.floor(self.ruler.classes(farthest))

    def least(self, classes: Classes, evaluated: Evaluated, *, far: Any) -> Least:
        """What all below costs and suppresses: what the recoding suppresses stays suppressed."""
        return self.ruler.least(far, self.ruler.doom(classes.group))

    def finest(self, recoding: Recoding, farthest: Recoding) -> Recoding:
        """The finer end of what is below: the partition that it goes to."""
        return farthest


def bottom_up(
    problem: SchemeProblem,
    start: Recoding | None = None,
    *,
    deadline: Deadline = NEVER,
    room: int = MAX_OPEN_BYTES,
) -> SchemeOutcome:
    """The best recoding, searched from the finest.

    Args:
        problem: The table.
        start: A recoding to evaluate first, such as what another search has found.
        deadline: When the search ends with the best so far.
        room: What it may hold [bytes]; beyond it goes depth first.
    """
    return Walk(Upward(Ruler(problem)), deadline=deadline, room=room).run(start)


def top_down(
    problem: SchemeProblem,
    start: Recoding | None = None,
    *,
    deadline: Deadline = NEVER,
    room: int = MAX_OPEN_BYTES,
) -> SchemeOutcome:
    """The best recoding, searched from the coarsest; arguments as of `bottom_up`."""
    return Walk(Downward(Ruler(problem)), deadline=deadline, room=room).run(start)


@dataclass(slots=True, eq=False)
class Best:
    """The best recoding that a systematic search has found.

    Args:
        problem: The table.
        recoding: It; None as long as none satisfies the policy.
        figures: What it costs and suppresses.
        checked: Recodings that were evaluated.
    """

    problem: SchemeProblem
    recoding: Recoding | None = None
    figures: Least = field(default_factory=lambda: Least(0, 0))
    checked: int = 0

    def evaluate(self, recoding: Recoding) -> Evaluated:
        """Evaluates a recoding from nothing, and takes it if it is better."""
        evaluated = self.problem.evaluate(recoding)
        self.offer(recoding, evaluated)
        return evaluated

    def offer(self, recoding: Recoding, evaluated: Evaluated) -> None:
        """Takes a recoding that is better."""
        self.checked += 1
        figures = Least(evaluated.cost, evaluated.suppressed)
        if not self.rules_out(figures, recoding):
            self.recoding, self.figures = recoding, figures

    def rules_out(self, least: Least, finest: Recoding) -> bool:
        """Whether nothing in a space is better.

        Args:
            least: What its recodings cost and suppress at least.
            finest: As great, in every column, as all of them.
        """
        if self.costs_less(least):
            return True
        return self.recoding is not None and self.figures == least and finest <= self.recoding

    def costs_less(self, least: Least) -> bool:
        """Whether whatever costs and suppresses at least so much is worse."""
        return least.suppressed > self.problem.allowance or (
            self.recoding is not None and self.figures < least
        )

    def outcome(self, coarsest: Evaluated, *, bound: int | None = None) -> SchemeOutcome:
        """The outcome of a search.

        Args:
            coarsest: The coarsest recoding, for its cost where none satisfies the policy.
            bound: What recodings that were not looked at cost at least; None where there are none.
        """
        best = self.figures
        if self.recoding is None:
            best = Least(coarsest.cost, coarsest.suppressed)
            bound = None if bound is None else min(bound, best.cost - 1)
        proved = best.cost if bound is None else min(bound, best.cost)
        return SchemeOutcome(self.recoding, best.cost, best.suppressed, proved, self.checked)


@dataclass(frozen=True, slots=True)
class Move:
    """A step of one column.

    Args:
        column: Number of the column.
        to: Its recoding.
        later: The columns that may still change below, it and those applied later.
    """

    column: int
    to: Position
    later: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Opened:
    """A recoding of all columns, and what lies below it.

    Args:
        positions: Per column its recoding.
        active: The columns that may change below, the source's applicators.
        bans: Per column what is not to be done below.
        least: What all below it cost and suppress.
        moves: Those not made yet; None until the first is.
    """

    positions: tuple[Position, ...]
    active: tuple[int, ...]
    bans: Bans
    least: Least
    moves: Iterator[Move] | None = None

    @property
    def recoding(self) -> Recoding:
        """It, per column."""
        return tuple(position.partition for position in self.positions)


class Frontier:
    """A queue of recodings by their bounds; when it is full, a stack that is emptied first.

    So no more are held than it may have, but for those of one way down, and the search stays exact.

    Args:
        most: How many the queue may hold.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._queue: list[tuple[Least, int, Opened]] = []
        self._stack: list[Opened] = []
        self._pushed = 0

    def rank(self, opened: Opened) -> Least:
        """What is taken first: the least bound, and of equal ones that found first."""
        return opened.least

    def push(self, opened: Opened) -> None:
        """Adds a recoding."""
        if len(self._queue) >= self.most:
            self._stack.append(opened)
            return
        self._pushed += 1
        heapq.heappush(self._queue, (self.rank(opened), self._pushed, opened))

    def push_all(self, opened: Sequence[Opened]) -> None:
        """Adds recodings, the first to be taken last, so that a stack gives it first."""
        for entry in sorted(opened, key=self.rank, reverse=True):
            self.push(entry)

    def pop(self) -> Opened | None:
        """Takes the next one; None where none is left."""
        if self._stack:
            return self._stack.pop()
        return heapq.heappop(self._queue)[2] if self._queue else None

    def bounds(self) -> list[int]:
        """What all recodings below each of them cost at least."""
        left = [*self._stack, *(opened for _, _, opened in self._queue)]
        return [opened.least.cost for opened in left]


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A recoding that is gone on from.

    Args:
        opened: It.
        recoding: It, per column.
        farthest: The partitions beyond which nothing below it goes.
        classes: Its classes.
        evaluated: What it costs.
        far: What is known of `farthest`.
        least: What all below it cost and suppress.
    """

    opened: Opened
    recoding: Recoding
    farthest: Recoding
    classes: Classes
    evaluated: Evaluated
    far: Doom | Floor
    least: Least


class Walk:
    """A systematic search.

    Args:
        direction: The way that it goes.
        deadline: When it ends.
        room: What it may hold [bytes].
    """

    def __init__(self, direction: Upward | Downward, *, deadline: Deadline, room: int) -> None:
        self.direction, self.deadline, self.room = direction, deadline, room
        self.problem = problem = direction.ruler.problem
        self.best = Best(problem)
        self.trees = tuple(map(direction.tree, problem.domains))
        self.farthest: tuple[Callable[[Position], Partition], ...] = tuple(
            lru_cache(_MAX_KEPT)(tree.farthest) for tree in self.trees
        )
        entry_size = _OPENED + _PER_UNIT * sum(domain.units for domain in problem.domains)
        self.frontier = Frontier(max(room // entry_size, 1))

    def run(self, start: Recoding | None = None) -> SchemeOutcome:
        """Goes on until nothing is left, or the time is over."""
        coarsest = self.best.evaluate(self.problem.coarsest)
        self.frontier.push(self._root())
        bounds = list[int]()
        try:
            self._seed(start)
            while (opened := self.frontier.pop()) is not None:
                bounds = [opened.least.cost]
                before = self.best.checked // _TELL_EVERY
                self._go_on(opened)
                if self.best.checked // _TELL_EVERY > before:
                    tell(f"search: {self.best.checked:,} recodings evaluated")
        except TimeLimitError:
            bound = min([*bounds, *self.frontier.bounds()])
            return self.best.outcome(coarsest, bound=bound)
        return self.best.outcome(coarsest)

    def _root(self) -> Opened:
        """The recoding that all others come from, evaluated."""
        positions = tuple(tree.root for tree in self.trees)
        nothing = (frozenset[Ban](),) * len(positions)
        active = self._active(range(len(positions)), positions, nothing)
        root = Opened(positions, active, nothing, Least(0, 0))
        turn = self._turn(root)
        self.best.offer(turn.recoding, turn.evaluated)
        root.least = turn.least
        return root

    def _seed(self, start: Recoding | None) -> None:
        """Evaluates a recoding that may be good, so that less is looked at."""
        if start is not None:
            self.best.evaluate(start)

    def _turn(self, opened: Opened) -> Turn:
        """Looks at a recoding again, and at what lies below it."""
        recoding = opened.recoding
        farthest = tuple(
            self.farthest[c](position) if c in opened.active else position.partition
            for c, position in enumerate(opened.positions)
        )
        classes = self.direction.ruler.classes(recoding)
        evaluated = self.problem.judge(classes.group, self.problem.sizes * classes.prices)
        far = self.direction.far(farthest)
        least = self.direction.least(classes, evaluated, far=far).and_also(opened.least)
        return Turn(opened, recoding, farthest, classes, evaluated, far, least)

    def _go_on(self, opened: Opened) -> None:
        """Evaluates some of its children, and keeps those below which there may be a better one."""
        turn = self._turn(opened)
        if self._is_over(turn):
            return
        opened.least = turn.least
        if opened.moves is None:
            opened.moves = self._moves(turn)
        moves = list(islice(opened.moves, _CHILDREN_AT_ONCE))
        results = [*self._evaluated(turn, moves)]
        opened.bans = self._banned(opened, results)
        if len(moves) == _CHILDREN_AT_ONCE:
            self.frontier.push(opened)
        kept = [self._child(turn, move, least=least) for move, least in results]
        self.frontier.push_all([child for child in kept if child is not None])

    def _is_over(self, turn: Turn) -> bool:
        """Whether nothing below is better, now that the turn of a recoding has come.

        Source: Li and Li 2007, section 4.4, the modified breadth-first search.
        """
        return self._is_closed(turn.least, turn.recoding, turn.farthest)

    def _is_closed(self, least: Least, recoding: Recoding, farthest: Recoding) -> bool:
        """Whether nothing below a recoding is better."""
        return self.best.rules_out(least, self.direction.finest(recoding, farthest))

    def _evaluated(self, turn: Turn, moves: Sequence[Move]) -> Iterator[tuple[Move, Least]]:
        """Evaluates children, and tells what lies between each and what all of them go to."""
        ruler, problem, recoding = self.direction.ruler, self.problem, turn.recoding
        column, others = -1, None
        for move in moves:
            self.deadline.check()
            if others is None or move.column != column:
                column, others = move.column, ruler.others(recoding, move.column)
            classes = ruler.with_column(others, column, partition=move.to.partition)
            evaluated = problem.judge(classes.group, problem.sizes * classes.prices)
            self.best.offer(_with(recoding, column, move.to.partition), evaluated)
            yield move, self.direction.least(classes, evaluated, far=turn.far)

    def _banned(self, opened: Opened, results: Sequence[tuple[Move, Least]]) -> Bans:
        """Per column what is not to be done below, with what children have shown."""
        bans = [set[Ban]() for _ in self.trees]
        for move, least in results:
            if len(opened.bans[move.column]) < _MAX_BANS and self.best.costs_less(least):
                bans[move.column].add(move.to.ban)
        return tuple(old | new if new else old for old, new in zip(opened.bans, bans, strict=True))

    def _child(self, turn: Turn, move: Move, *, least: Least) -> Opened | None:
        """A child, if there may be a better recoding below it."""
        column = move.column
        positions, bans = [*turn.opened.positions], [*turn.opened.bans]
        positions[column] = move.to
        if not self.trees[column].bans_last:
            bans[column] = frozenset()
        recoding = tuple(position.partition for position in positions)
        if self._is_closed(least, recoding, turn.farthest):
            return None
        active = self._active(move.later, positions, bans)
        return Opened(tuple(positions), active, tuple(bans), least) if active else None

    def _active(
        self, columns: Sequence[int], positions: Sequence[Position], bans: Sequence[frozenset[Ban]]
    ) -> tuple[int, ...]:
        """The columns in which anything may be done."""
        return tuple(c for c in columns if any(self._children(c, positions[c], bans[c])))

    def _children(
        self, column: int, position: Position, bans: frozenset[Ban]
    ) -> Iterator[Position]:
        """The children of a column's recoding that are not known to cost too much."""
        tree = self.trees[column]
        for child in tree.children(position):
            if not (bans and tree.is_banned(child, bans)):
                yield child

    def _moves(self, turn: Turn) -> Iterator[Move]:
        """The steps from it, column by column."""
        opened, columns = turn.opened, self._ordered(turn)
        needed = self._needed(turn, columns)
        if needed is not None:
            columns = (needed, *(c for c in columns if c != needed))
        for place, column in enumerate(columns if needed is None else [needed]):
            for child in self._children(column, opened.positions[column], opened.bans[column]):
                yield Move(column, child, columns[place:])

    def _ordered(self, turn: Turn) -> tuple[int, ...]:
        """The columns that may change, those first that can change the number of classes least."""
        changed = {}
        for column in turn.opened.active:
            far = _with(turn.recoding, column, turn.farthest[column])
            group = self.direction.ruler.group(far, range(len(far)))
            changed[column] = abs(int(group.max(initial=-1)) + 1 - turn.classes.number)
        return tuple(sorted(changed, key=changed.__getitem__))

    def _needed(self, turn: Turn, columns: Sequence[int]) -> int | None:
        """A column that has to change, since without it nothing below is better.

        The source asks for this by suppressed records alone, where nothing may be suppressed.
        """
        for column in columns if len(columns) > 1 else ():
            kept = _with(turn.farthest, column, turn.recoding[column])
            far = self.direction.far(kept)
            least = self.direction.least(turn.classes, turn.evaluated, far=far)
            if self.best.rules_out(least, self.direction.finest(turn.recoding, kept)):
                return column
        return None


def _with(recoding: Recoding, column: int, partition: Partition) -> Recoding:
    """A recoding with another partition of one column."""
    return (*recoding[:column], partition, *recoding[column + 1 :])
