"""Taxonomies: the hierarchies of a table as arrays, for methods that recode record by record.

Every distinct node of a hierarchy has a number: leaves first, in tree order, then level by level,
each from left to right. A node that a branch repeats at several levels is one node, at the lowest
of them. So the closure of records is, per column, the lowest node that holds their lowest and
their highest leaf.

Source: Kenig 2009, section 2.2 (laminar collections) and definition 4.1.1 (closure).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.hierarchy.declaration import Tree
from sqlanon.search.arrays import Numbers


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """One column's hierarchy.

    Args:
        ancestors: `ancestors[level, leaf]`: the node that holds a leaf at a level; the last level
            has one node, the root.
        level: Per node its lowest level.
        low: Per node its first leaf.
        high: Per node its last leaf.
        cost: Per node what a cell generalized to it loses [units], from the lowest level on never
            less than the nodes it holds.
    """

    ancestors: Numbers
    level: Numbers
    low: Numbers
    high: Numbers
    cost: Numbers

    @classmethod
    def of(cls, tree: Tree, costs: Sequence[Sequence[int]]) -> Taxonomy:
        """Numbers the nodes of a tree.

        Args:
            tree: The hierarchy.
            costs: `costs[level][node]` as in `CellCosts`; a node repeated at several levels costs
                what its lowest level says.
        """
        leaves = len(tree.leaves)
        rows, numbers = [np.arange(leaves)], leaves
        level, low, high = [np.zeros(leaves, np.int64)], [np.arange(leaves)], [np.arange(leaves)]
        cost = [np.asarray(costs[0], np.int64)]
        for place in range(1, tree.height + 1):
            nodes = np.asarray(tree.nodes[place])
            first = np.searchsorted(nodes, np.arange(nodes[-1] + 1))
            last = np.append(first[1:], leaves) - 1
            below = rows[-1]
            repeated = below[first] == below[last]
            number = np.where(repeated, below[first], numbers + np.cumsum(~repeated) - 1)
            rows.append(number[nodes])
            fresh = ~repeated
            numbers += int(fresh.sum())
            level.append(np.full(int(fresh.sum()), place))
            low.append(first[fresh])
            high.append(last[fresh])
            cost.append(np.asarray(costs[place], np.int64)[fresh])
        return cls(np.stack(rows), *(np.concatenate(part) for part in (level, low, high, cost)))

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(self.ancestors.shape[1])

    @property
    def root(self) -> int:
        """The node that holds every leaf."""
        return int(self.ancestors[-1, 0])

    @property
    def distinct_levels(self) -> Numbers:
        """The rows of `ancestors` that differ from the row below."""
        fresh = (self.ancestors[1:] != self.ancestors[:-1]).any(axis=1)
        rows: Numbers = self.ancestors[np.r_[True, fresh]]
        return rows

    def closure(self, low: Numbers, high: Numbers) -> Numbers:
        """The lowest node that holds both leaves, element by element.

        Args:
            low: Leaves.
            high: Leaves, of the same shape.
        """
        same = self.ancestors[:, low] == self.ancestors[:, high]
        nodes: Numbers = self.ancestors[same.argmax(axis=0), low]
        return nodes

    def join(self, first: Numbers, second: Numbers) -> Numbers:
        """The lowest node that holds both nodes, element by element."""
        return self.closure(
            np.minimum(self.low[first], self.low[second]),
            np.maximum(self.high[first], self.high[second]),
        )

    def least_costs(self, counts: Numbers, *, k: int) -> Numbers:
        """What a cell of each leaf costs at least [units], where k records share what it becomes.

        Args:
            counts: Records of each leaf [records].
            k: Fewest records of a class.
        """
        before = np.append(0, np.cumsum(counts))
        support = before[self.high + 1] - before[self.low]
        enough = support[self.ancestors] >= k
        lowest = self.ancestors[enough.argmax(axis=0), np.arange(self.leaves)]
        costs: Numbers = self.cost[lowest]
        return costs
