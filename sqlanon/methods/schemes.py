"""The method scheme (Li and Li 2007): the best partition of each column's values.

Columns come first: the scheme and the order that each gets, or why not, and its groups; then the
search (`decide`) and its report.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.group_labels import (
    GroupLabeller,
    GroupReader,
    LabelledGroup,
    group_tree,
    numeric_order,
)
from sqlanon.loss.cells import LEVEL_MEASURES, VALUE_MEASURES, shares
from sqlanon.loss.measures import left_out_note
from sqlanon.loss.release import Release, Tallied
from sqlanon.methods.local import Assigned, Original, reading_end, reported, tallied
from sqlanon.methods.options import SchemeOptions, scheme_choice
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.unsatisfiable import models_text, unsatisfied_as_one
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import DistinctCombinations, distinct_combinations
from sqlanon.microdata.encoding import leaf_maps
from sqlanon.policy.policy import Policy
from sqlanon.policy.roles import QuasiIdentifier
from sqlanon.policy.schemes import GUIDED, IN_ORDER, ORDERED, SchemeChoice
from sqlanon.progress import tell
from sqlanon.recoding import ColumnMap, Group, ValueMap
from sqlanon.reports.plan import GroupFigures
from sqlanon.reports.search import FlexibilityFigures, SchemeSearch
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.lattice.schemes.branch_and_bound import best_recoding, quick_recoding
from sqlanon.search.lattice.schemes.domain import Domain, Partition, UnsuitedOrderError
from sqlanon.search.lattice.schemes.inner import MAX_CLASS_BYTES
from sqlanon.search.lattice.schemes.scheme_problem import (
    CellPrices,
    SchemeOutcome,
    SchemeProblem,
    classes_of,
)
from sqlanon.search.lattice.schemes.trees import count
from sqlanon.wording import counted, key, listed, shell_word

_Type = exp.DataType.Type
MOST_SIBLINGS = 256
"""Most values or children of one node that a search can merge: it looks at all their runs."""
_WITHOUT_HIERARCHY = {"bhs": "sps", "ghs": "sps", "gsps": "sps", "gops": "ops"}
_WITHOUT_ORDER = {scheme: free for free, scheme in IN_ORDER.items()}
_MERGING = frozenset({"ops", "sps", "gops", "gsps"})
"""Schemes that merge children of one node, some at a time."""
_AS_LISTED = frozenset({"suppression", "expressions"})
"""Rules that say nothing of an order of such values."""
_UNORDERED = frozenset({*exp.DataType.TEXT_TYPES, _Type.UUID, _Type.VARBINARY})
"""Types whose values have no order but that of their characters or bytes."""


@dataclass(frozen=True, slots=True)
class SchemeColumn:
    """A quasi-identifier with the scheme that is asked for.

    Args:
        name: The column.
        tree: Its hierarchy.
        attribute: What the policy says of it.
        scheme: The scheme.
        order: The leaves in the order that ordered schemes go by; None for that of the tree.
        otherwise: The scheme to take where the order does not suit the hierarchy; None where that
            is refused.
        has_order: Whether its values have an order that says something.
    """

    name: str
    tree: Tree
    attribute: QuasiIdentifier
    scheme: str
    order: tuple[int, ...] | None
    otherwise: str | None = None
    has_order: bool = False

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest level allowed."""
        high = self.attribute.max_level
        return self.attribute.min_level, self.tree.height if high is None else high

    def domain(self, counts: Sequence[int]) -> Domain:
        """The units that the scheme merges, of a table with so many records per leaf.

        Raises:
            PolicyError: The order does not suit the hierarchy.
        """
        order = self.order if self.scheme in ORDERED else None
        try:
            domain = Domain.of(self.scheme, self.tree, counts, levels=self.bounds, order=order)
        except UnsuitedOrderError as error:
            if self.otherwise is None:
                raise PolicyError(self._unsuited(error.pair)) from None
            domain = Domain.of(self.otherwise, self.tree, counts, levels=self.bounds)
        siblings = max((len(b.children) for root in domain.roots for b in root.inner()), default=0)
        if siblings > MOST_SIBLINGS and domain.scheme in _MERGING:
            raise PolicyError(self._too_wide(domain.scheme, siblings))
        return domain

    def _too_wide(self, scheme: str, siblings: int) -> str:
        what = "children of one node" if scheme in GUIDED else "values"
        return (
            f"column {self.name!r} has {siblings:,} {what} that scheme {scheme} may merge, and at "
            f"most {MOST_SIBLINGS} can be searched; {self._narrower(scheme)}"
        )

    def _narrower(self, scheme: str) -> str:
        """The way out for a column whose scheme may merge too many values."""
        name, (low, high) = shell_word(self.name), self.bounds
        if self.attribute.hierarchy.kind == "suppression":
            hint = "" if scheme in GUIDED else " and use gsps or ghs"
            return (
                f"give a hierarchy (--hierarchy {name}=intervals:..., prefix:... or a file){hint}, "
                "or use the method incognito"
            )
        few = (n for n in range(low + 1, high) if max(self.tree.nodes[n]) < MOST_SIBLINGS)
        level = next(few, None)
        lowest = "" if level is None else f"give a lowest level (--min-level {name}={level}), or "
        return f"{lowest}use ghs (--scheme {name}=ghs)"

    def _unsuited(self, pair: tuple[int, int]) -> str:
        shown, way_out = "two values", f"use {_WITHOUT_ORDER[self.scheme]}"
        if self.attribute.order is not None:
            way_out = "leave it out"
        if self.attribute.hierarchy.is_listed:
            one, other = (self.tree.leaves[leaf] for leaf in pair)
            shown = f"{one or 'NULL'!r} and {other or 'NULL'!r}"
        return (
            f"scheme {self.scheme} of column {self.name!r}: the order does not suit the hierarchy, "
            f"since {shown} of one node have values of another between them; give an order in "
            f"which every node has its values in a row, or {way_out}"
        )


