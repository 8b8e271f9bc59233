"""Bound: what any k-anonymous local recoding of a table loses at least."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.clustering.clusters import problem_of
from sqlanon.methods.clustering.covers import Mine
from sqlanon.methods.local.input import plain
from sqlanon.microdata.binding import bind
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.reports.bound import BoundReport
from sqlanon.search.clustering.lower_bound import record_bounds
from sqlanon.wording import listed

_ALONE = -1
"""What stands for a record that no itemset holds."""


def bound_table(
    engine: Engine,
    table: exp.Table,
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

    Source: Park and Shim 2007, section 4.5, lemma 4.16 (OPT-LB), for any loss that never shrinks.
    """
    started = time.monotonic()
    if loss not in CELL_LOSSES:
        raise PolicyError(
            f"no lower bound is known for loss {loss!r}: it is not one of cells that never shrinks "
            f"as they are generalized; choose one of {', '.join(CELL_LOSSES)}"
        )
    if not any(isinstance(model, KAnonymity) for model in policy.models):
        raise PolicyError("no k is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)")
    own = plain(policy)
    subject = bind(engine, table, own)
    with engine.workspace():
        mine = Mine.of(engine, subject, own, loss)
        problem = problem_of(mine.read)
        candidates = mine.candidates(problem, progress=progress)
    allowance = policy.allowance(subject.records)
    bounds = record_bounds(problem, candidates, _ALONE)
    alone = int((bounds == _ALONE).sum())
    if alone > allowance:
        raise UnsatisfiableError(
            f"no recoding within the levels allowed satisfies k = {policy.k}: even at the highest "
            f"levels {alone} of {subject.records} records are in classes of fewer than {policy.k}, "
            f"and {allowance} may be suppressed; raise max_level (--max-level) or the "
            "suppression limit (--suppression-limit), or lower k"
        )
    least = int(bounds[bounds != _ALONE].sum()) + alone * mine.read.costs.unit
    return BoundReport(
        loss,
        mine.read.costs.loss(least, subject.records),
        policy.k,
        subject.records,
        len(candidates),
        time.monotonic() - started,
        allowance=allowance,
        entity=policy.entity,
        levels={
            name: (low, high)
            for name, low, high, tree in zip(
                subject.names, subject.low, subject.high, subject.trees, strict=True
            )
            if (low, high) != (0, tree.height)
        },
        notes=tuple(_notes(policy)),
    )


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
