"""Pattern-guided anonymization: which columns each record keeps, greedily.

A pattern says for every column how far it is generalized; in the plain case a column is kept or
suppressed. Records that agree on all that a pattern keeps are an *instance* of it. Each record is
published by one pattern, and so each instance that is used becomes a class.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.demands import Demands

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
LEFT = -1
"""In place of a pattern: none has an instance for these records."""


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

    def class_sizes(self, rows: Rows) -> Numbers:
        """Records of each class, those that are left out of account."""
        placed = self.group != LEFT
        sizes = np.bincount(self.group[placed], weights=rows.sizes[placed])
        return sizes.astype(np.int64)


def instance_keys(codes: Numbers, mask: Numbers) -> Numbers:
    """A number per row that is the same for rows of one instance of a pattern.

    Args:
        codes: `codes[word, row]`.
        mask: Per word the bits that the pattern keeps.
    """
    keys: Numbers
    keys, *others = (own & bits for own, bits in zip(codes, mask, strict=True))
    for more in others:
        _, first = np.unique(keys, return_inverse=True)
        distinct, second = np.unique(more, return_inverse=True)
        keys = first * len(distinct) + second
    return keys


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
    for number, mask in enumerate(masks):
        if counted.sum() < k:
            break
        keys = instance_keys(codes, mask)
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
    return Placed(pattern, group)


def _frequent(keys: Numbers, k: int) -> Numbers:
    """The keys that occur at least k times, ascending; sorts the keys in place."""
    keys.sort()
    found = keys[k - 1 :][keys[k - 1 :] == keys[: len(keys) - k + 1]]
    return np.unique(found) if len(found) else found


def pattern_order(nodes: Sequence[tuple[int, ...]], costs: Numbers, tops: Sequence[int]) -> Numbers:
    """The numbers of patterns by cost, then by their kept columns in lexicographic order.

    Args:
        nodes: Per pattern the level of each column.
        costs: What each pattern costs.
        tops: Per column the level at which nothing is kept.
    """
    kept = [
        tuple(c for c, (level, top) in enumerate(zip(node, tops, strict=True)) if level < top)
        for node in nodes
    ]
    order = sorted(range(len(nodes)), key=lambda n: (costs[n], kept[n], nodes[n]))
    return np.array(order, np.int64)