def scheme_columns(subject: Subject, choice: SchemeChoice) -> tuple[SchemeColumn, ...]:
    """Every quasi-identifier with its scheme and order.

    Where `sps` or `gsps` is asked for all columns, those with numbers or an order of their own get
    `ops` or `gops`.

    Raises:
        PolicyError: A scheme that a column does not suit, all at once.
    """
    chosen, columns, faults = choice.of_columns(subject.names), list[SchemeColumn](), list[str]()
    for name, tree in zip(subject.names, subject.trees, strict=True):
        attribute, scheme = subject.attributes[name], chosen.get(name, choice.common)
        is_number = subject.columns[name].this in exp.DataType.NUMERIC_TYPES
        otherwise = None
        if name not in chosen and scheme in IN_ORDER and (is_number or attribute.order is not None):
            otherwise = scheme if attribute.order is None else None
            scheme = IN_ORDER[scheme]
        try:
            if name in chosen and scheme in GUIDED and attribute.hierarchy.kind == "suppression":
                raise PolicyError(
                    f"scheme {scheme} of column {name!r} follows a hierarchy, and the column has "
                    f"none; give one (--hierarchy {shell_word(name)}=SPEC), or use "
                    f"{_WITHOUT_HIERARCHY[scheme]}"
                )
            order = _order(attribute, tree, is_number=is_number)
            if scheme in ORDERED and order is None and not _has_order(subject, name):
                raise PolicyError(
                    f"scheme {scheme} of column {name!r} needs an order of its values; name it "
                    f"with order (--order {shell_word(name)}=A,B,...), or use "
                    f"{_WITHOUT_ORDER[scheme]}"
                )
        except PolicyError as error:
            faults.append(str(error))
        else:
            has_order = order is not None or _has_order(subject, name)
            columns.append(SchemeColumn(name, tree, attribute, scheme, order, otherwise, has_order))
    if faults:
        raise PolicyError("; ".join(faults))
    return tuple(columns)


