"""Descent: from the highest node down, for a first good node of a lattice that is large."""

from __future__ import annotations

from sqlanon.errors import TimeLimitError
from sqlanon.recoding import Node
from sqlanon.search.lattice.checked import Search, rank

STEPS = 64
"""Nodes per query, which a time limit may lose."""


def descend(search: Search) -> None:
    """Walks down from the top while the allowance holds, for a first good node.

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
            for start in range(0, len(nodes), STEPS):
                search.check(nodes[start : start + STEPS])
            is_over = False
        except TimeLimitError:
            is_over = True
        found = [search.checks[node] for node in nodes if node in search.checks]
        within = [check for check in found if check.suppressed <= lattice.allowance]
        if is_over or not within:
            return
        current = min(within, key=rank)
        failed = {check.node for check in found if check.fewest_below > lattice.allowance}
        axes = [axis for axis in axes if steps[axis] not in failed]


def _lowered(node: Node, axis: int) -> Node:
    """The node one level below in one column."""
    return (*node[:axis], node[axis] - 1, *node[axis + 1 :])
