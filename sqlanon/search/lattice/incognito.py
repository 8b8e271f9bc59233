"""Incognito (LeFevre et al. 2005) by bounds: the best node of a lattice, and all minimal ones.

Every check of a node bounds whole sub-lattices (see `bounds`), so the order of the checks is
everything. Two kinds of checks alternate. A *promising* node is expected to beat the best one. A
*witness* is a node expected to rule out the open node that is hardest to rule out, and the more
open nodes lie below it the better. The search ends when no open node can beat the best one.

Source: Samarati 2001 (lattice), LeFevre et al. 2005 (Incognito: roll-up and both directions of
predictive tagging); bounds for losses that are not monotone follow from their two parts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import le
from typing import Any

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.loss.objectives import FORECAST_MARGIN, Objective
from sqlanon.progress import tell
from sqlanon.recoding import Node
from sqlanon.search.arrays import Flags, Reals
from sqlanon.search.lattice.bounds import (
    Box,
    Check,
    Forecast,
    Knowledge,
    Ratio,
    at_node,
    combine,
    count_above,
    count_below,
    minimal,
    spread,
)
from sqlanon.wording import counted

Ask = Callable[[Sequence[Node]], list[Check]]
Settle = Callable[[Check], Check]
Start = Callable[[Deadline], Node | None]
"""Finds a node to start from until a deadline; None where it finds none."""

NODES_PER_QUERY = 16  # nodes per query: more share its overhead, fewer learn from each other
WIDE_NODES_PER_QUERY = 20  # nodes per query where a check proves little about other nodes
UNKNOWN = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Lattice:
    """The generalization lattice of a table, with its objective and suppression limit.

    Args:
        low: Lowest level allowed per quasi-identifier.
        high: Highest level allowed.
        entropies: Per quasi-identifier and level the entropy of the generalized column [bits].
        records: Records of the table.
        allowance: Records that may be suppressed.
        objective: The loss to minimize.
        smallest: Fewest records that may be suppressed where any are: those that are kept in a
            class of their own must be enough for one.
        batch: Nodes per query.
        ratio: How a cost and a gain make the loss, where it has a gain.
    """

    low: Node
    high: Node
    entropies: Sequence[Sequence[float]]
    records: int
    allowance: int
    objective: Objective
    smallest: int = 0
    batch: int = NODES_PER_QUERY
    ratio: Ratio | None = None

    def accepts(self, suppressed: int) -> bool:
        """Whether a node that suppresses so many records may be published: not an empty table."""
        if suppressed == self.records and not self.smallest:
            return False
        return suppressed == 0 or self.smallest <= suppressed <= self.allowance

    @property
    def box(self) -> Box:
        """All nodes allowed."""
        return Box(self.low, self.high)


@dataclass(slots=True)
class Search:
    """The checks made, the best of them, and what they foretell of other nodes.

    `shares` foretells the share of records that a node suppresses, `certain` the share that its
    check would prove of the nodes below, `excess` whether it suppresses more than the allowance.
    """

    lattice: Lattice
    ask: Ask
    deadline: Deadline = NEVER
    settle: Settle | None = None
    checks: dict[Node, Check] = field(default_factory=dict)
    best: Check | None = None
    shares: Forecast = field(init=False)
    certain: Forecast = field(init=False)
    excess: Forecast = field(init=False)

    def __post_init__(self) -> None:
        highest = sum(max(levels) for levels in self.lattice.entropies)
        self.shares, self.certain, self.excess = (Forecast(highest) for _ in range(3))

    def check(self, nodes: Sequence[Node]) -> list[Check]:
        """Checks nodes that were not checked before and takes in what they show.

        Raises:
            TimeLimitError: The time limit came before all that may be best were settled.
        """
        checks = self.ask([node for node in nodes if node not in self.checks])
        for check in checks:
            self.checks[check.node] = check
            self._foretell(check)
        self._rank(checks)
        return checks

    def take(self, known: Mapping[Node, Check]) -> None:
        """Takes in checks that another search of the same table made, and the best within the box.

        Raises:
            TimeLimitError: The time limit came before all that may be best were settled.
        """
        self.checks |= known
        for check in known.values():
            self._foretell(check)
        box = self.lattice.box
        self._rank([check for check in known.values() if box.holds(check.node)])

    def _foretell(self, check: Check) -> None:
        """Learns from a check what to expect of other nodes."""
        entropy = at_node(check.node, self.lattice.entropies)
        self.shares.learn(entropy, check.suppressed / self.lattice.records)
        self.certain.learn(entropy, check.fewest_below / self.lattice.records)
        self.excess.learn(entropy, check.suppressed > self.lattice.allowance)

    def _rank(self, checks: Sequence[Check]) -> None:
        """Makes the best of some checks the best of all, where it beats that."""
        waiting = sorted(checks, key=rank, reverse=True)
        try:
            while waiting:
                check = waiting[-1]
                if self.beats(check) and self.beats(self.settled(check)):
                    self.best = self.checks[check.node]
                waiting.pop()
        except TimeLimitError:
            # Whether these may be published is not known: they are open again.
            for check in waiting:
                del self.checks[check.node]
            raise

    def beats(self, check: Check) -> bool:
        """Whether a node may be published and ranks before the best one."""
        better = self.best is None or rank(check) < rank(self.best)
        return better and self.lattice.accepts(check.suppressed)

    def settled(self, check: Check) -> Check:
        """The final check of a node within the allowance."""
        if not check.settled and self.settle is not None:
            self.checks[check.node] = self.settle(check)
        return self.checks[check.node]

    @property
    def value(self) -> int:
        """The loss to beat."""
        return UNKNOWN if self.best is None else self.best.value

    def knowledge(self, box: Box) -> Knowledge:
        """Bounds for a box from all checks made so far."""
        objective, ratio = self.lattice.objective, self.lattice.ratio
        knowledge = Knowledge(
            box,
            objective.floor,
            records=self.lattice.records,
            additive=objective.additive,
            gain=None if ratio is None else ratio.highest,
        )
        for check in self.checks.values():
            if self.deadline.expired:
                break
            knowledge.learn(check)
        return knowledge

    def bounds(self, knowledge: Knowledge) -> Any:
        """A lower bound on the loss of every node of a box."""
        return self.weighed(knowledge, knowledge.bound())

    def weighed(self, knowledge: Knowledge, figures: Any) -> Any:
        """Figures of the nodes of a box, over what they gain where the loss has a gain."""
        ratio = self.lattice.ratio
        return figures if ratio is None else ratio.bound(figures, knowledge.gain)


def rank(check: Check) -> tuple[int, int, Node]:
    """The order of preference: loss, fewer records suppressed, lower levels from the last on."""
    return check.value, check.suppressed, check.node[::-1]


DESCENT_NODES_PER_QUERY = 64
"""Nodes per query, which a time limit may lose."""


def descend(search: Search) -> None:
    """Walks down from the top while the allowance holds, for a first good node of a large lattice.

    A column whose next level fails at a node fails at every node below, so it is not tried again.
    Columns are tried a few a query, so that a time limit loses little.
    """
    lattice = search.lattice
    current, axes = search.checks[lattice.high], list(range(len(lattice.high)))
    while not search.deadline.expired:
        axes = [axis for axis in axes if current.node[axis] > lattice.low[axis]]
        steps = {axis: _lowered(current.node, axis) for axis in axes}
        nodes = list(steps.values())
        try:
            for start in range(0, len(nodes), DESCENT_NODES_PER_QUERY):
                search.check(nodes[start : start + DESCENT_NODES_PER_QUERY])
            is_over = False
        except TimeLimitError:
            is_over = True
        checks = [search.checks[node] for node in nodes if node in search.checks]
        within = [check for check in checks if check.suppressed <= lattice.allowance]
        if is_over or not within:
            return
        current = min(within, key=rank)
        failed = {check.node for check in checks if check.fewest_below > lattice.allowance}
        axes = [axis for axis in axes if steps[axis] not in failed]


def _lowered(node: Node, axis: int) -> Node:
    """The node one level below in one column."""
    return (*node[:axis], node[axis] - 1, *node[axis + 1 :])


LARGEST_BOX = 2**18  # nodes held in arrays at a time
FIRST_NODE_SHARE = 0.75  # share of the time for a first good node of a larger lattice


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The best node of a search, and the bound that it proved.

    Args:
        best: The best node checked; None where no node is within the allowance.
        bound: Lower bound on the loss of every node, that of the best where `proven` [units].
        proven: Whether no node can be better.
        checked: Number of nodes checked.
        minimal_nodes: The minimal nodes, on request.
        checks: What is known of each node that was checked.
    """

    best: Check | None
    bound: int
    proven: bool
    checked: int
    minimal_nodes: tuple[Node, ...] | None = None
    checks: Mapping[Node, Check] = field(default_factory=dict)


