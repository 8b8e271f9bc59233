"""Mondrian as it is published, recursively, one part after the other."""

from __future__ import annotations


def parts(leaves, trees, k, cuts):
    """The parts of records, as sorted lists of their numbers.

    Args:
        leaves: Per record its leaf in each column.
        trees: Per column and level the node of each leaf, as `Tree.nodes`.
        k: The smallest part allowed.
        cuts: `median` or `nodes`.
    """
    done, waiting = [], [list(range(len(leaves)))]
    while waiting:
        part = waiting.pop()
        cut = best(part, leaves, trees, k, cuts)
        if cut is None:
            done.append(sorted(part))
        else:
            waiting += cut
    return sorted(done)


def best(part, leaves, trees, k, cuts):
    """The allowed cut at the widest column, the first of those alike."""
    found = []
    for column, tree in enumerate(trees):
        own = {leaves[record][column] for record in part}
        width = (max(own) - min(own)) / len(tree[0])
        cut = {"median": halves, "nodes": children}[cuts](part, leaves, column, tree, k)
        if len(own) > 1 and cut is not None:
            found.append((-width, column, cut))
    return min(found)[2] if found else None


def halves(part, leaves, column, tree, k):
    """The two halves that neighbouring leaves make, as even as they can be; None if too small."""
    values = sorted({leaves[record][column] for record in part})
    splits = []
    for value in values[:-1]:
        left = [record for record in part if leaves[record][column] <= value]
        right = [record for record in part if leaves[record][column] > value]
        splits.append((-min(len(left), len(right)), value, [left, right]))
    if not splits:
        return None
    smaller, _, cut = min(splits)
    return cut if -smaller >= k else None


def children(part, leaves, column, tree, k):
    """The nodes below the closure that are large enough, and all others together."""
    own = [leaves[record][column] for record in part]
    level = next(at for at, nodes in enumerate(tree) if len({nodes[leaf] for leaf in own}) == 1)
    if not level:
        return None
    nodes = tree[level - 1]
    groups = {}
    for record in part:
        groups.setdefault(nodes[leaves[record][column]], []).append(record)
    large = {node: group for node, group in groups.items() if len(group) >= k}
    rest = [record for record in part if nodes[leaves[record][column]] not in large]
    if 0 < len(rest) < k:
        if not large:
            return None
        costs = {node: saving(tree, nodes, level, node, len(large[node])) for node in large}
        rest += large.pop(min(sorted(large), key=costs.__getitem__))
    cut = [*large.values(), *([rest] if rest else [])]
    return cut if len(cut) > 1 else None


def saving(tree, nodes, level, node, records):
    """What records save by the Loss Metric when they go down from the closure to a child."""
    above = {tree[level][leaf] for leaf in range(len(nodes)) if nodes[leaf] == node}.pop()
    held = sum(1 for own in tree[level] if own == above)
    return records * (held - sum(1 for own in nodes if own == node))
