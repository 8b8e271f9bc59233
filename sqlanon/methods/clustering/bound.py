"""Bound: what any k-anonymous local recoding of a table loses at least."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.clustering.covers import Mine
from sqlanon.methods.clustering.encoded import problem_of
from sqlanon.methods.local.input import plain
from sqlanon.methods.unsatisfiable import alone_within_levels
from sqlanon.microdata.binding import Subject, bind
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.reports.bound import BoundReport
from sqlanon.search.clustering.lower_bound.cheapest import column_bounds, record_bounds
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.wording import listed

_ALONE = -1
"""What stands for a record that no itemset holds."""


@phase("the encoding")
def bound_table(
    engine: Engine,
    table: exp.Table,
    *,
    policy: Policy,
    loss: str = "lm",
    progress: Callable[[str], None] | None = None,
) -> BoundReport:
    """A lower bound on the loss of any k-anonymization within the levels and the limit allowed.

    Each record is counted with the cheapest closed itemset that holds it and k - 1 others: its
    class is published as such an itemset or as one above, which costs no less. Itemsets hold no
    node above the highest level allowed, and below the lowest one a cell costs what it does there.

    With a suppression limit the bound is the same. A suppressed record loses all its cells, which
    no itemset does more of, so it costs no less than what it is counted with; and all others are
    still in classes of k records of the table. A record that no itemset holds must be suppressed.

    A class of k persons has k records or more: what no k records can do, no k persons can.

    Args:
        engine: Where the table lives.
        table: Its name there.
        policy: Quasi-identifiers with hierarchies, weights and level bounds, k, and the suppression
            limit. Models beyond k can only raise the loss further.
        loss: A loss that never shrinks on the way up.
        progress: Called with a line that says how far it is.

    Raises:
        PolicyError: The loss would give no bound, or the policy does not fit the table.
        HierarchyError: A hierarchy does not fit its column.
        UnsatisfiableError: More records than may be suppressed fit no class within the levels.
        TimeLimitError: The engine's deadline came before the table was encoded; one that comes
            later lowers the bound.

    Source: Park and Shim 2007, section 4.5, lemma 4.16 (OPT-LB), for any loss that never shrinks.
    """
    started = time.monotonic()
    _refuse(policy, loss)
    own = plain(policy)
    subject = bind(engine, table, policy=own)
    with engine.workspace():
        mine = Mine.of(engine, subject, policy=own, loss=loss)
        problem = replace(problem_of(mine.read), deadline=engine.deadline)
        found = _least(mine, problem, progress=progress)
    allowance = policy.allowance(subject.records)
    if found.alone > allowance:
        raise alone_within_levels(own, found.alone, records=subject.records, allowance=allowance)
    return BoundReport(
        loss,
        mine.read.costs.loss(found.cost, subject.records),
        policy.k,
        subject.records,
        found.candidates,
        time.monotonic() - started,
        allowance=allowance,
        entity=policy.entity,
        levels=_bounded_levels(subject),
        notes=(*_ended(found.ended), *_notes(policy)),
    )


def _refuse(policy: Policy, loss: str) -> None:
    """Refuses, by a `PolicyError`, what no bound is known for."""
    if loss not in CELL_LOSSES:
        raise PolicyError(
            f"no lower bound is known for loss {loss!r}: it is not one of cells that never shrinks "
            f"as they are generalized; choose one of {', '.join(CELL_LOSSES)}"
        )
    if not any(isinstance(model, KAnonymity) for model in policy.models):
        raise PolicyError("no k is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)")


def _bounded_levels(subject: Subject) -> dict[str, tuple[int, int]]:
    """The lowest and highest level of the columns that may not take every level."""
    bounds = zip(subject.names, subject.low, subject.high, subject.trees, strict=True)
    return {
        name: (low, high) for name, low, high, tree in bounds if (low, high) != (0, tree.height)
    }


def _ended(what: str) -> Iterator[str]:
    """What the time limit has cut short."""
    if what:
        yield f"the time limit ended {what}: a higher bound may hold"


def _notes(policy: Policy) -> Iterator[str]:
    """Parts of the policy that the bound does not look at."""
    if policy.entity is not None:
        yield (
            f"the bound counts records: a class of {policy.k} persons by {policy.entity!r} has as "
            "many records or more, so no recoding for persons loses less, and it may lose more"
        )
    if policy.demands:
        models = listed([f"{each.model.describe()} of {each.column!r}" for each in policy.demands])
        yield f"{models} can only raise the loss further; the bound is that of k alone"


@dataclass(frozen=True, slots=True)
class _Least:
    """What is lost at least.

    Args:
        cost: By all records [units].
        candidates: The itemsets that say so.
        alone: Records that no itemset holds, which must be suppressed.
        ended: What the time limit ended; empty where nothing.
    """

    cost: int
    candidates: int
    alone: int = 0
    ended: str = ""


def _least(
    mine: Mine, problem: ClusteringProblem, *, progress: Callable[[str], None] | None
) -> _Least:
    """What the cheapest itemsets of all records cost, or what time was left for."""
    try:
        candidates = mine.candidates(problem, progress=progress)
    except TimeLimitError:
        return _Least(int(column_bounds(problem).sum()), 0, ended="mining")
    bounds = record_bounds(problem, candidates, uncovered=_ALONE)
    alone = int((bounds == _ALONE).sum())
    least = int(bounds[bounds != _ALONE].sum()) + alone * mine.read.costs.unit
    if not problem.deadline.expired:
        return _Least(least, len(candidates), alone)
    least = max(least, int(column_bounds(problem).sum()))
    return _Least(least, len(candidates), alone, "the comparison of itemsets")
