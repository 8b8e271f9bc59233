"""Hierarchy: its constructors, files, specifications and forms."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy, Tree


def faults(build, *arguments, **options):
    with pytest.raises(HierarchyError) as caught:
        build(*arguments, **options)
    return caught.value.faults


@pytest.fixture
def written(tmp_path):
    def write(content, name="city.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        "a;x;*\nb;x;*\n",
        "a,x,*\nb,x,*",
        "a;x;*\r\nb;x;*\r\n",
        "\ufeffa;x;*\nb;x;*\n",
        '"a";"x";"*"\n\n"b";x;*\n',
        "leaf;level1;level2\na;x;*\nb;x;*\n",
    ],
)
def test_file_in_each_shape_gives_the_same_rows(written, content):
    assert Hierarchy.from_file(written(content)).rows == (("a", "x", "*"), ("b", "x", "*"))


def test_file_prefers_semicolons_outside_quotes(written):
    assert Hierarchy.from_file(written("a, b;x\n")).rows == (("a, b", "x"),)
    assert Hierarchy.from_file(written('"a;b",x\n')).rows == (("a;b", "x"),)
    assert Hierarchy.from_file(written("a;b,x\n"), delimiter=",").rows == (("a;b", "x"),)


def test_file_with_an_empty_leaf_names_null(written):
    assert Hierarchy.from_file(written("a;x;*\n;;*\n")).rows == (("a", "x", "*"), (None, None, "*"))
    assert Hierarchy.from_file(written(";none;*\n")).rows == ((None, "none", "*"),)


def test_file_with_two_empty_leaves_has_a_duplicate(written):
    rows = Hierarchy.from_file(written(";*\n;*\n")).rows
    assert "1 duplicate leaf" in faults(Tree.grow, "city", rows)[0]


def test_file_without_a_single_top_is_refused_by_the_tree(written):
    rows = Hierarchy.from_file(written("a;x\nb;y\nc;y\n")).rows
    assert "has 2 top nodes at level 1; add a last column" in faults(Tree.grow, "city", rows)[0]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "hierarchy 'city.csv' is empty"),
        ("secret;x;*\nsecret2;*\n", "hierarchy 'city.csv' is ragged: 1 of its 2 rows"),
        ("secret\n", "has 0 levels above the leaves"),
        (b"secret\xff;*\n", "is not a UTF-8 file"),
        ("secret" * 30_000 + ";*\n", "is not a CSV file"),
    ],
)
def test_file_that_is_no_table_is_refused_without_its_values(written, content, expected):
    (fault,) = faults(Hierarchy.from_file, written(content))
    assert expected in fault
    assert "secret" not in fault


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("a;x;*\nb;*\n", "see line 2"),
        ('leaf;level1\n"a\n1";x\n\nb;x;*\nc\n', "see lines 5, 6"),
        ("a;*\n" + "b\n" * 9, "see lines 2, 3, 4, 5, 6 and 4 more"),
        ("a;*\n" + "b" * 200_000 + ";*\n", "not a CSV file from line 2 on"),
    ],
)
def test_file_with_a_fault_names_its_lines(written, content, lines):
    assert faults(Hierarchy.from_file, written(content))[0].endswith(lines)


def test_file_that_is_missing_or_a_folder_is_a_source_error(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(SourceError, match="hierarchy file"):
            Hierarchy.from_file(path)


def test_delimiter_is_one_character(written):
    assert "one character" in faults(Hierarchy.from_file, written("a;*"), delimiter="::")[0]


def test_rows_turn_integers_into_text_and_refuse_other_types():
    assert Hierarchy.from_rows([(1, "x"), (None, "x")]).rows == (("1", "x"), (None, "x"))
    assert "neither text nor integer" in faults(Hierarchy.from_rows, [(1.5, "x")])[0]
    assert "neither text nor integer" in faults(Hierarchy.from_rows, [(True, "x")])[0]


@pytest.mark.parametrize(
    ("hierarchy", "height", "text"),
    [
        (Hierarchy.suppression(), 1, "suppression"),
        (Hierarchy.intervals(5, 10, 20), 4, "intervals of 5, 10, 20"),
        (
            Hierarchy.intervals(0.1, 1, origin=0.5, low=0, high=9.5),
            3,
            "intervals of 0.1, 1, from 0.5, open below 0, open from 9.5",
        ),
        (Hierarchy.prefix(4, 3, 2), 4, "prefixes of 4, 3, 2 characters"),
        (Hierarchy.dates("month", "year"), 3, "dates by month, year"),
        (Hierarchy.expressions("value % 2"), 2, "expressions value % 2"),
        (Hierarchy.from_rows([("a", "*")], name="a.csv"), 1, "rows of a.csv (1 leaf, 1 level)"),
    ],
)
def test_height_and_description(hierarchy, height, text):
    assert hierarchy.height == height
    assert hierarchy.describe() == text


def test_only_explicit_rows_are_rows():
    assert Hierarchy.from_rows([("a", "*")]).kind == "rows"
    assert Hierarchy.intervals(5).rows is None
    assert Hierarchy().kind == "suppression"


@pytest.mark.parametrize(
    ("widths", "options", "expected"),
    [
        ((), {}, "needs at least one width"),
        ((5, 12), {}, "width 5 of level 1 does not divide width 12 of level 2"),
        ((10, 5), {}, "width 5 of level 2 is not above width 10 of level 1"),
        ((5, 5), {}, "is not above"),
        ((0.1, 0.25), {}, "does not divide"),
        ((0,), {}, "1 width that is not positive"),
        ((-5, 0), {}, "2 widths that are not positive"),
        ((5,), {"low": 9, "high": 9}, "low that is not below its high"),
        (("five",), {}, "'five' is not a number"),
        ((True,), {}, "is not a number"),
        ((float("inf"),), {}, "is not finite"),
        (("1e-9", 10_000_000), {}, "more than 15 digits"),
        (("1e400000000",), {}, "more than 15 digits"),
        (("1.00000000000000000000000000000001",), {}, "more than 15 digits"),
    ],
)
def test_intervals_that_make_no_grid_are_refused(widths, options, expected):
    assert expected in "; ".join(faults(Hierarchy.intervals, *widths, **options))


def test_intervals_tell_all_faults_at_once():
    assert len(faults(Hierarchy.intervals, 5, 12, 30, low=2, high=1)) == 3


def test_intervals_take_numbers_as_they_are_written():
    same = [
        Hierarchy.intervals(*widths) for widths in ((0.1, 1), ("0.1", "1.0"), (Decimal("0.1"), 1))
    ]
    assert same[0] == same[1] == same[2]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((), "at least one length"),
        ((3, 4), "length 4 of level 2 is not below length 3 of level 1"),
        ((3, 0), "1 length that is not positive"),
        (("x",), "lengths that are integers"),
        ((2.5,), "lengths that are integers"),
    ],
)
def test_prefixes_that_do_not_shorten_are_refused(lengths, expected):
    assert expected in "; ".join(faults(Hierarchy.prefix, *lengths))


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ((), "at least one unit"),
        (("month", "fortnight"), "1 unknown unit (fortnight)"),
        (("year", "month"), "hierarchy 'dates': month of level 2 is not coarser than year"),
        (("month", "month"), "is not coarser"),
        (("week", "year"), "a week of level 1 can lie in two units of level 2 (year)"),
        (("week", "decade"), "does not nest"),
        (("month", "week"), "is not coarser"),
    ],
)
def test_units_that_do_not_nest_are_refused(units, expected):
    assert expected in "; ".join(faults(Hierarchy.dates, *units))


def test_week_stands_alone_or_after_day():
    assert Hierarchy.dates("day", "week").height == 3
    assert Hierarchy.dates("week").height == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("suppress", Hierarchy.suppression()),
        ("intervals:5,10,20", Hierarchy.intervals(5, 10, 20)),
        ("intervals: 0.5, 1;low=-2;high=100", Hierarchy.intervals("0.5", 1, low=-2, high=100)),
        ("intervals:5;origin=2", Hierarchy.intervals(5, origin=2)),
        ("prefix:4,3,2", Hierarchy.prefix(4, 3, 2)),
        ("prefix:4;mask=#", Hierarchy.prefix(4, mask="#")),
        ("dates:month,quarter,year", Hierarchy.dates("month", "quarter", "year")),
        (
            "sql:left(value, 2); 'a;b' ;\"x;\"",
            Hierarchy.expressions("left(value, 2)", "'a;b'", '"x;"'),
        ),
        ("table:my ages", Hierarchy.table("my ages")),
    ],
)
def test_specification_names_each_kind(text, expected):
    assert Hierarchy.from_spec(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "unknown kind"),
        ("interval:5", "'interval:5' has an unknown kind; choose from suppress, intervals:"),
        ("intervals:", "is not a number"),
        ("intervals:5;steps=2", "unknown keys: steps"),
        ("intervals:5;low", "'low' is no option"),
        ("prefix:a", "lengths that are integers"),
        ("dates:month,", "unknown unit"),
        ("sql:", "empty expression"),
        ("sql:a;;b", "empty expression"),
        ("sql:'a", "open quote"),
        ("table:", "needs the name"),
    ],
)
def test_specification_that_names_nothing_is_refused(text, expected):
    assert expected in "; ".join(faults(Hierarchy.from_spec, text))


def test_file_is_found_relative_to_the_folder(written, tmp_path):
    written("a;*\n")
    expected = (("a", "*"),)
    assert Hierarchy.from_spec("city.csv", folder=tmp_path).rows == expected
    assert Hierarchy.from_spec("file:city.csv", folder=tmp_path).rows == expected
    assert Hierarchy.from_dict({"file": "city.csv"}, folder=tmp_path).rows == expected
    assert (
        Hierarchy.from_dict({"file": str(tmp_path / "city.csv")}, folder=Path("/")).rows == expected
    )


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.suppression(),
        Hierarchy.from_rows([("a", "x", "*"), (None, None, "*")], name="a.csv"),
        Hierarchy.intervals(0.1, "0.5", origin="0.25", low=-3, high="99.123456789"),
        Hierarchy.intervals(5),
        Hierarchy.prefix(3, 1, mask=""),
        Hierarchy.dates("day", "week"),
        Hierarchy.expressions("upper(value)", "'x'"),
        Hierarchy.table("ages"),
    ],
)
def test_form_survives_json(hierarchy):
    assert Hierarchy.from_dict(json.loads(json.dumps(hierarchy.to_dict()))) == hierarchy


@given(st.integers(1, 10**6), st.integers(0, 9), st.integers(2, 50))
def test_grid_of_any_decimals_survives_json(units, decimals, factor):
    width = Decimal(units).scaleb(-decimals)
    hierarchy = Hierarchy.intervals(width, width * factor, origin=width)
    assert Hierarchy.from_dict(json.loads(json.dumps(hierarchy.to_dict()))) == hierarchy


def test_empty_form_is_suppression():
    assert Hierarchy.from_dict({}) == Hierarchy.suppression()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"interval": [5]}, "unknown keys: interval"),
        ({"prefix": [3], "low": 2, "z": 1}, "hierarchy 'prefix' has unknown keys: low, z"),
        ({"prefix": [3], "dates": ["year"]}, "has 2 kinds (prefix, dates)"),
        ({"suppress": False}, "can only be true"),
        ({"intervals": 5}, "wrong type; give a list of numbers, such as [5, 10]"),
        ({"intervals": [None]}, "is not a number"),
        ({"intervals": [[5]]}, "is not a number"),
        ({"prefix": [3], "mask": 1}, "wrong type"),
        ({"prefix": [None]}, "lengths that are integers"),
        ({"dates": "year"}, "wrong type; give a list of texts"),
        ({"expressions": [1]}, "wrong type"),
        ({"file": 1}, "wrong type; give its path as a text"),
        ({"rows": [1]}, "lists of labels"),
        ({"table": None}, "wrong type"),
    ],
)
def test_form_that_fits_no_kind_is_refused(form, expected):
    assert expected in "; ".join(faults(Hierarchy.from_dict, form))


def test_table_has_no_height_before_it_is_loaded():
    with pytest.raises(HierarchyError, match="must be loaded"):
        _ = Hierarchy.table("ages").height
