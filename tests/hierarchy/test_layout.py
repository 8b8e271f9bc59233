"""Packed codes: fields fit words, and masks tell apart exactly what the trees do."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import trees

from sqlanon.hierarchy import layout as codes
from sqlanon.hierarchy.layout import WORD_BITS, Layout
from sqlanon.hierarchy.tree import Tree
from sqlanon.microdata.distinct import leaf_numbers, packed_codes


def wide(leaves):
    return Tree.grow("wide", [(str(leaf), "*") for leaf in range(leaves)])


grown = st.lists(trees(), min_size=1, max_size=5)
word_bits = st.sampled_from([3, 5, WORD_BITS])


def laid_out(columns, bits):
    """The layout in words of so many bits."""
    with patch.object(codes, "WORD_BITS", bits):
        return Layout.of(columns)


def record_codes(layout, columns, record):
    """The words of a record given by its leaf numbers."""
    words = [0] * layout.words
    for number, (tree, leaf) in enumerate(zip(columns, record, strict=True)):
        for place, code in enumerate(layout.leaf_codes(number, tree)[leaf]):
            words[place] += code
    return words


def masked(words, masks):
    return tuple(word & mask for word, mask in zip(words, masks, strict=True))


@given(grown, word_bits)
def test_fields_fit_their_words_and_share_no_bit(columns, bits):
    layout = laid_out(columns, bits)
    used = [0] * layout.words
    for field in itertools.chain.from_iterable(layout.fields):
        assert field.mask < 2**bits
        assert not used[field.word] & field.mask
        used[field.word] |= field.mask


@pytest.mark.parametrize(("columns", "words"), [(1, 1), (12, 1), (13, 2), (24, 2), (25, 3)])
def test_columns_of_five_bits_fill_words_of_62(columns, words):
    assert Layout.of([wide(32)] * columns).words == words


def test_a_layout_of_columns_that_never_branch_has_one_word_without_bits():
    layout = Layout.of([Tree.grow("one", [("a", "*")])])
    assert layout.words == 1
    assert layout.column_masks(0, 0) == (0,)


def test_the_top_needs_no_bits():
    assert Layout.of([wide(32)] * 20).node_masks((1,) * 20) == (0, 0)


@given(grown, word_bits)
def test_leaf_codes_keep_to_the_bits_of_their_column(columns, bits):
    layout = laid_out(columns, bits)
    for number, tree in enumerate(columns):
        masks = layout.column_masks(number, 0)
        for code in layout.leaf_codes(number, tree):
            assert masked(code, masks) == code


@given(grown, word_bits)
def test_column_masks_tell_the_nodes_of_a_level_apart_as_the_tree_does(columns, bits):
    layout = laid_out(columns, bits)
    for number, tree in enumerate(columns):
        words = layout.leaf_codes(number, tree)
        for level in range(tree.height + 1):
            masks = layout.column_masks(number, level)
            pairs = {
                (masked(word, masks), node)
                for word, node in zip(words, tree.nodes[level], strict=True)
            }
            assert len(pairs) == len({code for code, _ in pairs}) == len({n for _, n in pairs})
            assert layout.node_codes(number, tree, level=level) == dict(pairs)


@given(st.data(), grown, word_bits)
def test_node_masks_tell_the_classes_of_a_node_apart_as_the_trees_do(data, columns, bits):
    layout = laid_out(columns, bits)
    leaves = st.tuples(*(st.integers(0, len(tree.leaves) - 1) for tree in columns))
    records = data.draw(st.lists(leaves, min_size=2, max_size=8))
    node = data.draw(st.tuples(*(st.integers(0, tree.height) for tree in columns)))
    masks = layout.node_masks(node)
    pairs = {
        (
            masked(record_codes(layout, columns, record), masks),
            tuple(
                tree.nodes[level][leaf]
                for tree, level, leaf in zip(columns, node, record, strict=True)
            ),
        )
        for record in records
    }
    assert len(pairs) == len({code for code, _ in pairs}) == len({group for _, group in pairs})


@given(st.data(), grown, word_bits)
def test_packed_codes_are_read_back_as_the_leaves_they_stand_for(data, columns, bits):
    layout = laid_out(columns, bits)
    leaves = st.tuples(*(st.integers(0, len(tree.leaves) - 1) for tree in columns))
    records = np.array(data.draw(st.lists(leaves, min_size=1, max_size=8)))
    packed = packed_codes(columns, layout, leaves=records)
    assert packed.tolist() == [record_codes(layout, columns, record) for record in records]
    assert leaf_numbers(columns, layout, codes=packed).tolist() == records.tolist()
