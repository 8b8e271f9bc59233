"""Bound: what any k-anonymous local recoding of a table loses at least."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.clustering.clusters import problem_of
from sqlanon.methods.clustering.covers import Mine
from sqlanon.methods.local.input import plain
from sqlanon.microdata.binding import bind
from sqlanon.policy.policy import Policy
from sqlanon.reports.bound import BoundReport
from sqlanon.search.clustering.lower_bound import column_bounds, lower_bound
from sqlanon.search.clustering.problem import ClusteringProblem


@phase("the encoding")
def bound_table(
    engine: Engine,
    table: exp.Table,
    policy: Policy,
    loss: str = "lm",
    progress: Callable[[str], None] | None = None,
) -> BoundReport:
    """A lower bound on the loss of any k-anonymization that publishes every record.

    Each record is counted with the cheapest closed itemset that holds it and k - 1 others: its
    class is published as such an itemset or as one above, which costs no less.

    Args:
        engine: Where the table lives.
        table: Its name there.
        policy: Quasi-identifiers with hierarchies, weights and lowest levels, and k. Models beyond
            k can only raise the loss further.
        loss: A loss that never shrinks on the way up.
        progress: Called with a line that says how far it is.

    Raises:
        PolicyError: The loss would give no bound, or the policy does not fit the table.
        HierarchyError: A hierarchy does not fit its column.
        TimeLimitError: The engine's deadline came before the table was encoded; one that comes
            later lowers the bound.

    Source: Park and Shim 2007, section 4.5, lemma 4.16 (OPT-LB), for any loss that never shrinks.
    """
    started = time.monotonic()
    if loss not in CELL_LOSSES:
        raise PolicyError(
            f"no lower bound is known for loss {loss!r}: it is not one of cells that never shrinks "
            f"as they are generalized; choose one of {', '.join(CELL_LOSSES)}"
        )
    if not policy.models:
        raise PolicyError("no k is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)")
    own = plain(policy)
    subject = bind(engine, table, own)
    with engine.workspace():
        mine = Mine.of(engine, subject, own, loss)
        problem = replace(problem_of(mine.read), deadline=engine.deadline)
        least, candidates, ended = _least(mine, problem, progress)
    return BoundReport(
        loss,
        mine.read.costs.loss(least, subject.records),
        policy.k,
        subject.records,
        candidates,
        time.monotonic() - started,
        (f"the time limit ended {ended}: a higher bound may hold",) if ended else (),
    )


def _least(
    mine: Mine, problem: ClusteringProblem, progress: Callable[[str], None] | None
) -> tuple[int, int, str]:
    """What is lost at least [units], the itemsets that say so, and what the time limit ended."""
    try:
        candidates = mine.candidates(problem, progress=progress)
    except TimeLimitError:
        return int(column_bounds(problem).sum()), 0, "mining"
    least = lower_bound(problem, candidates)
    late = problem.deadline.expired
    least = max(least, int(column_bounds(problem).sum())) if late else least
    return least, len(candidates), "the comparison of itemsets" if late else ""
