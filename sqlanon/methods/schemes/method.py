"""The method scheme (Li and Li 2007): the best partition of each column's values."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.loss.cells import LEVEL_MEASURES, VALUE_MEASURES, shares
from sqlanon.loss.measures import left_out_note
from sqlanon.loss.release import Release
from sqlanon.methods.local.input import reading_end
from sqlanon.methods.local.release import Original, reported
from sqlanon.methods.options import SchemeOptions, scheme_choice
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.schemes.columns import (
    GroupedColumn,
    SchemeColumn,
    group_numbers,
    leaf_groups,
    published,
    refuse_unsuited,
    scheme_columns,
    simpler_problems,
    tallied_groups,
)
from sqlanon.methods.unsatisfiable import models_text, unsatisfied_as_one
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import DistinctCombinations, distinct_combinations
from sqlanon.microdata.encoding import leaf_maps
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.recoding import ValueMap
from sqlanon.reports.plan import GroupFigures
from sqlanon.reports.search import SchemeSearch
from sqlanon.search.lattice.schemes.branch_and_bound import best_recoding, quick_recoding
from sqlanon.search.lattice.schemes.inner import ROOM
from sqlanon.search.lattice.schemes.problem import CellPrices, SchemeOutcome, SchemeProblem
from sqlanon.search.lattice.schemes.trees import count
from sqlanon.wording import key

STARTING = 0.2
"""Share of the time for a recoding that a systematic search starts with."""
LARGEST_EXACT = 2**53
"""Largest number that every reader of JSON takes as it is."""


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A search over a table, ready to start.

    Args:
        subject: The table.
        policy: Its policy.
        columns: Its quasi-identifiers with their schemes.
        combinations: Its distinct combinations.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        problem: What is searched.
    """

    subject: Subject
    policy: Policy
    columns: tuple[SchemeColumn, ...]
    combinations: DistinctCombinations
    counts: tuple[tuple[int, ...], ...]
    problem: SchemeProblem

    def loss(self, cost: int) -> float:
        """The measure that the search minimizes, of a cost in its own units."""
        prices, records = self.problem.prices, self.subject.records
        if prices is None:
            return float(cost)
        cells = len(self.columns) * records if prices.loss.total else 1
        return cost / (prices.whole * records) * cells

    def bound(self, outcome: SchemeOutcome) -> float | None:
        """What every recoding is proven to lose at least; None where that may be nothing."""
        return self.loss(outcome.bound) if outcome.bound > 0 else None

    def grouped(self, outcome: SchemeOutcome) -> tuple[GroupedColumn, ...]:
        """The groups of the best recoding."""
        assert outcome.partitions is not None
        leaves = self.combinations.leaves
        parts = zip(self.columns, self.problem.domains, outcome.partitions, strict=True)
        groups = [leaf_groups(column, domain, partition) for column, domain, partition in parts]
        kept = published(
            self.problem, [group_numbers(sets)[leaves[:, c]] for c, sets in enumerate(groups)]
        )
        return tuple(
            GroupedColumn.of(
                column,
                groups[c],
                suppressed=self.policy.suppressed_label,
                published=set(np.unique(leaves[kept, c]).tolist()),
            )
            for c, column in enumerate(self.columns)
        )


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[SchemeOptions]
) -> Decided:
    """The recoding of least loss that the schemes allow, and what publishing it will lose.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or groups that have no label.
        PolicyError: A scheme does not suit its column, or what no scheme can do.
        TimeLimitError: The time limit came before the table was read.
        UnsatisfiableError: No recoding satisfies the policy.
    """
    started = time.monotonic()
    refuse_unsuited(subject, policy, loss=options.loss)
    columns = scheme_columns(subject, scheme_choice(options.specific.scheme))
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        search = read_search(engine, subject, columns, policy=policy, loss=options.loss)
    encoded_at = time.monotonic()
    # To measure what is published takes about as long as to read it, as long again where classes
    # are counted by sensitive columns.
    parts = 2 if policy.sensitive_attributes else 1
    ended = options.deadline.earlier(parts * (encoded_at - started))
    with phase("the encoding"):
        ended.check()
    problem = search.problem
    refused = unsatisfied_as_one(policy, problem.demands, records=subject.records)
    if refused is not None and not problem.allowance:
        raise refused
    outcome = _outcome(problem, options, deadline=ended)
    if outcome.partitions is None and not outcome.proven and options.deadline.is_limited:
        raise TimeLimitError("the search")
    if outcome.partitions is None or outcome.suppressed == subject.records:
        raise refused or _unsatisfied(policy)
    searched_at = time.monotonic()
    return _decided(search, outcome, options=options, times=(encoded_at, searched_at))


