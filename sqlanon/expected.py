"""What publishing a node of the lattice loses, by every measure that applies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.binding import Subject
from sqlanon.encoding import Encoded, node_counts
from sqlanon.engine.base import Engine
from sqlanon.loss import CELL_LOSSES, distinct
from sqlanon.query import frequency
from sqlanon.recoding import Node
from sqlanon.report import ClassStatistics, key


@dataclass(frozen=True, slots=True)
class NodeClasses:
    """The equivalence classes of a node.

    Args:
        subject: The table.
        node: One level per quasi-identifier.
        k: Smallest class size allowed [records].
        statistics: Classes by size, small ones included.
        published: `published[column][node of its level]`: records that publish a generalized
            value [records].
    """

    subject: Subject
    node: Node
    k: int
    statistics: ClassStatistics
    published: tuple[tuple[int, ...], ...]

    @property
    def suppressed(self) -> int:
        """Records in small classes."""
        return self.statistics.below(self.k)

    def measures(self) -> dict[str, float]:
        """Every measure of the node by its name."""
        subject, kept = self.subject, self.statistics.at_least(self.k)
        result = {key(name): float(self.cell_loss(name, subject.weights)) for name in CELL_LOSSES}
        result["suppressed_cells"] *= len(self.node) * subject.records
        squares = sum(size * size * count for size, count in kept.histogram.items())
        result["discernibility"] = float(squares + self.suppressed * subject.records)
        result["average_class_size"] = (
            subject.records / (kept.classes * self.k) if kept.classes else float("inf")
        )
        return result

    def suppressed_cells(self) -> int:
        """Cells that say nothing any more, those of suppressed records included; unweighted."""
        average = self.cell_loss("suppressed-cells", [1.0] * len(self.node))
        return int(average * len(self.node) * self.subject.records)

    def cell_loss(self, name: str, weights: Sequence[float]) -> Fraction:
        """A cell loss as the weighted average over all cells of the original table.

        A cell of a suppressed record loses 1.
        """
        exact = [Fraction(str(weight)) for weight in weights]
        total = Fraction(self.suppressed)
        for number, tree in enumerate(self.subject.trees):
            costs = CELL_LOSSES[name](tree, self.node[number])
            counts = dict.fromkeys(map(id, costs), 0)
            for cost, count in zip(costs, self.published[number], strict=True):
                counts[id(cost)] += count
            cells = sum(cost * counts[i] for i, cost in distinct(costs).items())
            total += exact[number] / sum(exact) * cells
        return total / self.subject.records


def node_classes(
    engine: Engine, subject: Subject, encoded: Encoded, node: Node, k: int
) -> NodeClasses:
    """Counts the classes of a node and who publishes which generalized value."""
    masks = encoded.layout.node_masks(node)
    rows = engine.rows(frequency.class_sizes(encoded.table, masks))
    statistics = ClassStatistics.of(rows)
    published = [
        node_counts(tree, level, counts)
        for tree, level, counts in zip(subject.trees, node, encoded.counts, strict=True)
    ]
    if statistics.below(k):
        for number, place, records in _small_counts(engine, subject, encoded, node, k):
            published[number][place] -= records
    return NodeClasses(subject, node, k, statistics, tuple(map(tuple, published)))


def _small_counts(
    engine: Engine, subject: Subject, encoded: Encoded, node: Node, k: int
) -> list[tuple[int, int, int]]:
    """Column number, node of its level and records, over the records in small classes."""
    layout = encoded.layout
    columns = [layout.column_masks(number, level) for number, level in enumerate(node)]
    places = []
    for number, (tree, masks) in enumerate(zip(subject.trees, columns, strict=True)):
        words = zip(*layout.leaf_codes(number, tree), strict=True)
        codes = [tuple(w & m for w, m in zip(code, masks, strict=True)) for code in words]
        places.append(dict(zip(codes, tree.nodes[node[number]], strict=True)))
    query = frequency.small_marginals(encoded.table, layout.node_masks(node), k, columns)
    return [
        (number, places[number][tuple(code)], records)
        for number, *code, records in engine.rows(query)
    ]
