"""Release: a table that somebody published, read with the hierarchies of its original."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from sqlanon.assessment.labels import Labels, read_labels
from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import SourceError
from sqlanon.hierarchy.label_nodes import refuse_two_meanings
from sqlanon.hierarchy.layout import Words
from sqlanon.hierarchy.tree import Place
from sqlanon.loss.release import Column, Spread
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import Encoded
from sqlanon.query import encode
from sqlanon.query.assess import release
from sqlanon.query.syntax import TEXT
from sqlanon.wording import counted

Origins = list[tuple[int, Place, float]]


class _Joined(NamedTuple):
    """Tables of places: the original's combinations, the records of both at each place."""

    rows: exp.Table
    original: exp.Table
    released: exp.Table


@dataclass(frozen=True, slots=True)
class ReleasedClasses:
    """The classes of a published table, before its labels are read.

    Args:
        table: The published table.
        classes: Its classes, as a table.
        statistics: Those that are not suppressed, by size.
        suppressed: The label of suppressed values.
        label: The same; None where no class counts as suppressed.
    """

    table: exp.Table
    classes: exp.Table
    statistics: ClassStatistics
    suppressed: str
    label: str | None


@dataclass(frozen=True, slots=True)
class Published:
    """A published table whose labels were read, and its original.

    Args:
        engine: Where both are.
        subject: The original.
        encoded: The codes of the original.
        released: Its classes.
        labels: Per column the nodes that its labels stand for.
        codes: Per column the code of each leaf.
        read: The node that each label stands for, by its first leaf, and its leaves, as a table.
    """

    engine: Engine
    subject: Subject
    encoded: Encoded
    released: ReleasedClasses
    labels: tuple[Labels, ...]
    codes: tuple[list[Words], ...]
    read: exp.Table

    def columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers as they are published."""
        parts = zip(
            self.subject.trees,
            self.subject.weights,
            self.encoded.counts,
            self.labels,
            self._origins(),
            strict=True,
        )
        return tuple(
            Column(tree, weight, counts, labels.records, labels.classes, origins)
            for tree, weight, counts, labels, origins in parts
        )

    def ambiguities(self) -> dict[float, int]:
        """Published records per product of their nodes' leaves."""
        sizes = [{labels.nodes.run(place)[1] for place in labels.records} for labels in self.labels]
        constant = math.prod(float(min(node_sizes)) for node_sizes in sizes if len(node_sizes) == 1)
        varying = [number for number, node_sizes in enumerate(sizes) if len(node_sizes) > 1]
        if not varying:
            return (
                {constant: self.released.statistics.records}
                if self.released.statistics.records
                else {}
            )
        sized = dict.fromkeys(varying)
        rows = self.engine.rows(release.products(self.released.classes, self.read, columns=sized))
        return {constant * product: records for product, records in rows}

    def spread(self, name: str, *, nulls: bool) -> Spread:
        """Spread of a sensitive attribute over the classes; NULL counts where it is a value."""
        return class_spread(
            self.engine,
            self.subject.table,
            table=self.released.table,
            by=self.subject.names,
            name=name,
            nulls=nulls,
            suppressed=self.released.label,
        )

    def majority(self, name: str) -> int:
        """Records that hold the most frequent value of a column within their class."""
        values = release.class_values(
            self.released.table, self.subject.names, sensitive=name, suppressed=self.released.label
        )
        query = release.majority(values, release.labels(len(self.subject.names)))
        count: int = self.engine.rows(query)[0][0]
        return count

    def _origins(self) -> Sequence[Origins | None]:
        """Per column the published records of each leaf, where the release tells them.

        Where nested nodes are published in a column, a value can have become either. Where they are
        not and records are suppressed, the classes tell how many of each value.
        """
        column_origins = [
            _whole(labels, c) for labels, c in zip(self.labels, self.encoded.counts, strict=True)
        ]
        if not self.released.statistics.records:
            return column_origins
        suppresses = self.released.statistics.records < self.subject.records
        if any(origins is None for origins in column_origins):
            return [None] * len(column_origins) if suppresses else column_origins
        joined = self._joined()
        return self._linked(joined) if suppresses else column_origins

    def _joined(self) -> _Joined:
        """The records of the original and of the release by their places.

        Raises:
            SourceError: Classes that are larger than in the original.
        """
        layout, masks = self.encoded.layout, self._masks()
        rows = self.engine.materialize(
            "mapped", release.mapped(self.encoded.table, self._targets(), columns=masks)
        )
        sizes = self.engine.materialize("held", release.place_sizes(rows, words=layout.words))
        there = self.engine.materialize(
            "released", release.released_places(self.released.classes, self.read, columns=masks)
        )
        surplus = self.engine.rows(release.surplus(there, sizes, words=layout.words))[0][0]
        if surplus:
            raise SourceError(
                f"{counted(surplus, 'class', more='classes')} of the released table "
                f"{'holds' if surplus == 1 else 'hold'} more records than the original has there: "
                "it is not a release of this original"
            )
        return _Joined(rows, sizes, there)

    def _linked(self, joined: _Joined) -> list[Origins]:
        """Per column the published records of each leaf, by class.

        A published class holds the original's records of its labels.
        """
        words = self.encoded.layout.words
        query = release.published_parts(
            joined.rows, joined.released, original=joined.original, words=words
        )
        parts = self.engine.materialize("parts", query)
        linked: list[Origins] = [[] for _ in self.labels]
        targets = [labels.targets() for labels in self.labels]
        leaves = [{code: leaf for leaf, code in enumerate(codes)} for codes in self.codes]
        for number, whole, part, *code in self.engine.rows(
            release.origins(parts, columns=self._masks())
        ):
            leaf = leaves[number][tuple(code)]
            linked[number].append((leaf, targets[number][leaf], whole + part))
        return linked

    def _masks(self) -> list[Words]:
        return [self.encoded.layout.column_masks(number, 0) for number in range(len(self.labels))]

    def _targets(self) -> exp.Table:
        """Which node each leaf became, as a table; a leaf that is not published is left out."""
        words = self.encoded.layout.words
        names = (encode.ATTRIBUTE, *encode.word_names(words), *_place_words(words))
        rows: list[tuple[object, ...]] = []
        for number, (labels, codes) in enumerate(zip(self.labels, self.codes, strict=True)):
            rows += [
                (number, *codes[leaf], *codes[labels.nodes.run(place)[0]])
                for leaf, place in labels.targets().items()
            ]
        return self.engine.load_rows("targets", by_column(names, rows))