def best_node(
    lattice: Lattice,
    ask: Ask,
    *,
    known: Mapping[Node, Check] | None = None,
    settle: Settle | None = None,
    start: Start | None = None,
    deadline: Deadline = NEVER,
    minimal_nodes: bool = False,
) -> SearchOutcome:
    """Finds the node of least loss whose suppressed records stay within the allowance.

    Args:
        lattice: The nodes allowed and the loss.
        ask: Counts the classes of nodes, in the order given. It raises `TimeLimitError` when the
            deadline comes, but for the highest node where nothing is known: that must be.
        known: Checks by their nodes, of other searches of the same table, models and loss. None of
            these is checked again, and those outside the lattice bound the nodes within.
        settle: Makes the check of a node final, where `ask` may leave it open; likewise.
        start: Finds a first good node of a large lattice, which is checked like any other.
        deadline: When the best node so far is returned with the bound proved.
        minimal_nodes: Also find every minimal node: within the allowance, none below it is.

    Returns:
        The outcome, whose `checked` nodes and `checks` are the new ones alone; ties are broken by
        fewer suppressed records, then lower levels, the last column's first. After a time limit the
        loss may be proven least while another node of the same loss was not reached.
    """
    search, known, bound = Search(lattice, ask, deadline, settle), known or {}, 0
    if not known:
        search.check([lattice.high])
    with suppress(TimeLimitError):
        search.take(known)
        if lattice.high not in search.checks:
            search.check([lattice.high])
        bound = _searched(search, start)
    nodes = minimal_within(search) if minimal_nodes else None
    new = {node: check for node, check in search.checks.items() if check is not known.get(node)}
    proven, bound = bound >= search.value, min(bound, search.value)
    return SearchOutcome(search.best, bound, proven, len(new), nodes, new)


