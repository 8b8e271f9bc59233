"""Levels that a release is read at: those that the policy allows, where a label has several."""

import datetime

import pytest
from databases import empty_database, insert
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier, UnsatisfiableError
from sqlanon.errors import HierarchyError

DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 9), datetime.date(2021, 5, 5)]
GROUPED = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]
KINDS = {
    "prefix": ("VARCHAR", ["1", "12", "123", "199"], Hierarchy.prefix(2, 1)),
    "dates": ("DATE", DAYS, Hierarchy.dates("month", "year")),
    "intervals": ("INTEGER", [1, 2, 7, 15], Hierarchy.intervals(5, 10)),
    "expressions": ("INTEGER", [1, 2, 7, 15], Hierarchy.expressions("value // 5", "value // 10")),
    "suppression": ("VARCHAR", ["x", "y"], Hierarchy.suppression()),
    "rows": ("VARCHAR", ["a", "b", "c"], Hierarchy.from_rows(GROUPED)),
    "rows with NULL": ("VARCHAR", ["a"], Hierarchy.from_rows([*GROUPED, (None, None, "*")])),
}
METHODS = ["incognito", "set-cover", "mondrian", "forest"]


def people(kinds, rows):
    """A connection to a table of columns c0, c1, ... of some kinds."""
    connection = empty_database()
    typed = ", ".join(f"c{number} {KINDS[kind][0]}" for number, kind in enumerate(kinds))
    connection.execute(f"CREATE TABLE people ({typed})")
    insert(connection, "people", rows)
    return connection


def measured(connection, policy, **options):
    """What a release is said to lose by its plan and by `measure`."""
    report = sqlanon.anonymize(connection, policy, table="people", into="released", **options)
    return report.loss, sqlanon.measure(connection, "released", policy, table="people")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["incognito", "set-cover"])
@pytest.mark.parametrize("kind", ["prefix", "dates", "intervals", "expressions"])
def test_a_column_of_nulls_is_read_at_the_lowest_level_allowed(kind, method):
    with people([kind, "suppression"], [(None, "x"), (None, "y")] * 2) as connection:
        level = QuasiIdentifier(KINDS[kind][2], min_level=1)
        policy = Policy({"c0": level, "c1": Hierarchy.suppression()}, models=[KAnonymity(2)])
        planned, found = measured(connection, policy, method=method)
    assert found.loss == planned
    assert found.loss["suppressed_cells"] == 4
    assert found.loss["tree"] == pytest.approx((1 / 3 + 0) / 2)


@pytest.mark.slow
def test_a_release_beyond_the_bounds_is_read_as_without_them():
    rows = [(None, "x"), ("12", "x"), (None, "x"), ("12", "x")]
    with people(["prefix", "suppression"], rows) as connection:
        connection.execute("CREATE TABLE released AS FROM people")
        bounded = QuasiIdentifier(Hierarchy.prefix(1), min_level=1)
        policy = Policy({"c0": bounded, "c1": Hierarchy.suppression()}, models=[KAnonymity(2)])
        found = sqlanon.measure(connection, "released", policy, table="people")
    assert found.loss["tree"] == found.loss["suppressed_cells"] == 0


@st.composite
def bounded_tables(draw):
    """Kinds of columns, records of which any cell or a whole column is NULL, and level bounds."""
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=3))
    cells = [
        st.none() if draw(st.booleans()) else st.sampled_from([*KINDS[kind][1], None, None])
        for kind in kinds
    ]
    attributes = {}
    for number, kind in enumerate(kinds):
        hierarchy = KINDS[kind][2]
        low = draw(st.integers(0, hierarchy.height))
        high = draw(st.sampled_from([None, hierarchy.height, low]))
        attributes[f"c{number}"] = QuasiIdentifier(hierarchy, min_level=low, max_level=high)
    return kinds, draw(st.lists(st.tuples(*cells), min_size=3, max_size=9)), attributes


@settings(max_examples=15)
@given(
    table=bounded_tables(),
    k=st.integers(1, 3),
    limit=st.sampled_from([0.0, 0.4]),
    method=st.sampled_from(METHODS),
    loss=st.sampled_from(["lm", "tree", "suppressed-cells"]),
)
def test_a_release_of_nulls_is_measured_as_its_plan(table, k, limit, method, loss):
    kinds, rows, attributes = table
    policy = Policy(attributes, models=[KAnonymity(k)], suppression_limit=limit)
    with people(kinds, rows) as connection:
        try:
            planned, found = measured(connection, policy, method=method, loss=loss)
        except (UnsatisfiableError, HierarchyError):  # a label may stand for two nodes
            assume(False)
    # Which values cells had that are suppressed one by one, a release does not tell.
    planned = {**planned, "hdm": found.loss["hdm"]}
    assert found.loss == pytest.approx(planned, abs=1e-9)