def _place_words(words: int) -> list[str]:
    return [release.place(w) for w in range(words)]


def _read(engine: Engine, columns: Sequence[Labels], codes: Sequence[list[Words]]) -> exp.Table:
    """The node that each label stands for, by its first leaf, and its leaves, as a table."""
    names = (encode.ATTRIBUTE, release.LABEL, release.LEAVES, *_place_words(len(codes[0][0])))
    rows: list[tuple[object, ...]] = []
    for number, (labels, leaf_codes) in enumerate(zip(columns, codes, strict=True)):
        runs = {label: labels.nodes.run(place) for label, place in labels.places.items()}
        rows += [(number, label, n, *leaf_codes[first]) for label, (first, n) in runs.items()]
    return engine.load_rows("read", by_column(names, rows), {release.LABEL: TEXT})


def _whole(labels: Labels, counts: Sequence[int]) -> Origins | None:
    """The records of each leaf where none is suppressed; None where nodes are nested."""
    if not labels.nodes.disjoint(labels.records):
        return None
    targets = labels.targets()
    return [(leaf, place, counts[leaf]) for leaf, place in targets.items() if counts[leaf]]


def released_classes(
    engine: Engine, subject: Subject, *, table: exp.Table, suppressed: str
) -> ReleasedClasses:
    """Counts the classes of a published table.

    Raises:
        SourceError: It has more records than the original.
        PolicyError: The label of suppressed values is that of a value or node, too.
    """
    query = release.table_classes(table, subject.names, suppressed=suppressed)
    classes = engine.materialize("classes", query)
    kept, lost = _statistics(engine, classes)
    published = kept.records + lost
    if published > subject.records:
        raise SourceError(
            f"the released table has {counted(published, 'record')} and the original "
            f"{subject.records:,}: it is not a release of this original"
        )
    label: str | None = suppressed
    tops = {label for tree in subject.trees for label in tree.labels[-1]}
    if lost == subject.records and tops == {suppressed}:
        # Nothing tells it from a table generalized to the top, which suppresses nothing.
        label = None
        query = release.table_classes(table, subject.names, suppressed=None)
        classes = engine.materialize("classes", query)
        kept, lost = _statistics(engine, classes)
    if lost:
        refuse_two_meanings(subject.trees, suppressed)
    return ReleasedClasses(table, classes, kept, suppressed, label)


def read_published(
    engine: Engine, subject: Subject, *, encoded: Encoded, released: ReleasedClasses
) -> Published:
    """Reads the labels of a published table, that of suppressed values among them.

    Raises:
        SourceError: The table has labels that no node or several nodes have.
    """
    labels = read_labels(
        engine,
        subject,
        counts=encoded.counts,
        classes=released.classes,
        suppressed=released.suppressed,
    )
    layout = encoded.layout
    codes = tuple(layout.leaf_codes(number, tree) for number, tree in enumerate(subject.trees))
    read = _read(engine, labels, codes)
    return Published(engine, subject, encoded, released, labels, codes, read)


def _statistics(engine: Engine, classes: exp.Table) -> tuple[ClassStatistics, int]:
    """The classes that are published, by size, and the records that are not."""
    rows = engine.rows(release.class_histogram(classes))
    kept = ClassStatistics.of((size, number) for size, small, number in rows if not small)
    return kept, sum(size * number for size, small, number in rows if small)


def class_spread(
    engine: Engine,
    original: exp.Table,
    *,
    table: exp.Table,
    by: Sequence[str],
    name: str,
    nulls: bool,
    suppressed: str | None,
) -> Spread:
    """Spread of a sensitive attribute's values over the classes of a published table.

    Args:
        engine: Where both tables are.
        original: The original.
        table: The published table.
        by: The quasi-identifiers.
        name: The attribute's column, in both tables.
        nulls: Whether NULL is a value; else its records do not count.
        suppressed: The label of suppressed records; None where no class counts as suppressed.
    """
    every = release.class_values(original, [], sensitive=name, suppressed=None)
    kept = release.class_values(table, by, sensitive=name, suppressed=suppressed)
    if not nulls:
        every, kept = release.without_null(every), release.without_null(kept)
    [(records, squares)] = engine.rows(release.value_squares(every))
    return Spread(engine.rows(release.spread(kept, release.labels(len(by)))), records, squares)
