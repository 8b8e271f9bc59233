"""Start of a search: the encoded table in memory, and a descent through it."""

from __future__ import annotations

import numpy as np

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.methods.fulldomain.problem import FullDomainProblem
from sqlanon.microdata.distinct import held_combinations
from sqlanon.recoding import Node
from sqlanon.search.lattice.descent import HeldRows, good_node


def good_start(problem: FullDomainProblem, *, seed: int, deadline: Deadline) -> Node | None:
    """A good node by the counts of classes in memory; None without time, or where it finds none.

    Every model is asked, but none again where suppression changes what it refers to.
    """
    sets, subject = problem.sets, problem.subject
    try:
        with sets.engine.limited(deadline):
            held = held_combinations(sets.engine, subject, encoded=sets.encoded, k=problem.policy.k)
    except TimeLimitError:
        return None
    rows = HeldRows(
        [np.ascontiguousarray(leaves, np.int32) for leaves in held.leaves.T],
        held.sizes,
        [tree.nodes for tree in subject.trees],
        () if problem.costs is None else problem.costs.costs,
        problem.policy.k,
        held.demands(),
    )
    return good_node(problem.lattice, rows, seed=seed, deadline=deadline)
