"""Labels: what those of a published table stand for in the hierarchies of its original."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import SourceError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.group_labels import GroupReader, group_tree
from sqlanon.hierarchy.label_nodes import Label, LabelMatch, Nodes, Reading, read
from sqlanon.hierarchy.layout import Words
from sqlanon.hierarchy.tree import Place
from sqlanon.microdata.binding import Subject
from sqlanon.query import encode
from sqlanon.query.assess import release
from sqlanon.query.syntax import TEXT, rows_and_sum
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True)
class Labels:
    """Hierarchy nodes that the labels of a published column stand for.

    Args:
        nodes: All nodes of its hierarchy.
        places: The node of each label.
        records: Published records per node [records].
        classes: Published classes per node.
        unknown: Labels that stand for no node.
    """

    nodes: Nodes
    places: Mapping[Label, Place]
    records: Mapping[Place, int]
    classes: Mapping[Place, int]
    unknown: int

    def targets(self) -> dict[int, Place]:
        """The node that each leaf became."""
        runs = {place: self.nodes.run(place) for place in self.records}
        return {leaf: at for at, (first, n) in runs.items() for leaf in range(first, first + n)}


def read_labels(
    engine: Engine,
    subject: Subject,
    *,
    counts: Sequence[Sequence[int]] | None,
    classes: exp.Table,
    suppressed: str,
) -> tuple[Labels, ...]:
    """The nodes that the labels of every column stand for.

    Args:
        engine: Where the table is.
        subject: The original, or a population.
        counts: Per column its records by leaf; None where the table may hold other people, so that
            labels may be on any number of records, or stand for no node.
        classes: The classes of the published table.
        suppressed: The label of suppressed values.

    Raises:
        SourceError: Labels that several nodes have, and beside `counts` those that no node has or
            that are on more records than the original has there; all faults at once.
    """
    nodes, places = _load_nodes(engine, subject, suppressed=suppressed)
    columns, faults = [], []
    for number, name in enumerate(subject.names):
        query = release.published_labels(classes, number)
        table, labels = engine.materialize_counted("held", query)
        kind = subject.columns[name]
        matches = [
            LabelMatch(label, places[number][place], records, n)
            for label, place, records, n in engine.rows(
                release.readings(table, nodes, number=number, kind=kind)
            )
        ]
        hierarchy = subject.trees[number]
        tree = Nodes(
            hierarchy, [sys.maxsize] * len(hierarchy.leaves) if counts is None else counts[number]
        )
        reading = read(tree, matches, allowed=subject.allowed[number])
        known = {match.label: match.records for match in matches}
        if counts is not None and labels > len(known):
            faults.append(_unknown(engine, table, name=name, known=known))
        columns.append(
            _labelled(tree, reading.places, matches=matches, unknown=labels - len(known))
        )
        crowded = tree.crowded(columns[-1].records)
        faults += _unclear(name, reading, crowded=crowded, is_of_population=counts is None)
    if faults:
        raise SourceError("; ".join(faults))
    return tuple(columns)


def load_places(
    engine: Engine, columns: Mapping[int, Labels], codes: Mapping[int, Sequence[Words]]
) -> tuple[exp.Table, exp.Table]:
    """The place of each label, and the places that stand for each leaf, as tables.

    Args:
        engine: Where they are loaded.
        columns: Columns with their labels, by number.
        codes: The codes of their leaves.
    """
    read: list[tuple[object, ...]] = []
    covers: list[tuple[object, ...]] = []
    words = max((len(leaf_codes[0]) for leaf_codes in codes.values()), default=0)
    for number, labels in columns.items():
        runs = {label: labels.nodes.run(place) for label, place in labels.places.items()}
        places = {run: place for place, run in enumerate(sorted(set(runs.values())))}
        read += [(number, label, places[run]) for label, run in runs.items()]
        covers += [
            (number, *codes[number][leaf], place)
            for (first, size), place in places.items()
            for leaf in range(first, first + size)
        ]
    names = encode.ATTRIBUTE, release.LABEL, release.PLACE
    heads = (encode.ATTRIBUTE, *encode.word_names(words), release.PLACE)
    return (
        engine.load_rows("labels", by_column(names, read), {release.LABEL: TEXT}),
        engine.load_rows("covers", by_column(heads, covers)),
    )


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


def _unknown(engine: Engine, table: exp.Table, *, name: str, known: Mapping[Label, int]) -> str:
    """What is wrong with a column that has other labels than the known ones, with their records."""
    labels, records = engine.rows(rows_and_sum(table, "records"))[0]
    return (
        f"column {name!r} of the released table has "
        f"{counted(labels - len(known), 'label')}, of "
        f"{counted(records - sum(known.values()), 'record')}, that its hierarchy does not know; "
        "add them to the hierarchy, or name the label of suppressed values with --suppressed-label"
    )


def _unclear(name: str, reading: Reading, *, crowded: int, is_of_population: bool) -> list[str]:
    faults = []
    if reading.ambiguous:
        why = ", so that nobody can tell whom of the population it means"
        faults.append(
            f"column {name!r}{'' if is_of_population else ' of the released table'} has "
            f"{counted(reading.ambiguous, 'label that stands', more='labels that stand')} for "
            f"different nodes at several levels of its hierarchy{why if is_of_population else ''}; "
            "give each node a label of its own"
        )
    for labels, below in (
        (reading.excessive, ""),
        (crowded, ", those of labels below it counted,"),
    ):
        if labels:
            faults.append(
                f"column {name!r} of the released table has {counted(labels, 'label')} with more "
                f"records{below} than the original has there: it is not a release of this original"
            )
    return faults


def _labelled(
    nodes: Nodes, places: Mapping[Label, Place], *, matches: Sequence[LabelMatch], unknown: int
) -> Labels:
    """The records and classes of the nodes that labels stand for."""
    records: dict[Place, int] = {}
    classes: dict[Place, int] = {}
    for match in matches:
        if places.get(match.label) == match.place:
            records[match.place] = records.get(match.place, 0) + match.records
            classes[match.place] = classes.get(match.place, 0) + match.classes
    return Labels(nodes, places, records, classes, unknown)


def regrouped(engine: Engine, subject: Subject, classes: exp.Table) -> tuple[Subject, list[str]]:
    """The original with trees of groups for columns that are published in such, and their names.

    Raises:
        SourceError: Groups that share values, so that nothing tells which of them a value became.
    """
    trees, counts, names = list(subject.trees), list(subject.counts), []
    faults = []
    for number, (name, tree) in enumerate(zip(subject.names, subject.trees, strict=True)):
        labels = [label for label, _, _ in engine.rows(release.published_labels(classes, number))]
        try:
            groups = _regrouped(tree, labels)
        except SourceError as error:
            faults.append(str(error))
            continue
        if groups is not None:
            names.append(name)
            trees[number], places = groups
            known = subject.counts[number]
            counts[number] = None if known is None else tuple(known[place] for place in places)
    if faults:
        raise SourceError("; ".join(faults))
    return replace(subject, trees=tuple(trees), counts=tuple(counts)), names


def _regrouped(tree: Tree, labels: Collection[Label]) -> tuple[Tree, tuple[int, ...]] | None:
    """The tree of a column's groups; None where every label is one of its hierarchy, or unknown."""
    known = {label for level in tree.labels for label in level}
    if known.issuperset(labels):
        return None
    reader = GroupReader(tree)
    groups = {label: leaves for label in labels if (leaves := reader.read(label)) is not None}
    if groups.keys() <= known:
        return None
    every = list(chain.from_iterable(groups.values()))
    shared = len(every) - len(set(every))
    if shared:
        raise SourceError(
            f"column {tree.column!r} of the released table has groups of values that share "
            f"{counted(shared, 'value')}, so that nothing tells which of them a value became; "
            "measure a release in which every value has one label"
        )
    return group_tree(tree, [(label, sorted(leaves)) for label, leaves in groups.items()])
