"""Masks: which patterns a user asks for, and what is said of those that cannot be."""

from __future__ import annotations

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy.patterns import MaskColumn, Masks

AGE, ZIP, SEX = MaskColumn("age", 0, 3), MaskColumn("zip", 1, 4), MaskColumn("sex", 0, 1)
COLUMNS = [AGE, ZIP, SEX]


def nodes(*kept):
    return Masks.of(list(map(list, kept))).nodes(COLUMNS)


def test_a_pattern_keeps_its_columns_and_suppresses_the_others():
    assert nodes(["age", "sex"], ["zip"]) == [(0, 4, 0), (3, 1, 1)]


def test_a_pattern_keeps_a_column_at_a_level():
    assert nodes(["age@2", "zip@3"]) == [(2, 3, 1)]


def test_a_comma_parts_columns_where_none_has_that_name():
    columns = [MaskColumn(name, 0, 2) for name in ("a", "b, c", "d@1")]
    assert Masks.of([["a,b, c"], ["d@1"], ["d@1@1, a"]]).nodes(columns) == [
        (0, 0, 2),
        (2, 2, 0),
        (0, 2, 1),
    ]


def test_none_suppresses_every_column():
    assert nodes(["none"]) == [(3, 4, 1)]


def test_all_patterns_are_every_choice_of_columns():
    assert len(set(Masks.of("all").nodes(COLUMNS))) == 8


def test_a_rule_bounds_how_many_columns_are_suppressed():
    found = Masks.of("at most 1 suppressed").nodes(COLUMNS)
    assert found == [(0, 1, 0), (0, 1, 1), (0, 4, 0), (3, 1, 0)]


def test_a_rule_keeps_columns_apart():
    found = Masks.of(["at most 1 suppressed", "age never with sex"]).nodes(COLUMNS)
    assert found == [(0, 1, 1), (3, 1, 0)]


@pytest.mark.parametrize(
    ("low", "height", "message"),
    [
        (1, 1, "its lowest level allowed is the top, so no pattern keeps it"),
        (2, 3, "the only one is 2"),
    ],
)
def test_the_levels_that_a_pattern_may_keep_are_said_where_they_are_few(low, height, message):
    with pytest.raises(PolicyError) as caught:
        Masks.of([["a@0", "b"]]).nodes([MaskColumn("a", low, height), MaskColumn("b", 0, 1)])
    assert message in str(caught.value)


def test_a_column_of_one_level_makes_no_pattern_twice():
    assert Masks.of("all").nodes([SEX, MaskColumn("land", 1, 1)]) == [(0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([["age"], ["age"]], "patterns 1 and 2 are the same"),
        ([["age", "sex"], ["sex, age"]], "patterns 1 and 2 are the same"),
        ([[]], "pattern 1: it names no column; write 'none' to suppress them all"),
        ([[""]], "pattern 1: it names no column"),
        ([["agee"]], "pattern 1: 'agee' is not a quasi-identifier; did you mean 'age'?"),
        ([["age"], ["town@2"]], "pattern 2: 'town' is not a quasi-identifier"),
        ([["age", "age@1"]], "pattern 1: column 'age' is kept twice"),
        ([["age@3"]], "level 3 of column 'age' is none that a pattern keeps; they are 0 to 2"),
        ([["zip@0"]], "level 0 of column 'zip' is none that a pattern keeps; they are 1 to 3"),
    ],
)
def test_a_pattern_that_cannot_be_is_named(kept, message):
    with pytest.raises(PolicyError) as caught:
        Masks.of(kept).nodes(COLUMNS)
    assert message in str(caught.value)


def test_all_faulty_patterns_are_named_at_once():
    with pytest.raises(PolicyError, match=r"pattern 1: .*pattern 3: "):
        nodes(["town"], ["age"], ["street"])


@pytest.mark.parametrize("given", [[], "", "some", ["all", ["age"]], 3, [[1]], {"age": 1}])
def test_what_is_no_list_of_patterns_is_refused(given):
    with pytest.raises(PolicyError):
        Masks.of(given)


def test_a_rule_of_an_unknown_column_is_refused():
    with pytest.raises(PolicyError, match="'birth' is not a quasi-identifier"):
        Masks.of("zip never with birth").nodes(COLUMNS)


def test_rules_that_no_pattern_satisfies_are_refused():
    with pytest.raises(PolicyError, match="no pattern satisfies the rules"):
        Masks.of(["at most 0 suppressed", "age never with sex"]).nodes(COLUMNS)


def test_too_many_patterns_are_refused_before_they_are_made():
    wide = [MaskColumn(f"c{n}", 0, 1) for n in range(40)]
    with pytest.raises(PolicyError, match="add a rule such as 'at most 3 suppressed'"):
        Masks.of("all").nodes(wide)
    assert len(Masks.of("at most 2 suppressed").nodes(wide)) == 1 + 40 + 780


def test_a_level_that_is_no_number_is_said_to_be_none():
    with pytest.raises(PolicyError, match="'x' is not a level of column 'zip'; a level is a whole"):
        nodes(["zip@x"])


def test_a_level_that_is_no_number_is_said_of_a_column_with_a_comma():
    with pytest.raises(PolicyError, match="'x' is not a level of column 'b, c'"):
        Masks.of([["b, c@x"]]).nodes([MaskColumn("b, c", 0, 2)])


def test_a_rule_of_one_column_is_refused():
    with pytest.raises(PolicyError, match="'age never with age' of patterns names one column tw"):
        Masks.of("age never with age")


CAPPED = [MaskColumn("age", 0, 2, capped=True), MaskColumn("zip", 1, 1, capped=True), SEX]


def test_a_column_that_may_not_be_suppressed_is_at_its_highest_level_where_it_is_not_kept():
    found = Masks.of([["sex"], ["age"], ["age@2", "sex"], ["none"]]).nodes(CAPPED)
    assert found == [(2, 1, 0), (0, 1, 1), (2, 1, 1)]


def test_patterns_that_only_a_fixed_level_makes_the_same_are_one():
    assert Masks.of([["age", "zip"], ["age"]]).nodes(CAPPED) == [(0, 1, 1)]
    assert len(Masks.of("all").nodes(CAPPED)) == 4


@pytest.mark.parametrize(
    ("text", "message"), [("age@3", "they are 0 to 2"), ("zip@0", "the only one is 1")]
)
def test_the_highest_level_allowed_may_be_kept_where_it_tells_something(text, message):
    with pytest.raises(PolicyError, match=message):
        Masks.of([[text]]).nodes(CAPPED)
