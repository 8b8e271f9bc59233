"""Closed parts: what parts of a table are published as, and the recoding that they make."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.methods.clustering.rounds import PartBatch
from sqlanon.methods.local.release import CountedParts, Origins, alike
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.recoding import Node
from sqlanon.regions import Regions
from sqlanon.search.arrays import Flags, Numbers, Small
from sqlanon.search.clustering.mondrian import PartedRows, Rule, partition


@dataclass(frozen=True, slots=True)
class ClosedParts:
    """Parts that are cut to the end.

    Args:
        unit: The combination of each row.
        part: The part of each row.
        sizes: Records of each part [records].
        leaves: `leaves[part, column]`: a leaf that it holds.
        levels: `levels[part, column]`: the level that it is published at.
        origins: Per column the records of parts that say something, by level and leaf [records].
        silent: The same of parts whose every label is that of suppressed records.
        ended: Whether the deadline came before they were cut as far as they can be.
    """

    unit: Small
    part: Small
    sizes: Numbers
    leaves: Small
    levels: Small
    origins: tuple[Origins, ...]
    silent: tuple[Origins, ...]
    ended: bool

    @classmethod
    def of(cls, subject: Subject, policy: Policy, *, batch: PartBatch, rule: Rule) -> ClosedParts:
        """Cuts the parts of a batch to the end, and closes them."""
        found = partition(batch.rows, batch.part, rule=rule)
        order = np.argsort(found.part, kind="stable")
        parted = PartedRows(batch.rows.taken(order), found.part[order], found.parts)
        leaves, levels = [], []
        for column, (dimension, low) in enumerate(zip(rule.dimensions, subject.low, strict=True)):
            first, last = parted.bounds(column)
            node = dimension.taxonomy.closure(first, last)
            leaves.append(first.astype(np.int32))
            levels.append(np.maximum(dimension.taxonomy.level[node], low).astype(np.int32))
        says_nothing = np.logical_and.reduce(
            [
                _labelled(subject, column, policy.suppressed_label)[levels[column], leaves[column]]
                for column in range(len(leaves))
            ]
        )
        said, silent = (
            tuple(
                _origins(parted, column, own, kept=kept, leaves=len(tree.leaves))
                for column, (own, tree) in enumerate(zip(levels, subject.trees, strict=True))
            )
            for kept in (~says_nothing, says_nothing)
        )
        return cls(
            batch.unit[order].astype(np.int32),
            parted.part.astype(np.int32),
            parted.sizes,
            np.stack(leaves, axis=1),
            np.stack(levels, axis=1),
            said,
            silent,
            found.ended,
        )


def _labelled(subject: Subject, column: int, label: str) -> Flags:
    """Per level and leaf of a column whether it has a label."""
    return np.array([[text == label for text in own] for own in subject.trees[column].labels], bool)


def _origins(
    parted: PartedRows, column: int, levels: Small, *, kept: Flags, leaves: int
) -> Origins:
    """The records of some parts by level and leaf of a column."""
    rows = np.flatnonzero(kept[parted.part])
    key = levels[parted.part[rows]].astype(np.int64) * leaves + parted.rows.leaves[column][rows]
    records = np.bincount(key, parted.rows.sizes[rows]).astype(np.int64)
    return {divmod(at, leaves): int(records[at]) for at in np.flatnonzero(records).tolist()}


@dataclass(frozen=True, slots=True)
class Closed:
    """The parts of a whole table.

    Args:
        nodes: The distinct levels that parts are published at.
        records: The records of each [records].
        node: The node of each combination; -1 where it is not published.
        found: The parts.
        lost: Records that are not published [records].
        is_lent: Whether they are cut from the classes of a full-domain recoding.
    """

    nodes: tuple[Node, ...]
    records: Numbers
    node: Small
    found: tuple[ClosedParts, ...]
    lost: int
    is_lent: bool = False

    @classmethod
    def of(cls, found: Sequence[ClosedParts], combinations: int, *, lost: int) -> Closed:
        """Puts parts together, of a table of so many combinations."""
        levels = np.concatenate([each.levels for each in found]).astype(np.int64)
        first, number = alike(levels)
        sizes = np.concatenate([each.sizes for each in found])
        node, begun = np.full(combinations, -1, np.int32), 0
        for each in found:
            node[each.unit] = number[begun + each.part]
            begun += len(each.sizes)
        records = np.bincount(number, sizes, len(first)).astype(np.int64)
        return cls(tuple(map(tuple, levels[first].tolist())), records, node, tuple(found), lost)

    @property
    def made(self) -> int:
        """How many parts there are."""
        return sum(len(each.sizes) for each in self.found)

    @property
    def ended(self) -> bool:
        """Whether the deadline came before all were cut as far as they can be."""
        return any(each.ended for each in self.found)

    def recoding(self, values: tuple[int, ...]) -> Regions:
        """The recoding, of columns of so many distinct values."""
        node = np.where(self.node < 0, len(self.nodes), self.node)
        starts = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
        lengths = np.diff(np.append(starts, len(node)))
        lost = self.lost > 0
        nodes: tuple[Node | None, ...] = (*self.nodes, None) if lost else self.nodes
        sizes = [*self.records.tolist(), *([self.lost] if lost else [])]
        held = array("q", lengths.tobytes()), array("q", node[starts].astype(np.int64).tobytes())
        return Regions(nodes, tuple(sizes), values, *held)

    def parts(self, records: int) -> CountedParts:
        """What is measured of them, of a table of so many records.

        Parts that say nothing count as suppressed, unless they are the whole table.
        """
        said, silent = (
            [sum((Counter(own[column]) for own in each), Counter()) for column in range(width)]
            for width, each in (
                (len(self.nodes[0]), [own.origins for own in self.found]),
                (len(self.nodes[0]), [own.silent for own in self.found]),
            )
        )
        whole = silent[0].total() == records
        leaves, levels = (
            np.concatenate([getattr(each, name) for each in self.found]).astype(np.int64)
            for name in ("leaves", "levels")
        )
        sizes = np.concatenate([each.sizes for each in self.found])
        return CountedParts(leaves, levels, sizes, silent if whole else said)
