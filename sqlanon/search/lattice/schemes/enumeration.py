"""Systematic search of recodings (Li and Li 2007), also from above (Bayardo and Agrawal 2005).

A recoding of all columns goes with an ordered set of applicators, the columns that may change below
it. Applying one gives a child for each child of that column's recoding in its tree (`trees`), and
the child inherits the applicator and those after it; so each recoding of all columns comes once.
(The source has children inherit all applicators, and then most come several times.) The order may
differ from recoding to recoding: what lies below is the product of what lies below in each column,
and any order cuts it into parts.

What is left out: what is below a recoding if all of it costs too much, or suppresses too many
records (`spaces`). What cost too much to merge, or to split, above: so does all that goes as far in
this column, whatever becomes of the others, and a column without anything left is no applicator any
more. And all columns but one, where everything that keeps this one as it is costs too much.
`benchmarks/prunings.py` says what each of these is worth.

Of recodings that cost the same, that which suppresses fewer records is best, then that whose
partitions are the greatest in lexicographic order, column by column. So no column of it can be
less general alone. A search that ends before its deadline finds this one, whatever its direction
and whatever it leaves out.

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

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import tell
from sqlanon.search.lattice.schemes.domain import Domain, Partition
from sqlanon.search.lattice.schemes.problem import Evaluated, Recoding, SchemeOutcome, SchemeProblem
from sqlanon.search.lattice.schemes.spaces import Classes, Doom, Floor, Least, Ruler
from sqlanon.search.lattice.schemes.trees import Ban, Enumeration, Merging, Position, Splitting

ROOM = 2**29
"""What recodings that a search has still to go on from may take [bytes]."""
_OPENED, _PER_UNIT = 1200, 10
"""What such a recoding takes, and what for each unit of its columns [bytes]."""
_KEPT = 2**14
"""Recodings of a column of which it is kept where what is below goes to."""
_BANS = 2**12
"""How much that is not to be done is remembered of a column, about."""
_TELL_EVERY = 1_000
"""Recodings that are evaluated from one line about the progress to the next."""
_CHUNK = 512
"""Children that are evaluated before any of them is gone on from."""
_SIMPLER = 0.2
"""Share of the time for the best recoding of less flexible schemes."""
_LESS_FLEXIBLE = {"sps": "ops", "gsps": "gops", "gops": "ghs", "ghs": "bhs"}
"""Per scheme one whose recodings of the same units it has all of, and others."""
_FLEXIBILITY = {"ghs": 1, "gops": 2, "gsps": 3, "sps": 3}
"""Steps that there are below a scheme, as if each column had all."""

Bans = tuple[frozenset[Ban], ...]
"""Per column what costs too much in all recodings below."""


@dataclass(frozen=True, slots=True, eq=False)
class Upward:
    """The way from the finest recoding.

    What lies below a recoding in the tree is between it and a coarser partition; what follows is
    said in `spaces`.
    """

    ruler: Ruler

    def tree(self, domain: Domain) -> Enumeration:
        """The recodings of a column, by merging."""
        return Merging(domain)

    def far(self, farthest: Recoding) -> Doom:
        """What is suppressed even in the coarsest partition below."""
        return self.ruler.doom(self.ruler.group(farthest, range(len(farthest))))

    def least(self, own: Classes, evaluated: Evaluated, *, far: Any) -> Least:
        """What all below costs and suppresses, of a recoding whose own classes only grow."""
        if not far.rows.any():
            return Least(evaluated.least, far.more)
        return self.ruler.least(self.ruler.floor(own), far)

    def finest(self, own: Recoding, farthest: Recoding) -> Recoding:
        """The finer end of what is below, which no recoding there exceeds in any column: itself."""
        return own


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

    def least(self, own: Classes, evaluated: Evaluated, *, far: Any) -> Least:
        """What all below costs and suppresses: what the recoding suppresses stays suppressed."""
        return self.ruler.least(far, self.ruler.doom(own.group))

    def finest(self, own: Recoding, farthest: Recoding) -> Recoding:
        """The finer end of what is below: the partition that it goes to."""
        return farthest


def bottom_up(
    problem: SchemeProblem,
    start: Recoding | None = None,
    *,
    deadline: Deadline = NEVER,
    room: int = ROOM,
) -> SchemeOutcome:
    """The best recoding, searched from the finest.

    Args:
        problem: The table.
        start: A recoding to evaluate first, such as what another search has found; None for the
            best one of the next less flexible schemes.
        deadline: When the search ends with the best so far.
        room: What it may hold [bytes]; beyond it goes depth first.
    """
    return Walk(Upward(Ruler(problem)), deadline=deadline, room=room).run(start)


def top_down(
    problem: SchemeProblem,
    start: Recoding | None = None,
    *,
    deadline: Deadline = NEVER,
    room: int = ROOM,
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


def less_flexible(problem: SchemeProblem) -> SchemeProblem | None:
    """The same table under the next less flexible schemes; None where all are the least.

    The most flexible go first, so that columns come to the same scheme.
    """
    most = max((_FLEXIBILITY.get(domain.scheme, 0) for domain in problem.domains), default=0)
    if not most:
        return None
    domains = tuple(
        replace(domain, scheme=_LESS_FLEXIBLE[domain.scheme])
        if _FLEXIBILITY.get(domain.scheme, 0) == most
        else domain
        for domain in problem.domains
    )
    return replace(problem, domains=domains)


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
        for each in sorted(opened, key=self.rank, reverse=True):
            self.push(each)

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
        own: Its classes.
        evaluated: What it costs.
        far: What is known of `farthest`.
        least: What all below it cost and suppress.
    """

    opened: Opened
    recoding: Recoding
    farthest: Recoding
    own: Classes
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
            lru_cache(_KEPT)(tree.farthest) for tree in self.trees
        )
        each = _OPENED + _PER_UNIT * sum(domain.units for domain in problem.domains)
        self.frontier = Frontier(max(room // each, 1))

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
        simpler = None if start is not None else less_flexible(self.problem)
        if simpler is not None:
            way, share = type(self.direction)(Ruler(simpler)), self.deadline.share(_SIMPLER)
            found = Walk(way, deadline=share, room=self.room).run()
            self.best.checked += found.checked
            start = found.partitions
        if start is not None:
            self.best.evaluate(start)

    def _turn(self, opened: Opened) -> Turn:
        """Looks at a recoding again, and at what lies below it."""
        recoding = opened.recoding
        farthest = tuple(
            self.farthest[c](position) if c in opened.active else position.partition
            for c, position in enumerate(opened.positions)
        )
        own = self.direction.ruler.classes(recoding)
        evaluated = self.problem.judge(own.group, self.problem.sizes * own.prices)
        far = self.direction.far(farthest)
        least = self.direction.least(own, evaluated, far=far).and_also(opened.least)
        return Turn(opened, recoding, farthest, own, evaluated, far, least)

    def _go_on(self, opened: Opened) -> None:
        """Evaluates some of its children, and keeps those below which there may be a better one."""
        turn = self._turn(opened)
        if self._is_over(turn):
            return
        opened.least = turn.least
        if opened.moves is None:
            opened.moves = self._moves(turn)
        moves = list(islice(opened.moves, _CHUNK))
        found = [*self._evaluated(turn, moves)]
        opened.bans = self._banned(opened, found)
        if len(moves) == _CHUNK:
            self.frontier.push(opened)
        kept = [self._child(turn, move, least=least) for move, least in found]
        self.frontier.push_all([child for child in kept if child is not None])

    def _is_over(self, turn: Turn) -> bool:
        """Whether nothing below is better, now that the turn of a recoding has come.

        Source: Li and Li 2007, section 4.4, the modified breadth-first search.
        """
        return self._is_closed(turn.least, turn.recoding, turn.farthest)

    def _is_closed(self, least: Least, own: Recoding, farthest: Recoding) -> bool:
        """Whether nothing below a recoding is better."""
        return self.best.rules_out(least, self.direction.finest(own, farthest))

    def _evaluated(self, turn: Turn, moves: Sequence[Move]) -> Iterator[tuple[Move, Least]]:
        """Evaluates children, and tells what lies between each and what all of them go to."""
        ruler, problem, recoding = self.direction.ruler, self.problem, turn.recoding
        column, others = -1, None
        for move in moves:
            self.deadline.check()
            if others is None or move.column != column:
                column, others = move.column, ruler.others(recoding, move.column)
            own = ruler.with_column(others, column, partition=move.to.partition)
            evaluated = problem.judge(own.group, problem.sizes * own.prices)
            self.best.offer(_with(recoding, column, move.to.partition), evaluated)
            yield move, self.direction.least(own, evaluated, far=turn.far)

    def _banned(self, opened: Opened, found: Sequence[tuple[Move, Least]]) -> Bans:
        """Per column what is not to be done below, with what children have shown."""
        bans = [set[Ban]() for _ in self.trees]
        for move, least in found:
            if len(opened.bans[move.column]) < _BANS and self.best.costs_less(least):
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
            changed[column] = abs(int(group.max(initial=-1)) + 1 - turn.own.number)
        return tuple(sorted(changed, key=changed.__getitem__))

    def _needed(self, turn: Turn, columns: Sequence[int]) -> int | None:
        """A column that has to change, since without it nothing below is better.

        The source asks for this by suppressed records alone, where nothing may be suppressed.
        """
        for column in columns if len(columns) > 1 else ():
            kept = _with(turn.farthest, column, turn.recoding[column])
            far = self.direction.far(kept)
            least = self.direction.least(turn.own, turn.evaluated, far=far)
            if self.best.rules_out(least, self.direction.finest(turn.recoding, kept)):
                return column
        return None


def _with(recoding: Recoding, column: int, partition: Partition) -> Recoding:
    """A recoding with another partition of one column."""
    return (*recoding[:column], partition, *recoding[column + 1 :])
