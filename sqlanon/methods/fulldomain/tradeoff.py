"""Trade-off: what a higher suppression limit would give, by nodes that a search has looked at.

A node that suppresses more than the limit allows is ruled out, but its figures are known: how many
records it suppresses is the least limit that allows for it, and what it loses is measured as that
of any published table. Other nodes may lose less within the same limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.loss.measures import measured
from sqlanon.methods.fulldomain.node_release import Chosen, node_release
from sqlanon.methods.fulldomain.problem import FullDomainProblem
from sqlanon.policy.policy import least_share
from sqlanon.recoding import Node
from sqlanon.search.lattice.best_node import SearchOutcome
from sqlanon.search.lattice.bounds import Check
from sqlanon.search.lattice.checked import rank
from sqlanon.wording import key

MOST_SUPPRESSED = 0.2
"""Share of the records that a limit worth telling may leave out."""
MOST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Alternative:
    """A node that a higher limit allows.

    Args:
        node: One level per quasi-identifier.
        suppressed: Records that it leaves out [records].
        limit: The least suppression limit, to four decimals, that allows for it.
        loss: What publishing it loses.
    """

    node: Node
    suppressed: int
    limit: float
    loss: float


def settled_at_any_limit(problem: FullDomainProblem, node: Node) -> tuple[Chosen, int]:
    """The classes that a node suppresses until none fails, whatever the limit, and their records.

    Under the policy's own limit, counting stops once it is exceeded.
    """
    if problem.models is None:
        return Chosen(node), problem.sizes.ask([node])[0].suppressed
    own = problem.models.violations
    unlimited = replace(own, scope=replace(own.scope, allowance=own.scope.records))
    settled = unlimited.settle(problem.sizes.sets.own_batch(node))
    return Chosen(node, settled.suppressed), settled.found.records


def alternatives(
    problem: FullDomainProblem, outcome: SearchOutcome, *, loss: str, value: float
) -> list[Alternative]:
    """Nodes that were checked and lose less than the best within the limit, by their limits.

    Args:
        problem: The table and its lattice.
        outcome: What the search has looked at.
        loss: Name of the loss.
        value: What the best node loses.
    """
    if problem.policy.suppressed == "keep":
        return []  # kept records must satisfy the models as a class, which limits do not settle
    found: list[Alternative] = []
    least, records = value, problem.subject.records
    for check in _spread(_promising(problem, outcome)):
        chosen, suppressed = settled_at_any_limit(problem, check.node)
        if suppressed > MOST_SUPPRESSED * records:
            continue
        release = node_release(
            problem.sets.engine,
            problem.subject,
            encoded=problem.sets.encoded,
            policy=problem.policy,
            chosen=chosen,
        )
        lost = measured(release)[key(loss)]
        if lost < least:
            limit = least_share(suppressed, records)
            found.append(Alternative(check.node, suppressed, limit, lost))
            least = lost
    return found


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