def _searched(search: Search, start: Start | None) -> int:
    """Closes a lattice whose highest node was checked; what `branch` returns."""
    lattice = search.lattice
    if search.checks[lattice.high].fewest_below > lattice.allowance:
        return UNKNOWN
    if lattice.box.size > LARGEST_BOX:
        _begin(search, start)
    return branch(search, OPTIMUM)


def _begin(search: Search, start: Start | None) -> None:
    """Checks a first good node of a large lattice."""
    before = search.value
    node = None if start is None else start(search.deadline.share(FIRST_NODE_SHARE))
    if node is not None and node not in search.checks:
        with suppress(TimeLimitError):
            search.check([node])
    if search.value == before:
        descend(search)


def minimal_within(search: Search) -> tuple[Node, ...] | None:
    """All minimal nodes within the allowance; None where the time limit cut their search short."""
    lattice = search.lattice
    if search.checks[lattice.high].fewest_below > lattice.allowance:
        return ()
    if lattice.allowance >= lattice.records:
        with suppress(TimeLimitError):  # it is minimal, whatever it loses
            search.settled(search.checks.get(lattice.low) or search.check([lattice.low])[0])
        return (lattice.low,)
    if branch(search, CLASSIFICATION) != UNKNOWN:
        return None
    within = [c for c in search.checks.values() if c.suppressed <= lattice.allowance]
    try:
        settled = [search.settled(c) for c in within]
    except TimeLimitError:
        return None
    return tuple(minimal([c.node for c in settled if c.suppressed <= lattice.allowance]))