def _has_order(subject: Subject, name: str) -> bool:
    """Whether the leaves of a column's tree are in an order that says something."""
    hierarchy = subject.attributes[name].hierarchy
    is_ordered = subject.columns[name].this not in _UNORDERED
    return hierarchy.rows is not None or is_ordered or hierarchy.kind not in _AS_LISTED


def _order(attribute: QuasiIdentifier, tree: Tree, *, is_number: bool) -> tuple[int, ...] | None:
    """The leaves in the order that is given, or that of numbers; None where there is neither.

    Raises:
        PolicyError: The order that is given has not every value of the hierarchy once.
    """
    if attribute.order is None:
        return numeric_order(tree) if is_number else None
    leaf = {text: number for number, text in enumerate(tree.leaves)}
    missing = leaf.keys() - {*attribute.order, None}
    unknown = sum(text not in leaf for text in attribute.order)
    if missing or unknown:
        faults = [
            *([f"misses {counted(len(missing), 'value')}"] if missing else []),
            *([f"names {counted(unknown, 'value')} that it does not have"] if unknown else []),
        ]
        raise PolicyError(
            f"order of column {tree.column!r} {listed(faults)}; name each value of its hierarchy "
            "once, as text, held by the table or not"
        )
    places = [leaf[text] for text in attribute.order]
    return (*places, *(number for number in range(len(leaf)) if number not in places))


def refuse_unsuited(subject: Subject, policy: Policy, *, loss: str) -> None:
    """Refuses what a global recoding by schemes cannot do.

    Raises:
        PolicyError: Persons to count, suppressed records to keep, models that suppressing or
            merging can break, or values to count that a lowest level has put together.
    """
    faults = list(_unsuited(policy, policy.allowance(subject.records)))
    raised = [name for name, attribute in policy.attributes.items() if attribute.min_level]
    if loss == "hdm" and raised:
        faults.append(
            "loss hdm counts values, and a recoding by schemes begins with the nodes of the lowest "
            f"level of column {', '.join(map(repr, raised))}; use loss lm or discernibility, or "
            "leave the lowest level out (--min-level)"
        )
    if faults:
        raise PolicyError("; ".join(faults))


def _unsuited(policy: Policy, allowance: int) -> Iterator[str]:
    if policy.entity is not None:
        yield (
            "a recoding by schemes adds up the sizes of groups as they merge, and persons by "
            f"{policy.entity!r} who have records in several groups would count several times; use "
            "incognito, or leave the entity column out"
        )
    if policy.suppressed == "keep" and allowance:
        yield (
            "a recoding by schemes leaves suppressed records out, since the class that they would "
            "be kept as shrinks as groups merge, and may fail then; use suppressed = 'drop' "
            "(--suppressed drop), or a suppression limit of 0"
        )
    for demand in policy.demands:
        model, about = demand.model, f"{demand.model.describe()} of {demand.column!r}"
        if not model.union_closed:
            yield (
                f"a recoding by schemes cannot be held to {about}: classes that satisfy it may "
                "fail it when they are merged; use incognito"
            )
        elif model.relative and allowance:
            yield (
                f"a recoding by schemes cannot be held to {about} while records may be suppressed, "
                "which changes the table that it refers to; use a suppression limit of 0, or "
                "incognito"
            )


_STEPS = ("bhs", "ghs", "gops", "gsps", "ops")
_BELOW = {
    "bhs": (),
    "ghs": ("bhs",),
    "gops": ("bhs", "ghs"),
    "gsps": ("bhs", "ghs", "gops"),
    "ops": ("bhs", "ghs", "gops"),
    "sps": ("bhs", "ghs", "gops", "gsps", "ops"),
}
"""Per scheme those whose recodings it has all of, where a column has a hierarchy and an order."""


