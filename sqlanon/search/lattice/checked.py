"""Checked: the lattice of a search, the checks made so far, and what they foretell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.loss.objectives import Objective
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Box, Check, Forecast, Knowledge, at_node
from sqlanon.search.lattice.ratio import Ratio

Ask = Callable[[Sequence[Node]], list[Check]]
Settle = Callable[[Check], Check]

BATCH = 16  # nodes per query: more share its overhead, fewer learn from each other
WIDE_BATCH = 20  # nodes per query where a check proves little about other nodes
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
    batch: int = BATCH
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
        found = self.ask([node for node in nodes if node not in self.checks])
        for check in found:
            self.checks[check.node] = check
            self._foretell(check)
        self._rank(found)
        return found

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

    def _rank(self, found: Sequence[Check]) -> None:
        """Makes the best of some checks the best of all, where it beats that."""
        waiting = sorted(found, key=rank, reverse=True)
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
