"""The method pattern-greedy (Bredereck, Nichterlein and Niedermeier 2013), and what both share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.local import (
    Assigned,
    EncodedRecords,
    decided,
    encode_records,
    reading_end,
    search_end,
)
from sqlanon.methods.options import PatternOptions, masks_of
from sqlanon.methods.patterns.pattern_problem import (
    Finished,
    Parts,
    PatternProblem,
    SetAside,
    finish,
    greedy_parts,
    least_by_patterns,
    least_by_prices,
    least_cost,
    set_aside,
)
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.patterns import MaskColumn
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.recoding import Node
from sqlanon.reports.search import PatternSearch
from sqlanon.search.arrays import Numbers
from sqlanon.search.patterns import (
    LEFT,
    DistinctRows,
    Placed,
    greedy,
    instance_keys,
    pattern_order,
)
from sqlanon.wording import counted

PRICING = 0.1
"""Share of the time for prices of records, which only prove what is lost at least."""
Improved = Callable[[PatternProblem, Placed], Parts]


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[PatternOptions]
) -> Decided:
    """The cheapest pattern that has a place for each record, one pattern after the other.

    Raises:
        SqlanonError: As `decide_patterns`.
    """
    return decide_patterns(engine, subject, policy=policy, options=options, improved=greedy_parts)


def decide_patterns(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any], improved: Improved
) -> Decided:
    """A pattern for every record.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: No patterns, unfit patterns, or what this method cannot do.
        UnsatisfiableError: The records that no pattern has a place for cannot be published.
    """
    nodes = asked_nodes(subject, options)
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        read = encode_records(engine, subject, policy=policy, loss=options.loss)
    ended = search_end(read, options.deadline)
    whole = pattern_problem(read, nodes)
    whole = replace(whole, least=least_by_prices(read, whole, deadline=ended.share(PRICING)))
    aside = set_aside(whole, policy)
    table = replace(aside.table, deadline=ended)
    tell(f"patterns: {counted(len(table.masks), 'pattern')}")
    placed = greedy(table.rows, table.masks, k=table.k, deadline=ended)
    is_over = ended.expired
    tell("patterns: improving what was found")
    parts = improved(table, placed)
    finished = finish(table, parts, policy=policy)
    assigned = _assigned(parts, finished, aside=aside)
    # By the figures of the source: left-over records are one cluster.
    sizes, left = finished.sizes, parts.pattern < 0
    search = PatternSearch(
        clusters=len(sizes),
        used_patterns=len(np.unique(parts.pattern[~left])),
        average_cluster=float(sizes.mean()),
        maximum_cluster=int(sizes.max()),
        usefulness_of_values=usefulness_of_values(read, parts),
        left_over=int(parts.count[left].sum()),
        proven=parts.proven,
        gap=parts.gap,
        components=parts.components,
        candidates=len(table.nodes),
        cut_short=is_over or parts.ended,
    )
    notes = [*aside.notes, *finished.notes]
    if search.cut_short:
        late = "before every pattern had its turn" if is_over else "while it was being improved"
        notes.append(f"the time limit ended the search {late}: a better recoding may exist")
    bound = table.least if parts.bound is None else parts.bound
    return decided(read, options, assigned=assigned, bound=bound, search=search, notes=notes)


def _assigned(parts: Parts, finished: Finished, *, aside: SetAside) -> Assigned:
    """What becomes of every record, those that were set aside among them."""
    gone, row = len(aside.rows), np.concatenate([parts.row, aside.rows])
    order = np.argsort(row, kind="stable")
    return Assigned(
        row[order],
        np.concatenate([parts.count, aside.records])[order],
        np.concatenate([finished.levels, np.tile(aside.table.tops, (gone, 1))])[order],
        np.append(finished.dropped, np.ones(gone, bool))[order],
    )


def asked_nodes(subject: Subject, options: Options[Any]) -> list[Node]:
    """The patterns that are asked for, in no order of cost.

    Raises:
        PolicyError: None is, or one does not fit the quasi-identifiers.
    """
    if options.specific.patterns is None:
        raise PolicyError(
            f"{options.method.name} needs patterns: --pattern COLUMN,... for the columns that one "
            "keeps, or --patterns all (patterns in the policy file)"
        )
    columns = [
        MaskColumn(name, low, high, high < tree.height)
        for name, low, high, tree in zip(
            subject.names, subject.low, subject.high, subject.trees, strict=True
        )
    ]
    return masks_of(options.specific.patterns).nodes(columns)


def pattern_problem(read: EncodedRecords, nodes: Sequence[Node]) -> PatternProblem:
    """A table as distinct rows, with its patterns by cost.

    A pattern costs what all records would lose by it, so with suppression alone it is the
    weighted number of suppressed columns.
    """
    distinct, trees, layout = read.combinations, read.subject.trees, read.layout
    costs = tuple(
        np.array(
            [
                np.array(read.costs.costs[c][at])[list(tree.nodes[at])]
                for at in range(tree.height + 1)
            ]
        )
        for c, tree in enumerate(trees)
    )
    tops = np.array(read.subject.high)
    levels = np.array(nodes, np.int64)
    totals = [column @ np.array(counts) for column, counts in zip(costs, read.counts, strict=True)]
    total = reduce(np.add, [column[levels[:, c]] for c, column in enumerate(totals)])
    order = pattern_order(levels, total, tops=tops.tolist())
    bits = [
        np.array([layout.column_masks(c, at) for at in range(tree.height + 1)], np.int64)
        for c, tree in enumerate(trees)
    ]
    masks = reduce(np.bitwise_or, [column[levels[order, c]] for c, column in enumerate(bits)])
    at_most = reduce(np.bitwise_or, [column[top] for column, top in zip(bits, tops, strict=True)])
    _, highest = np.unique(instance_keys(distinct.codes.T, at_most), return_inverse=True)
    rows = DistinctRows(distinct.codes, distinct.sizes, read.demands())
    k = max(read.policy.k, 1)
    table = PatternProblem(
        rows=rows,
        nodes=levels[order],
        masks=masks,
        costs=costs,
        leaves=distinct.leaves,
        tops=tops,
        highest=highest,
        k=k,
        suppressed=_suppressed_cost(read),
        dropped=read.costs.unit,
        least=least_cost(read, rows, costs=costs, k=k),
    )
    return replace(table, least=least_by_patterns(table))


def _suppressed_cost(read: EncodedRecords) -> int | None:
    """What a record costs whose cells are all at the top [units]; None where they may not be.

    Where each reads as those of suppressed records do, it counts as one of them.
    """
    label, subject = read.policy.suppressed_label, read.subject
    highest = zip(subject.trees, subject.high, strict=True)
    if all(set(tree.labels[high]) == {label} for tree, high in highest):
        return read.costs.unit
    if subject.high != tuple(tree.height for tree in subject.trees):
        return None
    return sum(column[-1][0] for column in read.costs.costs)


def usefulness_of_values(read: EncodedRecords, parts: Parts) -> float:
    """Usefulness of the values that the records of a row type held before; the lower the better.

    The tuple diversity of a row type is a sum over columns: of numbers the greatest less the least
    over that difference in the table, of all else the distinct values over those in the table.
    NULL is a value, but no number. Records that no pattern has a place for are a row type.

    Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", table 1, u,
    which this reproduces; the text has no formula. After Loukides and Shao 2007.
    """
    left = parts.pattern == LEFT
    _, group = np.unique(np.where(left, -1, parts.group), return_inverse=True)
    diversity = np.zeros(group.max() + 1)
    leaves, subject = read.combinations.leaves[parts.row], read.subject
    for number, (name, tree) in enumerate(zip(subject.names, subject.trees, strict=True)):
        leaf = leaves[:, number]
        ruled = subject.attributes[name].hierarchy.rows is None
        if ruled and subject.columns[name].this in exp.DataType.NUMERIC_TYPES:
            values = np.array([np.nan if text is None else float(text) for text in tree.leaves])
            diversity += _ranges(values[leaf], group)
        else:
            pairs = np.unique(np.stack([group, leaf]), axis=1)
            diversity += np.bincount(pairs[0]) / len(np.unique(leaf))
    return float(diversity.mean())


def _ranges(values: np.ndarray, group: Numbers) -> np.ndarray:
    """Per group the difference of its greatest and least number, over that of all numbers."""
    known = np.isfinite(values)
    values, groups = values[known], group[known]
    least, most = (np.full(group.max() + 1, end) for end in (np.inf, -np.inf))
    np.minimum.at(least, groups, values)
    np.maximum.at(most, groups, values)
    whole = np.ptp(values) if len(values) else 0.0
    return np.where(most > least, most - least, 0.0) / (whole or 1.0)
