"""Bound: what any k-anonymous local recoding of a table loses at least."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.clustering.first import left_out
from sqlanon.methods.clustering.pricing import MOST_ITEMSETS, Mine
from sqlanon.methods.clustering.releases import problem_of
from sqlanon.methods.local import plain
from sqlanon.methods.options import EFFORTS
from sqlanon.methods.registry import SharedWork
from sqlanon.methods.unsatisfiable import alone_within_levels
from sqlanon.microdata.binding import Subject, bind
from sqlanon.policy.policy import Policy
from sqlanon.policy.sizes import KAnonymity
from sqlanon.progress import tell
from sqlanon.reports.bound import BoundReport, ended_notes
from sqlanon.search.clustering.assign import unplaceable
from sqlanon.search.clustering.clustering_problem import (
    Candidates,
    ClusteringProblem,
    column_bounds,
)
from sqlanon.search.clustering.dual_bound import Ascent, dual_bound, stands_at
from sqlanon.wording import counted, listed

FIRST_ITEMSETS = 2**18
"""Itemsets to begin with under a time limit."""
MINED_SHARE, SLOWER = 0.5, 2
"""Share of a time limit for that, and how many times as long an itemset takes where there are more
of them."""
CONVERGED = 1e-4
"""By which part of itself a bound has to rise for another ascent, where a time limit says when to
stop."""


@dataclass(frozen=True, slots=True)
class BoundRequest:
    """What is to be bounded, and how hard to try.

    Args:
        loss: A loss that never shrinks on the way up.
        effort: `quick` or `full`; None for quick, or under a time limit for as long as it helps.
        shared: What other searches of the table by this policy and loss have found.

    Raises:
        PolicyError: The loss would give no bound, or the effort is not known.
    """

    loss: str
    effort: str | None = None
    shared: SharedWork = field(default_factory=SharedWork, compare=False)

    def __post_init__(self) -> None:
        if self.loss not in CELL_LOSSES:
            raise PolicyError(
                f"no lower bound is known for loss {self.loss!r}: it is not one of cells that "
                "never shrinks as they are generalized; choose one of "
                f"{', '.join(CELL_LOSSES)}"
            )
        if self.effort not in (None, *EFFORTS):
            raise PolicyError(f"effort {self.effort!r} is not known; choose quick or full")


@phase("the encoding")
def bound_table(
    engine: Engine, table: exp.Table, *, policy: Policy, wanted: BoundRequest
) -> BoundReport:
    """A lower bound on the loss of any k-anonymization within the levels and the limit allowed.

    A class is published as the closed itemset that k or more records share, or as one above, which
    costs no less. Records get prices such that no k of an itemset are worth more together than they
    cost there; then nobody can lose less than all prices (`search.clustering.dual_bound`).
    Itemsets hold no node above the highest level allowed, and below the lowest one a cell costs
    what it does there. Within a suppression limit the records that are worth most are left out.

    A class of k persons has k records or more: what no k records can do, no k persons can.

    Args:
        engine: Where the table lives.
        table: Its name there.
        policy: Quasi-identifiers with hierarchies, weights and level bounds, k, and the suppression
            limit. Models beyond k can only raise the loss further.
        wanted: The loss, and how hard to try.

    Raises:
        PolicyError: There is no k, or the policy does not fit the table.
        HierarchyError: A hierarchy does not fit its column.
        UnsatisfiableError: More records than may be suppressed fit no class within the levels.
        TimeLimitError: The engine's deadline came before the table was encoded; one that comes
            later lowers the bound.
    """
    started, borrowed = time.monotonic(), wanted.shared.borrowed
    if not any(isinstance(model, KAnonymity) for model in policy.models):
        raise PolicyError("no k is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)")
    basic = plain(policy)
    # People of a population are leaves of the hierarchies, too, by which losses are counted.
    known = replace(basic, models=(*basic.models, *policy.population_models))
    subject = bind(engine, table, policy=known)
    with engine.workspace():
        mine = Mine.of(engine, subject, policy=basic, loss=wanted.loss, shared=wanted.shared)
        problem = replace(problem_of(mine.read), deadline=engine.deadline)
        least = _least(mine, problem, wanted=wanted)
    allowance = policy.allowance(subject.records)
    if least.alone > allowance:
        raise alone_within_levels(basic, least.alone, records=subject.records, allowance=allowance)
    costs = mine.read.costs
    return BoundReport(
        wanted.loss,
        costs.loss(least.cost, subject.records),
        policy.k,
        subject.records,
        least.candidates,
        time.monotonic() - started + wanted.shared.borrowed - borrowed,
        allowance=allowance,
        entity=policy.entity,
        levels=_bounded_levels(subject),
        notes=(
            *ended_notes(least.ended),
            *left_out(least.below, costs),
            *_alone(least.alone, subject.records),
            *_notes(policy),
        ),
        ended=least.ended,
        effort=least.effort,
        single_records=costs.loss(least.by_record, subject.records),
    )


def _bounded_levels(subject: Subject) -> dict[str, tuple[int, int]]:
    """The lowest and highest level of the columns that may not take every level."""
    bounds = zip(subject.names, subject.low, subject.high, subject.trees, strict=True)
    return {
        name: (low, high) for name, low, high, tree in bounds if (low, high) != (0, tree.height)
    }


def _alone(alone: int, records: int) -> Iterator[str]:
    """That nothing is left to publish, where all may be suppressed."""
    if alone == records:
        yield (
            "no recoding within the levels allowed leaves anything: even at the highest levels no "
            "record shares a class with k - 1 others"
        )


def _notes(policy: Policy) -> Iterator[str]:
    """Parts of the policy that the bound does not look at."""
    if policy.entity is not None:
        yield (
            f"the bound counts records: a class of {policy.k} persons by {policy.entity!r} has as "
            "many records or more, so no recoding for persons loses less, and it may lose more"
        )
    if policy.demands:
        models = listed(
            [f"{demand.model.describe()} of {demand.column!r}" for demand in policy.demands]
        )
        yield f"{models} can only raise the loss; the bound is that of k alone"


@dataclass(frozen=True, slots=True)
class _Least:
    """What is lost at least.

    Args:
        cost: By all records [units].
        by_record: The same, as far as each record proves it by itself [units].
        candidates: The itemsets that say so.
        below: What these cost less than, where one stands for all others [units].
        effort: The last effort that was completed; None where the time limit ended the first.
        alone: Records that no class may hold, which must be suppressed.
        ended: What the time limit ended; empty where nothing.
    """

    cost: int
    by_record: int
    candidates: int = 0
    below: int | None = None
    effort: str | None = None
    alone: int = 0
    ended: str = ""


def _least(mine: Mine, problem: ClusteringProblem, *, wanted: BoundRequest) -> _Least:
    """What prices of records prove, or what time was left for."""
    by_columns, alone = int(column_bounds(problem).sum()), int(unplaceable(problem).sum())
    try:
        candidates = _candidates(mine, problem, wanted=wanted)
    except TimeLimitError:
        return _Least(by_columns, by_columns, alone=alone, ended="mining")
    cheapest = mine.cheapest(problem, candidates)
    least, below = max(int(cheapest.cost.sum()), by_columns), stands_at(problem, candidates)
    if problem.deadline.expired:
        ended = "the comparison of itemsets"
        return _Least(least, least, len(candidates), below, alone=alone, ended=ended)
    until_end = wanted.effort is None and problem.deadline.is_limited
    asked = wanted.effort or ("full" if until_end else "quick")
    tell(f"prices: {counted(len(candidates), 'itemset')}")
    priced = mine.priced(problem, candidates, effort=Ascent[asked.upper()], cheapest=cheapest)
    total = priced.duals
    while until_end and not problem.deadline.expired:
        before = total
        total = dual_bound(problem, candidates, effort=Ascent.FULL, start=before, cheapest=cheapest)
        if total.total <= before.total * (1 + CONVERGED):
            break
    return _Least(
        max(total.total, least),
        least,
        len(candidates),
        below,
        None if priced.is_cut else asked,
        alone,
        "the search for prices" if problem.deadline.expired else "",
    )


def _candidates(mine: Mine, problem: ClusteringProblem, *, wanted: BoundRequest) -> Candidates:
    """The itemsets of a table, or the cheapest of them, and one that stands for the others.

    Under a time limit these are first few, then as many as may be mined in a part of it, by how
    long the few took.

    Raises:
        TimeLimitError: Not even the few were mined in time.
    """
    if not problem.deadline.is_limited:
        return mine.candidates(problem, most=MOST_ITEMSETS)
    until, most = problem.deadline.share(MINED_SHARE), FIRST_ITEMSETS
    left = until.left()
    candidates = mine.candidates(problem, most=most)
    with suppress(TimeLimitError):
        while stands_at(problem, candidates) is not None and most < MOST_ITEMSETS:
            times = until.left() / (left - until.left()) / SLOWER
            if times < 2:
                break
            most, left = min(int(times * most), MOST_ITEMSETS), until.left()
            part = replace(problem, deadline=until)
            candidates = mine.candidates(part, most=most)
    return candidates
