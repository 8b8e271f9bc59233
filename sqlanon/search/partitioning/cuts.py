"""Cuts: how each part of a table may be cut at one column, and what that saves.

A part is cut either *by nodes*, between the nodes right below its closure, of which those too small
to be a class stay together, or *in two*, where its ordered children are halved best. Every cut of
every part is worked out at once, from the parts' histograms of one column.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", sections
3.1 (allowable cuts) and 4 (choice of the dimension, median).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.partitioning.histogram import Histogram, Judge

NOT = -1
"""The group of an entry whose part is not cut."""


@dataclass(frozen=True, slots=True)
class PartCuts:
    """The cuts of all parts at one column.

    Args:
        group: The group of each entry of the histogram, numbered part by part without gaps; `NOT`
            where a part cannot be cut.
        part: The part that each group is of, ascending.
        saved: Per part what its records save in this column [units]; -1 where it cannot be cut.
        told: Per part the information that tells its groups apart, over all of its records [bits].
    """

    group: Numbers
    part: Numbers
    saved: Numbers
    told: Reals

    @property
    def allowed(self) -> Flags:
        """Which parts can be cut."""
        allowed: Flags = self.saved >= 0
        return allowed


def by_nodes(histogram: Histogram, gain: Numbers, *, parts: int, judge: Judge) -> PartCuts:
    """Cuts between children; those that may not be a class of their own stay together.

    Where these together may not be one either, the child that saves least joins them.

    Args:
        histogram: Records of parts by child.
        gain: What each record of an entry saves where its child is a class of its own [units].
        parts: How many parts there are.
        judge: Says which groups may be classes.
    """
    entries = len(histogram.part)
    own = judge.holds(histogram, np.arange(entries), groups=entries)
    rest = np.where(own, NOT, histogram.part)
    there = np.bincount(histogram.part[~own], minlength=parts) > 0
    lacking = there & ~judge.holds(histogram, rest, groups=parts)
    if lacking.any():
        own &= ~_cheapest(histogram, np.where(own, gain * histogram.count, NOT), asked=lacking)
        rest = np.where(own, NOT, histogram.part)
        lacking &= ~judge.holds(histogram, rest, groups=parts)
    apart = np.bincount(histogram.part[own], minlength=parts)
    together = np.bincount(histogram.part[~own], minlength=parts) > 0
    allowed = (apart + together > 1) & ~lacking
    saved = _totals(histogram.part, np.where(own, gain * histogram.count, 0), parts=parts)
    first = np.concatenate([[True], histogram.part[1:] != histogram.part[:-1]])
    # The rest of a part is its first group, so that groups are numbered in the order of parts.
    start = np.cumsum(apart + together) - apart
    before: Numbers = np.cumsum(own) - own
    rank = before - np.maximum.accumulate(np.where(first, before, 0))
    group = np.where(own, start[histogram.part] + rank, start[histogram.part] - 1)
    return _numbered(histogram, group, allowed=allowed, saved=saved)


def _cheapest(histogram: Histogram, saved: Numbers, *, asked: Flags) -> Flags:
    """The entry of each part asked that saves least, of those whose saving is not negative."""
    there = np.flatnonzero((saved >= 0) & asked[histogram.part])
    order = there[np.lexsort((there, saved[there], histogram.part[there]))]
    part = histogram.part[order]
    chosen = np.zeros(len(saved), np.bool_)
    chosen[order[np.concatenate([[True], part[1:] != part[:-1]])[: len(order)]]] = True
    return chosen


def in_two(histogram: Histogram, *, parts: int, judge: Judge) -> PartCuts:
    """Cuts in two halves of neighbouring children, as even as they can be.

    Args:
        histogram: Records of parts by child.
        parts: How many parts there are.
        judge: Says which groups may be classes.
    """
    starts = histogram.segments(parts)
    totals = _totals(histogram.part, histogram.count, parts=parts)
    through = np.cumsum(histogram.count)
    before = np.append(0, through)[starts[:-1]]
    within = through - before[histogram.part]
    # The last entry of a part would leave nothing on the right.
    smaller = np.minimum(within, totals[histogram.part] - within)
    order = np.lexsort((np.arange(len(smaller)), -smaller, histogram.part))
    last = order[np.minimum(starts[:-1], len(order) - 1)]
    right = np.arange(len(smaller)) > last[histogram.part]
    group = 2 * histogram.part + right
    one, other = judge.holds(histogram, group, groups=2 * parts).reshape(-1, 2).T
    return _numbered(histogram, group, allowed=one & other, saved=np.zeros(parts, np.int64))


def _numbered(histogram: Histogram, group: Numbers, *, allowed: Flags, saved: Numbers) -> PartCuts:
    """The cut with the groups of parts that can be cut numbered without gaps."""
    parts = len(allowed)
    kept = allowed[histogram.part]
    held, number = np.unique(group[kept], return_inverse=True)
    renumbered = np.full(len(group), NOT)
    renumbered[kept] = number
    owner = np.zeros(len(held), np.int64)
    owner[number] = histogram.part[kept]
    sizes = np.bincount(number, histogram.count[kept], len(held))
    whole = _totals(histogram.part, histogram.count, parts=parts)[owner]
    terms = -sizes * np.log2(np.maximum(sizes, 1) / np.maximum(whole, 1))
    told: Reals = np.bincount(owner, terms, parts).astype(np.float64)
    return PartCuts(renumbered, owner, np.where(allowed, saved, NOT), told)


def _totals(part: Numbers, figure: Numbers, *, parts: int) -> Numbers:
    """The sum of a figure over the entries of each part, exactly."""
    through = np.append(0, np.cumsum(figure))
    starts = np.searchsorted(part, np.arange(parts + 1))
    found: Numbers = through[starts[1:]] - through[starts[:-1]]
    return found
