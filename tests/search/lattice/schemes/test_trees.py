"""Trees of recodings and their number against all set partitions, by the schemes' definitions."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.schemes import set_partitions
from search.lattice.schemes.columns import columns, domain_of, figure_1, flat

from sqlanon.policy.schemes import SCHEMES
from sqlanon.search.lattice.schemes.domain import numbered
from sqlanon.search.lattice.schemes.trees import Merging, Position, Splitting, count

BELL = [1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147]
DIRECTIONS = [Merging, Splitting]
schemes = st.sampled_from([*SCHEMES])
directions = st.sampled_from(DIRECTIONS)


def walked(tree, position=None):
    """Every node of a tree of recodings, a parent before its children."""
    own = position or tree.root
    yield own
    for child in tree.children(own):
        yield from walked(tree, child)


def partition(text):
    """A recoding by its blocks: "1|23" of units from 1."""
    blocks = text.split("|")
    units = sorted("".join(blocks))
    return numbered([next(n for n, b in enumerate(blocks) if unit in b) for unit in units])


def is_finer(one, other):
    """Whether each block of a recoding lies in one of another."""
    return len(set(zip(one, other, strict=True))) == len(set(one))


@settings(max_examples=100)
@given(columns(), schemes)
def test_domain_allows_what_the_scheme_is_defined_to_allow(values, scheme):
    domain = domain_of(values, scheme)
    allowed = [p for p in set_partitions(domain.units) if domain.is_valid(p)]
    assert allowed == values.recodings(scheme)


@settings(max_examples=100)
@given(columns(), schemes, directions)
def test_tree_has_every_recoding_once(values, scheme, direction):
    found = [node.partition for node in walked(direction(domain_of(values, scheme)))]
    assert sorted(found) == sorted(values.recodings(scheme))


@settings(max_examples=100)
@given(columns(), schemes)
def test_count_is_that_of_the_recodings(values, scheme):
    assert count(domain_of(values, scheme)) == len(values.recodings(scheme))


@settings(max_examples=60)
@given(columns(most=6), schemes)
def test_all_recodings_below_a_merged_one_lie_between_it_and_its_farthest(values, scheme):
    tree = Merging(domain_of(values, scheme))
    for node in walked(tree):
        below = [own.partition for own in walked(tree, node)]
        assert all(is_finer(node.partition, own) for own in below)
        assert all(is_finer(own, tree.farthest(node)) for own in below)


@settings(max_examples=60)
@given(columns(most=6), schemes)
def test_farthest_below_a_split_recoding_is_the_finest_of_them(values, scheme):
    tree = Splitting(domain_of(values, scheme))
    for node in walked(tree):
        below = [own.partition for own in walked(tree, node)]
        assert all(is_finer(own, node.partition) for own in below)
        assert all(is_finer(tree.farthest(node), own) for own in below)
        assert tree.farthest(node) in below


@settings(max_examples=60)
@given(columns(most=6), schemes, directions)
def test_what_has_a_banned_pair_goes_as_far_as_the_child_it_was_banned_with(
    values, scheme, direction
):
    tree = direction(domain_of(values, scheme))
    for node in walked(tree):
        below = [own for own in walked(tree, node) if own != node]
        for child in tree.children(node):
            bans = frozenset([child.ban])
            assert tree.is_banned(child, bans)
            for own in below:
                finer, coarser = (child, own) if direction is Merging else (own, child)
                if tree.is_banned(own, bans):
                    assert is_finer(finer.partition, coarser.partition)


@settings(max_examples=25)
@given(columns())
def test_flexible_schemes_have_all_recodings_of_less_flexible_ones(values):
    for less, more in [
        *pairwise(("bhs", "ghs", "gops", "ops", "sps")),
        ("gops", "gsps"),
        ("gsps", "sps"),
    ]:
        allowed = domain_of(values, more).is_valid
        assert all(map(allowed, values.recodings(less)))


def test_counts_are_exact_beyond_what_can_be_listed():
    assert count(flat("ops", 200)) == 2**199
    assert count(flat("sps", 40)) == 157450588391204931289324344702531067


@pytest.mark.parametrize(
    ("scheme", "recodings"),
    [("bhs", 3), ("ghs", 9), ("gops", 40), ("ops", 128), ("gsps", 67), ("sps", 4140)],
)
@pytest.mark.every_row
def test_figure_1_has_as_many_recodings(scheme, recodings):
    """Li and Li 2007, section 2; of `ghs` as partitions, the source counts 17 cuts."""
    domain = figure_1(scheme)
    assert count(domain) == recodings
    for direction in DIRECTIONS:
        assert len(list(walked(direction(domain)))) == recodings


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("example", "scheme", "own", "start", "children"),
    [
        (1, "sps", "1|23|4|5", 1, {"1|234|5", "1|23|45", "1|235|4"}),
        (2, "sps", "14|2|3|5", 0, {"14|23|5", "14|2|35", "14|25|3", "145|2|3"}),
        (3, "sps", "12|3|4", 0, {"123|4", "12|34", "124|3"}),
        (3, "sps", "1|2", 0, {"12"}),
    ],
)
def test_children_are_those_of_the_sources_examples(example, scheme, own, start, children):
    """Li and Li 2007, sections 3.1 and 3.2; the third has two columns, and so four children."""
    tree = Merging(flat(scheme, len(partition(own))))
    found = [child.partition for child in tree.children(Position(partition(own), start))]
    assert sorted(found) == sorted(map(partition, children)), example


@pytest.mark.every_row
@pytest.mark.parametrize("scheme", ["gsps", "gops"])
def test_guided_recoding_of_examples_4_and_5_has_two_children(scheme):
    """Li and Li 2007, section 3.3, says one, and then cannot reach {Inc, ..., Never worked}."""
    tree = Merging(figure_1(scheme))
    found = {c.partition for c in tree.children(Position(partition("1|23|4|56|7|8"), 4))}
    assert found == set(map(partition, ["1|23|4|56|78", "1|23|4|5678"]))


def test_split_recodings_of_ordered_values_are_sets_of_borders():
    """Bayardo and Agrawal 2005, section 4: a border is added after the last alone."""
    tree = Splitting(flat("ops", 4))
    assert [c.partition for c in tree.children(tree.root)] == list(
        map(partition, ["1|234", "12|34", "123|4"])
    )
    [second] = tree.children(Position(partition("12|34"), 1))
    assert second.partition == partition("12|3|4")
