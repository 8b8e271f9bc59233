"""Regrouped columns: releases whose labels are groups of values that no node of a hierarchy has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import chain

from sqlanon.assessment.release import ReleasedClasses
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.group_labels import GroupReader, group_tree
from sqlanon.hierarchy.label_nodes import Label
from sqlanon.microdata.binding import Subject
from sqlanon.query.assess.release import held_labels
from sqlanon.wording import counted

Regrouping = tuple[Tree, tuple[int, ...]]


def regrouped(
    engine: Engine, subject: Subject, released: ReleasedClasses
) -> tuple[Subject, list[str]]:
    """The original with trees of groups for columns that are published in such, and their names.

    Raises:
        SourceError: Groups that share values, so that nothing tells which of them a value became.
    """
    trees, counts, names = list(subject.trees), list(subject.counts), []
    faults = []
    for number, (name, tree) in enumerate(zip(subject.names, subject.trees, strict=True)):
        labels = [label for label, _, _ in engine.rows(held_labels(released.classes, number))]
        try:
            found = _regrouped(tree, labels)
        except SourceError as error:
            faults.append(str(error))
            continue
        if found is not None:
            names.append(name)
            trees[number], places = found
            known = subject.counts[number]
            counts[number] = None if known is None else tuple(known[place] for place in places)
    if faults:
        raise SourceError("; ".join(faults))
    return replace(subject, trees=tuple(trees), counts=tuple(counts)), names


def _regrouped(tree: Tree, labels: Collection[Label]) -> Regrouping | None:
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
