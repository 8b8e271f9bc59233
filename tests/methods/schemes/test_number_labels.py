"""Labels of numbers of the method scheme: what they tell, and that `measure` reads them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier

pytestmark = pytest.mark.slow

SETTINGS = settings(max_examples=25)
AGES = [20 + n % 51 for n in range(102)]
FIVES = Hierarchy.intervals(5, 10, 20)
NONE = Hierarchy.suppression()


def published(ages, hierarchy, *, scheme):
    """The labels of a table of ages."""
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
        insert(connection, "people", [(age,) for age in ages])
        policy = Policy({"age": hierarchy}, models=[KAnonymity(5)])
        made = sqlanon.plan(connection, policy, table="people", method="scheme", scheme=scheme)
        sqlanon.apply(connection, made, into="out")
        found = connection.execute("SELECT DISTINCT age FROM out ORDER BY ALL").fetchall()
    return [label for (label,) in found]


def test_merged_intervals_tell_neither_extreme():
    inner = ["40-44", "45-49", "50-54", "55-59"]
    assert published([*AGES, 4, 97], FIVES, scheme="gops") == ["0-39", *inner, "60-99"]


def test_merged_values_tell_neither_extreme():
    labels = published([*AGES, 4, 97], NONE, scheme="ops")
    assert labels[-2:] == ["<=22", ">=68"]
    assert labels[:2] == ["23-25", "26-28"]


def test_one_record_less_does_not_change_the_labels_of_intervals():
    ages = [*AGES, 2, 98]
    labels = published(ages, FIVES, scheme="gops")
    assert labels[0] == "0-39"
    for one in (4, 97):
        assert published([*ages, one], FIVES, scheme="gops") == labels


@pytest.mark.parametrize("one", [4, 97])
def test_one_record_less_does_not_change_the_labels_of_open_runs(one):
    assert published([*AGES, one], NONE, scheme="ops") == published(AGES, NONE, scheme="ops")


COLUMNS = {
    "INTEGER": st.integers(-12, 30),
    "DECIMAL(5,2)": st.integers(-900, 900).map(lambda n: Decimal(n) / 100),
    "DOUBLE": st.floats(-9, 9, width=16),
    "FLOAT": st.integers(-90, 90).map(lambda n: n / 10),
}
RULES = [
    NONE,
    Hierarchy.intervals(2, 10),
    Hierarchy.intervals("0.5", "2.5", 5),
    Hierarchy.intervals(3, 6, origin=1, low=-5, high=7),
    Hierarchy.expressions("CASE WHEN value < 0 THEN 'below' ELSE '<=21' END"),
]


@SETTINGS
@given(
    draw=st.data(),
    kind=st.sampled_from(list(COLUMNS)),
    hierarchy=st.sampled_from(RULES),
    scheme=st.sampled_from(["ops", "sps", "gops", "gsps"]),
    low=st.integers(0, 1),
)
def test_measure_reads_the_labels_of_any_numbers(draw, kind, hierarchy, scheme, low):
    values = draw.draw(st.lists(COLUMNS[kind] | st.none(), min_size=4, max_size=10))
    values = [None if value is None else value + 0 for value in values]
    attribute = QuasiIdentifier(hierarchy, min_level=low)
    policy = Policy({"number": attribute}, models=[KAnonymity(2)])
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE people (number {kind})")
        insert(connection, "people", [(value,) for value in values])
        made = sqlanon.plan(connection, policy, table="people", method="scheme", scheme=scheme)
        sqlanon.apply(connection, made, into="out")
        found = sqlanon.measure(connection, "out", policy, table="people")
    assert found.statistics == made.report.statistics
    assert found.loss == pytest.approx(made.report.loss)
