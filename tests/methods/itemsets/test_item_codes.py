"""Codes for mining: which nodes are kept, and which bits tell them apart."""

import numpy as np

from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import WORD_BITS
from sqlanon.methods.itemsets import Forest, ItemCodes
from sqlanon.search.clustering.taxonomy import Taxonomy

ROWS = [("a", "a", "x", "*"), ("b", "bc", "x", "*"), ("c", "bc", "x", "*"), ("d", "d", "d", "*")]


def forest(counts, k, levels=(0, 3), rows=ROWS):
    tree = Tree.grow("column", rows)
    costs = [[0] * len(tree.sizes(level)) for level in range(tree.height + 1)]
    return Forest.of(Taxonomy.of(tree, costs), counts, k=k, levels=levels)


def test_nodes_below_k_records_are_left_out():
    made = forest([3, 1, 1, 2], 2)
    # a, d, bc, x and the root; b and c have one record each.
    assert made.numbers.tolist() == [0, 3, 4, 5, 6]
    assert made.parents.tolist() == [3, 4, 3, 4, -1]
    assert made.depths.tolist() == [2, 1, 2, 1, 0]
    assert made.deepest.tolist() == [0, 2, 2, 1]
    assert (made.top, made.is_constant) == (4, False)


def test_a_node_counts_at_every_level_that_repeats_it():
    assert forest([1, 1, 1, 1], 1, (1, 1)).numbers.tolist() == [0, 3, 4]
    assert forest([1, 1, 1, 1], 1, (1, 1)).top is None


def test_values_with_many_nodes_score_higher():
    flat = [("f", "*"), ("m", "*")]
    assert forest([2, 2, 2, 2], 1).score > forest([4, 4], 1, (0, 1), flat).score


def test_nodes_of_many_values_are_found_again_from_their_codes():
    levels = [(f"{n}", f"a{n // 2}", f"b{n // 600}", f"c{n // 1800}", "*") for n in range(3000)]
    made = forest([1] * 3000, 1, (0, 4), levels)
    wide = [forest([1] * 3000, 1, (0, 1), [(f"{n}", "*") for n in range(3000)]) for _ in range(5)]
    codes = ItemCodes.of([*wide, made])  # the last one's bits begin where those of others end
    for attribute in (0, 5):
        words = [np.array(word) for word in zip(*codes.codes(attribute), strict=True)]
        numbers = codes.forests[attribute].numbers.tolist()
        assert codes.nodes(attribute, words).tolist() == numbers


def test_nodes_are_found_again_from_codes_of_several_words():
    rows = [
        (f"v{n}", *(f"up to {level}" if n <= level else f"v{n}" for level in range(1, 40)))
        for n in range(40)
    ]
    made = forest([1] * 40, 1, (0, 39), rows)
    codes = ItemCodes.of([made])
    assert codes.words == 2
    words = [np.array(word) for word in zip(*codes.codes(0), strict=True)]
    assert codes.nodes(0, words).tolist() == made.numbers.tolist()


def test_fields_take_as_many_words_as_they_need():
    flat = [(str(value), "*") for value in range(3)]
    codes = ItemCodes.of([forest([1, 1, 1], 1, (0, 1), flat) for _ in range(40)])
    assert codes.words == 2
    taken = [0, 0]
    for (field,) in codes.fields:
        assert not taken[field.word] & field.mask
        assert field.offset + field.width <= WORD_BITS
        taken[field.word] |= field.mask
