"""Blocks: a large table cut along its hierarchies, so that each part is covered on its own."""

from __future__ import annotations

import numpy as np

from sqlanon.search.clusters import Problem, closed
from sqlanon.search.taxonomy import Numbers


def cut(problem: Problem, most: int) -> list[Numbers]:
    """Blocks of records, each a union of subtrees that may be a cluster itself.

    A block is cut at the column that costs it most where its parts satisfy k and the demand. One
    that no column can cut stays whole, however large.

    Args:
        problem: The table.
        most: Largest block wanted [records].

    Returns:
        The records of each block, ascending; blocks in the order of their first records.
    """
    blocks, waiting = [], [np.arange(problem.records)]
    while waiting:
        records = waiting.pop()
        parts = _parts(problem, records) if len(records) > most else []
        if parts:
            waiting += parts
        else:
            blocks.append(records)
    return sorted(blocks, key=lambda block: int(block[0]))


def _parts(problem: Problem, records: Numbers) -> list[Numbers]:
    """The block in two parts or more, none where it cannot be cut."""
    leaves = problem.leaves[records]
    nodes = closed(problem, leaves, np.zeros(1, np.int64))[0]
    costs = [taxonomy.cost[node] for taxonomy, node in zip(problem.taxonomies, nodes, strict=True)]
    for column in np.argsort(-np.array(costs), kind="stable"):
        taxonomy = problem.taxonomies[column]
        level = int(taxonomy.level[nodes[column]])
        if not level:
            continue
        below = taxonomy.ancestors[level - 1, leaves[:, column]]
        parts = _viable(problem, [records[below == node] for node in np.unique(below)])
        if len(parts) > 1:
            return parts
    return []


def _viable(problem: Problem, parts: list[Numbers]) -> list[Numbers]:
    """The parts that may be clusters; the others together, with the smallest one if need be."""
    viable = [part for part in parts if problem.satisfies(part)]
    others = [part for part in parts if not problem.satisfies(part)]
    if not others or not viable:
        return viable
    rest = np.concatenate(others)
    if problem.satisfies(rest):
        return [*viable, np.sort(rest)]
    viable.sort(key=len)
    joined = np.sort(np.concatenate([viable[0], rest]))
    return [joined, *viable[1:]] if problem.satisfies(joined) else []