def simpler_problems(
    columns: Sequence[SchemeColumn],
    problem: SchemeProblem,
    *,
    counts: Sequence[Sequence[int]],
    leaves: Numbers,
) -> list[SchemeProblem]:
    """The table under less flexible schemes, the least flexible first.

    What each step of flexibility buys is told by them, and a search begins with what it found under
    the step before. A column takes part as far as it can: in ordered steps where its values have an
    order.

    Args:
        columns: The columns with their schemes.
        problem: The table under these.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        leaves: `leaves[combination, column]`.
    """
    ladders = [
        _ladder(column, records, domain=domain)
        for column, records, domain in zip(columns, counts, problem.domains, strict=True)
    ]
    problems: list[SchemeProblem] = []
    seen = {tuple(domain.scheme for domain in problem.domains)}
    for place in range(len(_STEPS)):
        steps = _STEPS[place::-1]
        domains = tuple(
            next((ladder[step] for step in steps if step in ladder), domain)
            for ladder, domain in zip(ladders, problem.domains, strict=True)
        )
        schemes = tuple(domain.scheme for domain in domains)
        if schemes not in seen:
            seen.add(schemes)
            units = np.stack([d.unit[leaves[:, c]] for c, d in enumerate(domains)], axis=1)
            problems.append(replace(problem, domains=domains, units=units))
    return problems


def _ladder(column: SchemeColumn, counts: Sequence[int], *, domain: Domain) -> dict[str, Domain]:
    """The domains of the schemes below that of a column, and its own, by scheme."""
    domains = {}
    for scheme in _BELOW[domain.scheme]:
        if scheme in ("gops", "ops") and not column.has_order:
            continue
        try:
            domains[scheme] = replace(column, scheme=scheme, otherwise=None).domain(counts)
        except PolicyError:
            continue  # an order that does not suit the hierarchy, or too many values
    return {**domains, domain.scheme: domain}


def leaf_groups(column: SchemeColumn, domain: Domain, partition: Partition) -> list[list[int]]:
    """The leaves of each group: of each block, and those that the table does not hold.

    The latter stay by themselves, or in nodes of the lowest level allowed; of `bhs`, of its level.
    """
    nodes = column.tree.nodes
    groups = [
        [int(leaf) for start, end in spans for leaf in domain.order[start:end]]
        for spans in domain.block_spans(partition)
    ]
    grouped = {leaf for group in groups for leaf in group}
    low, high = column.bounds
    if domain.scheme == "bhs":
        low = next(n for n in range(low, high + 1) if _are_nodes(nodes[n], groups))
    others: dict[int, list[int]] = {}
    for leaf, node in enumerate(nodes[low]):
        if leaf not in grouped:
            others.setdefault(node, []).append(leaf)
    return [*groups, *others.values()]


def _are_nodes(nodes: Sequence[int], groups: Sequence[Sequence[int]]) -> bool:
    """Whether groups are nodes of a level."""
    sizes = np.bincount(nodes)
    return all(
        len({nodes[leaf] for leaf in group}) == 1 and sizes[nodes[group[0]]] == len(group)
        for group in groups
    )


def group_numbers(groups: Sequence[Sequence[int]]) -> Numbers:
    """The group of each leaf, of groups that have every leaf once."""
    numbers = np.empty(sum(map(len, groups)), np.int64)
    for number, leaves in enumerate(groups):
        numbers[list(leaves)] = number
    return numbers


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """A column as it is published.

    Args:
        tree: Its hierarchy.
        groups: Its groups, every leaf once.
    """

    tree: Tree
    groups: tuple[LabelledGroup, ...]

    @classmethod
    def of(
        cls,
        column: SchemeColumn,
        groups: Sequence[Sequence[int]],
        *,
        suppressed: str,
        published: Collection[int],
    ) -> GroupedColumn:
        """Labels groups of leaves.

        Args:
            column: The column.
            groups: Every leaf once.
            suppressed: The label of suppressed values.
            published: Leaves that a published record holds.

        Raises:
            HierarchyError: Groups for which there is no label of their own.
        """
        hierarchy = column.attribute.hierarchy
        labeller = GroupLabeller(
            GroupReader(column.tree),
            *column.bounds,
            suppressed,
            is_listed=hierarchy.is_listed,
            has_grid=hierarchy.kind == "intervals",
        )
        label = labeller.label_alike if column.scheme == "bhs" else labeller.label
        return cls(column.tree, label(groups, published))

    @property
    def numbers(self) -> Numbers:
        """The group of each leaf."""
        return group_numbers([group.leaves for group in self.groups])

    def column_map(self) -> ColumnMap:
        """What becomes of each value."""
        leaves = self.tree.leaves
        groups = tuple(
            Group(group.label, tuple(leaves[leaf] for leaf in group.leaves))
            for group in self.groups
        )
        return ColumnMap(groups, tuple(sorted({at for part in self.groups for at in part.levels})))


