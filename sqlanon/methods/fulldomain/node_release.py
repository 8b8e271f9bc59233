"""Release of a lattice node: the classes, cells and sensitive values that it publishes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.hierarchy.layout import Words
from sqlanon.hierarchy.tree import Place
from sqlanon.loss.cells import VALUE_MEASURES
from sqlanon.loss.release import Column, Release, Spread
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import Encoded, coded
from sqlanon.policy.policy import Policy
from sqlanon.query import encode
from sqlanon.query.assess import release
from sqlanon.query.classes.violations import value_of
from sqlanon.query.encode import VALUE, Carried, word_names
from sqlanon.recoding import Node
from sqlanon.sqltext import Sql


def node_release(
    engine: Engine,
    subject: Subject,
    *,
    encoded: Encoded,
    policy: Policy,
    node: Node,
    suppressed: exp.Table | None = None,
    loss: str | None = None,
) -> Release:
    """Equivalence classes of a lattice node, its published cells and its sensitive values.

    Args:
        engine: Where the table lives.
        subject: The table.
        encoded: Its codes.
        policy: Its policy.
        node: One level per quasi-identifier.
        suppressed: The words of its suppressed classes; None where those smaller than k are.
        loss: What a search minimizes, where nothing else will be asked of the release: what only
            other measures need is left out of it.
    """
    masks = encoded.layout.node_masks(node)
    query = release.node_classes(encoded.table, masks, k=policy.k, suppressed=suppressed)
    classes = engine.materialize("classes", query)
    counted = _Counted(engine, subject, encoded, node, classes)
    kept = counted.published()
    return Release(
        subject.records,
        policy.k,
        kept,
        counted.columns(kept),
        counted.ambiguities(kept) if loss is None else {},
        counted.spreads(policy) if loss is None or loss in VALUE_MEASURES else (),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """A node whose classes are in a table.

    Args:
        engine: Where they are.
        subject: The table.
        encoded: Its codes.
        node: One level per quasi-identifier.
        classes: The classes of the node.
    """

    engine: Engine
    subject: Subject
    encoded: Encoded
    node: Node
    classes: exp.Table

    def published(self) -> ClassStatistics:
        """The classes that are not suppressed, by size."""
        rows = self.engine.rows(release.class_histogram(self.classes))
        return ClassStatistics.of((size, number) for size, small, number in rows if not small)

    def columns(self, kept: ClassStatistics) -> tuple[Column, ...]:
        """The quasi-identifiers as they are published."""
        parts = zip(
            self.subject.trees,
            self.subject.weights,
            self.encoded.counts,
            self._cells(),
            self._origins(kept),
            strict=True,
        )
        return tuple(
            Column(
                tree,
                weight,
                counts,
                {place: records for place, (records, _) in cells.items()},
                {place: classes for place, (_, classes) in cells.items()},
                origins,
            )
            for tree, weight, counts, cells, origins in parts
        )

    def _cells(self) -> list[dict[Place, tuple[int, int]]]:
        """Per column the published nodes with their records and classes."""
        layout = self.encoded.layout
        masks = [layout.column_masks(number, level) for number, level in enumerate(self.node)]
        places = list(map(self._places, range(len(self.node))))
        cells: list[dict[Place, tuple[int, int]]] = [{} for _ in self.node]
        for number, *words, records, classes in self.engine.rows(
            release.column_counts(self.classes, masks)
        ):
            place = self.node[number], places[number][tuple(words)]
            cells[number][place] = records, classes
        return cells

    def _places(self, number: int) -> dict[Words, int]:
        """A column's nodes at its level by their masked words."""
        return self.encoded.layout.node_codes(
            number, self.subject.trees[number], level=self.node[number]
        )

    def _origins(self, kept: ClassStatistics) -> list[list[tuple[int, Place, float]]]:
        """Per column the published records of each leaf; nothing where values stay as they are."""
        generalized = [number for number, level in enumerate(self.node) if level]
        counts = {number: list(self.encoded.counts[number]) for number in generalized}
        if kept.records < self.subject.records and generalized:
            for number, leaf, records in self._lost(generalized):
                counts[number][leaf] -= records
        return [
            [
                (leaf, (level, place), records)
                for leaf, (place, records) in enumerate(
                    zip(tree.nodes[level], counts.get(number, ()), strict=False)
                )
                if records
            ]
            for number, (tree, level) in enumerate(zip(self.subject.trees, self.node, strict=True))
        ]

    def _lost(self, columns: Sequence[int]) -> list[tuple[int, int, int]]:
        """Column number, leaf and records, over the suppressed records."""
        layout = self.encoded.layout
        masks = [layout.column_masks(number, 0) for number in columns]
        leaves = [
            layout.node_codes(number, self.subject.trees[number], level=0) for number in columns
        ]
        query = release.column_counts(
            self.encoded.table, masks, masks=layout.node_masks(self.node), classes=self.classes
        )
        return [
            (columns[position], leaves[position][tuple(code)], records)
            for position, *code, records, _ in self.engine.rows(query)
        ]

    def ambiguities(self, kept: ClassStatistics) -> dict[float, int]:
        """Published records per product of their nodes' leaves."""
        sizes = [t.sizes(n) for t, n in zip(self.subject.trees, self.node, strict=True)]
        constant = math.prod(float(column[0]) for column in sizes if len(set(column)) == 1)
        varying = [number for number, column in enumerate(sizes) if len(set(column)) > 1]
        if not varying or not kept.classes:
            return {constant: kept.records}
        columns: dict[str, list[int]] = {encode.ATTRIBUTE: [], release.LEAVES: []}
        words = word_names(self.encoded.layout.words)
        columns |= {name: [] for name in words}
        for number in varying:
            for code, place in self._places(number).items():
                columns[encode.ATTRIBUTE].append(number)
                columns[release.LEAVES].append(sizes[number][place])
                for name, bits in zip(words, code, strict=True):
                    columns[name].append(bits)
        table = self.engine.load_rows("sizes", columns)
        layout = self.encoded.layout
        sized = {number: layout.column_masks(number, self.node[number]) for number in varying}
        rows = self.engine.rows(release.products(self.classes, table, columns=sized))
        return {constant * product: records for product, records in rows}

    def spreads(self, policy: Policy) -> list[Spread]:
        """The spread of each sensitive attribute over the published classes."""
        masks = self.encoded.layout.node_masks(self.node)
        keys = word_names(len(masks))
        spreads = []
        for source, name, nulls in self._valued(policy):
            every = release.coded_values(source, name)
            kept = release.kept_values(source, masks, classes=self.classes, column=name)
            if not nulls:
                every, kept = release.without_null(every), release.without_null(kept)
            [(records, squares)] = self.engine.rows(release.value_squares(every))
            rows = self.engine.rows(release.spread(kept, keys))
            spreads.append(Spread(rows, records, squares))
        return spreads

    def _valued(self, policy: Policy) -> Iterator[tuple[exp.Table, str, bool]]:
        """Per sensitive attribute a coded table, the column of its values, and if NULL counts.

        The details of the encoded table hold those that models or the loss look at, as ranks,
        those of the models first.
        """
        attributes, details = policy.sensitive_attributes, self.encoded.details
        values = self.encoded.values
        demanded = {demand.column for demand in policy.demands}
        order = sorted(attributes, key=lambda name: name not in demanded)
        count = len({codes.number for codes in details.attributes}) if details else 0
        for number, (name, attribute) in enumerate(attributes.items()):
            nulls = attribute.nulls == "value"
            if values is not None:
                yield values, value_of(number), nulls
            elif name in order[count:]:
                yield self.engine.materialize("valued", self._coded(name)), VALUE, nulls
            elif details is not None:
                yield details.table, value_of(order.index(name)), nulls

    def _coded(self, name: str) -> Sql:
        """The codes of the node's classes, of the columns it keeps, with another column's values.

        The column is named VALUE.
        """
        parts = zip(self.subject.names, self.subject.trees, self.node, strict=True)
        masks = self.encoded.layout.node_masks(self.node)
        maps = {
            column: self.encoded.maps[column].at(masks)
            for column, tree, level in parts
            if level < tree.height
        }
        coding = self.encoded.layout, maps
        carried = {VALUE: Carried(name)}
        return coded(
            self.engine, self.subject, source=self.subject.table, coding=coding, carried=carried
        )
