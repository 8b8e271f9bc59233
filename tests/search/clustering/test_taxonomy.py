"""Taxonomies: nodes as numbers, and the closure of leaves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from strategies import hierarchies

from sqlanon.hierarchy.declaration import Tree
from sqlanon.loss.cells import CellCosts
from sqlanon.search.clustering.taxonomy import Taxonomy

ROWS = [("a", "a", "x", "*"), ("b", "bc", "x", "*"), ("c", "bc", "x", "*"), ("d", "d", "d", "*")]


def taxonomy(rows):
    tree = Tree.grow("column", rows)
    costs = CellCosts.of("lm", [tree], weights=[1.0], records=1)
    return tree, costs, Taxonomy.of(tree, costs.costs[0])


def test_a_node_repeated_at_several_levels_is_one_node():
    _, _, made = taxonomy(ROWS)
    assert made.ancestors.tolist() == [[0, 1, 2, 3], [0, 4, 4, 3], [5, 5, 5, 3], [6, 6, 6, 6]]
    assert made.level.tolist() == [0, 0, 0, 0, 1, 2, 3]
    assert made.low.tolist() == [0, 1, 2, 3, 1, 0, 0]
    assert made.high.tolist() == [0, 1, 2, 3, 2, 2, 3]
    assert (made.root, made.leaves) == (6, 4)


def test_a_single_leaf_is_its_own_root():
    _, _, made = taxonomy([("a", "*")])
    assert (made.root, made.leaves, made.closure(np.array([0]), np.array([0])).tolist()) == (
        0,
        1,
        [0],
    )


def test_levels_that_repeat_the_one_below_are_left_out():
    _, _, made = taxonomy([("a", "a", "x", "x", "*"), ("b", "b", "x", "x", "*")])
    assert made.distinct_levels.tolist() == [[0, 1], [2, 2]]


@given(hierarchies(leaves=9, height=4))
def test_the_closure_of_two_leaves_is_the_smallest_node_that_holds_them(rows):
    tree, costs, made = taxonomy(rows)
    held = [set(range(low, high + 1)) for low, high in zip(made.low, made.high, strict=True)]
    assert len({frozenset(leaves) for leaves in held}) == len(held)
    for low in range(made.leaves):
        for high in range(low, made.leaves):
            found = int(made.closure(np.array([low]), np.array([high]))[0])
            assert len(held[found]) == min(len(h) for h in held if {low, high} <= h)
    for node, leaves in enumerate(held):
        assert (
            made.cost[node]
            == costs.costs[0][made.level[node]][tree.nodes[made.level[node]][min(leaves)]]
        )
