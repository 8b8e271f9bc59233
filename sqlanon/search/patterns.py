"""Pattern-guided anonymization: which columns each record keeps, greedily.

A pattern says for every column how far it is generalized; in the plain case a column is kept or
suppressed. Records that agree on all that a pattern keeps are an *instance* of it. Each record is
published by one pattern, and so each instance that is used becomes a class.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.demands import Demands
from sqlanon.search.packing import packed, united

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
LEFT = -1
"""In place of a pattern: none has an instance for these records."""
BATCH = 2**17
"""Records times patterns that are looked at in one go."""
MIXERS = (1, 0x9E3779B97F4A7C15 - 2**64, 0xC2B2AE3D27D4EB4F - 2**64, 0x165667B19E3779F9)
"""Odd factors for the words of a code."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as distinct rows.

    Args:
        codes: `codes[row, word]`: the packed code of each row, of which a pattern keeps some bits.
        sizes: Records of each row.
        demands: What else classes must satisfy, by `values[row, attribute]`; None for k alone.
    """

    codes: Numbers
    sizes: Numbers
    demands: Demands | None = None

    def satisfying(self, rows: Numbers, group: Numbers, groups: int) -> Flags:
        """Which groups of rows satisfy the demands beyond k.

        Args:
            rows: The rows.
            group: The group of each, below `groups`.
            groups: How many there are.
        """
        holds = np.ones(groups, bool)
        for demand in self.demands.every if self.demands is not None else ():
            assert self.demands is not None
            values = self.demands.values[rows, demand.attribute]
            some = values >= 0
            width = len(demand.table)
            counts = np.bincount(
                group[some] * width + values[some],
                weights=self.sizes[rows[some]],
                minlength=groups * width,
            )
            holds &= demand.holds(counts.astype(np.int64).reshape(groups, width))
        return holds


@dataclass(frozen=True, slots=True)
class Placed:
    """Which pattern each row is published by, and the classes that this makes.

    Args:
        pattern: Per row the number of its pattern, or LEFT.
        group: Per row the number of its class, or LEFT; classes in the order they were made.
    """

    pattern: Numbers
    group: Numbers


def instance_keys(codes: Numbers, mask: Numbers) -> Numbers:
    """A number per row that is the same for rows of one instance of a pattern.

    Args:
        codes: `codes[word, row]`.
        mask: Per word the bits that the pattern keeps.
    """
    return united([own & bits for own, bits in zip(codes, mask, strict=True)])


def greedy(rows: Rows, masks: Numbers, k: int) -> Placed:
    """Gives every record to the first pattern that has an instance of k records left for it.

    The records of an instance are given to it together and are not looked at again. Fewer
    suppressed cells cannot be promised: the optimum may be lower by as many times as there are
    columns (Theorem 3).

    Args:
        rows: The table.
        masks: `masks[pattern, word]`: the bits that each pattern keeps, cheapest pattern first.
        k: The smallest class allowed [records].

    Source: Bredereck, Nichterlein and Niedermeier 2013, Algorithm 1.
    """
    pattern, group = (np.full(len(rows.sizes), LEFT) for _ in range(2))
    left, classes = np.arange(len(rows.sizes)), 0
    # k records tell that an instance has enough, so no row needs to be counted further.
    counted, codes = np.minimum(rows.sizes, k), np.ascontiguousarray(rows.codes.T)
    start = 0
    while start < len(masks) and counted.sum() >= k:
        end = start + max(1, BATCH // int(counted.sum()))
        for number in _promising(np.repeat(codes, counted, axis=1), masks, range(start, end), k):
            keys = instance_keys(codes, masks[number])
            enough = _frequent(np.repeat(keys, counted), k)
            if not len(enough):
                continue
            place = np.minimum(np.searchsorted(enough, keys), len(enough) - 1)
            taken = enough[place] == keys
            if rows.demands is not None:
                own = rows.satisfying(left[taken], place[taken], len(enough))
                taken &= own[place]
            taken_rows = left[taken]
            pattern[taken_rows] = number
            _, numbers = np.unique(place[taken], return_inverse=True)
            group[taken_rows] = classes + numbers
            classes += int(numbers.max(initial=-1)) + 1
            left, counted, codes = left[~taken], counted[~taken], codes[:, ~taken]
        start = end
    return Placed(pattern, group)


def _promising(codes: Numbers, masks: Numbers, numbers: range, k: int) -> Iterable[int]:
    """Patterns that may have an instance of k records; the others have none, nor will they.

    Records only become fewer, so one look at many patterns serves while they are tried.

    Args:
        codes: `codes[word, record]`.
        masks: The bits that each pattern keeps.
        numbers: The patterns to look at, from the first on.
        k: The smallest class allowed [records].
    """
    if len(numbers) == 1:
        return numbers
    looked = masks[numbers.start : numbers.stop]
    # Words are mixed into one number: codes that are equal stay so, others rarely become equal.
    keys = sum(
        (own & looked[:, word, np.newaxis]) * MIXERS[word % len(MIXERS)]
        for word, own in enumerate(codes)
    )
    keys.sort(axis=1)
    some = (keys[:, k - 1 :] == keys[:, : keys.shape[1] - k + 1]).any(axis=1)
    return (numbers.start + np.flatnonzero(some)).tolist()


def _frequent(keys: Numbers, k: int) -> Numbers:
    """The keys that occur at least k times, ascending; sorts the keys in place."""
    keys.sort()
    found = keys[k - 1 :][keys[k - 1 :] == keys[: max(0, len(keys) - k + 1)]]
    return np.unique(found) if len(found) else found


def pattern_order(nodes: Numbers, costs: Numbers, tops: Sequence[int]) -> Numbers:
    """The numbers of patterns by cost, then by their kept columns in lexicographic order.

    Args:
        nodes: `nodes[pattern, column]`: levels.
        costs: What each pattern costs.
        tops: Per column the level at which nothing is kept.
    """
    width = nodes.shape[1]
    kept = np.where(nodes < np.array(tops), np.arange(width), width)
    kept.sort(axis=1)
    # What has ended comes first.
    listed = np.where(kept < width, kept + 1, 0)
    most = int(nodes.max(initial=0)) + 1
    keys = [costs, *packed(listed, [width + 1] * width), *packed(nodes, [most] * width)]
    return np.lexsort(keys[::-1])