def branch(search: Search, goal: Goal) -> int:
    """Closes a lattice of any size: cuts it into boxes, the one of the lowest bound first.

    Returns:
        A lower bound on the loss of the nodes left open, `UNKNOWN` where none is.
    """
    lattice = search.lattice
    queue = [(_lowest(search, lattice.box), lattice.low, lattice.high)]
    left = UNKNOWN
    while queue:
        bound, low, high = heapq.heappop(queue)
        if not goal.every and bound > search.value:
            break
        if search.deadline.expired:
            return min(left, bound)
        part = Box(low, high)
        if part.size <= LARGEST_BOX:
            waiting = sum(Box(low, high).size for _, low, high in queue)
            left = min(left, goal.close(search, part, waiting=waiting))
            continue
        for half in part.halves():
            try:
                if half.high not in search.checks:
                    search.check([half.high])
            except TimeLimitError:
                return min(left, bound)
            if search.checks[half.high].fewest_below <= lattice.allowance:
                heapq.heappush(queue, (_lowest(search, half), half.low, half.high))
    return left


def _lowest(search: Search, box: Box) -> int:
    """A lower bound on the loss of a box whose highest node was checked."""
    floor, additive = search.lattice.objective.floor, search.lattice.objective.additive
    up, ratio = at_node(box.low, floor, additive=additive), search.lattice.ratio
    bound = int(combine(up, search.checks[box.high].down, additive=additive))
    if ratio is None:
        return bound
    below = (c for n, c in search.checks.items() if all(map(le, n, box.low)))
    gains = [check.gain for check in below if check.gain is not None]
    return int(ratio.bound(bound, min(gains, default=ratio.highest)))


@dataclass(frozen=True, slots=True)
class Goal:
    """A question about all nodes: which are open, which to check next, if `every` node matters."""

    open_nodes: Callable[[Search, Knowledge], Flags]
    pick: Callable[[Search, Knowledge, Flags, Reals], list[Node]]
    every: bool = False

    def close(self, search: Search, box: Box, *, waiting: int = 0) -> int:
        """Checks nodes of a box until none is open, and returns `branch`'s bound.

        So many nodes of other boxes are `waiting`.
        """
        knowledge = search.knowledge(box)
        entropies = spread(box, search.lattice.entropies)
        while True:
            candidates = self.open_nodes(search, knowledge)
            open_nodes = int(np.count_nonzero(candidates))
            if not open_nodes:
                return UNKNOWN
            settled = 1 - (waiting + open_nodes) / search.lattice.box.size
            tell(f"search: {counted(len(search.checks), 'node')} checked", settled)
            if search.deadline.expired:
                return int(search.bounds(knowledge)[candidates].min())
            try:
                checks = search.check(self.pick(search, knowledge, candidates, entropies))
            except TimeLimitError:
                return int(search.bounds(knowledge)[candidates].min())
            for check in checks:
                knowledge.learn(check)


def improving(search: Search, knowledge: Knowledge) -> Flags:
    """The unchecked nodes that may be within the allowance and rank before the best one."""
    best, box, bounds = search.best, knowledge.box, search.bounds(knowledge)
    result = (knowledge.fewest <= search.lattice.allowance) & ~knowledge.checked
    if best is None:
        return result
    ties = (bounds == best.value) & (knowledge.fewest <= best.suppressed)
    # Nodes in the order of ties: the last quasi-identifier's level counts first.
    later = box.preceding(best.node)
    ties.T.flat[later:] &= knowledge.fewest.T.flat[later:] < best.suppressed
    result &= (bounds < best.value) | ties
    return result


