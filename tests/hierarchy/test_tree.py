"""Tree: what grow accepts, how it numbers, what it refuses, all at once."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import hierarchies

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.tree import Tree

ROWS = [("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*"), ("d", "y", "*")]


def faults(rows, **options):
    with pytest.raises(HierarchyError) as caught:
        Tree.grow("city", rows, **options)
    return caught.value.faults


def test_grow_puts_the_leaves_of_a_node_side_by_side():
    tree = Tree.grow("city", ROWS)
    assert tree.leaves == ("a", "c", "b", "d")
    assert tree.labels == (("a", "c", "b", "d"), ("x", "x", "y", "y"), ("*",) * 4)
    assert tree.nodes == ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0))
    assert tree.height == 2


def test_grow_keeps_the_order_of_the_rows_where_it_can():
    tree = Tree.grow("n", [("3", "*"), ("1", "*"), ("2", "*")])
    assert tree.leaves == ("3", "1", "2")


def test_sizes_parents_and_children_of_an_uneven_tree():
    rows = [("1", "a", "p", "*"), ("2", "a", "p", "*"), ("3", "b", "p", "*"), ("4", "c", "q", "*")]
    tree = Tree.grow("n", rows)
    assert [tree.sizes(level) for level in range(4)] == [[1] * 4, [2, 1, 1], [3, 1], [4]]
    assert [tree.parents(level) for level in range(3)] == [[0, 0, 1, 2], [0, 0, 1], [0, 0]]
    assert [tree.fan_out(level) for level in range(3)] == [2, 2, 2]
    assert [tree.child_index(level) for level in range(3)] == [[0, 1, 0, 0], [0, 1, 0], [0, 1]]
    assert tree.node_labels(1) == ["a", "b", "c"]


def test_null_leaf_comes_with_the_rows_or_is_added_below_the_top():
    assert Tree.grow("n", [("1", "a", "any"), (None, "a", "any")]).leaves == ("1", None)
    added = Tree.grow("n", [("1", "a", "any")], with_null=True)
    assert [level[1] for level in added.labels] == [None, None, "any"]
    named = Tree.grow("n", [("1", "a", "*"), (None, "a", "*")], with_null=True)
    assert len(named.leaves) == 2


def test_grow_reads_an_iterator():
    assert Tree.grow("n", iter([("1", "*")])).leaves == ("1",)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "is empty: it has 0 rows"),
        ([("a", "*"), ("b",), ("c", "x", "*")], "is ragged: 2 of its 3 rows"),
        ([("a",), ("b",)], "has 0 levels above the leaves"),
        ([("a", "*"), ("a", "*"), ("b", "*"), ("b", "*")], "2 duplicate leaves at level 0"),
        ([("a", "x"), ("b", "y")], "has 2 top nodes at level 1; add a last column with one label"),
        ([("a", None, "*")], "1 empty label at level 1"),
        (
            [("a", "x", "p", "*"), ("b", "x", "q", "*")],
            "1 node of level 1 with leaves under several nodes of level 2",
        ),
    ],
)
def test_grow_refuses_what_is_no_laminar_tree(rows, expected):
    (fault,) = faults(rows)
    assert fault.startswith("hierarchy of column 'city' ")
    assert expected in fault


def test_grow_tells_all_faults_at_once_and_no_label():
    rows = [
        ("secret", "x", "p", "*"),
        ("secret", "x", "q", "*"),
        ("b", None, "q", "+"),
    ]
    found = faults(rows, name="city.csv")
    assert len(found) == 5
    assert all(fault.startswith("hierarchy 'city.csv' of column 'city' ") for fault in found)
    assert "secret" not in "".join(found)


def test_ragged_rows_do_not_hide_duplicates():
    assert len(faults([("a", "*"), ("a", "*"), ("b",)])) == 2


def test_repeated_node_is_not_a_shared_label():
    tree = Tree.grow("n", [("improper", "improper", "*"), ("1", "odd", "*"), ("3", "odd", "*")])
    assert tree.shared_labels() == []
    assert tree.warnings() == []


def test_shared_labels_counts_each_pair_of_levels():
    tree = Tree.grow("n", [("0", "2", "4"), ("1", "2", "4"), ("2", "4", "4"), ("3", "4", "4")])
    assert tree.shared_labels() == [("2", 0, 1), ("4", 1, 2)]


def test_shared_label_sentences_hide_labels_unless_asked():
    tree = Tree.grow("n", [("0", "4", "4"), ("1", "x", "4")])
    (warning,) = tree.warnings()
    assert warning.startswith(
        "hierarchy of column 'n' has 1 label for different nodes at levels 1 and 2;"
    )
    (fault,) = tree.mixing_faults(0, 2, show_labels=True)
    assert "1 label ('4') for different nodes at levels 1 and 2" in fault


def test_labels_are_shared_by_allowed_levels_alone():
    tree = Tree.grow("n", [("0", "4", "4", "*"), ("1", "x", "4", "*")])
    assert tree.shared_labels(1, 2) == [("4", 1, 2)]
    assert tree.shared_labels(2) == tree.shared_labels(0, 1) == []
    assert tree.mixing_faults(0, 1) == tree.mixing_faults(2, 3) == []


def test_top_label_that_is_also_a_value_is_shared():
    assert Tree.grow("n", [("*", "*"), ("a", "*")]).shared_labels() == [("*", 0, 1)]


laminar_rows = hierarchies(leaves=12, height=4, nulls=False).flatmap(st.permutations)


@given(laminar_rows)
def test_every_node_of_a_laminar_tree_is_a_run_of_leaves(rows):
    tree = Tree.grow("n", rows)
    paths = list(zip(*tree.labels, strict=True))
    assert sorted(paths) == sorted(rows)
    for level, (labels, nodes) in enumerate(zip(tree.labels, tree.nodes, strict=True)):
        runs = [(label, len(list(run))) for label, run in itertools.groupby(labels)]
        assert len({label for label, _ in runs}) == len(runs)
        assert [size for _, size in runs] == tree.sizes(level)
        assert [label for label, _ in runs] == tree.node_labels(level)
        assert list(nodes) == [n for n, size in enumerate(tree.sizes(level)) for _ in range(size)]


@given(laminar_rows)
def test_children_are_numbered_within_the_fan_out(rows):
    tree = Tree.grow("n", rows)
    for level in range(tree.height):
        parents, places = tree.parents(level), tree.child_index(level)
        for parent in set(parents):
            siblings = [p for p, own in zip(places, parents, strict=True) if own == parent]
            assert siblings == list(range(len(siblings)))
            assert len(siblings) <= tree.fan_out(level)
        assert tree.fan_out(level) == max(places) + 1


@given(
    st.integers(1, 4).flatmap(
        lambda height: st.lists(
            st.lists(st.sampled_from("xyz"), min_size=height, max_size=height), min_size=1
        )
    )
)
def test_grow_accepts_exactly_the_laminar_rows(labels):
    rows = [(str(leaf), *path) for leaf, path in enumerate(labels)]
    levels = list(zip(*rows, strict=True))
    nests = all(
        len(set(zip(low, high, strict=True))) == len(set(low))
        for low, high in itertools.pairwise(levels)
    )
    if nests and len(set(levels[-1])) == 1:
        assert Tree.grow("n", rows).height == len(levels) - 1
    else:
        assert faults(rows)


@given(
    st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("pqr")), min_size=1, max_size=6).map(
        lambda pairs: [(str(leaf), *pair, "p") for leaf, pair in enumerate(pairs)]
    )
)
def test_shared_labels_are_those_with_two_leaf_sets(rows):
    try:
        tree = Tree.grow("n", rows)
    except HierarchyError:
        return
    sets = {
        (label, level): {row[0] for row in rows if row[level] == label}
        for level in range(4)
        for label in {row[level] for row in rows}
    }
    expected = [
        (label, low, high)
        for (label, low), (other, high) in itertools.product(sets, sets)
        if label == other and low < high and sets[label, low] != sets[other, high]
    ]
    assert tree.shared_labels() == sorted(expected, key=lambda found: (*found[1:], found[0]))
