"""Instances of patterns, counted in the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.microdata.distinct import COUNT, DistinctCombinations
from sqlanon.query.classes import instances
from sqlanon.query.publish.clusters import UNIT
from sqlanon.search.arrays import Flags, Numbers

GROUPINGS = 4
"""Groupings of one query that run side by side."""
DIVIDED = 8
"""Fewest patterns that are divided among them: of fewer, one grouping takes less time."""


@dataclass(slots=True)
class InstanceQueries:
    """Counts instances of k records, or persons, among combinations that the database holds.

    Args:
        masks: `masks[pattern, word]`: the bits that each pattern keeps.
    """

    engine: Engine
    combinations: DistinctCombinations
    masks: Numbers
    k: int
    _rows: exp.Table | None = None
    _ask: dict[int, Callable[[Sequence[object]], list[tuple[int, ...]]]] = field(
        default_factory=dict
    )

    def among(self, rows: Numbers) -> None:
        """Counts among these combinations from now on."""
        bits = np.full(len(self.combinations.sizes), ord("0"), np.uint8)
        bits[rows] = ord("1")
        words = self.masks.shape[1]
        if self._rows is not None:
            self.engine.drop(self._rows)
            self._ask.clear()
        coded = self.combinations.coded
        if self.combinations.persons is None:
            query = instances.among(coded, words, unit=UNIT, records=COUNT, k=self.k)
        else:
            query = instances.persons_among(coded, words, unit=UNIT)
        self._rows = self.engine.materialize("rows", query, parameters=[bits.tobytes().decode()])

    def frequent(self, patterns: Numbers) -> Flags:
        """Which of the patterns have an instance of k records, or persons."""
        assert self._rows is not None
        parts = GROUPINGS if len(patterns) >= DIVIDED else 1
        if parts not in self._ask:
            of_persons = self.combinations.persons is not None
            counted = instances.frequent_persons if of_persons else instances.frequent
            query = counted(self._rows, self.masks.shape[1], k=self.k, parts=parts)
            self._ask[parts] = self.engine.prepare(query)
        masks = self.masks[patterns].T.tolist()
        rows = self._ask[parts]([list(range(len(patterns))), *masks])
        found = np.zeros(len(patterns), bool)
        found[[number for (number,) in rows]] = True
        return found