def _outcome(
    problem: SchemeProblem, options: Options[SchemeOptions], *, deadline: Deadline
) -> SchemeOutcome:
    """The best recoding, searched column by column or in the direction that is asked for."""
    direction = options.specific.direction
    rows = ROOM if options.memory is None else options.memory // 4
    if direction is None:
        return best_recoding(problem, deadline=deadline, room=rows, seed=options.seed)
    from sqlanon.search.lattice.schemes import enumeration  # rarely asked for

    walk = enumeration.top_down if direction == "top-down" else enumeration.bottom_up
    room = enumeration.ROOM if options.memory is None else options.memory
    quick = quick_recoding(problem, deadline=deadline.share(STARTING), room=rows)
    tell(f"search: {direction}, {quick.checked:,} recodings looked at")
    best = walk(problem, quick.partitions, deadline=deadline, room=room)
    return replace(best, checked=quick.checked + best.checked, steps=quick.steps)


def read_search(
    engine: Engine,
    subject: Subject,
    columns: Sequence[SchemeColumn],
    *,
    policy: Policy,
    loss: str,
) -> PreparedSearch:
    """Reads the distinct combinations of a table.

    Raises:
        PolicyError: An order does not suit its hierarchy.
    """
    coding = leaf_maps(engine, subject)
    distinct = distinct_combinations(engine, subject, coding=coding, policy=policy)
    counts, faults, domains = distinct.leaf_counts(subject.trees), [], []
    for column, records in zip(columns, counts, strict=True):
        try:
            domains.append(column.domain(records))
        except PolicyError as error:
            faults.append(str(error))
    if faults:
        raise PolicyError("; ".join(faults))
    columns = tuple(
        replace(column, scheme=domain.scheme)
        for column, domain in zip(columns, domains, strict=True)
    )
    prices = None
    if loss != "discernibility":
        parts = shares(subject.weights)
        prices = CellPrices.of(loss, shares=parts, records=subject.records)
    units = np.stack([d.unit[distinct.leaves[:, c]] for c, d in enumerate(domains)], axis=1)
    problem = SchemeProblem(
        tuple(domains),
        units,
        distinct.sizes,
        max(policy.k, 1),
        policy.allowance(subject.records),
        prices,
        distinct.demands(),
    )
    simpler = simpler_problems(columns, problem, counts=counts, leaves=distinct.leaves)
    problem = replace(problem, simpler=tuple(simpler))
    return PreparedSearch(subject, policy, columns, distinct, counts, problem)


