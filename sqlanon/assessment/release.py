"""Release: a table that somebody published, read with the hierarchies of its original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assessment.purity import SensitiveColumn, class_spread, label_keys
from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import SourceError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.label_nodes import Label, LabelMatch, Nodes, read, refuse_two_meanings
from sqlanon.hierarchy.tree import Place
from sqlanon.loss.release import Column, Spread
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import Encoded
from sqlanon.query.assess import measure, release
from sqlanon.query.encoding import encode
from sqlanon.query.syntax import nested
from sqlanon.query.text import TEXT
from sqlanon.wording import counted

Origins = list[tuple[int, Place, float]]


@dataclass(frozen=True, slots=True)
class Labels:
    """Hierarchy nodes that the labels of a published column stand for.

    Args:
        nodes: All nodes of its hierarchy.
        places: The node of each label.
        records: Published records per node [records].
        classes: Published classes per node.
    """

    nodes: Nodes
    places: Mapping[Label, Place]
    records: Mapping[Place, int]
    classes: Mapping[Place, int]

    def targets(self) -> dict[int, Place]:
        """The node that each leaf became."""
        runs = {place: self.nodes.run(place) for place in self.records}
        return {leaf: at for at, (first, n) in runs.items() for leaf in range(first, first + n)}


@dataclass(frozen=True, slots=True)
class Published:
    """A published table, its classes in another table, and its original.

    Args:
        subject: The original.
        encoded: The codes of the original.
        statistics: Its classes by size, that of suppressed records left out.
        suppressed: The label of suppressed records; None where no class counts as suppressed.
        labels: Per column the nodes that its labels stand for.
    """

    engine: Engine
    subject: Subject
    encoded: Encoded
    table: exp.Table
    classes: exp.Table
    statistics: ClassStatistics
    suppressed: str | None
    labels: tuple[Labels, ...]

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
        constant = math.prod(float(min(each)) for each in sizes if len(each) == 1)
        varying = [number for number, each in enumerate(sizes) if len(each) > 1]
        if not varying:
            return {constant: self.statistics.records} if self.statistics.records else {}
        sized = [measure.Sized.by_label(number) for number in varying]
        rows = self.engine.rows(measure.products(self.classes, self._read(), columns=sized))
        return {constant * product: records for product, records in rows}

    def spread(self, name: str, *, nulls: bool) -> Spread:
        """Spread of a sensitive attribute over the classes; NULL counts where it is a value."""
        sensitive = SensitiveColumn(self.subject.names, name, nulls)
        return class_spread(
            self.engine,
            self.subject.table,
            table=self.table,
            sensitive=sensitive,
            suppressed=self.suppressed,
        )

    def majority(self, name: str) -> int:
        """Records that hold the most frequent value of a column within their class."""
        values = release.class_values(
            self.table, self.subject.names, name=name, suppressed=self.suppressed
        )
        query = measure.majority(nested(values, "rows"), label_keys(self.subject.names))
        count: int = self.engine.rows(query)[0][0]
        return count

    def _read(self) -> exp.Table:
        """The node that each label stands for, by its first leaf, and its leaves, as a table."""
        names = (encode.ATTRIBUTE, measure.LABEL, measure.LEAVES, *self._place_words())
        rows: list[tuple[object, ...]] = []
        for number, labels in enumerate(self.labels):
            codes = self.encoded.layout.leaf_codes(number, self.subject.trees[number])
            runs = {label: labels.nodes.run(place) for label, place in labels.places.items()}
            rows += [(number, label, n, *codes[first]) for label, (first, n) in runs.items()]
        return self.engine.load_rows("read", by_column(names, rows), {measure.LABEL: TEXT})

    def _origins(self) -> Sequence[Origins | None]:
        """Per column the published records of each leaf, where the release tells them.

        Where nested nodes are published in a column, a value can have become either. Where they are
        not and records are suppressed, the classes tell how many of each value.
        """
        told = [
            _whole(labels, c) for labels, c in zip(self.labels, self.encoded.counts, strict=True)
        ]
        if self.statistics.records == self.subject.records or not self.statistics.records:
            return told
        if any(origins is None for origins in told):
            return [None] * len(told)
        return self._linked()

    def _linked(self) -> list[Origins]:
        """Per column the published records of each leaf, by class, where records are suppressed.

        A published class holds the original's records of its labels.

        Raises:
            SourceError: Classes that are larger than in the original.
        """
        layout, read = self.encoded.layout, self._read()
        masks = [layout.column_masks(number, 0) for number in range(len(self.labels))]
        rows = self.engine.materialize(
            "mapped", release.mapped(self.encoded.table, self._targets(), columns=masks)
        )
        held = self.engine.materialize("held", release.place_sizes(rows, words=layout.words))
        there = self.engine.materialize(
            "released", release.released_places(self.classes, read, columns=masks)
        )
        surplus = self.engine.rows(release.surplus(there, held, words=layout.words))[0][0]
        if surplus:
            raise SourceError(
                f"{counted(surplus, 'class', more='classes')} of the released table "
                f"{'holds' if surplus == 1 else 'hold'} more records than the original has there: "
                "it is not a release of this original"
            )
        parts = self.engine.materialize(
            "parts", release.published_parts(rows, there, held=held, words=layout.words)
        )
        linked: list[Origins] = [[] for _ in self.labels]
        targets = [labels.targets() for labels in self.labels]
        leaves = [
            {code: leaf for leaf, code in enumerate(layout.leaf_codes(number, tree))}
            for number, tree in enumerate(self.subject.trees)
        ]
        for number, whole, part, *code in self.engine.rows(release.origins(parts, columns=masks)):
            leaf = leaves[number][tuple(code)]
            linked[number].append((leaf, targets[number][leaf], whole + part))
        return linked

    def _targets(self) -> exp.Table:
        """Which node each leaf became, as a table; a leaf that is not published is left out."""
        layout, trees = self.encoded.layout, self.subject.trees
        names = (encode.ATTRIBUTE, *map(encode.word, range(layout.words)), *self._place_words())
        rows: list[tuple[object, ...]] = []
        for number, labels in enumerate(self.labels):
            codes = layout.leaf_codes(number, trees[number])
            rows += [
                (number, *codes[leaf], *codes[labels.nodes.run(place)[0]])
                for leaf, place in labels.targets().items()
            ]
        return self.engine.load_rows("targets", by_column(names, rows))

    def _place_words(self) -> list[str]:
        return [release.place(w) for w in range(self.encoded.layout.words)]


def _whole(labels: Labels, counts: Sequence[int]) -> Origins | None:
    """The records of each leaf where none is suppressed; None where nodes are nested."""
    if not labels.nodes.disjoint(labels.records):
        return None
    targets = labels.targets()
    return [(leaf, place, counts[leaf]) for leaf, place in targets.items() if counts[leaf]]


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
    if lost == subject.records:
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
    classes, kept, label = released.classes, released.statistics, released.label
    suppressed = released.suppressed
    labels = _labels(engine, subject, encoded=encoded, classes=classes, suppressed=suppressed)
    return Published(engine, subject, encoded, released.table, classes, kept, label, labels)


def _statistics(engine: Engine, classes: exp.Table) -> tuple[ClassStatistics, int]:
    """The classes that are published, by size, and the records that are not."""
    rows = engine.rows(measure.class_histogram(classes))
    kept = ClassStatistics.of((size, number) for size, small, number in rows if not small)
    return kept, sum(size * number for size, small, number in rows if small)


def _labels(
    engine: Engine, subject: Subject, *, encoded: Encoded, classes: exp.Table, suppressed: str
) -> tuple[Labels, ...]:
    """Reads the labels of every column; all faults at once."""
    nodes, places = _load_nodes(engine, subject, suppressed=suppressed)
    found, faults = [], []
    for number, name in enumerate(subject.names):
        query = release.held_labels(classes, number)
        held, labels = engine.materialize_counted("held", query)
        kind = subject.columns[name]
        matches = [
            LabelMatch(label, places[number][place], records, n)
            for label, place, records, n in engine.rows(
                release.readings(held, nodes, number=number, kind=kind)
            )
        ]
        tree = Nodes(subject.trees[number], encoded.counts[number])
        reading = read(tree, matches)
        known = {match.label: match.records for match in matches}
        if labels > len(known):
            faults.append(_unknown(engine, held, name=name, known=known))
        faults += _unclear(name, reading.ambiguous, excessive=reading.excessive)
        found.append(_labelled(tree, reading.places, matches=matches))
    if faults:
        raise SourceError("; ".join(faults))
    return tuple(found)


def _load_nodes(
    engine: Engine, subject: Subject, *, suppressed: str
) -> tuple[exp.Table, list[list[Place]]]:
    """The labels of every node of every column, as a table; and per column its nodes."""
    names = (encode.ATTRIBUTE, encode.LEAF, release.IS_LEAF, release.PLACE)
    listed = [_node_labels(tree, suppressed) for tree in subject.trees]
    rows = [
        (number, label, int(place[0] == 0), position)
        for number, nodes in enumerate(listed)
        for position, (label, place) in enumerate(nodes)
    ]
    table = engine.load_rows("nodes", by_column(names, rows), {encode.LEAF: TEXT})
    return table, [[place for _, place in nodes] for nodes in listed]


def _node_labels(tree: Tree, suppressed: str) -> list[tuple[Label, Place]]:
    """Every node of a tree with its label; the label of suppressed values is one of the top."""
    listed = [
        (label, (level, node))
        for level in range(tree.height + 1)
        for node, label in enumerate(tree.node_labels(level))
    ]
    if all(label != suppressed for label, _ in listed):
        listed.append((suppressed, (tree.height, 0)))
    return listed


def _unknown(engine: Engine, held: exp.Table, *, name: str, known: Mapping[Label, int]) -> str:
    """What is wrong with a column that has other labels than the known ones, with their records."""
    labels, records = engine.rows(release.held_totals(held))[0]
    return (
        f"column {name!r} of the released table has "
        f"{counted(labels - len(known), 'label')}, of "
        f"{counted(records - sum(known.values()), 'record')}, that its hierarchy does not know; "
        "add them to the hierarchy, or name the label of suppressed values with --suppressed-label"
    )


def _unclear(name: str, ambiguous: int, *, excessive: int) -> list[str]:
    faults = []
    if ambiguous:
        faults.append(
            f"column {name!r} of the released table has "
            f"{counted(ambiguous, 'label that stands', more='labels that stand')} for "
            "different nodes at several levels of its hierarchy; give each node a label of its own"
        )
    if excessive:
        faults.append(
            f"column {name!r} of the released table has {counted(excessive, 'label')} with more "
            "records than the original has there: it is not a release of this original"
        )
    return faults


def _labelled(
    nodes: Nodes, places: Mapping[Label, Place], *, matches: Sequence[LabelMatch]
) -> Labels:
    """The records and classes of the nodes that labels stand for."""
    records: dict[Place, int] = {}
    classes: dict[Place, int] = {}
    for match in matches:
        if places.get(match.label) == match.place:
            records[match.place] = records.get(match.place, 0) + match.records
            classes[match.place] = classes.get(match.place, 0) + match.classes
    return Labels(nodes, places, records, classes)
