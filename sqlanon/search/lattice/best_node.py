"""Full-domain search: the best node of the generalization lattice, proven, and all minimal ones.

Every check of a node bounds whole sub-lattices (see `bounds`), so the order of the checks is
everything. Two kinds of checks alternate. A *promising* node is expected to beat the best one. A
*witness* is a node expected to rule out the open node that is hardest to rule out, and the more
open nodes lie below it the better. The search ends when no open node can beat the best one.

Source: Samarati 2001 (lattice), LeFevre et al. 2005 (Incognito: roll-up and both directions of
predictive tagging); bounds for losses that are not monotone follow from their two parts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import le

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.loss.objectives import MARGIN
from sqlanon.progress import tell
from sqlanon.recoding import Node
from sqlanon.search.arrays import Flags, Reals
from sqlanon.search.lattice.bounds import (
    Box,
    Check,
    Knowledge,
    at_node,
    combine,
    count_above,
    count_below,
    minimal,
    spread,
)
from sqlanon.search.lattice.checked import UNKNOWN, Ask, Lattice, Search, Settle
from sqlanon.search.lattice.descent import descend
from sqlanon.wording import counted

LARGEST_BOX = 2**18  # nodes held in arrays at a time


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
    settle: Settle | None = None,
    deadline: Deadline = NEVER,
    minimal_nodes: bool = False,
) -> SearchOutcome:
    """Finds the node of least loss whose suppressed records stay within the allowance.

    Args:
        lattice: The nodes allowed and the loss.
        ask: Counts the classes of nodes, in the order given. It raises `TimeLimitError` when the
            deadline comes, but for the highest node, which must be known.
        settle: Makes the check of a node final, where `ask` may leave it open; likewise.
        deadline: When the best node so far is returned with the bound proved.
        minimal_nodes: Also find every minimal node: within the allowance, none below it is.

    Returns:
        The outcome; ties are broken by fewer suppressed records, then lower levels, the last
        column's first. After a time limit the loss may be proven least while another node of the
        same loss was not reached.
    """
    search = Search(lattice, ask, deadline, settle)
    search.check([lattice.high])
    if search.checks[lattice.high].fewest_below > lattice.allowance:
        return SearchOutcome(None, UNKNOWN, True, 1, () if minimal_nodes else None)
    if lattice.box.size > LARGEST_BOX:
        descend(search)
    bound = branch(search, OPTIMUM)
    nodes = minimal_within(search) if minimal_nodes else None
    proven, bound = bound >= search.value, min(bound, search.value)
    return SearchOutcome(search.best, bound, proven, len(search.checks), nodes, search.checks)


def best_of_known(
    lattice: Lattice,
    ask: Ask,
    *,
    known: Mapping[Node, Check],
    settle: Settle | None = None,
    deadline: Deadline = NEVER,
) -> SearchOutcome:
    """As `best_node`, from what other searches of the same table and models have checked.

    No node is checked twice, and what is known of nodes outside the lattice bounds those within.

    Args:
        lattice: The nodes allowed, and the loss that the known checks are by.
        ask: As for `best_node`; it may raise `TimeLimitError` for any node.
        known: Checks by their nodes.
        settle: As for `best_node`.
        deadline: Likewise.

    Returns:
        The outcome, whose `checked` nodes and `checks` are the new ones alone.
    """
    search = Search(lattice, ask, deadline, settle)
    bound = 0
    with suppress(TimeLimitError):
        search.take(known)
        if lattice.high not in search.checks:
            search.check([lattice.high])
        if search.checks[lattice.high].fewest_below > lattice.allowance:
            bound = UNKNOWN
        else:
            bound = branch(search, OPTIMUM)
    new = {node: check for node, check in search.checks.items() if check is not known.get(node)}
    proven, bound = bound >= search.value, min(bound, search.value)
    return SearchOutcome(search.best, bound, proven, len(new), None, new)


def minimal_within(search: Search) -> tuple[Node, ...] | None:
    """All minimal nodes within the allowance; None where the time limit cut their search short."""
    lattice = search.lattice
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
                found = search.check(self.pick(search, knowledge, candidates, entropies))
            except TimeLimitError:
                return int(search.bounds(knowledge)[candidates].min())
            for check in found:
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
        beyond = (certain * lattice.records > (1 + MARGIN) * lattice.allowance).astype(np.float64)
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
        found = score[offset] > 0
        witness = tuple(a + b if found else a for a, b in zip(corner, offset, strict=True))
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
