"""Alternatives: what it takes to publish a column at a lower level than the best recoding does.

The search of the whole lattice has checked many of the nodes that leave a column lower, and ruled
others out. Each question after it goes on from there: it is a search of the nodes below a level of
one column, which takes in all checks so far, so no node is checked twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlanon.deadline import Deadline
from sqlanon.methods.fulldomain.problem import FullDomainProblem
from sqlanon.search.lattice.best_node import SearchOutcome, best_of_known
from sqlanon.search.lattice.bounds import Check
from sqlanon.search.lattice.checked import UNKNOWN, Ask, Settle


@dataclass(frozen=True, slots=True)
class LowerColumn:
    """The best node that leaves a column at a level or below.

    Args:
        column: The quasi-identifier.
        most: The highest level that it may have.
        best: The node; None where none is known.
        proven: Whether no other one loses less, or, where none is known, there is none.
        bound: What every one of them loses at least [units of the objective]; None where there is
            none.
        checked: Nodes that had to be checked besides those of the searches before.
    """

    column: str
    most: int
    best: Check | None
    proven: bool
    bound: int | None
    checked: int


def lower_columns(
    problem: FullDomainProblem,
    outcome: SearchOutcome,
    *,
    ask: Ask,
    settle: Settle | None,
    deadline: Deadline,
) -> Iterator[LowerColumn]:
    """For each column, and each level below that of the best recoding, the best node up to it.

    Levels between a row's and that of its node have the same best node, so they have no row.

    Args:
        problem: The table and its lattice.
        outcome: What the search of the lattice found.
        ask: As for `best_node`, but may raise `TimeLimitError` for any node.
        settle: As for `best_node`.
        deadline: When the best so far is what there is.
    """
    assert outcome.best is not None
    lattice, known = problem.lattice, dict(outcome.checks)
    for number, (name, level) in enumerate(
        zip(problem.subject.names, outcome.best.node, strict=True)
    ):
        most = level - 1
        while most >= lattice.low[number]:
            high = (*lattice.high[:number], most, *lattice.high[number + 1 :])
            found = best_of_known(
                replace(lattice, high=high), ask, known=known, settle=settle, deadline=deadline
            )
            known |= found.checks
            none = found.best is None and found.bound == UNKNOWN
            bound = None if none else found.bound
            yield LowerColumn(name, most, found.best, found.proven, bound, found.checked)
            if found.best is None:
                break  # what a level does not allow, no lower one does
            most = found.best.node[number] - 1
