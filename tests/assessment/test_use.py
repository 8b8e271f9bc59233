"""Errors of tables, means and quantiles of a release, against brute force."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from databases import empty_database
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.measures import STAR, create, released_rows, values_under
from strategies import policy_of, tables

import sqlanon
from sqlanon import Hierarchy, Policy

pytestmark = pytest.mark.slow

SETTINGS = settings(max_examples=8)
AGES = Hierarchy.intervals(10, 20)


def table_error(cells, regions):
    """Total variation and mean relative error of a table, by its definition over all cells.

    Args:
        cells: The cell of each record of the original.
        regions: Per released record the set of values of each column that it stands for.
    """
    before = {cell: Fraction(n, len(cells)) for cell, n in Counter(cells).items()}
    after = Counter()
    for region in regions:
        within = list(itertools.product(*region))
        for cell in within:
            after[cell] += Fraction(1, len(within) * len(regions))
    total = sum(abs(before.get(c, 0) - after.get(c, 0)) for c in {*before, *after}) / 2
    relative = sum(abs(after.get(c, 0) - p) / p for c, p in before.items()) / len(before)
    return total, relative


@SETTINGS
@given(table=tables(repeats=False), draw=st.data(), keep=st.booleans())
def test_errors_of_tables_are_those_of_all_their_cells(table, draw, keep):
    heights = [len(tree[0]) - 1 for tree in table["trees"]]
    levels = [
        draw.draw(st.one_of(st.none(), st.tuples(*(st.integers(0, h) for h in heights))))
        for _ in table["records"]
    ]
    levels = [None if place == tuple(heights) else place for place in levels]
    assume(any(levels))
    stars = (STAR,) * len(heights)
    rows = [row or (stars if keep else None) for row in released_rows(table, levels)]
    with empty_database() as connection:
        create(connection, "original", table, table["records"])
        create(connection, "released", table, rows)
        found = sqlanon.measure(connection, "released", policy_of(table), table="original").use
    # What each column holds, and what each published record stands for there.
    columns = {
        f"c{number}": (
            [record[number] for record in table["records"]],
            [
                None if place is None else values_under(tree, record[number], place[number])
                for record, place in zip(table["records"], levels, strict=True)
            ],
        )
        for number, tree in enumerate(table["trees"])
    }
    columns |= {
        f"s{number}": (
            values,
            [None if p is None else {v} for v, p in zip(values, levels, strict=True)],
        )
        for number, values in enumerate(table["sensitive"])
    }
    singles, pairs = [(name,) for name in columns], itertools.combinations(columns, 2)
    assert [each.columns for each in found.tables] == [*singles, *pairs]
    for each in found.tables:
        cells = list(zip(*(columns[name][0] for name in each.columns), strict=True))
        regions = zip(*(columns[name][1] for name in each.columns), strict=True)
        total, relative = table_error(cells, [region for region in regions if None not in region])
        assert each.total_variation == pytest.approx(float(total), abs=1e-9), each.columns
        assert each.relative == pytest.approx(float(relative), abs=1e-9), each.columns


def figures(weighted):
    """The mean of numbers with their weights, and the quartiles: least values with that share."""
    total = sum(weighted.values())
    quartiles = [
        min(n for n in weighted if sum(w for m, w in weighted.items() if m <= n) >= share * total)
        for share in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    ]
    return [sum(n * w for n, w in weighted.items()) / total, *quartiles]


@SETTINGS
@given(
    records=st.lists(
        st.tuples(st.integers(-30, 60), st.integers(0, 9) | st.none()), min_size=1, max_size=12
    ),
    node=st.integers(0, 2),
    lost=st.integers(0, 4),
)
def test_errors_of_means_and_quantiles_are_those_of_values_spread_alike(records, node, lost):
    assume(lost < len(records))
    published = records[lost:]
    width = (1, 10, 20)[node]
    ages = {age for age, _ in records}
    spread = Counter()
    for age, _ in published:
        within = [other for other in ages if other // width == age // width]
        for other in within:
            spread[other] += Fraction(1, len(within))
    with empty_database() as connection:
        connection.execute("CREATE TABLE original (age INTEGER, rate INTEGER)")
        connection.executemany("INSERT INTO original VALUES (?, ?)", records)
        label = "age" if node == 0 else _label(width)
        connection.execute("CREATE TABLE kept (age INTEGER, rate INTEGER)")
        connection.executemany("INSERT INTO kept VALUES (?, ?)", published)
        connection.execute(f"CREATE TABLE released AS SELECT {label} AS age, rate FROM kept")
        policy = Policy({"age": AGES}, sensitive=["rate"])
        found = sqlanon.measure(connection, "released", policy, table="original").use
    expected = [("age", figures(Counter(a for a, _ in records)), figures(spread))]
    rates = [Counter(r for _, r in rows if r is not None) for rows in (records, published)]
    if all(rates):
        expected.append(("rate", *map(figures, rates)))
    errors = {(each.column, each.figure): each for each in found.numbers}
    assert len(errors) == 4 * len(expected)
    for column, before, after in expected:
        names = ("mean", "lower quartile", "median", "upper quartile")
        for name, old, new in zip(names, before, after, strict=True):
            error = errors[column, name]
            assert error.absolute == pytest.approx(float(abs(new - old)), abs=1e-9)
            share = None if old == 0 else pytest.approx(float(abs((new - old) / old)), abs=1e-9)
            assert error.relative == share


def _label(width):
    low = f"(CAST(FLOOR(age / {width}.0) AS INTEGER) * {width})"
    high = f"({low} + {width - 1})"
    between = f"CASE WHEN {low} < 0 OR {high} < 0 THEN ' to ' ELSE '-' END"
    return f"CONCAT({low}, {between}, {high})"


def test_pairs_of_many_columns_are_cut_and_a_note_says_so():
    names = [f"c{number}" for number in range(12)]
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE original AS SELECT {', '.join(f'1 {n}' for n in names)}")
        found = sqlanon.measure(connection, "original", Policy(names), table="original")
        single = sqlanon.measure(
            connection, "original", Policy(names), table="original", losses=["lm"]
        )
    assert Counter(len(each.columns) for each in found.use.tables) == {1: 12, 2: 45}
    assert "tables by two columns are those of the first 10 of 12 columns" in found.notes
    assert single.use is None


def test_columns_of_many_values_or_of_another_type_are_in_no_table():
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE original AS"
            " SELECT 1 AS c, i AS pay, i % 2 AS ill FROM (SELECT range AS i FROM range(1001))"
        )
        connection.execute(
            "CREATE TABLE released AS SELECT c, pay, CAST(ill AS DOUBLE) AS ill FROM original"
        )
        policy = Policy(["c"], sensitive=["pay", "ill"])
        found = sqlanon.measure(connection, "released", policy, table="original")
    assert [each.columns for each in found.use.tables] == [("c",)]
    assert {each.column for each in found.use.numbers} == {"c", "pay", "ill"}
    assert not any(each.absolute for each in found.use.numbers)
    assert "tables leave 'pay' out, which has more than 1,000 values" in found.notes
    assert "tables leave 'ill' out, whose type is another in the release" in found.notes
