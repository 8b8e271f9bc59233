"""Values that are one for people and several for a database get a note that names the column."""

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy


def notes_of(values, kind="TEXT", method="incognito", **settings):
    """What a plan says of the spellings of a column's values."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people (city {kind}, sex TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, 'f')", [(v,) for v in values])
        hierarchy = Hierarchy.suppression()
        policy = Policy({"city": hierarchy, "sex": hierarchy}, models=[KAnonymity(1)])
        plan = sqlanon.plan(connection, "people", policy, method=method, **settings)
    return [note for note in plan.report.notes if "spellings" in note]


@pytest.mark.parametrize(
    "spellings",
    [
        ("Oslo", "oslo"),
        ("Oslo", "Oslo "),
        ("New York", "New  York"),
        ("\u00c5lesund", "A\u030alesund"),
        ("Stra\u00dfe", "STRASSE"),
    ],
)
def test_spellings_of_one_text_are_told(spellings):
    [note] = notes_of([*spellings, "Rome"])
    assert "'city' has 1 value in several spellings" in note
    assert not any(value in note for value in (*spellings, "Rome"))


def test_numbers_that_differ_in_the_last_digits_are_told():
    [note] = notes_of([0.1 + 0.2, 0.3, 1e300 * 10, float("nan"), 7.0], "DOUBLE")
    assert "1 value" in note


@pytest.mark.slow
def test_values_that_differ_for_people_get_no_note():
    assert notes_of(["Oslo", "Rome", None, "1", "1.0", "10"]) == []
    assert notes_of([1.0, 1.000001, None], "DOUBLE") == []


def test_methods_that_recode_record_by_record_tell_them_too():
    assert len(notes_of(["Oslo", "oslo"], method="pattern-greedy", patterns="all")) == 1


def test_a_leaf_that_is_no_number_is_no_fault_of_a_column_of_numbers():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT unnest([0.5, 0.5])::DOUBLE AS share")
    listed = Hierarchy.from_rows([("0.5", "half", "*"), ("?", "unknown", "*")])
    policy = Policy({"share": listed}, models=[KAnonymity(2)])
    assert sqlanon.plan(connection, "people", policy).report.levels == {"share": 0}
