"""Distinct rows of a table, and what groups of them hold: records, persons and sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.privacy import Demands, Sparse, ValueDemand


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """A table as distinct rows.

    Args:
        codes: `codes[row, word]`: the packed code of each row, of which a pattern keeps some bits.
        sizes: Records of each row.
        demands: What else classes must satisfy, by `values[row, attribute]`, and whose persons are
            counted, if any; None for k records alone.
    """

    codes: Numbers
    sizes: Numbers
    demands: Demands | None = None

    @property
    def persons(self) -> Numbers | None:
        """The person of each row; None where records are counted."""
        return None if self.demands is None else self.demands.persons

    @property
    def union_closed(self) -> bool:
        """Whether classes that satisfy everything still do when they are put together."""
        return self.demands is None or self.demands.union_closed

    def holding(self, rows: Numbers, group: Numbers, *, groups: int, k: int) -> Flags:
        """Which groups of rows, numbered below `groups`, have k records or persons, and the rest.

        Rows without a record are members of none.
        """
        enough: Flags = self.counted(rows, group, groups=groups) >= k
        return enough & self.satisfying(rows, group, groups=groups)

    def counted(self, rows: Numbers, group: Numbers, *, groups: int) -> Numbers:
        """The records, or persons, of each group of rows."""
        if self.persons is None:
            return np.bincount(group, self.sizes[rows], groups).astype(np.int64)
        some = self.sizes[rows] > 0
        return np.bincount(each_once(group[some], self.persons[rows[some]]), minlength=groups)

    def satisfying(self, rows: Numbers, group: Numbers, *, groups: int) -> Flags:
        """Which groups of rows, numbered below `groups`, satisfy the demands beyond k."""
        holds = np.ones(groups, bool)
        for demand in () if self.demands is None else self.demands.every:
            number, value, count = self._held(demand, rows, group)
            holds &= Sparse.sorted(number, value, count).holds(demand, groups=groups)
        return holds

    def _held(
        self, demand: ValueDemand, rows: Numbers, group: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Groups with the values that they hold, and how many records or persons do."""
        assert self.demands is not None
        values, persons = self.demands.values[rows, demand.attribute], self.demands.persons
        some = np.flatnonzero((values >= 0) & (self.sizes[rows] > 0))
        group, value, count = group[some], values[some], self.sizes[rows[some]]
        if not demand.of_persons or persons is None:
            return group, value, count
        width = len(demand.table)
        pairs = each_once(group * width + value, persons[rows[some]])
        return pairs // width, pairs % width, np.ones_like(pairs)


def each_once(keys: Numbers, persons: Numbers) -> Numbers:
    """The keys, ascending, each once for every person that has it."""
    order = np.lexsort((persons, keys))
    keys, persons = keys[order], persons[order]
    fresh = np.append(True, (np.diff(keys) != 0) | (np.diff(persons) != 0))
    found: Numbers = keys[fresh[: len(keys)]]
    return found
