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

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.loss.objectives import CellObjective, ClassCounts, Gains, Objective
from sqlanon.methods.fulldomain.frequency_sets import Batch, FrequencySets, Prepared
from sqlanon.microdata.encoding import Encoded
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import release
from sqlanon.query.classes import gains, violations
from sqlanon.query.classes.frequency import Masks, with_nodes
from sqlanon.query.classes.gains import Valued
from sqlanon.query.encode import word_names
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import UNITS_PER_GAIN, Ratio
from sqlanon.sqltext import Sql

UNSURE = UNITS_PER_GAIN >> 40
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


@dataclass(slots=True)
class GainCounter:
    """Counts what the classes of nodes gain, as the mean over the sensitive attributes.

    Args:
        engine: Where the codes are.
        encoded: The codes, with details of every sensitive attribute.
        k: Smallest class size allowed [records, or persons].
        only_k: Whether all classes of k records are published.
        attributes: The sensitive attributes that any record has a value of.
        highest: What no node can exceed [units of gain].
        relief: What suppression takes away from it at most [units of gain].
    """

    engine: Engine
    encoded: Encoded
    k: int
    only_k: bool
    attributes: Sequence[Valued]
    highest: int
    relief: int
    _prepared: Prepared = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, encoded: Encoded, *, policy: Policy, allowance: int) -> GainCounter:
        """The gains of an encoded table of which so many records may be suppressed."""
        assert encoded.details is not None
        table, counted = encoded.details.table, {}
        numbers = {attribute.number for attribute in encoded.details.attributes}
        for number in sorted(numbers):
            rows = release.coded_values(table, violations.value_of(number))
            rows = release.without_null(rows)
            counted[number] = engine.rows(release.value_squares(rows))[0]
        part = Fraction(UNITS_PER_GAIN, len(numbers))
        attributes, highest, relief = [], Fraction(0), Fraction(0)
        for number, (records, squares) in counted.items():
            if records:
                attributes.append(Valued(number, records, squares, float(part)))
                baseline = Fraction(squares, records**2)
                highest += part * (1 - baseline)
                relief += part * baseline * Fraction(min(allowance, records), records)
        # Rounding adds less than `UNSURE` to what no class at all exceeds.
        most = math.ceil(highest) + UNSURE if highest else 0
        only_k = not policy.beyond_k
        return cls(engine, encoded, policy.k, only_k, attributes, most, math.ceil(relief))

    def count(self, sets: FrequencySets, batch: Batch) -> list[Gains]:
        """The gains of nodes, in the order given, from one of the sets."""
        if not self.attributes:
            return [Gains(0, 0, 0, 0)] * len(batch.nodes)
        details, words = batch.source.details, self.encoded.layout.words
        assert details is not None

        def query(masks: Sequence[Masks] | None) -> Sql:
            sums = gains.of_nodes(details, words, attributes=self.attributes, k=self.k, masks=masks)
            return with_nodes(sums, words, nodes=masks is None)

        unpriced = replace(batch, source=replace(batch.source, prices=None))
        rows = sets.rows(unpriced, self._prepared, query)
        results = {number: self._gains(*sums) for number, *sums in rows}
        return [results[number] for number in range(len(batch.nodes))]

    def settled(self, known: Gains, batch: Batch, *, suppressed: exp.Table) -> Gains:
        """A node's gains with that of its published classes.

        Args:
            known: What the node's classes gain.
            batch: The node, by its own set.
            suppressed: The words of its suppressed classes.
        """
        words, details = self.encoded.layout.words, batch.source.details
        assert details is not None
        left = self.engine.materialize(
            "gains", violations.without(details, suppressed, keys=word_names(words))
        )
        rows = [
            self.engine.rows(gains.of_classes(left, words, attribute=attribute))[0]
            for attribute in self.attributes
        ]
        return replace(known, published=sum(every for every, *_ in rows))

    def _gains(self, every: int, positive: int, large: int, positive_large: int) -> Gains:
        most = min(positive, max(every, 0) + self.relief + UNSURE)
        return Gains(every, most, positive_large, large if self.only_k else None)
