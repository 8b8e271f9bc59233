"""Utility: Khaitan's E, anonymization cost over purity gain, as the full-domain search sees it.

The cost has two parts like any cell loss, see `objectives.CellObjective`. What a class C of n
records adds to the gain is g(C) = (sum of its squared value counts) / n - n B, with B the purity of
the table as one class. g is subadditive (Cauchy-Schwarz): a class made of several adds no more than
they do, g(A + B) <= g(A) + g(B). So going up the lattice the sum over all classes never grows, and
neither does the sum over those with g above 0. What a node publishes gains no more than the second
sum, and no more than the first and B for each record that is suppressed, since g(C) >= -n B. So a
check of a node bounds the gain of every node above it, and a bound on the cost over a bound on the
gain is a bound on E.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.loss.objectives import CellObjective, ClassCounts, Objective
from sqlanon.recoding import Node
from sqlanon.search.lattice.ratio import ONE, Ratio

UNSURE = ONE >> 40
"""Gains that classes may add up to by rounding alone, where theirs cancel out [units of gain]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityObjective(CellObjective):
    """E(v) = cost / gain: the tree measure over what the purity of the published classes gains.

    The lower the better; infinite where something is lost and nothing gained. The parts are those
    of the cost.

    Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
    utility", section III.C, the choice of Enhanced Incognito; formulas as in `measures.utility`.

    Args:
        ratio: Cost over gain.
    """

    ratio: Ratio

    def value(self, node: Node, counts: ClassCounts) -> int:
        """Cost over gain; a lower bound where it is not known what the published classes gain."""
        assert counts.gains is not None
        cost, gains = CellObjective.value(self, node, counts), counts.gains
        if not counts.small_records:
            return self.ratio.value(cost, gains.every)
        if gains.published is None:
            return int(self.ratio.bound(cost, min(gains.most, gains.here)))
        return self.ratio.value(cost, gains.published if gains.published > UNSURE else 0)

    def loss(self, value: int) -> float:
        """E itself."""
        return self.ratio.loss(value)


def weighing(cells: Objective, highest: int) -> UtilityObjective:
    """A cell loss over gains.

    Args:
        cells: A `CellObjective`.
        highest: A gain that no node exceeds [units of gain].
    """
    assert isinstance(cells, CellObjective)
    ratio = Ratio(cells.unit * cells.records, highest)
    return UtilityObjective(cells.unit, cells.records, cells.floor, cells.scale, ratio=ratio)
