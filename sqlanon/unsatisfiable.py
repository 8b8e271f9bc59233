"""Unsatisfiable: says why no recoding satisfies a policy, and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.errors import UnsatisfiableError
from sqlanon.policy import Policy
from sqlanon.search.fulldomain import Outcome

if TYPE_CHECKING:
    from sqlanon.planning import Problem

_WIDEN = "raise max_level (--max-level)"
_ALLOW = "suppression_limit (--suppression-limit)"


def unsatisfiable(problem: Problem, outcome: Outcome) -> UnsatisfiableError:
    """The error to raise where a search found no recoding."""
    lattice, records = problem.lattice, problem.subject.records
    if not outcome.proven:
        return UnsatisfiableError(
            f"the time limit came after {outcome.checked} of {lattice.box.size} recodings "
            "and before one that satisfies the policy; allow more time with time_limit "
            "(--time-limit)"
        )
    [top] = problem.counter.ask([problem.subject.high])
    asked = models_text(problem.policy)
    if top.suppressed == records <= lattice.allowance and not lattice.smallest:
        return UnsatisfiableError(
            f"no recoding within the levels allowed satisfies {asked} and leaves anything: even at "
            f"the highest levels {top.suppressed} of {records} records are in classes that do not; "
            f"{_WIDEN}"
        )
    if top.suppressed <= lattice.allowance:
        return UnsatisfiableError(
            f"no recoding suppresses none of the {records} records, or such that together they "
            f"satisfy {asked} as a class of their own; use suppressed='drop' (--suppressed drop)"
        )
    return UnsatisfiableError(
        f"no recoding within the levels allowed satisfies {asked}: at the highest levels "
        f"{top.suppressed} of {records} records are in classes that do not, and "
        f"{lattice.allowance} may be suppressed; {_WIDEN} or {_ALLOW}"
    )


def models_text(policy: Policy) -> str:
    """The models of a policy, for a message."""
    demands = [f"{each.model.describe()} of {each.column!r}" for each in policy.demands]
    return " and ".join([f"k = {policy.k}", *demands])
