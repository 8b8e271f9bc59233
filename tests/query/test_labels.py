"""Label expressions, executed by DuckDB and written for Spark."""

import datetime
import itertools
import math
import re
from decimal import Decimal
from fractions import Fraction

import pytest
import sqlglot
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy, Tree
from sqlanon.query.hierarchy.value_labels import level_labels

CONNECTION = empty_database()
NAME = 'a "b" c'
COLUMN = exp.column(NAME, quoted=True)


def labelled(hierarchy, column_type, values):
    """Rows of (value, label of level 1, …, top), in the order of the values."""
    labels = [
        label.sql(dialect="duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)
        for label in level_labels(hierarchy, COLUMN, column_type=type_of(column_type))
    ]
    quoted = COLUMN.sql(dialect="duckdb")
    texts = [None if value is None else str(value) for value in values]
    return CONNECTION.execute(
        f"SELECT {quoted}, {', '.join(labels)} FROM (SELECT position, "
        f"CAST(text AS {column_type}) AS {quoted} FROM (SELECT unnest(range(len(?))) AS position, "
        "unnest(?::VARCHAR[]) AS text)) ORDER BY position",
        [texts, texts],
    ).fetchall()


def first_labels(hierarchy, column_type, values):
    return [row[1] for row in labelled(hierarchy, column_type, values)]


def fault(hierarchy, column_type):
    with pytest.raises(HierarchyError) as caught:
        level_labels(hierarchy, COLUMN, column_type=type_of(column_type))
    return "; ".join(caught.value.faults)


def assert_nests(rows):
    """The distinct rows make a tree: levels nest below one top."""
    Tree.grow("n", {(str(row[0]), *row[1:]) for row in rows if row[0] is not None}, with_null=True)


def holds(label, value, read):
    """Whether the label's own text, read as numbers of the value's kind, holds the value."""
    if label.startswith("<"):
        return value < read(label[1:])
    if label.startswith(">="):
        return value >= read(label[2:])
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return read(low) <= value < read(high)
    match = re.fullmatch(r"(-?\d+)(?:(?:-| to )(-?\d+))?", label)
    return int(match[1]) <= value <= int(match[2] or match[1])


def test_integer_intervals_floor_and_spell_negatives_out():
    values = [-21, -20, -1, 0, 4, 5, 24, None]
    assert first_labels(Hierarchy.intervals(5, 10), "INTEGER", values) == [
        "-25 to -21",
        "-20 to -16",
        "-5 to -1",
        "0-4",
        "0-4",
        "5-9",
        "20-24",
        None,
    ]


def test_origin_moves_the_grid_and_width_one_is_the_value():
    rows = labelled(Hierarchy.intervals(1, 10, origin=2), "BIGINT", [1, 2, 12])
    assert [row[1:] for row in rows] == [
        ("1", "-8 to 1", "*"),
        ("2", "2-11", "*"),
        ("12", "12-21", "*"),
    ]


def test_open_ends_are_the_same_at_every_level_and_cut_the_intervals():
    rows = labelled(Hierarchy.intervals(5, 10, low=18, high=31), "INTEGER", [17, 18, 20, 30, 31])
    assert [row[1:] for row in rows] == [
        ("<18", "<18", "*"),
        ("18-19", "18-19", "*"),
        ("20-24", "20-29", "*"),
        ("30", "30", "*"),
        (">=31", ">=31", "*"),
    ]


def test_decimal_and_float_intervals_are_half_open():
    for column_type in ("DECIMAL(9, 2)", "DOUBLE", "FLOAT"):
        labels = first_labels(Hierarchy.intervals(5), column_type, [20, 24.99, 25, -0.5, None])
        assert labels == ["[20, 25)", "[20, 25)", "[25, 30)", "[-5, 0)", None]


def test_fractional_widths_on_an_integer_column_are_half_open():
    labels = first_labels(Hierarchy.intervals(2.5), "INTEGER", [0, 2, 3, -1])
    assert labels == ["[0.0, 2.5)", "[0.0, 2.5)", "[2.5, 5.0)", "[-2.5, 0.0)"]


def test_borders_of_a_tenth_are_exact():
    values = [0.1 + 0.2, 0.3, -0.1, 0.7, math.nextafter(0.3, 0), -0.0, 5e-324, -5e-324]
    expected = ["0.3, 0.4", "0.3, 0.4", "-0.1, 0.0", "0.7, 0.8", "0.2, 0.3", "0.0, 0.1"]
    expected += ["0.0, 0.1", "-0.1, 0.0"]
    labels = first_labels(Hierarchy.intervals(0.1), "DOUBLE", [repr(value) for value in values])
    assert labels == [f"[{interval})" for interval in expected]


def test_borders_below_a_tenth_have_all_their_zeros():
    labels = first_labels(Hierarchy.intervals(0.05), "DOUBLE", [0.01, 0.07, -0.01, -0.12])
    assert labels == ["[0.00, 0.05)", "[0.05, 0.10)", "[-0.05, 0.00)", "[-0.15, -0.10)"]
    ended = Hierarchy.intervals(0.05, low=0.05, high=0.1)
    assert first_labels(ended, "DOUBLE", [0.01, 0.07, 0.2]) == ["<0.05", "[0.05, 0.10)", ">=0.10"]


def test_numbers_that_are_not_finite_have_a_label():
    rows = labelled(Hierarchy.intervals(0.5, 1), "DOUBLE", ["nan", "inf", "-inf"])
    assert [row[1:] for row in rows] == [("not finite", "not finite", "*")] * 3
    assert first_labels(Hierarchy.intervals(5), "FLOAT", ["nan", "inf"]) == ["not finite"] * 2


@pytest.mark.parametrize(
    ("column_type", "values"),
    [
        ("BIGINT", [-(2**63), 2**63 - 1]),
        ("HUGEINT", [-(2**127), 2**127 - 1]),
        ("UBIGINT", [0, 2**64 - 1]),
        ("UHUGEINT", [0, 10**18, 10**18 - 1, 2**128 - 1]),
        ("TINYINT", [-128, 127]),
        ("UTINYINT", [0, 255]),
        ("DECIMAL(38, 0)", [-(10**38) + 1, 10**38 - 1]),
        ("DECIMAL(38, 20)", ["-999999999999999999.9", "999999999999999999.9"]),
        ("DOUBLE", ["-1.7976931348623157e308", "1e300", "999999999999999.9"]),
        ("FLOAT", ["-3e38", "3e38"]),
    ],
)
@pytest.mark.parametrize("width", [1, 5, "0.25"])
def test_extremes_of_every_type_have_a_label_that_holds_them(column_type, values, width):
    read = float if column_type in ("DOUBLE", "FLOAT") else Decimal
    for low, high in ((None, None), (-7, 50)):
        hierarchy = Hierarchy.intervals(width, 500, low=low, high=high)
        rows = labelled(hierarchy, column_type, values)
        assert all(holds(label, value, read) for value, *labels, _ in rows for label in labels)


GRIDS = st.builds(
    lambda unit, decimals, factors, origin: (
        [
            Decimal(width).scaleb(-decimals)
            for width in itertools.accumulate(
                [unit, *factors], lambda width, factor: width * factor
            )
        ]
        + [Decimal(origin).scaleb(-decimals)]
    ),
    st.integers(1, 50),
    st.integers(0, 3),
    st.lists(st.integers(2, 5), max_size=2),
    st.integers(-100, 100),
)
ENDS = st.tuples(st.none() | st.integers(-40, -1), st.none() | st.integers(0, 40))


@settings(max_examples=60)
@given(
    GRIDS,
    ENDS,
    st.sampled_from(["INTEGER", "DECIMAL(12, 4)", "DOUBLE"]),
    st.lists(st.integers(-60_000, 60_000) | st.integers(-(10**6), 10**6), min_size=1),
)
def test_every_value_lies_in_its_own_label_and_levels_nest(grid, ends, column_type, numbers):
    *widths, origin = grid
    hierarchy = Hierarchy.intervals(*widths, origin=origin, low=ends[0], high=ends[1])
    divisor = 1 if column_type == "INTEGER" else 1000
    values = [number // 100 if divisor == 1 else number / divisor for number in numbers]
    rows = labelled(hierarchy, column_type, [*values, None])
    read = float if column_type == "DOUBLE" else Decimal
    for value, *labels, top in rows[:-1]:
        assert top == "*"
        assert all(holds(label, value, read) for label in labels)
    assert rows[-1][1:] == (*[None] * len(widths), "*")
    assert_nests(rows)


@settings(max_examples=60)
@given(
    st.sampled_from(["0.1", "0.01", "0.3", "0.007", "1"]),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)
    | st.lists(st.floats(-50, 50), min_size=1),
)
def test_every_float_lies_in_its_own_label(width, values):
    near = [math.nextafter(value, side) for value in values for side in (-math.inf, math.inf)]
    borders = [float(round(Fraction(value)) * Fraction(width)) for value in values]
    finite = [value for value in [*values, *near, *borders] if math.isfinite(value)]
    rows = labelled(Hierarchy.intervals(width, Decimal(width) * 10), "DOUBLE", map(repr, finite))
    assert all(holds(label, value, float) for value, *labels, _ in rows for label in labels)


def test_intervals_of_a_column_without_numbers_are_refused_without_its_values():
    assert "needs a numeric column, not TEXT" in fault(Hierarchy.intervals(5), "VARCHAR")
    assert "no value (--nullstr NA)" in fault(Hierarchy.intervals(5), "VARCHAR")
    text = fault(Hierarchy.intervals(5), "ENUM('secret')")
    assert f"column '{NAME}' needs a numeric column, not ENUM;" in text
    assert "33 decimals" in fault(Hierarchy.intervals("0.001"), "DECIMAL(38, 33)")


def test_prefix_masks_each_removed_character():
    rows = labelled(
        Hierarchy.prefix(4, 2), "VARCHAR", ["12345", "123", "1", "", "日本語です", None]
    )
    assert [row[1:] for row in rows] == [
        ("1234*", "12***", "*"),
        ("123", "12*", "*"),
        ("1", "1", "*"),
        ("", "", "*"),
        ("日本語で*", "日本***", "*"),
        (None, None, "*"),
    ]


def test_prefix_takes_numbers_another_mask_and_none():
    assert first_labels(Hierarchy.prefix(3, mask="#"), "INTEGER", [12345]) == ["123##"]
    assert first_labels(Hierarchy.prefix(3, mask=""), "BIGINT", [12345]) == ["123"]
    assert first_labels(Hierarchy.prefix(1, mask="'x"), "VARCHAR", ["ab"]) == ["a'x"]


def test_prefix_of_a_nested_column_is_refused():
    for column_type in ("INTEGER[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)"):
        assert "needs text, not" in fault(Hierarchy.prefix(2), column_type)


@settings(max_examples=60)
@given(
    st.sets(st.integers(1, 6), min_size=1, max_size=3),
    st.sampled_from(["*", "", "ab"]),
    st.sets(st.text("ab*", max_size=7), min_size=1),
)
def test_prefixes_nest_for_values_of_any_length(lengths, mask, values):
    hierarchy = Hierarchy.prefix(*sorted(lengths, reverse=True), mask=mask)
    assert_nests(labelled(hierarchy, "VARCHAR", values))


def test_dates_are_labelled_by_the_calendar():
    units = ("day", "month", "quarter", "year", "decade")
    for column_type in ("DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_S"):
        rows = labelled(Hierarchy.dates(*units), column_type, ["2024-02-29", None])
        assert rows[0][1:] == ("2024-02-29", "2024-02", "2024-Q1", "2024", "2020-2029", "*")
        assert rows[1][1:] == (*[None] * 5, "*")


def test_time_of_day_does_not_change_the_day():
    labels = first_labels(Hierarchy.dates("day"), "TIMESTAMP", ["2021-03-05 23:59:59.999999"])
    assert labels == ["2021-03-05"]


def test_years_far_away_have_labels():
    values = ["0987-03-01", "0044-03-15 (BC)", "12021-01-01", "0001-01-01", "infinity", "-infinity"]
    rows = labelled(Hierarchy.dates("month", "year", "decade"), "DATE", values)
    assert [row[1:-1] for row in rows] == [
        ("0987-03", "0987", "0980-0989"),
        ("-43-03", "-43", "-50 to -41"),
        ("12021-01", "12021", "12020-12029"),
        ("0001-01", "0001", "0000-0009"),
        ("not finite",) * 3,
        ("not finite",) * 3,
    ]
    assert first_labels(Hierarchy.dates("week"), "TIMESTAMP", ["infinity"]) == ["not finite"]


def test_weeks_of_forty_years_are_those_of_iso():
    days = [datetime.date(1995, 1, 1) + datetime.timedelta(n) for n in range(40 * 365)]
    rows = labelled(Hierarchy.dates("day", "week"), "DATE", days)
    assert [row[1:3] for row in rows] == [(str(day), f"{day:%G-W%V}") for day in days]


@settings(max_examples=30)
@given(
    st.sampled_from(
        [("day", "month", "quarter", "year", "decade"), ("quarter", "decade"), ("day", "week")]
    ),
    st.sets(st.datetimes(), min_size=1),
)
def test_units_nest_on_any_timestamps(units, values):
    assert_nests(labelled(Hierarchy.dates(*units), "TIMESTAMP", values))


@pytest.mark.parametrize(
    ("column_type", "expected"),
    [
        ("TIMESTAMP WITH TIME ZONE", "time zone; cast the column to TIMESTAMP"),
        ("VARCHAR", "not TEXT; cast the column to DATE, or name the --date-format"),
        ("INTEGER", "not INT"),
        ("TIME", "not TIME"),
    ],
)
def test_dates_of_another_type_are_refused_with_a_way_out(column_type, expected):
    assert expected in fault(Hierarchy.dates("year"), column_type)


def test_expressions_bind_the_column_by_name_or_placeholder():
    hierarchy = Hierarchy.expressions(
        "CASE WHEN value < 3 THEN 'few' ELSE 'many' END", '"A ""b"" c" % 2 -- odd', "VALUE > 100"
    )
    rows = labelled(hierarchy, "INTEGER", [1, 7, None])
    assert [row[1:] for row in rows] == [
        ("few", "1", "false", "*"),
        ("many", "1", "false", "*"),
        (None, None, None, "*"),
    ]


def test_suppression_is_the_top_alone_and_rows_have_no_expression():
    assert labelled(Hierarchy.suppression(), "VARCHAR", ["a", None]) == [("a", "*"), (None, "*")]
    assert "has rows, not a rule" in fault(Hierarchy.from_rows([("a", "*")]), "VARCHAR")
    assert "has rows, not a rule" in fault(Hierarchy.table("ages"), "VARCHAR")


@pytest.mark.parametrize(
    ("hierarchy", "column_type"),
    [
        (Hierarchy.intervals("0.1", 1, low=0, high=10), "DOUBLE"),
        (Hierarchy.intervals("0.1", 1), "DECIMAL(10, 2)"),
        (Hierarchy.intervals(5, 10, origin=2), "BIGINT"),
        (Hierarchy.prefix(3, 2), "VARCHAR"),
        (Hierarchy.dates("day", "week"), "DATE"),
        (Hierarchy.dates("month", "quarter", "year", "decade"), "TIMESTAMP"),
        (Hierarchy.expressions("upper(value) || '!'"), "VARCHAR"),
        (Hierarchy.suppression(), "VARCHAR"),
    ],
)
def test_labels_are_plain_sql_that_spark_reads_too(hierarchy, column_type):
    labels = level_labels(hierarchy, COLUMN, column_type=type_of(column_type))
    assert len(labels) == hierarchy.height
    for label in labels:
        text = label.sql(dialect="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
        assert "`" in text or text == "'*'"
        assert isinstance(sqlglot.parse_one(text, read="spark"), exp.Case | exp.Literal)
        again = sqlglot.parse_one(label.sql(dialect="duckdb"), read="duckdb")
        assert again.sql(dialect="duckdb") == label.sql(dialect="duckdb")
