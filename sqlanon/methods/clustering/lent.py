"""Lent classes: the best full-domain recoding under the same policy, as clusters to start from.

Families of methods do not know each other, so the planner hands on a function that finds it
(`Options.lend`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sqlanon.methods.clustering.releases import Releases
from sqlanon.methods.registry import Options
from sqlanon.recoding import Node
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import (
    NOWHERE,
    Clustering,
    ClusteringProblem,
    members,
    renumbered,
)
from sqlanon.search.packing import packed, united

LENDING = 0.2
"""Share of the time that is left for a full-domain recoding that another method starts from."""


def lent_clusters(releases: Releases, options: Options[Any]) -> Clustering | None:
    """The classes of the best full-domain recoding that was found; None without one.

    Classes that fail are left out, and those that come to fail by that, as such a recoding does.

    Raises:
        TimeLimitError: The problem's deadline came before all classes were looked at.
    """
    ended = options.deadline.share(LENDING)
    node = None if options.lend is None else options.lend(ended)
    if node is None:
        return None
    whole = releases.whole
    found = Clustering(_classes(releases, node), np.zeros((0, len(node)), np.int64))
    while True:
        if int((found.label != NOWHERE).sum()) < whole.k:
            return None
        records, own = releases.placed(found)
        label = renumbered(found.label[records])
        failing = list(_failing(replace(own, deadline=releases.problem.deadline), label))
        if not failing:
            break
        left = found.label.copy()
        left[records[np.concatenate(failing)]] = NOWHERE
        found = replace(found, label=left)
    found = Clustering.of(whole, found.label)
    return None if releases.suppresses(found) or not releases.holds(found) else found


def _failing(problem: ClusteringProblem, label: Numbers) -> Iterator[Numbers]:
    """The records of each class that may not be published."""
    for held in members(Clustering(label, problem.leaves[:0])):
        problem.deadline.check()
        if not problem.satisfies(held):
            yield held


def _classes(releases: Releases, node: Node) -> Numbers:
    """The class of each record at a node."""
    whole = releases.whole
    columns = enumerate(zip(whole.taxonomies, node, strict=True))
    cells = [taxonomy.ancestors[at, whole.leaves[:, j]] for j, (taxonomy, at) in columns]
    widths = [len(taxonomy.cost) for taxonomy in whole.taxonomies]
    key = united(packed(np.stack(cells, axis=1), widths))
    found: Numbers = np.unique(key, return_inverse=True)[1].ravel()
    return found
