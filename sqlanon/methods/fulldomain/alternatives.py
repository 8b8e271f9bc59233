"""Alternatives: what lower levels of a column take, and what a higher suppression limit would give.

The search of the whole lattice has checked many of the nodes that are asked for here, and ruled
others out; what it found is where each question goes on from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sqlanon.deadline import Deadline
from sqlanon.loss.measures import measured
from sqlanon.methods.fulldomain.node_release import node_release
from sqlanon.methods.fulldomain.problem import FullDomainProblem
from sqlanon.policy.policy import least_share
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check
from sqlanon.search.lattice.incognito import (
    UNKNOWN,
    Ask,
    SearchOutcome,
    Settle,
    best_of_known,
    rank,
)
from sqlanon.wording import key

MOST_SUPPRESSED = 0.2
"""Share of the records that a limit worth telling may leave out."""
MOST_ROWS = 5
"""Higher limits that are told."""


def lower_columns(
    problem: FullDomainProblem,
    outcome: SearchOutcome,
    *,
    ask: Ask,
    settle: Settle | None,
    deadline: Deadline,
) -> Iterator[Mapping[str, Any]]:
    """For each column, and each level below that of the best recoding, the best node up to it.

    Each is a search of the nodes below a level of one column, which takes in all checks so far, so
    no node is checked twice. Levels between a row's and that of its node have the same best node,
    so they have no row.

    Args:
        problem: The table and its lattice.
        outcome: What the search of the lattice found.
        ask: As for `best_node`, but may raise `TimeLimitError` for any node.
        settle: As for `best_node`.
        deadline: When the best so far is what there is.

    Returns:
        Rows of the report: the column, its highest level, the best node known with its loss and
        suppressed records, whether it is proven best, what every such node loses at least, and how
        many had to be checked besides those of the searches before.
    """
    assert outcome.best is not None
    lattice, names, known = problem.lattice, problem.subject.names, dict(outcome.checks)
    loss = lattice.objective.loss
    for number, (name, level) in enumerate(zip(names, outcome.best.node, strict=True)):
        most = level - 1
        while most >= lattice.low[number]:
            high = (*lattice.high[:number], most, *lattice.high[number + 1 :])
            part = best_of_known(
                replace(lattice, high=high), ask, known=known, settle=settle, deadline=deadline
            )
            known |= part.checks
            best = part.best
            is_none = best is None and part.bound == UNKNOWN
            yield {
                "column": name,
                "max_level": most,
                "loss": None if best is None else loss(best.value),
                "lower_bound": None if is_none else loss(part.bound),
                "suppressed_records": None if best is None else best.suppressed,
                "levels": None if best is None else dict(zip(names, best.node, strict=True)),
                "proven": part.proven,
                "checked": part.checked,
            }
            if best is None:
                break  # what a level does not allow, no lower one does
            most = best.node[number] - 1


def settled_at_any_limit(problem: FullDomainProblem, node: Node) -> tuple[exp.Table | None, int]:
    """The classes that a node suppresses until none fails, whatever the limit, and their records.

    Under the policy's own limit, counting stops once it is exceeded. The classes are None where
    they are those smaller than k.
    """
    if problem.models is None:
        return None, problem.sizes.ask([node])[0].suppressed
    own = problem.models.violations
    unlimited = replace(own, scope=replace(own.scope, allowance=own.scope.records))
    settled = unlimited.settle(problem.sizes.sets.own_batch(node))
    return settled.suppressed, settled.found.records


def higher_limits(
    problem: FullDomainProblem, outcome: SearchOutcome, *, loss: str, value: float
) -> Iterator[Mapping[str, Any]]:
    """Nodes that were checked and lose less than the best within the limit, by their limits.

    A node that suppresses more than the limit allows is ruled out, but its figures are known: how
    many records it suppresses is the least limit that allows for it, and what it loses is measured
    as that of any published table. Other nodes may lose less within the same limit.

    Args:
        problem: The table and its lattice.
        outcome: What the search has looked at.
        loss: Name of the loss.
        value: What the best node loses.

    Returns:
        Rows of the report: the least limit that allows for a node, to four decimals, the records
        that it leaves out, its loss and its levels.
    """
    if problem.policy.suppressed == "keep":
        return  # kept records must satisfy the models as a class, which limits do not settle
    least, records = value, problem.subject.records
    for check in _spread(_promising(problem, outcome)):
        classes, suppressed = settled_at_any_limit(problem, check.node)
        if suppressed > MOST_SUPPRESSED * records:
            continue
        release = node_release(
            problem.sets.engine,
            problem.subject,
            encoded=problem.sets.encoded,
            policy=problem.policy,
            node=check.node,
            suppressed=classes,
        )
        lost = measured(release)[key(loss)]
        if lost < least:
            least = lost
            yield {
                "suppression_limit": least_share(suppressed, records),
                "suppressed_records": suppressed,
                "loss": lost,
                "levels": dict(zip(problem.subject.names, check.node, strict=True)),
            }


def _promising(problem: FullDomainProblem, outcome: SearchOutcome) -> list[Check]:
    """Nodes that each seem to lose less than all that suppress fewer records, by these."""
    most = int(MOST_SUPPRESSED * problem.subject.records)
    allowance, checks = problem.lattice.allowance, outcome.checks.values()
    over = [check for check in checks if allowance < check.suppressed <= most]
    kept: list[Check] = []
    least = None if outcome.best is None else outcome.best.value
    for check in sorted(over, key=lambda check: (check.suppressed, *rank(check))):
        if least is None or check.value < least:
            kept.append(check)
            least = check.value
    return kept


def _spread(checks: Sequence[Check]) -> list[Check]:
    """The first and the last, and a few from all parts between."""
    count = min(MOST_ROWS, len(checks))
    return [checks[number * (len(checks) - 1) // max(count - 1, 1)] for number in range(count)]
