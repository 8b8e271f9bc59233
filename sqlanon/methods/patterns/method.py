"""Patterned: local recoding by patterns of kept and suppressed columns, as the user allows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.local.input import (
    EncodedRecords,
    LocalOutcome,
    coded,
    decided,
    demands_of,
    refuse_unsuited,
)
from sqlanon.methods.local.result import Assigned
from sqlanon.methods.options import PatternOptions, masks_of
from sqlanon.methods.patterns.instances import Counted
from sqlanon.methods.patterns.problem import Finished, Parts, Patterned, finish, greedy_parts
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.patterns import MaskColumn
from sqlanon.policy.policy import Policy
from sqlanon.recoding import Node
from sqlanon.search.packing import packed_codes
from sqlanon.search.patterns.greedy import LEFT, DistinctRows, Placed, greedy, pattern_order

Improved = Callable[[Patterned, Placed], Parts]


def decide(
    engine: Engine, subject: Subject, policy: Policy, options: Options[PatternOptions]
) -> Decided:
    """The cheapest pattern that has a place for each record, one pattern after the other.

    Raises:
        SqlanonError: As `decide_patterns`.
    """
    return decide_patterns(engine, subject, policy, options, greedy_parts)


def decide_patterns(
    engine: Engine, subject: Subject, policy: Policy, options: Options[Any], improved: Improved
) -> Decided:
    """A pattern for every record.

    Args:
        engine: Where the table lives.
        subject: The table.
        policy: Its policy.
        options: How to search.
        improved: Makes parts of the table from the greedy assignment.

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
    parts = improved(table, greedy(table.rows, table.masks, table.k, instances))
    finished = finish(table, parts, policy)
    assigned = Assigned(parts.row, parts.count, finished.levels, finished.dropped)
    search = dict(_searched(parts, finished)) | {"candidates": len(table.nodes)}
    outcome = LocalOutcome(assigned, parts.bound, search, finished.notes)
    return decided(subject, policy, options, read, outcome)


def asked_nodes(subject: Subject, options: Options[Any]) -> list[Node]:
    """The patterns that are asked for, in no order of cost.

    Raises:
        PolicyError: None is, or one does not fit the quasi-identifiers.
    """
    if options.own.patterns is None:
        raise PolicyError(
            f"{options.method.name} needs patterns: --pattern COLUMN,... for the columns that one "
            "keeps, or --patterns all (patterns in the policy file)"
        )
    columns = [
        MaskColumn(name, low, tree.height)
        for name, low, tree in zip(subject.names, subject.low, subject.trees, strict=True)
    ]
    return masks_of(options.own.patterns).nodes(columns)


def patterned(
    subject: Subject, policy: Policy, read: EncodedRecords, nodes: Sequence[Node]
) -> Patterned:
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
    codes = packed_codes(subject.trees, layout, units.leaves)
    rows = DistinctRows(codes, units.sizes, demands_of(units))
    return Patterned(
        rows, levels[order], masks, costs, units.leaves, np.array(tops), max(policy.k, 1)
    )


def _searched(parts: Parts, finished: Finished) -> Iterator[tuple[str, object]]:
    """What the search found, by the figures of its source: left-over records are one cluster."""
    sizes = finished.sizes
    yield "clusters", len(sizes)
    yield "used_patterns", len(np.unique(parts.pattern[parts.pattern != LEFT]))
    yield "average_cluster", float(sizes.mean())
    yield "maximum_cluster", int(sizes.max())
    yield "left_over", int(parts.count[parts.pattern == LEFT].sum())
    yield from parts.search
