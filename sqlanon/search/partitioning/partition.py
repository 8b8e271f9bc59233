"""Search: which of its cuts each part of a table gets, until no part can be cut any more.

A cut tells the groups of a part apart, which takes some bits of the log2(records / k) that a part
has in all, and saves some loss. The cut that saves most per bit is taken: by what it saves alone, a
column of many values would be cut first and leave nothing for the others. What no cut by nodes
helps is halved where it is widest, since smaller parts may close lower in other columns.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity": `median` is
its greedy algorithm over ordered values, `nodes` the same over hierarchies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.partitioning.cuts import NOT, PartCuts, by_nodes, in_two
from sqlanon.search.partitioning.histogram import Judge
from sqlanon.search.partitioning.rows import PartedRows, PartRows
from sqlanon.search.partitioning.space import Dimension
from sqlanon.search.privacy import ValueDemand

NODES, MEDIAN, BEST = "nodes", "median", "best"
RULES = (BEST, NODES, MEDIAN)
"""Which cut a part gets: the one that saves most per bit; the widest column, between the nodes
right below its closure; the widest column, at the median of its leaves."""
ROWS = 100_000
"""Rows whose parts are cut at once, unless a part has more, between looks at the clock."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides on cuts.

    Args:
        dimensions: The columns.
        judge: Says which groups may be classes.
        unit: What a record that loses all cells costs [units].
        cuts: One of `RULES`.
        relaxed: Whether records of one value may go to either half, so that halves are even.
        halves: Whether parts may be halved that then close alike, see `may_halve`.
        deadline: When the search ends with what there is.
    """

    dimensions: tuple[Dimension, ...]
    judge: Judge
    unit: int
    cuts: str = BEST
    relaxed: bool = False
    halves: bool = True
    deadline: Deadline = NEVER


def may_halve(every: Sequence[ValueDemand], *, persons: bool) -> bool:
    """Whether parts may be halved that then close alike, and so are published as one class.

    Only where models are sure to hold of the union of classes for which they do. Of persons they
    look at unions that are no mixtures: who has records in two classes counts once in their union.

    Args:
        every: The models.
        persons: Whether persons count instead of records.
    """
    return not every or (not persons and all(each.model.union_closed for each in every))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One cut of every part that allows it, at one column.

    Args:
        score: What speaks for it, per part; -1 where it is not allowed.
        cut: The cut.
        entry: The entry of each row in the cut's histogram.
    """

    score: Reals
    cut: PartCuts
    entry: Numbers


def candidates(parted: PartedRows, place: int, *, rule: Rule, column: int) -> Iterator[Candidate]:
    """The cuts of all parts at one column.

    Args:
        parted: Rows in the order of their parts.
        place: Where among their leaves those of the column are.
        rule: What decides.
        column: The number of the column.

    Raises:
        TimeLimitError: The deadline came before all were looked at.
    """
    dimension, parts = rule.dimensions[column], parted.parts
    judge = replace(rule.judge, deadline=rule.deadline)
    taxonomy = dimension.taxonomy
    low, high = parted.bounds(place)
    node = taxonomy.closure(low, high)
    is_median = rule.cuts == MEDIAN
    level = np.zeros_like(node) if is_median else np.maximum(taxonomy.level[node] - 1, 0)
    first = dimension.place[level, low]
    width = dimension.place[level, high] - first + 1
    if not (width > 1).any():
        return
    child = parted.children(place, dimension, level=level) - first[parted.part]
    histogram, entry = parted.histogram(child, width=width)
    if not is_median:
        below = dimension.child_nodes(
            level[histogram.part], first[histogram.part] + histogram.child
        )
        gain = taxonomy.cost[node][histogram.part] - taxonomy.cost[below]
        cut = by_nodes(histogram, gain, parts=parts, judge=judge)
        per_bit = 1.0 + cut.saved / np.maximum(cut.told, np.finfo(np.float64).tiny)
        worth = cut.saved > 0 if rule.cuts == BEST else cut.allowed
        score = per_bit if rule.cuts == BEST else (high - low) / taxonomy.leaves
        yield Candidate(np.where(worth, score, NOT), cut, entry)
    if rule.cuts != NODES and rule.halves:
        if rule.relaxed:
            histogram, entry = parted.in_order(child)
        two = in_two(histogram, parts=parts, judge=judge)
        wide = (high - low) / taxonomy.leaves if is_median else taxonomy.cost[node] / rule.unit
        yield Candidate(np.where(two.allowed & (width > 1), wide, NOT), two, entry)