def _decided(
    search: PreparedSearch,
    outcome: SchemeOutcome,
    *,
    options: Options[SchemeOptions],
    times: tuple[float, float],
) -> Decided:
    """The recoding that a search found, with a report of all that follows from it alone."""
    subject, policy = search.subject, search.policy
    grouped = search.grouped(outcome)
    recoding = ValueMap(tuple(column.column_map() for column in grouped))
    original = Original(subject, policy, search.combinations.leaves, search.counts)
    is_cut = not outcome.proven and options.deadline.is_limited
    candidates = math.prod(map(count, search.problem.domains))
    tally = tallied_groups(original, grouped, problem=search.problem)
    decided = reported(
        original,
        options,
        recoding=recoding,
        tallied=tally,
        lower_bound=search.bound(outcome),
        search=SchemeSearch(
            candidates=candidates if candidates <= LARGEST_EXACT else None,
            combinations=len(search.problem.sizes),
            checked=outcome.checked,
            proven=outcome.proven,
            cut_short=is_cut,
            less_flexible=tuple(
                {
                    "schemes": dict(zip(subject.names, step.schemes, strict=True)),
                    "loss": search.loss(step.value),
                    "proven": step.proven,
                }
                for step in outcome.steps
            ),
        ),
        notes=(
            *_held_notes(subject),
            *_left_out(tally.release, sensitive=bool(policy.sensitive)),
            *_ended(outcome, is_cut=is_cut, is_bounded=search.bound(outcome) is not None),
        ),
        at=times,
    )
    report, node = decided.report, recoding.node
    report = replace(
        report,
        lower_bound=report.loss[key(options.loss)] if outcome.proven else report.lower_bound,
        levels={} if node is None else dict(zip(subject.names, node, strict=True)),
        schemes={column.name: column.scheme for column in search.columns},
        groups=dict(zip(subject.names, _figures(search, grouped), strict=True)),
    )
    return replace(decided, report=report)


def _figures(
    search: PreparedSearch, columns: Sequence[GroupedColumn]
) -> Iterator[tuple[GroupFigures, ...]]:
    """Per column its groups, with labels where the user wrote these values himself.

    Only published records are counted: a small group of others would tell who is suppressed.
    """
    leaves, sizes = search.combinations.leaves, search.problem.sizes
    groups = [column.numbers[leaves[:, c]] for c, column in enumerate(columns)]
    kept = published(search.problem, groups)
    for attribute, column, numbers in zip(
        search.subject.attributes.values(), columns, groups, strict=True
    ):
        records = np.zeros(len(column.groups), np.int64)
        np.add.at(records, numbers[kept], sizes[kept])
        yield GroupFigures.for_report(
            GroupFigures(
                group.label, len(group.leaves), int(number), is_shown=attribute.hierarchy.is_listed
            )
            for group, number in zip(column.groups, records, strict=True)
        )


def _left_out(release: Release, *, sensitive: bool) -> Iterator[str]:
    """A note on measures that do not apply to groups that are no nodes."""
    columns = [column.tree.column for column in release.columns if column.is_grouped]
    if columns:
        names = [name for name in LEVEL_MEASURES if sensitive or name not in VALUE_MEASURES]
        yield left_out_note(names, columns)


def _held_notes(subject: Subject) -> Iterator[str]:
    """A note on values of the table that plan and labels must name, since nothing else does."""
    rules = {
        name: attribute
        for name, attribute in subject.attributes.items()
        if not attribute.hierarchy.is_listed
    }
    if not rules:
        return
    labelled = [name for name, attribute in rules.items() if not attribute.min_level]
    labels = (
        f"; for the same reason, published labels of merged values of {_quoted(labelled)} can name "
        "values that the table holds: give a hierarchy's lowest level (--min-level COLUMN=1) to "
        "publish nodes only"
    )
    yield (
        f"a saved plan lists the values of {_quoted(rules)}, and so does its SQL where some are "
        "merged: a group of any values has no other name, so keep both as safe as the table"
        f"{labels if labelled else ''}"
    )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _ended(outcome: SchemeOutcome, *, is_cut: bool, is_bounded: bool) -> Iterator[str]:
    """A note on a search that ended before it had looked at everything."""
    if outcome.proven:
        return
    ended = "the search of the schemes ended before it had looked at all recodings"
    if is_cut:
        ended = "the time limit ended the search of the schemes"
    known = "see the bound" if is_bounded else "and it is not known how much better it may be"
    yield f"{ended}: a better recoding may exist, {known}"


def _unsatisfied(policy: Policy) -> UnsatisfiableError:
    return UnsatisfiableError(
        f"no recoding that the schemes and levels allow satisfies {models_text(policy)} within a "
        f"suppression limit of {policy.suppression_limit:g}; ask for less, raise the limit "
        "(--suppression-limit) or the highest levels (--max-level)"
    )
