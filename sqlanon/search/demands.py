"""Demands: whether clusters satisfy l-diversity and t-closeness, from their counts of values.

`query.sensitive` says the same in SQL. Every record is published, so the distribution that
t-closeness refers to is that of the whole table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlanon.privacy import LDiversity, TCloseness

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
TOLERANCE = 1e-12
"""What comparisons of entropies and distances with a threshold allow."""


@dataclass(frozen=True, slots=True)
class ValueDemand:
    """One model of one sensitive attribute.

    Args:
        attribute: Number of the attribute.
        model: What its values must satisfy in every cluster.
        table: Records of the table per value, in the order of the values; all above 0.
        nodes: Per inner level of the attribute's hierarchy the node of each value.
    """

    attribute: int
    model: LDiversity | TCloseness
    table: Numbers
    nodes: tuple[Numbers, ...] = ()

    @property
    def union_closed(self) -> bool:
        """Whether clusters that satisfy it still do when they are put together."""
        return self.model.union_closed

    def holds(self, counts: Numbers) -> Flags:
        """Which clusters satisfy it.

        Args:
            counts: `counts[cluster, value]`: records that hold a value and count.
        """
        if isinstance(self.model, TCloseness):
            near: Flags = self._distance(counts) <= self.model.t + TOLERANCE
            return near
        if self.model.kind == "distinct":
            several: Flags = (counts > 0).sum(axis=1) >= int(self.model.l)
            return several
        if self.model.kind == "entropy":
            enough = _entropy(counts) >= math.log(self.model.l) - TOLERANCE
            some: Flags = enough & (counts.sum(axis=1) > 0)
            return some
        return self._recursive(counts, self.model)

    def _recursive(self, counts: Numbers, model: LDiversity) -> Flags:
        """Whether the largest count is below c times the sum from the l-th largest on."""
        largest_first = -np.sort(-counts, axis=1)
        tail = largest_first[:, int(model.l) - 1 :].sum(axis=1)
        factor = Fraction(str(model.c))
        return np.array(
            [
                int(most) * factor.denominator < int(rest) * factor.numerator
                for most, rest in zip(largest_first[:, 0], tail, strict=True)
            ],
            dtype=bool,
        )

    def _distance(self, counts: Numbers) -> Reals:
        """The distance of every cluster's distribution from the table's, 0 for one without any."""
        assert isinstance(self.model, TCloseness)
        size = counts.sum(axis=1, keepdims=True)
        shares = counts / np.maximum(size, 1)
        whole = self.table / max(int(self.table.sum()), 1)
        name = self.model.distance
        if name == "equal":
            found = _excess(shares, whole)
        elif name == "ordered":
            found = _ordered(shares, whole)
        elif name == "hierarchical":
            found = self._hierarchical(shares, whole)
        elif name == "kl":
            found = np.where(shares > 0, shares * _log_ratio(shares, whole), 0.0).sum(axis=1)
        else:
            found = _scaled(shares, whole, literal=name == "scaled-literal")
        return np.where(size[:, 0] > 0, found, 0.0)

    def _hierarchical(self, shares: Reals, whole: Reals) -> Reals:
        """The mean over the levels below the top of what nodes have beyond their share."""
        found = _excess(shares, whole)
        for nodes in self.nodes:
            grouped = np.zeros((int(nodes.max()) + 1, len(nodes)))
            grouped[nodes, np.arange(len(nodes))] = 1.0
            found = found + _excess(shares @ grouped.T, grouped @ whole)
        return found / (len(self.nodes) + 1)


@dataclass(frozen=True, slots=True)
class Demands:
    """All models of the sensitive attributes, asked of clusters of records.

    Args:
        values: `values[record, attribute]`: the number of the value, -1 where it does not count.
        every: The models.
    """

    values: Numbers
    every: tuple[ValueDemand, ...]

    @property
    def union_closed(self) -> bool:
        """Whether clusters that satisfy all still do when they are put together."""
        return all(demand.union_closed for demand in self.every)

    def holds(self, records: Numbers) -> bool:
        """Whether a cluster of these records, given by their numbers, satisfies all."""
        for demand in self.every:
            own = self.values[records, demand.attribute]
            counts = np.bincount(own[own >= 0], minlength=len(demand.table))
            if not demand.holds(counts[np.newaxis])[0]:
                return False
        return True


def _entropy(counts: Numbers) -> Reals:
    size = np.maximum(counts.sum(axis=1), 1)
    terms = (counts * np.log(np.maximum(counts, 1))).sum(axis=1)
    found: Reals = np.log(size) - terms / size
    return found


def _excess(shares: Reals, whole: Reals) -> Reals:
    found: Reals = np.maximum(shares - whole, 0.0).sum(axis=1)
    return found


def _ordered(shares: Reals, whole: Reals) -> Reals:
    moved = np.abs(np.cumsum(shares - whole, axis=1)).sum(axis=1)
    found: Reals = moved / max(len(whole) - 1, 1)
    return found


def _scaled(shares: Reals, whole: Reals, *, literal: bool) -> Reals:
    steps = np.where(shares > 0, (shares - whole) * np.abs(_log_ratio(shares, whole)), 0.0)
    sums = np.cumsum(np.abs(steps) if literal else steps, axis=1)
    found: Reals = np.abs(sums).sum(axis=1) / max(len(whole) - 1, 1)
    return found


def _log_ratio(shares: Reals, whole: Reals) -> Reals:
    """ln(p / q), 0 where p is."""
    return np.log(np.where(shares > 0, shares / whole, 1.0))
