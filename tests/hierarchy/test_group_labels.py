"""Labels of groups of values: what they are, and that reading one gives its group."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import hierarchies

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.group_labels import GroupLabeller, GroupReader, numeric_order
from sqlanon.hierarchy.tree import Tree

WORK = Tree.grow(
    "work",
    [
        ("Federal-gov", "gov", "*"),
        ("Local-gov", "gov", "*"),
        ("State-gov", "gov", "*"),
        ("Private", "other", "*"),
        ("a, b", "other", "*"),
        ("NULL", "other", "*"),
        (None, None, "*"),
    ],
)
AGES = Tree.grow(
    "age", [("9", "young", "*"), ("10", "young", "*"), ("20", "old", "*"), (None, "old", "*")]
)
SMALL = Tree.grow("change", [("-1.5", "*"), ("0", "*"), ("3", "*"), ("4", "*")])


def labels(tree, *groups, low=0, high=None, suppressed="*", **kind):
    """The labels of groups that are given by their texts; all other leaves stay single."""
    leaf = {text: number for number, text in enumerate(tree.leaves)}
    joined = [[leaf[text] for text in group] for group in groups]
    single = [[n] for n in range(len(tree.leaves)) if not any(n in group for group in joined)]
    high = tree.height if high is None else high
    labeller = GroupLabeller(GroupReader(tree), low, high, suppressed, **kind)
    found = {each.leaves: each for each in labeller.label([*joined, *single])}
    return [found[tuple(sorted(group))] for group in joined]


def texts(tree, *groups, **bounds):
    return [each.label for each in labels(tree, *groups, **bounds)]


def test_a_group_is_named_by_its_node():
    assert texts(WORK, ["Local-gov", "Federal-gov", "State-gov"]) == ["gov"]


def test_a_single_value_is_named_by_itself():
    assert texts(WORK, ["Private"], ["Local-gov", "State-gov"]) == [
        "Private",
        "{Local-gov, State-gov}",
    ]


def test_all_values_are_named_by_the_top():
    tree = Tree.grow("x", [("a", "all", "*"), ("b", "all", "*")])
    assert texts(tree, ["a", "b"]) == ["*"]


def test_items_are_the_largest_nodes_in_the_order_of_the_hierarchy():
    assert texts(WORK, ["Private", "State-gov", "Local-gov", "Federal-gov"]) == ["{gov, Private}"]


def test_items_that_could_be_read_otherwise_are_quoted():
    assert texts(WORK, ["a, b", "NULL", None]) == ['{"a, b", "NULL", NULL}']


def test_neighbouring_numbers_are_a_run():
    assert texts(AGES, ["10", "20"]) == ["10-20"]
    assert texts(AGES, ["20", "10", None]) == ["{10-20, NULL}"]
    assert texts(SMALL, ["-1.5", "0"]) == ["-1.5 to 0"]
    assert texts(SMALL, ["0", "3"]) == ["0-3"]


def test_numbers_that_are_no_neighbours_are_a_set_of_runs():
    assert texts(SMALL, ["-1.5", "3", "4"]) == ["{-1.5, 3-4}"]


RULE = {"is_listed": False}
GRID = {"is_listed": False, "has_grid": True}
HELD = Tree.grow("age", [(text, "*") for text in ("4", "20", "21", "22", "70", "97", None)])
FIVES = Tree.grow(
    "age",
    [
        ("4", "0-4", "0-9", "*"),
        ("20", "20-24", "20-29", "*"),
        ("21", "20-24", "20-29", "*"),
        ("27", "25-29", "20-29", "*"),
        ("97", "95-99", "90-99", "*"),
        (None, None, None, "*"),
    ],
)
OPEN = Tree.grow(
    "change",
    [
        ("-3.5", "<0.0", "*"),
        ("0.2", "[0.0, 0.5)", "*"),
        ("0.7", "[0.5, 1.0)", "*"),
        ("1.0", "[1.0, 1.5)", "*"),
        ("7.5", ">=1.5", "*"),
    ],
)


def test_the_extremes_of_a_table_end_no_run():
    assert texts(HELD, ["4", "20"], ["70", "97"], **RULE) == ["<=20", ">=70"]
    assert texts(HELD, ["21", "20", "22"], **RULE) == ["20-22"]
    assert texts(SMALL, ["-1.5", "0"], **RULE) == ["<=0"]
    assert texts(HELD, ["4", "20", "70", "97", None], **RULE) == ["{<=20, >=70, NULL}"]


def test_an_extreme_alone_in_a_set_lies_beyond_its_neighbour():
    assert texts(HELD, ["4", "21", "97"], **RULE) == ["{<20, 21, >70}"]
    assert texts(HELD, ["97", None], **RULE) == ["{>70, NULL}"]


def test_all_numbers_without_null_tell_neither_end():
    assert texts(HELD, ["4", "20", "21", "22", "70", "97"], **RULE) == ["not NULL"]


def test_a_run_of_whole_intervals_has_the_borders_of_their_grid():
    assert texts(FIVES, ["4", "20", "21"], ["27", "97"], **GRID) == ["0-24", "25-99"]
    assert texts(FIVES, ["4", "20", "21", "27"], **GRID) == ["0-29"]
    assert texts(FIVES, ["4", "20", "21"], low=1, **GRID) == ["0-24"]
    assert texts(FIVES, ["97", "4", None], **GRID) == ["{0-9, 90-99, NULL}"]
    assert texts(OPEN, ["0.2", "0.7", "1.0"], **GRID) == ["[0.0, 1.5)"]


def test_a_run_of_open_intervals_is_open():
    assert texts(OPEN, ["-3.5", "0.2"], ["1.0", "7.5"], **GRID) == ["<0.5", ">=1.0"]


def test_a_run_that_cuts_intervals_ends_at_values_but_for_the_extremes():
    assert texts(FIVES, ["4", "20"], ["21", "27"], **GRID) == ["<=20", "21-27"]


def test_a_run_that_a_value_is_called_by_is_a_set():
    tree = Tree.grow("x", [("1", "1-2", "*"), ("3", "1-2", "*"), ("2", "b", "*"), ("4", "b", "*")])
    assert texts(tree, ["1", "2"]) == ["{1, 2}"]


def test_a_value_that_is_called_as_a_node_is_a_set():
    tree = Tree.grow("x", [("a", "a", "*"), ("b", "a", "*"), ("c", "c", "*"), ("d", "c", "*")])
    assert texts(tree, ["a"], ["b", "c"]) == ["{a}", "{b, c}"]


def test_no_label_names_what_is_below_the_lowest_level():
    rows = [("1", "one", "*"), ("2", "two", "*"), ("3", "two", "*"), ("4", "four", "*")]
    tree = Tree.grow("x", rows)
    assert texts(tree, ["1", "2", "3"], low=1) == ["{one, two}"]


def test_levels_are_those_of_nodes_or_around_a_group():
    gov, mixed = labels(WORK, ["Local-gov", "Federal-gov", "State-gov"], ["Private", "a, b"])
    assert (gov.levels, gov.is_node) == ((1,), True)
    assert (mixed.levels, mixed.is_node) == ((0, 1), False)


def test_the_nodes_of_one_level_have_the_labels_of_that_level_where_it_is_asked_for():
    tree = Tree.grow("x", [("a", "A", "*"), ("b", "B", "*"), ("c", "B", "*")])
    found = GroupLabeller(GroupReader(tree), 0, 2, "*").label_alike([[0], [1, 2]])
    assert [(each.label, each.levels) for each in found] == [("A", (1,)), ("B", (1,))]


def test_a_value_by_itself_keeps_its_text_where_the_others_are_nodes():
    tree = Tree.grow("x", [("a", "A", "*"), ("b", "B", "*"), ("c", "B", "*")])
    assert texts(tree, ["a"], ["b", "c"]) == ["a", "B"]
    assert texts(tree, ["a"], ["b", "c"], low=1) == ["A", "B"]


@pytest.mark.parametrize("way", [GroupLabeller.label, GroupLabeller.label_alike])
def test_labels_of_a_level_are_taken_where_those_that_are_published_tell_the_level(way):
    tree = Tree.grow("x", [("*", "other", "*"), ("b", "g", "*"), ("c", "g", "*")])
    labeller = GroupLabeller(GroupReader(tree), 0, 2, "none")
    single = [[0], [1], [2]]
    published = {
        each: [group.label for group in way(labeller, single, each)] for each in [(0, 1), (0,)]
    }
    assert published == {(0, 1): ["*", "b", "c"], (0,): ["other", "b", "c"]}


def test_labels_of_a_level_are_not_taken_where_another_value_is_called_so():
    tree = Tree.grow("x", [("a", "g", "*"), ("b", "a", "*"), ("c", "a", "*")])
    found = GroupLabeller(GroupReader(tree), 0, 2, "*").label_alike([[0], [1, 2]])
    assert [each.label for each in found] == ["g", "{b, c}"]


def test_a_node_under_another_label_keeps_its_level():
    tree = Tree.grow("x", [("*", "*", "*"), ("b", "g", "*"), ("c", "g", "*")])
    labeller = GroupLabeller(GroupReader(tree), 1, 2, "*")
    first, _ = labeller.label([[0], [1, 2]], published=[0])
    assert (first.label, first.levels, first.is_node) == ("{*}", (1,), False)


def test_groups_without_a_label_of_their_own_are_counted_not_named():
    tree = Tree.grow("x", [("a", "*"), ("b", "*"), ("{a, b}", "*")])
    with pytest.raises(HierarchyError, match="column 'x': 1 group of values") as caught:
        labels(tree, ["a", "b"])
    assert "{a" not in str(caught.value)


def test_what_is_no_label_says_nothing():
    reader = GroupReader(WORK)
    wrong = ["", "{", "{}", "{Private", "{Private,a}", "{Private, Private}", "{nobody}", "1-2"]
    assert [reader.read(text) for text in [*wrong, '{"Private}', "{gov, Local-gov}"]] == [None] * 10
    assert GroupReader(AGES).read("20-10") is None
    assert GroupReader(AGES).read("9 to 10") == {0, 1}
    assert [GroupReader(AGES).read(text) for text in ("<9", ">20", "11-19", "09")] == [None] * 4


def test_numbers_have_an_order_of_their_own():
    assert numeric_order(AGES) == (0, 1, 2, 3)
    assert numeric_order(Tree.grow("x", [("2", "*"), ("10", "*"), ("1", "*")])) == (2, 0, 1)
    assert numeric_order(WORK) is None


@st.composite
def partitions(draw):
    """A random tree and a partition of its leaves."""
    tree = Tree.grow("any", draw(hierarchies("", leaves=7, shared=True, repeats=True)))
    numbers = st.integers(0, 3)
    parts = draw(st.lists(numbers, min_size=len(tree.leaves), max_size=len(tree.leaves)))
    groups = [[leaf for leaf, own in enumerate(parts) if own == part] for part in set(parts)]
    return tree, groups


@given(partitions(), st.booleans())
def test_reading_a_label_gives_its_group(drawn, is_listed):
    tree, groups = drawn
    reader = GroupReader(tree)
    found = GroupLabeller(reader, 0, tree.height, "none", is_listed).label(groups)
    assert sorted(each.leaves for each in found) == sorted(map(tuple, groups))
    assert len({each.label for each in found}) == len(found)
    assume(any(not each.is_node for each in found))
    assert [reader.read(each.label) for each in found] == [set(each.leaves) for each in found]
