"""Records that are alike: they are in the same closures, so they share one price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.search.packing import packed, united


@dataclass(frozen=True, slots=True)
class AlikeRecords:
    """The distinct rows of a table.

    Args:
        leaves: Their leaf numbers, shape `(rows, columns)`.
        counts: Records of each.
        row: Per record its row.
    """

    leaves: Numbers
    counts: Numbers
    row: Numbers

    @classmethod
    def of(cls, problem: ClusteringProblem) -> AlikeRecords:
        """The rows in lexicographic order."""
        widths = [taxonomy.leaves for taxonomy in problem.taxonomies]
        key = united(packed(problem.leaves, widths))
        _, first, row, counts = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(problem.leaves[first], counts, row.ravel())

    def __len__(self) -> int:
        return len(self.counts)
