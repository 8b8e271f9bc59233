"""Codes for mining: which nodes are kept, and which bits tell them apart."""

import numpy as np

from sqlanon.codes import WORD_BITS
from sqlanon.hierarchy import Tree
from sqlanon.itemcodes import Forest, ItemCodes
from sqlanon.search.taxonomy import Taxonomy

ROWS = [("a", "a", "x", "*"), ("b", "bc", "x", "*"), ("c", "bc", "x", "*"), ("d", "d", "d", "*")]


def forest(counts, k, levels=(0, 3), rows=ROWS):
    tree = Tree.grow("column", rows)
    costs = [[0] * len(tree.sizes(level)) for level in range(tree.height + 1)]
    return Forest.of(Taxonomy.of(tree, costs), counts, k, levels)


def test_nodes_below_k_records_are_left_out():
    made = forest([3, 1, 1, 2], 2)
    # a, d, bc, x and the root; b and c have one record each.
    assert made.numbers.tolist() == [0, 3, 4, 5, 6]
    assert made.parents.tolist() == [3, 4, 3, 4, -1]
    assert made.depths.tolist() == [2, 1, 2, 1, 0]
    assert made.deepest.tolist() == [0, 2, 2, 1]
    assert (made.top, made.is_constant) == (4, False)


def test_a_column_of_rare_values_is_constant():
    made = forest([1, 1, 1, 1], 4)
    assert (made.numbers.tolist(), made.is_constant) == ([6], True)


def test_a_node_counts_at_every_level_that_repeats_it():
    assert forest([1, 1, 1, 1], 1, (1, 1)).numbers.tolist() == [0, 3, 4]
    assert forest([1, 1, 1, 1], 1, (1, 1)).top is None


def test_there_is_no_node_beyond_the_number_of_records():
    made = forest([1, 1, 1, 1], 5)
    assert (made.numbers.tolist(), made.top, made.is_constant) == ([], None, False)


def test_values_with_many_nodes_score_higher():
    flat = [("f", "*"), ("m", "*")]
    assert forest([2, 2, 2, 2], 1).score > forest([4, 4], 1, (0, 1), flat).score


def test_values_of_no_frequent_child_agree_with_nothing():
    codes = ItemCodes.of([forest([3, 1, 1, 2], 2)])
    found = codes.codes(0)
    for node, (every, some) in found.items():
        assert (every == some) == (node in (0, 1, 2))
    children = [(0, 2), (1, 3)]
    for first, second in children:  # siblings differ in the field right below their parent
        parent = int(codes.forests[0].parents[first])
        bits = codes.splits(0)[parent]
        assert any(bits)
        own = [forest_code(codes, node) for node in (first, second)]
        assert own[0] & bits[0] != own[1] & bits[0]


def forest_code(codes, node):
    """The bits of a value anywhere below a node."""
    below = [own for own in codes.codes(0) if node in codes.forests[0].ancestors(own)]
    return codes.codes(0)[below[0]][0][0]


def test_rare_siblings_leave_open_what_their_parent_is_split_by():
    codes = ItemCodes.of([forest([3, 3, 1, 2], 2)])
    every, some = codes.codes(0)[3]  # bc, of the rare value c
    assert every != some
    assert (some[0] - every[0]) & codes.splits(0)[3][0] == codes.splits(0)[3][0]


def test_fields_take_as_many_words_as_they_need():
    flat = [(str(value), "*") for value in range(3)]
    forests = [forest([1, 1, 1], 1, (0, 1), flat) for _ in range(40)]
    codes = ItemCodes.of(forests)
    assert (codes.words, codes.itemset_words) == (2, 2)
    for fields in ([own for places in codes.places for own in places], codes.nodes):
        taken = [0] * 2
        for field in fields:
            assert not taken[field.word] & field.mask
            assert field.offset + field.width <= WORD_BITS
            taken[field.word] |= field.mask


def test_attributes_that_tell_nothing_apart_are_not_mined():
    flat = [("f", "*"), ("m", "*")]
    codes = ItemCodes.of([forest([1, 1], 2, (0, 1), flat), forest([1, 1, 1, 1], 1)])
    assert codes.order == [1]
    assert np.array(codes.bits(0)).sum() == 0