def chosen(found: Sequence[Candidate], parts: int) -> Numbers:
    """The candidate of each part with the best score, the first of those alike; `NOT` for none."""
    best, which = np.full(parts, -0.5), np.full(parts, NOT)
    for number, candidate in enumerate(found):
        better = candidate.score > best
        best[better] = candidate.score[better]
        which[better] = number
    return which


def groups(
    found: Sequence[Candidate], choice: Numbers, *, parted: Sequence[PartedRows]
) -> list[tuple[Numbers, Numbers]]:
    """Per candidate its rows of parts that are cut so, and the group of each.

    Groups are numbered part by part.

    Args:
        found: The candidates.
        choice: The candidate of each part.
        parted: Per candidate the rows that its entries are of.
    """
    counts = np.zeros(len(choice), np.int64)
    for number, candidate in enumerate(found):
        made = np.bincount(candidate.cut.part, minlength=len(choice))
        counts = np.where(choice == number, made, counts)
    starts, named = np.cumsum(counts) - counts, []
    for number, (candidate, rows) in enumerate(zip(found, parted, strict=True)):
        own = candidate.cut
        held = np.flatnonzero((choice == number)[rows.part])
        part = rows.part[held]
        offset = starts - np.searchsorted(own.part, np.arange(len(choice)))
        named.append((held, own.group[candidate.entry[held]] + offset[part]))
    return named


@dataclass(frozen=True, slots=True)
class Partition:
    """Parts of a table that are not cut any more.

    Args:
        part: The part of each row, from 0 up.
        parts: How many there are.
        ended: Whether the deadline came before all of them had been cut as far as they can be.
    """

    part: Numbers
    parts: int
    ended: bool = False


def partition(rows: PartRows, start: Numbers, *, rule: Rule) -> Partition:
    """Cuts parts until no cut is left or time is over.

    Args:
        rows: The rows.
        start: The part of each at first.
        rule: What decides.
    """
    final, made = np.full(len(rows), NOT), 0
    active = np.argsort(start, kind="stable")
    part = start[active]
    while len(active) and not rule.deadline.expired:
        advance(1 - len(active) / len(rows))
        part = _renumbered(part)
        # Nothing can be told apart in less than two classes.
        small = (np.bincount(part, rows.sizes[active]) < 2 * rule.judge.k)[part]
        final[active[small]] = made + part[small]
        made += int(part[-1]) + 1
        active, part = active[~small], part[~small]
        if not len(active):
            break
        part = _renumbered(part)
        group = _cut_all(rows, active, part, rule=rule)
        done = group == NOT
        final[active[done]] = made + part[done]
        made += int(part[-1]) + 1
        active, group = active[~done], group[~done]
        order = np.argsort(group, kind="stable")
        active, part = active[order], group[order]
    ended = len(active) > 0
    final[active] = made + part
    held, number = np.unique(final, return_inverse=True)
    return Partition(number, len(held), ended)


def _renumbered(part: Numbers) -> Numbers:
    """Ascending numbers without gaps."""
    found: Numbers = np.cumsum(np.diff(part, prepend=part[:1]) != 0)
    return found


def _cut_all(rows: PartRows, active: Numbers, part: Numbers, *, rule: Rule) -> Numbers:
    """The group that each active row goes to; `NOT` where its part is not cut.

    Parts that the deadline leaves no time for are a group each.

    Args:
        rows: The rows of the table.
        active: Those of parts that may be cut, in the order of these.
        part: The part of each, ascending from 0 without gaps.
        rule: What decides.
    """
    group, made = np.full(len(active), NOT), 0
    starts = np.append(np.flatnonzero(np.diff(part, prepend=NOT)), len(active))
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + ROWS, "right")) - 1)
        here = slice(starts[first], starts[last])
        own = PartedRows(rows.taken(active[here]), part[here] - first, last - first)
        try:
            found = _cut_once(own, rule)
        except TimeLimitError:
            left = slice(starts[first], None)
            group[left] = made + part[left] - first
            break
        group[here] = np.where(found == NOT, NOT, made + found)
        made += int(found.max()) + 1
        first = last
    return group


def _cut_once(parted: PartedRows, rule: Rule) -> Numbers:
    """The group that each row goes to; `NOT` where its part is not cut.

    Raises:
        TimeLimitError: The deadline came before all columns were looked at.
    """
    found: list[Candidate] = []
    for column in range(len(rule.dimensions)):
        rule.deadline.check()
        found += candidates(parted, column, rule=rule, column=column)
    choice = chosen(found, parted.parts)
    group = np.full(len(parted.part), NOT)
    for rows, own in groups(found, choice, parted=[parted] * len(found)):
        group[rows] = own
    return group