def witnesses(
    search: Search, knowledge: Knowledge, candidates: Flags, entropies: Reals
) -> list[Node]:
    """The nodes to check next: the most promising one, then witnesses against the open ones."""
    lattice, box, best = search.lattice, knowledge.box, search.value
    objective = lattice.objective
    least, most = knowledge.fewest / lattice.records, knowledge.most / lattice.records
    shares = np.clip(search.shares.at(entropies), least, most)
    certain = np.clip(search.certain.at(entropies), least, most)
    down = np.maximum(objective.expected_down(knowledge.up, shares), knowledge.down)
    proof = np.maximum(objective.expected_down(knowledge.up, certain), knowledge.down)
    excess = search.excess.at(entropies)
    excess[knowledge.most <= lattice.allowance] = 0.0
    beyond = excess**2
    if lattice.allowance:
        beyond = (certain * lattice.records > (1 + FORECAST_MARGIN) * lattice.allowance).astype(
            np.float64
        )
    value = search.weighed(knowledge, combine(knowledge.up, down, additive=objective.additive))
    picked, left = [], candidates.copy()
    promising = np.where(candidates & (excess < 0.5), value, np.inf)
    first = int(promising.argmin())
    if promising.flat[first] < best:
        picked.append(first)
        left.flat[first] = False
    below = count_below(candidates)
    while len(picked) < lattice.batch and left.any():
        hardest = int(np.where(left, knowledge.up, UNKNOWN).argmin())
        corner = np.unravel_index(hardest, box.shape)
        above = tuple(slice(i, None) for i in corner)
        limit: float = best
        if lattice.ratio is not None and knowledge.gain is not None:
            limit = lattice.ratio.cost(best, int(knowledge.gain.flat[hardest]))
        need = objective.needed_down(int(knowledge.up.flat[hardest]), limit)
        rules_out = np.where(proof[above] >= need, 1.0, beyond[above])
        score = np.where(knowledge.checked[above], -1.0, rules_out * below[above])
        offset = np.unravel_index(int(score.argmax()), score.shape)
        is_useful = score[offset] > 0
        witness = tuple(a + b if is_useful else a for a, b in zip(corner, offset, strict=True))
        picked.append(int(np.ravel_multi_index(witness, box.shape)))
        left[tuple(slice(0, i + 1) for i in witness)] = False
    return [box.node(flat) for flat in dict.fromkeys(picked)]


def unclassified(search: Search, knowledge: Knowledge) -> Flags:
    """The unchecked nodes of which it is not known whether they are within the allowance."""
    allowance = search.lattice.allowance
    return (knowledge.fewest <= allowance) & (knowledge.most > allowance) & ~knowledge.checked


def dividing(search: Search, knowledge: Knowledge, unknown: Flags, entropies: Reals) -> list[Node]:
    """The nodes whose checks are expected to decide most of the unknown ones."""
    box = knowledge.box
    below, above = count_below(unknown), count_above(unknown)
    excess = search.excess.at(entropies)
    score = np.where(unknown, excess * below + (1.0 - excess) * above, -1.0)
    picked: list[int] = []
    left = unknown.copy()
    while len(picked) < search.lattice.batch and left.any():
        flat = int(np.where(left, score, -1.0).argmax())
        corner = np.unravel_index(flat, box.shape)
        picked.append(flat)
        left[tuple(slice(0, i + 1) for i in corner)] = False
        left[tuple(slice(i, None) for i in corner)] = False
    return [box.node(flat) for flat in picked]


OPTIMUM = Goal(improving, witnesses)
CLASSIFICATION = Goal(unclassified, dividing, every=True)
