"""Space: the hierarchies that parts are cut along, and the children of any of their nodes in order.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Dimension:
    """One column: its hierarchy, with the nodes of each level numbered from left to right.

    Args:
        taxonomy: Its nodes and what a cell at each costs [units].
        place: `place[level, leaf]`: the place of the leaf's node among those of the level.
        nodes: Per level the nodes by place.
    """

    taxonomy: Taxonomy
    place: Numbers
    nodes: tuple[Numbers, ...]

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Dimension:
        """Numbers the nodes of every level."""
        changes = np.diff(taxonomy.ancestors, axis=1, prepend=taxonomy.ancestors[:, :1]) != 0
        place = np.cumsum(changes, axis=1)
        firsts = [np.unique(row, return_index=True)[1] for row in place]
        rows = zip(taxonomy.ancestors, firsts, strict=True)
        return cls(taxonomy, place, tuple(row[first] for row, first in rows))

    def child_nodes(self, level: Numbers, place: Numbers) -> Numbers:
        """The nodes at levels and places, element by element."""
        flat = np.concatenate(self.nodes)
        starts = np.append(0, np.cumsum([len(own) for own in self.nodes]))
        found: Numbers = flat[starts[level] + place]
        return found
