"""Exchange: a column with too many siblings for all their sets, improved move by move.

A move merges two blocks, or takes one unit out of its block, to another or by itself. The move that
saves most is made until none saves anything. What is found is best among its neighbours; nothing is
proven by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.blocks import BlockFamily, Slices
from sqlanon.search.lattice.schemes.domain import Partition, leaf_count, numbered
from sqlanon.search.lattice.schemes.inner import Recoded
from sqlanon.search.lattice.schemes.problem import SchemeProblem


@dataclass(frozen=True, slots=True)
class _Moves:
    """Moves from a partition: two blocks each that become two others, which may be empty.

    Args:
        old: `old[move]`: the numbers of the two blocks, or of one and -1 for none.
        new: `new[move, side, unit]`: the units of the blocks that they become.
    """

    old: Numbers
    new: Flags


def exchanged(
    problem: SchemeProblem,
    column: int,
    *,
    slices: Slices,
    start: Partition,
    deadline: Deadline = NEVER,
) -> Recoded:
    """A recoding of an `sps` column from which no single move saves anything.

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
        moves = _moves(blocks, coarsest)
        sides = moves.new.reshape(-1, len(labels))
        new_cost, new_lost = (
            own.reshape(-1, 2).sum(axis=1)
            for own in _costs(problem, column, slices=slices, members=sides)
        )
        # Block -1 is none.
        saved = np.append(cost, 0.0)[moves.old].sum(axis=1) - new_cost
        more = new_lost - np.append(lost, 0.0)[moves.old].sum(axis=1)
        saved[lost.sum() + more > problem.allowance] = 0.0
        best = int(saved.argmax()) if len(saved) else -1
        if best < 0 or saved[best] <= 0:
            return Recoded(float(cost.sum()), float(lost.sum()), numbered(labels.tolist()))
        for side, units in enumerate(moves.new[best]):
            labels[units] = len(blocks) + side
        labels = np.array(numbered(labels.tolist()))


def _costs(
    problem: SchemeProblem, column: int, *, slices: Slices, members: Flags
) -> tuple[Reals, Reals]:
    """What blocks cost, and the records that they suppress; nothing, where they are empty."""
    domain = problem.domains[column]
    sizes = np.array([leaf_count(domain.spans((unit,))) for unit in range(domain.units)])
    family = BlockFamily.having(
        problem, column, members=members, leaves=np.maximum(members @ sizes, 1)
    )
    costs = family.costs(slices)
    return costs.cost[:, 0], costs.lost[:, 0]


def _moves(blocks: Flags, coarsest: Numbers) -> _Moves:
    """All moves from a partition by `blocks[block, unit]`, within the highest nodes allowed."""
    root = coarsest[blocks.argmax(axis=1)]
    nothing = np.zeros(blocks.shape[1], bool)
    old, new = [], []
    for one in range(len(blocks)):
        for other in range(one + 1, len(blocks)):
            if root[one] == root[other]:
                old.append((one, other))
                new.append((blocks[one] | blocks[other], nothing))
    for unit in range(blocks.shape[1]):
        own, single = int(blocks[:, unit].argmax()), nothing.copy()
        single[unit] = True
        if blocks[own].sum() == 1:
            continue
        old.append((own, -1))
        new.append((blocks[own] & ~single, single))
        for other in range(len(blocks)):
            if other != own and root[other] == root[own]:
                old.append((own, other))
                new.append((blocks[own] & ~single, blocks[other] | single))
    shape = len(old), 2, blocks.shape[1]
    return _Moves(np.array(old, np.int64).reshape(-1, 2), np.array(new, bool).reshape(shape))
