"""Patterned: local recoding by patterns of kept and suppressed columns, as the user allows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sqlanon.binding import Subject
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.instances import Counted
from sqlanon.localized import Coded, Outcome, coded, decided, demands_of, refuse_unsuited
from sqlanon.masks import MaskColumn
from sqlanon.options import Decided, Options
from sqlanon.policy import Policy
from sqlanon.privacy import TCloseness
from sqlanon.recoding import Node
from sqlanon.search.patterns import LEFT, Instances, Placed, Rows, greedy, pattern_order
from sqlanon.tallied import Assigned
from sqlanon.wording import counted

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Patterned:
    """A table with the patterns it may be published by, cheapest first.

    Args:
        rows: The units as a search sees them.
        nodes: `nodes[pattern, column]`: levels.
        masks: `masks[pattern, word]`: the bits of the code that a pattern keeps.
        costs: Per column `[level, leaf]`: what a cell costs [units].
        leaves: `leaves[row, column]`.
        tops: Per column the level at which it is suppressed.
        k: The smallest class allowed [records].
    """

    rows: Rows
    nodes: Numbers
    masks: Numbers
    costs: tuple[Numbers, ...]
    leaves: Numbers
    tops: Numbers
    k: int

    def cost(self, rows: Numbers, levels: Numbers) -> Numbers:
        """What a record of each row costs [units].

        Args:
            rows: The rows.
            levels: The level of each column, for all rows or `[row, column]`.
        """
        each = [
            own[levels[..., number], self.leaves[rows, number]]
            for number, own in enumerate(self.costs)
        ]
        return reduce(np.add, each)


@dataclass(frozen=True, slots=True)
class Parts:
    """Records of a row that are published alike, ascending by row.

    Args:
        row: The row of each part.
        count: Its records.
        pattern: Its pattern, or LEFT.
        group: Its class, or LEFT; two parts of one class have one pattern.
        bound: What all cells cost at least with these patterns [units]; None where not known.
        search: What is known of the search.
    """

    row: Numbers
    count: Numbers
    pattern: Numbers
    group: Numbers
    bound: int | None = None
    search: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """Parts of which every one has its levels.

    Args:
        levels: `levels[part, column]`.
        dropped: Per part whether its records are not published.
        sizes: Records of each class that a pattern made, and of those left over, as one more.
        notes: What became of the records that no pattern had a place for.
    """

    levels: Numbers
    dropped: NDArray[np.bool_]
    sizes: Numbers
    notes: tuple[str, ...]


def decide(engine: Engine, subject: Subject, policy: Policy, options: Options) -> Decided:
    """A pattern for every record.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: No patterns, unfit patterns, or what this method cannot do.
        UnsatisfiableError: The records that no pattern has a place for cannot be published.
    """
    refuse_unsuited(subject, policy)
    nodes = asked_nodes(subject, options)
    read = coded(engine, subject, policy, options.loss)
    table = patterned(subject, policy, read, nodes)
    instances = Counted(engine, read.units, table.masks, table.k)
    parts = found_parts(table, policy, options, instances)
    finished = finish(table, parts, policy)
    assigned = Assigned(parts.row, parts.count, finished.levels, finished.dropped)
    search = dict(_searched(parts, finished)) | {"candidates": len(table.nodes)}
    outcome = Outcome(assigned, parts.bound, search, finished.notes)
    return decided(subject, policy, options, read, outcome)


def asked_nodes(subject: Subject, options: Options) -> list[Node]:
    """The patterns that are asked for, in no order of cost.

    Raises:
        PolicyError: None is, or one does not fit the quasi-identifiers.
    """
    if options.masks is None:
        raise PolicyError(
            f"{options.method} needs patterns: --pattern COLUMN,... for the columns that one "
            "keeps, or --patterns all (patterns in the policy file)"
        )
    columns = [
        MaskColumn(name, low, tree.height)
        for name, low, tree in zip(subject.names, subject.low, subject.trees, strict=True)
    ]
    return options.masks.nodes(columns)


def patterned(subject: Subject, policy: Policy, read: Coded, nodes: Sequence[Node]) -> Patterned:
    """The table as a search sees it, with its patterns by cost.

    A pattern costs what all records would lose by it, so with suppression alone it is the
    weighted number of suppressed columns.
    """
    units = read.units
    costs = tuple(
        np.array(
            [
                np.array(read.costs.costs[c][at])[list(tree.nodes[at])]
                for at in range(tree.height + 1)
            ]
        )
        for c, tree in enumerate(subject.trees)
    )
    tops = [tree.height for tree in subject.trees]
    levels = np.array(nodes, np.int64)
    totals = [own @ np.array(held) for own, held in zip(costs, read.counts, strict=True)]
    total = reduce(np.add, [own[levels[:, c]] for c, own in enumerate(totals)])
    order = pattern_order(levels, total, tops)
    layout = read.layout
    bits = [
        np.array([layout.column_masks(c, at) for at in range(top + 1)], np.int64)
        for c, top in enumerate(tops)
    ]
    masks = reduce(np.bitwise_or, [own[levels[order, c]] for c, own in enumerate(bits)])
    codes = [
        np.array(layout.leaf_codes(c, tree), np.int64).T[units.leaves[:, c]]
        for c, tree in enumerate(subject.trees)
    ]
    rows = Rows(reduce(np.bitwise_or, codes), units.sizes, demands_of(units))
    return Patterned(
        rows, levels[order], masks, costs, units.leaves, np.array(tops), max(policy.k, 1)
    )


def found_parts(table: Patterned, policy: Policy, options: Options, instances: Instances) -> Parts:
    """A pattern for every record, by the method that is asked for."""
    placed = greedy(table.rows, table.masks, table.k, instances)
    if options.method == "pattern-exact":
        from sqlanon.exact import optimal  # an integer program, which the heuristic needs not

        return optimal(table, placed, policy, options.time_limit)
    return greedy_parts(table, placed)


def greedy_parts(table: Patterned, placed: Placed) -> Parts:
    """Every row as one part."""
    rows = np.arange(len(table.rows.sizes))
    return Parts(rows, table.rows.sizes, placed.pattern, placed.group)


def published_cost(table: Patterned, parts: Parts, policy: Policy) -> float:
    """What parts cost as they are published [units]; infinite where they cannot be."""
    try:
        finished = finish(table, parts, policy)
    except UnsatisfiableError:
        return math.inf
    levels = np.where(finished.dropped[:, np.newaxis], table.tops, finished.levels)
    return int(table.cost(parts.row, levels) @ parts.count)


def finish(table: Patterned, parts: Parts, policy: Policy) -> Finished:
    """What becomes of the records that no pattern has a place for.

    They are suppressed as one class where that satisfies the models. Else they are dropped where
    the policy allows it, or other classes are suppressed with them.

    Raises:
        UnsatisfiableError: Not even all records together would do.

    Source: Bredereck, Nichterlein and Niedermeier 2013, section 2, which suppresses fewer than k
    records all the same.
    """
    left = parts.pattern == LEFT
    records = int(parts.count[left].sum())
    placed = parts.count[~left]
    sizes = np.bincount(parts.group[~left], weights=placed).astype(np.int64)
    sizes = sizes[sizes > 0]
    levels = np.where(left[:, np.newaxis], table.tops, table.nodes[parts.pattern])
    kept = np.zeros(len(left), bool)
    if not records:
        return Finished(levels, kept, sizes, ())
    sizes = np.append(sizes, records)
    suppressed = (levels == table.tops).all(axis=1)
    told = f"no pattern has a place for {counted(records, 'record')} with enough others"
    if _is_class(table, parts, suppressed):
        return Finished(levels, kept, sizes, (f"{told}; all their cells are suppressed",))
    if records <= droppable(table, policy):
        return Finished(levels, left, sizes, (f"{told}; they are left out",))
    joined = _joined(table, parts, suppressed, policy)
    others = int(parts.count[joined & ~suppressed].sum())
    note = (
        f"{told}, too few for a class of their own: {counted(others, 'other record')} of the "
        "cheapest classes lose all cells with them; a suppression limit would leave them out"
    )
    levels = np.where(joined[:, np.newaxis], table.tops, levels)
    return Finished(levels, kept, sizes, (note,))


def _is_class(table: Patterned, parts: Parts, members: NDArray[np.bool_]) -> bool:
    """Whether parts satisfy the models as one class."""
    if parts.count[members].sum() < table.k:
        return False
    if table.rows.demands is None:
        return True
    rows = replace(
        table.rows,
        sizes=np.bincount(
            parts.row[members], weights=parts.count[members], minlength=len(table.rows.sizes)
        ),
    )
    own = np.unique(parts.row[members])
    return bool(rows.satisfying(own, np.zeros(len(own), np.int64), 1)[0])


def droppable(table: Patterned, policy: Policy) -> int:
    """How many records may be left out.

    None where t-closeness is asked for: its reference is the published table, so what is left out
    changes how far every class is from it.
    """
    demands = table.rows.demands
    distant = demands is not None and any(isinstance(d.model, TCloseness) for d in demands.every)
    if policy.suppressed != "drop" or distant:
        return 0
    records = int(table.rows.sizes.sum())
    return min(policy.allowance(records), records - 1)


def _joined(
    table: Patterned, parts: Parts, suppressed: NDArray[np.bool_], policy: Policy
) -> NDArray[np.bool_]:
    """Parts to suppress besides, until all satisfy the models as one class: cheapest first."""
    before = table.cost(parts.row, table.nodes[parts.pattern])
    extra = (table.cost(parts.row, table.tops) - before) * parts.count
    groups, own = np.unique(parts.group[~suppressed], return_inverse=True)
    costs = np.zeros(len(groups), np.int64)
    np.add.at(costs, own, extra[~suppressed])
    joined = suppressed.copy()
    for group in groups[np.argsort(costs, kind="stable")]:
        joined |= parts.group == group
        if _is_class(table, parts, joined):
            return joined
    from sqlanon.unsatisfiable import unsatisfied_as_one  # most tables can be published

    found = unsatisfied_as_one(policy, table.rows.demands, int(table.rows.sizes.sum()))
    assert found is not None  # all records are joined by now, and still fail
    raise found


def _searched(parts: Parts, finished: Finished) -> Iterator[tuple[str, object]]:
    """What the search found, by the figures of its source: left-over records are one cluster."""
    sizes = finished.sizes
    yield "clusters", len(sizes)
    yield "used_patterns", len(np.unique(parts.pattern[parts.pattern != LEFT]))
    yield "average_cluster", float(sizes.mean())
    yield "maximum_cluster", int(sizes.max())
    yield "left_over", int(parts.count[parts.pattern == LEFT].sum())
    yield from parts.search
