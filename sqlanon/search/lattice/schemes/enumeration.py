"""Enumeration: the best recoding of all columns by a systematic search, from below or from above.

A recoding of all columns goes with an ordered set of applicators, the columns that may change below
it. Applying one gives a child for each child of that column's recoding in its tree, and the child
inherits the applicator and those after it; so each recoding of all columns comes once. (The source
has children inherit all applicators, and then most come several times.) The order may differ from
recoding to recoding: what lies below is the product of what lies below in each column, and any
order cuts it into parts.

A child that costs too much says something of its sisters: so does all below them that goes as far
in this column, whatever becomes of the others. It is not looked at there (`Prunings.useless`).

Of recodings that cost the same, that which suppresses fewer records is best, then that whose
partitions are the greatest in lexicographic order, column by column. So no column of it can be
less general alone. A search that ends before its deadline finds this one, whatever its direction
and its prunings.

Source: Li and Li 2007, "Towards optimal k-anonymization", sections 3.2 and 4.4; Bayardo and Agrawal
2005, "Data privacy through optimal k-anonymization", sections 4 to 6, for the way down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Generic

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.lattice.schemes.directions import Direction, Downward, Far, Upward
from sqlanon.search.lattice.schemes.domain import Partition
from sqlanon.search.lattice.schemes.frontier import Bans, Frontier, Move, Opened
from sqlanon.search.lattice.schemes.outcome import Recoding, SchemeOutcome, Tell
from sqlanon.search.lattice.schemes.partitions import Ban, Enumeration, Position
from sqlanon.search.lattice.schemes.problem import Evaluated, SchemeProblem
from sqlanon.search.lattice.schemes.prunings import Prunings
from sqlanon.search.lattice.schemes.seeds import Best, less_flexible, random_recodings
from sqlanon.search.lattice.schemes.spaces import Classes, Least, Ruler

ROOM = 2**29
"""What recodings that a search has still to go on from may take [bytes]."""
_OPENED, _PER_UNIT = 1200, 10
"""What such a recoding takes, and what for each unit of its columns [bytes]."""
_KEPT = 2**14
"""Recodings of a column of which it is kept where what is below goes to."""
_BANS = 2**12
"""How much that is not to be done is remembered of a column, about."""
_TOLD = 1_000
"""Recodings that are evaluated from one line about the progress to the next."""
_CHUNK = 512
"""Children that are evaluated before any of them is gone on from."""
_SIMPLER = 0.2
"""Share of the time for the best recoding of less flexible schemes."""


def bottom_up(
    problem: SchemeProblem,
    prunings: Prunings | None = None,
    *,
    deadline: Deadline = NEVER,
    room: int = ROOM,
    tell: Tell | None = None,
) -> SchemeOutcome:
    """The best recoding, searched from the finest.

    Args:
        problem: The table.
        prunings: What is left out; None for `Prunings()`.
        deadline: When the search ends with the best so far.
        room: What it may hold [bytes]; beyond it goes depth first.
        tell: Receives lines about the progress.
    """
    way = Upward(Ruler(problem))
    return _Walk.of(way, prunings or Prunings(), deadline=deadline, room=room).run(tell)


def top_down(
    problem: SchemeProblem,
    prunings: Prunings | None = None,
    *,
    deadline: Deadline = NEVER,
    room: int = ROOM,
    tell: Tell | None = None,
) -> SchemeOutcome:
    """The best recoding, searched from the coarsest; arguments as of `bottom_up`."""
    way = Downward(Ruler(problem))
    return _Walk.of(way, prunings or Prunings(), deadline=deadline, room=room).run(tell)


@dataclass(frozen=True, slots=True, eq=False)
class _Turn(Generic[Far]):
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
    far: Far
    least: Least


@dataclass(slots=True, eq=False)
class _Walk(Generic[Far]):
    """A systematic search.

    Args:
        problem: The table.
        prunings: What is left out.
        direction: The way that it goes.
        trees: Per column its recodings.
        farthest: Per column where what is below one of them goes to, the last results kept.
        frontier: Recodings that it has still to go on from.
        best: The best recoding so far.
        deadline: When it ends.
        room: What it may hold [bytes].
    """

    problem: SchemeProblem
    prunings: Prunings
    direction: Direction[Far]
    trees: tuple[Enumeration, ...]
    farthest: tuple[Callable[[Position], Partition], ...]
    frontier: Frontier
    best: Best
    deadline: Deadline
    room: int

    @classmethod
    def of(
        cls, direction: Direction[Far], prunings: Prunings, *, deadline: Deadline, room: int
    ) -> _Walk[Far]:
        """A search that has not begun."""
        problem = direction.ruler.problem
        each = _OPENED + _PER_UNIT * sum(domain.units for domain in problem.domains)
        frontier = Frontier(max(room // each, 1), prunings.nodes)
        trees = tuple(map(direction.tree, problem.domains))
        farthest = tuple(lru_cache(_KEPT)(tree.farthest) for tree in trees)
        best = Best(problem)
        return cls(problem, prunings, direction, trees, farthest, frontier, best, deadline, room)

    def run(self, tell: Tell | None = None) -> SchemeOutcome:
        """Goes on until nothing is left, or the time is over."""
        coarsest = self.best.evaluate(self.problem.coarsest)
        for recoding in self.prunings.start:
            self.best.evaluate(recoding)
        self.frontier.push(self._root())
        bounds = list[int]()
        try:
            self._seed()
            while (opened := self.frontier.pop()) is not None:
                bounds = [opened.least.cost]
                told = self.best.checked // _TOLD
                self._go_on(opened)
                if tell is not None and self.best.checked // _TOLD > told:
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

    def _seed(self) -> None:
        """Evaluates recodings that may be good, so that less is looked at."""
        for recoding in random_recodings(self.problem, self.prunings):
            self.deadline.check()
            self.best.evaluate(recoding)
        simpler = less_flexible(self.problem) if self.prunings.simpler else None
        if simpler is not None:
            way, share = self.direction.on(Ruler(simpler)), self.deadline.share(_SIMPLER)
            prunings = replace(self.prunings, start=())
            found = _Walk.of(way, prunings, deadline=share, room=self.room).run()
            self.best.checked += found.checked
            if found.partitions is not None:
                self.best.evaluate(found.partitions)

    def _turn(self, opened: Opened) -> _Turn[Far]:
        """Looks at a recoding again, and at what lies below it."""
        recoding = opened.recoding
        farthest = tuple(
            self.farthest[c](own) if c in opened.active else own.partition
            for c, own in enumerate(opened.positions)
        )
        own = self.direction.ruler.classes(recoding)
        evaluated = self.problem.judge(own.group, self.problem.sizes * own.prices)
        far = self.direction.far(farthest)
        least = self.direction.least(own, evaluated, far=far).and_also(opened.least)
        return _Turn(opened, recoding, farthest, own, evaluated, far, least)

    def _go_on(self, opened: Opened) -> None:
        """Evaluates some of its children, and keeps those below which there may be a better one."""
        turn = self._turn(opened)
        if self.prunings.again and self._is_closed(turn.least, turn.recoding, turn.farthest):
            return
        opened.least = turn.least
        if opened.moves is None:
            opened.moves = self._moves(turn)
        moves = list(islice(opened.moves, _CHUNK))
        found = [*self._evaluated(turn, moves)]
        opened.bans = self._banned(opened, found)
        if len(moves) == _CHUNK:
            self.frontier.push(opened)
        if self.prunings.nodes:
            found.sort(key=lambda pair: pair[1], reverse=True)
        for move, least in found:
            self._keep(turn, move, least=least)

    def _is_closed(self, least: Least, own: Recoding, farthest: Recoding) -> bool:
        """Whether nothing below a recoding is better."""
        finest = self.direction.finest(own, farthest)
        return self.prunings.node and self.best.rules_out(least, finest)

    def _evaluated(self, turn: _Turn[Far], moves: Sequence[Move]) -> Iterator[tuple[Move, Least]]:
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
        if not self.prunings.useless:
            return opened.bans
        bans = [set[Ban]() for _ in self.trees]
        for move, least in found:
            if len(opened.bans[move.column]) < _BANS and self.best.costs_less(least):
                bans[move.column].add(move.to.ban)
        return tuple(old | new if new else old for old, new in zip(opened.bans, bans, strict=True))

    def _keep(self, turn: _Turn[Far], move: Move, *, least: Least) -> None:
        """Keeps a child, if there may be a better recoding below it."""
        opened, column = turn.opened, move.column
        positions, bans = [*opened.positions], [*opened.bans]
        positions[column] = move.to
        if not self.trees[column].bans_last:
            bans[column] = frozenset()
        recoding = tuple(own.partition for own in positions)
        if not self._is_closed(least, recoding, turn.farthest):
            active = self._active(move.later, positions, bans)
            if active:
                self.frontier.push(Opened(tuple(positions), active, tuple(bans), least))

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

    def _moves(self, turn: _Turn[Far]) -> Iterator[Move]:
        """The steps from it, column by column."""
        opened, columns = turn.opened, self._ordered(turn)
        needed = self._needed(turn, columns) if self.prunings.useful else None
        if needed is not None:
            columns = (needed, *(c for c in columns if c != needed))
        for place, column in enumerate(columns if needed is None else [needed]):
            for child in self._children(column, opened.positions[column], opened.bans[column]):
                yield Move(column, child, columns[place:])

    def _ordered(self, turn: _Turn[Far]) -> tuple[int, ...]:
        """The columns that may change, those first that can change the number of classes least."""
        columns = turn.opened.active
        if not self.prunings.applicators:
            return columns
        changed = {}
        for column in columns:
            far = _with(turn.recoding, column, turn.farthest[column])
            group = self.direction.ruler.group(far, range(len(far)))
            changed[column] = abs(int(group.max(initial=-1)) + 1 - turn.own.number)
        return tuple(sorted(columns, key=changed.__getitem__))

    def _needed(self, turn: _Turn[Far], columns: Sequence[int]) -> int | None:
        """A column that has to change, since without it nothing below is better."""
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