def published(problem: SchemeProblem, groups: Sequence[Numbers]) -> Flags:
    """Which combinations are published, by the group of each in every column."""
    group = classes_of(groups, [int(numbers.max(initial=0)) + 1 for numbers in groups])
    sizes = np.bincount(group, problem.sizes).astype(np.int64)
    return problem.publishable(group, sizes)[group]


def tallied_groups(
    original: Original, columns: Sequence[GroupedColumn], *, problem: SchemeProblem
) -> Tallied:
    """Classes and columns of what is published.

    A column whose published groups all are nodes is measured by its hierarchy, any other by the
    tree of its groups, as where the published table is read on its own.
    """
    of_leaf = [column.numbers for column in columns]
    groups = [numbers[original.leaves[:, c]] for c, numbers in enumerate(of_leaf)]
    kept = published(problem, groups)
    trees, leaves, levels = [], [], []
    counts, grouped = list[Sequence[int]](), list[bool]()
    for c, column in enumerate(columns):
        leaf = original.leaves[:, c]
        is_grouped = not all(column.groups[g].is_node for g in np.unique(groups[c][kept]))
        if is_grouped:
            tree, places = group_tree(
                column.tree, [(group.label, group.leaves) for group in column.groups]
            )
            leaves.append(np.argsort(places)[leaf])
            levels.append(np.ones_like(leaf))
            counts.append([original.counts[c][place] for place in places])
        else:
            tree = column.tree
            at = np.array([group.levels[0] for group in column.groups])
            leaves.append(leaf)
            levels.append(at[groups[c]])
            counts.append(original.counts[c])
        trees.append(tree)
        grouped.append(is_grouped)
    subject = replace(original.subject, trees=tuple(trees))
    every = np.arange(len(problem.sizes))
    tally = tallied(
        replace(original, subject=subject, leaves=np.stack(leaves, axis=1), counts=counts),
        Assigned(every, problem.sizes, np.stack(levels, axis=1), ~kept),
    )
    marked = tuple(
        replace(column, is_grouped=flag)
        for column, flag in zip(tally.release.columns, grouped, strict=True)
    )
    return replace(tally, release=replace(tally.release, columns=marked))


START_SHARE = 0.2
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
    rows = MAX_CLASS_BYTES if options.memory is None else options.memory // 4
    if direction is None:
        return best_recoding(problem, deadline=deadline, room=rows, seed=options.seed)
    from sqlanon.search.lattice.schemes import enumeration  # rarely asked for

    walk = enumeration.top_down if direction == "top-down" else enumeration.bottom_up
    room = enumeration.MAX_OPEN_BYTES if options.memory is None else options.memory
    quick = quick_recoding(problem, deadline=deadline.share(START_SHARE), room=rows)
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
                FlexibilityFigures(
                    dict(zip(subject.names, step.schemes, strict=True)),
                    search.loss(step.value),
                    step.proven,
                )
                for step in outcome.steps
            ),
        ),
        notes=(
            *_value_notes(subject),
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


def _value_notes(subject: Subject) -> Iterator[str]:
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
